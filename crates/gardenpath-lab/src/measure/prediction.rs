//! The signal-to-noise ratio that exact triple statistics predict for one random grammar.

use super::ensemble::Sampled;
use super::parameter::parameters;
use super::result::results;
use super::snr::MAX_POINTS;
use super::{Keeper, Kind};
use anyhow::{Result, bail};
use gardenpath::snr::{PredictedSignal, log_grid};

parameters! {
    /// The parameters.
    pub struct Prediction {
        ..sampled: Sampled;
        first: f64 => "Smallest number of sentences";
        last: f64 => "Largest number of sentences";
        points: usize = 12 => "Number of points between them, equally spaced on a log scale";
        seed: u64 => "Seed of the grammar";
    }
}

results! {
    /// The results.
    pub struct PredictionResult {
        sizes: Vec<u64> => "Numbers of sentences";
        signal: f64 => "Squared distance of the distribution of the root given a triple from uniform";
        noise: Vec<f64> => "Expected squared error of that distribution at each number of sentences";
        rarity: f64 => "Mean inverse probability of a ternary rule in the middle of a sentence";
    }
}

impl Kind for Prediction {
    type Output = PredictionResult;

    const NAME: &'static str = "prediction";
    const MEANING: &'static str = "The signal-to-noise ratio of triples predicted by exact moments";

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()
    }

    fn run(&self, _: &dyn Keeper) -> Result<PredictionResult> {
        if self.points > MAX_POINTS {
            bail!("points is {}, expected at most {MAX_POINTS}", self.points);
        }
        let predicted = PredictedSignal::new(&self.sampled.grammar(self.seed)?)?;
        let sizes = log_grid(self.first, self.last, self.points);
        let noise: Vec<f64> = sizes.iter().map(|&size| predicted.noise(size)).collect();
        // The same names as in the measure snr, so that the same fits apply to both.
        Ok(PredictionResult { sizes, signal: predicted.signal(), noise, rarity: predicted.mean_rarity() })
    }

    fn work(&self) -> f64 {
        // Tables of triples by root, and for each rule and size a sum over its likely counts.
        let vocab = self.sampled.vocab as f64;
        let likely = (1.0 + self.last / self.sampled.rules().max(1.0)).sqrt();
        let sums = 4e-8 * self.sampled.rules() * self.points as f64 * likely;
        self.sampled.work() + 5e-8 * vocab.powi(4) + sums
    }

    fn tiny(&self) -> Self {
        Prediction { sampled: Sampled::tiny(16, 3, 0.0625), first: 1e3, last: 4e5, points: 12, seed: 1 }
    }
}
