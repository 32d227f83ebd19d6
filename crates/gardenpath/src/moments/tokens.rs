//! Counting tokens: one increment per token, in tables that stay in the cache.

use super::Moments;
use crate::corpus::{Corpus, Sampler};
use crate::error::{Error, Result};
use crate::grammar::Symbol;
use crate::seed::Seed;
use rayon::prelude::*;
use std::ops::Range;

/// No count of one tally can exceed the number of its tokens.
const TALLY_TOKENS: usize = u32::MAX as usize;

/// Sentences that are sampled before they are counted: their tokens are still in a cache.
const PIECE: u64 = 1 << 18;

/// From this size on, the table of all roots no longer fits a fast cache, but that of one root does.
const SORTED_TABLE: usize = 1 << 17;

/// Sentences that are sorted by root at a time.
const SORTED_SENTENCES: usize = 1 << 14;

/// Small counts of one piece of work.
///
/// A pair is a triple without its last symbol, so only triples are counted, and the last pair of each sentence.
struct Tally {
    symbols: usize,
    /// `[root][a][b]`
    last_pairs: Vec<u32>,
    /// `[root][a][b][c]`
    triples: Vec<u32>,
    /// Numbers of sentences, by root.
    order: Vec<u32>,
}

impl Moments {
    /// Adds all adjacent pairs and triples of the sentences of a corpus, on all threads.
    pub fn add_corpus(&mut self, corpus: &Corpus) -> Result<()> {
        check(corpus.tokens(), self.symbols)?;
        corpus.roots().iter().max().map_or(Ok(()), |&root| self.check_root(root))?;
        self.add_checked(corpus);
        Ok(())
    }

    /// Adds the sentences with these numbers, sampled on the fly: they are never in memory together.
    ///
    /// ```
    /// use gardenpath::{Corpus, Ensemble, Moments, Sampler, Seed};
    ///
    /// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
    /// let (mut streamed, mut held) = (Moments::new(8, 8)?, Moments::new(8, 8)?);
    /// streamed.add_sampled(&Sampler::new(&grammar), Seed::new(1), 0..10_000)?;
    /// held.add_corpus(&Corpus::sample(&grammar, Seed::new(1), 0..10_000))?;
    /// assert_eq!(streamed, held);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn add_sampled(&mut self, sampler: &Sampler, seed: Seed, numbers: Range<u64>) -> Result<()> {
        Corpus::stream(sampler, seed, numbers, PIECE).try_for_each(|corpus| self.add_corpus(&corpus))
    }

    fn add_checked(&mut self, corpus: &Corpus) {
        // One contiguous part per thread. Integer sums do not depend on how the sentences were divided.
        let together = self.parts();
        let parts = together.max(corpus.tokens().len().div_ceil(TALLY_TOKENS));
        let part = corpus.len().div_ceil(parts).max(1);
        let starts: Vec<usize> = (0..corpus.len()).step_by(part).collect();
        for wave in starts.chunks(together) {
            let count = |&start: &usize| {
                let mut tally = Tally::new(self.symbols, self.classes);
                tally.count(corpus, start..corpus.len().min(start + part));
                tally
            };
            let tallies: Vec<Tally> = wave.par_iter().map(count).collect();
            tallies.iter().for_each(|tally| tally.pour(self));
        }
    }
}

impl Tally {
    fn new(symbols: usize, classes: usize) -> Self {
        let pairs = classes * symbols * symbols;
        Tally { symbols, last_pairs: vec![0; pairs], triples: vec![0; pairs * symbols], order: Vec::new() }
    }

    fn count(&mut self, corpus: &Corpus, numbers: Range<usize>) {
        if self.triples.len() < SORTED_TABLE {
            for i in numbers {
                self.count_sentence(corpus.sentence(i), corpus.roots()[i]);
            }
            return;
        }
        for first in numbers.clone().step_by(SORTED_SENTENCES) {
            let mut order = std::mem::take(&mut self.order);
            sort_by_root(&corpus.roots()[first..numbers.end.min(first + SORTED_SENTENCES)], &mut order);
            for &k in &order {
                let i = first + k as usize;
                self.count_sentence(corpus.sentence(i), corpus.roots()[i]);
            }
            self.order = order;
        }
    }

    #[inline]
    fn count_sentence(&mut self, sentence: &[Symbol], root: Symbol) {
        let symbols = self.symbols;
        let block = symbols * symbols;
        let [first, second, rest @ ..] = sentence else { return };
        let triples = &mut self.triples[usize::from(root) * block * symbols..][..block * symbols];
        let (mut a, mut b) = (usize::from(*first) * symbols, usize::from(*second));
        for &c in rest {
            let c = usize::from(c);
            triples[(a + b) * symbols + c] += 1;
            (a, b) = (b * symbols, c);
        }
        self.last_pairs[usize::from(root) * block + a + b] += 1;
    }

    /// Adds the counts to the moments.
    fn pour(&self, moments: &mut Moments) {
        for (pair, last) in self.last_pairs.iter().enumerate() {
            let counts = &self.triples[pair * self.symbols..][..self.symbols];
            moments.pairs[pair] += u64::from(*last) + counts.iter().map(|&count| u64::from(count)).sum::<u64>();
        }
        moments.triples.iter_mut().zip(&self.triples).for_each(|(sum, &count)| *sum += u64::from(count));
    }
}

/// The numbers of the sentences in the order of their roots: a counting sort.
fn sort_by_root(roots: &[Symbol], order: &mut Vec<u32>) {
    let mut next = [0u32; 257];
    roots.iter().for_each(|&root| next[usize::from(root) + 1] += 1);
    for root in 0..256 {
        next[root + 1] += next[root];
    }
    order.resize(roots.len(), 0);
    for (i, &root) in roots.iter().enumerate() {
        let place = &mut next[usize::from(root)];
        order[*place as usize] = i as u32;
        *place += 1;
    }
}

/// Refuses tokens that the tables have no room for.
pub(super) fn check(tokens: &[Symbol], symbols: usize) -> Result<()> {
    // The maximum of bytes is vectorised; the position is only looked for after a failure.
    match tokens.iter().max() {
        Some(&most) if usize::from(most) >= symbols => {
            let position = tokens.iter().position(|&token| usize::from(token) >= symbols).unwrap_or(0);
            Err(Error::UnknownToken { position, token: usize::from(tokens[position]), vocab: symbols })
        }
        _ => Ok(()),
    }
}
