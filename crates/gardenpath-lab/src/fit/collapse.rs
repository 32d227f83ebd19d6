//! Do curves fall on one another when the number of samples is divided by a power of v?

use super::Curve;
use super::statistics::{mean, means};

/// The largest exponent that is tried, and how many are tried for each unit.
const LARGEST: usize = 8;
const RESOLUTION: usize = 100;

/// A predicted exponent beside the best one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collapse {
    /// The predicted exponent.
    pub predicted: f64,
    /// Its score; infinite if the curves hardly meet any more.
    pub predicted_score: f64,
    /// The exponent with the lowest score.
    pub best: f64,
    /// Its score.
    pub best_score: f64,
}

/// How badly curves (one for each v) fall on one another when P is divided by v^exponent: 0 is perfect, 1 is no better
/// than without it.
///
/// It is the mean squared distance of the points of each curve from the mean of the other curves at the same rescaled
/// P, where there are others, over that at exponent 0. None if fewer than a third of the points have others, because
/// few points agree easily.
///
/// Near the best exponent the score grows about as (exponent / best - 1)^2: a score of 0.05 tells 5 from 0, but not
/// from 6. How close the best exponent comes to the predicted one says more.
pub fn collapse(curves: &[(f64, impl AsRef<Curve>)], exponent: f64) -> Option<f64> {
    Family::new(curves)?.score(exponent)
}

/// The exponent from 0 to 8 with the lowest score of [`collapse`], in steps of 0.01, and its score.
pub fn best_exponent(curves: &[(f64, impl AsRef<Curve>)]) -> Option<(f64, f64)> {
    Family::new(curves)?.best()
}

/// Compares a predicted exponent with the best one.
pub fn judge_collapse(curves: &[(f64, impl AsRef<Curve>)], predicted: f64) -> Option<Collapse> {
    let family = Family::new(curves)?;
    let (best, best_score) = family.best()?;
    let predicted_score = family.score(predicted).unwrap_or(f64::INFINITY);
    predicted.is_finite().then_some(Collapse { predicted, predicted_score, best, best_score })
}

/// ln v of a curve, and its points as (ln P, mean).
type LogCurve = (f64, Vec<(f64, f64)>);

/// Several curves that can be compared.
struct Family {
    curves: Vec<LogCurve>,
    /// The mean squared distance without rescaling.
    raw: f64,
}

impl Family {
    /// None if there are no two different v, or a distance is no number, or the curves agree already.
    fn new(curves: &[(f64, impl AsRef<Curve>)]) -> Option<Self> {
        let curves: Vec<LogCurve> = curves.iter().map(|(v, curve)| (v.ln(), means(curve.as_ref()))).collect();
        let first = curves.first()?.0;
        if curves.iter().any(|(v, _)| !v.is_finite()) || curves.iter().all(|(v, _)| *v == first) {
            return None;
        }
        let raw = mean(&squares(&curves, 0.0));
        (raw.is_finite() && raw > 0.0).then_some(Family { curves, raw })
    }

    fn score(&self, exponent: f64) -> Option<f64> {
        let points: usize = self.curves.iter().map(|(_, curve)| curve.len()).sum();
        let squares = squares(&self.curves, exponent);
        let score = mean(&squares) / self.raw;
        (3 * squares.len() >= points && score.is_finite()).then_some(score)
    }

    fn best(&self) -> Option<(f64, f64)> {
        let exponents = (0..=LARGEST * RESOLUTION).map(|k| k as f64 / RESOLUTION as f64);
        let scores = exponents.filter_map(|exponent| Some((exponent, self.score(exponent)?)));
        scores.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// The squared distances of those points that have others to be compared with.
fn squares(curves: &[LogCurve], exponent: f64) -> Vec<f64> {
    let mut squares = Vec::new();
    for (own, (v, points)) in curves.iter().enumerate() {
        for (x, y) in points {
            let others = curves.iter().enumerate().filter(|(other, _)| *other != own);
            let heights = others.filter_map(|(_, (w, other))| interpolate(other, x - exponent * (v - w)));
            let heights: Vec<f64> = heights.collect();
            if !heights.is_empty() {
                squares.push((y - mean(&heights)).powi(2));
            }
        }
    }
    squares
}

/// The height of a curve at some x between its ends.
fn interpolate(curve: &[(f64, f64)], x: f64) -> Option<f64> {
    let piece = curve.windows(2).find(|piece| piece[0].0 <= x && x <= piece[1].0)?;
    let ((x0, y0), (x1, y1)) = (piece[0], piece[1]);
    Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::synthetic::{Noise, curve_of, family};
    use gardenpath::Seed;

    const NOISE: Noise = Noise { of_seed: 0.1, of_result: 0.02 };

    #[test]
    fn the_true_exponent_collapses_and_wrong_ones_do_not() {
        for (truth, everywhere) in [(1.0, true), (2.0, true), (5.0, true), (2.0, false), (5.0, false)] {
            for repetition in 0..5 {
                let curves = family(truth, 4.0, everywhere, NOISE, 12, Seed::new(17).nth(repetition));
                let score = collapse(&curves, truth).unwrap();
                assert!(score < 0.02, "{truth} {everywhere}: {score}");
                let (best, best_score) = best_exponent(&curves).unwrap();
                assert!((best - truth).abs() <= 0.1 && best_score <= score + 1e-12, "{truth} {everywhere}: {best}");
                assert_eq!(collapse(&curves, 0.0), Some(1.0));
                let wrong = collapse(&curves, 2.0 * truth).unwrap();
                assert!(wrong > 0.5, "{truth} {everywhere}: {wrong}");
            }
        }
    }

    #[test]
    fn a_score_is_the_mean_squared_distance_over_the_raw_one() {
        // Straight lines with slope -1 and v = 1, e: rescaled by v^b they are 1 - b apart.
        let line = |middle: f64| curve_of(0.0, 10.0, 1.0, move |x| middle - x);
        let curves = [(1.0, line(0.0)), (1f64.exp(), line(1.0))];
        for exponent in [0.5, 1.0, 1.7, 3.0] {
            let score = collapse(&curves, exponent).unwrap();
            assert!((score - (1.0 - exponent).powi(2)).abs() < 1e-9, "{exponent}: {score}");
        }
        let judged = judge_collapse(&curves, 1.5).unwrap();
        assert!(judged.predicted == 1.5 && (judged.predicted_score - 0.25).abs() < 1e-9);
        assert!((judged.best - 1.0).abs() < 1e-9 && judged.best_score < 1e-9);
    }

    #[test]
    fn each_curve_is_compared_with_the_mean_of_the_others() {
        let flat = |height: f64| curve_of(0.0, 5.0, 1.0, move |_| height);
        let curves = [(2.0, flat(0.0)), (3.0, flat(1.0)), (5.0, flat(5.0))];
        // Distances 3, 1.5 and 4.5, whatever the exponent, as long as all three meet.
        let family = Family::new(&curves).unwrap();
        assert!((family.raw - (9.0 + 2.25 + 20.25) / 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_far_shift_does_not_win_by_missing_the_others() {
        // At exponent 3 the last point of one lies on the first of the other, and nothing else meets.
        let values = |values: [f64; 4]| curve_of(0.0, 3.0, 1.0, move |x| values[x.round() as usize]);
        let curves = [(1.0, values([0.5, 0.8, 0.2, 0.0])), (1f64.exp(), values([1.0, 0.9, 0.6, 0.5]))];
        assert_eq!(collapse(&curves, 3.0), None);
        let judged = judge_collapse(&curves, 3.0).unwrap();
        assert!(judged.predicted_score.is_infinite() && judged.best < 2.5 && judged.best_score > 0.0);
    }

    #[test]
    fn curves_that_cannot_be_compared_have_no_score() {
        let line = || curve_of(0.0, 5.0, 1.0, |x| -x);
        let lower = || curve_of(0.0, 5.0, 1.0, |x| -1.0 - x);
        let far = || curve_of(10.0, 15.0, 1.0, |x| -x);
        let nothing = || vec![(1.0, vec![f64::NAN]), (2.0, vec![])];
        let cases = [
            vec![],
            vec![(2.0, line())],
            vec![(2.0, line()), (2.0, lower())],
            vec![(2.0, line()), (3.0, far())],
            vec![(2.0, line()), (3.0, vec![])],
            vec![(2.0, line()), (3.0, nothing())],
            vec![(2.0, nothing()), (3.0, nothing())],
            vec![(2.0, line()[..1].to_vec()), (3.0, line()[..1].to_vec())],
            vec![(2.0, line()), (3.0, line())],
            vec![(0.0, line()), (2.0, line()), (3.0, lower())],
            vec![(f64::NAN, line()), (2.0, line()), (3.0, lower())],
        ];
        for (k, curves) in cases.iter().enumerate() {
            assert_eq!(collapse(curves, 1.0), None, "{k}");
            assert_eq!(best_exponent(curves), None, "{k}");
            assert_eq!(judge_collapse(curves, 1.0), None, "{k}");
        }
        let curves = family(2.0, 4.0, true, NOISE, 2, Seed::new(1));
        assert_eq!(collapse(&curves, f64::NAN), None);
        assert_eq!(judge_collapse(&curves, f64::NAN), None);
    }
}
