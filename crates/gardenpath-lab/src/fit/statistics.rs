//! Averages and standard errors for figures.

use super::{Curve, Group};
use gardenpath_plot::Point;
use std::collections::BTreeMap;

/// The average; NaN if there are no values.
pub fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean; NaN for fewer than two values.
pub fn standard_error(values: &[f64]) -> f64 {
    let (centre, count) = (average(values), values.len() as f64);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    if values.len() < 2 { f64::NAN } else { (squares / (count - 1.0) / count).sqrt() }
}

/// The mean at each x with one standard error on each side. A single result has no error bar.
pub fn band(results: &[(f64, Vec<f64>)]) -> Vec<Point> {
    let point = |(x, results): &(f64, Vec<f64>)| {
        let (mean, error) = (average(results), standard_error(results));
        if error.is_nan() { Point::new(*x, mean) } else { Point::between(*x, mean, mean - error, mean + error) }
    };
    results.iter().map(point).filter(|point| point.y.is_finite()).collect()
}

/// [`band`] of the curves of a group.
pub fn band_of_group(group: &Group<Curve>) -> Vec<Point> {
    let mut at: BTreeMap<u64, (f64, Vec<f64>)> = BTreeMap::new();
    for (x, y) in group.replicates.iter().flat_map(Curve::points) {
        // Positive floats sort by their bits.
        at.entry(x.to_bits()).or_insert_with(|| (*x, Vec::new())).1.push(*y);
    }
    band(&at.into_values().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_the_textbook() {
        assert_eq!(average(&[1.0, 2.0, 6.0]), 3.0);
        assert!((standard_error(&[1.0, 2.0, 6.0]) - (7f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(standard_error(&[4.0, 4.0]), 0.0);
        assert!(average(&[]).is_nan() && standard_error(&[]).is_nan() && standard_error(&[1.0]).is_nan());
    }

    #[test]
    fn a_band_is_one_error_wide_to_both_sides() {
        let results = [(2.0, vec![1.0, 3.0]), (4.0, vec![5.0]), (8.0, vec![]), (16.0, vec![f64::NAN, 1.0])];
        assert_eq!(band(&results), [Point::between(2.0, 2.0, 1.0, 3.0), Point::new(4.0, 5.0)]);
    }

    #[test]
    fn the_band_of_a_group_has_what_each_x_has() {
        let group = Group::new(8.0, [Curve::new([(1.0, 1.0), (0.5, 5.0)]), Curve::new([(1.0, 3.0)])]);
        assert_eq!(band_of_group(&group), [Point::new(0.5, 5.0), Point::between(1.0, 2.0, 1.0, 3.0)]);
    }
}
