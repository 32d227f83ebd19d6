//! A network trained on the sentences of one random grammar: a run of `gardenpath train`.

use super::learn::normalized_error;
use crate::training::{Device, Outcome, Recipe};
use anyhow::Result;
use gardenpath::Grammar;
use gardenpath_nn::engine::NamedTensor;
use gardenpath_nn::train::{Event, Progress, Settings};
use gardenpath_nn::{Architecture, Network, Optimizer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Train {
    model: Model,
    pub(super) vocab: usize,
    pub(super) depth: usize,
    fraction: f64,
    samples: u64,
    width: usize,
    #[serde(default = "super::test_sentences")]
    test: u64,
    #[serde(default = "batch")]
    batch: usize,
    /// Steps after which training ends in any case.
    #[serde(default = "max_steps")]
    max_steps: u64,
    /// Steps before which a plateau is no reason to end.
    #[serde(default = "min_steps")]
    min_steps: u64,
    pub(super) seed: u64,
}

pub(super) const PARAMETERS: &[&str] =
    &["model", "vocab", "depth", "fraction", "samples", "width", "test", "batch", "max_steps", "min_steps", "seed"];

fn batch() -> usize {
    128
}

fn max_steps() -> u64 {
    100_000
}

fn min_steps() -> u64 {
    2_000
}

/// The kinds of networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Convolutions.
    Cnn,
    /// Filters on the cells of the inside chart.
    Inn,
    /// An encoder with a class token.
    Transformer,
}

/// A network after training.
pub(super) struct Trained {
    pub grammar: Grammar,
    pub network: Network,
    /// The best weights.
    pub best: Vec<NamedTensor>,
    pub outcome: Outcome,
}

impl Train {
    pub(super) fn run(&self) -> Result<Value> {
        let outcome = self.train()?.outcome;
        let error = normalized_error(outcome.test_accuracy, self.vocab);
        let bayes = outcome.bayes_loss.expect("the grammar of a cell is known") / (self.vocab as f64).ln();
        let Value::Object(mut result) = serde_json::to_value(outcome)? else { unreachable!("an outcome is an object") };
        result.insert("normalized_error".into(), error.into());
        result.insert("bayes_normalized_loss".into(), bayes.into());
        Ok(result.into())
    }

    pub(super) fn train(&self) -> Result<Trained> {
        let grammar = super::grammar(self.vocab, self.depth, self.fraction, self.seed)?;
        let recipe = self.recipe();
        let network = recipe.network(&grammar)?;
        let data = recipe.data(&grammar)?;
        let mut best = recipe.initial_state(&network);
        let mut trainer = recipe.trainer(&network, &data, Device::Cpu, (&best, Progress::default()))?;
        loop {
            match trainer.advance()? {
                Event::Measured { best: true, .. } => best = trainer.state(),
                Event::Ended(_) => break,
                _ => {}
            }
        }
        let outcome = Outcome::new(&network, &data, trainer.progress());
        drop(trainer);
        Ok(Trained { grammar, network, best, outcome })
    }

    fn recipe(&self) -> Recipe {
        let &Train { model, depth, width, samples, test, seed, batch, max_steps, min_steps, .. } = self;
        let architecture = match model {
            Model::Cnn => Architecture::cnn(),
            Model::Inn => Architecture::inn(),
            Model::Transformer => Architecture::transformer(depth, width),
        };
        let optimizer = Optimizer::of_architecture(architecture, width);
        let settings = Settings { batch, max_steps, min_steps, ..Settings::default() };
        Recipe { architecture, width, optimizer, settings, samples, test, seed, corpora: None }
    }

    pub(super) fn work(&self) -> f64 {
        let (length, width) = (super::length(self.depth), self.width as f64);
        let step = match self.model {
            Model::Cnn => length * width * width,
            Model::Inn => length * width * (0.3 * width + 100.0),
            Model::Transformer => 20.0 * length * width * width + 3e5,
        };
        // Learning more sentences takes more steps, up to a bound.
        step * (self.samples as f64 * 0.3).max(self.min_steps as f64).min(self.max_steps as f64)
    }
}
