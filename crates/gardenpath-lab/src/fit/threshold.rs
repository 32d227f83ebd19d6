//! Where a learning curve crosses a level.

use super::Curve;
use super::statistics::means;

/// The number of samples at which the mean over seeds falls to a level, interpolated linearly in (ln P, mean).
///
/// A noisy curve can cross several times. If it ends at the level or below, the crossing is the last one, after which it
/// stays there; otherwise it is the first one. There is none if the curve begins below or never falls so far.
pub fn threshold(curve: &Curve, level: f64) -> Option<f64> {
    let means = means(curve);
    Some(position(&means, crossing(&means, level)?, level))
}

/// [`threshold`] for curves that rise, such as those of purity.
pub fn rises_through(curve: &Curve, level: f64) -> Option<f64> {
    threshold(&mirrored(curve), -level)
}

/// The first point behind the crossing. The one before it lies above the level.
pub(super) fn crossing(means: &[(f64, f64)], level: f64) -> Option<usize> {
    let above = |&(_, mean): &(f64, f64)| mean > level;
    if !above(means.first()?) {
        return None;
    }
    let for_good = means.iter().rposition(above)? + 1;
    if for_good < means.len() { Some(for_good) } else { means.iter().position(|point| !above(point)) }
}

/// The number of samples at which the line to the point behind the crossing meets the level.
pub(super) fn position(means: &[(f64, f64)], behind: usize, level: f64) -> f64 {
    let ((x0, y0), (x1, y1)) = (means[behind - 1], means[behind]);
    (x0 + (x1 - x0) * (y0 - level) / (y0 - y1)).exp()
}

/// The curve upside down: rising through a level is falling through its negative.
pub(super) fn mirrored(curve: &Curve) -> Vec<(f64, Vec<f64>)> {
    curve.iter().map(|(samples, results)| (*samples, results.iter().map(|result| -result).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::synthetic::{curve_of, sigmoid};

    /// A curve with one seed at P = 1, e, e^2, …
    fn steps(values: &[f64]) -> Vec<(f64, Vec<f64>)> {
        values.iter().enumerate().map(|(k, value)| ((k as f64).exp(), vec![*value])).collect()
    }

    fn log_threshold(values: &[f64], level: f64) -> f64 {
        threshold(&steps(values), level).unwrap().ln()
    }

    #[test]
    fn straight_lines_are_crossed_exactly() {
        let line = curve_of(0.0, 10.0, 0.7, |x| 1.0 - x / 10.0);
        let rising = curve_of(0.0, 10.0, 0.7, |x| x / 10.0);
        for k in 3..100 {
            let level = f64::from(k) / 100.0;
            assert!((threshold(&line, level).unwrap().ln() - 10.0 * (1.0 - level)).abs() < 1e-12, "{level}");
            let found = rises_through(&rising, level);
            assert!(found.is_none_or(|samples| (samples.ln() - 10.0 * level).abs() < 1e-12), "{level}");
            assert_eq!(found.is_some(), level <= rising.last().unwrap().1[0]);
        }
    }

    #[test]
    fn the_middle_of_a_noiseless_sigmoid_is_found_exactly() {
        for middle in [3.0, 4.5, 6.0] {
            let curve = curve_of(middle - 3.25, middle + 3.25, 0.5, |x| sigmoid(x - middle));
            assert!((threshold(&curve, 0.5).unwrap().ln() - middle).abs() < 1e-12);
        }
    }

    #[test]
    fn the_mean_over_seeds_is_what_crosses() {
        let curve = [(1.0, vec![1.0, 0.8]), (100.0, vec![0.5, -0.3])];
        assert!((threshold(&curve, 0.5).unwrap() - 10.0).abs() < 1e-12);
    }

    #[test]
    fn a_curve_that_ends_below_counts_from_where_it_stays() {
        assert!((log_threshold(&[1.0, 0.8, 0.4, 0.6, 0.3, 0.1], 0.5) - (3.0 + 1.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn a_curve_that_ends_above_counts_from_where_it_first_falls() {
        assert!((log_threshold(&[1.0, 0.8, 0.4, 0.6, 0.3, 0.7], 0.5) - 1.75).abs() < 1e-12);
    }

    #[test]
    fn a_level_that_is_just_reached_is_crossed() {
        assert!((log_threshold(&[1.0, 0.5], 0.5) - 1.0).abs() < 1e-12);
        assert!((log_threshold(&[1.0, 0.5, 0.5, 0.5], 0.5) - 1.0).abs() < 1e-12);
        assert_eq!(threshold(&steps(&[0.5, 0.4]), 0.5), None);
    }

    #[test]
    fn points_without_results_are_passed_over() {
        let curve = [(0.0, vec![0.1]), (1.0, vec![1.0]), (10.0, vec![]), (20.0, vec![f64::NAN]), (100.0, vec![0.0])];
        assert!((threshold(&curve, 0.5).unwrap() - 10.0).abs() < 1e-12);
    }

    #[test]
    fn curves_that_do_not_cross_have_no_threshold() {
        let (nan, infinite) = (f64::NAN, f64::INFINITY);
        for values in
            [&[][..], &[0.9], &[0.1], &[0.9, 0.8], &[0.1, 0.2], &[0.4, 0.9, 0.1], &[nan, nan], &[infinite, 0.1]]
        {
            assert_eq!(threshold(&steps(values), 0.5), None, "{values:?}");
        }
        for level in [nan, infinite, -infinite] {
            assert_eq!(threshold(&steps(&[1.0, 0.0]), level), None);
            assert_eq!(rises_through(&steps(&[0.0, 1.0]), level), None);
        }
        assert_eq!(rises_through(&steps(&[1.0, 0.0]), 0.5), None);
    }
}
