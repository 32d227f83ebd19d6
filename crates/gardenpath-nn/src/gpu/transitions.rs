//! The cells of all sentences of a batch in one layout, and how each is made from those below.

use crate::cells::parts;
use crate::error::Result;
use crate::network::Normalization;
use gardenpath::{Shape, Span, Template, memory};
use std::collections::BTreeSet;

/// How the cells of one level are made from those of the level below.
///
/// A cell below enters in a role: as the left or the right of two parts, or the left, the middle or the right of three, and so on.
pub struct Transition {
    /// The number of roles.
    pub roles: usize,
    /// The number of cells below.
    pub below: usize,
    /// For each cell (row): in how many of its splits a cell below has a role (column `role * below + cell`), normalized.
    pub counts: Vec<f32>,
}

/// The transitions from tokens (last) to roots (first), for all sentences of up to `longest` tokens at once.
///
/// The cells of the first are whole sentences, of all lengths from the shortest on; those below are the spans that some tree of one of them uses,
/// and at the bottom all tokens. A shorter sentence fills a part of the layout: its root never looks beyond its end.
pub fn transitions(shape: &Shape, longest: usize, normalization: Normalization) -> Result<Vec<Transition>> {
    let mut cells: Vec<BTreeSet<Span>> = vec![BTreeSet::new(); shape.depth() + 1];
    for len in shape.lengths().take_while(|&len| len <= longest) {
        Template::check_size(shape, &vec![1; shape.depth() + 1], len, size_of::<Span>())?;
        let template = Template::new(shape, len);
        cells.iter_mut().enumerate().for_each(|(level, cells)| cells.extend(template.cells(level)));
        // A length that no sentence has is a cell without splits.
        cells[0].insert(Span::new(0, len));
    }
    let cells: Vec<Vec<Span>> = cells.into_iter().map(|cells| cells.into_iter().collect()).collect();
    let template = Template::new(shape, longest);
    let transition = |level: usize| {
        let (targets, below) = (&cells[level], &cells[level + 1]);
        let roles = shape.arities(level).iter().sum::<usize>();
        let bytes = targets.len() as u128 * (roles * below.len() * size_of::<f32>()) as u128;
        memory::check(format_args!("an inside network for {longest} tokens"), bytes)?;
        let mut counts = vec![0.0; targets.len() * roles * below.len()];
        for (row, &cell) in counts.chunks_mut(roles * below.len()).zip(targets) {
            for part in parts(&template, level, cell, normalization) {
                let child = below.binary_search(&part.span).expect("the parts of a cell are cells");
                row[part.role as usize * below.len() + child] += part.times;
            }
        }
        Ok(Transition { roles, below: below.len(), counts })
    };
    (0..shape.depth()).map(transition).collect()
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
        let levels = transitions(&Shape::mixed(2), 9, Normalization::FanIn).unwrap();
        let expected = [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 3.0], [0.0, 3.0], [0.0, 1.0]];
        assert_eq!(splits(&levels[0]), expected);
        assert_eq!(levels[1].below, 9);
    }

    /// A span of two tokens is one pair, and one of three is one triple.
    #[test]
    fn tokens() {
        let levels = transitions(&Shape::mixed(3), 20, Normalization::FanIn).unwrap();
        assert_eq!(levels[2].below, 20);
        assert!(splits(&levels[2]).iter().all(|&splits| splits == [1.0, 0.0] || splits == [0.0, 1.0]));
    }

    /// Cells are those that some tree of a sentence of some length uses.
    #[test]
    fn cells_are_reachable() {
        let [two, three, both] = [Arities::from([2]), Arities::from([3]), Arities::PAPER];
        let mixes = [vec![both; 3], vec![two, both, both], vec![both, three, both], vec![both, both, two]];
        let others = [vec![Arities::from([1, 4]), both], vec![Arities::from([2, 8]), Arities::from([1, 3])]];
        for layers in mixes.into_iter().chain(others) {
            let shape = Shape::new(&layers);
            let (shortest, longest) = shape.lengths().into_inner();
            for (level, transition) in transitions(&shape, longest, Normalization::FanIn).unwrap().iter().enumerate() {
                let spans = shape.spans(level + 1).flat_map(|span| (0..longest).map(move |start| (start, span)));
                let used = |&(start, span): &(usize, usize)| {
                    (shortest..=longest)
                        .any(|len| shape.has_length(len) && shape.reachable(level + 1, len, start, span))
                };
                assert_eq!(transition.below, spans.filter(used).count(), "{layers:?}, level {level}");
            }
        }
    }

    /// Eight parts of two to eight tokens: the ways to cut 32 tokens are counted, not listed.
    #[test]
    fn many_parts() {
        let shape = Shape::new(&[Arities::from([8]), (2..=8).collect()]);
        let levels = transitions(&shape, 32, Normalization::FanIn).unwrap();
        let root = levels[0].counts.chunks(levels[0].roles * levels[0].below).last().unwrap();
        for role in root.chunks(levels[0].below) {
            assert_eq!(role.iter().sum::<f32>(), 154_645.0);
        }
    }
}
