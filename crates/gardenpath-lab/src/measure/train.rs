//! A network trained on the sentences of one random grammar: a run of `gardenpath train`.

use super::ensemble::Sampled;
use super::learn::normalized_error;
use super::parameter::{name_of, parameters, texts};
use super::{Keeper, Kind, TEST_SENTENCES};
use crate::training::checkpoint::Checkpoint;
use crate::training::choices::{Choices, Model, Rule, Scale};
use crate::training::{Data, Device, Outcome, Recipe, weights_of};
use anyhow::Result;
use gardenpath::Grammar;
use gardenpath_nn::Network;
use gardenpath_nn::engine::{self, Engine, NamedTensor};
use gardenpath_nn::train::{Event, Progress, Settings, Trainer};
use serde_json::Value;

parameters! {
    /// The parameters.
    pub struct Train {
        ..sampled: Sampled;
        model: Model => "The kind of network";
        samples: u64 => "Sentences to learn from";
        width: usize => "Channels of each layer";
        test: u64 = TEST_SENTENCES => "Sentences to test on";
        batch: usize = 128 => "Sentences of a batch";
        max_steps: u64 = 100_000 => "Largest number of steps";
        min_steps: u64 = 2_000 => "Steps before which a plateau does not end training";
        patience: f64, late 2.0 => "Training ends when the steps have grown by this factor without a better test loss";
        optimizer: Option<Rule>, or "sgd (cnn, inn), adam (transformer)" => "How weights move";
        learning_rate: Option<f64>, or "the width (cnn, inn), 0.0005 (transformer)" => "Learning rate";
        normalization: Option<Scale>, or "fan-in" => "Scale of hidden layers (cnn, inn)";
        layers: Option<usize>, or "the depth" => "Layers (transformer)";
        heads: Option<usize>, or "16" => "Heads (transformer)";
        mlp: Option<usize>, or "four times the width" => "Hidden size of the perceptrons (transformer)";
        device: Device, late Device::Cpu => "Where to compute; gpu only in builds with the feature gpu";
        seed: u64 => "Seed of the grammar, its sentences, the weights and the batches";
    }
}

texts!(Model, Rule, Scale, Device);

type Run<'a> = Trainer<'a, Box<dyn Engine>>;

/// A network after training.
pub(super) struct Trained {
    pub grammar: Grammar,
    pub network: Network,
    /// The best weights.
    pub best: Vec<NamedTensor>,
    pub outcome: Outcome,
}

impl Kind for Train {
    const NAME: &'static str = "train";
    const MEANING: &'static str = "The loss of a trained network";
    const RESULTS: &'static [&'static str] = &[
        "test_loss",
        "normalized_loss",
        "test_accuracy",
        "bayes_loss",
        "bayes_accuracy",
        "train_loss",
        "best_step",
        "steps",
        "epochs",
        "ending",
        "normalized_error",
        "bayes_normalized_loss",
    ];

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()?;
        self.choices().check(&str::to_owned)?;
        let (model, width, depth) = (self.model, self.width, self.sampled.depth);
        let rule = self.optimizer.unwrap_or(Choices::usual_rule(model));
        self.optimizer.take_if(|rule| *rule == Choices::usual_rule(model));
        self.learning_rate
            .take_if(|rate| *rate == Choices::usual_rate(model, width) && rule == Choices::usual_rule(model));
        self.normalization.take_if(|scale| *scale == Scale::FanIn);
        self.layers.take_if(|layers| *layers == Choices::usual_layers(depth));
        self.heads.take_if(|heads| *heads == Choices::HEADS);
        self.mlp.take_if(|mlp| *mlp == Choices::usual_mlp(width));
        Ok(())
    }

    fn run(&self, keeper: &dyn Keeper) -> Result<Value> {
        let outcome = self.train(keeper)?.outcome;
        let classes = self.sampled.vocab;
        let error = normalized_error(outcome.test_accuracy, classes);
        let bayes = outcome.bayes_loss.expect("the grammar of a cell is known") / (classes as f64).ln();
        let Value::Object(mut result) = serde_json::to_value(outcome)? else { unreachable!("an outcome is an object") };
        result.insert("normalized_error".into(), error.into());
        result.insert("bayes_normalized_loss".into(), bayes.into());
        Ok(result.into())
    }

    fn work(&self) -> f64 {
        // A sentence costs less where the test loss is measured than in a step.
        let steps = self.expected_steps();
        let measurements = if steps < 267.0 { steps / 32.0 } else { 8.3 + 8.8 * (steps / 267.0).ln() };
        let sentences = steps * self.batch as f64 + 0.4 * (measurements + 1.0) * self.test as f64;
        let bayes = 5e-7 * self.test as f64 * self.sampled.length();
        self.sampled.work() + self.seconds_per_sentence() * sentences + bayes
    }

    fn variety(&self) -> String {
        name_of(&self.model)
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
            device: Device::Cpu,
            seed: 1,
        }
    }

    fn is_on_gpu(&self) -> bool {
        self.device == Device::Gpu
    }
}

impl Train {
    /// About how many steps it takes until the test loss rises or no longer falls: some forty epochs, if that many are allowed.
    fn expected_steps(&self) -> f64 {
        let first = if self.model == Model::Transformer { 2500.0 } else { 130.0 };
        let natural = first + 42.0 * self.samples as f64 / self.batch.max(1) as f64;
        natural.min(self.max_steps as f64)
    }

    /// The seconds of a step for each sentence of a batch.
    pub(super) fn seconds_per_sentence(&self) -> f64 {
        let (length, width) = (self.sampled.length(), self.width as f64);
        match self.model {
            Model::Cnn => 1.3e-10 * length.powf(1.33) * width * (width + 8.0),
            Model::Inn => 1.4e-11 * length.powi(2) * width.powi(2) + 1.8e-12 * length.powi(4) * width,
            Model::Transformer => {
                let layers = self.layers.unwrap_or(Choices::usual_layers(self.sampled.depth)) as f64;
                let mlp = self.mlp.unwrap_or(Choices::usual_mlp(self.width)) as f64;
                1.05e-10 * layers * (length + 1.0) * width * (4.0 * width + 2.0 * mlp + 10.0 * length + 200.0)
            }
        }
    }

    /// Trains, from where an earlier attempt was stopped if it kept that.
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
                (recipe.trainer(&network, &data, self.device, (&state, Progress::default()))?, state)
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
        Ok((recipe.resume(network, data, self.device, (&state, progress))?, best))
    }

    fn choices(&self) -> Choices {
        let &Train { model, width, samples, test, seed, batch, max_steps, min_steps, patience, .. } = self;
        let &Train { optimizer, learning_rate, normalization, layers, heads, mlp, .. } = self;
        let settings = Settings { batch, max_steps, min_steps, patience };
        Choices {
            model,
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
