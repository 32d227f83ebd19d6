//! A number with its 95% interval.

use super::NORMAL_95;
use super::statistics::mean;
use crate::draw::table::short;
use std::fmt;

/// A number with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// The lower end of the interval; NaN if the data say nothing about it.
    pub low: f64,
    /// The upper end of the interval; NaN if the data say nothing about it.
    pub high: f64,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { value, low, high } = *self;
        match [low, high].map(f64::is_nan) {
            [true, true] => write!(f, "{}", short(value)),
            _ => write!(f, "{} [{}, {}]", short(value), short(low), short(high)),
        }
    }
}

impl Estimate {
    /// A number of which the error is not known.
    pub fn without_interval(value: f64) -> Self {
        Estimate { value, low: f64::NAN, high: f64::NAN }
    }

    /// Whether a number lies in the interval; never if the interval is not known.
    pub fn contains(&self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }

    /// A number with the 2.5% and 97.5% percentiles of what a bootstrap made of it.
    pub(super) fn from_rounds(value: f64, mut rounds: Vec<f64>) -> Self {
        rounds.sort_by(f64::total_cmp);
        // No interpolation between ranks: rounds can be infinite.
        let last = rounds.len().saturating_sub(1) as f64;
        let percentile = |share: f64| rounds.get((share * last).round() as usize).copied().unwrap_or(f64::NAN);
        Estimate { value, low: percentile(0.025), high: percentile(0.975) }
    }

    /// The standard error of the logarithm: ln(high / low) / (2 * 1.96). An end that is not bounded is taken to be as
    /// far away as the other one; none if neither is known.
    pub(super) fn log_error(&self) -> Option<f64> {
        let mut sides = vec![(self.value / self.low).ln(), (self.high / self.value).ln()];
        sides.retain(|side| side.is_finite());
        (!sides.is_empty()).then(|| mean(&sides) / NORMAL_95)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_leave_a_fortieth_on_both_sides() {
        let rounds = (0..1000).rev().map(f64::from).collect();
        assert_eq!(Estimate::from_rounds(1.0, rounds), Estimate { value: 1.0, low: 25.0, high: 974.0 });
        assert!(Estimate::from_rounds(1.0, vec![]).low.is_nan());
    }

    #[test]
    fn the_error_of_the_logarithm_needs_one_end() {
        let error = |low: f64, high: f64| Estimate { value: 2.0, low, high }.log_error();
        assert!((error(1.0, 8.0).unwrap() - 8f64.ln() / 3.92).abs() < 1e-15);
        assert!((error(1.0, f64::INFINITY).unwrap() - 2f64.ln() / 1.96).abs() < 1e-15);
        assert_eq!(error(0.0, 8.0), error(f64::NAN, 8.0));
        assert_eq!(error(0.0, f64::INFINITY), None);
        assert_eq!(Estimate::without_interval(2.0).log_error(), None);
    }

    #[test]
    fn an_unknown_interval_contains_nothing() {
        let known = Estimate { value: 2.0, low: 1.0, high: 3.0 };
        assert!(known.contains(1.0) && known.contains(3.0) && !known.contains(3.1));
        assert!(!Estimate::without_interval(2.0).contains(2.0));
    }
}
