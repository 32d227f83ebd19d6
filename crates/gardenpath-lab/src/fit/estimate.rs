//! A number with its 95% interval, or the reason why there is none.

use super::jackknife::Noise;
use super::student::student_quantile;
use crate::draw::table::short;
use serde::Serialize;
use std::fmt;

/// Fewer replicates give no interval: their spread says too little.
pub const FEWEST_SEEDS: usize = 5;

/// Fewer sizes give no interval for an exponent: two points lie on every power law.
pub const FEWEST_SIZES: usize = 3;

/// What would narrow an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// More seeds: the width falls as one over the square root of their number.
    Seeds,
    /// More or larger sizes: the groups deviate from the law by much more than seed noise.
    Sizes,
    /// A larger range: some curves do not cross yet.
    Range,
}

/// A number with its 95% interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The number; NaN (`null` in JSON) if there is none.
    pub value: f64,
    /// The 95% interval. An unbounded end is infinite (0 below a positive number), and `null` in JSON.
    pub interval: Option<(f64, f64)>,
    /// The number of replicates, or the smallest of several groups.
    pub seeds: usize,
    /// The degrees of freedom of the interval; NaN if there is none.
    pub freedom: f64,
    /// What would narrow the interval.
    pub limit: Limit,
    /// Why there is no number, no interval, or an unbounded one; or what was left out.
    pub because: Option<String>,
}

impl Estimate {
    /// A number without an interval, with the reason.
    pub fn without_interval(value: f64, seeds: usize, because: impl Into<String>) -> Self {
        let because = Some(because.into());
        Estimate { value, interval: None, seeds, freedom: f64::NAN, limit: Limit::Seeds, because }
    }

    /// No number, with the reason.
    pub fn refused(seeds: usize, because: impl Into<String>) -> Self {
        Estimate::without_interval(f64::NAN, seeds, because)
    }

    /// For computed rather than sampled numbers: without noise, the interval is the number itself. Estimates that lack
    /// more than seeds are unchanged.
    pub fn exactly(self) -> Self {
        if self.limit != Limit::Seeds || !self.value.is_finite() {
            return self;
        }
        Estimate { interval: Some((self.value, self.value)), freedom: f64::INFINITY, because: None, ..self }
    }

    /// A number with this noise. It has no interval if there are too few seeds or the noise is unknown.
    pub(super) fn student(value: f64, noise: Noise, seeds: usize) -> Self {
        if let Some(because) = too_few_seeds(seeds) {
            return Estimate::without_interval(value, seeds, because);
        }
        let half = student_quantile(0.975, noise.freedom) * noise.variance.sqrt();
        if !value.is_finite() || !half.is_finite() {
            return Estimate::without_interval(value, seeds, "the seed noise is not finite");
        }
        let interval = Some((value - half, value + half));
        Estimate { value, interval, seeds, freedom: noise.freedom, limit: Limit::Seeds, because: None }
    }

    /// Applies an increasing function to the value and both ends.
    pub(super) fn on_scale(self, scale: impl Fn(f64) -> f64) -> Self {
        let interval = self.interval.map(|(low, high)| (scale(low), scale(high)));
        Estimate { value: scale(self.value), interval, ..self }
    }

    /// Widens the interval by the root of the misfit if that is above 1. `misfit` is the mean square deviation of the
    /// groups from their law, relative to seed noise.
    pub(super) fn widened(mut self, misfit: f64) -> Self {
        let factor = misfit.max(1.0).sqrt();
        self.interval = self
            .interval
            .map(|(low, high)| (self.value - factor * (self.value - low), self.value + factor * (high - self.value)));
        if misfit > MOSTLY_MISFIT {
            self.limit = Limit::Sizes;
        }
        self
    }

    /// The same with a note about groups that were left out for too few seeds, unless there is a note already.
    pub(super) fn leaving_out(mut self, groups: usize) -> Self {
        let words = |groups| match groups {
            1 => format!("without one group of fewer than {FEWEST_SEEDS} seeds"),
            _ => format!("without {groups} groups of fewer than {FEWEST_SEEDS} seeds"),
        };
        self.because = self.because.or_else(|| (groups > 0).then(|| words(groups)));
        self
    }

    /// Whether a number lies in the interval; false if there is none.
    ///
    /// ```
    /// let estimate = gardenpath_lab::fit::mean(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    /// assert!(estimate.contains(3.5) && !estimate.contains(6.0));
    /// assert!(!gardenpath_lab::fit::mean(&[3.0, 3.1]).contains(3.0));
    /// ```
    pub fn contains(&self, number: f64) -> bool {
        self.interval.is_some_and(|(low, high)| low <= number && number <= high)
    }
}

/// Above this misfit, most of the width of an interval is not seed noise.
const MOSTLY_MISFIT: f64 = 4.0;

/// The groups with enough seeds for an interval and the number of the others, if `suffice` says that a fit can do without them; all groups
/// otherwise.
///
/// Long measurements arrive over days, and a size that has just begun should not discard the interval of complete ones. The number of seeds
/// does not depend on the results, so this does not select by outcome.
pub(super) fn with_enough_seeds<G>(
    groups: Vec<G>,
    seeds: impl Fn(&G) -> usize,
    suffice: impl Fn(&[G]) -> bool,
) -> (Vec<G>, usize)
where
    G: Clone,
{
    let enough: Vec<G> = groups.iter().filter(|group| seeds(group) >= FEWEST_SEEDS).cloned().collect();
    if suffice(&enough) {
        let left_out = groups.len() - enough.len();
        return (enough, left_out);
    }
    (groups, 0)
}

/// The message if there are too few seeds for an interval.
pub(super) fn too_few_seeds(seeds: usize) -> Option<String> {
    let words = match seeds {
        0 => "no measurements".to_owned(),
        1 => format!("one seed; an interval needs at least {FEWEST_SEEDS}"),
        _ => format!("{seeds} seeds; an interval needs at least {FEWEST_SEEDS}"),
    };
    (seeds < FEWEST_SEEDS).then_some(words)
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.interval {
            _ if self.value.is_nan() => write!(f, "unknown"),
            None => write!(f, "{}", short(self.value)),
            Some((low, high)) if low == high => write!(f, "{}", short(self.value)),
            Some((low, high)) => write!(f, "{} [{}, {}]", short(self.value), end(low), end(high)),
        }
    }
}

/// Formats one end of an interval.
pub(super) fn end(value: f64) -> String {
    if value.is_infinite() { (if value > 0.0 { "∞" } else { "−∞" }).to_owned() } else { short(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOISE: Noise = Noise { variance: 0.25, freedom: 4.0 };

    #[test]
    fn intervals_are_as_wide_as_the_tables_say() {
        let (low, high) = Estimate::student(2.0, NOISE, 5).interval.unwrap();
        assert!((high - 2.0 - 2.7764 / 2.0).abs() < 1e-4 && (low + high - 4.0).abs() < 1e-12);
        let wider = Estimate::student(2.0, NOISE, 5).widened(9.0);
        assert!((wider.interval.unwrap().1 - 2.0 - 3.0 * 2.7764 / 2.0).abs() < 1e-3 && wider.limit == Limit::Sizes);
        assert_eq!(Estimate::student(2.0, NOISE, 5).widened(0.3), Estimate::student(2.0, NOISE, 5));
        assert_eq!(Estimate::student(2.0, NOISE, 5).widened(f64::NAN), Estimate::student(2.0, NOISE, 5));
    }

    #[test]
    fn few_seeds_have_no_interval_and_say_so() {
        let few = Estimate::student(2.0, NOISE, 4);
        assert_eq!((few.value, few.interval), (2.0, None));
        assert_eq!(few.because.unwrap(), "4 seeds; an interval needs at least 5");
        assert_eq!(too_few_seeds(1).unwrap(), "one seed; an interval needs at least 5");
        assert_eq!(too_few_seeds(0).unwrap(), "no measurements");
        assert_eq!(too_few_seeds(5), None);
    }

    #[test]
    fn in_words_and_in_json() {
        let open = Estimate { interval: Some((1.5, f64::INFINITY)), ..Estimate::student(2.0, NOISE, 5) };
        assert_eq!(open.to_string(), "2 [1.5, ∞]");
        assert_eq!(Estimate::refused(3, "").to_string(), "unknown");
        assert_eq!(Estimate::without_interval(2.5, 1, "").to_string(), "2.5");
        let json = serde_json::to_value(&open).unwrap();
        assert_eq!(json["interval"], serde_json::json!([1.5, null]));
        assert_eq!((json["limit"].as_str(), json["seeds"].as_u64()), (Some("seeds"), Some(5)));
    }
}
