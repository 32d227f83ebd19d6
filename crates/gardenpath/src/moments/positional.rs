//! The exact joint law of the root and the triple at one position.
//!
//! Node `j` of a level has its first child at index `k` of the next level if the `j` nodes left of it have `k` children
//! together. Where all symbols of a layer have two children with the same probability, that number is independent of
//! the symbols, and nodes and adjacent pairs can be followed down by index.

use super::check_table;
use super::expected::{product, transposed_product};
use crate::error::{Error, Result};
use crate::grammar::{Grammar, Layer, Symbol};
use rayon::prelude::*;

/// `P(root, (X_i, X_(i+1), X_(i+2)) = (a, b, c))` for one position `i`, counted from 0.
///
/// ```
/// use gardenpath::{Ensemble, PositionedTriples, Seed};
///
/// let grammar = Ensemble::new(4, 2).sample(Seed::new(7))?;
/// let triples = PositionedTriples::new(&grammar, 1)?;
/// // Every sentence of depth 2 has a triple at position 1: it has at least four tokens.
/// assert!((triples.total() - 1.0).abs() < 1e-12);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PositionedTriples {
    symbols: usize,
    classes: usize,
    /// `[a][b][c][root]`
    joint: Vec<f64>,
}

/// One layer, prepared.
struct Descent<'g> {
    layer: &'g Layer,
    /// `arities[j][t]`: the probability that `j` nodes have `2 j + t` children.
    arities: Vec<Vec<f64>>,
    /// `[parent][first child]`
    first: Vec<f64>,
    /// `[parent][last child]` of binary and of ternary rules.
    last: [Vec<f64>; 2],
}

/// Probabilities by index below one root: of nodes `[j][a]` and of adjacent pairs `[j][a][b]`.
struct Nodes {
    nodes: Vec<Vec<f64>>,
    pairs: Vec<Vec<f64>>,
}

impl PositionedTriples {
    /// The law at `position`, counted from 0, from the grammar's rules.
    ///
    /// The symbols of each layer must agree in the total probability of their binary rules, as in [`crate::Ensemble`].
    pub fn new(grammar: &Grammar, position: usize) -> Result<Self> {
        let (symbols, classes, depth) = (grammar.vocab(), grammar.classes(), grammar.depth());
        check_table(symbols, classes, 24)?;
        let longest = *grammar.shape().lengths().end();
        if position + 3 > longest {
            return Err(Error::parameter("position of the triple", position, format!("at most {longest} - 3")));
        }
        // A node's index is at most half of that of its children.
        let descents = (0..depth)
            .map(|level| Descent::new(level, grammar.layer(level), position >> (depth - level)))
            .collect::<Result<Vec<_>>>()?;
        let of_root = |root: usize| {
            let mut nodes = Nodes::root(classes, root, grammar.prior()[root]);
            for (level, descent) in descents[..depth - 1].iter().enumerate() {
                nodes = descent.descend(&nodes, position >> (depth - level - 1));
            }
            descents[depth - 1].triples(&nodes, position)
        };
        let roots: Vec<Vec<f64>> = (0..classes).into_par_iter().map(of_root).collect();
        let mut joint = vec![0.0; symbols.pow(3) * classes];
        for (triple, row) in joint.chunks_mut(classes).enumerate() {
            row.iter_mut().zip(&roots).for_each(|(joint, of_root)| *joint = of_root[triple]);
        }
        Ok(PositionedTriples { symbols, classes, joint })
    }

    /// The probability of the triple together with each root.
    pub fn joint(&self, a: Symbol, b: Symbol, c: Symbol) -> &[f64] {
        let triple = (usize::from(a) * self.symbols + usize::from(b)) * self.symbols + usize::from(c);
        &self.joint[triple * self.classes..][..self.classes]
    }

    /// The probability of each root given the triple, or `None` if the triple never occurs at this position.
    pub fn conditional(&self, a: Symbol, b: Symbol, c: Symbol) -> Option<Vec<f64>> {
        let joint = self.joint(a, b, c);
        let total: f64 = joint.iter().sum();
        (total > 0.0).then(|| joint.iter().map(|p| p / total).collect())
    }

    /// The probability that a sentence is long enough to have a triple there.
    pub fn total(&self) -> f64 {
        self.joint.iter().sum()
    }
}

impl Nodes {
    fn root(classes: usize, root: usize, weight: f64) -> Self {
        let mut nodes = vec![0.0; classes];
        nodes[root] = weight;
        Nodes { nodes: vec![nodes], pairs: vec![vec![0.0; classes * classes]] }
    }
}

impl<'g> Descent<'g> {
    fn new(level: usize, layer: &'g Layer, last_index: usize) -> Result<Self> {
        let size = layer.parents() * layer.children();
        let (mut first, mut last) = (vec![0.0; size], [vec![0.0; size], vec![0.0; size]]);
        let mut binary = vec![0.0; layer.parents()];
        for rule in layer.rules() {
            let row = usize::from(rule.parent) * layer.children();
            let children = rule.children.as_slice();
            let arity = children.len();
            first[row + usize::from(children[0])] += rule.probability;
            last[arity - 2][row + usize::from(children[arity - 1])] += rule.probability;
            binary[usize::from(rule.parent)] += if arity == 2 { rule.probability } else { 0.0 };
        }
        let p_binary = binary[0];
        if let Some(other) = binary.iter().find(|p| (**p - p_binary).abs() > 1e-9) {
            let expected = format!("{p_binary} as for the first symbol: positions are exact only if all agree");
            return Err(Error::parameter("p_binary of a symbol", format!("{other} at level {level}"), expected));
        }
        let mut arities = vec![vec![1.0]];
        for j in 0..last_index {
            let mut next = vec![0.0; j + 2];
            for (t, p) in arities[j].iter().enumerate() {
                next[t] += p * p_binary;
                next[t + 1] += p * (1.0 - p_binary);
            }
            arities.push(next);
        }
        Ok(Descent { layer, arities, first, last })
    }

    /// The probability that the first child of node `j` is followed, `offset` further, by index `k`.
    fn arrival(&self, j: usize, offset: usize, k: usize) -> f64 {
        let t = k.checked_sub(2 * j + offset);
        t.and_then(|t| self.arities[j].get(t)).copied().unwrap_or(0.0)
    }

    fn descend(&self, above: &Nodes, last_index: usize) -> Nodes {
        let (parents, children) = (self.layer.parents(), self.layer.children());
        let mut below = Nodes {
            nodes: vec![vec![0.0; children]; last_index + 1],
            pairs: vec![vec![0.0; children * children]; last_index + 1],
        };
        for (j, (nodes, pairs)) in above.nodes.iter().zip(&above.pairs).enumerate() {
            // Siblings by their place in the rule, and neighbours by the number of children of the left node.
            let mut symbols = vec![vec![0.0; children]; 3];
            let mut siblings = vec![vec![0.0; children * children]; 2];
            for rule in self.layer.rules() {
                let weight = nodes[usize::from(rule.parent)] * rule.probability;
                for (place, child) in rule.children.iter().enumerate() {
                    symbols[place][usize::from(child)] += weight;
                }
                for (place, pair) in rule.children.as_slice().windows(2).enumerate() {
                    siblings[place][usize::from(pair[0]) * children + usize::from(pair[1])] += weight;
                }
            }
            let before_first = product(pairs, &self.first, parents, children);
            let neighbours =
                self.last.each_ref().map(|last| transposed_product(last, &before_first, parents, children));
            for k in 2 * j..=last_index.min(3 * j + 2) {
                for (place, symbols) in symbols.iter().enumerate() {
                    add_scaled(&mut below.nodes[k], symbols, self.arrival(j, place, k));
                }
                for place in 0..2 {
                    add_scaled(&mut below.pairs[k], &siblings[place], self.arrival(j, place, k));
                    add_scaled(&mut below.pairs[k], &neighbours[place], self.arrival(j, place + 1, k));
                }
            }
        }
        below
    }

    /// The triples of the next level whose first symbol has index `k`.
    fn triples(&self, above: &Nodes, k: usize) -> Vec<f64> {
        let (parents, children) = (self.layer.parents(), self.layer.children());
        let mut triples = vec![0.0; children.pow(3)];
        for (j, (nodes, pairs)) in above.nodes.iter().zip(&above.pairs).enumerate() {
            let arrive = [0, 1, 2].map(|offset| self.arrival(j, offset, k));
            if arrive == [0.0; 3] {
                continue;
            }
            let before_first = product(pairs, &self.first, parents, children);
            // `[a][parent]`: the last child of the left neighbour, where it has index `k`.
            let mut after_last = vec![0.0; children * parents];
            for (place, last) in self.last.iter().enumerate() {
                add_scaled(&mut after_last, &transposed_product(last, pairs, parents, parents), arrive[place + 1]);
            }
            for rule in self.layer.rules() {
                let (parent, symbols) = (usize::from(rule.parent), rule.children.as_slice());
                if let [a, b, c] = *symbols {
                    let index = (usize::from(a) * children + usize::from(b)) * children + usize::from(c);
                    triples[index] += nodes[parent] * rule.probability * arrive[0];
                }
                let [a, b] = [symbols[symbols.len() - 2], symbols[symbols.len() - 1]].map(usize::from);
                let row = &mut triples[(a * children + b) * children..][..children];
                let weight = rule.probability * arrive[symbols.len() - 2];
                add_scaled(row, &before_first[parent * children..][..children], weight);
                let [b, c] = [symbols[0], symbols[1]].map(usize::from);
                for a in 0..children {
                    triples[(a * children + b) * children + c] += rule.probability * after_last[a * parents + parent];
                }
            }
        }
        triples
    }
}

fn add_scaled(sums: &mut [f64], values: &[f64], factor: f64) {
    if factor != 0.0 {
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
    }
}
