//! The ways to split a span into the parts of a rule.

use gardenpath::Shape;
use std::ops::RangeInclusive;

/// A part of a split: consecutive tokens, and the matrix that multiplies what stands for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The place among the matrices of a level: left and right of two parts, then left, middle and right of three.
    pub role: usize,
    /// The first token.
    pub start: usize,
    /// The number of tokens.
    pub len: usize,
}

/// All splits of a span of `level` into spans of the level below.
pub fn splits(shape: &Shape, level: usize, start: usize, span: usize) -> Vec<Vec<Part>> {
    let mut first_role = 0;
    let mut splits = Vec::new();
    for arity in shape.arities(level).iter() {
        for lengths in divisions(span, arity, &shape.spans(level + 1)) {
            let mut place = start;
            let part = |(role, len)| {
                place += len;
                Part { role, start: place - len, len }
            };
            splits.push((first_role..).zip(lengths).map(part).collect());
        }
        first_role += arity;
    }
    splits
}

/// The ways to divide a length into `parts` allowed lengths.
fn divisions(length: usize, parts: usize, allowed: &RangeInclusive<usize>) -> Vec<Vec<usize>> {
    if parts == 1 {
        return if allowed.contains(&length) { vec![vec![length]] } else { vec![] };
    }
    let mut all = Vec::new();
    for first in allowed.clone().take_while(|&first| first < length) {
        for rest in divisions(length - first, parts - 1, allowed) {
            all.push([vec![first], rest].concat());
        }
    }
    all
}
