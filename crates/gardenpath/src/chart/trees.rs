//! Trees of a chart: the best, the k best, random samples, or all of them.

use super::{Chart, Filled, Parser};
use crate::error::Result;
use crate::grammar::{Children, Grammar, Layer, State, Symbol};
use crate::magnitude::Magnitude;
use crate::seed::Stream;
use crate::semiring::{BestLog, Recognition, Semiring};
use crate::span::{Node, Span};
use crate::tree::Tree;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;

/// One way to rewrite a node: its children and how many tokens each of them has.
#[derive(Clone, Copy, Debug)]
struct Expansion {
    children: Children,
    lens: [usize; Children::MAX],
}

impl Expansion {
    fn nodes(&self, parent: Node) -> impl Iterator<Item = Node> + '_ {
        let mut start = parent.span.start;
        self.children.iter().zip(self.lens).map(move |(symbol, len)| {
            start += len;
            Node { span: Span::new(start - len, len), symbol }
        })
    }
}

/// The expansions of one node, while its children are chosen from left to right.
struct Expanding<'e, S, F> {
    chart: &'e Chart<S>,
    layer: &'e Layer,
    weights: &'e [S],
    /// The level of the children.
    level: usize,
    node: Node,
    cells: Vec<Filled>,
    children: Vec<Symbol>,
    visit: F,
}

impl<S: Semiring, F: FnMut(Expansion, S)> Expanding<'_, S, F> {
    /// Splits the tokens from `start` on into cells, and then chooses their symbols.
    fn split(&mut self, start: usize) {
        let (end, count, longest) = (self.node.span.end(), self.cells.len(), self.layer.automaton().longest());
        let below = self.chart.level(self.level);
        if start == end {
            return self.choose(0, None);
        }
        if count + 1 == longest {
            // The last child has all the rest.
            if let Some(cell) = self.chart.template().level(self.level).find(start, end - start)
                && !below.range(cell).is_empty()
            {
                self.extend(Filled { span: (end - start) as u32, cell }, end);
            }
            return;
        }
        for &cell in below.filled(start) {
            let next = start + cell.span as usize;
            if next > end || count == longest {
                break;
            }
            self.extend(cell, next);
        }
    }

    fn extend(&mut self, cell: Filled, next: usize) {
        self.cells.push(cell);
        self.split(next);
        self.cells.pop();
    }

    /// Chooses the symbols of the cells after those that were read as `state`, whose product is `value`.
    fn choose(&mut self, state: State, value: Option<S>) {
        let (automaton, below) = (self.layer.automaton(), self.chart.level(self.level));
        let Some(cell) = self.cells.get(self.children.len()) else {
            let own = automaton.entries_of(state).find(|&entry| automaton.parent(entry) == self.node.symbol);
            if let (Some(entry), Some(value), Some(children)) = (own, value, Children::from_slice(&self.children)) {
                let mut lens = [0; Children::MAX];
                lens.iter_mut().zip(&self.cells).for_each(|(len, cell)| *len = cell.span as usize);
                (self.visit)(Expansion { children, lens }, value.mul(&self.weights[entry]));
            }
            return;
        };
        for (symbol, own) in below.cell(cell.cell) {
            if let Some(next) = automaton.next(state, *symbol) {
                self.children.push(*symbol);
                self.choose(next, Some(value.as_ref().map_or_else(|| own.clone(), |value| value.mul(own))));
                self.children.pop();
            }
        }
    }
}

impl<S: Semiring> Parser<'_, S> {
    /// Calls `visit` with every expansion of a node of `level` that the chart supports, and its value.
    fn expansions(&self, chart: &Chart<S>, level: usize, node: Node, visit: impl FnMut(Expansion, S)) {
        let (layer, weights) = (self.grammar().layer(level), self.weights(level));
        let (cells, children) = (Vec::new(), Vec::new());
        let mut expanding = Expanding { chart, layer, weights, level: level + 1, node, cells, children, visit };
        expanding.split(node.span.start);
    }

    /// The tree below a root symbol whose nodes are expanded by `choose`, level by level from left to right.
    fn grow(&self, chart: &Chart<S>, root: Symbol, mut choose: impl FnMut(usize, Node) -> Expansion) -> Tree {
        let mut nodes = vec![whole(chart, root)];
        let (mut levels, mut arities) = (vec![vec![root]], Vec::new());
        for level in 0..chart.depth() {
            let expansions: Vec<Expansion> = nodes.iter().map(|&node| choose(level, node)).collect();
            nodes = nodes.iter().zip(&expansions).flat_map(|(&node, expansion)| expansion.nodes(node)).collect();
            levels.push(nodes.iter().map(|node| node.symbol).collect());
            arities.push(expansions.iter().map(|expansion| expansion.children.len() as u8).collect());
        }
        Tree::new(levels, arities)
    }
}

/// A root over the whole sentence.
fn whole<S: Semiring>(chart: &Chart<S>, symbol: Symbol) -> Node {
    Node { span: Span::new(0, chart.len()), symbol }
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
        let tree = self.grow(chart, root, |level, node| {
            let mut best: Option<(Expansion, BestLog)> = None;
            self.expansions(chart, level, node, |expansion, value| {
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
        chart.value(0, whole(chart, root))?;
        Some(self.grow(chart, root, |level, node| {
            let mut draw = Draw::default();
            self.expansions(chart, level, node, |expansion, value| draw.offer(expansion, value, stream));
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

impl Subtree {
    fn into_tree(self: Rc<Self>, depth: usize) -> Tree {
        let (mut levels, mut arities) = (vec![Vec::new(); depth + 1], vec![Vec::new(); depth]);
        flatten(&self, 0, &mut levels, &mut arities);
        Tree::new(levels, arities)
    }
}

impl Parser<'_, Recognition> {
    /// All trees of the sentence, up to `limit`, by root and then from left to right.
    pub fn all_trees(&self, chart: &Chart<Recognition>, limit: usize) -> Vec<Tree> {
        let mut trees = Vec::new();
        for &(symbol, _) in chart.root_entries() {
            let subtrees = self.subtrees(chart, 0, whole(chart, symbol), limit - trees.len());
            trees.extend(subtrees.into_iter().map(|subtree| subtree.into_tree(chart.depth())));
        }
        trees
    }

    fn subtrees(&self, chart: &Chart<Recognition>, level: usize, node: Node, limit: usize) -> Vec<Rc<Subtree>> {
        if level == chart.depth() {
            return vec![Rc::new(Subtree { symbol: node.symbol, children: Vec::new() })];
        }
        let mut expansions = Vec::new();
        self.expansions(chart, level, node, |expansion, _| expansions.push(expansion));
        let mut found = Vec::new();
        for expansion in expansions {
            if found.len() >= limit {
                break;
            }
            let mut sequences: Vec<Vec<Rc<Subtree>>> = vec![Vec::new()];
            for child in expansion.nodes(node) {
                let options = self.subtrees(chart, level + 1, child, limit);
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

/// The best subtrees of a node that are known, best first, each with the logarithm of its probability.
type Ranking = Rc<Vec<(f64, Rc<Subtree>)>>;

/// A subtree that is made of one subtree for each child of an expansion, given by their ranks.
#[derive(PartialEq)]
struct Combination {
    value: f64,
    expansion: usize,
    ranks: Vec<usize>,
}

impl Eq for Combination {}

impl PartialOrd for Combination {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Combination {
    /// Ordered by probability; ties go to the tree found first.
    fn cmp(&self, other: &Self) -> Ordering {
        let place = |own: &Self| (own.expansion, own.ranks.clone());
        self.value.total_cmp(&other.value).then_with(|| place(other).cmp(&place(self)))
    }
}

impl Parser<'_, BestLog> {
    /// The `count` most probable trees under the prior, best first, with the logarithms of their probabilities given their roots.
    ///
    /// The subtrees of a node are ranked only as far as they are needed by some parent; a node with `e` expansions costs `e` steps for its best
    /// subtree and a logarithm of their number for each of the others.
    ///
    /// ```
    /// use gardenpath::{BestLog, Ensemble, Parser, Seed};
    ///
    /// let grammar = Ensemble::new(3, 2).fraction(1.0).sample(Seed::new(1))?;
    /// let parser = Parser::<BestLog>::new(&grammar);
    /// let chart = parser.parse(&[0, 1, 2, 0, 1, 2, 0])?;
    /// let trees = parser.best_trees(&chart, 10);
    /// assert_eq!(trees.len(), 3);
    /// assert_eq!(parser.best_tree(&chart).unwrap().1, trees[0].1);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn best_trees(&self, chart: &Chart<BestLog>, count: usize) -> Vec<(Tree, f64)> {
        let mut known = HashMap::new();
        let mut found: Vec<(f64, f64, Rc<Subtree>)> = Vec::new();
        for &(root, _) in chart.root_entries() {
            let prior = self.grammar().prior()[usize::from(root)].ln();
            let ranking = self.ranking(chart, 0, whole(chart, root), count, &mut known);
            found.extend(ranking.iter().map(|(value, subtree)| (value + prior, *value, subtree.clone())));
        }
        found.retain(|(posterior, ..)| *posterior > f64::NEG_INFINITY);
        found.sort_by(|x, y| y.0.total_cmp(&x.0));
        found.truncate(count);
        found.into_iter().map(|(_, value, subtree)| (subtree.into_tree(chart.depth()), value)).collect()
    }

    fn ranking(
        &self,
        chart: &Chart<BestLog>,
        level: usize,
        node: Node,
        count: usize,
        known: &mut HashMap<(usize, Node), Ranking>,
    ) -> Ranking {
        if let Some(ranking) = known.get(&(level, node)) {
            return ranking.clone();
        }
        let leaf = |value: f64| vec![(value, Rc::new(Subtree { symbol: node.symbol, children: Vec::new() }))];
        let ranking = if level == chart.depth() {
            leaf(chart.value(level, node).map_or(f64::NEG_INFINITY, |value| value.0))
        } else {
            self.combine(chart, level, node, count, known)
        };
        let ranking = Rc::new(ranking);
        known.insert((level, node), ranking.clone());
        ranking
    }

    /// The best combinations of the subtrees of the children, over all expansions of a node.
    fn combine(
        &self,
        chart: &Chart<BestLog>,
        level: usize,
        node: Node,
        count: usize,
        known: &mut HashMap<(usize, Node), Ranking>,
    ) -> Vec<(f64, Rc<Subtree>)> {
        // The value of an expansion is that of the best subtrees of its children.
        let mut expansions = Vec::new();
        self.expansions(chart, level, node, |expansion, value| expansions.push((expansion, value.0)));
        let mut best: BinaryHeap<Combination> = (0..)
            .zip(&expansions)
            .map(|(k, (expansion, value))| Combination {
                value: *value,
                expansion: k,
                ranks: vec![0; expansion.children.len()],
            })
            .collect();
        let mut ranking = Vec::new();
        while ranking.len() < count
            && let Some(Combination { value, expansion, ranks }) = best.pop()
        {
            let children: Vec<Ranking> = expansions[expansion]
                .0
                .nodes(node)
                .map(|child| self.ranking(chart, level + 1, child, count, known))
                .collect();
            let chosen = children.iter().zip(&ranks).map(|(child, &rank)| child[rank].1.clone()).collect();
            ranking.push((value, Rc::new(Subtree { symbol: node.symbol, children: chosen })));
            // Every other combination follows from exactly one: that in which its last rank above zero is one less.
            let last = ranks.iter().rposition(|&rank| rank > 0).unwrap_or(0);
            for place in last..ranks.len() {
                if let Some((next, _)) = children[place].get(ranks[place] + 1) {
                    let mut ranks = ranks.clone();
                    let old = children[place][ranks[place]].0;
                    ranks[place] += 1;
                    best.push(Combination { value: value - old + next, expansion, ranks });
                }
            }
        }
        ranking
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

    /// The `count` most probable trees of a sentence, best first, with the logarithms of their probabilities given their roots.
    pub fn best_trees(&self, sentence: &[Symbol], count: usize) -> Result<Vec<(Tree, f64)>> {
        let parser = Parser::<BestLog>::new(self);
        Ok(parser.best_trees(&parser.parse(sentence)?, count))
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
