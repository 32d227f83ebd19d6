//! Mean curves shifted along ln x, and the distances between them.

use crate::fit::{Curve, Group};

/// Grid points per mean distance between two data points.
const FINENESS: f64 = 7.0;
/// The weight of a curve fades out over this many grid points at its ends, so that the score is continuous in the
/// exponent.
const FADE: f64 = 3.0;
/// The step between tried exponents, relative to the mean distance between two data points.
const STRIDE: f64 = 0.2;
/// Maximum resolution, in points along the whole range.
const MOST: f64 = 1000.0;
/// The smallest fraction of all comparisons that an exponent must allow: a few points agree easily.
const FEWEST: f64 = 1.0 / 3.0;

/// The curves of one group on common points.
struct Sheet {
    /// The log of the parameter, minus its mean over all groups.
    log: f64,
    /// ln x of the points.
    x: Vec<f64>,
    /// The values of each replicate.
    rows: Vec<Vec<f64>>,
    /// The mean over replicates.
    mean: Vec<f64>,
}

impl Sheet {
    /// `None` if the replicates have no common range.
    fn new(log: f64, curves: &[Curve]) -> Option<Self> {
        let ends = |curve: &Curve| Some((curve.logs().first()?.0, curve.logs().last()?.0));
        let ends = curves.iter().map(ends).collect::<Option<Vec<_>>>()?;
        let start = ends.iter().map(|ends| ends.0).fold(f64::NEG_INFINITY, f64::max);
        let end = ends.iter().map(|ends| ends.1).fold(f64::INFINITY, f64::min);
        let mut x: Vec<f64> = curves.iter().flat_map(|curve| curve.logs().iter().map(|point| point.0)).collect();
        x.retain(|x| (start..=end).contains(x));
        x.sort_by(f64::total_cmp);
        x.dedup();
        let row = |curve: &Curve| x.iter().map(|&x| curve.height(x)).collect::<Option<Vec<f64>>>();
        let rows = curves.iter().map(row).collect::<Option<Vec<_>>>()?;
        let sum = |k: usize| rows.iter().map(|row| row[k]).sum::<f64>();
        let mean = (0..x.len()).map(|k| sum(k) / rows.len() as f64).collect();
        (x.len() > 1).then_some(Sheet { log, x, rows, mean })
    }

    fn start(&self) -> f64 {
        self.x[0]
    }

    fn end(&self) -> f64 {
        self.x[self.x.len() - 1]
    }

    /// The mean without one replicate.
    fn mean_without(&self, left_out: usize) -> Vec<f64> {
        let others = self.rows.len() as f64 - 1.0;
        self.mean.iter().zip(&self.rows[left_out]).map(|(mean, y)| mean + (mean - y) / others).collect()
    }
}

/// The curves of all groups.
pub struct Sheets {
    groups: Vec<Sheet>,
    /// The distance between grid points.
    step: f64,
    /// The distance between tried exponents.
    stride: f64,
    /// The largest exponent tried.
    largest: f64,
    /// The smallest number of comparisons that an exponent must allow.
    fewest: f64,
}

/// The sums over curves at each grid point, for one exponent.
struct Places {
    first: i64,
    /// The sums of weights, squared weights, values and squared values.
    sums: Vec<[f64; 4]>,
}

impl Sheets {
    /// `None` if the replicates of a group have no common range. There must be two different parameters.
    pub fn new(groups: &[Group<Curve>]) -> Option<Self> {
        let centre = groups.iter().map(|group| group.at.ln()).sum::<f64>() / groups.len() as f64;
        let sheets = groups.iter().map(|group| Sheet::new(group.at.ln() - centre, &group.replicates));
        let groups = sheets.collect::<Option<Vec<_>>>()?;
        let lengths: f64 = groups.iter().map(|sheet| sheet.end() - sheet.start()).sum();
        let pieces: usize = groups.iter().map(|sheet| sheet.x.len() - 1).sum();
        let extreme = |of: fn(&Sheet) -> f64, pick: fn(f64, f64) -> f64| groups.iter().map(of).reduce(pick);
        let range = extreme(Sheet::end, f64::max)? - extreme(Sheet::start, f64::min)?;
        let spread = extreme(|sheet| sheet.log, f64::max)? - extreme(|sheet| sheet.log, f64::min)?;
        // Points that are very close, on curves that are far apart, must not create too many grid points.
        let spacing = (lengths / pieces as f64).max(range / MOST);
        let step = spacing / FINENESS;
        let comparisons = lengths / step * (1.0 - 1.0 / groups.len() as f64);
        let (stride, largest) = (STRIDE * spacing / spread, range / spread);
        Some(Sheets { groups, step, stride, largest, fewest: FEWEST * comparisons })
    }

    /// The exponent that brings the curves closest to each other; `None` if it is at the end of the search range.
    pub fn best(&self) -> Option<f64> {
        let means: Vec<&[f64]> = self.groups.iter().map(|sheet| sheet.mean.as_slice()).collect();
        let count = (self.largest / self.stride).ceil();
        let scores = (-(count as i64)..=count as i64).map(|k| k as f64 * self.stride);
        let scores = scores.filter_map(|exponent| Some((exponent, self.score(exponent, &means)?)));
        let (start, _) = scores.min_by(|a, b| a.1.total_cmp(&b.1))?;
        self.descend(start, &means)
    }

    /// The best exponent without one replicate: a Newton step from that with all of them. NaN if there is none.
    ///
    /// Slopes and curvature are differences over two strides. Grid points give the score kinks that are closer to each other; a search
    /// for the minimum would stay in the kink where it starts.
    pub fn best_without(&self, group: usize, left_out: usize, best: f64) -> f64 {
        if self.groups[group].rows.len() < 2 {
            return f64::NAN;
        }
        let means: Vec<&[f64]> = self.groups.iter().map(|sheet| sheet.mean.as_slice()).collect();
        let without = self.groups[group].mean_without(left_out);
        let mut others = means.clone();
        others[group] = &without;
        let scores = |means: &[&[f64]]| {
            [-1.0, 0.0, 1.0].map(|k| self.score(best + 2.0 * k * self.stride, means).unwrap_or(f64::NAN))
        };
        let ([low, middle, high], [low_without, _, high_without]) = (scores(&means), scores(&others));
        let curvature = low - 2.0 * middle + high;
        let slope = 0.5 * ((high_without - low_without) - (high - low));
        best - 2.0 * self.stride * slope / curvature
    }

    /// The distances between curves relative to seed noise; `None` if the curves hardly overlap. At a best exponent
    /// with known variance, noise explains less, because the exponent was fitted to it.
    pub fn misfit(&self, exponent: f64, variance: Option<f64>) -> Option<f64> {
        let means: Vec<&[f64]> = self.groups.iter().map(|sheet| sheet.mean.as_slice()).collect();
        self.score(exponent, &means)?;
        let squares = |exponent: f64| self.squares(exponent, &means).0;
        let places = self.places(exponent, &means);
        let mut explained = 0.0;
        for sheet in &self.groups {
            let count = sheet.rows.len() as f64;
            self.walk(sheet, exponent, |place, weight, piece, part| {
                let heights = sheet.rows.iter().map(|row| row[piece] + part * (row[piece + 1] - row[piece]));
                let mean = heights.clone().sum::<f64>() / count;
                let spread: f64 = heights.map(|height| (height - mean).powi(2)).sum();
                let total = places.sums[(place - places.first) as usize][0];
                explained += weight * (1.0 - weight / total) * spread / (count - 1.0) / count;
            });
        }
        if let Some(variance) = variance {
            let width = self.stride;
            let curvature =
                (squares(exponent + width) - 2.0 * squares(exponent) + squares(exponent - width)) / width.powi(2);
            // At least a tenth, since the variance is an estimate too.
            explained = (explained - 0.5 * curvature * variance).max(0.1 * explained);
        }
        Some(squares(exponent) / explained)
    }

    /// The nearest local minimum.
    fn descend(&self, start: f64, means: &[&[f64]]) -> Option<f64> {
        let score = |exponent: f64| self.score(exponent, means);
        let (mut middle, mut height) = (start, score(start)?);
        let (mut left, mut right) = (score(middle - self.stride)?, score(middle + self.stride)?);
        while left < height || right < height {
            let sign = if left < right { -1.0 } else { 1.0 };
            middle += sign * self.stride;
            let next = score(middle + sign * self.stride)?;
            (left, height, right) = if sign < 0.0 { (next, left, height) } else { (height, right, next) };
        }
        golden(middle - self.stride, middle + self.stride, 1e-4 * self.stride, |exponent| {
            score(exponent).unwrap_or(f64::INFINITY)
        })
    }

    /// The mean square distance; `None` if there are too few comparisons.
    fn score(&self, exponent: f64, means: &[&[f64]]) -> Option<f64> {
        if exponent.is_nan() || exponent.abs() > self.largest {
            return None;
        }
        let (squares, freedom) = self.squares(exponent, means);
        (freedom >= self.fewest && squares.is_finite()).then(|| squares / freedom)
    }

    /// The sum of squared distances from the mean curve, and the number of comparisons.
    fn squares(&self, exponent: f64, means: &[&[f64]]) -> (f64, f64) {
        let mut total = (0.0, 0.0);
        for [weight, squared_weight, height, square] in self.places(exponent, means).sums {
            if weight > 0.0 {
                total.0 += (square - height * height / weight).max(0.0);
                total.1 += weight - squared_weight / weight;
            }
        }
        total
    }

    /// All curves at an exponent.
    fn places(&self, exponent: f64, means: &[&[f64]]) -> Places {
        let shifted = |sheet: &Sheet| (sheet.start() - exponent * sheet.log, sheet.end() - exponent * sheet.log);
        let start = self.groups.iter().map(|sheet| shifted(sheet).0).fold(f64::INFINITY, f64::min);
        let end = self.groups.iter().map(|sheet| shifted(sheet).1).fold(f64::NEG_INFINITY, f64::max);
        let (first, last) = ((start / self.step).floor() as i64, (end / self.step).ceil() as i64);
        let mut sums = vec![[0.0; 4]; (last - first + 1).max(0) as usize];
        for (sheet, mean) in self.groups.iter().zip(means) {
            self.walk(sheet, exponent, |place, weight, piece, part| {
                let height = mean[piece] + part * (mean[piece + 1] - mean[piece]);
                let sums = &mut sums[(place - first) as usize];
                for (sum, term) in
                    sums.iter_mut().zip([weight, weight * weight, weight * height, weight * height * height])
                {
                    *sum += term;
                }
            });
        }
        Places { first, sums }
    }

    /// Visits the grid points within a curve: index, weight, segment, and position within it.
    fn walk(&self, sheet: &Sheet, exponent: f64, mut visit: impl FnMut(i64, f64, usize, f64)) {
        let moved = exponent * sheet.log;
        let fade = FADE * self.step;
        let first = ((sheet.start() - moved) / self.step).ceil() as i64;
        let last = ((sheet.end() - moved) / self.step).floor() as i64;
        let mut piece = 0;
        for place in first..=last {
            let x = place as f64 * self.step + moved;
            while piece + 2 < sheet.x.len() && sheet.x[piece + 1] < x {
                piece += 1;
            }
            let weight = ((x - sheet.start()) / fade).min((sheet.end() - x) / fade).min(1.0);
            if weight > 0.0 {
                visit(place, weight, piece, (x - sheet.x[piece]) / (sheet.x[piece + 1] - sheet.x[piece]));
            }
        }
    }
}

/// Golden-section search for a minimum; `None` if the minimum is infinite.
fn golden(mut low: f64, mut high: f64, precision: f64, function: impl Fn(f64) -> f64) -> Option<f64> {
    const PART: f64 = 0.618_033_988_749_894_9;
    let inner = |low: f64, high: f64| (high - PART * (high - low), low + PART * (high - low));
    let (mut a, mut b) = inner(low, high);
    let (mut at_a, mut at_b) = (function(a), function(b));
    while high - low > precision {
        if at_a < at_b {
            (high, b, at_b) = (b, a, at_a);
            a = inner(low, high).0;
            at_a = function(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = inner(low, high).1;
            at_b = function(b);
        }
    }
    at_a.min(at_b).is_finite().then_some(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minima_are_found() {
        assert!((golden(-1.0, 2.0, 1e-9, |x| (x - 0.3).powi(2)).unwrap() - 0.3).abs() < 1e-7);
        assert_eq!(golden(0.0, 1.0, 1e-3, |_| f64::INFINITY), None);
    }

    #[test]
    fn distances_are_from_the_mean_of_the_curves() {
        let flat = |at: f64, y: f64| Group::new(at, [Curve::new([(1.0, y), (2.0, y), (4.0, y), (8.0, y)])]);
        let sheets = Sheets::new(&[flat(1.0, 0.0), flat(2.0, 1.0), flat(4.0, 5.0)]).unwrap();
        let means: Vec<&[f64]> = sheets.groups.iter().map(|sheet| sheet.mean.as_slice()).collect();
        // The variance of 0, 1 and 5.
        assert!((sheets.score(0.0, &means).unwrap() - 7.0).abs() < 1e-9);
    }

    #[test]
    fn too_few_comparisons_do_not_count() {
        let line = |at: f64| Group::new(at, [Curve::new((0..=10).map(|x| (f64::from(x).exp(), -f64::from(x))))]);
        let sheets = Sheets::new(&[line(1.0), line(1f64.exp())]).unwrap();
        let means: Vec<&[f64]> = sheets.groups.iter().map(|sheet| sheet.mean.as_slice()).collect();
        assert!(sheets.score(6.0, &means).is_some() && sheets.score(7.5, &means).is_none());
        assert!(sheets.score(f64::NAN, &means).is_none() && sheets.score(1e300, &means).is_none());
    }

    #[test]
    fn close_points_far_apart_take_little_memory() {
        let close = |at: f64, x: f64| Group::new(at, [Curve::new([(x, 1.0), (x * (1.0 + 1e-12), 0.0)])]);
        let sheets = Sheets::new(&[close(1.0, 1.0), close(2.0, 1e100), close(4.0, 1e200)]).unwrap();
        assert!(sheets.step > 1e-2 && sheets.best().is_none());
    }

    #[test]
    fn the_score_has_no_jumps() {
        let curve = |moved: f64| Curve::new((0..8).map(|k| 0.69 * f64::from(k)).map(|x| (x.exp(), (moved - x).tanh())));
        let sheets = Sheets::new(&[Group::new(1.0, [curve(2.0)]), Group::new(3.0, [curve(3.1)])]).unwrap();
        let means: Vec<&[f64]> = sheets.groups.iter().map(|sheet| sheet.mean.as_slice()).collect();
        let scores: Vec<f64> = (0..2000).map(|k| sheets.score(f64::from(k) * 1e-3, &means).unwrap()).collect();
        let largest = scores.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
        assert!(largest < 5e-3, "{largest}");
    }
}
