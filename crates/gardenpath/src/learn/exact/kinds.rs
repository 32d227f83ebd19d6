//! A check of grammars learned without labels: do both halves of the sentences agree on which rules share a symbol?
//!
//! Labels are independent evidence for a clustering. Without them a symbol is known only by its neighbours, the very features its rules
//! were clustered by: two halves of one symbol look different because they were chosen to. So the rules are split in two again, using
//! one half of the corpus, and the other half tests whether there are two kinds of rules. There must not be within one
//! symbol, and there must be among the rules of any two. A level with a missing symbol is assumed to have merged it with another.

use super::contingency::Pearson;
use super::independence::Observed;
use super::mixture::Observations;
use crate::grammar::{Grammar, Layer, Symbol};
use crate::learn::Outline;
use crate::seed::{Seed, Stream};
use rayon::prelude::*;
use std::ops::Range;

/// Starts of each split.
const STARTS: usize = 4;

/// The deviation, in units of a normal law, that tells kinds of rules apart. Of 2,500 right symbols one reached 4.9; a merged
/// one that no other test saw had 6.3.
const LIMIT: f64 = 5.0;

/// What is wrong with the symbols of a grammar, given what stands around its rules in each half of the sentences.
pub(super) fn problem(grammar: &Grammar, outline: &Outline, halves: &[Vec<Observed>; 2], seed: Seed) -> Option<String> {
    (1..grammar.depth()).find_map(|level| {
        let (found, told) = (grammar.sizes()[level], outline.size(level));
        if found < told {
            return Some(format!(
                "{found} of {told} symbols of level {level} were told apart: the level has fewer symbols than the vocab, or there are too few \
                 sentences"
            ));
        }
        let layer = grammar.layer(level);
        let contexts = halves.each_ref().map(|half| Contexts::new(grammar, level, &half[level - 1]));
        let symbols = layer.parents();
        let pairs: Vec<[usize; 2]> = (0..symbols).flat_map(|x| (x..symbols).map(move |y| [x, y])).collect();
        let deviation = |&[x, y]: &[usize; 2]| {
            let mut stream = seed.child("kinds").child(&level.to_string()).stream((x * symbols + y) as u64);
            deviation(&contexts, &rules(layer, x, y), &mut stream)
        };
        let deviations: Vec<f64> = pairs.par_iter().map(deviation).collect();
        let found = || pairs.iter().zip(&deviations);
        let name = |symbol: usize| grammar.name(level, symbol as Symbol);
        let (&[x, _], most) = found().filter(|([x, y], _)| x == y).max_by(|x, y| x.1.total_cmp(y.1))?;
        if *most > LIMIT {
            return Some(format!(
                "symbol {} of level {level} has two kinds of rules ({most:.1} standard deviations): the level has more symbols than the \
                 vocab, or there are too few sentences",
                name(x)
            ));
        }
        let (&[x, y], least) = found().filter(|([x, y], _)| x != y).min_by(|x, y| x.1.total_cmp(y.1))?;
        (*least < LIMIT).then(|| {
            format!("symbols {} and {} of level {level} are alike in half of the sentences: too few sentences", name(x), name(y))
        })
    })
}

/// The rules of one symbol, or of two.
fn rules(layer: &Layer, x: usize, y: usize) -> Vec<usize> {
    let other: Range<usize> = if x == y { 0..0 } else { layer.rules_of(y as Symbol) };
    layer.rules_of(x as Symbol).chain(other).collect()
}

/// How often each rule of a layer was seen beside each symbol: on its left and, behind those, on its right.
struct Contexts {
    counts: Vec<u32>,
    symbols: usize,
}

impl Contexts {
    fn new(grammar: &Grammar, level: usize, observed: &Observed) -> Self {
        // One more for the border of the sentence.
        let symbols = grammar.sizes()[level] + 1;
        let mut counts = vec![0; 2 * symbols * grammar.layer(level).rules().len()];
        for (side, pairs) in observed.neighbours().into_iter().enumerate() {
            for (rule, symbol) in pairs {
                counts[(2 * rule + side) * symbols + symbol.map_or(symbols - 1, usize::from)] += 1;
            }
        }
        Contexts { counts, symbols }
    }

    fn row(&self, rule: usize) -> &[u32] {
        &self.counts[2 * self.symbols * rule..][..2 * self.symbols]
    }

    /// Splits rules in two by what stands around them.
    fn split(&self, rules: &[usize], stream: &mut Stream) -> Vec<u32> {
        let counts = rules.iter().flat_map(|&rule| self.row(rule)).map(|&count| f64::from(count)).collect();
        let observations = Observations { counts, groups: vec![self.symbols; 2] };
        observations.cluster(2, STARTS, stream).cluster
    }

    /// How different two kinds of rules are.
    fn test(&self, rules: &[usize], kinds: &[u32]) -> Pearson {
        let mut sums = [vec![0; 2 * self.symbols], vec![0; 2 * self.symbols]];
        for (&rule, &kind) in rules.iter().zip(kinds) {
            sums[kind as usize].iter_mut().zip(self.row(rule)).for_each(|(sum, count)| *sum += count);
        }
        let side = |side: usize| {
            let cells = sums.iter().zip(0..).flat_map(|(sums, kind)| {
                let own = &sums[side * self.symbols..][..self.symbols];
                own.iter().zip(0..).map(move |(&count, symbol)| (kind, symbol, count))
            });
            Pearson::new(&cells.filter(|cell| cell.2 > 0).collect::<Vec<_>>())
        };
        side(0).merge(side(1))
    }
}

/// How clearly rules are of two kinds: split by each half of the sentences, tested by the other.
fn deviation([first, second]: &[Contexts; 2], rules: &[usize], stream: &mut Stream) -> f64 {
    if rules.len() < 2 {
        return f64::NEG_INFINITY;
    }
    let forth = second.test(rules, &first.split(rules, stream));
    let back = first.test(rules, &second.split(rules, stream));
    forth.merge(back).deviation()
}
