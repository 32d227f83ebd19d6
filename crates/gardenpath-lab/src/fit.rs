//! Estimates with intervals from measured results, and verdicts on claims.
//!
//! A *group*, such as one vocabulary at one depth, has several *replicates*: random grammars, one per seed. Their
//! values or curves give [thresholds](threshold()), [exponents](exponent()), [collapses](collapse()), [ratios](ratio())
//! and [means](mean()). Each is an [`Estimate`]: a number with a 95% interval over seeds, or the reason why there is
//! none. [`judge`] compares it with a claim.
//!
//! All intervals follow one rule: a jackknife over seeds, with Student's quantile at Welch-Satterthwaite degrees of
//! freedom to account for their small number. Fewer than [`FEWEST_SEEDS`] give no interval. Everything is
//! deterministic.
//!
//! ```
//! use gardenpath_lab::fit::{Curve, Direction, Expected, Group, Verdict, collapse, crossings, exponent, judge};
//!
//! // Five grammars for each v; learning needs about v^2 samples.
//! let curve = |star: f64| Curve::new((2..14).map(|k| 2f64.powi(k)).map(|p| (p, 1.0 / (1.0 + p / star))));
//! let hardness = [0.9, 1.1, 1.0, 0.95, 1.05];
//! let curves = [8.0, 16.0, 32.0].map(|v| Group::new(v, hardness.map(|hard| curve(hard * v * v))));
//! let law = exponent(&curves.each_ref().map(|group| crossings(group, 0.5, Direction::Falls)));
//! let claim = Expected::Near { value: 2.0, margin: 0.2 };
//! assert_eq!(judge(&law.exponent, claim, None).verdict, Verdict::Agrees);
//! assert_eq!(judge(&collapse(&curves, 2.0).exponent, claim, None).verdict, Verdict::Agrees);
//! ```

mod collapse;
#[cfg(test)]
mod coverage;
mod crossing;
mod data;
mod estimate;
mod exponent;
mod jackknife;
mod line;
mod mean;
mod ratio;
mod statistics;
mod strata;
mod student;
#[cfg(test)]
mod synthetic;
mod threshold;
mod verdict;

pub use collapse::{Collapse, collapse};
pub use crossing::{Direction, crossing, crossings, far_enough};
pub use data::{Curve, Group};
pub use estimate::{Estimate, FEWEST_SEEDS, FEWEST_SIZES, Limit};
pub use exponent::{PowerLaw, exponent};
pub use mean::{geometric_mean, mean};
pub use ratio::{Ratio, matched_ratio, ratio, ratio_at_least};
pub use statistics::{average, band, band_of_group, standard_error};
pub use student::{student_probability, student_quantile};
pub use threshold::threshold;
pub use verdict::{Expected, Judgement, Verdict, judge};

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::{Seed, Stream};

    const ODD: [f64; 10] =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 0.4, 0.5, 1.0, f64::MAX, f64::MIN_POSITIVE];

    fn odd(stream: &mut Stream) -> f64 {
        ODD[stream.below(ODD.len() as u64) as usize]
    }

    fn odd_values(stream: &mut Stream) -> Vec<f64> {
        (0..stream.below(7)).map(|_| odd(stream)).collect()
    }

    fn odd_curves(stream: &mut Stream) -> Group<Curve> {
        let curve = |stream: &mut Stream| {
            Curve::new((0..stream.below(6)).map(|_| (odd(stream), odd(stream))).collect::<Vec<_>>())
        };
        Group::new(odd(stream), (0..stream.below(7)).map(|_| curve(stream)).collect::<Vec<_>>())
    }

    #[test]
    fn odd_numbers_never_panic_and_never_agree_without_an_interval() {
        for index in 0..2000 {
            let stream = &mut Seed::new(19).stream(index);
            let (level, direction) = (odd(stream), [Direction::Falls, Direction::Rises][stream.below(2) as usize]);
            let curves: Vec<Group<Curve>> = (0..4).map(|_| odd_curves(stream)).collect();
            let groups: Vec<Group<f64>> = (0..4).map(|_| Group::new(odd(stream), odd_values(stream))).collect();
            let values = |k: usize| groups[k].replicates.as_slice();
            let pairs: Vec<(f64, f64)> = values(0).iter().copied().zip(values(1).iter().copied()).collect();
            band_of_group(&curves[0]);
            let found = [
                threshold(&curves[0], level, direction),
                exponent(&groups).exponent,
                collapse(&curves, level).exponent,
                ratio(&[(values(0), values(1)), (values(2), values(3))]).ratio,
                matched_ratio(&[&pairs]).ratio,
                mean(values(0)),
                geometric_mean(values(0)),
            ];
            for estimate in found {
                assert!(estimate.interval.is_none_or(|(low, high)| low <= high), "{estimate:?}");
                assert!(estimate.interval.is_some() || estimate.because.is_some(), "{estimate:?}");
                let judged = judge(&estimate, Expected::Near { value: odd(stream), margin: odd(stream) }, None);
                assert!(estimate.interval.is_some() || judged.verdict == Verdict::Inconclusive);
            }
        }
    }
}
