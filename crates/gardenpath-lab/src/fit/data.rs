//! The input of fits: groups of replicates.

/// The curve of one replicate: measurements along a positive x, usually a number of samples.
///
/// ```
/// use gardenpath_lab::fit::Curve;
///
/// let curve = Curve::new([(400.0, 0.2), (100.0, 0.9), (200.0, f64::NAN)]);
/// assert_eq!(curve.points(), [(100.0, 0.9), (400.0, 0.2)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    points: Vec<(f64, f64)>,
    /// The points as (ln x, y).
    logs: Vec<(f64, f64)>,
}

impl Curve {
    /// A curve through points (x, y) in any order. Points without a positive x or a finite y are dropped; results at
    /// the same x are averaged.
    pub fn new(points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut points: Vec<(f64, f64)> = points.into_iter().collect();
        points.retain(|(x, y)| x.ln().is_finite() && y.is_finite());
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let same_x = points.chunk_by(|a, b| a.0 == b.0);
        let merged = same_x.map(|same| (same[0].0, same.iter().map(|(_, y)| y).sum::<f64>() / same.len() as f64));
        let points: Vec<(f64, f64)> = merged.filter(|(_, y)| y.is_finite()).collect();
        Curve { logs: points.iter().map(|(x, y)| (x.ln(), *y)).collect(), points }
    }

    /// The points, with x increasing.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The points as (ln x, y).
    pub(super) fn logs(&self) -> &[(f64, f64)] {
        &self.logs
    }

    /// The value at ln x by linear interpolation; `None` outside the measured range.
    pub(super) fn height(&self, x: f64) -> Option<f64> {
        let behind = self.logs.partition_point(|point| point.0 < x);
        let &(x1, y1) = self.logs.get(behind)?;
        if x1 == x {
            return Some(y1);
        }
        let &(x0, y0) = self.logs.get(behind.checked_sub(1)?)?;
        Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    }
}

/// Replicates of a measurement, one per seed, each with its own random grammar and data.
///
/// ```
/// use gardenpath_lab::fit::Group;
///
/// let thresholds = Group::new(8.0, [120.0, 135.0, 110.0, 150.0, 128.0]);
/// assert_eq!((thresholds.at, thresholds.replicates.len()), (8.0, 5));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group<T> {
    /// The parameter of the group, such as the vocabulary; any positive number by which x can be rescaled.
    pub at: f64,
    /// One per seed.
    pub replicates: Vec<T>,
}

impl<T> Group<T> {
    /// The replicates at this value of the parameter.
    pub fn new(at: f64, replicates: impl IntoIterator<Item = T>) -> Self {
        Group { at, replicates: replicates.into_iter().collect() }
    }

    /// Maps each replicate of the group.
    ///
    /// ```
    /// use gardenpath_lab::fit::Group;
    ///
    /// assert_eq!(Group::new(8.0, [1.0, 2.0]).map(|x| 10.0 * x), Group::new(8.0, [10.0, 20.0]));
    /// ```
    pub fn map<U>(&self, of: impl FnMut(&T) -> U) -> Group<U> {
        Group { at: self.at, replicates: self.replicates.iter().map(of).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_sorted_and_hold_each_x_once() {
        let curve = Curve::new([(4.0, 1.0), (1.0, 5.0), (4.0, 3.0), (0.0, 1.0), (-1.0, 1.0), (f64::INFINITY, 1.0)]);
        assert_eq!(curve.points(), [(1.0, 5.0), (4.0, 2.0)]);
        assert_eq!(curve.logs(), [(0.0, 5.0), (4f64.ln(), 2.0)]);
        assert!(Curve::new([(1.0, f64::MAX), (1.0, f64::MAX)]).points().is_empty());
    }

    #[test]
    fn heights_lie_on_the_lines_between_points() {
        let curve = Curve::new([0.0f64, 1.0, 3.0].map(|x| (x.exp(), x * x)));
        let close = |x: f64, y: f64| (curve.height(x).unwrap() - y).abs() < 1e-12;
        assert!(close(0.0, 0.0) && close(0.5, 0.5) && close(1.0, 1.0) && close(2.0, 5.0));
        assert_eq!((curve.height(-0.1), curve.height(3.1), curve.height(f64::NAN)), (None, None, None));
    }
}
