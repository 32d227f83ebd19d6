//! The signal-to-noise ratio of the root given a triple, against the number of sentences, for one random grammar.

use super::ensemble::Sampled;
use super::parameter::parameters;
use super::purity::counting;
use super::result::results;
use super::{Keeper, Kind};
use anyhow::{Result, bail};
use gardenpath::Seed;
use gardenpath::snr::{SignalToNoise, log_grid};

parameters! {
    /// The parameters.
    pub struct Snr {
        ..sampled: Sampled;
        first: f64 => "Smallest number of sentences";
        last: f64 => "Largest number of sentences";
        points: usize = 12 => "Number of points between them, equally spaced on a log scale";
        seed: u64 => "Seed of the grammar and its sentences";
    }
}

results! {
    /// The results. Signal and noise are separate, because each is averaged over grammars before dividing.
    pub struct SnrResult {
        sizes: Vec<u64> => "Numbers of sentences";
        signal: f64 => "Signal of the root given a triple, from exact statistics";
        noise: Vec<f64> => "Noise of the estimate at each number of sentences";
        ratio: Vec<f64> => "Signal over noise at each number of sentences";
    }
}

/// Maximum number of points; a curve with more shows nothing new.
pub(super) const MAX_POINTS: usize = 10_000;

impl Kind for Snr {
    type Output = SnrResult;

    const NAME: &'static str = "snr";
    const MEANING: &'static str = "The signal-to-noise ratio of triples against the number of sentences";

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()
    }

    fn run(&self, _: &dyn Keeper) -> Result<SnrResult> {
        if self.points > MAX_POINTS {
            bail!("points is {}, expected at most {MAX_POINTS}", self.points);
        }
        let grammar = self.sampled.grammar(self.seed)?;
        let sizes = log_grid(self.first, self.last, self.points);
        let curve = SignalToNoise::measure(&grammar, &sizes, Seed::new(self.seed))?;
        Ok(SnrResult { sizes: curve.samples, signal: curve.signal, noise: curve.noise, ratio: curve.ratio })
    }

    fn work(&self) -> f64 {
        self.sampled.work() + counting(&self.sampled, self.last)
    }

    fn tiny(&self) -> Self {
        Snr { sampled: Sampled::tiny(16, 3, 0.0625), first: 1e3, last: 4e5, points: 12, seed: 1 }
    }
}
