//! The signal-to-noise ratio of the root given a triple, against the number of sentences, for one random grammar.

use anyhow::{Result, bail};
use gardenpath::Seed;
use gardenpath::snr::{SignalToNoise, log_grid};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snr {
    vocab: usize,
    depth: usize,
    fraction: f64,
    /// The fewest sentences.
    first: f64,
    /// The most sentences.
    last: f64,
    #[serde(default = "points")]
    points: usize,
    seed: u64,
}

pub(super) const PARAMETERS: &[&str] = &["vocab", "depth", "fraction", "first", "last", "points", "seed"];

fn points() -> usize {
    12
}

/// More points than this say nothing more.
const MAX_POINTS: usize = 10_000;

impl Snr {
    pub(super) fn run(&self) -> Result<Value> {
        if self.points > MAX_POINTS {
            bail!("points is {}, expected at most {MAX_POINTS}", self.points);
        }
        let grammar = super::grammar(self.vocab, self.depth, self.fraction, self.seed)?;
        let sizes = log_grid(self.first, self.last, self.points);
        let curve = SignalToNoise::measure(&grammar, &sizes, Seed::new(self.seed))?;
        // Signal and noise apart: means over grammars are taken of each before they are divided.
        Ok(json!({"sizes": curve.samples, "signal": curve.signal, "noise": curve.noise, "ratio": curve.ratio}))
    }

    pub(super) fn work(&self) -> f64 {
        self.last * super::length(self.depth)
    }
}
