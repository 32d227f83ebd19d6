//! The last step: which tuples over the whole sentence belong to which label.

use super::lattice::code;
use super::lexicon::drop_untypical;
use super::shelf::{Sentences, Shelf};
use crate::chart::Parser;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Grammar, Rule, Symbol};
use crate::learn::Progress;
use crate::learn::shards::{Tables, add_touched};

/// Steps of expectation maximisation, at most.
const ROUNDS: usize = 40;

/// Expected counts that every tuple loses in each step.
const SPARSITY: f64 = 0.1;

/// Learns the rules of the roots by expectation maximisation given the labels.
pub(super) fn learn(
    grammar: &Grammar,
    corpus: &Corpus,
    training: usize,
    classes: usize,
    token_scale: f64,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Vec<Rule>> {
    let code = code(grammar, 1);
    let size = code.len();
    // [label][tuple]
    let mut probability = vec![1.0 / size as f64; classes * size];
    let parser = Parser::new(grammar).with_token_scale(token_scale);
    let mut shelf = Shelf::new(parser, corpus, 0..training, 1);
    let tables = Tables::new(probability.len());
    for step in 1..=ROUNDS {
        let counts = count(&mut shelf, &tables, corpus.roots(), &probability, size)?;
        let mut change = 0.0;
        for (row, counts) in probability.chunks_exact_mut(size).zip(counts.chunks_exact(size)) {
            let total: f64 = counts.iter().map(|n| (n - SPARSITY).max(0.0)).sum();
            for (p, n) in row.iter_mut().zip(counts) {
                let next = if total > 0.0 { (n - SPARSITY).max(0.0) / total } else { 0.0 };
                change += (next - *p).abs();
                *p = next;
            }
        }
        progress(&Progress::Rooted { step, change });
        if change < 1e-5 * classes as f64 {
            break;
        }
    }
    let mut rules = Vec::new();
    for (root, row) in probability.chunks_exact_mut(size).enumerate() {
        code.arities().iter().for_each(|arity| drop_untypical(&mut row[code.range(arity)]));
        let total: f64 = row.iter().sum();
        let found = row.iter().enumerate().filter(|(_, p)| **p > 0.0);
        rules.extend(found.map(|(tuple, p)| Rule {
            parent: root as Symbol,
            children: code.children(tuple),
            probability: p / total,
        }));
    }
    Ok(rules)
}

/// How often each tuple is expected to be the rule of each label.
fn count(shelf: &mut Shelf, tables: &Tables, roots: &[Symbol], probability: &[f64], size: usize) -> Result<Vec<f64>> {
    let row = |sentence: usize| usize::from(roots[sentence]) * size;
    let known = |sentence, tuple: u32| probability[row(sentence) + tuple as usize] > 0.0;
    let shard = |sentences: Sentences<_>| {
        tables.sum(|counts| {
            sentences.for_each(|sentence, lattice| {
                let row = row(sentence);
                let values = || {
                    let place = |tuple: u32| row + tuple as usize;
                    lattice.instances.iter().map(move |i| (place(i.tuple), i.weight * probability[place(i.tuple)]))
                };
                let total: f64 = values().map(|(_, value)| value).sum();
                if total > 0.0 {
                    values().for_each(|(place, value)| counts.add(place, value / total));
                }
            })
        })
    };
    let mut total = vec![0.0; probability.len()];
    shelf.pass(known, shard, |counts| add_touched(&mut total, &counts))?;
    Ok(total)
}
