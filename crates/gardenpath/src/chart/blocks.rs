//! The two partial sums of the factored recursion: over the splits of two children, and over the rules of a third.

use super::parser::LayerWeights;
use super::{Level, LevelCells};
use crate::grammar::{Layer, Symbol};
use crate::semiring::Semiring;

/// Two adjacent cells: (their width together, first cell, second cell).
type Adjacent = (u32, u32, u32);

/// The adjacent pairs of cells that begin at one start, grouped into blocks of equal width, and the sums over a block:
/// `Q(a, b)`, the value of all ways to split the block into an `a` and a `b`.
pub(crate) struct Blocks<S> {
    adjacent: Vec<Adjacent>,
    /// Where each block begins among the adjacent pairs.
    first: Vec<u32>,
    children: usize,
    sums: Vec<(Symbol, Symbol, S)>,
    /// The position of the pair (a, b) in `sums` plus one, or 0.
    slots: Vec<u32>,
}

impl<S> Default for Blocks<S> {
    fn default() -> Self {
        Blocks { adjacent: Vec::new(), first: vec![0], children: 0, sums: Vec::new(), slots: Vec::new() }
    }
}

impl<S: Semiring> Blocks<S> {
    /// Finds all blocks that begin at `start`.
    pub fn collect(&mut self, below: &Level<S>, start: usize, children: usize) {
        self.adjacent.clear();
        for one in below.filled(start) {
            for two in below.filled(start + one.span as usize) {
                self.adjacent.push((one.span + two.span, one.cell, two.cell));
            }
        }
        if !self.adjacent.is_sorted_by_key(|pair| pair.0) {
            self.adjacent.sort_by_key(|pair| pair.0);
        }
        self.first.clear();
        let mut width = 0;
        for (k, pair) in self.adjacent.iter().enumerate() {
            if pair.0 != width {
                width = pair.0;
                self.first.push(k as u32);
            }
        }
        self.first.push(self.adjacent.len() as u32);
        if self.children != children {
            self.clear_sums();
            self.children = children;
            self.slots.clear();
            self.slots.resize(children * children, 0);
        }
    }

    /// The number of blocks of the last start that was collected.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// The adjacent pairs of a block.
    pub fn adjacent(&self, block: usize) -> &[Adjacent] {
        &self.adjacent[self.first[block] as usize..self.first[block + 1] as usize]
    }

    /// The number of tokens of a block.
    #[inline]
    pub fn width(&self, block: usize) -> usize {
        self.adjacent[self.first[block] as usize].0 as usize
    }

    /// Sums over the splits of a block.
    pub fn sum(&mut self, block: usize, below: &Level<S>) {
        let range = self.first[block] as usize..self.first[block + 1] as usize;
        self.clear_sums();
        for &(_, one, two) in &self.adjacent[range] {
            for &(a, ref x) in below.cell(one) {
                for &(b, ref y) in below.cell(two) {
                    let value = x.mul(y);
                    let slot = &mut self.slots[usize::from(a) * self.children + usize::from(b)];
                    if *slot == 0 {
                        self.sums.push((a, b, value));
                        *slot = self.sums.len() as u32;
                    } else {
                        self.sums[*slot as usize - 1].2.add(value);
                    }
                }
            }
        }
    }

    /// The non-zero sums `Q(a, b)` of the last block that was summed.
    #[inline]
    pub fn pairs(&self) -> &[(Symbol, Symbol, S)] {
        &self.sums
    }

    /// Where the pair (a, b) stands among the sums.
    #[inline]
    pub fn position(&self, a: Symbol, b: Symbol) -> usize {
        self.slots[usize::from(a) * self.children + usize::from(b)] as usize - 1
    }

    fn clear_sums(&mut self) {
        for &(a, b, _) in &self.sums {
            self.slots[usize::from(a) * self.children + usize::from(b)] = 0;
        }
        self.sums.clear();
    }
}

/// The cells that can follow a block as third children, and the sums over the rules for each of their symbols:
/// `S(c, z)`, the value of all ways to begin a ternary rule of `z` that ends with `c`.
pub(crate) struct Thirds<S> {
    /// (offset of the parent's cell among those of the start, cell of the third child).
    pub cells: Vec<(u32, u32)>,
    symbols: usize,
    parents: usize,
    sums: Vec<S>,
}

impl<S> Default for Thirds<S> {
    fn default() -> Self {
        Thirds { cells: Vec::new(), symbols: 0, parents: 0, sums: Vec::new() }
    }
}

impl<S: Semiring> Thirds<S> {
    /// Finds the cells after the block `start..start + width` that complete a used cell of the level above.
    pub fn collect(&mut self, above: &LevelCells, below: &Level<S>, start: usize, width: usize) {
        self.cells.clear();
        self.symbols = 0;
        for third in below.filled(start + width) {
            if let Some(offset) = above.used_offset(start, width + third.span as usize) {
                self.cells.push((offset, third.cell));
                self.symbols += below.cell(third.cell).len();
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Whether summing over the rules first is less work than looking up every triple.
    pub fn factoring_pays(&self, pairs: usize, layer: &Layer) -> bool {
        let rules_per_pair = layer.triples().len().div_ceil(layer.children() * layer.children());
        let parents = layer.parents();
        pairs * self.symbols > pairs * rules_per_pair + parents * layer.children() / 2 + parents * self.symbols
    }

    /// Computes the sums over the rules.
    pub fn sum_rules(&mut self, pairs: &[(Symbol, Symbol, S)], layer: &Layer, weights: &LayerWeights<S>) {
        self.parents = layer.parents();
        self.sums.clear();
        self.sums.resize(layer.children() * self.parents, S::zero());
        for &(a, b, ref value) in pairs {
            let prefix = usize::from(a) * layer.children() + usize::from(b);
            for (c, entries) in layer.triples().with_prefix(prefix) {
                for entry in entries {
                    let position = usize::from(c) * self.parents + usize::from(layer.triples().parent(entry));
                    self.sums[position].add(value.mul(&weights.triples[entry]));
                }
            }
        }
    }

    /// The sums `S(c, ·)` over all parents.
    pub fn sums(&self, c: Symbol) -> &[S] {
        &self.sums[usize::from(c) * self.parents..][..self.parents]
    }
}
