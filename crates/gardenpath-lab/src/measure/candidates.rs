//! Spurious candidates one level above the tokens, and the rules inferred despite them.

use super::ensemble::Sampled;
use super::inference::Thresholds;
use super::parameter::parameters;
use super::result::results;
use super::{Keeper, Kind};
use anyhow::{Result, bail};
use gardenpath::Seed;
use gardenpath::proof::Spurious;

parameters! {
    /// The parameters.
    pub struct Candidates {
        ..sampled: Sampled;
        ..thresholds: Thresholds;
        samples: u64 => "Number of sentences";
        seed: u64 => "Seed of the grammar, its sentences and the clustering";
    }
}

results! {
    /// The results.
    pub struct CandidatesResult {
        spurious_pairs: f64 => "Fraction of candidate pairs with a spurious candidate";
        spurious_triples: f64 => "Fraction of candidate triples with a spurious candidate";
        spurious_pair_norm: f64 => "Squared norm of the covariance of spurious pairs on binary rules, relative to that of true pairs";
        spurious_triple_norm: f64 => "The same for triples on ternary rules";
        binary_precision: f64 => "Fraction of inferred binary rules that are correct";
        binary_recall: f64 => "Fraction of binary rules that are inferred";
        ternary_precision: f64 => "Fraction of inferred ternary rules that are correct";
        ternary_recall: f64 => "Fraction of ternary rules that are inferred";
    }
}

impl Kind for Candidates {
    type Output = CandidatesResult;

    const NAME: &'static str = "candidates";
    const MEANING: &'static str = "Spurious candidates one level above the tokens, and the rules inferred despite them";

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()?;
        if self.sampled.depth < 2 {
            bail!("depth is {}, expected at least 2: a level is needed between root and tokens", self.sampled.depth);
        }
        Ok(())
    }

    fn run(&self, _: &dyn Keeper) -> Result<CandidatesResult> {
        let grammar = self.sampled.grammar(self.seed)?;
        let level = grammar.depth() - 1;
        let Spurious { pairs, triples, moments } =
            Spurious::measure(&grammar, level, self.samples, Seed::new(self.seed))?;
        let found = self.thresholds.infer(&grammar, level, &moments.covariance(), self.seed)?;
        Ok(CandidatesResult {
            spurious_pairs: pairs.count,
            spurious_triples: triples.count,
            spurious_pair_norm: pairs.on_rules,
            spurious_triple_norm: triples.on_rules,
            binary_precision: found.binary.precision(),
            binary_recall: found.binary.recall(),
            ternary_precision: found.ternary.precision(),
            ternary_recall: found.ternary.recall(),
        })
    }

    fn work(&self) -> f64 {
        let vocab = self.sampled.vocab as f64;
        let counting = 8e-8 * self.samples as f64 * self.sampled.length() + 1.5e-7 * vocab.powi(4);
        self.sampled.work() + counting + Thresholds::work(&self.sampled)
    }

    fn tiny(&self) -> Self {
        Candidates { sampled: Sampled::tiny(12, 3, 0.25), thresholds: Thresholds::usual(), samples: 50_000, seed: 1 }
    }
}
