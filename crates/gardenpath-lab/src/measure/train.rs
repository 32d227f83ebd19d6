//! A network trained on the sentences of one random grammar: a run of `gardenpath train`.

use super::ensemble::Sampled;
use super::kind::texts;
use super::learn::normalized_error;
use super::parameter::parameters;
use super::result::results;
use super::{Keeper, Kind, TEST_SENTENCES};
use crate::choice::{Choice, choices};
use crate::training::checkpoint::Checkpoint;
use crate::training::choices::{Choices, Model, Rule, Scale};
use crate::training::{Data, Device, Outcome, Recipe, weights_of};
use anyhow::{Result, bail};
use gardenpath::Grammar;
use gardenpath_nn::engine::{self, Engine, NamedTensor};
use gardenpath_nn::train::{Ending, Event, Progress, Settings, Trainer};
use gardenpath_nn::{Network, Task};

parameters! {
    /// The parameters.
    pub struct Train {
        ..sampled: Sampled;
        model: Model => "Network architecture";
        samples: u64 => "Number of training sentences";
        width: usize => "Channels per layer";
        test: u64 = TEST_SENTENCES => "Number of test sentences";
        batch: usize = 128 => "Sentences per batch";
        max_steps: u64 = 100_000 => "Maximum number of steps";
        min_steps: u64 = 2_000 => "Number of steps before a plateau can end training";
        patience: f64, late 2.0 => "Training ends after this factor more steps without a better test loss";
        optimizer: Option<Rule>, or "sgd (cnn, inn), adam (transformer)" => "Optimizer";
        learning_rate: Option<f64>, or "the width (cnn, inn), 0.0005 (transformer)" => "Learning rate";
        normalization: Option<Scale>, or "fan-in" => "Scaling of hidden layers (cnn, inn)";
        layers: Option<usize>, or "the depth" => "Number of layers (transformer)";
        heads: Option<usize>, or "16" => "Number of attention heads (transformer)";
        mlp: Option<usize>, or "four times the width" => "Hidden size of the MLPs (transformer)";
        device: Place, late Place::Cpu => "Device; gpu needs a build with the feature gpu, cuda needs Python";
        task: Task, late Task::Root => "What the network predicts; next and masked need a transformer";
        mask: Option<f64>, or "0.15" => "Fraction of masked tokens (task masked)";
        seed: u64 => "Seed of the grammar, its sentences, the weights and the batches";
    }
}

choices! {
    /// The device of a cell.
    pub enum Place {
        Cpu = "cpu" => "The CPU",
        Gpu = "gpu" => "A GPU; needs a build with the feature gpu",
        Cuda = "cuda" => "A GPU through PyTorch; only from Python",
    }
}

texts!(Model, Rule, Scale, Place, Task, Ending);

/// Why this program does not train on `cuda`.
pub(super) const NEEDS_PYTHON: &str =
    "device = \"cuda\" needs PyTorch: run the experiment from Python, with gardenpath.sweep";

type Run<'a> = Trainer<'a, Box<dyn Engine>>;

/// A network after training.
pub(super) struct Trained {
    pub grammar: Grammar,
    pub network: Network,
    /// The best weights.
    pub best: Vec<NamedTensor>,
    pub outcome: Outcome,
}

results! {
    /// The results of the network with the best test loss.
    pub struct TrainResult {
        test_loss: f64 => "Cross-entropy on the test set in nats: per sentence, per token (next) or per masked token";
        normalized_loss: f64 => "The test loss divided by the log of the number of classes (or of tokens)";
        test_accuracy: f64 => "Accuracy on the roots or tokens of the test sentences";
        bayes_loss: f64 => "Loss of exact prediction on the same test sentences";
        bayes_accuracy: f64 => "Accuracy of exact prediction on the same test sentences";
        bayes_normalized_loss: f64 => "Loss of exact prediction relative to guessing";
        floor: Option<f64> => "Lowest expected loss on the same test sentences (next, masked)";
        known: Option<Vec<u64>> => "Numbers of lowest layers of rules that a predictor knows: 0, 1, … (next)";
        level_floors: Option<Vec<f64>> => "Lowest expected loss of a predictor that knows that many layers (next)";
        normalized_error: f64 => "Error rate relative to guessing";
        train_loss: f64 => "Mean training loss before the best measurement";
        best_step: u64 => "Step of the best measurement";
        steps: u64 => "Number of steps";
        epochs: f64 => "Number of epochs";
        ending: Option<Ending> => "Why training ended";
    }
}

impl Choice for Ending {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Ending::Rise, "rise", "The test loss rose"),
        (Ending::Plateau, "plateau", "The test loss stopped improving"),
        (Ending::Steps, "steps", "The maximum number of steps was reached"),
        (Ending::Diverged, "diverged", "NaN loss"),
    ];
}

impl Kind for Train {
    type Output = TrainResult;

    const NAME: &'static str = "train";
    const MEANING: &'static str = "The loss of a trained network";

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()?;
        self.choices().check(&str::to_owned)?;
        if self.device == Place::Cuda && !self.task.is_root() {
            bail!("task {} needs device cpu or gpu: PyTorch networks only predict roots", self.task.name());
        }
        let (model, width, depth) = (self.model, self.width, self.sampled.depth);
        let rule = self.optimizer.unwrap_or(Choices::usual_rule(model));
        self.optimizer.take_if(|rule| *rule == Choices::usual_rule(model));
        self.learning_rate
            .take_if(|rate| *rate == Choices::usual_rate(model, width) && rule == Choices::usual_rule(model));
        self.normalization.take_if(|scale| *scale == Scale::FanIn);
        self.layers.take_if(|layers| *layers == Choices::usual_layers(depth));
        self.heads.take_if(|heads| *heads == Choices::HEADS);
        self.mlp.take_if(|mlp| *mlp == Choices::usual_mlp(width));
        self.mask.take_if(|mask| *mask == gardenpath::Task::MASK);
        Ok(())
    }

    fn run(&self, keeper: &dyn Keeper) -> Result<TrainResult> {
        let outcome = self.train(keeper)?.outcome;
        let sizes = self.sampled.sizes()?;
        // The number of possible answers: classes or tokens.
        let classes = if self.task.is_root() { sizes[0] } else { sizes[sizes.len() - 1] };
        let (bayes_loss, bayes_accuracy) =
            outcome.bayes_loss.zip(outcome.bayes_accuracy).expect("the grammar of a cell is known");
        Ok(TrainResult {
            test_loss: outcome.test_loss,
            normalized_loss: outcome.normalized_loss,
            test_accuracy: outcome.test_accuracy,
            bayes_loss,
            bayes_accuracy,
            bayes_normalized_loss: bayes_loss / (classes as f64).ln(),
            floor: outcome.floor,
            known: outcome.level_floors.as_ref().map(|floors| (0..floors.len() as u64).collect()),
            level_floors: outcome.level_floors,
            normalized_error: normalized_error(outcome.test_accuracy, classes),
            train_loss: outcome.train_loss,
            best_step: outcome.best_step,
            steps: outcome.steps,
            epochs: outcome.epochs,
            ending: outcome.ending,
        })
    }

    fn work(&self) -> f64 {
        // A sentence costs less in an evaluation than in a training step.
        let steps = self.expected_steps();
        let measurements = if steps < 267.0 { steps / 32.0 } else { 8.3 + 8.8 * (steps / 267.0).ln() };
        let sentences = steps * self.batch as f64 + 0.4 * (measurements + 1.0) * self.test as f64;
        // Floors of tokens need one chart per predictor.
        let slower = if self.task.is_root() { 1.0 } else { 100.0 * (1.0 + self.sampled.depth as f64) };
        let bayes = 5e-7 * slower * self.test as f64 * self.sampled.length();
        self.sampled.work() + self.seconds_per_sentence() * sentences + bayes
    }

    fn variety(&self) -> String {
        self.model.name().to_owned()
    }

    fn tiny(&self) -> Self {
        let (width, steps) = match self.model {
            Model::Cnn => (64, 40),
            Model::Inn => (64, 80),
            Model::Transformer => (32, 20),
        };
        Train {
            sampled: Sampled::tiny(8, 2, 0.125),
            model: self.model,
            samples: 1000,
            width,
            test: 200,
            batch: 128,
            max_steps: steps,
            min_steps: steps,
            patience: 2.0,
            optimizer: None,
            learning_rate: None,
            normalization: None,
            layers: None,
            heads: None,
            mlp: None,
            device: Place::Cpu,
            task: self.task,
            mask: self.mask,
            seed: 1,
        }
    }

    fn is_on_gpu(&self) -> bool {
        self.device != Place::Cpu
    }
}

impl Train {
    /// The expected number of steps until the test loss rises or plateaus, if allowed: about twenty epochs to the best loss, and the patience.
    fn expected_steps(&self) -> f64 {
        let first = if self.model == Model::Transformer { 2500.0 } else { 130.0 };
        let natural = first + 21.0 * self.patience * self.samples as f64 / self.batch.max(1) as f64;
        natural.min(self.max_steps as f64)
    }

    /// The time of a step in seconds, per sentence of a batch.
    pub(super) fn seconds_per_sentence(&self) -> f64 {
        let (length, width) = (self.sampled.length(), self.width as f64);
        match self.model {
            Model::Cnn => 7e-11 * length.powf(1.33) * width * (width + 8.0),
            Model::Inn => 1.4e-11 * length.powi(2) * width.powi(2) + 1.8e-12 * length.powi(4) * width,
            Model::Transformer => {
                let layers = self.layers.unwrap_or(Choices::usual_layers(self.sampled.depth)) as f64;
                let mlp = self.mlp.unwrap_or(Choices::usual_mlp(self.width)) as f64;
                1.05e-10 * layers * (length + 1.0) * width * (4.0 * width + 2.0 * mlp + 10.0 * length + 200.0)
            }
        }
    }

    /// Trains, resuming from a checkpoint if there is one.
    pub(super) fn train(&self, keeper: &dyn Keeper) -> Result<Trained> {
        let grammar = self.sampled.grammar(self.seed)?;
        let recipe = self.choices().recipe(self.sampled.depth, &str::to_owned)?;
        let network = recipe.network(&grammar)?;
        let run = recipe.identity(Some(&grammar))?;
        let data = recipe.data(&grammar)?;
        let resumed = keeper.load().and_then(|bytes| match self.resume(&bytes, &run, &recipe, &network, &data) {
            Ok(resumed) => Some(resumed),
            Err(error) => {
                keeper.reject(&format!("{error:#}"));
                None
            }
        });
        let (mut trainer, mut best) = match resumed {
            Some(resumed) => resumed,
            None => {
                let state = recipe.initial_state(&network);
                (recipe.trainer(&network, &data, self.engine_device()?, (&state, Progress::default()))?, state)
            }
        };
        loop {
            match trainer.advance()? {
                Event::Measured { best: true, .. } => best = weights_of(&network, &trainer.state()).to_vec(),
                Event::Ended(_) => break,
                _ => {}
            }
            if keeper.is_due()
                && let Some(bytes) = Checkpoint::to_bytes(&run, &trainer.state(), trainer.progress(), &best)?
            {
                keeper.save(&bytes);
            }
        }
        let outcome = Outcome::new(&network, &data, trainer.progress());
        drop(trainer);
        Ok(Trained { grammar, network, best, outcome })
    }

    fn resume<'a>(
        &self,
        bytes: &[u8],
        run: &str,
        recipe: &Recipe,
        network: &Network,
        data: &'a Data,
    ) -> Result<(Run<'a>, Vec<NamedTensor>)> {
        let Checkpoint { state, progress, best } = Checkpoint::from_bytes(bytes, run, &recipe.settings)?;
        engine::weights(network, &best)?;
        Ok((recipe.resume(network, data, self.engine_device()?, (&state, progress))?, best))
    }

    /// The device for this program's engine.
    fn engine_device(&self) -> Result<Device> {
        match self.device {
            Place::Cpu => Ok(Device::Cpu),
            Place::Gpu => Ok(Device::Gpu),
            Place::Cuda => bail!("{NEEDS_PYTHON}"),
        }
    }

    fn choices(&self) -> Choices {
        let &Train { model, width, samples, test, seed, batch, max_steps, min_steps, patience, .. } = self;
        let &Train { optimizer, learning_rate, normalization, layers, heads, mlp, task, mask, .. } = self;
        let settings = Settings { batch, max_steps, min_steps, patience, mask };
        Choices {
            model,
            task,
            width,
            samples,
            test,
            seed,
            settings,
            optimizer,
            learning_rate,
            normalization,
            layers,
            heads,
            mlp,
        }
    }
}
