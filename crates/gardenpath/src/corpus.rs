//! Corpora: many sentences with their roots, sampled reproducibly.

mod sampler;

pub use sampler::Sampler;

use crate::error::{Error, Result};
use crate::grammar::{Grammar, Symbol};
use crate::interrupt::checkpoint;
use crate::memory;
use crate::seed::Seed;
use rayon::prelude::*;
use std::ops::Range;

/// Sentences of one grammar with their root labels: ragged tokens, offsets and roots.
///
/// ```
/// use gardenpath::{Corpus, Ensemble, Seed};
///
/// let grammar = Ensemble::new(16, 2).sample(Seed::new(7))?;
/// let corpus = Corpus::sample(&grammar, Seed::new(1), 0..100);
/// // Sentence i is a function of (grammar, seed, i): corpora nest, and any slice can be made anywhere.
/// let slice = Corpus::sample(&grammar, Seed::new(1), 40..50);
/// assert_eq!(slice.sentence(0), corpus.sentence(40));
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corpus {
    tokens: Vec<Symbol>,
    /// Sentence `i` is `tokens[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<usize>,
    roots: Vec<Symbol>,
}

impl Default for Corpus {
    fn default() -> Self {
        Corpus { tokens: Vec::new(), offsets: vec![0], roots: Vec::new() }
    }
}

/// Sentences sampled by one task: large enough to hide the scheduling, small enough to balance it.
const SHARD: u64 = 4096;

impl Corpus {
    /// Samples the sentences with these indices, on all threads. For sizes that a user chose use [`Corpus::try_sample`], which returns an
    /// error if the corpus does not fit into memory; this function panics.
    pub fn sample(grammar: &Grammar, seed: Seed, numbers: Range<u64>) -> Self {
        Self::sample_with(&Sampler::new(grammar), seed, numbers)
    }

    /// Like [`Corpus::sample`], but returns an error if the sentences do not fit into memory.
    ///
    /// ```
    /// use gardenpath::{Corpus, Ensemble, Seed};
    ///
    /// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
    /// assert_eq!(Corpus::try_sample(&grammar, Seed::new(1), 0..100)?.len(), 100);
    /// assert!(Corpus::try_sample(&grammar, Seed::new(1), 0..1_000_000_000_000).is_err());
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn try_sample(grammar: &Grammar, seed: Seed, numbers: Range<u64>) -> Result<Self> {
        Self::check_size(numbers.end.saturating_sub(numbers.start), grammar.mean_length())?;
        Ok(Self::sample(grammar, seed, numbers))
    }

    /// Rejects corpora of `count` sentences of this mean length that would not fit into memory.
    pub fn check_size(count: u64, mean_length: f64) -> Result<()> {
        let bytes_each = mean_length + (size_of::<usize>() + size_of::<Symbol>()) as f64;
        // A conversion from float to integer saturates.
        memory::check(format_args!("a corpus of {count} sentences"), (count as f64 * bytes_each) as u128)
    }

    /// Samples the sentences with these numbers, with tables that were made before.
    pub fn sample_with(sampler: &Sampler, seed: Seed, numbers: Range<u64>) -> Self {
        let count = numbers.end.saturating_sub(numbers.start);
        let mut corpus = Corpus::default();
        corpus.tokens.reserve((count as f64 * sampler.mean_length() * 1.01) as usize);
        corpus.offsets.reserve(count as usize);
        corpus.roots.reserve(count as usize);
        // A wave of shards at a time: their memory is small and used again by the next wave.
        let shards: Vec<u64> = (0..count.div_ceil(SHARD)).collect();
        for wave in shards.chunks(4 * rayon::current_num_threads()) {
            let sample = |shard: &u64| {
                checkpoint();
                let first = numbers.start + shard * SHARD;
                sampler.sentences(seed, first..numbers.end.min(first.saturating_add(SHARD)))
            };
            let pieces: Vec<Corpus> = wave.par_iter().map(sample).collect();
            pieces.iter().for_each(|piece| corpus.append(piece));
        }
        corpus
    }

    /// The corpora of a long stream, piece by piece, so that it need not be held in memory.
    ///
    /// ```
    /// use gardenpath::{Corpus, Ensemble, Sampler, Seed};
    ///
    /// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
    /// let sampler = Sampler::new(&grammar);
    /// let tokens: usize = Corpus::stream(&sampler, Seed::new(1), 0..100_000, 10_000).map(|c| c.tokens().len()).sum();
    /// assert!((tokens as f64 / 100_000.0 - grammar.mean_length()).abs() < 0.05);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn stream(sampler: &Sampler, seed: Seed, numbers: Range<u64>, piece: u64) -> impl Iterator<Item = Corpus> + '_ {
        let piece = piece.max(1);
        (0..numbers.end.saturating_sub(numbers.start).div_ceil(piece)).map(move |k| {
            let first = numbers.start + k * piece;
            Corpus::sample_with(sampler, seed, first..numbers.end.min(first.saturating_add(piece)))
        })
    }

    /// A corpus from its parts: sentence `i` is `tokens[offsets[i]..offsets[i + 1]]` and has the root `roots[i]`.
    ///
    /// ```
    /// use gardenpath::Corpus;
    ///
    /// let corpus = Corpus::from_parts(vec![3, 1, 2, 0, 1], vec![0, 2, 5], vec![7, 8])?;
    /// assert_eq!(corpus.sentence(1), [2, 0, 1]);
    /// assert!(Corpus::from_parts(vec![3, 1], vec![0, 3], vec![7]).is_err());
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn from_parts(tokens: Vec<Symbol>, offsets: Vec<usize>, roots: Vec<Symbol>) -> Result<Self> {
        if offsets.len() != roots.len() + 1 {
            return Err(Error::Size {
                what: "number of offsets",
                found: offsets.len(),
                expected: roots.len() + 1,
                of: "one more than roots",
            });
        }
        let rising = offsets.is_sorted() && offsets[0] == 0 && offsets[roots.len()] == tokens.len();
        if !rising {
            let (first, last) = (offsets[0], offsets[roots.len()]);
            return Err(Error::Offsets { first, last, tokens: tokens.len() });
        }
        Ok(Corpus { tokens, offsets, roots })
    }

    /// The same sentences with these roots.
    pub fn with_roots(self, roots: Vec<Symbol>) -> Result<Self> {
        Self::from_parts(self.tokens, self.offsets, roots)
    }

    /// Adds a sentence with its root.
    pub fn push(&mut self, sentence: &[Symbol], root: Symbol) {
        self.tokens.extend_from_slice(sentence);
        self.offsets.push(self.tokens.len());
        self.roots.push(root);
    }

    /// Adds all sentences of another corpus.
    pub fn append(&mut self, other: &Corpus) {
        let base = self.tokens.len();
        self.tokens.extend_from_slice(&other.tokens);
        self.offsets.extend(other.offsets[1..].iter().map(|offset| base + offset));
        self.roots.extend_from_slice(&other.roots);
    }

    /// The number of sentences.
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Whether there is no sentence.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// The tokens of sentence `i`.
    pub fn sentence(&self, i: usize) -> &[Symbol] {
        &self.tokens[self.offsets[i]..self.offsets[i + 1]]
    }

    /// All sentences in order.
    pub fn sentences(&self) -> impl Iterator<Item = &[Symbol]> {
        self.offsets.windows(2).map(|window| &self.tokens[window[0]..window[1]])
    }

    /// The tokens of all sentences, one after another.
    pub fn tokens(&self) -> &[Symbol] {
        &self.tokens
    }

    /// Where each sentence begins, and the end of the last.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The root of each sentence.
    pub fn roots(&self) -> &[Symbol] {
        &self.roots
    }
}
