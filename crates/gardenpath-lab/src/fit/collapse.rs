//! Collapse: the power of a parameter by which x must be divided for all curves to coincide.

mod sheets;

use super::estimate::{FEWEST_SIZES, Limit, with_enough_seeds};
use super::exponent::{no_line, sizes, too_few_sizes};
use super::jackknife::jackknife;
use super::{Curve, Estimate, Group};
use serde::Serialize;
use sheets::Sheets;

/// The exponent at which curves collapse, and how well they do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Collapse {
    /// The exponent that brings the curves closest to each other.
    pub exponent: Estimate,
    /// The mean square distance between curves at that exponent, relative to seed noise: about 1 if the curves
    /// coincide, more if their shapes differ. NaN (`null` in JSON) if unknown.
    pub misfit: f64,
    /// The predicted exponent.
    pub predicted: f64,
    /// The misfit at the predicted exponent; infinite (`null` in JSON) if the curves hardly overlap there.
    pub predicted_misfit: f64,
}

/// The power of the parameter by which x must be divided for the curves of all groups to coincide.
///
/// The parameter of a group can be any positive number: the vocabulary v with a predicted exponent of 2, or v m_3 m_2^2
/// with a predicted exponent of 1.
///
/// Curves are averages over the seeds of a group, linearly interpolated in ln x. The exponent minimizes the mean square
/// distance where at least two curves are known; exponents with less than a third of the possible comparisons are
/// excluded, because few points agree easily. The interval is Student's over seeds (jackknife), widened by the root of
/// the misfit where curves have different shapes. There is none for fewer than three sizes with five seeds, or if an end
/// of it is out of reach; sizes with fewer seeds are left out if there are three others. A curve with a single point
/// counts as missing.
///
/// Cost: one search over exponents per replicate, which takes milliseconds.
///
/// ```
/// use gardenpath_lab::fit::{Curve, Group, collapse};
///
/// // Grammars of different difficulty that need about 4 v^2 samples.
/// let curve = |star: f64| Curve::new((4..16).map(|k| 2f64.powi(k)).map(|p| (p, 1.0 / (1.0 + p / star))));
/// let group = |v: f64| Group::new(v, [0.8, 0.9, 1.0, 1.1, 1.25].map(|hard| curve(4.0 * hard * v * v)));
/// let found = collapse(&[8.0, 16.0, 32.0].map(group), 2.0);
/// assert!(found.exponent.contains(2.0) && !found.exponent.contains(2.5) && found.predicted_misfit < 1.0);
/// assert!(collapse(&[8.0, 16.0, 32.0].map(group), 3.0).predicted_misfit > 10.0);
/// ```
pub fn collapse(groups: &[Group<Curve>], predicted: f64) -> Collapse {
    let refused = |exponent| Collapse { exponent, misfit: f64::NAN, predicted, predicted_misfit: f64::NAN };
    let groups: Vec<Group<Curve>> = groups.iter().map(usable).filter(|group| !group.replicates.is_empty()).collect();
    let (groups, left_out) =
        with_enough_seeds(groups, |group| group.replicates.len(), |groups| sizes(groups) >= FEWEST_SIZES);
    let seeds = groups.iter().map(|group| group.replicates.len()).min().unwrap_or(0);
    if groups.iter().any(|group| !(group.at > 0.0 && group.at.is_finite())) {
        return refused(Estimate::refused(seeds, "a size is not a positive number"));
    }
    let sizes = sizes(&groups);
    if sizes < 2 {
        return refused(no_line(sizes, seeds));
    }
    let Some(sheets) = Sheets::new(&groups) else {
        return refused(Estimate::refused(seeds, "the curves of some group have no common range of x"));
    };
    let predicted_misfit = sheets.misfit(predicted, None).unwrap_or(f64::INFINITY);
    let Some(best) = sheets.best() else {
        let because = "no exponent in the search range brings the curves together";
        let exponent = Estimate { limit: Limit::Range, ..Estimate::refused(seeds, because) };
        return Collapse { predicted_misfit, ..refused(exponent) };
    };
    let counts: Vec<usize> = groups.iter().map(|group| group.replicates.len()).collect();
    let noise = jackknife(&counts, |group, left_out| sheets.best_without(group, left_out, best));
    let misfit = sheets.misfit(best, Some(noise.variance)).unwrap_or(f64::NAN);
    let exponent = match too_few_sizes(sizes) {
        Some(because) => Estimate { limit: Limit::Sizes, ..Estimate::without_interval(best, seeds, because) },
        None if seeds > 1 && noise.variance.is_nan() => {
            let because = "without one of the seeds, no exponent in the search range brings the curves together";
            Estimate { limit: Limit::Range, ..Estimate::without_interval(best, seeds, because) }
        }
        None => Estimate::student(best, noise, seeds).widened(misfit).leaving_out(left_out),
    };
    Collapse { exponent, misfit, predicted, predicted_misfit }
}

/// The curves of a group with at least two points.
fn usable(group: &Group<Curve>) -> Group<Curve> {
    Group::new(group.at, group.replicates.iter().filter(|curve| curve.points().len() > 1).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::synthetic::{Noise, family};
    use gardenpath::Seed;

    const NOISE: Noise = Noise { of_seed: 0.2, of_result: 0.02, steepness: 1.0 };
    const VOCABS: [f64; 4] = [8.0, 12.0, 16.0, 32.0];

    /// Curves of five seeds around straight lines, each shifted by a tenth.
    fn lines(at: f64, middle: f64, slope: f64) -> Group<Curve> {
        let curve = |moved: f64| Curve::new((0..=10).map(f64::from).map(|x| (x.exp(), slope * (middle + moved - x))));
        Group::new(at, [-0.2, -0.1, 0.0, 0.1, 0.2].map(curve))
    }

    #[test]
    fn moved_lines_are_found_exactly() {
        let groups = [0.0, 1.0, 2.0].map(|x: f64| lines(x.exp(), 3.0 + 1.5 * x, 1.0));
        let found = collapse(&groups, 1.0);
        assert!((found.exponent.value - 1.5).abs() < 1e-3, "{found:?}");
        // The slope through three means, each with a standard error of 0.1 * sqrt(2.5 / 5).
        let (low, high) = found.exponent.interval.unwrap();
        let error = 0.1 * (2.5f64 / 5.0).sqrt() / 2f64.sqrt();
        assert!(((high - low) / 2.0 / (2.306 * error) - 1.0).abs() < 0.02, "{found:?}");
        assert!(found.misfit < 1e-3 && found.predicted_misfit > 10.0);
    }

    #[test]
    fn the_truth_has_a_misfit_of_about_one_and_wrong_exponents_more() {
        let mut means = [0.0; 3];
        for repetition in 0..100 {
            let curves = family(&VOCABS, 2.0, 4.0, NOISE, 8, Seed::new(17).nth(repetition));
            let found = collapse(&curves, 2.0);
            means[0] += found.misfit / 100.0;
            means[1] += found.predicted_misfit / 100.0;
            means[2] += collapse(&curves, 2.6).predicted_misfit / 100.0;
        }
        assert!((0.7..1.4).contains(&means[0]) && (0.8..1.25).contains(&means[1]) && means[2] > 8.0, "{means:?}");
    }

    #[test]
    fn shapes_that_differ_are_seen_and_widen() {
        let alike = [0.0, 1.0, 2.0].map(|x: f64| lines(x.exp(), 4.0 + x, 1.0));
        let steeper = [0.0, 1.0, 2.0].map(|x: f64| lines(x.exp(), 4.0 + x, 1.0 + x));
        let [alike, steeper] = [alike, steeper].map(|groups| collapse(&groups, 1.0));
        assert!(alike.misfit < 0.01 && steeper.misfit > 5.0, "{alike:?} {steeper:?}");
        assert_eq!(steeper.exponent.limit, Limit::Sizes);
    }

    #[test]
    fn any_positive_parameter_rescales() {
        let curves = family(&VOCABS, 2.0, 4.0, NOISE, 6, Seed::new(3));
        let squares: Vec<Group<Curve>> =
            curves.iter().map(|group| Group::new(group.at * group.at, group.replicates.clone())).collect();
        let [one, two] = [collapse(&squares, 1.0).exponent, collapse(&curves, 2.0).exponent];
        assert!((2.0 * one.value - two.value).abs() < 1e-3, "{one} {two}");
        assert!((2.0 * one.interval.unwrap().1 - two.interval.unwrap().1).abs() < 1e-2, "{one} {two}");
    }

    #[test]
    fn a_size_that_has_just_begun_takes_nothing_from_the_others() {
        let curves = family(&VOCABS, 2.0, 4.0, NOISE, 6, Seed::new(3));
        let mut begun = curves.clone();
        begun[3].replicates.truncate(2);
        let (whole, found) = (collapse(&curves[..3], 2.0), collapse(&begun, 2.0));
        assert_eq!(found.exponent.interval, whole.exponent.interval);
        assert_eq!(found.exponent.because.unwrap(), "without one group of fewer than 5 seeds");
    }

    #[test]
    fn what_is_missing_is_said() {
        let because = |groups: &[Group<Curve>]| collapse(groups, 1.0).exponent.because.unwrap();
        let some = |seeds: u64, sizes: usize| family(&VOCABS[..sizes], 2.0, 4.0, NOISE, seeds, Seed::new(1));
        assert_eq!(because(&some(6, 2)), "2 sizes; an interval for an exponent needs at least 3");
        assert_eq!(because(&some(6, 1)), "an exponent needs more than one size");
        assert_eq!(because(&some(3, 3)), "3 seeds; an interval needs at least 5");
        assert_eq!(because(&some(1, 3)), "one seed; an interval needs at least 5");
        assert_eq!(because(&[]), "no measurements");
        assert!((collapse(&some(3, 3), 1.0).exponent.value - 2.0).abs() < 0.5);
        let apart = [Curve::new([(1.0, 1.0), (2.0, 0.0)]), Curve::new([(3.0, 1.0), (4.0, 0.0)])];
        let groups = [Group::new(1.0, apart.clone()), Group::new(2.0, apart)];
        assert_eq!(because(&groups), "the curves of some group have no common range of x");
    }

    #[test]
    fn curves_that_say_nothing_have_no_exponent() {
        let flat = |at: f64| Group::new(at, [1.0, 1.01, 0.99, 1.0, 1.02].map(|y| Curve::new([(1.0, y), (64.0, y)])));
        let found = collapse(&[2.0, 4.0, 8.0].map(flat), 1.0);
        assert!(found.exponent.interval.is_none_or(|(low, high)| high - low > 1.0), "{found:?}");
        let far = [lines(1.0, 3.0, 1.0), lines(2.0, 300.0, 1.0), lines(4.0, 600.0, 1.0)];
        assert!(collapse(&far, 1.0).exponent.interval.is_none());
    }
}
