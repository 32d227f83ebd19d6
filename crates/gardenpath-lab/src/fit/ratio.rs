//! Ratios of a quantity between groups.

use super::Estimate;
use super::estimate::{Limit, with_enough_seeds};
use super::mean::{Missing, measured};
use super::statistics::average;
use super::strata::{Strata, misfit};
use serde::Serialize;

/// The mean ratio of two quantities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The geometric mean of the ratios.
    pub ratio: Estimate,
    /// How much the ratios of different pairs differ: the mean square deviation of their logarithms from the mean,
    /// relative to seed noise. About 1 for a constant ratio; NaN (`null` in JSON) for a single pair.
    pub misfit: f64,
}

/// The mean ratio over pairs of groups with independent seeds, such as depth 3 over depth 2 at each vocabulary.
///
/// A pair is (numerator, denominator). The interval is Student's for differences of mean logarithms, widened by the
/// root of the misfit if pairs differ by more than seed noise. There is none for fewer than five seeds; pairs with fewer
/// are left out if there are others. There is no ratio if values are 0 or infinite (curves that do not cross), but
/// [`ratio_at_least`] may bound it. NaNs are ignored, and so are pairs without measurements on one side.
///
/// ```
/// use gardenpath_lab::fit::ratio;
///
/// let shallow = [90.0, 100.0, 110.0, 95.0, 105.0];
/// let found = ratio(&[(&shallow.map(|p| 12.5 * p), &shallow), (&shallow.map(|p| 50.0 * p), &shallow.map(|p| 4.0 * p))]);
/// assert!(found.ratio.contains(12.5) && !found.ratio.contains(8.0));
/// ```
pub fn ratio(pairs: &[(&[f64], &[f64])]) -> Ratio {
    let pairs = pairs.iter().map(|(above, below)| [measured(above), measured(below)]);
    let pairs: Vec<[Vec<f64>; 2]> = pairs.filter(|[above, below]| !above.is_empty() && !below.is_empty()).collect();
    let seeds = |pair: &[Vec<f64>; 2]| pair[0].len().min(pair[1].len());
    let (pairs, left_out) = with_enough_seeds(pairs, seeds, |pairs| !pairs.is_empty());
    let differences = |means: &[f64]| means.chunks(2).map(|pair| pair[0] - pair[1]).collect::<Vec<f64>>();
    mean_ratio(pairs.into_iter().flatten().collect(), left_out, differences)
}

/// A lower bound of [`ratio`] where some numerators are infinite: curves that do not cross within the measured range.
///
/// Each pair has the end of its numerators' range, which stands for those beyond it. So the ratio is at least the value, and the interval has no
/// upper end. Without infinite numerators, or if a denominator is unknown, this is [`ratio`].
///
/// ```
/// use gardenpath_lab::fit::ratio_at_least;
///
/// let (fast, slow) = ([90.0, 100.0, 110.0, 95.0, 105.0], [f64::INFINITY; 5]);
/// let found = ratio_at_least(&[(&slow, &fast, 300.0)]).ratio;
/// assert!(!found.contains(2.5) && found.contains(3.0) && found.contains(1e9));
/// ```
pub fn ratio_at_least(pairs: &[(&[f64], &[f64], f64)]) -> Ratio {
    let whole = ratio(&pairs.iter().map(|(above, below, _)| (*above, *below)).collect::<Vec<_>>());
    let beyond = |above: &[f64]| above.contains(&f64::INFINITY);
    if whole.ratio.limit != Limit::Range || !pairs.iter().any(|(above, ..)| beyond(above)) {
        return whole;
    }
    let cut = |(above, _, end): &(&[f64], &[f64], f64)| above.iter().map(|value| value.min(*end)).collect::<Vec<f64>>();
    let cut: Vec<Vec<f64>> = pairs.iter().map(cut).collect();
    let bound = ratio(&cut.iter().zip(pairs).map(|(above, (_, below, _))| (&above[..], *below)).collect::<Vec<_>>());
    match bound.ratio.interval {
        None => whole,
        Some((low, _)) => {
            let why = whole.ratio.because.unwrap_or_default();
            let because = Some(format!("{why} and count as its end: a lower bound"));
            let interval = Some((low, f64::INFINITY));
            Ratio { ratio: Estimate { interval, limit: Limit::Range, because, ..bound.ratio }, ..bound }
        }
    }
}

/// The mean ratio of two quantities of the same seeds, such as the samples that a network needs for each grammar over
/// the prediction. Each group has pairs (numerator, denominator).
///
/// Like [`ratio`], but effects of a seed on both quantities cancel.
///
/// ```
/// use gardenpath_lab::fit::matched_ratio;
///
/// // Grammars differ by a factor of three, their ratios hardly at all.
/// let pairs = [100.0, 300.0, 150.0, 200.0, 250.0].map(|theory: f64| (theory * (2.0 + theory / 1e4), theory));
/// let found = matched_ratio(&[&pairs]);
/// assert!(found.ratio.contains(2.02) && !found.ratio.contains(2.0));
/// ```
pub fn matched_ratio(groups: &[&[(f64, f64)]]) -> Ratio {
    let one = |&(above, below): &(f64, f64)| match (above, below) {
        // Both unknown: the ratio is undefined, but the seed must not be dropped.
        (0.0, 0.0) | (f64::INFINITY, f64::INFINITY) => f64::INFINITY,
        _ => above / below,
    };
    let groups = groups.iter().map(|pairs| measured(&pairs.iter().map(one).collect::<Vec<_>>()));
    let groups: Vec<Vec<f64>> = groups.filter(|group| !group.is_empty()).collect();
    let (groups, left_out) = with_enough_seeds(groups, Vec::len, |groups| !groups.is_empty());
    mean_ratio(groups, left_out, <[f64]>::to_vec)
}

/// The mean of differences that are linear in the group means of logarithms.
fn mean_ratio(groups: Vec<Vec<f64>>, left_out: usize, differences: impl Fn(&[f64]) -> Vec<f64>) -> Ratio {
    let seeds = groups.iter().map(Vec::len).min().unwrap_or(0);
    let missing = Missing::sum(groups.iter().map(|group| Missing::among(group)));
    if missing.any() {
        let ratio = Estimate { limit: Limit::Range, ..Estimate::refused(seeds, missing.to_string()) };
        return Ratio { ratio, misfit: f64::NAN };
    }
    let strata = Strata::new(groups);
    let value = average(&differences(&strata.means));
    let ratio = Estimate::student(value, strata.noise(|means| average(&differences(means))), seeds);
    let all = differences(&strata.means);
    let share = 1.0 - 1.0 / all.len() as f64;
    let misfit =
        misfit(all.iter().map(|one| one - value), strata.variances().into_iter().map(|variance| share * variance));
    Ratio { ratio: ratio.widened(misfit).leaving_out(left_out).on_scale(f64::exp), misfit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::statistics::standard_error;

    const FACTORS: [f64; 5] = [0.8, 0.9, 1.0, 1.2, 1.1];

    fn times(by: f64) -> [f64; 5] {
        FACTORS.map(|factor| by * factor)
    }

    #[test]
    fn one_pair_has_the_interval_of_welch() {
        let found = ratio(&[(&times(6.0), &times(2.0))]);
        let half = 2.306_004 * standard_error(&FACTORS.map(f64::ln)) * 2f64.sqrt();
        let (low, high) = found.ratio.interval.unwrap();
        assert!((found.ratio.value - 3.0).abs() < 1e-12 && ((high / 3.0).ln() - half).abs() < 1e-6);
        assert!(((3.0 / low).ln() - half).abs() < 1e-6 && found.misfit.is_nan());
    }

    #[test]
    fn pairs_that_differ_widen() {
        let wide = ratio(&[(&times(6.0), &times(2.0)), (&times(6.0), &times(4.0))]);
        let narrow = ratio(&[(&times(6.0), &times(2.0)), (&times(12.0), &times(4.0))]);
        assert!((wide.ratio.value - 4.5f64.sqrt()).abs() < 1e-12 && wide.misfit > 4.0 && narrow.misfit < 1e-20);
        let width = |found: &Ratio| found.ratio.interval.map(|(low, high)| (high / low).ln()).unwrap();
        assert!((width(&wide) / width(&narrow) - wide.misfit.sqrt()).abs() < 1e-9);
        // ln 2 between two pairs of two groups each.
        let expected = 0.5 * 2f64.ln().powi(2) / (2.0 * standard_error(&FACTORS.map(f64::ln)).powi(2));
        assert!((wide.misfit - expected).abs() < 1e-9);
    }

    #[test]
    fn pairs_of_few_seeds_are_left_out_if_others_have_enough() {
        let whole = ratio(&[(&times(6.0), &times(2.0))]);
        let found = ratio(&[(&times(6.0), &times(2.0)), (&times(6.0)[..2], &times(9.0)), (&times(1.0), &[2.0])]);
        assert_eq!(found.ratio.interval, whole.ratio.interval);
        assert_eq!(found.ratio.because.unwrap(), "without 2 groups of fewer than 5 seeds");
        let matched = matched_ratio(&[&FACTORS.map(|x| (3.0 * x, x)), &[(f64::INFINITY, 1.0)]]);
        assert!((matched.ratio.value - 3.0).abs() < 1e-12 && matched.ratio.because.is_some());
    }

    #[test]
    fn what_seeds_share_cancels() {
        let pairs = [1.0, 2.0, 3.0, 4.0, 5.0].map(|x: f64| (3.0 * x, x));
        let found = matched_ratio(&[&pairs, &pairs]);
        assert!(
            (found.ratio.value - 3.0).abs() < 1e-12
                && found.ratio.interval.is_some_and(|(low, high)| high - low < 1e-9)
        );
    }

    #[test]
    fn curves_beyond_the_range_bound_the_ratio_from_below() {
        let some = [6.0, 7.0, f64::INFINITY, f64::INFINITY, 8.0];
        let found = ratio_at_least(&[(&some, &FACTORS, 10.0)]).ratio;
        let known = ratio(&[(&[6.0, 7.0, 10.0, 10.0, 8.0], &FACTORS)]).ratio;
        assert_eq!((found.value, found.interval.unwrap().0), (known.value, known.interval.unwrap().0));
        assert_eq!((found.interval.unwrap().1, found.limit), (f64::INFINITY, Limit::Range));
        assert_eq!(
            found.because.unwrap(),
            "2 of 10 curves do not cross the level within the measured range and count as its end: a lower bound"
        );
        // Complete curves need no bound, and denominators beyond their range give none.
        assert_eq!(ratio_at_least(&[(&times(6.0), &FACTORS, 3.0)]).ratio, ratio(&[(&times(6.0), &FACTORS)]).ratio);
        assert!(ratio_at_least(&[(&some, &some, 10.0)]).ratio.interval.is_none());
        assert!(ratio_at_least(&[(&times(6.0), &some, 10.0)]).ratio.interval.is_none());
        assert!(ratio_at_least(&[(&[0.0, 6.0, 6.0, 6.0, f64::INFINITY], &FACTORS, 10.0)]).ratio.interval.is_none());
    }

    #[test]
    fn what_is_missing_is_said() {
        let because = |found: Ratio| {
            assert!(found.ratio.interval.is_none());
            found.ratio.because.unwrap()
        };
        let infinite = [1.0, 2.0, 3.0, f64::INFINITY, 4.0];
        assert_eq!(
            because(ratio(&[(&infinite, &FACTORS)])),
            "1 of 10 curves do not cross the level within the measured range"
        );
        assert_eq!(because(ratio(&[(&FACTORS[..3], &FACTORS)])), "3 seeds; an interval needs at least 5");
        assert_eq!(because(ratio(&[(&[f64::NAN], &FACTORS)])), "no measurements");
        assert_eq!(because(ratio(&[])), "no measurements");
        let both = [(f64::INFINITY, f64::INFINITY), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 1.0)];
        assert!(because(matched_ratio(&[&both])).starts_with("1 of 5 curves"));
        assert!(ratio(&[(&FACTORS, &FACTORS), (&[], &FACTORS)]).ratio.contains(1.0));
    }
}
