//! The class entropy of one random grammar.

use super::ensemble::Sampled;
use super::parameter::parameters;
use super::{Keeper, Kind};
use anyhow::Result;
use gardenpath::{Seed, class_entropy};
use serde_json::{Value, json};

parameters! {
    /// The parameters.
    pub struct Entropy {
        ..sampled: Sampled;
        sentences: u64 = 1000 => "Sentences over which the entropy is averaged";
        seed: u64 => "Seed of the grammar and its sentences";
    }
}

impl Kind for Entropy {
    const NAME: &'static str = "entropy";
    const MEANING: &'static str = "The class entropy of one random grammar, by exact parsing";
    const RESULTS: &'static [&'static str] = &["entropy", "normalized", "binary_fraction", "ternary_fraction"];

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()
    }

    fn run(&self, _: &dyn Keeper) -> Result<Value> {
        let ensemble = self.sampled.ensemble()?;
        let (binary, ternary) = ensemble.effective_fractions()?;
        let entropy = class_entropy(&ensemble, 1, self.sentences, Seed::new(self.seed), &|_| ())?.mean;
        Ok(json!({
            "entropy": entropy,
            "normalized": entropy / (ensemble.vocab() as f64).ln(),
            // The fractions that whole numbers of rules amount to.
            "binary_fraction": binary,
            "ternary_fraction": ternary,
        }))
    }

    fn work(&self) -> f64 {
        let (length, vocab) = (self.sampled.length(), self.sampled.vocab as f64);
        let (binary, ternary) = self.sampled.fractions();
        // Few cells of a chart hold anything at small fractions, nearly all of them at large ones.
        let sparse = 5e-8 * length + 2e-11 * length.powi(3);
        let full = 1.65e-12 * vocab.powi(2) * length.powf(3.45) * ((binary + ternary) / 2.0).powi(4);
        self.sampled.work() + self.sentences as f64 * (sparse + full)
    }

    fn tiny(&self) -> Self {
        Entropy { sampled: Sampled::tiny(16, 4, 0.4), sentences: 4000, seed: 1 }
    }
}
