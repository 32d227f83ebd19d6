//! Training a network on the sentences of a grammar: the recipe, its data, and the run.

pub mod checkpoint;
pub mod choices;
mod floor;
pub mod report;
pub mod run_directory;
pub mod session;

pub use floor::{Expected, Floor};

use crate::files::Names;
use anyhow::{Result, bail};
use gardenpath::{Corpus, Grammar, Seed, Shape};
use gardenpath_nn::engine::{Cpu, Engine, NamedTensor, initial_state};
use gardenpath_nn::train::{Progress, Settings, Trainer};
use gardenpath_nn::{Architecture, Network, Optimizer, Task};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// All settings of a run except its grammar. A run is determined by the grammar, the recipe, and the corpora whose
/// hashes are in the recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// The network architecture.
    #[serde(flatten)]
    pub architecture: Architecture,
    /// Channels per layer.
    pub width: usize,
    /// The optimizer.
    #[serde(flatten)]
    pub optimizer: Optimizer,
    /// When to stop.
    #[serde(flatten)]
    pub settings: Settings,
    /// What the network predicts. Old recipes have no task: they predict roots.
    #[serde(default, skip_serializing_if = "Task::is_root")]
    pub task: Task,
    /// Number of training sentences.
    pub samples: u64,
    /// Number of test sentences.
    pub test: u64,
    /// The seed of sentences, weights and batches.
    pub seed: u64,
    /// The user's own sentences, if they are not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corpora: Option<Corpora>,
}

/// The corpora of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corpora {
    /// The hash of the training sentences.
    pub train_hash: String,
    /// The hash of the test sentences.
    pub test_hash: String,
    /// The number of tokens.
    pub vocab: usize,
    /// The number of classes.
    pub classes: usize,
    /// The depth of the trees.
    pub depth: usize,
    /// Whether the true grammar is known.
    pub has_grammar: bool,
    /// The names of tokens and classes.
    #[serde(flatten)]
    pub names: Names,
}

crate::choice::choices! {
    /// Device to train on.
    pub enum Device {
        Cpu = "cpu" => "The CPU",
        Gpu = "gpu" => "A GPU; needs a build with the feature gpu",
    }
}

/// Training and test sentences, with the Bayes loss of the latter.
pub struct Data {
    /// The training set. Sampled sets are sentences 0, 1, … of `corpus sample` with the same seed, so sets of different
    /// sizes nest.
    pub train: Corpus,
    /// The test set.
    pub test: Corpus,
    /// The loss and accuracy of exact prediction on the test set, if the grammar is known.
    pub bayes: Option<Floor>,
    /// Its expected loss, if the grammar is known and the task predicts tokens.
    pub expected: Option<Expected>,
}

impl Data {
    /// The loss of exact prediction on the test set, if the grammar is known.
    pub fn bayes_loss(&self) -> Option<f64> {
        self.bayes.map(|floor| floor.loss)
    }
}

impl Recipe {
    /// The network of a run on the user's own sentences, or on those of a grammar.
    pub fn network_of(&self, grammar: Option<&Grammar>) -> Result<Network> {
        match (grammar, &self.corpora) {
            (Some(grammar), _) => self.network(grammar),
            (None, Some(Corpora { vocab, classes, depth, .. })) => {
                self.network_for(*vocab, *classes, Shape::mixed(*depth))
            }
            (None, None) => bail!("the grammar of this run is missing"),
        }
    }

    /// The network for a grammar.
    pub fn network(&self, grammar: &Grammar) -> Result<Network> {
        self.network_for(grammar.vocab(), grammar.classes(), grammar.shape())
    }

    /// The network for this many tokens and classes, and trees of this shape.
    pub fn network_for(&self, vocab: usize, classes: usize, shape: Shape) -> Result<Network> {
        Ok(Network::for_task(self.task, vocab, classes, shape, self.width, self.architecture)?)
    }

    /// The identity of the run: a hash of the recipe and, if known, the grammar.
    pub fn identity(&self, grammar: Option<&Grammar>) -> Result<String> {
        let text = serde_json::to_string(&(self, grammar.map(Grammar::fingerprint)))?;
        Ok(Sha256::digest(text.as_bytes())[..16].iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The sampled sentences of a run.
    pub fn data(&self, grammar: &Grammar) -> Result<Data> {
        let [train, test] = sentences(grammar, self.samples, self.test, self.seed)?;
        self.data_of(train, test, Some(grammar))
    }

    /// Sentences with the floors of the grammar, if it is known.
    pub fn data_of(&self, train: Corpus, test: Corpus, grammar: Option<&Grammar>) -> Result<Data> {
        let (task, masks) = (self.task, self.settings.test_masks(self.order()));
        let bayes = grammar.map(|grammar| Floor::of_task(grammar, &test, task, masks)).transpose()?;
        let expected = grammar.map(|grammar| Expected::of_task(grammar, &test, task, masks)).transpose()?;
        Ok(Data { train, test, bayes, expected: expected.flatten() })
    }

    /// The seed of batches and masks.
    fn order(&self) -> Seed {
        Seed::new(self.seed).child("order")
    }

    /// The initial state of the network.
    pub fn initial_state(&self, network: &Network) -> Vec<NamedTensor> {
        initial_state(network, Seed::new(self.seed).child("weights"))
    }

    /// A run that starts from this engine state and progress.
    pub fn trainer<'a>(
        &self,
        network: &Network,
        data: &'a Data,
        device: Device,
        (state, progress): (&[NamedTensor], Progress),
    ) -> Result<Trainer<'a, Box<dyn Engine>>> {
        let engine: Box<dyn Engine> = match device {
            Device::Cpu => Box::new(Cpu::new(network, self.optimizer, state)?),
            Device::Gpu => gpu_engine(network, self.optimizer, state)?,
        };
        Ok(Trainer::new(engine, self.settings, [&data.train, &data.test], self.order(), progress)?)
    }

    /// A run that resumes from a checkpoint. Fails unless it has exactly the tensors of this network and its optimizer.
    pub fn resume<'a>(
        &self,
        network: &Network,
        data: &'a Data,
        device: Device,
        (state, progress): (&[NamedTensor], Progress),
    ) -> Result<Trainer<'a, Box<dyn Engine>>> {
        let names = |state: &[NamedTensor]| {
            let mut names: Vec<String> = state.iter().map(|tensor| tensor.name.clone()).collect();
            names.sort();
            names
        };
        let trainer = self.trainer(network, data, device, (state, progress))?;
        if names(&trainer.state()) != names(state) {
            bail!("does not have the tensors of this network and its optimizer");
        }
        Ok(trainer)
    }
}

/// Training and test sentences sampled from a grammar.
pub fn sentences(grammar: &Grammar, samples: u64, test: u64, seed: u64) -> Result<[Corpus; 2]> {
    if samples == 0 || test == 0 {
        bail!("expected at least one training and one test sentence");
    }
    let seed = Seed::new(seed);
    Ok([Corpus::try_sample(grammar, seed, 0..samples)?, Corpus::try_sample(grammar, seed.child("test"), 0..test)?])
}

/// The weights of a state, without the optimizer's state.
pub fn weights_of<'s>(network: &Network, state: &'s [NamedTensor]) -> &'s [NamedTensor] {
    &state[..network.parameters().len()]
}

#[cfg(feature = "gpu")]
fn gpu_engine(network: &Network, optimizer: Optimizer, state: &[NamedTensor]) -> Result<Box<dyn Engine>> {
    Ok(Box::new(gardenpath_nn::gpu::Gpu::new(network, optimizer, state)?))
}

#[cfg(not(feature = "gpu"))]
fn gpu_engine(_: &Network, _: Optimizer, _: &[NamedTensor]) -> Result<Box<dyn Engine>> {
    bail!("this build supports only the CPU; for a GPU, build with: cargo build --release --features gpu")
}

/// The outcome of a run: the best network by test loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The cross-entropy on the test set in nats: per sentence, per token (next) or per masked token.
    pub test_loss: f64,
    /// The test loss relative to guessing: divided by `ln classes`, or `ln vocab` if the task predicts tokens.
    pub normalized_loss: f64,
    /// The accuracy on the roots or tokens of the test set.
    pub test_accuracy: f64,
    /// The loss of exact prediction on the same test set, if the grammar is known.
    pub bayes_loss: Option<f64>,
    /// The accuracy of exact prediction on the same test set.
    pub bayes_accuracy: Option<f64>,
    /// The lowest expected loss on the same test set, if the grammar is known and the task predicts tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// The same for predictors that know the lowest 0, 1, … layers of rules, if the task predicts the next token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_floors: Option<Vec<f64>>,
    /// The mean training loss before the best measurement.
    pub train_loss: f64,
    /// The step of the best measurement.
    pub best_step: u64,
    /// Number of steps.
    pub steps: u64,
    /// Number of epochs.
    pub epochs: f64,
    /// Why training ended.
    pub ending: Option<gardenpath_nn::train::Ending>,
}

impl Outcome {
    /// The outcome of a run so far. Panics if it has no measurement yet.
    pub fn new(network: &Network, data: &Data, progress: &Progress) -> Self {
        let best = progress.best().expect("a run is measured at step 0, where weights are finite");
        Outcome {
            test_loss: best.test_loss,
            normalized_loss: best.test_loss / network.guessing_loss(),
            test_accuracy: best.test_accuracy,
            bayes_loss: data.bayes_loss(),
            bayes_accuracy: data.bayes.map(|floor| floor.accuracy),
            floor: data.expected.as_ref().map(|expected| expected.floor),
            level_floors: data.expected.as_ref().and_then(|expected| expected.levels.clone()),
            train_loss: best.train_loss,
            best_step: best.step,
            steps: progress.step,
            epochs: progress.records.last().map_or(0.0, |record| record.epoch),
            ending: progress.ending,
        }
    }
}
