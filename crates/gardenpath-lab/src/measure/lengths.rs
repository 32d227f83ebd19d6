//! The distribution of sentence lengths at one depth, and its change to the next. Exact: there is no seed.

use super::parameter::parameters;
use super::result::results;
use super::{Keeper, Kind};
use anyhow::{Result, bail};
use gardenpath::PerArity;
use gardenpath::theory::lengths::{LengthLaw, length_distribution};

parameters! {
    /// The parameters.
    pub struct Lengths {
        depth: usize => "Layers of rules";
        p_binary: f64 = 0.5 => "Probability that a node has two children, not three";
        points: usize = 300 => "Maximum number of lengths listed; more are thinned out";
    }
}

results! {
    /// The results.
    pub struct LengthsResult {
        length: Vec<u64> => "Sentence lengths, thinned out";
        probability: Vec<f64> => "Their probabilities";
        mean_length: f64 => "Mean length";
        length_variance: f64 => "Variance of the length";
        variance_per_node: f64 => "Variance that one node adds to the length at the next depth";
        log_ratio_mean: f64 => "Mean log ratio of the lengths at the next depth and this one";
        log_ratio_variance: f64 => "Its variance";
        inverse_length: f64 => "Mean of 1 / length";
        log_shape_change: f64 => "Largest change of the density of the log length to the next depth, shifted by the mean log ratio";
        shape_change: f64 => "Largest change to the next depth of the density of length / mean length";
    }
}

/// Lengths with a smaller probability, relative to the most probable length, are not listed.
const VISIBLE: f64 = 1e-3;

/// Deeper trees have millions of lengths.
const DEEPEST: usize = 9;

impl Kind for Lengths {
    type Output = LengthsResult;

    const NAME: &'static str = "lengths";
    const MEANING: &'static str =
        "The exact distribution of sentence lengths, and its change from one depth to the next";

    fn settle(&mut self) -> Result<()> {
        if !(1..=DEEPEST).contains(&self.depth) {
            bail!("depth is {}, expected 1 to {DEEPEST}", self.depth);
        }
        if !(self.p_binary > 0.0 && self.p_binary < 1.0) {
            bail!("p_binary is {}, expected a number between 0 and 1", self.p_binary);
        }
        if self.points == 0 {
            bail!("points is 0, expected at least 1");
        }
        Ok(())
    }

    fn run(&self, _: &dyn Keeper) -> Result<LengthsResult> {
        let law = length_distribution(self.depth, PerArity::paper(self.p_binary))?;
        let next = length_distribution(self.depth + 1, PerArity::paper(self.p_binary))?;
        let most = law.iter().map(|(_, probability)| probability).fold(0.0, f64::max);
        let listed: Vec<(usize, f64)> = law.iter().filter(|(_, p)| *p > VISIBLE * most).collect();
        let step = listed.len().div_ceil(self.points);
        let (length, probability): (Vec<usize>, Vec<f64>) = listed.into_iter().step_by(step).unzip();
        let branching = 3.0 - self.p_binary;
        let ratio = Ratio::new(&law, 1.0 - self.p_binary);
        // The density of the log length, which is shifted, and of length / mean length, which is not.
        let density =
            |law: &LengthLaw| law.iter().map(|(len, p)| ((len as f64).ln(), p * len as f64)).collect::<Vec<_>>();
        Ok(LengthsResult {
            length: length.into_iter().map(|len| len as u64).collect(),
            probability,
            mean_length: law.mean(),
            length_variance: law.variance(),
            variance_per_node: (next.variance() - branching.powi(2) * law.variance()) / law.mean(),
            log_ratio_mean: ratio.mean,
            log_ratio_variance: ratio.variance,
            inverse_length: ratio.inverse_length,
            log_shape_change: change(&density(&law), &density(&next), branching.ln()),
            shape_change: change(&law.scaling_form(), &next.scaling_form(), 0.0),
        })
    }

    fn work(&self) -> f64 {
        5e-8 * 9f64.powi(i32::try_from(self.depth).unwrap_or(i32::MAX).min(20))
    }

    fn tiny(&self) -> Self {
        Lengths { depth: 6, p_binary: 0.5, points: 300 }
    }
}

/// The log ratio of the lengths of a level and the next.
struct Ratio {
    mean: f64,
    variance: f64,
    /// The mean of 1/d.
    inverse_length: f64,
}

impl Ratio {
    /// Computed from the length distribution of the level and the probability of three children.
    fn new(law: &LengthLaw, p_ternary: f64) -> Self {
        let (mut first, mut second, mut inverse_length) = (0.0, 0.0, 0.0);
        for (len, probability) in law.iter() {
            inverse_length += probability / len as f64;
            for (ternary, weight) in binomial(len, p_ternary).into_iter().enumerate() {
                let log = (2.0 + ternary as f64 / len as f64).ln();
                first += probability * weight * log;
                second += probability * weight * log.powi(2);
            }
        }
        Ratio { mean: first, variance: second - first.powi(2), inverse_length }
    }
}

/// Binomial probabilities for this many coins, from the mode outwards: the tails may underflow, the middle does not.
fn binomial(coins: usize, p: f64) -> Vec<f64> {
    let mut weights = vec![1.0; coins + 1];
    let (odds, middle) = (p / (1.0 - p), (coins as f64 * p) as usize);
    for k in middle + 1..=coins {
        weights[k] = weights[k - 1] * (coins + 1 - k) as f64 / k as f64 * odds;
    }
    for k in (0..middle).rev() {
        weights[k] = weights[k + 1] * (k + 1) as f64 / (coins - k) as f64 / odds;
    }
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// The largest distance between a shifted curve and the next one.
fn change(curve: &[(f64, f64)], next: &[(f64, f64)], shift: f64) -> f64 {
    curve.iter().map(|&(x, y)| (y - height(next, x + shift)).abs()).fold(0.0, f64::max)
}

/// The value of a polygon at x, zero outside.
fn height(polygon: &[(f64, f64)], x: f64) -> f64 {
    let right = polygon.partition_point(|point| point.0 < x);
    match (right.checked_sub(1).map(|left| polygon[left]), polygon.get(right)) {
        (Some((x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (None, Some(&(x1, y1))) if x1 == x => y1,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_ratio_is_the_shift_of_the_mean() {
        let laws: Vec<LengthLaw> =
            (1..=5).map(|depth| length_distribution(depth, PerArity::paper(0.3)).unwrap()).collect();
        let mean = |law: &LengthLaw| law.iter().map(|(len, p)| p * (len as f64).ln()).sum::<f64>();
        for pair in laws.windows(2) {
            let shift = mean(&pair[1]) - mean(&pair[0]);
            assert!((Ratio::new(&pair[0], 0.7).mean - shift).abs() < 1e-10);
        }
    }

    #[test]
    fn coins() {
        assert_eq!(binomial(1, 0.5), [0.5, 0.5]);
        assert_eq!(binomial(4, 0.5), [1.0, 4.0, 6.0, 4.0, 1.0].map(|ways| ways / 16.0));
        let (many, mean) = (binomial(2001, 0.2), 400.2);
        let variance: f64 = many.iter().enumerate().map(|(k, weight)| weight * (k as f64 - mean).powi(2)).sum();
        assert!((variance - 2001.0 * 0.16).abs() < 1e-8);
    }

    #[test]
    fn heights_of_polygons() {
        let polygon = [(1.0, 2.0), (2.0, 4.0), (4.0, 0.0)];
        assert_eq!([0.5, 1.0, 1.5, 3.0, 4.0, 4.5].map(|x| height(&polygon, x)), [0.0, 2.0, 3.0, 2.0, 0.0, 0.0]);
    }
}
