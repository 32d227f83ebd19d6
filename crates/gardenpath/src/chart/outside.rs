//! Outside values: the top-down pass.

use super::prefixes::{LastChildren, Parts, Prefixes};
use super::template::check_memory;
use super::uses::RuleUses;
use super::{Chart, Level, LevelCells, Parser};
use crate::error::Result;
use crate::grammar::{Layer, State, Symbol};
use crate::interrupt::checkpoint;
use crate::semiring::Semiring;
use crate::span::Node;

/// Outside values of a chart: the value of everything around a symbol on a span.
#[derive(Clone, Debug)]
pub struct Outside<S> {
    /// One value per entry of the chart's levels.
    pub(super) levels: Vec<Vec<S>>,
    /// Per layer, the uses of its rules: outside times inside.
    uses: Vec<RuleUses<S>>,
}

/// Outside values and what is needed to find them, reused from sentence to sentence.
pub(crate) struct OutsideBuffers<S> {
    outside: Outside<S>,
    scratch: ReverseScratch<S>,
}

impl<S: Semiring> Default for OutsideBuffers<S> {
    fn default() -> Self {
        let outside = Outside { levels: Vec::new(), uses: Vec::new() };
        let last = LastChildren::default();
        let (prefixes, around, of_sums, of_last) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        OutsideBuffers { outside, scratch: ReverseScratch { prefixes, last, around, of_sums, of_last } }
    }
}

/// What one layer needs on the way down.
struct ReverseScratch<S> {
    prefixes: Vec<Prefixes<S>>,
    last: LastChildren<S>,
    /// Outside values of the cells of one start: `[cell][symbol]`.
    around: Vec<S>,
    /// The derivatives of the sums over prefixes of each length from 2 on.
    of_sums: Vec<Vec<S>>,
    /// The derivatives of the sums over rules: `[last child][parent]`.
    of_last: Vec<S>,
}

impl<S: Semiring> Outside<S> {
    /// The outside value of a symbol on a span, if the chart has it.
    pub fn value(&self, chart: &Chart<S>, level: usize, Node { span, symbol }: Node) -> Option<&S> {
        let cell = chart.template().level(level).find(span.start, span.len)?;
        let entries = chart.level(level);
        let entry = entries.range(cell).find(|&entry| entries.entries()[entry].0 == symbol)?;
        Some(&self.levels[level][entry])
    }

    /// Where derivations use the rules of layer `level`: the rule, and the total value of these derivations.
    ///
    /// A rule that can be used in several places may stand here several times, and counts as their sum.
    pub fn rule_uses(&self, level: usize) -> &[(u32, S)] {
        self.uses[level].as_slice()
    }
}

impl<S: Semiring> Parser<'_, S> {
    /// Goes back down through a filled chart. `roots` are the values of the root symbols: the prior, or one for a label.
    ///
    /// This is reverse-mode differentiation of the inside recursion, at the same cost. It needs about as much memory as
    /// the chart; [`Parser::check_outside`] says in advance if that is too much.
    pub fn outside(&self, chart: &Chart<S>, roots: &[S]) -> Outside<S> {
        let mut buffers = OutsideBuffers::default();
        self.outside_with(&mut buffers, chart, roots);
        buffers.outside
    }

    /// Like [`Outside::new`], but reuses buffers: much faster for many short sentences.
    pub(crate) fn outside_with<'b>(
        &self,
        buffers: &'b mut OutsideBuffers<S>,
        chart: &Chart<S>,
        roots: &[S],
    ) -> &'b Outside<S> {
        let depth = self.grammar().depth();
        let OutsideBuffers { outside, scratch } = buffers;
        outside.levels.resize_with(depth + 1, Vec::new);
        outside.uses.resize_with(depth, || RuleUses::new(0));
        outside.levels[0].clear();
        outside.levels[0].extend(chart.root_entries().iter().map(|(root, _)| roots[usize::from(*root)].clone()));
        for level in 0..depth {
            self.outside_layer(chart, scratch, level, outside);
        }
        outside
    }

    /// Rejects a chart that would not fit together with its outside values.
    pub fn check_outside(&self, chart: &Chart<S>) -> Result<()> {
        check_memory(chart.len(), chart.bytes() + chart.entries() * size_of::<S>() as u64)
    }

    /// The outside values of level `level + 1` and the uses of the rules of layer `level`.
    fn outside_layer(&self, chart: &Chart<S>, scratch: &mut ReverseScratch<S>, level: usize, outside: &mut Outside<S>) {
        let (layer, cells, below) =
            (self.grammar().layer(level), chart.template().level(level), chart.level(level + 1));
        let ReverseScratch { prefixes, last, around, of_sums, of_last } = scratch;
        let automaton = layer.automaton();
        let lengths = automaton.inner_lengths();
        if prefixes.len() < lengths.len() {
            prefixes.resize_with(lengths.len(), Prefixes::default);
            of_sums.resize_with(lengths.len(), Vec::new);
        }
        let [above, outer, ..] = &mut outside.levels[level..] else {
            unreachable!("there is a level below each layer")
        };
        outer.clear();
        outer.resize(below.entries().len(), S::zero());
        let uses = &mut outside.uses[level];
        uses.clear(layer.rules().len());
        let weights = self.weights(level);
        let mut reverse =
            Reverse { layer, weights, cells, below, start: 0, around, outside: outer, of_sums, of_last, uses };
        let above_tokens = level + 1 == self.grammar().depth() && chart.has_tokens;
        for start in 0..cells.starts() {
            // Only long sentences check for an interrupt: short ones finish at once.
            if start % 16 == 15 {
                checkpoint();
            }
            if !reverse.open(start, chart.level(level), above) {
                continue;
            }
            if above_tokens {
                reverse.tokens(chart.level(level));
                continue;
            }
            if automaton.has_unary() {
                reverse.single_children();
            }
            // All sums over prefixes again, then their derivatives from the longest to the shortest.
            for length in lengths.clone() {
                match prefixes.split_at_mut(length - 2) {
                    ([.., shorter], [own, ..]) => reverse.sum(own, shorter, length),
                    (_, [own, ..]) => reverse.sum(own, below, length),
                    _ => {}
                }
            }
            for length in lengths.clone().rev() {
                match prefixes.split_at_mut(length - 2) {
                    ([.., shorter], [own, ..]) => reverse.differentiate(own, shorter, length, last),
                    (_, [own, ..]) => reverse.differentiate(own, below, length, last),
                    _ => {}
                }
            }
        }
    }
}

/// One layer of the way down.
struct Reverse<'r, S> {
    layer: &'r Layer,
    weights: &'r [S],
    cells: &'r LevelCells,
    below: &'r Level<S>,
    start: usize,
    around: &'r mut Vec<S>,
    /// Outside values of the entries of the level below.
    outside: &'r mut [S],
    of_sums: &'r mut [Vec<S>],
    of_last: &'r mut Vec<S>,
    uses: &'r mut RuleUses<S>,
}

impl<S: Semiring> Reverse<'_, S> {
    /// Turns to the cells of another start, whose entries have the outside values `outer`, and tells whether any of them is not zero:
    /// most candidates of a chart are part of no derivation of the whole sentence.
    fn open(&mut self, start: usize, level: &Level<S>, outer: &[S]) -> bool {
        self.start = start;
        let parents = self.layer.parents();
        let mut any = false;
        for filled in level.filled(start) {
            let offset = filled.cell as usize - self.cells.first(start);
            for entry in level.range(filled.cell).filter(|&entry| !outer[entry].is_zero()) {
                if !any {
                    self.around.clear();
                    self.around.resize(self.cells.count(start) * parents, S::zero());
                    any = true;
                }
                self.around[offset * parents + usize::from(level.entries()[entry].0)] = outer[entry].clone();
            }
        }
        any
    }

    /// Above tokens a cell is one tuple, and one look-up.
    fn tokens(&mut self, level: &Level<S>) {
        let tokens = &self.below.entries()[self.start..];
        for filled in level.filled(self.start) {
            let (offset, span) = (filled.cell as usize - self.cells.first(self.start), filled.span as usize);
            let read = |state, (token, _): &(Symbol, S)| self.layer.automaton().next(state, *token);
            let state = tokens[..span].iter().try_fold(0, read).expect("what fills a cell is a right-hand side");
            let derivative = self.complete(offset as u32, state, &S::one());
            self.outside[self.start..][..span].iter_mut().for_each(|outside| outside.add(derivative.clone()));
        }
    }

    /// The derivative of what was read as `state` with this value, by the rules that it completes in a cell.
    fn complete(&mut self, offset: u32, state: State, value: &S) -> S {
        let automaton = self.layer.automaton();
        let around = &self.around[offset as usize * self.layer.parents()..];
        let mut derivative = S::zero();
        for entry in automaton.entries_of(state) {
            let outer = around[usize::from(automaton.parent(entry))].mul(&self.weights[entry]);
            if !outer.is_zero() {
                self.uses.push(automaton.rule(entry), outer.mul(value));
                derivative.add(outer);
            }
        }
        derivative
    }

    /// Rules of one child.
    fn single_children(&mut self) {
        let below = self.below;
        for filled in below.filled(self.start) {
            let Some(offset) = self.cells.used_offset(self.start, filled.span as usize) else { continue };
            for entry in below.range(filled.cell) {
                let (symbol, ref value) = below.entries()[entry];
                if let Some(state) = self.layer.automaton().next(0, symbol) {
                    let derivative = self.complete(offset, state, value);
                    self.outside[entry].add(derivative);
                }
            }
        }
    }

    /// Sums over prefixes of `length` children.
    fn sum(&mut self, prefixes: &mut Prefixes<S>, parts: &impl Parts<S>, length: usize) {
        let automaton = self.layer.automaton();
        prefixes.join(parts, self.below, self.start, automaton.of_length(length));
        for block in 0..prefixes.len() {
            prefixes.sum(block, parts, automaton, self.below, true);
        }
        let of_sums = &mut self.of_sums[length - 2];
        of_sums.clear();
        of_sums.resize(prefixes.sums().len(), S::zero());
    }

    /// The derivatives of the sums over prefixes of `length` children, and from them those of what they were made of.
    fn differentiate(
        &mut self,
        prefixes: &mut Prefixes<S>,
        parts: &impl Parts<S>,
        length: usize,
        last: &mut LastChildren<S>,
    ) {
        let (automaton, below) = (self.layer.automaton(), self.below);
        let mut of_sums = std::mem::take(&mut self.of_sums[length - 2]);
        for block in 0..prefixes.len() {
            let (width, range) = (prefixes.width(block), prefixes.range(block));
            let (values, derivatives) = (&prefixes.sums()[range.clone()], &mut of_sums[range]);
            if let Some(offset) = self.cells.used_offset(self.start, width) {
                for ((state, value), derivative) in values.iter().zip(derivatives.iter_mut()) {
                    derivative.add(self.complete(offset, *state, value));
                }
            }
            if length + 1 == automaton.longest() {
                last.collect(self.cells, below, self.start, width);
                if !last.is_empty() {
                    self.last_children(values, derivatives, last);
                }
            }
            let (outside, shorter) = match length {
                2 => (&mut *self.outside, None),
                _ => (&mut *self.outside, Some(&mut self.of_sums[length - 3])),
            };
            let mut shorter = shorter;
            prefixes.for_each_split(block, parts, automaton, below, |prefix, value, entry, sum| {
                let derivative = &of_sums[sum];
                if !derivative.is_zero() {
                    outside[entry].add(derivative.mul(value));
                    let own = derivative.mul(&below.entries()[entry].1);
                    match &mut shorter {
                        None => outside[prefix].add(own),
                        Some(shorter) => shorter[prefix].add(own),
                    }
                }
            });
        }
        self.of_sums[length - 2] = of_sums;
    }

    /// The last children of the longest rules, after the prefixes of one block.
    fn last_children(&mut self, values: &[(State, S)], derivatives: &mut [S], last: &mut LastChildren<S>) {
        let (automaton, below, parents) = (self.layer.automaton(), self.below, self.layer.parents());
        if !last.factoring_pays(values.len(), self.layer) {
            for &(offset, cell) in &last.cells {
                for entry in below.range(cell) {
                    let (c, ref child) = below.entries()[entry];
                    for ((state, value), derivative) in values.iter().zip(derivatives.iter_mut()) {
                        if let Some(next) = automaton.next(*state, c) {
                            let outer = self.complete(offset, next, &value.mul(child));
                            if !outer.is_zero() {
                                self.outside[entry].add(outer.mul(value));
                                derivative.add(outer.mul(child));
                            }
                        }
                    }
                }
            }
            return;
        }
        last.sum_rules(values, self.layer, self.weights);
        self.of_last.clear();
        self.of_last.resize(self.layer.children() * parents, S::zero());
        for &(offset, cell) in &last.cells {
            let around = &self.around[offset as usize * parents..][..parents];
            for entry in below.range(cell) {
                let (c, ref child) = below.entries()[entry];
                let of_last = &mut self.of_last[usize::from(c) * parents..][..parents];
                for ((outer, sum), derivative) in around.iter().zip(last.sums(c)).zip(of_last) {
                    if !outer.is_zero() {
                        self.outside[entry].add(outer.mul(sum));
                        derivative.add(outer.mul(child));
                    }
                }
            }
        }
        for ((state, value), derivative) in values.iter().zip(derivatives) {
            for next in automaton.extensions(*state) {
                let of_last = &self.of_last[usize::from(automaton.last(next)) * parents..][..parents];
                for entry in automaton.entries_of(next) {
                    let outer = of_last[usize::from(automaton.parent(entry))].mul(&self.weights[entry]);
                    if !outer.is_zero() {
                        self.uses.push(automaton.rule(entry), outer.mul(value));
                        derivative.add(outer);
                    }
                }
            }
        }
    }
}
