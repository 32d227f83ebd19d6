//! Symbols, and the right-hand sides that are made of them.

/// A symbol of a level: a nonterminal, or a token on the lowest level. Levels have at most 255 symbols.
pub type Symbol = u8;

/// The right-hand side of a rule: one to eight symbols of the next level.
///
/// Shorter ones are ordered first, then by their symbols.
///
/// ```
/// use gardenpath::Children;
///
/// let children = Children::from([3, 1]);
/// assert_eq!(children.as_slice(), [3, 1]);
/// assert!(children < Children::from([0, 0, 0]), "pairs before triples");
/// assert_eq!(Children::from_slice(&[0; 9]), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Children {
    len: u8,
    symbols: [Symbol; Children::MAX],
}

impl Children {
    /// The largest number of symbols.
    pub const MAX: usize = 8;

    /// One to [`Children::MAX`] symbols; `None` for any other number.
    pub fn from_slice(symbols: &[Symbol]) -> Option<Self> {
        if !(1..=Self::MAX).contains(&symbols.len()) {
            return None;
        }
        let mut children = Children { len: symbols.len() as u8, symbols: [0; Self::MAX] };
        children.symbols[..symbols.len()].copy_from_slice(symbols);
        Some(children)
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

    /// The number of symbols (never zero).
    #[inline]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }
}

impl<const N: usize> From<[Symbol; N]> for Children {
    fn from(symbols: [Symbol; N]) -> Self {
        const { assert!(N >= 1 && N <= Children::MAX, "a rule has 1 to 8 children") };
        Children::from_slice(&symbols).expect("the number was checked at compile time")
    }
}

impl std::fmt::Debug for Children {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}
