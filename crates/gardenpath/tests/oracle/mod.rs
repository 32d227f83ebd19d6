//! Slow and obvious versions of everything, to compare with.
#![allow(dead_code, unused_imports)]

mod belief;
mod rational;

pub use belief::{Belief, inside_and_outside};
pub use rational::{Exact, Rational, assert_all_near, assert_close, assert_near, exact, value};

use gardenpath::{Children, Grammar, Node, Rule, Seed, Semiring, Span, Stream};
use num_traits::One;
use std::collections::{BTreeMap, BTreeSet};

/// One derivation, made by brute force.
#[derive(Clone, Debug)]
pub struct Derivation {
    pub root: u8,
    /// Given the root.
    pub probability: Rational,
    /// With the root.
    pub joint: Rational,
    pub sentence: Vec<u8>,
    /// The bracketed text with the grammar's names.
    pub text: String,
    /// Every node, with its level.
    pub nodes: Vec<(usize, Node)>,
    /// (layer, rule) of every rule used.
    pub rules: Vec<(usize, usize)>,
}

/// All derivations of a grammar, by rewriting in every possible way.
pub fn all_derivations(grammar: &Grammar) -> Vec<Derivation> {
    let of_root = |(root, &prior): (usize, &f64)| {
        let joint = move |d: Derivation| Derivation { joint: exact(prior) * &d.probability, ..d };
        expand(grammar, 0, root as u8).into_iter().map(joint)
    };
    grammar.prior().iter().enumerate().flat_map(of_root).collect()
}

fn expand(grammar: &Grammar, level: usize, symbol: u8) -> Vec<Derivation> {
    let name = grammar.name(level, symbol).into_owned();
    if level == grammar.depth() {
        let nodes = vec![(level, Node { span: Span::new(0, 1), symbol })];
        let (probability, joint) = (Rational::one(), Rational::one());
        return vec![Derivation {
            root: symbol,
            probability,
            joint,
            sentence: vec![symbol],
            text: name,
            nodes,
            rules: vec![],
        }];
    }
    let mut derivations = Vec::new();
    let layer = grammar.layer(level);
    for (id, rule) in layer.rules().iter().enumerate().filter(|(_, rule)| rule.parent == symbol) {
        let start = Derivation {
            root: symbol,
            probability: exact(rule.probability),
            joint: Rational::one(),
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
            derivation.nodes.push((level, Node { span: Span::new(0, derivation.sentence.len()), symbol }));
            derivations.push(derivation);
        }
    }
    derivations
}

fn join(left: &Derivation, right: &Derivation) -> Derivation {
    let offset = left.sentence.len();
    let moved = right.nodes.iter().map(|&(level, Node { span, symbol })| {
        (level, Node { span: Span::new(span.start + offset, span.len), symbol })
    });
    Derivation {
        root: left.root,
        probability: &left.probability * &right.probability,
        joint: Rational::one(),
        sentence: [left.sentence.as_slice(), &right.sentence].concat(),
        text: format!("{} {}", left.text, right.text),
        nodes: left.nodes.iter().copied().chain(moved).collect(),
        rules: [left.rules.as_slice(), &right.rules].concat(),
    }
}

/// All that a symbol of a level derives, with its probability, by rewriting in every possible way.
pub fn yields(grammar: &Grammar, level: usize, symbol: u8) -> Vec<(Vec<u8>, Rational)> {
    expand(grammar, level, symbol).into_iter().map(|d| (d.sentence, d.probability)).collect()
}

/// Derivations grouped by sentence.
pub fn by_sentence(grammar: &Grammar) -> BTreeMap<Vec<u8>, Vec<Derivation>> {
    let mut groups: BTreeMap<Vec<u8>, Vec<Derivation>> = BTreeMap::new();
    for derivation in all_derivations(grammar) {
        groups.entry(derivation.sentence.clone()).or_default().push(derivation);
    }
    groups
}

/// `P(sentence | root)` for every root, by [`literal_chart`].
pub fn literal_inside<S: Semiring>(grammar: &Grammar, sentence: &[u8]) -> Vec<S> {
    let root = literal_chart(grammar, sentence).swap_remove(0).remove(&(0, sentence.len()));
    root.unwrap_or_else(|| vec![S::zero(); grammar.classes()])
}

/// Eq. `inside` of the paper, transcribed literally: dense rule tensors, all spans of each level's interval, all splits.
/// Returns the cells `(i, lambda)` of all levels above the tokens, from the root down.
pub fn literal_chart<S: Semiring>(grammar: &Grammar, sentence: &[u8]) -> Vec<BTreeMap<(usize, usize), Vec<S>>> {
    let (depth, d) = (grammar.depth(), sentence.len());
    // chart[(i, lambda)][z] of the current level
    let mut chart: BTreeMap<(usize, usize), Vec<S>> = BTreeMap::new();
    for (i, &token) in sentence.iter().enumerate() {
        let mut one_hot = vec![S::zero(); grammar.vocab()];
        one_hot[usize::from(token)] = S::one();
        chart.insert((i, 1), one_hot);
    }
    let mut levels = Vec::new();
    for level in (0..depth).rev() {
        let height = (depth - level) as u32;
        let interval = |height: u32| 2usize.pow(height)..=3usize.pow(height);
        let mut next = BTreeMap::new();
        for lambda in interval(height) {
            for i in 0..(d + 1).saturating_sub(lambda) {
                let mut cell = vec![S::zero(); grammar.sizes()[level]];
                for rule in grammar.layer(level).rules() {
                    let (parent, probability) =
                        (usize::from(rule.parent), S::rule(rule.probability, rule.children.len()));
                    for q in interval(height - 1) {
                        match *rule.children.as_slice() {
                            [a, b] => {
                                if q < lambda && interval(height - 1).contains(&(lambda - q)) {
                                    let (x, y) = (&chart[&(i, q)], &chart[&(i + q, lambda - q)]);
                                    cell[parent].add(probability.mul(&x[usize::from(a)]).mul(&y[usize::from(b)]));
                                }
                            }
                            [a, b, c] => {
                                for r in interval(height - 1) {
                                    if q + r < lambda && interval(height - 1).contains(&(lambda - q - r)) {
                                        let (x, y) = (&chart[&(i, q)], &chart[&(i + q, r)]);
                                        let z = &chart[&(i + q + r, lambda - q - r)][usize::from(c)];
                                        let pair = probability.mul(&x[usize::from(a)]).mul(&y[usize::from(b)]);
                                        cell[parent].add(pair.mul(z));
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
        levels.push(next.clone());
        chart = next;
    }
    levels.reverse();
    levels
}

/// The sets of arities that everything is tested with.
pub const ARITIES: [&[usize]; 9] = [&[1], &[2], &[3], &[4], &[1, 2], &[2, 3], &[2, 4], &[1, 2, 3], &[2, 3, 4]];

/// A grammar of any kind: sizes per level, several parents per tuple, layers of one arity or of all. Its probabilities are unequal and
/// have few binary digits, so that sums of them are exact.
pub fn random_grammar(seed: u64, depth: usize, max_size: usize, max_rules: usize, arities: &[usize]) -> Grammar {
    let mut stream = Seed::new(seed).child("random grammar").stream(0);
    let mut below = |bound: usize| stream.below(bound as u64) as usize;
    let sizes: Vec<usize> = (0..=depth).map(|_| 1 + below(max_size)).collect();
    let mut layers = Vec::new();
    for level in 0..depth {
        let kind = below(2 * arities.len());
        let arities = arities.get(kind..=kind).unwrap_or(arities);
        let mut rules: Vec<Rule> = Vec::new();
        for parent in 0..sizes[level] {
            let mut sides = BTreeSet::new();
            for _ in 0..1 + below(max_rules) {
                let arity = arities[below(arities.len())];
                let side: Vec<u8> = (0..arity).map(|_| below(sizes[level + 1]) as u8).collect();
                sides.insert(Children::from_slice(&side).expect("an arity"));
            }
            let shares = shares(sides.len(), &mut below);
            let rule = |(children, probability)| Rule { parent: parent as u8, children, probability };
            rules.extend(sides.into_iter().zip(shares).map(rule));
        }
        layers.push(rules);
    }
    let prior = shares(sizes[0], &mut below);
    Grammar::new(sizes, prior, layers).expect("the grammar is well formed")
}

/// Numbers whose sum is exactly 1: a whole that is broken again and again.
fn shares(count: usize, below: &mut impl FnMut(usize) -> usize) -> Vec<f64> {
    let mut shares = vec![1.0];
    while shares.len() < count {
        let (broken, part) = (below(shares.len()), (1 + below(7)) as f64 / 8.0);
        shares.push(shares[broken] * part);
        shares[broken] *= 1.0 - part;
    }
    shares
}

/// The number of derivations, without enumerating them.
pub fn derivations_of(grammar: &Grammar) -> f64 {
    let mut counts = vec![1.0; grammar.vocab()];
    for layer in grammar.layers().iter().rev() {
        let mut above = vec![0.0; layer.parents()];
        for rule in layer.rules() {
            above[usize::from(rule.parent)] += rule.children.iter().map(|c| counts[usize::from(c)]).product::<f64>();
        }
        counts = above;
    }
    counts.iter().sum()
}

/// A grammar with probabilities from 1 down to `10^-smallest`, all sizes alike. Just above the tokens most tuples are rules of every
/// symbol, so that cells are full; further up there are few, so that there is often no other way than an improbable one.
pub fn steep_grammar(seed: u64, vocab: usize, depth: usize, smallest: f64) -> Grammar {
    let mut stream = Seed::new(seed).child("steep grammar").stream(0);
    let symbols = || 0..vocab as u8;
    let pairs = || symbols().flat_map(move |a| (0..vocab as u8).map(move |b| Children::from([a, b])));
    let triples = || {
        pairs().flat_map(move |pair| {
            (0..vocab as u8).map(move |c| Children::from([pair.as_slice()[0], pair.as_slice()[1], c]))
        })
    };
    let layer = |level: usize| {
        let mut rules = Vec::new();
        for parent in symbols() {
            let first = rules.len();
            for children in pairs().chain(triples()) {
                let kept = if level + 1 < depth { stream.below(20) == 0 } else { stream.below(4) > 0 };
                if kept || children == Children::from([parent, parent]) {
                    rules.push(Rule { parent, children, probability: 10f64.powf(-smallest * stream.unit()) });
                }
            }
            let total: f64 = rules[first..].iter().map(|rule: &Rule| rule.probability).sum();
            rules[first..].iter_mut().for_each(|rule| rule.probability /= total);
        }
        rules
    };
    let layers = (0..depth).map(layer).collect();
    Grammar::new(vec![vocab; depth + 1], vec![1.0 / vocab as f64; vocab], layers).expect("the grammar is well formed")
}

/// The sentence of a derivation in which every rule of a symbol is as likely as any other, whatever its probability.
pub fn unlikely_sentence(grammar: &Grammar, stream: &mut Stream) -> Vec<u8> {
    let mut symbols = vec![stream.below(grammar.classes() as u64) as u8];
    for layer in grammar.layers() {
        let mut rewrite = |&symbol: &u8| {
            let rules = layer.rules_of(symbol);
            let rule = rules.start + stream.below(rules.len() as u64) as usize;
            layer.rules()[rule].children.iter().collect::<Vec<u8>>()
        };
        symbols = symbols.iter().flat_map(&mut rewrite).collect();
    }
    symbols
}

/// A random sentence, grammatical or not.
pub fn random_sentence(stream: &mut Stream, vocab: usize, len: usize) -> Vec<u8> {
    (0..len).map(|_| stream.below(vocab as u64) as u8).collect()
}
