//! From charts to trees: the best one, random ones, all of them.

use super::{Chart, Parser};
use crate::error::Result;
use crate::grammar::{Children, Grammar, Symbol};
use crate::magnitude::Magnitude;
use crate::seed::Stream;
use crate::semiring::{BestLog, Recognition, Semiring};
use crate::tree::Tree;
use std::rc::Rc;

/// A symbol of a level on a span.
#[derive(Clone, Copy, Debug)]
struct Node {
    level: usize,
    start: usize,
    span: usize,
    symbol: Symbol,
}

/// One way to rewrite a node: its children and how many tokens each of them has.
#[derive(Clone, Copy, Debug)]
struct Expansion {
    children: Children,
    spans: [usize; 3],
}

impl Expansion {
    fn nodes(&self, parent: Node) -> impl Iterator<Item = Node> + '_ {
        let mut start = parent.start;
        self.children.iter().zip(self.spans).map(move |(symbol, span)| {
            start += span;
            Node { level: parent.level + 1, start: start - span, span, symbol }
        })
    }
}

impl<S: Semiring> Parser<'_, S> {
    /// Calls `visit` with every expansion of a node that the chart supports, and its value.
    fn expansions(&self, chart: &Chart<S>, node: Node, mut visit: impl FnMut(Expansion, S)) {
        let (layer, weights) = (self.grammar().layer(node.level), self.weights(node.level));
        let below = chart.level(node.level + 1);
        let end = node.start + node.span;
        for one in below.filled(node.start) {
            let middle = node.start + one.span as usize;
            for two in below.filled(middle) {
                let next = middle + two.span as usize;
                if next > end {
                    break;
                }
                let third = if next == end { &[][..] } else { chart.values(node.level + 1, next, end - next) };
                if next < end && third.is_empty() {
                    continue;
                }
                let spans = [one.span as usize, two.span as usize, end - next];
                for &(a, ref x) in below.cell(one.cell) {
                    for &(b, ref y) in below.cell(two.cell) {
                        if next == end {
                            for entry in layer.pairs().find(usize::from(a), b) {
                                if layer.pairs().parent(entry) == node.symbol {
                                    let value = x.mul(y).mul(&weights.pairs[entry]);
                                    visit(Expansion { children: Children::pair(a, b), spans }, value);
                                }
                            }
                        }
                        for &(c, ref z) in third {
                            let prefix = usize::from(a) * layer.children() + usize::from(b);
                            for entry in layer.triples().find(prefix, c) {
                                if layer.triples().parent(entry) == node.symbol {
                                    let value = x.mul(y).mul(z).mul(&weights.triples[entry]);
                                    visit(Expansion { children: Children::triple(a, b, c), spans }, value);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The tree below a root symbol whose nodes are expanded by `choose`, level by level from left to right.
    fn grow(&self, chart: &Chart<S>, root: Symbol, mut choose: impl FnMut(Node) -> Expansion) -> Tree {
        let mut nodes = vec![Node { level: 0, start: 0, span: chart.len(), symbol: root }];
        let (mut levels, mut arities) = (vec![vec![root]], Vec::new());
        for _ in 0..chart.depth() {
            let expansions: Vec<Expansion> = nodes.iter().map(|&node| choose(node)).collect();
            nodes = nodes.iter().zip(&expansions).flat_map(|(&node, expansion)| expansion.nodes(node)).collect();
            levels.push(nodes.iter().map(|node| node.symbol).collect());
            arities.push(expansions.iter().map(|expansion| expansion.children.len() as u8).collect());
        }
        Tree::new(levels, arities)
    }
}

impl Parser<'_, BestLog> {
    /// The most probable tree under the prior, with the logarithm of its probability given its root.
    pub fn best_tree(&self, chart: &Chart<BestLog>) -> Option<(Tree, f64)> {
        let posterior =
            |&(root, BestLog(log)): &(Symbol, BestLog)| log + self.grammar().prior()[usize::from(root)].ln();
        let mut best: Option<(Symbol, BestLog)> = None;
        for root in chart.root_entries().iter().filter(|root| posterior(root) > f64::NEG_INFINITY) {
            if best.is_none_or(|best| posterior(root) > posterior(&best)) {
                best = Some(*root);
            }
        }
        let (root, BestLog(log)) = best?;
        let tree = self.grow(chart, root, |node| {
            let mut best: Option<(Expansion, BestLog)> = None;
            self.expansions(chart, node, |expansion, value| {
                if best.as_ref().is_none_or(|(_, best)| value > *best) {
                    best = Some((expansion, value));
                }
            });
            best.expect("a node of the chart has an expansion").0
        });
        Some((tree, log))
    }
}

impl Parser<'_, Magnitude> {
    /// A tree drawn from the posterior over all trees of the sentence.
    pub fn sample_tree(&self, chart: &Chart<Magnitude>, stream: &mut Stream) -> Option<Tree> {
        let weighted = |&(root, value): &(Symbol, Magnitude)| {
            let prior = self.grammar().prior()[usize::from(root)];
            (root, value * Magnitude::new(prior))
        };
        let mut draw = Draw::default();
        chart.root_entries().iter().map(weighted).for_each(|(root, value)| draw.offer(root, value, stream));
        self.sample_tree_of(chart, draw.chosen?, stream)
    }

    /// A tree drawn from the posterior over the trees with this root; `None` if the root does not derive the sentence.
    pub fn sample_tree_of(&self, chart: &Chart<Magnitude>, root: Symbol, stream: &mut Stream) -> Option<Tree> {
        chart.value(0, 0, chart.len(), root)?;
        Some(self.grow(chart, root, |node| {
            let mut draw = Draw::default();
            self.expansions(chart, node, |expansion, value| draw.offer(expansion, value, stream));
            draw.chosen.expect("a node of the chart has an expansion")
        }))
    }
}

/// One of a stream of items, each with a probability proportional to its weight.
struct Draw<T> {
    total: Magnitude,
    chosen: Option<T>,
}

impl<T> Default for Draw<T> {
    fn default() -> Self {
        Draw { total: Magnitude::ZERO, chosen: None }
    }
}

impl<T> Draw<T> {
    fn offer(&mut self, item: T, weight: Magnitude, stream: &mut Stream) {
        self.total += weight;
        if !weight.is_zero() && (self.chosen.is_none() || stream.unit() < (weight / self.total).value()) {
            self.chosen = Some(item);
        }
    }
}

/// A subtree that may be shared by many trees.
struct Subtree {
    symbol: Symbol,
    children: Vec<Rc<Subtree>>,
}

impl Parser<'_, Recognition> {
    /// All trees of the sentence, up to `limit`, by root and then from left to right.
    pub fn all_trees(&self, chart: &Chart<Recognition>, limit: usize) -> Vec<Tree> {
        let mut trees = Vec::new();
        for &(symbol, _) in chart.root_entries() {
            let node = Node { level: 0, start: 0, span: chart.len(), symbol };
            for subtree in self.subtrees(chart, node, limit - trees.len()) {
                let mut levels = vec![Vec::new(); chart.depth() + 1];
                let mut arities = vec![Vec::new(); chart.depth()];
                flatten(&subtree, 0, &mut levels, &mut arities);
                trees.push(Tree::new(levels, arities));
            }
        }
        trees
    }

    fn subtrees(&self, chart: &Chart<Recognition>, node: Node, limit: usize) -> Vec<Rc<Subtree>> {
        if node.level == chart.depth() {
            return vec![Rc::new(Subtree { symbol: node.symbol, children: Vec::new() })];
        }
        let mut expansions = Vec::new();
        self.expansions(chart, node, |expansion, _| expansions.push(expansion));
        let mut found = Vec::new();
        for expansion in expansions {
            if found.len() >= limit {
                break;
            }
            let mut sequences: Vec<Vec<Rc<Subtree>>> = vec![Vec::new()];
            for child in expansion.nodes(node) {
                let options = self.subtrees(chart, child, limit);
                let longer = sequences.iter().flat_map(|sequence| {
                    options.iter().map(|option| [sequence.as_slice(), std::slice::from_ref(option)].concat())
                });
                sequences = longer.take(limit).collect();
            }
            found.extend(sequences.into_iter().map(|children| Rc::new(Subtree { symbol: node.symbol, children })));
        }
        found.truncate(limit);
        found
    }
}

fn flatten(subtree: &Subtree, level: usize, levels: &mut [Vec<Symbol>], arities: &mut [Vec<u8>]) {
    levels[level].push(subtree.symbol);
    if let Some(arities) = arities.get_mut(level) {
        arities.push(subtree.children.len() as u8);
    }
    for child in &subtree.children {
        flatten(child, level + 1, levels, arities);
    }
}

impl Grammar {
    /// The most probable tree of a sentence, with the logarithm of its probability given its root.
    pub fn best_tree(&self, sentence: &[Symbol]) -> Result<Option<(Tree, f64)>> {
        let parser = Parser::<BestLog>::new(self);
        Ok(parser.best_tree(&parser.parse(sentence)?))
    }

    /// All trees of a sentence, up to `limit`.
    ///
    /// ```
    /// use gardenpath::{Ensemble, Seed};
    ///
    /// let grammar = Ensemble::new(3, 2).fraction(1.0).sample(Seed::new(1))?;
    /// assert_eq!(grammar.trees(&[0, 1, 2, 0, 1, 2, 0, 1], 100)?.len(), 3);
    /// assert_eq!(grammar.trees(&[0, 1, 2, 0, 1, 2, 0, 1], 2)?.len(), 2);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn trees(&self, sentence: &[Symbol], limit: usize) -> Result<Vec<Tree>> {
        let parser = Parser::<Recognition>::new(self);
        Ok(parser.all_trees(&parser.parse(sentence)?, limit))
    }
}
