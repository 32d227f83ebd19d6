//! How many ways there are to cut a span into its children: the work of the inside recursion (figure `median_splits`).
//!
//! The children of a node `height` levels above the tokens span as many tokens as trees of `height - 1` levels have leaves. Those are all
//! numbers between `2^(height-1)` and `3^(height-1)` in the paper's case; for some arities there are gaps.

use std::ops::RangeInclusive;

use super::{ByLength, TheoryError, check_shape};
use crate::arity::{Arities, PerArity};
use crate::shape::Shape;

/// For each length of a span whose node stands `height` levels above the tokens, the number of its splits into children of each arity:
/// the sizes `N_bin(lambda)` and `N_ter(lambda)` of the sums in eq. `inside`. One child more is one more convolution with the lengths
/// that a child can have.
///
/// ```
/// use gardenpath::theory::splits::splits;
/// use gardenpath::{Arities, PerArity};
/// assert_eq!(splits(2, Arities::PAPER)?.get(6), Some(&PerArity::from([(2, 1), (3, 1)]))); // 3-3 and 2-2-2
/// assert_eq!(splits(3, Arities::PAPER)?.get(15).unwrap()[2], 4); // 6-9, 7-8, 8-7, 9-6
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn splits(height: usize, arities: Arities) -> Result<ByLength<PerArity<u128>>, TheoryError> {
    check_shape(height, arities)?;
    let shape = Shape::new(&vec![arities; height]);
    let mut children: Vec<RangeInclusive<usize>> = Vec::new();
    for len in shape.spans(1).filter(|&len| shape.has_span(1, len)) {
        match children.last_mut() {
            Some(run) if run.end() + 1 == len => *run = *run.start()..=len,
            _ => children.push(len..=len),
        }
    }
    let mut all = ByLength::collect(shape.lengths(), |_| PerArity::default());
    let mut ways = vec![1]; // to cut a span of each length into no children
    for arity in 1..=arities.most() {
        ways = add_child(&ways, &children);
        if arities.contains(arity) {
            for (ways, splits) in ways.iter().skip(all.min_len).zip(&mut all.values) {
                splits[arity] = *ways;
            }
        }
    }
    Ok(all)
}

/// The numbers of ways for one child more, whose possible lengths are runs of consecutive numbers: differences of running sums.
fn add_child(ways: &[u128], children: &[RangeInclusive<usize>]) -> Vec<u128> {
    let shorter: Vec<u128> = std::iter::once(0)
        .chain(ways.iter().scan(0, |sum, ways| {
            *sum += ways;
            Some(*sum)
        }))
        .collect();
    let longest = children.last().map_or(0, |run| *run.end());
    let below = |len: usize| shorter[len.min(ways.len())];
    let of_run = |len: usize, run: &RangeInclusive<usize>| {
        below((len + 1).saturating_sub(*run.start())) - below(len.saturating_sub(*run.end()))
    };
    (0..ways.len() + longest).map(|len| children.iter().map(|run| of_run(len, run)).sum()).collect()
}

/// The median number of splits over all lengths that a span of this height can have (figure `median_splits`), for each arity. In the
/// paper's case it grows like `3^height` for two and like `3^(2 height)` for three children.
///
/// ```
/// use gardenpath::Arities;
/// use gardenpath::theory::splits::median_splits;
/// let medians = median_splits(2, Arities::PAPER)?;
/// assert_eq!((medians[2], medians[3]), (0.5, 1.0));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn median_splits(height: usize, arities: Arities) -> Result<PerArity<f64>, TheoryError> {
    let all = splits(height, arities)?;
    let spans: Vec<&PerArity<u128>> = all.values.iter().filter(|splits| splits.nonzero().count() > 0).collect();
    Ok(arities.iter().map(|arity| (arity, median(spans.iter().map(|splits| splits[arity]).collect()))).collect())
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<u128>) -> f64 {
    values.sort_unstable();
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    (low + high) as f64 / 2.0
}
