//! Groups of logarithms, and the noise of statistics of their means.

use super::jackknife::{Noise, jackknife};
use super::statistics::{average, standard_error};

/// The logarithms of the replicates of each group.
pub(super) struct Strata {
    logs: Vec<Vec<f64>>,
    /// The mean of each group.
    pub means: Vec<f64>,
}

impl Strata {
    /// The logarithms of positive numbers.
    pub fn new(groups: impl IntoIterator<Item = Vec<f64>>) -> Self {
        let logs: Vec<Vec<f64>> =
            groups.into_iter().map(|group| group.iter().map(|value| value.ln()).collect()).collect();
        let means = logs.iter().map(|logs| average(logs)).collect();
        Strata { logs, means }
    }

    /// The smallest number of replicates.
    pub fn seeds(&self) -> usize {
        self.logs.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// The variance of each mean; NaN for a single replicate.
    pub fn variances(&self) -> Vec<f64> {
        self.logs.iter().map(|logs| standard_error(logs).powi(2)).collect()
    }

    /// The noise of a function of the means.
    pub fn noise(&self, statistic: impl Fn(&[f64]) -> f64) -> Noise {
        let counts: Vec<usize> = self.logs.iter().map(Vec::len).collect();
        let mut means = self.means.clone();
        jackknife(&counts, |group, left_out| {
            let mean = self.means[group];
            means[group] = mean + (mean - self.logs[group][left_out]) / (counts[group] as f64 - 1.0);
            let value = statistic(&means);
            means[group] = mean;
            value
        })
    }
}

/// The sum of squared deviations from a law relative to its expectation under seed noise: 1 on average if the law
/// holds.
///
/// NaN if noise explains no deviation, as with as many parameters as groups.
pub(super) fn misfit(distances: impl Iterator<Item = f64>, noise: impl Iterator<Item = f64>) -> f64 {
    let expected: f64 = noise.sum();
    if expected > 1e-12 { distances.map(|distance| distance * distance).sum::<f64>() / expected } else { f64::NAN }
}
