//! Power laws: straight lines in logarithms.

use super::statistics::{mean, normal, standard_deviation};
use super::{Estimate, NORMAL_95, ROUNDS};
use gardenpath::Seed;

/// y = prefactor * x^exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    /// The exponent; its interval is NaN if neither the points nor their scatter say how sure it is.
    pub exponent: Estimate,
    /// The value at x = 1.
    pub prefactor: f64,
}

impl PowerLaw {
    /// The value at some x.
    pub fn at(&self, x: f64) -> f64 {
        self.prefactor * x.powf(self.exponent.value)
    }
}

/// The power law through points (x, y) by least squares in logarithms.
///
/// Two things say how sure the exponent is: the intervals of the points, by refitting points drawn from log-normal
/// distributions of their widths, and the scatter of the points around the line. The larger standard error counts. If
/// the interval of some point is not known, the scatter alone has to tell, with Student's factor; two points have no
/// scatter.
///
/// None for less than two different x, and if a number is not positive and finite.
pub fn power_law(points: &[(f64, Estimate)], seed: Seed) -> Option<PowerLaw> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.value.ln())).collect();
    let line = Line::through(&logs)?;
    let half = match (error_by_intervals(points, &logs, seed), error_by_scatter(&logs, &line)) {
        (Some(intervals), scatter) => NORMAL_95 * intervals.max(scatter.unwrap_or(0.0)),
        (None, Some(scatter)) => student_95(logs.len() - 2) * scatter,
        (None, None) => f64::NAN,
    };
    let exponent = Estimate { value: line.slope, low: line.slope - half, high: line.slope + half };
    Some(PowerLaw { exponent, prefactor: line.intercept.exp() })
}

struct Line {
    slope: f64,
    intercept: f64,
}

impl Line {
    /// The line of least squares; none if there is no such line, or not only one.
    fn through(points: &[(f64, f64)]) -> Option<Line> {
        let first = points.first()?.0;
        if points.iter().all(|(x, _)| *x == first) {
            return None;
        }
        let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let (x, y) = (mean(&x), mean(&y));
        let product: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
        let slope = product / spread(points);
        let intercept = y - slope * x;
        (slope.is_finite() && intercept.is_finite()).then_some(Line { slope, intercept })
    }
}

/// The sum of the squares of x around their mean.
fn spread(points: &[(f64, f64)]) -> f64 {
    let centre = points.iter().map(|(x, _)| x).sum::<f64>() / points.len() as f64;
    points.iter().map(|(x, _)| (x - centre).powi(2)).sum()
}

/// The standard error of the slope that the intervals of the points explain.
fn error_by_intervals(points: &[(f64, Estimate)], logs: &[(f64, f64)], seed: Seed) -> Option<f64> {
    let errors = points.iter().map(|(_, y)| y.log_error()).collect::<Option<Vec<f64>>>()?;
    let slope = |round: u64| {
        let mut stream = seed.child("power law").stream(round);
        let drawn = logs.iter().zip(&errors).map(|((x, y), error)| (*x, y + error * normal(&mut stream)));
        Line::through(&drawn.collect::<Vec<_>>()).map(|line| line.slope)
    };
    Some(standard_deviation(&(0..ROUNDS).filter_map(slope).collect::<Vec<_>>()))
}

/// The standard error of the slope that the scatter around the line explains.
fn error_by_scatter(logs: &[(f64, f64)], line: &Line) -> Option<f64> {
    let freedom = logs.len().checked_sub(2).filter(|&freedom| freedom > 0)?;
    let squares: f64 = logs.iter().map(|(x, y)| (y - line.intercept - line.slope * x).powi(2)).sum();
    Some((squares / freedom as f64 / spread(logs)).sqrt())
}

/// Half of the 95% interval of Student's distribution; for more than ten degrees of freedom that of ten, which is a
/// little wide.
fn student_95(freedom: usize) -> f64 {
    const FACTORS: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    FACTORS[freedom.clamp(1, 10) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::synthetic::{Noise, family};
    use crate::fit::threshold_with_interval;

    /// A value with an interval of this deviation of its logarithm.
    fn sure(value: f64, deviation: f64) -> Estimate {
        let factor = (NORMAL_95 * deviation).exp();
        Estimate { value, low: value / factor, high: value * factor }
    }

    fn half_width(law: &PowerLaw) -> f64 {
        (law.exponent.high - law.exponent.low) / 2.0
    }

    #[test]
    fn a_power_law_is_found_exactly() {
        let points = [2.0, 3.0, 7.0, 20.0].map(|x: f64| (x, sure(5.0 * x.powf(2.3), 0.0)));
        let law = power_law(&points, Seed::new(1)).unwrap();
        assert!((law.exponent.value - 2.3).abs() < 1e-12 && half_width(&law) < 1e-12);
        assert!((law.prefactor - 5.0).abs() < 1e-12 && (law.at(7.0) / points[2].1.value - 1.0).abs() < 1e-12);
    }

    #[test]
    fn intervals_of_points_give_the_textbook_error() {
        let (x, errors) = ([4.0, 8.0, 16.0, 64.0], [0.1, 0.3, 0.2, 0.05]);
        let points: Vec<(f64, Estimate)> = x.iter().zip(errors).map(|(&x, error)| (x, sure(x * x, error))).collect();
        let law = power_law(&points, Seed::new(1)).unwrap();
        let logs: Vec<(f64, f64)> = x.iter().map(|x: &f64| (x.ln(), 0.0)).collect();
        let centre = logs.iter().map(|(x, _)| x).sum::<f64>() / 4.0;
        let variance: f64 = logs.iter().zip(errors).map(|((x, _), error)| (error * (x - centre)).powi(2)).sum();
        let expected = 1.96 * variance.sqrt() / spread(&logs);
        assert!((half_width(&law) / expected - 1.0).abs() < 0.08, "{} {expected}", half_width(&law));
    }

    #[test]
    fn scatter_that_intervals_do_not_explain_widens() {
        // Residuals (1, -2, 1) / 10 around slope 1, at distance ln 2 of each other.
        let at = |k: i32, residual: f64| (2f64.powi(k), 2f64.powi(k) * f64::exp(residual));
        let raw = [at(0, 0.1), at(1, -0.2), at(2, 0.1)];
        let with = |deviation: f64| raw.map(|(x, y)| (x, sure(y, deviation)));
        let scatter = (0.06 / (2.0 * 2f64.ln().powi(2))).sqrt();
        let half = |points: &[(f64, Estimate)]| half_width(&power_law(points, Seed::new(1)).unwrap());
        assert!((half(&with(0.01)) - 1.96 * scatter).abs() < 1e-9);
        assert!(half(&with(1.0)) > 3.0 * scatter);
        let unknown = raw.map(|(x, y)| (x, Estimate::without_interval(y)));
        assert!((half(&unknown) - 12.706 * scatter).abs() < 1e-9);
    }

    #[test]
    fn two_points_have_no_scatter() {
        let unknown = [(2.0, Estimate::without_interval(4.0)), (4.0, Estimate::without_interval(16.0))];
        let law = power_law(&unknown, Seed::new(1)).unwrap();
        assert!((law.exponent.value - 2.0).abs() < 1e-12 && law.exponent.low.is_nan() && law.exponent.high.is_nan());
        let known = [(2.0, sure(4.0, 0.1)), (4.0, sure(16.0, 0.1))];
        let half = half_width(&power_law(&known, Seed::new(1)).unwrap());
        assert!((half / (1.96 * 0.1 * 2f64.sqrt() / 2f64.ln()) - 1.0).abs() < 0.08, "{half}");
    }

    #[test]
    fn the_exponent_lies_within_about_95_of_100_intervals() {
        let noise = Noise { of_seed: 0.2, of_result: 0.03 };
        let holds = |repetition: u64| {
            let seed = Seed::new(11).nth(repetition);
            let curves = family(2.0, 4.0, false, noise, 10, seed);
            let thresholds = curves.iter().map(|(v, curve)| (*v, threshold_with_interval(curve, 0.5, seed).unwrap()));
            power_law(&thresholds.collect::<Vec<_>>(), seed).unwrap().exponent.contains(2.0)
        };
        let held = (0..200).filter(|&repetition| holds(repetition)).count();
        assert!((176..=198).contains(&held), "{held} of 200");
    }

    #[test]
    fn scatter_alone_is_honest_too() {
        let holds = |repetition: u64| {
            let mut stream = Seed::new(13).stream(repetition);
            let points = [8.0, 16.0, 32.0]
                .map(|v: f64| (v, Estimate::without_interval(v * v * (0.2 * normal(&mut stream)).exp())));
            power_law(&points, Seed::new(1)).unwrap().exponent.contains(2.0)
        };
        let held = (0..2000).filter(|&repetition| holds(repetition)).count();
        assert!((1860..=1940).contains(&held), "{held} of 2000");
    }

    #[test]
    fn points_without_a_line_have_no_law() {
        let one = sure(1.0, 0.1);
        let at = |values: &[(f64, f64)]| {
            let points: Vec<(f64, Estimate)> = values.iter().map(|(x, y)| (*x, sure(*y, 0.1))).collect();
            power_law(&points, Seed::new(1))
        };
        assert_eq!(power_law(&[], Seed::new(1)), None);
        assert_eq!(power_law(&[(2.0, one)], Seed::new(1)), None);
        // The mean of five ln 7 is not ln 7 to the last bit.
        assert_eq!(at(&[1.0, 2.0, 3.0, 4.0, 5.0].map(|y| (7.0, y))), None);
        for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            assert_eq!(at(&[(1.0, 1.0), (2.0, 2.0), (3.0, bad)]), None, "{bad}");
            assert_eq!(at(&[(1.0, 1.0), (2.0, 2.0), (bad, 3.0)]), None, "{bad}");
        }
    }
}
