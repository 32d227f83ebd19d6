//! Moments of infinitely many sentences, from the grammar itself.
//!
//! Going down, adjacent nodes of the next level are siblings, or the last child of one node and the first child of its
//! right neighbour. As every rule has at least two children, three adjacent nodes never have more than two parents.
//! So the expected numbers of nodes and of adjacent pairs of one level give those of the next, and its triples.

use super::{Covariance, check_table};
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
    /// The moments of the tokens.
    pub fn new(grammar: &Grammar) -> Result<Self> {
        Self::of_level(grammar, grammar.depth())
    }

    /// The moments of the true nodes of one level, `1..=depth`.
    pub fn of_level(grammar: &Grammar, level: usize) -> Result<Self> {
        if !(1..=grammar.depth()).contains(&level) {
            return Err(Error::parameter("level", level, format!("1 to {}", grammar.depth())));
        }
        let (symbols, classes) = (grammar.sizes()[level], grammar.classes());
        check_table(symbols, classes, 24)?;
        let ends: Vec<Ends> = grammar.layers()[..level].iter().map(Ends::new).collect();
        let of_root = |root: usize| {
            let mut counts = LevelCounts::root(classes, root, grammar.prior()[root]);
            for (layer, ends) in grammar.layers()[..level - 1].iter().zip(&ends) {
                counts = counts.descend(layer, ends);
            }
            let (layer, ends) = (grammar.layer(level - 1), &ends[level - 1]);
            (counts.descend(layer, ends).pairs, counts.triples(layer, ends))
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

    /// The nodes and pairs of the next level.
    fn descend(&self, layer: &Layer, ends: &Ends) -> Self {
        let children = layer.children();
        // A node's last child beside its right neighbour's first.
        let mut below = LevelCounts {
            nodes: vec![0.0; children],
            pairs: transposed_product(&ends.last, &self.before_first(layer, ends), layer.parents(), children),
        };
        for rule in layer.rules() {
            let weight = self.nodes[usize::from(rule.parent)] * rule.probability;
            rule.children.iter().for_each(|child| below.nodes[usize::from(child)] += weight);
            for pair in rule.children.as_slice().windows(2) {
                below.pairs[usize::from(pair[0]) * children + usize::from(pair[1])] += weight;
            }
        }
        below
    }

    /// `[parent][c]`: the expected number of times that `parent` stands left of a node whose first child is `c`.
    fn before_first(&self, layer: &Layer, ends: &Ends) -> Vec<f64> {
        product(&self.pairs, &ends.first, layer.parents(), layer.children())
    }

    /// The triples of the next level.
    fn triples(&self, layer: &Layer, ends: &Ends) -> Vec<f64> {
        let (parents, children) = (layer.parents(), layer.children());
        let before_first = self.before_first(layer, ends);
        // `[a][parent]`: the expected number of times that `parent` stands right of a node whose last child is `a`.
        let after_last = transposed_product(&ends.last, &self.pairs, parents, parents);
        let mut triples = vec![0.0; children.pow(3)];
        for rule in layer.rules() {
            let (parent, symbols) = (usize::from(rule.parent), rule.children.as_slice());
            if let [a, b, c] = *symbols {
                let index = (usize::from(a) * children + usize::from(b)) * children + usize::from(c);
                triples[index] += self.nodes[parent] * rule.probability;
            }
            let [a, b] = [symbols[symbols.len() - 2], symbols[symbols.len() - 1]].map(usize::from);
            let row = &mut triples[(a * children + b) * children..][..children];
            for (sum, count) in row.iter_mut().zip(&before_first[parent * children..]) {
                *sum += rule.probability * count;
            }
            let [b, c] = [symbols[0], symbols[1]].map(usize::from);
            for a in 0..children {
                triples[(a * children + b) * children + c] += rule.probability * after_last[a * parents + parent];
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
