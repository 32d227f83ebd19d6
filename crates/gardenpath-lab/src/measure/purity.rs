//! The purity of k-means clusters of the lowest layer's true tuples, by their covariances with the root.

use super::ensemble::Sampled;
use super::parameter::parameters;
use super::result::results;
use super::{Keeper, Kind};
use anyhow::Result;
use gardenpath::learn::paper::{GroupPurity, cluster_true_rules};
use gardenpath::{KMeans, Moments, Sampler, Seed};

parameters! {
    /// The parameters.
    pub struct Purity {
        ..sampled: Sampled;
        samples: u64 => "Number of sentences";
        seed: u64 => "Seed of the grammar, its sentences and the clustering";
    }
}

results! {
    /// The results.
    pub struct PurityResult {
        binary: f64 => "Mean purity of the clusters of pairs";
        ternary: f64 => "Mean purity of the clusters of triples, after the correction for pairs";
        ternary_uncorrected: f64 => "The same without the correction";
    }
}

impl Kind for Purity {
    type Output = PurityResult;

    const NAME: &'static str = "purity";
    const MEANING: &'static str = "The purity of k-means clusters of true rules, by their covariances with the root";

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()
    }

    fn run(&self, _: &dyn Keeper) -> Result<PurityResult> {
        let grammar = self.sampled.grammar(self.seed)?;
        let seed = Seed::new(self.seed);
        let mut moments = Moments::new(grammar.vocab(), grammar.classes())?;
        moments.add_sampled(&Sampler::new(&grammar), seed, 0..self.samples)?;
        let kmeans = KMeans::new(grammar.sizes()[grammar.depth() - 1]).seed(seed.child("clusters"));
        let GroupPurity { binary, ternary, ternary_uncorrected } =
            cluster_true_rules(&grammar, &moments.covariance(), &kmeans)?;
        Ok(PurityResult { binary, ternary, ternary_uncorrected })
    }

    fn work(&self) -> f64 {
        // Counting, then ten k-means starts for the triples.
        let clustering = 4.5e-7 * self.sampled.rules() * (self.sampled.vocab as f64).powi(2);
        self.sampled.work() + counting(&self.sampled, self.samples as f64) + clustering
    }

    fn tiny(&self) -> Self {
        Purity { sampled: Sampled::tiny(12, 2, 0.25), samples: 100_000, seed: 1 }
    }
}

/// The time in seconds to sample sentences and count their pairs and triples by root, in tables of `vocab^4` numbers.
pub(super) fn counting(sampled: &Sampled, samples: f64) -> f64 {
    1e-8 * samples * sampled.length() + 5e-8 * (sampled.vocab as f64).powi(4)
}
