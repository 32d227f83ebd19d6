//! Slow and obvious versions of everything, to compare with.
#![allow(dead_code)]

use gardenpath::{Children, Grammar, Rule, Seed, Stream};
use std::collections::BTreeMap;

/// One derivation, made by brute force.
#[derive(Clone, Debug)]
pub struct Derivation {
    pub root: u8,
    /// Given the root.
    pub probability: f64,
    pub sentence: Vec<u8>,
    /// The bracketed text with the grammar's names.
    pub text: String,
    /// (level, start, span, symbol) of every node.
    pub nodes: Vec<(usize, usize, usize, u8)>,
    /// (layer, rule) of every rule used.
    pub rules: Vec<(usize, usize)>,
}

/// All derivations of a grammar, by rewriting in every possible way.
pub fn all_derivations(grammar: &Grammar) -> Vec<Derivation> {
    let root = |root| expand(grammar, 0, root as u8).into_iter().map(move |d| Derivation { root: root as u8, ..d });
    (0..grammar.classes()).flat_map(root).collect()
}

fn expand(grammar: &Grammar, level: usize, symbol: u8) -> Vec<Derivation> {
    let name = grammar.name(level, symbol).into_owned();
    if level == grammar.depth() {
        let nodes = vec![(level, 0, 1, symbol)];
        let sentence = vec![symbol];
        return vec![Derivation { root: symbol, probability: 1.0, sentence, text: name, nodes, rules: vec![] }];
    }
    let mut derivations = Vec::new();
    let layer = grammar.layer(level);
    for (id, rule) in layer.rules().iter().enumerate().filter(|(_, rule)| rule.parent == symbol) {
        let start = Derivation {
            root: symbol,
            probability: rule.probability,
            sentence: vec![],
            text: format!("({name}"),
            nodes: vec![],
            rules: vec![(level, id)],
        };
        let mut partial = vec![start];
        for child in rule.children.iter() {
            let options = expand(grammar, level + 1, child);
            partial = partial.iter().flat_map(|left| options.iter().map(move |right| join(left, right))).collect();
        }
        for mut derivation in partial {
            derivation.text.push(')');
            derivation.nodes.push((level, 0, derivation.sentence.len(), symbol));
            derivations.push(derivation);
        }
    }
    derivations
}

fn join(left: &Derivation, right: &Derivation) -> Derivation {
    let offset = left.sentence.len();
    let moved = right.nodes.iter().map(|&(level, start, span, symbol)| (level, start + offset, span, symbol));
    Derivation {
        root: left.root,
        probability: left.probability * right.probability,
        sentence: [left.sentence.as_slice(), &right.sentence].concat(),
        text: format!("{} {}", left.text, right.text),
        nodes: left.nodes.iter().copied().chain(moved).collect(),
        rules: [left.rules.as_slice(), &right.rules].concat(),
    }
}

/// Derivations grouped by sentence.
pub fn by_sentence(grammar: &Grammar) -> BTreeMap<Vec<u8>, Vec<Derivation>> {
    let mut groups: BTreeMap<Vec<u8>, Vec<Derivation>> = BTreeMap::new();
    for derivation in all_derivations(grammar) {
        groups.entry(derivation.sentence.clone()).or_default().push(derivation);
    }
    groups
}

/// Eq. `inside` of the paper, transcribed literally: dense rule tensors, all spans of each level's interval, all splits.
/// Returns `P(sentence | root)` for every root.
pub fn literal_inside(grammar: &Grammar, sentence: &[u8]) -> Vec<f64> {
    let (depth, d) = (grammar.depth(), sentence.len());
    // chart[(i, lambda)][z] of the current level
    let mut chart: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    for (i, &token) in sentence.iter().enumerate() {
        let mut one_hot = vec![0.0; grammar.vocab()];
        one_hot[usize::from(token)] = 1.0;
        chart.insert((i, 1), one_hot);
    }
    for level in (0..depth).rev() {
        let height = (depth - level) as u32;
        let interval = |height: u32| 2usize.pow(height)..=3usize.pow(height);
        let mut next = BTreeMap::new();
        for lambda in interval(height) {
            for i in 0..(d + 1).saturating_sub(lambda) {
                let mut cell = vec![0.0; grammar.sizes()[level]];
                for rule in grammar.layer(level).rules() {
                    for q in interval(height - 1) {
                        match *rule.children.as_slice() {
                            [a, b] => {
                                if q < lambda && interval(height - 1).contains(&(lambda - q)) {
                                    cell[usize::from(rule.parent)] += rule.probability
                                        * chart[&(i, q)][usize::from(a)]
                                        * chart[&(i + q, lambda - q)][usize::from(b)];
                                }
                            }
                            [a, b, c] => {
                                for r in interval(height - 1) {
                                    if q + r < lambda && interval(height - 1).contains(&(lambda - q - r)) {
                                        cell[usize::from(rule.parent)] += rule.probability
                                            * chart[&(i, q)][usize::from(a)]
                                            * chart[&(i + q, r)][usize::from(b)]
                                            * chart[&(i + q + r, lambda - q - r)][usize::from(c)];
                                    }
                                }
                            }
                            _ => unreachable!("rules have two or three children"),
                        }
                    }
                }
                next.insert((i, lambda), cell);
            }
        }
        chart = next;
    }
    chart.get(&(0, d)).cloned().unwrap_or_else(|| vec![0.0; grammar.classes()])
}

/// A grammar of any kind: sizes per level, several parents per tuple, any probabilities, layers of one arity.
pub fn random_grammar(seed: u64, depth: usize, max_size: usize, max_rules: usize) -> Grammar {
    let mut stream = Seed::new(seed).child("random grammar").stream(0);
    let mut below = |bound: usize| stream.below(bound as u64) as usize;
    let sizes: Vec<usize> = (0..=depth).map(|_| 1 + below(max_size)).collect();
    let mut layers = Vec::new();
    for level in 0..depth {
        let kind = below(4);
        let mut rules: Vec<Rule> = Vec::new();
        for parent in 0..sizes[level] {
            let wanted = 1 + below(max_rules);
            let mut sides = std::collections::BTreeSet::new();
            for _ in 0..wanted {
                let mut symbol = || below(sizes[level + 1]) as u8;
                let (a, b, c) = (symbol(), symbol(), symbol());
                let binary = match kind {
                    0 => true,
                    1 => false,
                    _ => below(2) == 0,
                };
                sides.insert(if binary { Children::pair(a, b) } else { Children::triple(a, b, c) });
            }
            let weights: Vec<f64> = sides.iter().map(|_| 1.0 + below(9) as f64).collect();
            let total: f64 = weights.iter().sum();
            let rule = |(children, weight): (Children, f64)| Rule {
                parent: parent as u8,
                children,
                probability: weight / total,
            };
            rules.extend(sides.into_iter().zip(weights).map(rule));
        }
        layers.push(rules);
    }
    let weights: Vec<f64> = (0..sizes[0]).map(|_| 1.0 + below(5) as f64).collect();
    let total: f64 = weights.iter().sum();
    Grammar::new(sizes, weights.iter().map(|w| w / total).collect(), layers).expect("the grammar is well formed")
}

/// A random sentence, grammatical or not.
pub fn random_sentence(stream: &mut Stream, vocab: usize, len: usize) -> Vec<u8> {
    (0..len).map(|_| stream.below(vocab as u64) as u8).collect()
}

/// Equal up to a relative error of 1e-11.
pub fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-11 * expected.abs(), "{what}: found {found}, expected {expected}");
}
