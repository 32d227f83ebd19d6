//! Means over seeds, also when some curves do not cross.

use super::Estimate;
use super::estimate::{Limit, too_few_seeds};
use super::jackknife::jackknife;
use super::statistics::average;

/// The mean of a quantity over seeds, with Student's interval.
///
/// NaNs are ignored. There is no mean if a value is infinite, and no interval for fewer than
/// [`FEWEST_SEEDS`](super::FEWEST_SEEDS) values.
///
/// ```
/// use gardenpath_lab::fit::mean;
///
/// let excess_loss = mean(&[0.012, 0.009, 0.015, 0.011, 0.013]);
/// assert_eq!(excess_loss.to_string(), "0.012 [0.009224, 0.01478]");
/// assert_eq!(mean(&[0.012, 0.009]).because.unwrap(), "2 seeds; an interval needs at least 5");
/// ```
pub fn mean(values: &[f64]) -> Estimate {
    let values = measured(values);
    let infinite = values.iter().filter(|value| value.is_infinite()).count();
    if infinite > 0 {
        return Estimate::refused(values.len(), format!("{infinite} of {} values are not finite", values.len()));
    }
    mean_of_finite(&values)
}

fn mean_of_finite(values: &[f64]) -> Estimate {
    let (value, count) = (average(values), values.len() as f64);
    let without = |left_out: usize| value + (value - values[left_out]) / (count - 1.0);
    Estimate::student(value, jackknife(&[values.len()], |_, left_out| without(left_out)), values.len())
}

/// The geometric mean of a positive quantity over seeds, with Student's interval of its logarithm.
///
/// Seeds without a value must not be dropped: 0 and infinity mean below or above the measured range (see
/// [`crossing`](super::crossing)). If some seeds are on one side, the estimate is the median and its interval is open
/// on that side; the other end is that of the median by order statistics, which assumes only that the mean and median
/// of the logarithm agree. If half of the seeds are, or both sides occur, there is no estimate. NaNs are ignored.
///
/// ```
/// use gardenpath_lab::fit::geometric_mean;
///
/// let found = geometric_mean(&[80.0, 100.0, 125.0, 90.0, 110.0]);
/// assert!(found.contains(100.0) && !found.contains(150.0));
/// let open = geometric_mean(&[80.0, 100.0, 125.0, 90.0, f64::INFINITY]);
/// assert_eq!((open.value.round(), open.interval.unwrap().1), (100.0, f64::INFINITY));
/// assert!(geometric_mean(&[80.0, 100.0, f64::INFINITY, f64::INFINITY]).value.is_nan());
/// ```
pub fn geometric_mean(values: &[f64]) -> Estimate {
    of_positive(values, |missing| missing.to_string())
}

/// How many replicates are below or above the measured range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    pub below: usize,
    pub above: usize,
    pub all: usize,
}

impl Missing {
    /// Counts them among values, ignoring NaNs.
    pub fn among(values: &[f64]) -> Self {
        let count = |is: fn(f64) -> bool| values.iter().filter(|value| is(**value)).count();
        Missing { below: count(|x| x <= 0.0), above: count(|x| x == f64::INFINITY), all: count(|x| !x.is_nan()) }
    }

    /// The total of several groups.
    pub fn sum(parts: impl Iterator<Item = Missing>) -> Self {
        let add =
            |a: Missing, b: Missing| Missing { below: a.below + b.below, above: a.above + b.above, all: a.all + b.all };
        parts.fold(Missing { below: 0, above: 0, all: 0 }, add)
    }

    pub fn any(self) -> bool {
        self.below + self.above > 0
    }
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} curves do not cross the level within the measured range", self.below + self.above, self.all)
    }
}

/// [`geometric_mean`] with the caller's description of missing values.
pub(super) fn of_positive(values: &[f64], words: impl Fn(Missing) -> String) -> Estimate {
    let missing = Missing::among(values);
    let mut logs: Vec<f64> = measured(values).iter().map(|value| value.max(0.0).ln()).collect();
    if !missing.any() {
        return mean_of_finite(&logs).on_scale(f64::exp);
    }
    let because = words(missing);
    if (missing.below > 0 && missing.above > 0) || 2 * (missing.below + missing.above) >= missing.all {
        return Estimate { limit: Limit::Range, ..Estimate::refused(missing.all, because) };
    }
    logs.sort_by(f64::total_cmp);
    let value = median(&logs).exp();
    if let Some(few) = too_few_seeds(missing.all) {
        let because = format!("{because}, and only {few}");
        return Estimate { limit: Limit::Range, ..Estimate::without_interval(value, missing.all, because) };
    }
    let rank = bound_of_median(missing.all);
    let interval = match missing.above > 0 {
        true => (logs[rank].exp(), f64::INFINITY),
        false => (0.0, logs[missing.all - 1 - rank].exp()),
    };
    let because = Some(format!("{because}; the value is the median, and the interval has an open end"));
    Estimate { value, interval: Some(interval), seeds: missing.all, freedom: f64::NAN, limit: Limit::Range, because }
}

/// The median of sorted numbers, fewer than half of which are infinite.
fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { 0.5 * (sorted[half - 1] + sorted[half]) }
}

/// The largest rank, from 0, whose order statistic exceeds the true median with probability at most 5%.
fn bound_of_median(count: usize) -> usize {
    let (mut chance, mut total, mut rank) = (0.5f64.powi(count as i32), 0.0, 0);
    for k in 0..count {
        total += chance;
        if total > 0.05 {
            break;
        }
        rank = k;
        chance *= (count - k) as f64 / (k + 1) as f64;
    }
    rank
}

pub(super) fn measured(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|value| !value.is_nan()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::statistics::standard_error;
    use crate::fit::synthetic::normal;
    use gardenpath::Seed;

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        let values = [1.0, 4.0, 2.5, 7.0, 3.0];
        let found = mean(&values);
        let half = 2.776_445 * standard_error(&values);
        let (low, high) = found.interval.unwrap();
        assert!(
            (found.value - 3.5).abs() < 1e-12 && (low - 3.5 + half).abs() < 1e-5 && (high - 3.5 - half).abs() < 1e-5
        );
        let positive = geometric_mean(&values.map(f64::exp));
        assert!((positive.interval.unwrap().1.ln() - high).abs() < 1e-9 && (positive.value.ln() - 3.5).abs() < 1e-12);
    }

    #[test]
    fn seeds_that_were_not_measured_are_not_counted() {
        assert_eq!(mean(&[1.0, f64::NAN, 2.0]).seeds, 2);
        assert_eq!(mean(&[f64::NAN]).because.unwrap(), "no measurements");
        assert_eq!(mean(&[1.0, f64::INFINITY]).because.unwrap(), "1 of 2 values are not finite");
        assert_eq!(geometric_mean(&[]).because.unwrap(), "no measurements");
    }

    #[test]
    fn seeds_beyond_the_range_open_the_interval() {
        let infinite = f64::INFINITY;
        let late = geometric_mean(&[3.0, 1.0, infinite, 2.0, infinite]);
        assert!((late.value - 3.0).abs() < 1e-12 && late.interval == Some((1.0, infinite)));
        assert!(late.because.unwrap().starts_with("2 of 5 curves do not cross"));
        let early = geometric_mean(&[3.0, 1.0, 0.0, 2.0, 0.0, 4.0]);
        assert!((early.value - 2f64.sqrt()).abs() < 1e-12 && early.interval.is_some_and(|ends| ends.0 == 0.0));
        assert!((early.interval.unwrap().1 - 4.0).abs() < 1e-12 && early.limit == Limit::Range);
        for refused in [&[1.0, 2.0, infinite, infinite][..], &[infinite; 5], &[1.0, 2.0, 3.0, 4.0, 0.0, infinite]] {
            let found = geometric_mean(refused);
            assert!(found.value.is_nan() && found.interval.is_none(), "{refused:?}");
        }
        let few = geometric_mean(&[1.0, 2.0, infinite]);
        assert_eq!((few.value, few.interval), (2.0, None));
    }

    #[test]
    fn open_intervals_hold_the_truth() {
        for count in [5, 10] {
            let holds = |repetition: u64| {
                let mut stream = Seed::new(23).stream(repetition);
                let values =
                    (0..count).map(|_| normal(&mut stream)).map(|x| if x > 0.8 { f64::INFINITY } else { x.exp() });
                let found = geometric_mean(&values.collect::<Vec<_>>());
                found.interval.is_none_or(|_| found.contains(1.0))
            };
            let held = (0..2000).filter(|&repetition| holds(repetition)).count();
            assert!(held >= 1860, "{held} of 2000 with {count} seeds");
        }
    }

    #[test]
    fn ranks_are_those_of_the_sign_test() {
        // P(at most 1 of 10 below the median) is 0.011; of at most 2, 0.055.
        assert_eq!([5, 7, 8, 10, 13, 20].map(bound_of_median), [0, 0, 1, 1, 3, 5]);
    }
}
