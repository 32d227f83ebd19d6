//! Counting tokens: one increment per token, in tables that stay in the cache.

use super::{Moments, TupleTable};
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
/// A pair is a triple without its last symbol. So only the longest tuples are counted, and how sentences end.
struct Tally {
    symbols: usize,
    /// The number of symbols of the longest tuples, and how many tuples there are with one less.
    most: usize,
    block: usize,
    /// `[root][tuple]`
    longest: Vec<u32>,
    /// `[root][tuple]`: the last tuple of each sentence with one symbol less.
    endings: Vec<u32>,
    /// Sentences that are too short to have such an ending.
    short: Vec<usize>,
    /// Numbers of sentences, by root.
    order: Vec<u32>,
}

impl TupleTable<u64> {
    /// Adds all adjacent tuples of the sentences of a corpus, on all threads.
    pub fn add_corpus(&mut self, corpus: &Corpus) -> Result<()> {
        check(corpus.tokens(), self.symbols())?;
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
        let at_once = self.parts(size_of::<u32>());
        let part = corpus.len().div_ceil(at_once.max(corpus.tokens().len().div_ceil(TALLY_TOKENS))).max(1);
        let parts: Vec<usize> = (0..corpus.len().div_ceil(part)).collect();
        for wave in parts.chunks(at_once) {
            let count = |&k: &usize| {
                let mut tally = Tally::new(self);
                tally.count(corpus, k * part..corpus.len().min((k + 1) * part));
                tally
            };
            let tallies: Vec<Tally> = wave.par_iter().map(count).collect();
            tallies.iter().for_each(|tally| tally.pour(corpus, self));
        }
    }
}

impl Tally {
    fn new(moments: &Moments) -> Self {
        let (symbols, most) = (moments.symbols(), moments.arities().most());
        let block = symbols.pow(most as u32 - 1);
        let endings = vec![0; block * moments.classes()];
        let longest = vec![0; endings.len() * symbols];
        Tally { symbols, most, block, longest, endings, short: Vec::new(), order: Vec::new() }
    }

    fn count(&mut self, corpus: &Corpus, numbers: Range<usize>) {
        if self.longest.len() < SORTED_TABLE {
            return numbers.for_each(|i| self.count_sentence(corpus, i));
        }
        for first in numbers.clone().step_by(SORTED_SENTENCES) {
            let mut order = std::mem::take(&mut self.order);
            sort_by_root(&corpus.roots()[first..numbers.end.min(first + SORTED_SENTENCES)], &mut order);
            order.iter().for_each(|&k| self.count_sentence(corpus, first + k as usize));
            self.order = order;
        }
    }

    #[inline(always)]
    fn count_sentence(&mut self, corpus: &Corpus, i: usize) {
        let (sentence, root) = (corpus.sentence(i), usize::from(corpus.roots()[i]));
        let (symbols, block) = (self.symbols, self.block);
        let Some((head, rest)) = sentence.split_at_checked(self.most - 1) else { return self.short.push(i) };
        let counts = &mut self.longest[root * block * symbols..][..block * symbols];
        // Triples have a loop of their own, in which no number waits for the one before.
        let ending = if let [a, b] = *head {
            let (mut a, mut b) = (usize::from(a) * symbols, usize::from(b));
            for &c in rest {
                let c = usize::from(c);
                counts[(a + b) * symbols + c] += 1;
                (a, b) = (b * symbols, c);
            }
            a + b
        } else {
            let mut number = head.iter().fold(0, |number, &symbol| number * symbols + usize::from(symbol));
            for (&first, &last) in sentence.iter().zip(rest) {
                number = number * symbols + usize::from(last);
                counts[number] += 1;
                number -= usize::from(first) * block;
            }
            number
        };
        self.endings[root * block + ending] += 1;
    }

    /// Adds the counts to the moments.
    fn pour(&self, corpus: &Corpus, moments: &mut Moments) {
        let power = |exponent: usize| self.symbols.pow(exponent as u32);
        moments
            .of_arity_mut(self.most)
            .iter_mut()
            .zip(&self.longest)
            .for_each(|(sum, &count)| *sum += u64::from(count));
        for arity in moments.arities().iter().filter(|&arity| arity < self.most) {
            let sums = moments.of_arity_mut(arity);
            for (sum, continued) in sums.iter_mut().zip(self.longest.chunks(power(self.most - arity))) {
                *sum += continued.iter().map(|&count| u64::from(count)).sum::<u64>();
            }
            // At the end of a sentence, they are the first symbols of an ending, or those from a later place on.
            for behind in 0..self.most - arity {
                for (number, &count) in self.endings.iter().enumerate() {
                    let (root, tuple) = (number / self.block, number % self.block / power(behind) % power(arity));
                    sums[root * power(arity) + tuple] += u64::from(count);
                }
            }
        }
        for &i in &self.short {
            moments.count_windows(corpus.sentence(i), usize::from(corpus.roots()[i]));
        }
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

/// Rejects tokens that the tables have no room for.
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
