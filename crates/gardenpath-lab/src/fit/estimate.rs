//! A number with its 95% interval, or with the reason why it has none.

use super::jackknife::Noise;
use super::student::student_quantile;
use crate::draw::table::short;
use serde::Serialize;
use std::fmt;

/// With fewer replicates there is no interval: their spread says too little about that of others.
pub const FEWEST_SEEDS: usize = 5;

/// With fewer sizes there is no interval of an exponent: two points lie on every power law.
pub const FEWEST_SIZES: usize = 3;

/// What would make an interval narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    /// More seeds: the width falls with the root of their number.
    Seeds,
    /// More or larger sizes: the groups differ from the law by much more than seeds explain.
    Sizes,
    /// Curves that were measured further: some do not cross yet.
    Range,
}

/// A number with its 95% interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The number; NaN if there is none. JSON has `null` for it.
    pub value: f64,
    /// The 95% interval. An end that the data do not bound is infinite (0 below a positive number), and `null` in JSON.
    pub interval: Option<(f64, f64)>,
    /// The number of replicates, or the smallest one of several groups.
    pub seeds: usize,
    /// The degrees of freedom of the interval; NaN if there is none.
    pub freedom: f64,
    /// What would make the interval narrower.
    pub limit: Limit,
    /// Why there is no number, no interval, or an open one; or what was left out.
    pub because: Option<String>,
}

impl Estimate {
    /// A number without an interval, and why.
    pub fn without_interval(value: f64, seeds: usize, because: impl Into<String>) -> Self {
        let because = Some(because.into());
        Estimate { value, interval: None, seeds, freedom: f64::NAN, limit: Limit::Seeds, because }
    }

    /// No number at all, and why.
    pub fn refused(seeds: usize, because: impl Into<String>) -> Self {
        Estimate::without_interval(f64::NAN, seeds, because)
    }

    /// The same for numbers that are computed, not sampled: there is no noise, so that the interval is the number. What lacks more than
    /// seeds remains as it is.
    pub fn exactly(self) -> Self {
        if self.limit != Limit::Seeds || !self.value.is_finite() {
            return self;
        }
        Estimate { interval: Some((self.value, self.value)), freedom: f64::INFINITY, because: None, ..self }
    }

    /// A number that some noise blurs. Too few seeds, or noise that is not known, leave it without an interval.
    pub(super) fn student(value: f64, noise: Noise, seeds: usize) -> Self {
        if let Some(because) = too_few_seeds(seeds) {
            return Estimate::without_interval(value, seeds, because);
        }
        let half = student_quantile(0.975, noise.freedom) * noise.variance.sqrt();
        if !value.is_finite() || !half.is_finite() {
            return Estimate::without_interval(value, seeds, "the noise of the seeds is no finite number");
        }
        let interval = Some((value - half, value + half));
        Estimate { value, interval, seeds, freedom: noise.freedom, limit: Limit::Seeds, because: None }
    }

    /// The same on another scale: an increasing function of the value and of both ends.
    pub(super) fn on_scale(self, scale: impl Fn(f64) -> f64) -> Self {
        let interval = self.interval.map(|(low, high)| (scale(low), scale(high)));
        Estimate { value: scale(self.value), interval, ..self }
    }

    /// The same with an interval that says how badly the groups fit their law: `misfit` is the mean square of their
    /// distances in units of seed noise. Above 1, the half widths grow by its root.
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

    /// The same with a remark about groups of too few seeds that were left out. A reason why there is no interval says more.
    pub(super) fn leaving_out(mut self, groups: usize) -> Self {
        let words = |groups| match groups {
            1 => format!("without one group of fewer than {FEWEST_SEEDS} seeds"),
            _ => format!("without {groups} groups of fewer than {FEWEST_SEEDS} seeds"),
        };
        self.because = self.because.or_else(|| (groups > 0).then(|| words(groups)));
        self
    }

    /// Whether a number lies in the interval; never if there is none.
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

/// From here on most of the width of an interval is not seed noise.
const MOSTLY_MISFIT: f64 = 4.0;

/// The groups with enough seeds for an interval, if `suffice` says that a fit can do without the others; all of them otherwise. Besides how many
/// were left out.
///
/// Results arrive over days: a size that has just been begun must not take the interval from those that are complete. Which seeds are there
/// does not depend on what they show, so nothing is chosen by its outcome.
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

/// That there are too few seeds for an interval, if it is so.
pub(super) fn too_few_seeds(seeds: usize) -> Option<String> {
    let words = match seeds {
        0 => "nothing was measured".to_owned(),
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

/// An end of an interval in words.
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
        assert_eq!(too_few_seeds(0).unwrap(), "nothing was measured");
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
