//! Indices of tuples of symbols: the one place where positions in tables of tuples are computed.

use crate::arity::Arities;
use crate::symbols::{Children, Symbol};
use std::ops::Range;

/// Numbers all tuples of some arities over the symbols of a level: shorter ones first, then in the order of a dictionary.
///
/// ```
/// use gardenpath::{Arities, TupleCode};
///
/// let code = TupleCode::new(10, Arities::from([2, 3]));
/// assert_eq!((code.len(), code.range(3)), (1100, 100..1100));
/// assert_eq!((code.of(&[4, 2]), code.of(&[4, 2, 7])), (42, 100 + 427));
/// assert_eq!(code.children(100 + 427).as_slice(), [4, 2, 7]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TupleCode {
    symbols: usize,
    arities: Arities,
    /// The first number of each arity, and behind them how many there are.
    first: [usize; Children::MAX + 2],
}

impl TupleCode {
    /// The numbers of the tuples of these arities; more than fit into a number are counted as the largest number.
    pub fn new(symbols: usize, arities: Arities) -> Self {
        let mut first = [0usize; Children::MAX + 2];
        for arity in 1..=Children::MAX {
            let own = if arities.contains(arity) { symbols.saturating_pow(arity as u32) } else { 0 };
            first[arity + 1] = first[arity].saturating_add(own);
        }
        TupleCode { symbols, arities, first }
    }

    /// The number of symbols.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// The arities.
    pub fn arities(&self) -> Arities {
        self.arities
    }

    /// How many tuples there are.
    pub fn len(&self) -> usize {
        self.first[Children::MAX + 1]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of the tuples of one arity.
    pub fn range(&self, arity: usize) -> Range<usize> {
        self.first[arity]..self.first[arity + 1]
    }

    /// The number of a tuple, which must have one of the arities.
    #[inline]
    pub fn of(&self, tuple: &[Symbol]) -> usize {
        self.first[tuple.len()] + tuple.iter().fold(0, |number, &symbol| number * self.symbols + usize::from(symbol))
    }

    /// The tuple with a number.
    ///
    /// # Panics
    /// If there is no such number.
    pub fn children(&self, number: usize) -> Children {
        let arity =
            self.arities.iter().find(|&arity| self.range(arity).contains(&number)).expect("the number of a tuple");
        let mut rest = number - self.first[arity];
        let mut symbols = [0; Children::MAX];
        for symbol in symbols[..arity].iter_mut().rev() {
            *symbol = (rest % self.symbols) as Symbol;
            rest /= self.symbols;
        }
        Children::from_slice(&symbols[..arity]).expect("an arity")
    }
}
