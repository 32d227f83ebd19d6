//! Tables of tuples by root: the form of counts and of expectations.

use crate::arity::Arities;
use crate::error::{Counts, Error, Result, TableSize};
use crate::grammar::Symbol;
use crate::memory;
use crate::tuple::TupleCode;
use std::iter::Sum;
use std::ops::{AddAssign, Range};

/// A number for each tuple of adjacent symbols and each root: how often they occur together ([`Moments`](super::Moments)), or how often
/// that is expected in a sentence ([`ExpectedMoments`](super::ExpectedMoments)). Tuples of several arities have a part of the table each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TupleTable<T> {
    code: TupleCode,
    classes: usize,
    /// `[arity][root][tuple]`: the block of one root stays in a fast cache.
    values: Vec<T>,
}

/// The bytes of an entry: its count, that of at least one thread, and its covariance.
pub(super) const ENTRY_BYTES: u64 = 24;

impl<T: Copy + Default + Sum + AddAssign> TupleTable<T> {
    /// A table of zeros, unless it would not fit.
    pub(super) fn zeros(symbols: usize, classes: usize, arities: Arities) -> Result<Self> {
        check_table(symbols, classes, arities, ENTRY_BYTES)?;
        Ok(Self::zeros_of(TupleCode::new(symbols, arities), classes))
    }

    /// A table of zeros whose size was checked.
    pub(super) fn zeros_of(code: TupleCode, classes: usize) -> Self {
        TupleTable { code, classes, values: vec![T::default(); code.len() * classes] }
    }

    /// The table of pairs and triples with these parts: those of [`pairs`](Self::pairs) and [`triples`](Self::triples).
    pub fn from_tables(symbols: usize, classes: usize, mut pairs: Vec<T>, triples: Vec<T>) -> Result<Self> {
        check_table(symbols, classes, Arities::PAPER, ENTRY_BYTES)?;
        let code = TupleCode::new(symbols, Arities::PAPER);
        let expected = [2, 3].map(|arity| code.range(arity).len() * classes);
        let found = [pairs.len(), triples.len()];
        for (what, found, expected) in [("pairs", found[0], expected[0]), ("triples", found[1], expected[1])] {
            if found != expected {
                return Err(Error::Size { what, found, expected, of: "as many as the tuples, for each root" });
            }
        }
        pairs.extend(triples);
        Ok(TupleTable { code, classes, values: pairs })
    }

    /// The number of different symbols.
    pub fn symbols(&self) -> usize {
        self.code.symbols()
    }

    /// The number of different roots.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The numbers of symbols of the tuples.
    pub fn arities(&self) -> Arities {
        self.code.arities()
    }

    pub(super) fn code(&self) -> TupleCode {
        self.code
    }

    /// The part of one arity, `[root][tuple]`: empty if the table does not have it.
    ///
    /// # Panics
    /// If no tuple can have this arity.
    pub fn of_arity(&self, arity: usize) -> &[T] {
        &self.values[self.part(arity)]
    }

    #[inline]
    pub(super) fn of_arity_mut(&mut self, arity: usize) -> &mut [T] {
        let part = self.part(arity);
        &mut self.values[part]
    }

    /// The tuples of one arity with one root.
    #[inline]
    pub(super) fn block_mut(&mut self, arity: usize, root: usize) -> &mut [T] {
        let tuples = self.code.range(arity).len();
        &mut self.of_arity_mut(arity)[root * tuples..][..tuples]
    }

    #[inline]
    fn part(&self, arity: usize) -> Range<usize> {
        let Range { start, end } = self.code.range(arity);
        self.classes * start..self.classes * end
    }

    /// All pairs: `[root][a][b]`.
    pub fn pairs(&self) -> &[T] {
        self.of_arity(2)
    }

    /// All triples: `[root][a][b][c]`.
    pub fn triples(&self) -> &[T] {
        self.of_arity(3)
    }

    /// The number of one tuple and one root.
    ///
    /// # Panics
    /// If the table does not have them.
    pub fn value(&self, tuple: &[Symbol], root: Symbol) -> T {
        assert!(self.arities().contains(tuple.len()), "the table has tuples of {:?} symbols", self.arities());
        let numbers = self.code.range(tuple.len());
        self.of_arity(tuple.len())[usize::from(root) * numbers.len() + self.code.of(tuple) - numbers.start]
    }

    /// The sum over all tuples of one arity.
    pub fn total(&self, arity: usize) -> T {
        self.of_arity(arity).iter().copied().sum()
    }

    /// The sum over all pairs.
    pub fn pair_total(&self) -> T {
        self.total(2)
    }

    /// The sum over all triples.
    pub fn triple_total(&self) -> T {
        self.total(3)
    }

    /// The sum over the tuples of one arity for each root.
    pub(super) fn root_totals(&self, arity: usize) -> impl Iterator<Item = T> + '_ {
        self.of_arity(arity).chunks(self.code.range(arity).len().max(1)).map(|block| block.iter().copied().sum())
    }

    /// Adds the numbers of another part of the data.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if (other.code, other.classes) != (self.code, self.classes) {
            return Err(Error::Tables { what: "moments to merge", found: other.size(), expected: self.size() });
        }
        self.values.iter_mut().zip(&other.values).for_each(|(sum, &number)| *sum += number);
        Ok(())
    }

    /// What the table counts, for errors.
    pub(super) fn size(&self) -> TableSize {
        TableSize { symbols: self.symbols(), classes: self.classes, arities: self.arities() }
    }
}

/// Rejects tables of tuples by root that would not fit, before any memory is taken.
pub(crate) fn check_table(symbols: usize, classes: usize, arities: Arities, bytes_per_entry: u64) -> Result<()> {
    if symbols == 0 || classes == 0 {
        return Err(Error::count("number of symbols or roots", 0u64, Counts::AtLeast(1)));
    }
    let most = arities.most();
    let tuples = match most {
        0 => return Err(Error::count("number of arities of the moments", 0u64, Counts::AtLeast(1))),
        2 => "pairs",
        3 => "triples",
        _ => "tuples",
    };
    let entries = TupleCode::new(symbols, arities).len() as u128 * classes as u128;
    let table = format!("a table of moments of {symbols}^{most} {tuples} by {classes} roots");
    memory::check(table, entries.saturating_mul(bytes_per_entry.into()))
}
