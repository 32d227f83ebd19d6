//! What would settle a claim about which an interval says nothing yet.

use super::Expected;
use crate::fit::estimate::{Estimate, Limit};
use crate::fit::student::student_quantile;

/// More seeds than this are not advice.
const MANY: usize = 1000;

/// Where the interval lies, and what would move it inside or outside, as the rest of a sentence about the interval; and how many
/// seeds it takes, if seeds do it.
pub fn by(estimate: &Estimate, (low, high): (f64, f64), expected: Expected) -> (String, Option<usize>) {
    let (least, most) = expected.range();
    let side = match (low < least, high > most) {
        (true, true) => "reaches beyond both ends of",
        (true, false) => "reaches below",
        _ => "reaches above",
    };
    let value = estimate.value;
    // How many times too wide the interval is for the verdict towards which the value points.
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
        Limit::Range => ("curves that are measured further would settle it".to_owned(), None),
        Limit::Sizes => {
            let words = "more seeds would not settle it, since the sizes differ from the law by more than seeds explain; \
                         larger sizes may";
            (words.to_owned(), None)
        }
        Limit::Seeds => seeds(estimate, excess),
    };
    let (remedy, needed) = remedy;
    (format!("{side} {expected}; {remedy}"), needed)
}

/// How many seeds would make the interval so many times narrower.
fn seeds(estimate: &Estimate, excess: f64) -> (String, Option<usize>) {
    let now = estimate.seeds as f64;
    let width = |seeds: f64| {
        let freedom = estimate.freedom * (seeds - 1.0) / (now - 1.0);
        student_quantile(0.975, freedom) / seeds.sqrt()
    };
    let narrow = width(now) / excess;
    // The width falls with every seed.
    let enough = |seeds: &usize| width(*seeds as f64) < narrow;
    let needed = (estimate.seeds + 1..=MANY).collect::<Vec<_>>();
    let needed = needed.get(needed.partition_point(|seeds| !enough(seeds))).copied();
    let words = match needed {
        Some(needed) => {
            format!("about {needed} seeds instead of {} would settle it, if the value stays", estimate.seeds)
        }
        None => "it is so close to the edge that more seeds alone are unlikely to settle it".to_owned(),
    };
    (words, needed)
}
