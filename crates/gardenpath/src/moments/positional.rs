//! The exact joint law of the root and the tuple at one position.
//!
//! Neighbours are followed down by the token at which they begin. A child of a node begins where its left siblings end, and their lengths
//! are independent of everything else, given their symbols.

use super::check_table;
use super::expected::one_root;
use super::table::ENTRY_BYTES;
use super::windows::{Neighbours, Source, Windows, needed_lengths};
use crate::arity::Arities;
use crate::error::{Counts, Error, Result};
use crate::grammar::{Children, Grammar, Layer, Symbol};
use crate::memory;
use crate::tuple::TupleCode;
use rayon::prelude::*;

/// `P(root, (X_i, ..., X_(i+s-1)) = tuple)` for all tuples of one arity `s` and one position `i`, counted from 0.
///
/// ```
/// use gardenpath::snr::PositionedTuples;
/// use gardenpath::{Ensemble, Seed};
///
/// let grammar = Ensemble::new(4, 2).sample(Seed::new(7))?;
/// let triples = PositionedTuples::new(&grammar, 3, 1)?;
/// // Every sentence of depth 2 has a triple at position 1: it has at least four tokens.
/// assert!((triples.total() - 1.0).abs() < 1e-12);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PositionedTuples {
    code: TupleCode,
    classes: usize,
    /// `[tuple][root]`
    joint: Vec<f64>,
}

impl PositionedTuples {
    /// The law of `arity` tokens from `position`, counted from 0, on. It takes time in proportion to the square of `position`.
    pub fn new(grammar: &Grammar, arity: usize, position: usize) -> Result<Self> {
        let (classes, depth, shape) = (grammar.classes(), grammar.depth(), grammar.shape());
        if !(1..=Children::MAX).contains(&arity) {
            return Err(Error::count("arity", arity, Counts::Between(1, Children::MAX)));
        }
        let arities = [arity].into();
        check_table(grammar.vocab(), classes, arities, ENTRY_BYTES)?;
        let longest = *shape.lengths().end();
        if position.saturating_add(arity) > longest {
            return Err(Error::count(
                "position of the tuple",
                position,
                Counts::AtMost(longest.saturating_sub(arity) as u64),
            ));
        }
        let (lengths, _) = needed_lengths(grammar, depth, arity)?;
        // Where neighbours may begin: the first of them covers the position.
        let starts = |level: usize| (position + 1).saturating_sub(*shape.spans(level).end())..=position;
        let entries = |level: usize| {
            let symbols = grammar.sizes()[level].max(grammar.sizes()[depth.min(level + 1)]);
            let tuples = TupleCode::new(symbols, (1..=lengths[level]).collect::<Arities>()).len();
            starts(level).count() as u128 * classes as u128 * tuples as u128
        };
        let bytes = (0..=depth).map(entries).fold(0, u128::saturating_add).saturating_mul(16);
        memory::check(format_args!("the neighbours at all positions up to {position}"), bytes)?;
        let laws = prefix_laws(grammar, position + 1)?;
        // `[root]`: where neighbours begin, with the probability that they stand there.
        let mut roots: Vec<Vec<(usize, Neighbours)>> =
            (0..classes).map(|root| vec![(0, one_root(grammar, root))]).collect();
        for (level, layer) in grammar.layers().iter().enumerate() {
            // The shift of a window is the number of tokens of its first parent that stand before it.
            let shifts = (*shape.spans(level).end()).min(position + 1);
            let windows = Windows::new(layer, lengths[level + 1], shifts, |beginning, shift| {
                let before = layer.automaton().find(&beginning.children[..beginning.part.start]);
                laws[level][before.expect("a prefix of a rule") as usize][shift]
            });
            let descend = |above: Vec<(usize, Neighbours)>| {
                let above: Vec<(usize, Source)> =
                    above.into_iter().map(|(start, nodes)| (start, windows.source(nodes))).collect();
                let below = |start: usize| {
                    let shifted = above.iter().filter_map(|(own, source)| Some((start.checked_sub(*own)?, source)));
                    let sources: Vec<(usize, &Source)> = shifted.filter(|(shift, _)| *shift < shifts).collect();
                    (start, windows.below(&sources))
                };
                starts(level + 1).map(below).collect()
            };
            roots = roots.into_par_iter().map(descend).collect();
        }
        let code = TupleCode::new(grammar.vocab(), arities);
        let mut joint = vec![0.0; code.len() * classes];
        for (tuple, row) in joint.chunks_mut(classes).enumerate() {
            row.iter_mut().zip(&roots).for_each(|(joint, of_root)| *joint = of_root[0].1[arity - 1][tuple]);
        }
        Ok(PositionedTuples { code, classes, joint })
    }

    /// The number of symbols of a tuple.
    pub fn arity(&self) -> usize {
        self.code.arities().most()
    }

    /// The probability of the tuple together with each root.
    ///
    /// # Panics
    /// If the tuple has another arity.
    pub fn joint(&self, tuple: &[Symbol]) -> &[f64] {
        assert_eq!(tuple.len(), self.arity(), "the number of symbols of the tuple");
        &self.joint[self.code.of(tuple) * self.classes..][..self.classes]
    }

    /// The probability of each root given the tuple, or `None` if the tuple never occurs at this position.
    ///
    /// # Panics
    /// If the tuple has another arity.
    pub fn conditional(&self, tuple: &[Symbol]) -> Option<Vec<f64>> {
        let joint = self.joint(tuple);
        let total: f64 = joint.iter().sum();
        (total > 0.0).then(|| joint.iter().map(|p| p / total).collect())
    }

    /// The probability that a sentence is long enough to have a tuple there.
    pub fn total(&self) -> f64 {
        self.joint.iter().sum()
    }
}

/// For each layer and each state of its automaton, the probabilities that the children read so far have 0, 1, ... tokens, fewer than
/// `limit`.
fn prefix_laws(grammar: &Grammar, limit: usize) -> Result<Vec<Vec<Vec<f64>>>> {
    let states = |layer: &Layer| layer.rules().iter().map(|rule| rule.children.len()).sum::<usize>() + 1;
    let most: usize = grammar.layers().iter().map(states).sum();
    memory::check(format_args!("the lengths of {most} prefixes of rules"), most as u128 * limit as u128 * 8)?;
    let certain = |length: usize| (0..limit).map(|k| f64::from(u8::from(k == length))).collect::<Vec<f64>>();
    let mut symbols = vec![certain(1); grammar.vocab()];
    let mut laws = Vec::new();
    for layer in grammar.layers().iter().rev() {
        let automaton = layer.automaton();
        // States are numbered in the order in which they are reached.
        let mut prefixes = vec![certain(0)];
        for state in (0..=automaton.longest()).flat_map(|length| automaton.of_length(length)) {
            for next in automaton.extensions(state) {
                let law = convolution(&prefixes[state as usize], &symbols[usize::from(automaton.last(next))]);
                prefixes.push(law);
            }
        }
        symbols = vec![vec![0.0; limit]; layer.parents()];
        for rule in layer.rules() {
            let state = automaton.find(rule.children.as_slice()).expect("the automaton has all rules");
            let law = symbols[usize::from(rule.parent)].iter_mut().zip(&prefixes[state as usize]);
            law.for_each(|(sum, p)| *sum += rule.probability * p);
        }
        laws.push(prefixes);
    }
    laws.reverse();
    Ok(laws)
}

/// The law of the sum of two independent numbers, as far as both were given.
fn convolution(x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut law = vec![0.0; x.len()];
    for (k, p) in x.iter().enumerate().filter(|(_, p)| **p > 0.0) {
        law[k..].iter_mut().zip(y).for_each(|(sum, q)| *sum += p * q);
    }
    law
}
