//! The way down: outside values, and from them the marginals of spans and rules.

use super::cells::check_memory;
use super::uses::RuleUses;
use super::{Chart, Parser, Scratch};
use crate::error::Result;
use crate::grammar::Symbol;
use crate::interrupt::checkpoint;
use crate::magnitude::Magnitude;
use crate::semiring::Semiring;

/// Outside values of a chart: the value of everything around a symbol on a span.
#[derive(Clone, Debug)]
pub struct Outside<S> {
    /// One value per entry of the chart's levels.
    levels: Vec<Vec<S>>,
    /// Per layer, the uses of its rules: outside times inside.
    uses: Vec<RuleUses<S>>,
}

impl<S: Semiring> Outside<S> {
    /// The outside value of a symbol on a span, if the chart has it.
    pub fn value(&self, chart: &Chart<S>, level: usize, start: usize, span: usize, symbol: Symbol) -> Option<&S> {
        let cell = chart.template().level(level).find(start, span)?;
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
    /// This is the derivative of the inside recursion, step by step in reverse, and as cheap. It needs about as much memory as
    /// the chart; [`Parser::check_outside`] says in advance if that is too much.
    pub fn outside(&self, chart: &Chart<S>, roots: &[S]) -> Outside<S> {
        let depth = self.grammar().depth();
        let mut outside = Outside { levels: Vec::with_capacity(depth + 1), uses: Vec::with_capacity(depth) };
        outside.levels.push(chart.root_entries().iter().map(|(root, _)| roots[usize::from(*root)].clone()).collect());
        let mut scratch = Scratch::default();
        for level in 0..depth {
            let (below, uses) = self.outside_layer(chart, &mut scratch, level, &outside.levels[level]);
            outside.levels.push(below);
            outside.uses.push(uses);
        }
        outside
    }

    /// Refuses a chart that would not fit together with its outside values.
    pub fn check_outside(&self, chart: &Chart<S>) -> Result<()> {
        check_memory(chart.len(), chart.bytes() + chart.entries() * size_of::<S>() as u64)
    }

    /// The outside values of level `level + 1` and the uses of the rules of layer `level`.
    fn outside_layer(
        &self,
        chart: &Chart<S>,
        scratch: &mut Scratch<S>,
        level: usize,
        above: &[S],
    ) -> (Vec<S>, RuleUses<S>) {
        let (layer, weights) = (self.grammar().layer(level), self.weights(level));
        let (cells, parents, children) = (chart.template().level(level), layer.parents(), layer.children());
        let below = chart.level(level + 1);
        let mut outside = vec![S::zero(); below.entries().len()];
        let mut uses = RuleUses::new(layer.rules().len());
        let Scratch { blocks, thirds, .. } = scratch;
        // Outside values of the cells of one start: [cell][symbol].
        let mut around: Vec<S> = Vec::new();
        // The derivative of each pair of a block, and of each (third child, parent).
        let (mut of_pair, mut of_third): (Vec<S>, Vec<S>) = (Vec::new(), Vec::new());
        for start in 0..cells.starts() {
            // Short sentences are done before anybody waits.
            if start % 16 == 15 {
                checkpoint();
            }
            around.clear();
            around.resize(cells.count(start) * parents, S::zero());
            for filled in chart.level(level).filled(start) {
                let offset = filled.cell as usize - cells.first(start);
                for entry in chart.level(level).range(filled.cell) {
                    let symbol = usize::from(chart.level(level).entries()[entry].0);
                    around[offset * parents + symbol] = above[entry].clone();
                }
            }
            blocks.collect(below, start, children);
            for block in 0..blocks.len() {
                blocks.sum(block, below);
                let (width, pairs) = (blocks.width(block), blocks.pairs());
                of_pair.clear();
                of_pair.resize(pairs.len(), S::zero());
                if let Some(offset) = cells.used_offset(start, width) {
                    let around = &around[offset as usize * parents..][..parents];
                    for (&(a, b, ref value), derivative) in pairs.iter().zip(&mut of_pair) {
                        for entry in layer.pairs().find(usize::from(a), b) {
                            let outer = around[usize::from(layer.pairs().parent(entry))].mul(&weights.pairs[entry]);
                            if !outer.is_zero() {
                                uses.push(layer.pairs().rule(entry), outer.mul(value));
                                derivative.add(outer);
                            }
                        }
                    }
                }
                thirds.collect(cells, below, start, width);
                if !layer.triples().is_empty() && !thirds.is_empty() {
                    let prefix = |a: Symbol, b: Symbol| usize::from(a) * children + usize::from(b);
                    if thirds.factoring_pays(pairs.len(), layer) {
                        thirds.sum_rules(pairs, layer, weights);
                        of_third.clear();
                        of_third.resize(children * parents, S::zero());
                        for &(offset, cell) in &thirds.cells {
                            let around = &around[offset as usize * parents..][..parents];
                            for entry in below.range(cell) {
                                let (c, ref third) = below.entries()[entry];
                                let of_third = &mut of_third[usize::from(c) * parents..][..parents];
                                for ((outer, sum), derivative) in around.iter().zip(thirds.sums(c)).zip(of_third) {
                                    if !outer.is_zero() {
                                        outside[entry].add(outer.mul(sum));
                                        derivative.add(outer.mul(third));
                                    }
                                }
                            }
                        }
                        for (&(a, b, ref value), derivative) in pairs.iter().zip(&mut of_pair) {
                            for (c, entries) in layer.triples().with_prefix(prefix(a, b)) {
                                for entry in entries {
                                    let parent = usize::from(layer.triples().parent(entry));
                                    let outer =
                                        of_third[usize::from(c) * parents + parent].mul(&weights.triples[entry]);
                                    if !outer.is_zero() {
                                        uses.push(layer.triples().rule(entry), outer.mul(value));
                                        derivative.add(outer);
                                    }
                                }
                            }
                        }
                    } else {
                        for &(offset, cell) in &thirds.cells {
                            let around = &around[offset as usize * parents..][..parents];
                            for third_entry in below.range(cell) {
                                let (c, ref third) = below.entries()[third_entry];
                                for (&(a, b, ref value), derivative) in pairs.iter().zip(&mut of_pair) {
                                    for entry in layer.triples().find(prefix(a, b), c) {
                                        let parent = usize::from(layer.triples().parent(entry));
                                        let outer = around[parent].mul(&weights.triples[entry]);
                                        if outer.is_zero() {
                                            continue;
                                        }
                                        let inner = outer.mul(value);
                                        uses.push(layer.triples().rule(entry), inner.mul(third));
                                        outside[third_entry].add(inner);
                                        derivative.add(outer.mul(third));
                                    }
                                }
                            }
                        }
                    }
                }
                for &(_, one, two) in blocks.adjacent(block) {
                    for first in below.range(one) {
                        let (a, ref x) = below.entries()[first];
                        for second in below.range(two) {
                            let (b, ref y) = below.entries()[second];
                            let derivative = &of_pair[blocks.position(a, b)];
                            outside[first].add(derivative.mul(y));
                            outside[second].add(derivative.mul(x));
                        }
                    }
                }
            }
        }
        (outside, uses)
    }
}

/// A symbol on a span: (start, number of tokens, symbol, probability that the derivation has it).
type SpanMarginal = (usize, usize, Symbol, f64);

/// The posterior probabilities of spans and rules given the sentence.
#[derive(Clone, Debug)]
pub struct Marginals {
    /// `spans[level]`: (start, number of tokens, symbol, probability that the derivation has it).
    pub spans: Vec<Vec<SpanMarginal>>,
    /// `rules[level][rule]`: how often the derivation is expected to use the rule.
    pub rules: Vec<Vec<f64>>,
}

impl Parser<'_, Magnitude> {
    /// The marginals of a chart under the grammar's prior, or `None` if the sentence is impossible.
    ///
    /// A chart that would not fit into memory together with its outside values and marginals is refused.
    ///
    /// ```
    /// use gardenpath::{Ensemble, Parser, Magnitude, Seed};
    ///
    /// let grammar = Ensemble::new(3, 2).fraction(1.0).sample(Seed::new(1))?;
    /// let parser = Parser::<Magnitude>::new(&grammar);
    /// let marginals = parser.marginals(&parser.parse(&[0, 1, 2, 0, 1])?)?.unwrap();
    /// // Two trees, 2 + 3 and 3 + 2, are equally likely.
    /// let first: f64 = marginals.spans[1].iter().filter(|s| (s.0, s.1) == (0, 2)).map(|s| s.3).sum();
    /// assert!((first - 0.5).abs() < 1e-12);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn marginals(&self, chart: &Chart<Magnitude>) -> Result<Option<Marginals>> {
        let entry = size_of::<Magnitude>() + size_of::<SpanMarginal>();
        check_memory(chart.len(), chart.bytes() + chart.entries() * entry as u64)?;
        let prior: Vec<Magnitude> = self.grammar().prior().iter().map(|&p| Magnitude::new(p)).collect();
        let mut total = Magnitude::ZERO;
        for &(root, value) in chart.root_entries() {
            total += value * prior[usize::from(root)];
        }
        if total.is_zero() {
            return Ok(None);
        }
        let outside = self.outside(chart, &prior);
        let expected = self.grammar().layers().iter().zip(&outside.uses).map(|(layer, uses)| {
            let mut counts = vec![0.0; layer.rules().len()];
            uses.as_slice().iter().for_each(|&(rule, value)| counts[rule as usize] += (value / total).value());
            counts
        });
        let rules = expected.collect();
        let mut spans = Vec::with_capacity(outside.levels.len());
        for (level, outside) in outside.levels.into_iter().enumerate() {
            let mut found = Vec::with_capacity(outside.len());
            let mut values = outside.into_iter();
            for cell in chart.cells(level) {
                for (&(symbol, inside), outside) in cell.values.iter().zip(&mut values) {
                    found.push((cell.start, cell.span, symbol, (inside * outside / total).value()));
                }
            }
            spans.push(found);
        }
        Ok(Some(Marginals { spans, rules }))
    }
}
