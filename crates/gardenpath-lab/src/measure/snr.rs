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
        first: f64 => "The fewest sentences";
        last: f64 => "The most sentences";
        points: usize = 12 => "Numbers of sentences between them, equally spaced as logarithms";
        seed: u64 => "Seed of the grammar and its sentences";
    }
}

results! {
    /// The results. Signal and noise are apart: means over grammars are taken of each before they are divided.
    pub struct SnrResult {
        sizes: Vec<u64> => "Numbers of sentences";
        signal: f64 => "How much the root tells about a triple, of all sentences there could be";
        noise: Vec<f64> => "The noise of the estimate for each number of sentences";
        ratio: Vec<f64> => "Signal over noise for each number of sentences";
    }
}

/// More points than this say nothing more.
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
