//! How well thresholds and clustering recover the rules of one layer from exact covariances.

use super::ensemble::Sampled;
use super::learn::Alignment;
use super::parameter::parameters;
use super::result::results;
use super::{Keeper, Kind};
use anyhow::{Result, bail};
use gardenpath::proof::{Inferred, infer_layer};
use gardenpath::{Covariance, ExpectedMoments, Grammar, KMeans, Seed};

parameters! {
    /// The parameters.
    pub struct Inference {
        ..sampled: Sampled;
        ..thresholds: Thresholds;
        up: usize = 0 => "Level above the tokens whose exact covariances are used";
        seed: u64 => "Seed of the grammar and the clustering";
    }
}

parameters! {
    /// The settings of the paper's inference.
    pub struct Thresholds {
        gamma_binary: f64 = 0.85 => "Threshold factor for pairs";
        gamma_ternary: f64 = 1.5 => "Threshold factor for triples";
        alignment: Alignment = Alignment::InnerProduct => "How triples are compared with the centroids of pairs";
    }
}

impl Thresholds {
    /// Infers the rules whose children are the symbols of a level.
    pub(super) fn infer(
        &self,
        grammar: &Grammar,
        level: usize,
        covariance: &Covariance,
        seed: u64,
    ) -> Result<Inferred> {
        let layer = grammar.layer(level - 1);
        let kmeans = KMeans::new(layer.parents()).seed(Seed::new(seed).child("clusters"));
        let gammas = [self.gamma_binary, self.gamma_ternary];
        Ok(infer_layer(layer, covariance, gammas, self.alignment.into(), &kmeans)?)
    }

    /// The time in seconds: every triple is compared with every centroid.
    pub(super) fn work(sampled: &Sampled) -> f64 {
        1.3e-9 * (sampled.vocab as f64).powi(5) + 5e-7 * (sampled.vocab as f64).powi(3)
    }

    /// The default settings.
    pub(super) fn usual() -> Self {
        Thresholds { gamma_binary: 0.85, gamma_ternary: 1.5, alignment: Alignment::InnerProduct }
    }
}

results! {
    /// The results.
    pub struct InferenceResult {
        binary_precision: f64 => "Fraction of inferred binary rules that are correct";
        binary_recall: f64 => "Fraction of binary rules that are inferred";
        ternary_precision: f64 => "Fraction of inferred ternary rules that are correct";
        ternary_recall: f64 => "Fraction of ternary rules that are inferred";
        ternary_threshold: f64 => "Threshold for triples";
    }
}

impl Kind for Inference {
    type Output = InferenceResult;

    const NAME: &'static str = "inference";
    const MEANING: &'static str = "The rules that the paper's thresholds and clustering find in exact covariances";

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()?;
        if self.up >= self.sampled.depth {
            bail!("up is {}, expected less than the depth", self.up);
        }
        Ok(())
    }

    fn run(&self, _: &dyn Keeper) -> Result<InferenceResult> {
        let grammar = self.sampled.grammar(self.seed)?;
        let level = grammar.depth() - self.up;
        let covariance = ExpectedMoments::of_level(&grammar, level)?.covariance();
        let found = self.thresholds.infer(&grammar, level, &covariance, self.seed)?;
        Ok(InferenceResult {
            binary_precision: found.binary.precision(),
            binary_recall: found.binary.recall(),
            ternary_precision: found.ternary.precision(),
            ternary_recall: found.ternary.recall(),
            ternary_threshold: found.threshold,
        })
    }

    fn work(&self) -> f64 {
        let vocab = self.sampled.vocab as f64;
        let moments = 3e-8 * vocab.powi(4) + 2e-9 * self.sampled.rules() * vocab * vocab;
        self.sampled.work() + moments + Thresholds::work(&self.sampled)
    }

    fn tiny(&self) -> Self {
        Inference { sampled: Sampled::tiny(16, 2, 0.25), thresholds: Thresholds::usual(), up: 0, seed: 1 }
    }
}
