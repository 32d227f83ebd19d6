//! How recorded learning curves become numbers: thresholds, exponents, and how well curves fall on one another.
//!
//! Everything is a pure function: the same results and the same seed of the bootstrap give the same numbers. What
//! cannot be said is `None`, and an interval that is not known is NaN.
//!
//! ```
//! use gardenpath::Seed;
//! use gardenpath_lab::fit::{judge_collapse, power_law, threshold_with_interval};
//!
//! // Two seeds each; learning needs v^2 samples.
//! let curve = |v: f64| -> Vec<(f64, Vec<f64>)> {
//!     let loss = |p: f64| 1.0 / (1.0 + p / (v * v));
//!     (0..16).map(|k| 2f64.powi(k)).map(|p| (p, vec![0.99 * loss(p), 1.01 * loss(p)])).collect()
//! };
//! let curves = [8.0, 16.0, 32.0].map(|v| (v, curve(v)));
//! let seed = Seed::new(1);
//! let thresholds = curves.iter().filter_map(|(v, curve)| Some((*v, threshold_with_interval(curve, 0.5, seed)?)));
//! let law = power_law(&thresholds.collect::<Vec<_>>(), seed).unwrap();
//! assert!(law.exponent.contains(2.0) && (law.prefactor - 1.0).abs() < 1e-9);
//! assert!(judge_collapse(&curves, 2.0).unwrap().predicted_score < 1e-3);
//! ```

mod collapse;
mod estimate;
mod interval;
mod power_law;
mod statistics;
#[cfg(test)]
mod synthetic;
mod threshold;

pub use collapse::{Collapse, best_exponent, collapse, judge_collapse};
pub use estimate::Estimate;
pub use interval::{rises_through_with_interval, threshold_with_interval};
pub use power_law::{PowerLaw, power_law};
pub use statistics::{band, mean, standard_error};
pub use threshold::{rises_through, threshold};

/// A learning curve: for each number of samples, increasing, the results of all seeds.
///
/// Points without results, or whose mean is not finite, count as not measured.
pub type Curve = [(f64, Vec<f64>)];

/// How often the bootstrap draws.
const ROUNDS: u64 = 1000;

/// Half of the 95% interval of a normal distribution, in standard errors.
const NORMAL_95: f64 = 1.96;

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::{Seed, Stream};

    const ODD: [f64; 10] =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 0.4, 0.5, 1.0, f64::MAX, f64::MIN_POSITIVE];

    fn odd(stream: &mut Stream) -> f64 {
        ODD[stream.below(ODD.len() as u64) as usize]
    }

    fn odd_curve(stream: &mut Stream) -> Vec<(f64, Vec<f64>)> {
        let results = |stream: &mut Stream| (0..stream.below(4)).map(|_| odd(stream)).collect();
        (0..stream.below(6)).map(|_| (odd(stream), results(stream))).collect()
    }

    #[test]
    fn odd_numbers_never_panic() {
        for index in 0..2000 {
            let mut stream = Seed::new(19).stream(index);
            let curve = odd_curve(&mut stream);
            let (level, seed) = (odd(&mut stream), Seed::new(index));
            threshold(&curve, level);
            rises_through(&curve, level);
            threshold_with_interval(&curve, level, seed);
            rises_through_with_interval(&curve, level, seed);
            band(&curve);
            let number = |stream: &mut Stream| Estimate { value: odd(stream), low: odd(stream), high: odd(stream) };
            let points: Vec<_> = (0..3).map(|_| (odd(&mut stream), number(&mut stream))).collect();
            power_law(&points, seed);
            let curves: Vec<_> = (0..3).map(|_| (odd(&mut stream), odd_curve(&mut stream))).collect();
            collapse(&curves, level);
            judge_collapse(&curves, level);
        }
    }
}
