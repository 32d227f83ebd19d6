//! Spans of a sentence, and symbols on spans.

use crate::symbols::Symbol;
use std::ops::Range;

/// Consecutive tokens of a sentence.
///
/// ```
/// use gardenpath::Span;
///
/// let span = Span::new(2, 3);
/// assert_eq!((span.start, span.len, span.end()), (2, 3, 5));
/// assert_eq!(Span::from(2..5), span);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first token.
    pub start: usize,
    /// The number of tokens.
    pub len: usize,
}

impl Span {
    /// The `len` tokens from `start` on.
    pub const fn new(start: usize, len: usize) -> Self {
        Span { start, len }
    }

    /// The token after the last.
    pub const fn end(self) -> usize {
        self.start + self.len
    }

    /// The part of the sentence.
    pub const fn range(self) -> Range<usize> {
        self.start..self.start + self.len
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Span { start: range.start, len: range.len() }
    }
}

/// A symbol on a span: a node of a tree, or a candidate of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// Where it stands.
    pub span: Span,
    /// The symbol of the node's level.
    pub symbol: Symbol,
}
