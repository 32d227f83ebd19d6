//! The cells of all sentences of a batch in one layout, and how each is made from those below.

use crate::splits::{Part, splits};
use gardenpath::Shape;
use std::collections::BTreeSet;

/// Consecutive tokens.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: usize,
    len: usize,
}

/// How the cells of one level are made from those of the level below.
///
/// A cell below enters in a role: as the left or the right of two parts, or the left, the middle or the right of three.
pub struct Transition {
    /// The number of roles.
    pub roles: usize,
    /// The number of cells below.
    pub below: usize,
    /// For each cell (row): in how many of its splits a cell below has a role (column `role * below + cell`).
    pub counts: Vec<f32>,
}

/// The transitions from tokens (last) to roots (first), for all sentences of up to `longest` tokens at once.
///
/// The cells of the first are whole sentences, by length; those below are the spans that some tree of one of them uses,
/// and at the bottom all tokens. A shorter sentence fills a part of the layout: its root never looks beyond its end.
pub fn transitions(shape: &Shape, longest: usize) -> Vec<Transition> {
    let roots = *shape.lengths().start()..=longest;
    let mut cells: Vec<Span> = roots.clone().map(|len| Span { start: 0, len }).collect();
    // A length between possible ones may be impossible, and so may be the parts of a split.
    let used = |level, Span { start, len }| roots.clone().any(|root| shape.reachable(level, root, start, len));
    let transition = |level| {
        let roles = shape.arities(level).iter().sum();
        let parts: Vec<_> = cells.iter().map(|&cell| parts(shape, level, cell)).collect();
        let below: BTreeSet<Span> = parts.iter().flatten().map(|&(_, part)| part).collect();
        cells = below.into_iter().filter(|&cell| used(level + 1, cell)).collect();
        let mut counts = vec![0.0; parts.len() * roles * cells.len()];
        for (row, parts) in counts.chunks_mut(roles * cells.len()).zip(parts) {
            for (role, part) in parts {
                if let Ok(cell) = cells.binary_search(&part) {
                    row[role * cells.len() + cell] += 1.0;
                }
            }
        }
        Transition { roles, below: cells.len(), counts }
    };
    (0..shape.depth()).map(transition).collect()
}

/// The parts of all splits of a span, each with its role.
fn parts(shape: &Shape, level: usize, span: Span) -> Vec<(usize, Span)> {
    let part = |Part { role, start, len }| (role, Span { start, len });
    splits(shape, level, span.start, span.len).into_iter().flatten().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::Arities;

    /// The number of splits into two and three of each cell.
    fn splits(level: &Transition) -> Vec<[f32; 2]> {
        let row = |row: &[f32]| [0, 2].map(|role| row[role * level.below..][..level.below].iter().sum::<f32>());
        level.counts.chunks(level.roles * level.below).map(row).collect()
    }

    /// By hand: 4 = 2+2, 5 = 2+3 = 3+2, 6 = 3+3 = 2+2+2, …, 9 = 3+3+3.
    #[test]
    fn two_levels() {
        let levels = transitions(&Shape::mixed(2), 9);
        let expected = [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 3.0], [0.0, 3.0], [0.0, 1.0]];
        assert_eq!(splits(&levels[0]), expected);
        assert_eq!(levels[1].below, 9);
    }

    /// A span of two tokens is one pair, and one of three is one triple.
    #[test]
    fn tokens() {
        let levels = transitions(&Shape::mixed(3), 20);
        assert_eq!(levels[2].below, 20);
        assert!(splits(&levels[2]).iter().all(|&splits| splits == [1.0, 0.0] || splits == [0.0, 1.0]));
    }

    /// Cells are those that some tree of a sentence of some length uses.
    #[test]
    fn cells_are_reachable() {
        let [two, three, both] = [Arities::from([2]), Arities::from([3]), Arities::PAPER];
        for layers in [vec![both; 3], vec![two, both, both], vec![both, three, both], vec![both, both, two]] {
            let shape = Shape::new(&layers);
            let (shortest, longest) = shape.lengths().into_inner();
            for (level, transition) in transitions(&shape, longest).iter().enumerate() {
                let spans = shape.spans(level + 1).flat_map(|span| (0..longest).map(move |start| (start, span)));
                let used = |&(start, span): &(usize, usize)| {
                    (shortest..=longest).any(|len| shape.reachable(level + 1, len, start, span))
                };
                assert_eq!(transition.below, spans.filter(used).count(), "{layers:?}, level {level}");
            }
        }
    }
}
