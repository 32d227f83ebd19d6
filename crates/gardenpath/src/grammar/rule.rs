//! Rules.

use crate::symbols::{Children, Symbol};

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
