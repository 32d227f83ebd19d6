//! Exponents: slopes on a log-log scale.

use super::estimate::{FEWEST_SIZES, Limit, with_enough_seeds};
use super::line::{Line, freedoms};
use super::mean::{Missing, geometric_mean, measured};
use super::strata::{Strata, misfit};
use super::{Estimate, Group};
use serde::Serialize;

/// y = prefactor * parameter^exponent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PowerLaw {
    /// The exponent.
    pub exponent: Estimate,
    /// The value at parameter 1; NaN if there is no law.
    pub prefactor: f64,
    /// The mean square deviation of the groups from the law, relative to seed noise: about 1 for a power law, more if
    /// the points bend. NaN (`null` in JSON) if there are fewer than three sizes, or the noise is unknown.
    pub misfit: f64,
}

impl PowerLaw {
    /// The value at a parameter.
    pub fn at(&self, parameter: f64) -> f64 {
        self.prefactor * parameter.powf(self.exponent.value)
    }

    fn refused(exponent: Estimate) -> Self {
        PowerLaw { exponent, prefactor: f64::NAN, misfit: f64::NAN }
    }
}

/// The exponent with which a positive quantity grows with the parameter, by least squares through the geometric means
/// of the groups.
///
/// The interval comes from seed noise within groups, with Student's quantile at Welch-Satterthwaite degrees of freedom.
/// If the groups deviate from the law by more than this noise, it is widened by the root of the misfit. Groups have
/// equal weights: weights estimated from a handful of seeds would be noise themselves.
///
/// There is no interval for fewer than three sizes with five seeds; sizes with fewer seeds are left out if there are three
/// others. Nor is there one if some values are 0 or infinite (curves that do not cross, see
/// [`crossing`](super::crossing)). NaNs and empty groups are ignored.
///
/// Cost: one fit per replicate.
///
/// ```
/// use gardenpath_lab::fit::{Group, exponent};
///
/// let noise = [0.9, 0.95, 1.0, 1.05, 1.12];
/// let thresholds = [8.0, 16.0, 32.0].map(|v: f64| Group::new(v, noise.map(|factor| 3.0 * factor * v * v)));
/// let law = exponent(&thresholds);
/// assert!(law.exponent.contains(2.0) && !law.exponent.contains(2.2) && !law.exponent.contains(1.8));
/// assert!((law.at(10.0) / 300.0 - 1.0).abs() < 0.01 && law.misfit < 1e-9);
///
/// let two = exponent(&thresholds[..2]);
/// assert_eq!(two.exponent.because.unwrap(), "2 sizes; an interval for an exponent needs at least 3");
/// ```
pub fn exponent(groups: &[Group<f64>]) -> PowerLaw {
    let groups: Vec<Group<f64>> = groups
        .iter()
        .map(|group| Group::new(group.at, measured(&group.replicates)))
        .filter(|group| !group.replicates.is_empty())
        .collect();
    let (groups, left_out) =
        with_enough_seeds(groups, |group| group.replicates.len(), |groups| sizes(groups) >= FEWEST_SIZES);
    let seeds = groups.iter().map(|group| group.replicates.len()).min().unwrap_or(0);
    if groups.iter().any(|group| !(group.at > 0.0 && group.at.is_finite())) {
        return PowerLaw::refused(Estimate::refused(seeds, "a size is not a positive number"));
    }
    let missing = Missing::sum(groups.iter().map(|group| Missing::among(&group.replicates)));
    if missing.any() {
        return incomplete(&groups, missing);
    }
    let x: Vec<f64> = groups.iter().map(|group| group.at.ln()).collect();
    let strata = Strata::new(groups.iter().map(|group| group.replicates.clone()));
    let Some(line) = line(&x, &strata.means) else { return PowerLaw::refused(no_line(sizes(&groups), seeds)) };
    let prefactor = line.intercept.exp();
    if let Some(because) = too_few_sizes(sizes(&groups)) {
        let exponent = Estimate { limit: Limit::Sizes, ..Estimate::without_interval(line.slope, seeds, because) };
        return PowerLaw { exponent, prefactor, misfit: f64::NAN };
    }
    let distances = x.iter().zip(&strata.means).map(|(x, mean)| mean - line.at(*x));
    let explained = freedoms(&x).into_iter().zip(strata.variances()).map(|(share, variance)| share * variance);
    let misfit = misfit(distances, explained);
    let slope = |means: &[f64]| self::line(&x, means).map_or(f64::NAN, |line| line.slope);
    let exponent = Estimate::student(line.slope, strata.noise(slope), strata.seeds());
    PowerLaw { exponent: exponent.widened(misfit).leaving_out(left_out), prefactor, misfit }
}

fn line(x: &[f64], y: &[f64]) -> Option<Line> {
    Line::through(&x.iter().copied().zip(y.iter().copied()).collect::<Vec<_>>())
}

/// The law through the medians of the groups in which most curves cross, without an interval.
fn incomplete(groups: &[Group<f64>], missing: Missing) -> PowerLaw {
    let centres = groups.iter().map(|group| (group.at.ln(), geometric_mean(&group.replicates).value.ln()));
    let line = Line::through(&centres.filter(|centre| centre.1.is_finite()).collect::<Vec<_>>());
    let seeds = groups.iter().map(|group| group.replicates.len()).min().unwrap_or(0);
    let (value, prefactor) = line.map_or((f64::NAN, f64::NAN), |line| (line.slope, line.intercept.exp()));
    let exponent = Estimate::without_interval(value, seeds, missing.to_string());
    PowerLaw { exponent: Estimate { limit: Limit::Range, ..exponent }, prefactor, misfit: f64::NAN }
}

/// The number of different sizes.
pub(super) fn sizes<T>(groups: &[Group<T>]) -> usize {
    let mut sizes: Vec<f64> = groups.iter().map(|group| group.at).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    sizes.len()
}

/// The message if there are too few sizes for an interval.
pub(super) fn too_few_sizes(sizes: usize) -> Option<String> {
    let words = if sizes == 1 { "one size".to_owned() } else { format!("{sizes} sizes") };
    (sizes < FEWEST_SIZES).then(|| format!("{words}; an interval for an exponent needs at least {FEWEST_SIZES}"))
}

/// Why there is no exponent.
pub(super) fn no_line(sizes: usize, seeds: usize) -> Estimate {
    match sizes {
        0 => Estimate::refused(seeds, "no measurements"),
        1 => Estimate { limit: Limit::Sizes, ..Estimate::refused(seeds, "an exponent needs more than one size") },
        _ => Estimate::refused(seeds, "the numbers are too large to fit their logarithms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::statistics::standard_error;

    const FACTORS: [f64; 5] = [0.8, 0.9, 1.0, 1.2, 1.1];

    fn groups(values: &[(f64, f64)]) -> Vec<Group<f64>> {
        values.iter().map(|(at, value)| Group::new(*at, FACTORS.map(|factor| factor * value))).collect()
    }

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        // Equal spreads at x = -1, 0, 1: the slope is half the difference of the outer means.
        let law = exponent(&groups(&[-1.0, 0.0, 1.0].map(|x: f64| (x.exp(), (2.0 * x).exp()))));
        let error = standard_error(&FACTORS.map(f64::ln)) / 2f64.sqrt();
        let (low, high) = law.exponent.interval.unwrap();
        assert!((law.exponent.value - 2.0).abs() < 1e-12 && (law.exponent.freedom - 8.0).abs() < 1e-9);
        assert!(((high - low) / 2.0 - 2.306_004 * error).abs() < 1e-6);
        assert!(law.misfit < 1e-20 && law.exponent.limit == Limit::Seeds);
    }

    #[test]
    fn curvature_is_seen_and_widens() {
        let straight = groups(&[1.0, 2.0, 4.0].map(|x: f64| (x, x * x)));
        let bent = groups(&[1.0, 2.0, 4.0].map(|x: f64| (x, x * x * if x == 2.0 { 2.0 } else { 1.0 })));
        let [straight, bent] = [straight, bent].map(|groups| exponent(&groups));
        let width = |law: &PowerLaw| law.exponent.interval.map(|(low, high)| high - low).unwrap();
        // A residual of (1, -2, 1) / 3 ln 2, over noise with one degree of freedom.
        let expected = (2f64 / 3.0) * 2f64.ln().powi(2) / standard_error(&FACTORS.map(f64::ln)).powi(2);
        assert!((bent.misfit - expected).abs() < 1e-9, "{} {expected}", bent.misfit);
        assert!((width(&bent) / width(&straight) - expected.sqrt()).abs() < 1e-9);
        assert_eq!(bent.exponent.limit, Limit::Sizes);
    }

    #[test]
    fn a_size_that_has_just_begun_takes_nothing_from_the_others() {
        let full = groups(&[1.0, 2.0, 4.0].map(|x: f64| (x, x * x)));
        let begun = [full.clone(), vec![Group::new(8.0, [1e9, f64::INFINITY])]].concat();
        let (whole, found) = (exponent(&full), exponent(&begun));
        assert_eq!(found.exponent.interval, whole.exponent.interval);
        assert_eq!(found.exponent.because.unwrap(), "without one group of fewer than 5 seeds");
        assert_eq!(whole.exponent.because, None);
    }

    #[test]
    fn what_is_missing_is_said() {
        let because = |groups: &[Group<f64>]| {
            let law = exponent(groups);
            assert_eq!(law.exponent.interval, None);
            (law.exponent.value, law.exponent.because.unwrap())
        };
        let full = groups(&[1.0, 2.0, 4.0, 8.0].map(|x: f64| (x, x * x)));
        let few = [full[0].clone(), full[1].clone(), Group::new(4.0, [16.0; 3])];
        assert_eq!(because(&few).1, "3 seeds; an interval needs at least 5");
        assert_eq!(because(&full[..1]).1, "an exponent needs more than one size");
        assert_eq!(because(&[]).1, "no measurements");
        assert_eq!(
            because(&[full[0].clone(), full[0].clone(), full[1].clone()]).1,
            "2 sizes; an interval for an exponent needs at least 3"
        );
        let mut censored = full.clone();
        censored[3].replicates[4] = f64::INFINITY;
        let (value, words) = because(&censored);
        assert_eq!(words, "1 of 20 curves do not cross the level within the measured range");
        assert!((value - 2.0).abs() < 0.1, "{value}");
        censored[3].replicates = vec![f64::INFINITY; 5];
        assert!((because(&censored).0 - 2.0).abs() < 1e-9);
        censored[3].replicates = vec![f64::NAN; 5];
        assert!(exponent(&censored).exponent.interval.is_some());
        assert_eq!(because(&groups(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)])).1, "a size is not a positive number");
    }
}
