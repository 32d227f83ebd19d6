//! Synthetic learning curves with known truth, for tests.

use super::{Curve, Group};
use gardenpath::{Seed, Stream};

/// Noise of the curves.
#[derive(Clone, Copy, Debug)]
pub struct Noise {
    /// The standard deviation of ln P* between seeds, common to all P: some grammars are harder than others.
    pub of_seed: f64,
    /// The standard deviation of single results.
    pub of_result: f64,
    /// The steepness of the sigmoid in ln P.
    pub steepness: f64,
}

/// Falls from 1 to 0 around 0.
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + x.exp())
}

/// A standard normal number by the Box-Muller method.
pub fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.unit()).cos()
}

/// Sigmoids in ln P around `middle`, at numbers of samples a factor of two apart.
pub fn curves(middle: f64, samples: &[f64], noise: Noise, seeds: u64, seed: Seed) -> Vec<Curve> {
    let curve = |k: u64| {
        let mut stream = seed.stream(k);
        let moved = noise.of_seed * normal(&mut stream);
        let result = |&p: &f64| {
            (p, sigmoid(noise.steepness * (p.ln() - middle - moved)) + noise.of_result * normal(&mut stream))
        };
        Curve::new(samples.iter().map(result))
    };
    (0..seeds).map(curve).collect()
}

/// Numbers of samples a factor of two apart, within `reach` factors of two of a middle that is not one of them.
pub fn samples(middle: f64, reach: f64) -> Vec<f64> {
    let (low, high) = (middle / 2f64.ln() - reach, middle / 2f64.ln() + reach);
    (low.ceil() as i32..=high.floor() as i32).map(|k| 2f64.powi(k)).collect()
}

/// Curves for several v with P* = 4 v^exponent, each measured within `reach` factors of two of it.
pub fn family(vocabs: &[f64], exponent: f64, reach: f64, noise: Noise, seeds: u64, seed: Seed) -> Vec<Group<Curve>> {
    let group = |&vocab: &f64| {
        let middle = 4f64.ln() + exponent * vocab.ln();
        Group::new(vocab, curves(middle, &samples(middle, reach), noise, seeds, seed.nth(vocab as u64)))
    };
    vocabs.iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_are_normal() {
        let mut stream = Seed::new(3).stream(0);
        let values: Vec<f64> = (0..100_000).map(|_| normal(&mut stream)).collect();
        let outside = values.iter().filter(|value| value.abs() > 1.96).count();
        let squares = values.iter().map(|value| value * value).sum::<f64>() / 1e5;
        assert!((values.iter().sum::<f64>() / 1e5).abs() < 0.01 && (squares - 1.0).abs() < 0.02);
        assert!(outside.abs_diff(5_000) < 250, "{outside}");
    }

    #[test]
    fn curves_have_the_points_that_they_should() {
        let samples = samples(100f64.ln(), 4.0);
        assert_eq!(samples, [8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0]);
        let curves =
            curves(100f64.ln(), &samples, Noise { of_seed: 0.0, of_result: 0.0, steepness: 1.0 }, 3, Seed::new(1));
        assert!(curves.len() == 3 && curves[0] == curves[2] && curves[0].points()[3].1 > 0.5);
    }
}
