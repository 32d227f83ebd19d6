//! Learning curves of which everything is known, for the tests.

use super::statistics::normal;
use gardenpath::Seed;

/// The points of a curve.
type Points = Vec<(f64, Vec<f64>)>;

/// What makes the curves of different seeds differ.
#[derive(Clone, Copy)]
pub struct Noise {
    /// The deviation of ln P* between seeds, the same at all P: some grammars are harder than others.
    pub of_seed: f64,
    /// The deviation of single results.
    pub of_result: f64,
}

/// Falls from 1 to 0 around 0.
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + x.exp())
}

/// A function of ln P as the curve of one seed, from one ln P to another in equal steps.
pub fn curve_of(from: f64, to: f64, step: f64, value: impl Fn(f64) -> f64) -> Points {
    let points = ((to - from) / step).round() as usize;
    let at = |k: usize| from + step * k as f64;
    (0..=points).map(|k| (at(k).exp(), vec![value(at(k))])).collect()
}

/// Sigmoids in ln P around `middle`, at powers of 2 within a range of ln P.
pub fn learning_curve(middle: f64, (from, to): (f64, f64), noise: Noise, seeds: u64, seed: Seed) -> Points {
    let step = std::f64::consts::LN_2;
    let result = |x: f64, k: u64| {
        let moved = noise.of_seed * normal(&mut seed.child("grammar").stream(k));
        let index = (x / step).round() as u64;
        sigmoid(x - middle - moved) + noise.of_result * normal(&mut seed.child("result").nth(k).stream(index))
    };
    let powers = (from / step).ceil() as u32..=(to / step).floor() as u32;
    let results = |x: f64| (0..seeds).map(|k| result(x, k)).collect();
    powers.map(|k| (2f64.powi(k as i32), results(step * f64::from(k)))).collect()
}

/// A curve for each of some v, with P* = v^exponent and each measured at `reach` of ln P around it, or all of them
/// wherever one is.
pub fn family(exponent: f64, reach: f64, everywhere: bool, noise: Noise, seeds: u64, seed: Seed) -> Vec<(f64, Points)> {
    let middle = |v: f64| exponent * v.ln();
    let curve = |v: f64| {
        let (first, last) = if everywhere { (8.0, 32.0) } else { (v, v) };
        let range = ((middle(first) - reach).max(0.0), middle(last) + reach);
        (v, learning_curve(middle(v), range, noise, seeds, seed.nth(v as u64)))
    };
    [8.0, 12.0, 16.0, 24.0, 32.0].map(curve).to_vec()
}
