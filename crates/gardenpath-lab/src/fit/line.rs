//! The least-squares line.

/// y = intercept + slope x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub slope: f64,
    pub intercept: f64,
}

impl Line {
    /// The least-squares line; `None` if it does not exist or is not unique.
    pub fn through(points: &[(f64, f64)]) -> Option<Line> {
        let first = points.first()?.0;
        if points.iter().all(|(x, _)| *x == first) {
            return None;
        }
        let count = points.len() as f64;
        let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / count, sum.1 + point.1 / count));
        let product: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
        let slope = product / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>();
        let intercept = y - slope * x;
        (slope.is_finite() && intercept.is_finite()).then_some(Line { slope, intercept })
    }

    /// The value of the line at x.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// The fraction of its own noise that each point keeps in its residual: 1 minus the leverage.
pub(super) fn freedoms(x: &[f64]) -> Vec<f64> {
    let count = x.len() as f64;
    let centre = x.iter().sum::<f64>() / count;
    let spread: f64 = x.iter().map(|x| (x - centre).powi(2)).sum();
    x.iter().map(|x| 1.0 - 1.0 / count - (x - centre).powi(2) / spread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_through_points_on_a_line_and_off_it() {
        let line = Line::through(&[(1.0, 5.0), (2.0, 3.0), (4.0, -1.0)]).unwrap();
        assert!((line.slope + 2.0).abs() < 1e-12 && (line.at(3.0) - 1.0).abs() < 1e-12);
        assert_eq!(Line::through(&[(0.0, 0.0), (1.0, 3.0), (2.0, 0.0)]).unwrap(), Line { slope: 0.0, intercept: 1.0 });
    }

    #[test]
    fn points_without_a_line() {
        assert_eq!(Line::through(&[]), None);
        assert_eq!(Line::through(&[(2.0, 1.0)]), None);
        // The mean of five ln 7 is not exactly ln 7.
        assert_eq!(Line::through(&[1.0, 2.0, 3.0, 4.0, 5.0].map(|y| (7f64.ln(), y))), None);
        assert_eq!(Line::through(&[(1.0, 2.0), (2.0, f64::NAN)]), None);
        assert_eq!(Line::through(&[(f64::INFINITY, 2.0), (2.0, 1.0)]), None);
    }

    #[test]
    fn two_parameters_take_two_degrees_of_freedom() {
        assert!((freedoms(&[1.0, 2.0, 4.0, 9.0]).iter().sum::<f64>() - 2.0).abs() < 1e-12);
        assert!(freedoms(&[1.0, 2.0]).iter().all(|share| share.abs() < 1e-12));
    }
}
