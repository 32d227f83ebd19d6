//! Trees one by one, and what the tests share.

use gardenpath::theory::{ByLength, Magnitude};
use gardenpath::{Arities, PerArity};
use num_bigint::BigUint;
use num_traits::One;
use std::collections::HashMap;

/// Sets of arities, the paper's among them.
pub const SETS: [&[usize]; 9] = [&[1], &[2], &[3], &[4], &[1, 2], &[2, 3], &[2, 4], &[1, 2, 3], &[2, 3, 4]];

/// Each set with probabilities of its arities: all equal, and growing with the arity.
pub fn all_probabilities() -> impl Iterator<Item = PerArity<f64>> {
    SETS.iter().flat_map(|set| {
        let sum: usize = set.iter().sum();
        let equal = set.iter().map(|&arity| (arity, 1.0 / set.len() as f64)).collect();
        [equal, set.iter().map(|&arity| (arity, arity as f64 / sum as f64)).collect()]
    })
}

pub fn set(arities: &[usize]) -> Arities {
    arities.iter().copied().collect()
}

/// Fractions that differ from arity to arity.
pub fn some_fractions() -> PerArity<f64> {
    PerArity::from([(1, 0.9), (2, 0.3), (3, 0.05), (4, 0.6)])
}

/// What the sums over trees need to know of one tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Tree {
    pub leaves: usize,
    /// The number of nodes of each arity.
    pub nodes: [i32; 5],
    /// For each arity, the leaves all of whose ancestors have it.
    pub pure_leaves: [usize; 5],
}

impl Tree {
    pub fn weight(&self, weights: PerArity<f64>) -> f64 {
        (1..5).map(|arity| weights[arity].powi(self.nodes[arity])).product()
    }

    /// Both trees side by side.
    fn beside(mut self, other: &Tree) -> Tree {
        self.leaves += other.leaves;
        (1..5).for_each(|arity| self.nodes[arity] += other.nodes[arity]);
        (1..5).for_each(|arity| self.pure_leaves[arity] += other.pure_leaves[arity]);
        self
    }
}

/// All trees of a depth up to 3, with the number of those that are alike: with two and three children 1872, with two, three and four
/// 189 million.
pub fn all_trees(arities: Arities, depth: usize) -> HashMap<Tree, u64> {
    if depth == 0 {
        return HashMap::from([(Tree { leaves: 1, nodes: [0; 5], pure_leaves: [1; 5] }, 1)]);
    }
    let below = all_trees(arities, depth - 1);
    let mut trees = HashMap::new();
    let mut rows = HashMap::from([(Tree::default(), 1)]);
    for arity in 1..=arities.most() {
        let mut longer = HashMap::new();
        for (row, rows) in &rows {
            for (child, children) in &below {
                *longer.entry(row.beside(child)).or_default() += rows * children;
            }
        }
        rows = longer;
        for (row, &rows) in rows.iter().filter(|_| arities.contains(arity)) {
            let mut tree = *row;
            tree.nodes[arity] += 1;
            (1..5).filter(|&other| other != arity).for_each(|other| tree.pure_leaves[other] = 0);
            *trees.entry(tree).or_default() += rows;
        }
    }
    trees
}

pub fn sum_over_trees(trees: &HashMap<Tree, u64>, len: usize, weight: impl Fn(&Tree) -> f64) -> f64 {
    trees.iter().filter(|(tree, _)| tree.leaves == len).map(|(tree, &count)| count as f64 * weight(tree)).sum()
}

/// `binomial(n, 0), …, binomial(n, n)`, exactly.
pub fn binomials(n: usize) -> Vec<BigUint> {
    let step = |&(k, ref value): &(usize, BigUint)| Some((k + 1, value * (n - k) / (k + 1)));
    std::iter::successors(Some((0, BigUint::one())), step).take(n + 1).map(|(_, value)| value).collect()
}

/// Binomial probabilities of `n` coins.
pub fn binomial_law(n: usize, p: f64) -> Vec<f64> {
    let choose = binomials(n);
    (0..=n).map(|k| Magnitude::from(&choose[k]).value() * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)).collect()
}

pub fn close(left: f64, right: f64, relative: f64) {
    assert!((left - right).abs() <= relative * left.abs().max(right.abs()), "{left} is not {right}");
}

/// The largest relative difference of two functions of length.
pub fn largest_gap(left: &ByLength<Magnitude>, right: &ByLength<Magnitude>) -> f64 {
    left.iter().map(|(len, _)| (left.ln(len) - right.ln(len)).exp_m1().abs()).fold(0.0, f64::max)
}

/// Probabilities of two children, for grammars of two and three.
pub const ODDS: [f64; 5] = [0.0, 0.2, 0.5, 0.9, 1.0];
