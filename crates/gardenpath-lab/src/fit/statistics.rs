//! Means, errors and normal numbers.

use super::Curve;
use crate::figure::Point;
use gardenpath::Stream;

/// The mean; NaN if there are no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean; NaN for fewer than two values, which say nothing about it.
pub fn standard_error(values: &[f64]) -> f64 {
    standard_deviation(values) / (values.len() as f64).sqrt()
}

/// The mean of a curve with one standard error to both sides. Points with a single result have no error.
pub fn band(curve: &Curve) -> Vec<Point> {
    let point = |(x, results): &(f64, Vec<f64>)| {
        let (mean, error) = (mean(results), standard_error(results));
        if error.is_nan() { Point::new(*x, mean) } else { Point::between(*x, mean, mean - error, mean + error) }
    };
    curve.iter().map(point).filter(|point| point.y.is_finite()).collect()
}

/// The standard deviation of what the values were drawn from; NaN for fewer than two.
pub(super) fn standard_deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}

/// The points at which something was measured: ln P and the results.
pub(super) fn measured(curve: &Curve) -> Vec<(f64, &[f64])> {
    let points = curve.iter().map(|(samples, results)| (samples.ln(), results.as_slice()));
    points.filter(|(x, results)| x.is_finite() && mean(results).is_finite()).collect()
}

/// ln P and the mean, where something was measured.
pub(super) fn means(curve: &Curve) -> Vec<(f64, f64)> {
    measured(curve).into_iter().map(|(x, results)| (x, mean(results))).collect()
}

/// A unit normal number by the method of Box and Muller.
pub(super) fn normal(stream: &mut Stream) -> f64 {
    let radius = (-2.0 * (1.0 - stream.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * stream.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::Seed;

    #[test]
    fn errors_are_those_of_the_textbook() {
        assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
        assert!((standard_error(&[1.0, 2.0, 6.0]) - (7f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(standard_error(&[4.0, 4.0]), 0.0);
        assert!(mean(&[]).is_nan() && standard_error(&[]).is_nan() && standard_error(&[1.0]).is_nan());
    }

    #[test]
    fn a_band_is_one_error_wide_to_both_sides() {
        let curve = [(2.0, vec![1.0, 3.0]), (4.0, vec![5.0]), (8.0, vec![]), (16.0, vec![f64::NAN, 1.0])];
        assert_eq!(band(&curve), [Point::between(2.0, 2.0, 1.0, 3.0), Point::new(4.0, 5.0)]);
    }

    #[test]
    fn normal_numbers_are_normal() {
        let mut stream = Seed::new(3).stream(0);
        let values: Vec<f64> = (0..100_000).map(|_| normal(&mut stream)).collect();
        let outside = values.iter().filter(|value| value.abs() > super::super::NORMAL_95).count();
        assert!(mean(&values).abs() < 0.01 && (standard_deviation(&values) - 1.0).abs() < 0.01);
        assert!(outside.abs_diff(5_000) < 250, "{outside}");
    }
}
