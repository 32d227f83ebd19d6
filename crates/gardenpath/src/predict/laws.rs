//! How many nodes of a level stand below each symbol of another.

use crate::grammar::Grammar;

/// `[symbol of level from][number]`: the probability that so many nodes of level `to` stand below the symbol.
pub(super) fn node_laws(grammar: &Grammar, from: usize, to: usize) -> Vec<Vec<f64>> {
    let mut laws = vec![vec![0.0, 1.0]; grammar.sizes()[to]];
    for layer in grammar.layers()[from..to].iter().rev() {
        let mut above = vec![Vec::new(); layer.parents()];
        for rule in layer.rules() {
            let mut product = vec![rule.probability];
            for child in rule.children.iter() {
                product = convolve(&product, &laws[usize::from(child)]);
            }
            add(&mut above[usize::from(rule.parent)], &product);
        }
        laws = above;
    }
    laws
}

/// The probability that a sentence has so many nodes of a level, by their number.
pub(super) fn count_law(grammar: &Grammar, level: usize) -> Vec<f64> {
    let mut law = Vec::new();
    for (own, prior) in node_laws(grammar, 0, level).iter().zip(grammar.prior()) {
        add(&mut law, &own.iter().map(|p| prior * p).collect::<Vec<_>>());
    }
    law
}

/// The expected number of nodes of a level in a sentence, by symbol.
pub(super) fn expected_nodes(grammar: &Grammar, level: usize) -> Vec<f64> {
    let mut nodes = grammar.prior().to_vec();
    for layer in &grammar.layers()[..level] {
        let mut below = vec![0.0; layer.children()];
        for rule in layer.rules() {
            let weight = nodes[usize::from(rule.parent)] * rule.probability;
            rule.children.iter().for_each(|child| below[usize::from(child)] += weight);
        }
        nodes = below;
    }
    nodes
}

/// The law of the sum of two independent numbers.
pub(super) fn convolve(left: &[f64], right: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; (left.len() + right.len()).saturating_sub(1)];
    for (i, x) in left.iter().enumerate().filter(|(_, x)| **x != 0.0) {
        sums[i..].iter_mut().zip(right).for_each(|(sum, y)| *sum += x * y);
    }
    sums
}

/// Adds the terms of one list to those of another, which grows if it is shorter.
pub(super) fn add(sums: &mut Vec<f64>, terms: &[f64]) {
    if sums.len() < terms.len() {
        sums.resize(terms.len(), 0.0);
    }
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}
