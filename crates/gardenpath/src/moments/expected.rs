//! Moments of infinitely many sentences, from the grammar itself.
//!
//! Going down, adjacent nodes of the next level are siblings, or the last child of one node and the first child of its
//! right neighbour. As every rule has at least two children, three adjacent nodes never have more than two parents.
//! So the expected numbers of nodes and of adjacent pairs of one level give those of the next, and its triples.

use super::covariance::root_totals;
use super::{Covariance, Moments, Topology, check_lengths, check_table};
use crate::error::{Error, Result};
use crate::grammar::{Grammar, Layer, Symbol};
use rayon::prelude::*;

/// The expected numbers of adjacent pairs and triples in a sentence, jointly with its root.
///
/// ```
/// use gardenpath::{Ensemble, ExpectedMoments, Seed};
///
/// let grammar = Ensemble::new(8, 3).sample(Seed::new(7))?;
/// let moments = ExpectedMoments::new(&grammar)?;
/// // A sentence of n tokens has n - 1 pairs.
/// assert!((moments.pair_total() - (grammar.mean_length() - 1.0)).abs() < 1e-9);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedMoments {
    symbols: usize,
    classes: usize,
    /// `[root][a][b]`
    pairs: Vec<f64>,
    /// `[root][a][b][c]`
    triples: Vec<f64>,
}

/// The expected numbers of nodes and of adjacent pairs of one level below one root.
struct LevelCounts {
    nodes: Vec<f64>,
    pairs: Vec<f64>,
}

/// How the children of each symbol of a layer begin and end.
struct Ends {
    /// `[parent][first child]` and `[parent][last child]`: probabilities.
    first: Vec<f64>,
    last: Vec<f64>,
}

impl ExpectedMoments {
    /// Moments whose tables were computed before: those of [`pairs`](Self::pairs) and [`triples`](Self::triples).
    pub fn from_tables(symbols: usize, classes: usize, pairs: Vec<f64>, triples: Vec<f64>) -> Result<Self> {
        check_table(symbols, classes, 24)?;
        check_lengths(symbols, classes, pairs.len(), triples.len())?;
        Ok(ExpectedMoments { symbols, classes, pairs, triples })
    }

    /// The moments of the tokens.
    pub fn new(grammar: &Grammar) -> Result<Self> {
        Self::of_level(grammar, grammar.depth())
    }

    /// The moments of the true nodes of one level, `1..=depth`.
    pub fn of_level(grammar: &Grammar, level: usize) -> Result<Self> {
        Self::of_topologies(grammar, level, &|_| true)
    }

    /// The part of [`of_level`](Self::of_level) in which the symbols stand in one topology: the expected numbers of such
    /// pairs, or of such triples; those of the other arity are zero.
    ///
    /// ```
    /// use gardenpath::{Ensemble, ExpectedMoments, Seed, Topology};
    ///
    /// let grammar = Ensemble::new(8, 3).sample(Seed::new(7))?;
    /// // A sentence has 6.25 nodes above its tokens, and every second of them is binary.
    /// let siblings = ExpectedMoments::of_topology(&grammar, 3, Topology::BinarySiblings)?;
    /// assert!((siblings.pair_total() - 6.25 / 2.0).abs() < 1e-9);
    /// assert_eq!(siblings.triple_total(), 0.0);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn of_topology(grammar: &Grammar, level: usize, topology: Topology) -> Result<Self> {
        Self::of_topologies(grammar, level, &|other| other == topology)
    }

    /// The moments of a level, of the tuples in topologies that `is_counted` names.
    fn of_topologies(grammar: &Grammar, level: usize, is_counted: &(dyn Fn(Topology) -> bool + Sync)) -> Result<Self> {
        if !(1..=grammar.depth()).contains(&level) {
            return Err(Error::parameter("level", level, format!("1 to {}", grammar.depth())));
        }
        let (symbols, classes) = (grammar.sizes()[level], grammar.classes());
        check_table(symbols, classes, 24)?;
        let ends: Vec<Ends> = grammar.layers()[..level].iter().map(Ends::new).collect();
        let of_root = |root: usize| {
            let mut counts = LevelCounts::root(classes, root, grammar.prior()[root]);
            for (layer, ends) in grammar.layers()[..level - 1].iter().zip(&ends) {
                counts = counts.descend(layer, ends, &|_| true);
            }
            let (layer, ends) = (grammar.layer(level - 1), &ends[level - 1]);
            (counts.descend(layer, ends, is_counted).pairs, counts.triples(layer, ends, is_counted))
        };
        let roots: Vec<(Vec<f64>, Vec<f64>)> = (0..classes).into_par_iter().map(of_root).collect();
        let (mut pairs, mut triples) = (Vec::new(), Vec::with_capacity(symbols.pow(3) * classes));
        for (of_root_pairs, of_root_triples) in roots {
            pairs.extend(of_root_pairs);
            triples.extend(of_root_triples);
        }
        Ok(ExpectedMoments { symbols, classes, pairs, triples })
    }

    /// The number of different symbols.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// The number of different roots.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// All expected numbers of pairs: `[root][a][b]`.
    pub fn pairs(&self) -> &[f64] {
        &self.pairs
    }

    /// All expected numbers of triples: `[root][a][b][c]`.
    pub fn triples(&self) -> &[f64] {
        &self.triples
    }

    /// The expected number of times that the pair occurs in a sentence with this root, times the root's probability.
    pub fn pair(&self, a: Symbol, b: Symbol, root: Symbol) -> f64 {
        self.pairs[(usize::from(root) * self.symbols + usize::from(a)) * self.symbols + usize::from(b)]
    }

    /// The expected number of times that the triple occurs in a sentence with this root, times the root's probability.
    pub fn triple(&self, a: Symbol, b: Symbol, c: Symbol, root: Symbol) -> f64 {
        let pair = (usize::from(root) * self.symbols + usize::from(a)) * self.symbols + usize::from(b);
        self.triples[pair * self.symbols + usize::from(c)]
    }

    /// The expected number of pairs of a sentence.
    pub fn pair_total(&self) -> f64 {
        self.pairs.iter().sum()
    }

    /// The expected number of triples of a sentence.
    pub fn triple_total(&self) -> f64 {
        self.triples.iter().sum()
    }

    /// The limits of the covariances of [`Moments::covariance`](super::Moments::covariance).
    pub fn covariance(&self) -> Covariance {
        Covariance::new(self.symbols, self.classes, &self.pairs, &self.triples, |&expected| expected)
    }

    /// What these moments, a part of `whole`, contribute to its covariances: the parts of all topologies add up to
    /// `whole.covariance()`.
    ///
    /// By the law of total covariance, a part is the probability of its topology times the covariance given the topology. That
    /// needs a topology that does not depend on the root, as in an [`Ensemble`](crate::Ensemble); in other grammars the part
    /// also has what the topology itself tells about the root.
    ///
    /// ```
    /// use gardenpath::{Ensemble, ExpectedMoments, Seed, Topology};
    ///
    /// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
    /// let whole = ExpectedMoments::new(&grammar)?;
    /// let mut sum = 0.0;
    /// for topology in Topology::PAIRS {
    ///     let part = ExpectedMoments::of_topology(&grammar, 2, topology)?;
    ///     sum += part.covariance_within(&whole)?.pair_vector(0, 1)[3];
    /// }
    /// assert!((sum - whole.covariance().pair_vector(0, 1)[3]).abs() < 1e-15);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn covariance_within(&self, whole: &ExpectedMoments) -> Result<Covariance> {
        if (self.symbols, self.classes) != (whole.symbols, whole.classes) {
            let found = format!("{} symbols and {} roots", self.symbols, self.classes);
            let expected = format!("{} symbols and {} roots", whole.symbols, whole.classes);
            return Err(Error::parameter("size of a part of the moments", found, expected));
        }
        let totals = |table: &[f64]| root_totals(table, whole.classes, |&expected| expected);
        Ok(self.covariance_of(&totals(&whole.pairs), &totals(&whole.triples)))
    }

    /// What these moments of true symbols contribute to the covariances of the candidates that were counted in `sentences`
    /// sentences.
    pub(crate) fn covariance_among(&self, candidates: &Moments, sentences: u64) -> Result<Covariance> {
        if (self.symbols, self.classes) != (candidates.symbols(), candidates.classes()) {
            let found = format!("{} symbols and {} roots", self.symbols, self.classes);
            let expected = format!("{} symbols and {} roots", candidates.symbols(), candidates.classes());
            return Err(Error::parameter("size of the moments", found, expected));
        }
        let totals = |table: &[u64]| root_totals(table, self.classes, |&count| count as f64 / sentences as f64);
        Ok(self.covariance_of(&totals(candidates.pairs()), &totals(candidates.triples())))
    }

    /// Covariances where the roots have these totals of pairs and triples.
    fn covariance_of(&self, pairs: &[f64], triples: &[f64]) -> Covariance {
        Covariance::of_totals(self.symbols, self.classes, (&self.pairs, pairs), (&self.triples, triples))
    }
}

impl Ends {
    fn new(layer: &Layer) -> Self {
        let size = layer.parents() * layer.children();
        let mut ends = Ends { first: vec![0.0; size], last: vec![0.0; size] };
        for rule in layer.rules() {
            let row = usize::from(rule.parent) * layer.children();
            let children = rule.children.as_slice();
            ends.first[row + usize::from(children[0])] += rule.probability;
            ends.last[row + usize::from(children[children.len() - 1])] += rule.probability;
        }
        ends
    }
}

impl LevelCounts {
    fn root(classes: usize, root: usize, weight: f64) -> Self {
        let mut nodes = vec![0.0; classes];
        nodes[root] = weight;
        LevelCounts { nodes, pairs: vec![0.0; classes * classes] }
    }

    /// The nodes of the next level, and those of its pairs whose topology counts.
    fn descend(&self, layer: &Layer, ends: &Ends, is_counted: &dyn Fn(Topology) -> bool) -> Self {
        let children = layer.children();
        // A node's last child beside its right neighbour's first.
        let pairs = if is_counted(Topology::Across) {
            transposed_product(&ends.last, &self.before_first(layer, ends), layer.parents(), children)
        } else {
            vec![0.0; children * children]
        };
        let mut below = LevelCounts { nodes: vec![0.0; children], pairs };
        for rule in layer.rules() {
            let weight = self.nodes[usize::from(rule.parent)] * rule.probability;
            rule.children.iter().for_each(|child| below.nodes[usize::from(child)] += weight);
            for (place, pair) in rule.children.as_slice().windows(2).enumerate() {
                if is_counted(Topology::of_siblings(rule.children.len(), place)) {
                    below.pairs[usize::from(pair[0]) * children + usize::from(pair[1])] += weight;
                }
            }
        }
        below
    }

    /// `[parent][c]`: the expected number of times that `parent` stands left of a node whose first child is `c`.
    fn before_first(&self, layer: &Layer, ends: &Ends) -> Vec<f64> {
        product(&self.pairs, &ends.first, layer.parents(), layer.children())
    }

    /// The triples of the next level whose topology counts.
    fn triples(&self, layer: &Layer, ends: &Ends, is_counted: &dyn Fn(Topology) -> bool) -> Vec<f64> {
        let (parents, children) = (layer.parents(), layer.children());
        let [siblings, left_two, right_two] = Topology::TRIPLES.map(is_counted);
        let mut triples = vec![0.0; children.pow(3)];
        if !(siblings || left_two || right_two) {
            return triples;
        }
        let before_first = self.before_first(layer, ends);
        // `[a][parent]`: the expected number of times that `parent` stands right of a node whose last child is `a`.
        let after_last = transposed_product(&ends.last, &self.pairs, parents, parents);
        for rule in layer.rules() {
            let (parent, symbols) = (usize::from(rule.parent), rule.children.as_slice());
            if let ([a, b, c], true) = (symbols, siblings) {
                let [a, b, c] = [a, b, c].map(|&symbol| usize::from(symbol));
                triples[(a * children + b) * children + c] += self.nodes[parent] * rule.probability;
            }
            if left_two {
                let [a, b] = [symbols[symbols.len() - 2], symbols[symbols.len() - 1]].map(usize::from);
                let row = &mut triples[(a * children + b) * children..][..children];
                for (sum, count) in row.iter_mut().zip(&before_first[parent * children..]) {
                    *sum += rule.probability * count;
                }
            }
        }
        if right_two {
            // The block of one first symbol stays in a fast cache; along the rules, first symbols would be far from each other.
            let block = children * children;
            for (block, weights) in triples.chunks_mut(block).zip(after_last.chunks(parents)) {
                for rule in layer.rules() {
                    let [b, c] = [0, 1].map(|place| usize::from(rule.children.as_slice()[place]));
                    block[b * children + c] += rule.probability * weights[usize::from(rule.parent)];
                }
            }
        }
        triples
    }
}

/// `[n][columns]`: the product of an `n * n` and an `n * columns` matrix.
pub(super) fn product(left: &[f64], right: &[f64], n: usize, columns: usize) -> Vec<f64> {
    let mut result = vec![0.0; n * columns];
    for (row, sums) in result.chunks_mut(columns).enumerate() {
        for (k, values) in right.chunks(columns).enumerate() {
            let factor = left[row * n + k];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    result
}

/// `[rows][columns]`: the product of the transpose of a matrix of `n` rows with one of `n` rows and `columns` columns.
pub(super) fn transposed_product(left: &[f64], right: &[f64], n: usize, columns: usize) -> Vec<f64> {
    let rows = left.len() / n;
    let mut result = vec![0.0; rows * columns];
    for k in 0..n {
        let values = &right[k * columns..][..columns];
        for (row, sums) in result.chunks_mut(columns).enumerate() {
            let factor = left[k * rows + row];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
        }
    }
    result
}
