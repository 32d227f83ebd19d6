//! The class entropy of one random grammar.

use anyhow::Result;
use gardenpath::{Ensemble, Seed, class_entropy};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entropy {
    vocab: usize,
    depth: usize,
    fraction: f64,
    #[serde(default = "sentences")]
    sentences: u64,
    seed: u64,
}

pub(super) const PARAMETERS: &[&str] = &["vocab", "depth", "fraction", "sentences", "seed"];

fn sentences() -> u64 {
    1000
}

impl Entropy {
    pub(super) fn run(&self) -> Result<Value> {
        let ensemble = Ensemble::new(self.vocab, self.depth).fraction(self.fraction);
        let (binary, ternary) = ensemble.rules_per_symbol()?;
        let entropy = class_entropy(&ensemble, 1, self.sentences, Seed::new(self.seed), &|_| ())?.mean;
        let vocab = self.vocab as f64;
        Ok(json!({
            "entropy": entropy,
            "normalized": entropy / vocab.ln(),
            // The fractions that whole numbers of rules amount to.
            "binary_fraction": binary as f64 / vocab,
            "ternary_fraction": ternary as f64 / (vocab * vocab),
        }))
    }

    pub(super) fn work(&self) -> f64 {
        // The longer the sentence and the more ambiguous, the more cells of a chart are filled.
        self.sentences as f64 * super::length(self.depth).powf(1.5 + 1.5 * self.fraction)
    }
}
