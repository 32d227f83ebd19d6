//! What would settle an inconclusive claim.

use super::Expected;
use crate::fit::estimate::{Estimate, Limit};
use crate::fit::student::student_quantile;

/// Larger numbers of seeds are not suggested.
const MANY: usize = 1000;

/// Describes where the interval lies and what would settle the claim, as the end of a sentence, with the number of
/// seeds needed if seeds would settle it.
pub fn by(estimate: &Estimate, (low, high): (f64, f64), expected: Expected) -> (String, Option<usize>) {
    let (least, most) = expected.range();
    let side = match (low < least, high > most) {
        (true, true) => "extends beyond both ends of",
        (true, false) => "extends below",
        _ => "extends above",
    };
    let value = estimate.value;
    // How many times too wide the interval is for the verdict suggested by the value.
    let excess = if (least..=most).contains(&value) {
        let down = if low < least { (value - low) / (value - least) } else { 0.0 };
        let up = if high > most { (high - value) / (most - value) } else { 0.0 };
        down.max(up)
    } else if value < least {
        (high - value) / (least - value)
    } else {
        (value - low) / (value - most)
    };
    let remedy = match estimate.limit {
        Limit::Range => ("curves with a larger range would settle it".to_owned(), None),
        Limit::Sizes => {
            let words = "more seeds would not settle it, since the sizes deviate from the law by more than seed noise; \
                         larger sizes may";
            (words.to_owned(), None)
        }
        Limit::Seeds => seeds(estimate, excess),
    };
    let (remedy, needed) = remedy;
    (format!("{side} {expected}; {remedy}"), needed)
}

/// The number of seeds that would make the interval this many times narrower.
fn seeds(estimate: &Estimate, excess: f64) -> (String, Option<usize>) {
    let now = estimate.seeds as f64;
    let width = |seeds: f64| {
        let freedom = estimate.freedom * (seeds - 1.0) / (now - 1.0);
        student_quantile(0.975, freedom) / seeds.sqrt()
    };
    let narrow = width(now) / excess;
    // The width decreases with every seed.
    let enough = |seeds: &usize| width(*seeds as f64) < narrow;
    let needed = (estimate.seeds + 1..=MANY).collect::<Vec<_>>();
    let needed = needed.get(needed.partition_point(|seeds| !enough(seeds))).copied();
    let words = match needed {
        Some(needed) => {
            format!("about {needed} seeds instead of {} would settle it if the value stays the same", estimate.seeds)
        }
        None => "it is so close to the margin that more seeds alone are unlikely to settle it".to_owned(),
    };
    (words, needed)
}
