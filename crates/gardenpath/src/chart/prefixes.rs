//! Sums over prefixes of rules: what makes the recursion cubic in the length of a sentence, for any number of children.
//!
//! Reading a rule's children from left to right, all splits of a part of the sentence into the children of one prefix are summed before
//! the next child is read. The last child of the longest rules is different: where cells are full, the sums over all rules that it can
//! complete are computed once and serve all cells in which it may stand.

use super::{Level, LevelCells};
use crate::grammar::{Automaton, Layer, State, Symbol};
use crate::semiring::Semiring;
use std::ops::Range;

/// A shorter part and a cell after it: (their width together, the shorter part, the cell).
type Join = (u32, u32, u32);

/// What a block is made of besides its last cell: single cells, or blocks of one child less.
pub(crate) trait Parts<S> {
    /// Calls `visit` with the width and the number of every part that begins at `start`.
    fn for_each(&self, start: usize, visit: impl FnMut(u32, u32));
    /// What says how a part was read: a prefix, or a single symbol.
    type Prefix: Copy;
    /// Calls `visit` with every prefix that a part can be read as, with its value and its place among all of the parts' values.
    fn for_each_prefix(&self, part: u32, visit: impl FnMut(Self::Prefix, &S, usize));
    /// The state after one more symbol.
    fn next(automaton: &Automaton, prefix: Self::Prefix, symbol: Symbol) -> Option<State>;
}

/// The cells of a level are prefixes of one child.
impl<S: Semiring> Parts<S> for Level<S> {
    type Prefix = Symbol;

    #[inline]
    fn for_each(&self, start: usize, mut visit: impl FnMut(u32, u32)) {
        self.filled(start).iter().for_each(|cell| visit(cell.span, cell.cell));
    }

    #[inline]
    fn for_each_prefix(&self, part: u32, mut visit: impl FnMut(Symbol, &S, usize)) {
        let range = self.range(part);
        range.clone().zip(&self.entries()[range]).for_each(|(entry, (symbol, value))| visit(*symbol, value, entry));
    }

    #[inline]
    fn next(automaton: &Automaton, first: Symbol, symbol: Symbol) -> Option<State> {
        automaton.pair(first, symbol)
    }
}

/// The parts of the sentence, from a start on, that can be read as prefixes of one length, and the sums over their splits.
pub(crate) struct Prefixes<S> {
    /// Sorted by width; those of equal width are a block.
    joins: Vec<Join>,
    blocks: Vec<Block>,
    sums: Vec<(State, S)>,
    /// The first state of this length.
    base: State,
    /// The position of each state of this length in the sums of the current block plus one, or 0.
    slots: Vec<u32>,
}

/// A part of the sentence.
#[derive(Clone, Debug)]
struct Block {
    width: u32,
    joins: Range<u32>,
    sums: Range<u32>,
}

impl Block {
    #[inline]
    fn joins(&self) -> Range<usize> {
        self.joins.start as usize..self.joins.end as usize
    }
}

impl<S> Default for Prefixes<S> {
    fn default() -> Self {
        Prefixes { joins: Vec::new(), blocks: Vec::new(), sums: Vec::new(), base: 0, slots: Vec::new() }
    }
}

impl<S: Semiring> Parts<S> for Prefixes<S> {
    type Prefix = State;

    fn for_each(&self, _: usize, mut visit: impl FnMut(u32, u32)) {
        self.blocks.iter().zip(0..).for_each(|(block, k)| visit(block.width, k));
    }

    fn for_each_prefix(&self, part: u32, mut visit: impl FnMut(State, &S, usize)) {
        let range = self.range(part as usize);
        range.clone().zip(&self.sums[range]).for_each(|(place, (state, value))| visit(*state, value, place));
    }

    fn next(automaton: &Automaton, state: State, symbol: Symbol) -> Option<State> {
        automaton.next(state, symbol)
    }
}

impl<S: Semiring> Prefixes<S> {
    /// Finds the blocks that begin at `start`: all `parts` with a cell after them. `states` are those of their length.
    pub fn join(&mut self, parts: &impl Parts<S>, below: &Level<S>, start: usize, states: Range<State>) {
        let Prefixes { joins, blocks, .. } = self;
        joins.clear();
        parts.for_each(start, |width, part| {
            for last in below.filled(start + width as usize) {
                joins.push((width + last.span, part, last.cell));
            }
        });
        if !joins.is_sorted_by_key(|join| join.0) {
            joins.sort_by_key(|join| join.0);
        }
        blocks.clear();
        let mut first = 0;
        for own in joins.chunk_by(|x, y| x.0 == y.0) {
            let end = first + own.len() as u32;
            blocks.push(Block { width: own[0].0, joins: first..end, sums: 0..0 });
            first = end;
        }
        self.sums.clear();
        self.base = states.start;
        if self.slots.len() < states.len() {
            self.slots.resize(states.len(), 0);
        }
    }

    /// Sums over the splits of a block. The sums of the blocks before it are forgotten, unless they are to be kept.
    #[inline]
    pub fn sum<P: Parts<S>>(
        &mut self,
        block: usize,
        parts: &P,
        automaton: &Automaton,
        below: &Level<S>,
        keep: bool,
    ) -> &[(State, S)] {
        let Prefixes { joins, blocks, sums, base, slots } = self;
        if !keep {
            sums.clear();
        }
        let first = sums.len();
        for &(_, part, cell) in &joins[blocks[block].joins()] {
            let last = below.cell(cell);
            parts.for_each_prefix(part, |state, x, _| {
                for &(symbol, ref y) in last {
                    if let Some(next) = P::next(automaton, state, symbol) {
                        let slot = &mut slots[(next - *base) as usize];
                        let value = x.mul(y);
                        if *slot == 0 {
                            sums.push((next, value));
                            *slot = (sums.len() - first) as u32;
                        } else {
                            sums[first + *slot as usize - 1].1.add(value);
                        }
                    }
                }
            });
        }
        for (state, _) in &sums[first..] {
            slots[(state - *base) as usize] = 0;
        }
        blocks[block].sums = first as u32..sums.len() as u32;
        &self.sums[first..]
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The number of tokens of a block.
    #[inline]
    pub fn width(&self, block: usize) -> usize {
        self.blocks[block].width as usize
    }

    /// Where the sums of a block stand among those of all blocks that were kept.
    pub fn range(&self, block: usize) -> Range<usize> {
        let Range { start, end } = self.blocks[block].sums;
        start as usize..end as usize
    }

    /// The sums of all blocks that were kept.
    pub fn sums(&self) -> &[(State, S)] {
        &self.sums
    }

    /// Calls `visit` with every pair of a prefix and a last child in the splits of a block: the place of the prefix among those of the
    /// parts, the entry of the last child, and the place of what they make among the sums.
    pub fn for_each_split<P: Parts<S>>(
        &mut self,
        block: usize,
        parts: &P,
        automaton: &Automaton,
        below: &Level<S>,
        mut visit: impl FnMut(usize, &S, usize, usize),
    ) {
        let range = self.range(block);
        let Prefixes { joins, blocks, sums, base, slots } = self;
        let place = |state: State| (state - *base) as usize;
        range.clone().zip(&sums[range.clone()]).for_each(|(k, (state, _))| slots[place(*state)] = k as u32);
        for &(_, part, cell) in &joins[blocks[block].joins()] {
            parts.for_each_prefix(part, |state, x, prefix| {
                for entry in below.range(cell) {
                    if let Some(next) = P::next(automaton, state, below.entries()[entry].0) {
                        visit(prefix, x, entry, slots[place(next)] as usize);
                    }
                }
            });
        }
        sums[range.clone()].iter().for_each(|(state, _)| slots[place(*state)] = 0);
    }
}

/// The cells that can follow a block as last children of the longest rules, and the sums over the rules for each of their symbols:
/// `S(c, z)`, the value of all ways to begin a rule of `z` that ends with `c`.
pub(crate) struct LastChildren<S> {
    /// (offset of the parent's cell among those of the start, cell of the last child).
    pub cells: Vec<(u32, u32)>,
    symbols: usize,
    parents: usize,
    sums: Vec<S>,
}

impl<S> Default for LastChildren<S> {
    fn default() -> Self {
        LastChildren { cells: Vec::new(), symbols: 0, parents: 0, sums: Vec::new() }
    }
}

impl<S: Semiring> LastChildren<S> {
    /// Finds the cells after the block `start..start + width` that complete a used cell of the level above.
    pub fn collect(&mut self, above: &LevelCells, below: &Level<S>, start: usize, width: usize) {
        self.cells.clear();
        self.symbols = 0;
        for last in below.filled(start + width) {
            if let Some(offset) = above.used_offset(start, width + last.span as usize) {
                self.cells.push((offset, last.cell));
                self.symbols += below.cell(last.cell).len();
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Whether summing over the rules first is less work than looking up every combination of a prefix and a last child.
    pub fn factoring_pays(&self, prefixes: usize, layer: &Layer) -> bool {
        let (rules, parents) = (layer.automaton().rules_per_prefix(), layer.parents());
        prefixes * self.symbols > prefixes * rules + parents * layer.children() / 2 + parents * self.symbols
    }

    /// Computes the sums over the rules.
    pub fn sum_rules(&mut self, prefixes: &[(State, S)], layer: &Layer, weights: &[S]) {
        let automaton = layer.automaton();
        self.parents = layer.parents();
        self.sums.clear();
        self.sums.resize(layer.children() * self.parents, S::zero());
        for &(state, ref value) in prefixes {
            for next in automaton.extensions(state) {
                let row = usize::from(automaton.last(next)) * self.parents;
                for entry in automaton.entries_of(next) {
                    self.sums[row + usize::from(automaton.parent(entry))].add(value.mul(&weights[entry]));
                }
            }
        }
    }

    /// The sums `S(c, ·)` over all parents.
    pub fn sums(&self, c: Symbol) -> &[S] {
        &self.sums[usize::from(c) * self.parents..][..self.parents]
    }
}
