//! The spans of a sentence that can be nodes of its tree, and the ways to split them.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// The parts of all splits: left and right of two; left, middle and right of three.
pub(super) const PARTS: usize = 5;

/// Consecutive tokens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: usize,
    length: usize,
}

/// How the cells of one level are made from those of the level below.
pub(super) struct Transition {
    /// The number of cells below.
    pub below: usize,
    /// In how many splits of a cell (row) a cell below is a certain part (column `part * below + cell`).
    pub counts: Vec<f32>,
}

/// The transitions from tokens (last) to roots (first), for all sentences of up to `longest` tokens at once.
///
/// The cells of the first are whole sentences, by length; those below are the spans that some tree of one of them uses,
/// and at the bottom all tokens. A shorter sentence fills a part of the layout: its root never looks beyond its end.
pub(super) fn transitions(depth: usize, longest: usize) -> Vec<Transition> {
    let lengths = |level: usize| {
        let height = (depth - level) as u32;
        2_usize.pow(height)..=3_usize.pow(height)
    };
    let mut cells = (*lengths(0).start()..=longest).map(|length| Span { start: 0, length }).collect::<Vec<_>>();
    (0..depth)
        .map(|level| {
            let parts = cells.iter().map(|&cell| parts(cell, lengths(level + 1))).collect::<Vec<_>>();
            let below = parts.iter().flatten().map(|&(_, span)| span).collect::<BTreeSet<_>>();
            let below = below.into_iter().collect::<Vec<_>>();
            let mut counts = vec![0.0; cells.len() * PARTS * below.len()];
            for (row, parts) in counts.chunks_mut(PARTS * below.len()).zip(parts) {
                for (part, span) in parts {
                    let cell = below.binary_search(&span).expect("all parts are below");
                    row[part * below.len() + cell] += 1.0;
                }
            }
            let transition = Transition { below: below.len(), counts };
            cells = below;
            transition
        })
        .collect()
}

/// The parts of all splits of a span into two or three of these lengths, with which part each is.
fn parts(span: Span, lengths: RangeInclusive<usize>) -> Vec<(usize, Span)> {
    let end = span.start + span.length;
    let cut = |from: usize, to: usize| {
        let length = to.checked_sub(from).filter(|length| lengths.contains(length))?;
        Some(Span { start: from, length })
    };
    let mut parts = Vec::new();
    for first in lengths.clone().map(|length| span.start + length) {
        if let (Some(left), Some(right)) = (cut(span.start, first), cut(first, end)) {
            parts.extend([(0, left), (1, right)]);
        }
        for second in lengths.clone().map(|length| first + length) {
            if let (Some(left), Some(middle), Some(right)) =
                (cut(span.start, first), cut(first, second), cut(second, end))
            {
                parts.extend([(2, left), (3, middle), (4, right)]);
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 4 = 2+2, 5 = 2+3 = 3+2, 6 = 3+3 = 2+2+2, …, 9 = 3+3+3.
    #[test]
    fn two_levels() {
        let [roots, pairs] = transitions(2, 9).try_into().ok().expect("two levels");
        assert_eq!(pairs.below, 9);
        assert_eq!(pairs.counts.len(), roots.below * PARTS * pairs.below);
        let splits = |row: &[f32]| [0, 2].map(|part| row[part * roots.below..][..roots.below].iter().sum::<f32>());
        let expected = [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 3.0], [0.0, 3.0], [0.0, 1.0]];
        assert!(roots.counts.chunks(PARTS * roots.below).map(splits).eq(expected));
    }

    /// A span of two tokens has two parts, and one of three has three.
    #[test]
    fn tokens() {
        let level = transitions(3, 20).pop().expect("three levels");
        assert_eq!(level.below, 20);
        for row in level.counts.chunks(PARTS * level.below) {
            let (two, three) = row.split_at(2 * level.below);
            let sums = (two.iter().sum::<f32>(), three.iter().sum::<f32>());
            assert!(sums == (2.0, 0.0) || sums == (0.0, 3.0), "{sums:?}");
        }
    }
}
