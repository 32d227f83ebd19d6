//! Symbols and rules.

/// A symbol of a level: a nonterminal, or a token on the lowest level. Levels have at most 255 symbols.
pub type Symbol = u8;

/// The right-hand side of a rule: two or three symbols of the next level.
///
/// Pairs are ordered before triples, then by their symbols.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Children {
    len: u8,
    symbols: [Symbol; 3],
}

impl Children {
    /// Two symbols.
    pub const fn pair(a: Symbol, b: Symbol) -> Self {
        Children { len: 2, symbols: [a, b, 0] }
    }

    /// Three symbols.
    pub const fn triple(a: Symbol, b: Symbol, c: Symbol) -> Self {
        Children { len: 3, symbols: [a, b, c] }
    }

    /// Two or three symbols; `None` for any other number.
    pub fn from_slice(symbols: &[Symbol]) -> Option<Self> {
        match *symbols {
            [a, b] => Some(Self::pair(a, b)),
            [a, b, c] => Some(Self::triple(a, b, c)),
            _ => None,
        }
    }

    /// The symbols, from left to right.
    #[inline]
    pub fn as_slice(&self) -> &[Symbol] {
        &self.symbols[..usize::from(self.len)]
    }

    /// The symbols, from left to right.
    pub fn iter(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.as_slice().iter().copied()
    }

    /// The number of symbols, 2 or 3 (never empty).
    #[inline]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }
}

impl std::fmt::Debug for Children {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// A production rule `parent -> children` with its probability given the parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// The symbol that is rewritten.
    pub parent: Symbol,
    /// What it is rewritten into.
    pub children: Children,
    /// The probability of this rule among those of the parent.
    pub probability: f64,
}
