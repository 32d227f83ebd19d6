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
mod table;
mod tokens;
mod topology;
mod windows;

pub use candidates::Tuples;
pub(crate) use candidates::count_candidates;
pub use covariance::Covariance;
pub use expected::ExpectedMoments;
pub(crate) use expected::check_paper;
pub use positional::PositionedTuples;
pub use table::TupleTable;
pub(crate) use table::check_table;
pub use topology::Topology;

use crate::arity::Arities;
use crate::error::{Error, Result};
use crate::grammar::{Symbol, check_tokens};
use crate::memory;

/// Integer counts of adjacent symbols by root: pairs and triples, or tuples of other arities.
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
pub type Moments = TupleTable<u64>;

impl TupleTable<u64> {
    /// Empty tables for pairs and triples of `symbols` symbols and `classes` roots.
    ///
    /// Sizes are checked first: `symbols^3 * classes` counts, those of one thread, and their covariance must fit. Whether they do
    /// does not depend on the number of threads: if memory is short, fewer of them count at a time.
    pub fn new(symbols: usize, classes: usize) -> Result<Self> {
        Self::with_arities(symbols, classes, Arities::PAPER)
    }

    /// Empty tables for tuples of other arities; sizes are checked as those of [`new`](Self::new).
    ///
    /// ```
    /// use gardenpath::Moments;
    ///
    /// let mut moments = Moments::with_arities(3, 1, [1, 4])?;
    /// moments.add(&[0, 1, 2, 0, 1], 0)?;
    /// assert_eq!((moments.total(1), moments.total(4)), (5, 2));
    /// assert_eq!((moments.value(&[1], 0), moments.value(&[1, 2, 0, 1], 0)), (2, 1));
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn with_arities(symbols: usize, classes: usize, arities: impl Into<Arities>) -> Result<Self> {
        Self::zeros(symbols, classes, arities.into())
    }

    /// Adds all adjacent tuples of one sentence.
    pub fn add(&mut self, sentence: &[Symbol], root: Symbol) -> Result<()> {
        self.check_root(root)?;
        check_tokens(sentence, self.symbols())?;
        self.count_windows(sentence, usize::from(root));
        Ok(())
    }

    fn count_windows(&mut self, sentence: &[Symbol], root: usize) {
        let code = self.code();
        for arity in code.arities().iter() {
            let (counts, first) = (self.block_mut(arity, root), code.range(arity).start);
            sentence.windows(arity).for_each(|tuple| counts[code.of(tuple) - first] += 1);
        }
    }

    /// How often the pair occurred in sentences with this root.
    pub fn pair_count(&self, a: Symbol, b: Symbol, root: Symbol) -> u64 {
        self.value(&[a, b], root)
    }

    /// How often the triple occurred in sentences with this root.
    pub fn triple_count(&self, a: Symbol, b: Symbol, c: Symbol, root: Symbol) -> u64 {
        self.value(&[a, b, c], root)
    }

    /// The covariances of the tuples with the root, in the pooled normalisation.
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
        let value = |count| count as f64;
        Covariance::new(self, value, |arity| self.root_totals(arity).map(value).collect())
    }

    /// How many parts of the data can be counted at once: one for each thread, or fewer if their tables, of `bytes` bytes for each
    /// entry, would not fit. Counts are integers: their sums do not depend on how the data were divided.
    fn parts(&self, bytes: usize) -> usize {
        let entries = self.code().len() as u128 * self.classes() as u128;
        rayon::current_num_threads().min(memory::at_once(entries * bytes as u128))
    }

    fn check_root(&self, root: Symbol) -> Result<()> {
        if usize::from(root) < self.classes() {
            return Ok(());
        }
        Err(Error::UnknownRoot { root: usize::from(root), classes: self.classes() })
    }
}
