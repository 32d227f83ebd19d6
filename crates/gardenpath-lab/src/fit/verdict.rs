//! Verdicts on claims: the same rule for every claim, in both directions.

mod settle;

use super::estimate::{Estimate, FEWEST_SEEDS, Limit};
use crate::draw::table::short;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The values that a claim allows.
///
/// ```
/// use gardenpath_lab::fit::Expected;
///
/// assert_eq!(Expected::Near { value: 2.0, margin: 0.2 }.range(), (1.8, 2.2));
/// assert_eq!(Expected::Factor { value: 8.0, factor: 2.0 }.range(), (4.0, 16.0));
/// assert_eq!(Expected::AtMost(0.05).to_string(), "at most 0.05");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// A number within a margin.
    Near {
        /// The number.
        value: f64,
        /// The allowed deviation.
        margin: f64,
    },
    /// A positive number within a factor.
    Factor {
        /// The number.
        value: f64,
        /// At least 1.
        factor: f64,
    },
    /// At most this number.
    AtMost(f64),
    /// At least this number.
    AtLeast(f64),
}

impl Expected {
    /// The smallest and largest allowed value.
    pub fn range(&self) -> (f64, f64) {
        match *self {
            Expected::Near { value, margin } => (value - margin, value + margin),
            Expected::Factor { value, factor } => (value / factor, value * factor),
            Expected::AtMost(most) => (f64::NEG_INFINITY, most),
            Expected::AtLeast(least) => (least, f64::INFINITY),
        }
    }

    /// `Some(true)` if the whole interval is allowed, `Some(false)` if none of it is, `None` otherwise.
    fn decide(&self, (low, high): (f64, f64)) -> Option<bool> {
        let (least, most) = self.range();
        match () {
            () if low >= least && high <= most => Some(true),
            () if high < least || low > most => Some(false),
            () => None,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Expected::Near { value, margin } => write!(f, "{} ± {}", short(value), short(margin)),
            Expected::Factor { value, factor } => write!(f, "{} up to a factor of {}", short(value), short(factor)),
            Expected::AtMost(most) => write!(f, "at most {}", short(most)),
            Expected::AtLeast(least) => write!(f, "at least {}", short(least)),
        }
    }
}

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The whole interval lies within the paper's margin.
    Agrees,
    /// The whole interval lies outside the paper's margin.
    Differs,
    /// It lies outside the paper's margin and within that of our correction.
    Corrected,
    /// It lies neither inside nor outside, or there is no interval.
    Inconclusive,
}

impl Verdict {
    /// All verdicts, in the order in which they are listed.
    pub const ALL: [Verdict; 4] = [Verdict::Agrees, Verdict::Differs, Verdict::Corrected, Verdict::Inconclusive];

    /// The verdict in one word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Agrees => "agrees",
            Verdict::Differs => "differs",
            Verdict::Corrected => "corrected",
            Verdict::Inconclusive => "inconclusive",
        }
    }

    /// A count of claims with this verdict: `1 agrees`, `3 agree`.
    ///
    /// ```
    /// use gardenpath_lab::fit::Verdict;
    ///
    /// assert_eq!((Verdict::Agrees.counted(1), Verdict::Differs.counted(2)), ("1 agrees".into(), "2 differ".into()));
    /// ```
    pub fn counted(self, count: usize) -> String {
        let word = match self {
            Verdict::Agrees if count != 1 => "agree",
            Verdict::Differs if count != 1 => "differ",
            _ => self.word(),
        };
        format!("{count} {word}")
    }

    /// The verdict on a claim about several groups: differs if it differs for any group, else inconclusive if it is for
    /// any, else corrected if it is for any.
    ///
    /// ```
    /// use gardenpath_lab::fit::Verdict::{self, *};
    ///
    /// assert_eq!(Verdict::of_all([Agrees, Inconclusive, Differs]), Differs);
    /// assert_eq!(Verdict::of_all([Agrees, Inconclusive]), Inconclusive);
    /// assert_eq!(Verdict::of_all([Agrees, Corrected]), Corrected);
    /// assert_eq!(Verdict::of_all([]), Inconclusive);
    /// ```
    pub fn of_all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        let found: Vec<Verdict> = verdicts.into_iter().collect();
        let worst = [Verdict::Differs, Verdict::Inconclusive, Verdict::Corrected, Verdict::Agrees];
        worst.into_iter().find(|verdict| found.contains(verdict)).unwrap_or(Verdict::Inconclusive)
    }
}

/// A verdict with its reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The measured value; NaN (`null` in JSON) if there is none.
    pub estimate: f64,
    /// Its 95% interval; an unbounded end is `null` in JSON.
    pub interval: Option<(f64, f64)>,
    /// The reason for the verdict and, if it is inconclusive, what would settle it.
    pub because: String,
    /// The number of seeds that would settle an inconclusive claim, if more seeds would.
    pub needed_seeds: Option<usize>,
}

/// Compares an estimate with the paper's claim, and with our correction if there is one.
///
/// The 95% interval decides, never the number alone: the claim agrees if the whole interval is allowed, differs if none
/// of it is, and is inconclusive otherwise. An interval without an upper end can still differ, or agree with "at
/// least". If the interval contradicts the paper and agrees with our correction, the verdict is corrected.
///
/// ```
/// use gardenpath_lab::fit::{Expected, Verdict, judge, mean};
///
/// let measured = mean(&[12.1, 12.6, 12.4, 12.9, 12.5]);
/// let near = |value: f64| Expected::Near { value, margin: 1.0 };
/// assert_eq!(judge(&measured, near(12.0), None).verdict, Verdict::Agrees);
/// assert_eq!(judge(&measured, near(8.0), None).verdict, Verdict::Differs);
/// assert_eq!(judge(&measured, near(8.0), Some(near(12.5))).verdict, Verdict::Corrected);
/// assert_eq!(judge(&measured, Expected::AtLeast(10.0), None).verdict, Verdict::Agrees);
///
/// let few = judge(&mean(&[12.1, 12.6]), near(12.0), None);
/// assert_eq!(few.verdict, Verdict::Inconclusive);
/// assert_eq!(few.because, "12.35 has no interval: 2 seeds; an interval needs at least 5");
/// ```
pub fn judge(estimate: &Estimate, paper: Expected, ours: Option<Expected>) -> Judgement {
    let mut needed_seeds = None;
    let (verdict, because) = decide(estimate, paper, ours, &mut needed_seeds);
    Judgement { verdict, estimate: estimate.value, interval: estimate.interval, because, needed_seeds }
}

fn decide(
    estimate: &Estimate,
    paper: Expected,
    ours: Option<Expected>,
    needed_seeds: &mut Option<usize>,
) -> (Verdict, String) {
    for expected in std::iter::once(paper).chain(ours) {
        let (least, most) = expected.range();
        if least.is_nan() || most.is_nan() || least > most {
            return (Verdict::Inconclusive, format!("\"{expected}\" allows no number"));
        }
    }
    let Some(interval) = estimate.interval.filter(|(low, high)| low <= high) else {
        let reason = estimate.because.as_deref().unwrap_or("its noise is unknown");
        if estimate.limit == Limit::Seeds && (1..FEWEST_SEEDS).contains(&estimate.seeds) {
            *needed_seeds = Some(FEWEST_SEEDS);
        }
        let words =
            if estimate.value.is_nan() { reason.to_owned() } else { format!("{estimate} has no interval: {reason}") };
        return (Verdict::Inconclusive, words);
    };
    let note = estimate.because.as_ref().map_or(String::new(), |note| format!(" ({note})"));
    let found = format!("{estimate}{note}");
    match (paper.decide(interval), ours.map(|ours| (ours, ours.decide(interval)))) {
        (Some(true), _) => (Verdict::Agrees, format!("{found} {}", inside(&paper))),
        (None, _) => {
            let (words, needed) = settle::by(estimate, interval, paper);
            *needed_seeds = needed;
            (Verdict::Inconclusive, format!("{found} {words}"))
        }
        (Some(false), None) => (Verdict::Differs, format!("{found} {}", outside(&paper))),
        (Some(false), Some((ours, Some(true)))) => (
            Verdict::Corrected,
            format!("{found} {} (the paper), and {} (our correction)", outside(&paper), inside(&ours)),
        ),
        (Some(false), Some((ours, Some(false)))) => (
            Verdict::Differs,
            format!("{found} {} (the paper), and {} (our correction)", outside(&paper), outside(&ours)),
        ),
        (Some(false), Some((ours, None))) => {
            let (words, _) = settle::by(estimate, interval, ours);
            (Verdict::Differs, format!("{found} {} (the paper); for our correction, it {words}", outside(&paper)))
        }
    }
}

/// Says that the whole interval is allowed, as the end of a sentence.
fn inside(expected: &Expected) -> String {
    match expected {
        Expected::Near { .. } | Expected::Factor { .. } => format!("lies within {expected}"),
        Expected::AtMost(_) | Expected::AtLeast(_) => format!("is {expected}"),
    }
}

/// Says that none of it is.
fn outside(expected: &Expected) -> String {
    match expected {
        Expected::Near { .. } | Expected::Factor { .. } => format!("lies outside {expected}"),
        Expected::AtMost(most) => format!("is above {}", short(*most)),
        Expected::AtLeast(least) => format!("is below {}", short(*least)),
    }
}

#[cfg(test)]
mod tests;
