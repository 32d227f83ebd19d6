//! The crossing of a level by the curve of one replicate.

use super::{Curve, Group};

/// The direction in which a curve crosses a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From above, as losses do.
    Falls,
    /// From below, as purities do.
    Rises,
}

/// The x at which a curve crosses a level, by interpolation in ln x.
///
/// A noisy curve can cross several times. The crossing is that of the closest monotonic curve by least squares
/// (isotonic regression), so noise biases it to neither side. Between points it is the monotonic cubic of Fritsch and
/// Butland: straight lines would lie on the outer side of every bend, and with points a factor of two apart that bias
/// can be as large as the error of ten seeds.
///
/// Infinite if the curve does not cross within the measured range, 0 if it crossed before its first point, NaN if there
/// are no points.
///
/// ```
/// use gardenpath_lab::fit::{Curve, Direction, crossing};
///
/// let curve = Curve::new([(100.0, 1.0), (10_000.0, 0.0)]);
/// assert!((crossing(&curve, 0.5, Direction::Falls) - 1000.0).abs() < 1e-9);
/// assert_eq!(crossing(&curve, -0.5, Direction::Falls), f64::INFINITY);
/// assert_eq!(crossing(&curve, 1.5, Direction::Falls), 0.0);
/// ```
pub fn crossing(curve: &Curve, level: f64, direction: Direction) -> f64 {
    let sign = if direction == Direction::Falls { 1.0 } else { -1.0 };
    let level = sign * level;
    let points = curve.logs();
    if points.is_empty() || !level.is_finite() {
        return f64::NAN;
    }
    let heights = falling(points.iter().map(|(_, y)| sign * y));
    match heights.iter().position(|height| *height <= level) {
        None => f64::INFINITY,
        Some(0) => 0.0,
        Some(behind) => {
            let knots: Vec<(f64, f64)> = points.iter().map(|point| point.0).zip(heights).collect();
            piece_crossing(&knots, behind, level).exp()
        }
    }
}

/// The crossing of the cubic that ends at knot `behind`, the first knot at or below the level.
fn piece_crossing(knots: &[(f64, f64)], behind: usize, level: f64) -> f64 {
    let ((x0, y0), (x1, y1)) = (knots[behind - 1], knots[behind]);
    let width = x1 - x0;
    let (left, right) = (width * slope(knots, behind - 1), width * slope(knots, behind));
    let height = |t: f64| {
        let s = 1.0 - t;
        y0 * s * s * (1.0 + 2.0 * t) + left * t * s * s + y1 * t * t * (3.0 - 2.0 * t) - right * t * t * s
    };
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-14 {
        let middle = 0.5 * (low + high);
        if height(middle) > level { low = middle } else { high = middle }
    }
    x0 + high * width
}

/// The slope at a knot: between those of the two adjacent segments, and 0 if one of them is flat.
fn slope(knots: &[(f64, f64)], at: usize) -> f64 {
    let piece = |k: usize| (knots[k + 1].0 - knots[k].0, (knots[k + 1].1 - knots[k].1) / (knots[k + 1].0 - knots[k].0));
    let last = knots.len() - 1;
    if last == 1 {
        return piece(0).1;
    }
    if at == 0 || at == last {
        let ((width, own), (next_width, next)) =
            if at == 0 { (piece(0), piece(1)) } else { (piece(last - 1), piece(last - 2)) };
        let slope = own + (own - next) * width / (width + next_width);
        // At most three times the slope of the segment, which keeps the cubic monotonic.
        return slope.clamp(3.0 * own, 0.0);
    }
    let ((left_width, left), (right_width, right)) = (piece(at - 1), piece(at));
    if left * right <= 0.0 {
        return 0.0;
    }
    let (a, b) = (2.0 * right_width + left_width, right_width + 2.0 * left_width);
    (a + b) / (a / left + b / right)
}

/// [`crossing`] of each replicate.
///
/// ```
/// use gardenpath_lab::fit::{Curve, Direction, Group, crossings};
///
/// let group = Group::new(8.0, [1.0, 2.0].map(|easy| Curve::new([(10.0 / easy, 1.0), (1000.0 / easy, 0.0)])));
/// let found = crossings(&group, 0.5, Direction::Falls);
/// assert!((found.replicates[0] - 100.0).abs() < 1e-9 && (found.replicates[1] - 50.0).abs() < 1e-9);
/// ```
pub fn crossings(group: &Group<Curve>, level: f64, direction: Direction) -> Group<f64> {
    group.map(|curve| crossing(curve, level, direction))
}

/// Which curves were measured far enough. One that ends before others do, without crossing, is unfinished; so are all that end
/// no later than it, since a choice among them would prefer those that cross early.
///
/// ```
/// use gardenpath_lab::fit::{Curve, Direction, far_enough};
///
/// let whole = Curve::new([(10.0, 0.9), (100.0, 0.6), (1000.0, 0.4)]);
/// let (half, lucky) = (Curve::new([(10.0, 0.9), (100.0, 0.6)]), Curve::new([(10.0, 0.9), (100.0, 0.4)]));
/// assert_eq!(far_enough([&whole, &half, &lucky], 0.5, Direction::Falls), [true, false, false]);
/// assert_eq!(far_enough([&whole, &lucky], 0.5, Direction::Falls), [true, true]);
/// ```
pub fn far_enough<'c>(curves: impl IntoIterator<Item = &'c Curve>, level: f64, direction: Direction) -> Vec<bool> {
    let end = |curve: &Curve| curve.points().last().map_or(0.0, |point| point.0);
    let of_curve = |curve| (end(curve), crossing(curve, level, direction) < f64::INFINITY);
    let ends: Vec<(f64, bool)> = curves.into_iter().map(of_curve).collect();
    let furthest = ends.iter().fold(0.0, |most, (end, _)| end.max(most));
    let unfinished = ends.iter().filter(|(end, crosses)| !crosses && *end < furthest);
    let last = unfinished.fold(0.0, |most, (end, _)| end.max(most));
    ends.iter().map(|(end, _)| last == 0.0 || *end > last).collect()
}

/// The non-increasing sequence closest to the values by least squares: neighbors that rise are replaced by their mean.
fn falling(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for value in values {
        let mut block = (value, 1);
        while let Some(&(height, count)) = blocks.last().filter(|last| last.0 < block.0) {
            let total = count + block.1;
            block = ((height * count as f64 + block.0 * block.1 as f64) / total as f64, total);
            blocks.pop();
        }
        blocks.push(block);
    }
    blocks.into_iter().flat_map(|(height, count)| std::iter::repeat_n(height, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::synthetic::sigmoid;

    /// A curve at x = 1, e, e^2, …
    fn steps(values: &[f64]) -> Curve {
        Curve::new(values.iter().enumerate().map(|(k, value)| ((k as f64).exp(), *value)))
    }

    fn falls(values: &[f64], level: f64) -> f64 {
        crossing(&steps(values), level, Direction::Falls).ln()
    }

    #[test]
    fn straight_lines_are_crossed_exactly() {
        let line = |sign: f64| Curve::new((0..15).map(|k| 0.7 * f64::from(k)).map(|x| (x.exp(), sign * x)));
        for k in 1..98 {
            let x = f64::from(k) / 10.0;
            assert!((crossing(&line(-1.0), -x, Direction::Falls).ln() - x).abs() < 1e-12);
            assert!((crossing(&line(1.0), x, Direction::Rises).ln() - x).abs() < 1e-12);
        }
    }

    #[test]
    fn the_middle_of_a_sigmoid_is_found_exactly() {
        for middle in [3.0, 4.5, 6.0] {
            let points = (-6..=7).map(|k| middle - 0.25 + 0.5 * f64::from(k));
            let curve = Curve::new(points.map(|x| (x.exp(), sigmoid(x - middle))));
            assert!((crossing(&curve, 0.5, Direction::Falls).ln() - middle).abs() < 1e-12);
        }
    }

    #[test]
    fn rising_neighbours_are_averaged() {
        assert_eq!(falling([3.0, 1.0, 2.0, 0.0].into_iter()), [3.0, 1.5, 1.5, 0.0]);
        assert_eq!(falling([1.0, 2.0, 3.0].into_iter()), [2.0; 3]);
        assert_eq!(falling([5.0, 1.0, 3.0, 5.0].into_iter()), [5.0, 3.0, 3.0, 3.0]);
        assert!(falling([].into_iter()).is_empty());
    }

    #[test]
    fn a_bump_at_the_level_moves_the_crossing_to_neither_side() {
        // Two neighbors become 0.525; the mirrored curve has the mirrored crossing.
        let found = falls(&[1.0, 0.8, 0.45, 0.6, 0.2, 0.0], 0.5);
        assert!((3.0..3.3).contains(&found), "{found}");
        assert!((found + falls(&[1.0, 0.8, 0.4, 0.55, 0.2, 0.0], 0.5) - 5.0).abs() < 1e-12);
    }

    #[test]
    fn bends_hardly_move_the_crossing() {
        for k in 0..10 {
            let middle = 4.0 + 0.0693 * f64::from(k);
            let points = (0..12).map(|k| 2f64.ln() * f64::from(k)).map(|x| (x.exp(), sigmoid(2.0 * (x - middle))));
            let curve = Curve::new(points);
            for level in [0.2f64, 0.3, 0.5, 0.8] {
                let truth = middle + 0.5 * (1.0 / level - 1.0).ln();
                let error = crossing(&curve, level, Direction::Falls).ln() - truth;
                // Linear interpolation is off by up to 0.08.
                assert!(error.abs() < 0.03, "{middle} {level}: {error}");
            }
        }
    }

    #[test]
    fn curves_between_points_never_rise() {
        let mut stream = gardenpath::Seed::new(2).stream(0);
        for _ in 0..200 {
            let mut x = 0.0;
            let points: Vec<(f64, f64)> = (0..6)
                .map(|_| {
                    x += 0.1 + stream.unit();
                    (x.exp(), stream.unit())
                })
                .collect();
            let curve = Curve::new(points);
            let levels = (0..=100).map(|k| f64::from(k) / 100.0);
            let crossings: Vec<f64> = levels.map(|level| crossing(&curve, level, Direction::Falls)).collect();
            assert!(crossings.windows(2).all(|pair| pair[1] <= pair[0]), "{curve:?}");
        }
    }

    #[test]
    fn a_level_that_is_just_reached_is_crossed() {
        assert!((falls(&[1.0, 0.5], 0.5) - 1.0).abs() < 1e-12);
        assert_eq!(falls(&[0.5, 0.4], 0.5), f64::NEG_INFINITY);
    }

    #[test]
    fn what_does_not_cross_says_on_which_side() {
        for late in [&[0.9][..], &[0.9, 0.8], &[0.6, 0.9, 0.51]] {
            assert_eq!(crossing(&steps(late), 0.5, Direction::Falls), f64::INFINITY);
            assert_eq!(crossing(&steps(late), 0.5, Direction::Rises), 0.0);
        }
        for early in [&[0.1][..], &[0.1, 0.2], &[0.4, 0.45, 0.1]] {
            assert_eq!(crossing(&steps(early), 0.5, Direction::Falls), 0.0);
            assert_eq!(crossing(&steps(early), 0.5, Direction::Rises), f64::INFINITY);
        }
        assert!(crossing(&steps(&[]), 0.5, Direction::Falls).is_nan());
        assert!(crossing(&steps(&[1.0, 0.0]), f64::NAN, Direction::Falls).is_nan());
    }
}
