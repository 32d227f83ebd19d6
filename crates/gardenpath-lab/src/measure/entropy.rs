//! The class entropy of one random grammar.

use super::ensemble::{Sampled, effective_fractions};
use super::parameter::parameters;
use super::result::results;
use super::{Keeper, Kind};
use anyhow::Result;
use gardenpath::theory::entropy::{class_entropy as limit, paper_class_entropy};
use gardenpath::{PerArity, Seed, class_entropy};
use serde_json::{Map, Value};

parameters! {
    /// The parameters.
    pub struct Entropy {
        ..sampled: Sampled;
        sentences: u64 = 1000 => "Number of sentences to average over";
        seed: u64 => "Seed of the grammar and its sentences";
    }
}

results! {
    /// The results.
    pub struct EntropyResult {
        entropy: f64 => "Mean entropy of the class given a sentence, in nats";
        normalized: f64 => "The entropy divided by the log of the number of classes";
        binary_fraction: f64 => "Effective fraction of pairs, after rounding to whole numbers of rules";
        ternary_fraction: f64 => "Effective fraction of triples, after rounding to whole numbers of rules";
    }
}

impl Kind for Entropy {
    type Output = EntropyResult;

    const NAME: &'static str = "entropy";
    const MEANING: &'static str = "The class entropy of one random grammar, by exact parsing";

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()
    }

    fn run(&self, _: &dyn Keeper) -> Result<EntropyResult> {
        let ensemble = self.sampled.ensemble()?;
        let fractions = ensemble.effective_fractions(0)?;
        let entropy = class_entropy(&ensemble, 1, self.sentences, Seed::new(self.seed), &|_| ())?.mean;
        Ok(EntropyResult {
            entropy,
            normalized: entropy / (ensemble.level_sizes()?[0] as f64).ln(),
            binary_fraction: fractions[2],
            ternary_fraction: fractions[3],
        })
    }

    fn work(&self) -> f64 {
        let (length, vocab) = (self.sampled.length(), self.sampled.vocab as f64);
        let fractions = self.sampled.fractions();
        // Few cells of a chart are occupied at small fractions, nearly all at large ones.
        let sparse = 5e-8 * length + 2e-11 * length.powi(3);
        let mean =
            fractions.nonzero().map(|(_, fraction)| fraction).sum::<f64>() / fractions.arities().iter().count() as f64;
        let full = 1.65e-12 * vocab.powi(2) * length.powf(3.45) * mean.powi(4);
        self.sampled.work() + self.sentences as f64 * (sparse + full)
    }

    fn tiny(&self) -> Self {
        Entropy { sampled: Sampled::tiny(16, 4, 0.4), sentences: 4000, seed: 1 }
    }
}

/// The theory for a cell of depth 2 with many symbols: `limit_entropy`, and `paper_entropy` as printed in the paper.
pub(super) fn limits(parameters: &Map<String, Value>) -> Map<String, Value> {
    let mut limits = Map::new();
    let Some((binary, ternary, p_binary)) = effective_fractions(parameters).filter(|_| parameters["depth"] == 2) else {
        return limits;
    };
    if let Ok(entropy) = limit([PerArity::from([(2, binary), (3, ternary)]); 2], PerArity::paper(p_binary)) {
        limits.insert("limit_entropy".into(), entropy.into());
    }
    // The paper's formula is for equal fractions; rounding the numbers of rules makes them differ slightly.
    if let Some(Ok(entropy)) = parameters.get("fraction").and_then(Value::as_f64).map(paper_class_entropy)
        && p_binary == 0.5
    {
        limits.insert("paper_entropy".into(), entropy.into());
    }
    limits
}
