//! Moments: how often tuples of adjacent symbols occur together with each root, and the covariances that follow.
//!
//! Counts are pooled over positions and kept as integers, so that parts of a corpus merge exactly and the result does
//! not depend on threads: `new -> add -> merge -> covariance`. Tokens are the bottom level of a chart, and the
//! candidates of any other level are counted into the same tables ([`Moments::add_candidates`]). [`ExpectedMoments`]
//! are the limits for infinitely many sentences, computed from the grammar.

mod candidates;
mod covariance;
mod expected;
mod positional;
mod tokens;
mod topology;

pub use candidates::Tuples;
pub(crate) use candidates::count_candidates;
pub use covariance::Covariance;
pub use expected::ExpectedMoments;
pub use positional::PositionedTriples;
pub use topology::Topology;

use crate::error::{Error, Result};
use crate::grammar::Symbol;
use crate::memory;

/// Integer counts of adjacent pairs and triples of symbols by root.
///
/// ```
/// use gardenpath::{Corpus, Ensemble, Moments, Seed};
///
/// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
/// let corpus = Corpus::sample(&grammar, Seed::new(1), 0..1000);
/// let mut moments = Moments::new(grammar.vocab(), grammar.classes())?;
/// moments.add_corpus(&corpus)?;
/// // A sentence of n tokens has n - 1 pairs and n - 2 triples.
/// assert_eq!(moments.pair_total(), corpus.tokens().len() as u64 - 1000);
/// assert_eq!(moments.triple_total(), corpus.tokens().len() as u64 - 2000);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moments {
    symbols: usize,
    classes: usize,
    /// `[root][a][b]`
    pairs: Vec<u64>,
    /// `[root][a][b][c]`: the block of one root stays in a fast cache.
    triples: Vec<u64>,
}

/// The bytes of an entry: its count, that of at least one thread, and its covariance.
const ENTRY_BYTES: u64 = 24;

impl Moments {
    /// Empty tables for tuples of `symbols` symbols and `classes` roots.
    ///
    /// Sizes are checked first: `symbols^3 * classes` counts, those of one thread, and their covariance must fit. Whether they do
    /// does not depend on the number of threads: if memory is short, fewer of them count at a time.
    pub fn new(symbols: usize, classes: usize) -> Result<Self> {
        check_table(symbols, classes, ENTRY_BYTES)?;
        let (pairs, triples) = (symbols.pow(2) * classes, symbols.pow(3) * classes);
        Ok(Moments { symbols, classes, pairs: vec![0; pairs], triples: vec![0; triples] })
    }

    /// Moments whose tables were counted before: those of [`pairs`](Self::pairs) and [`triples`](Self::triples).
    pub fn from_tables(symbols: usize, classes: usize, pairs: Vec<u64>, triples: Vec<u64>) -> Result<Self> {
        check_table(symbols, classes, ENTRY_BYTES)?;
        check_lengths(symbols, classes, pairs.len(), triples.len())?;
        Ok(Moments { symbols, classes, pairs, triples })
    }

    /// The number of different symbols.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// The number of different roots.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Adds all adjacent pairs and triples of one sentence.
    pub fn add(&mut self, sentence: &[Symbol], root: Symbol) -> Result<()> {
        self.check_root(root)?;
        tokens::check(sentence, self.symbols)?;
        let root = usize::from(root);
        for pair in sentence.windows(2) {
            self.count_pair(root, pair[0], pair[1], 1);
        }
        for triple in sentence.windows(3) {
            self.count_triple(root, triple[0], triple[1], triple[2], 1);
        }
        Ok(())
    }

    /// Adds the counts of another part of the data.
    pub fn merge(&mut self, other: &Moments) -> Result<()> {
        if (other.symbols, other.classes) != (self.symbols, self.classes) {
            let found = format!("{} symbols and {} roots", other.symbols, other.classes);
            let expected = format!("{} symbols and {} roots", self.symbols, self.classes);
            return Err(Error::parameter("size of the moments to merge", found, expected));
        }
        let add = |sums: &mut [u64], parts: &[u64]| sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        add(&mut self.pairs, &other.pairs);
        add(&mut self.triples, &other.triples);
        Ok(())
    }

    /// All counts of pairs: `[root][a][b]`.
    pub fn pairs(&self) -> &[u64] {
        &self.pairs
    }

    /// All counts of triples: `[root][a][b][c]`.
    pub fn triples(&self) -> &[u64] {
        &self.triples
    }

    /// How often the pair occurred in sentences with this root.
    pub fn pair_count(&self, a: Symbol, b: Symbol, root: Symbol) -> u64 {
        self.pairs[self.pair_index(usize::from(root), a, b)]
    }

    /// How often the triple occurred in sentences with this root.
    pub fn triple_count(&self, a: Symbol, b: Symbol, c: Symbol, root: Symbol) -> u64 {
        self.triples[self.pair_index(usize::from(root), a, b) * self.symbols + usize::from(c)]
    }

    /// The number of pairs.
    pub fn pair_total(&self) -> u64 {
        self.pairs.iter().sum()
    }

    /// The number of triples.
    pub fn triple_total(&self) -> u64 {
        self.triples.iter().sum()
    }

    /// The covariances of pairs and triples with the root, in the pooled normalisation.
    ///
    /// ```
    /// use gardenpath::Moments;
    ///
    /// let mut moments = Moments::new(2, 2)?;
    /// moments.add(&[0, 1], 0)?;
    /// moments.add(&[1, 0], 1)?;
    /// // Cov = N(t, y) / N - N(t) / N * N(y) / N
    /// assert_eq!(moments.covariance().pair_vector(0, 1), [0.25, -0.25]);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn covariance(&self) -> Covariance {
        Covariance::new(self.symbols, self.classes, &self.pairs, &self.triples, |&count| count as f64)
    }

    /// How many parts of the data can be counted at once: one for each thread, or fewer if their tables, of `bytes` bytes for each
    /// entry, would not fit. Counts are integers: their sums do not depend on how the data were divided.
    fn parts(&self, bytes: usize) -> usize {
        rayon::current_num_threads().min(memory::at_once(self.triples.len() as u128 * bytes as u128))
    }

    fn check_root(&self, root: Symbol) -> Result<()> {
        if usize::from(root) < self.classes {
            return Ok(());
        }
        Err(Error::parameter("root", root, format!("below {}, the number of roots", self.classes)))
    }

    #[inline]
    fn pair_index(&self, root: usize, a: Symbol, b: Symbol) -> usize {
        (root * self.symbols + usize::from(a)) * self.symbols + usize::from(b)
    }

    #[inline]
    fn count_pair(&mut self, root: usize, a: Symbol, b: Symbol, times: u64) {
        let index = self.pair_index(root, a, b);
        self.pairs[index] += times;
    }

    #[inline]
    fn count_triple(&mut self, root: usize, a: Symbol, b: Symbol, c: Symbol, times: u64) {
        let index = self.pair_index(root, a, b) * self.symbols + usize::from(c);
        self.triples[index] += times;
    }
}

/// Refuses tables of other lengths than these sizes give.
fn check_lengths(symbols: usize, classes: usize, pairs: usize, triples: usize) -> Result<()> {
    let expected = (symbols.pow(2) * classes, symbols.pow(3) * classes);
    if (pairs, triples) != expected {
        let words = |(pairs, triples): (usize, usize)| format!("{pairs} pairs and {triples} triples");
        return Err(Error::parameter("size of the tables", words((pairs, triples)), words(expected)));
    }
    Ok(())
}

/// Refuses tables of `symbols^3 * classes` entries that would not fit, before any memory is taken.
pub(crate) fn check_table(symbols: usize, classes: usize, bytes_per_entry: u64) -> Result<()> {
    if symbols == 0 || classes == 0 {
        return Err(Error::parameter("number of symbols and roots", format!("{symbols} and {classes}"), "at least 1"));
    }
    let entries = [symbols, symbols, symbols, classes].iter().map(|&n| n as u128).fold(1, u128::saturating_mul);
    let table = format!("a table of moments of {symbols}^3 triples by {classes} roots");
    memory::check(table, entries.saturating_mul(bytes_per_entry.into()))
}
