//! How purely k-means groups the true tuples of the lowest layer by their vectors of covariance with the root.

use anyhow::Result;
use gardenpath::learn::paper::cluster_true_rules;
use gardenpath::{KMeans, Moments, Sampler, Seed};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purity {
    vocab: usize,
    depth: usize,
    fraction: f64,
    samples: u64,
    seed: u64,
}

pub(super) const PARAMETERS: &[&str] = &["vocab", "depth", "fraction", "samples", "seed"];

impl Purity {
    pub(super) fn run(&self) -> Result<Value> {
        let grammar = super::grammar(self.vocab, self.depth, self.fraction, self.seed)?;
        let seed = Seed::new(self.seed);
        let mut moments = Moments::new(grammar.vocab(), grammar.classes())?;
        moments.add_sampled(&Sampler::new(&grammar), seed, 0..self.samples)?;
        let kmeans = KMeans::new(self.vocab).seed(seed.child("clusters"));
        let purity = cluster_true_rules(&grammar, &moments.covariance(), &kmeans)?;
        Ok(json!({
            "binary": purity.binary,
            "ternary": purity.ternary,
            "ternary_uncorrected": purity.ternary_uncorrected,
        }))
    }

    pub(super) fn work(&self) -> f64 {
        // Clustering all triples costs about as much as counting in a few hundred thousand sentences.
        self.samples as f64 * super::length(self.depth) + 30.0 * (self.vocab as f64).powi(4) * self.fraction
    }
}
