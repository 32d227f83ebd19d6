//! What can be said about a varying-tree grammar without sampling one: exact, pure functions of its parameters.
//!
//! A grammar of depth `depth` grows a tree of `depth` levels. Every node has two children with probability `p_binary`
//! and three otherwise, so sentences have between `2^depth` and `3^depth` tokens. Of all `vocab^2` pairs
//! (`vocab^3` triples) of symbols, a fraction `binary_fraction` (`ternary_fraction`) is produced by some rule.
//!
//! | module | question | paper |
//! |---|---|---|
//! | [`lengths`] | how long is a sentence? | `app_subsec:p_of_d` |
//! | [`trees`] | how many trees have a given length? | `Nt_app` |
//! | [`fraction`] | which share of all strings can a typical tree write? | `frac_data` |
//! | [`entropy`] | how ambiguous is the root at depth 2? | `L_2_class_entropy` |
//! | [`candidates`] | how many symbols does a parser propose for a span? | `bottom_up` |
//! | [`splits`] | how many ways has it to cut a span? | `median_splits` |
//! | [`complexity`] | how many sentences does learning need? | `samp_comp` |
//!
//! Where the printed formula and the model disagree, the plain name is the model's and `paper_…` is the printed one.
//!
//! One polynomial stands behind the first five. Let `g(x) = b x^2 + t x^3`, where `b` and `t` weigh a binary and a
//! ternary node. The coefficient of `x^len` in the `depth`-fold composition `g(g(…g(x)))` sums, over all trees with
//! `len` leaves, the product of the weights of their nodes. Weights 1 count trees, the probabilities of branching give
//! the law of lengths, the fractions give the parser's candidates. Composing from the outside is the paper's top-down
//! equation, from the inside its bottom-up one; they agree because composition is associative.
//!
//! ```
//! use gardenpath::theory::{lengths::length_distribution, trees::tree_count};
//!
//! let law = length_distribution(2, 0.5)?;
//! let trees = tree_count(2)?;
//! assert_eq!(law.probability(6), 3.0 / 16.0); // 3-3 with 1/8 and 2-2-2 with 1/16
//! assert_eq!(trees.get(6), Some(&2u32.into()));
//! # Ok::<(), gardenpath::theory::TheoryError>(())
//! ```

pub mod candidates;
pub mod complexity;
pub mod entropy;
pub mod fraction;
pub mod lengths;
pub mod splits;
pub mod trees;

pub use crate::magnitude::Magnitude;

/// The deepest grammar these functions accept.
///
/// There are about `3^depth` lengths and every recursion is quadratic in them. At depth 9 (up to 19,683 tokens) a law
/// takes a second, exact counts take seven, and forty steps of bisection half a minute; one more level would take nine
/// times as long.
///
/// ```
/// use gardenpath::theory::{MAX_DEPTH, trees::tree_count};
/// assert!(tree_count(MAX_DEPTH + 1).is_err());
/// ```
pub const MAX_DEPTH: usize = 9;

/// A parameter outside its range.
///
/// ```
/// use gardenpath::theory::{TheoryError, lengths::length_distribution};
/// let error = length_distribution(2, 1.5).unwrap_err();
/// assert_eq!(error, TheoryError::Probability { value: 1.5 });
/// assert_eq!(error.to_string(), "p_binary must lie between 0 and 1, got 1.5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TheoryError {
    /// Depth (or height above the tokens) is zero or beyond [`MAX_DEPTH`].
    #[error("depth must lie between 1 and {MAX_DEPTH}, got {depth}")]
    Depth {
        /// The depth that was asked for.
        depth: usize,
    },
    /// The probability of a binary branching is not a probability.
    #[error("p_binary must lie between 0 and 1, got {value}")]
    Probability {
        /// The value that was given.
        value: f64,
    },
    /// A fraction of grammatical tuples is not between 0 and 1.
    #[error("{name} must lie between 0 and 1, got {value}")]
    Fraction {
        /// Which of the fractions it is.
        name: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A length of zero: no level of a tree is empty.
    #[error("a level has at least one symbol, got length 0")]
    EmptyLevel,
    /// More rules per symbol than there are tuples to share out, or none.
    #[error("arity {arity} has between 1 and {most} rules per symbol, got {rules}")]
    Rules {
        /// Number of children, 2 or 3.
        arity: usize,
        /// The number of rules per symbol that was given.
        rules: u64,
        /// The largest possible number, `vocab^(arity - 1)`.
        most: u64,
    },
}

fn check_depth(depth: usize) -> Result<(), TheoryError> {
    if (1..=MAX_DEPTH).contains(&depth) { Ok(()) } else { Err(TheoryError::Depth { depth }) }
}

fn check_probability(value: f64) -> Result<(), TheoryError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(TheoryError::Probability { value }) }
}

fn check_fraction(name: &'static str, value: f64) -> Result<(), TheoryError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(TheoryError::Fraction { name, value }) }
}

fn check_fractions(binary_fraction: f64, ternary_fraction: f64) -> Result<(), TheoryError> {
    check_fraction("binary_fraction", binary_fraction)?;
    check_fraction("ternary_fraction", ternary_fraction)
}

/// One value for each length that a tree of some depth can have.
///
/// ```
/// use gardenpath::theory::{candidates::mean_candidates, trees::tree_count};
/// let trees = tree_count(1)?;
/// assert_eq!((trees.min_len(), trees.max_len()), (2, 3));
/// assert_eq!(trees.get(4), None);
/// assert_eq!(trees.iter().count(), 2);
/// // Real numbers can also be read as such, or as logarithms.
/// let candidates = mean_candidates(7, 0.125, 0.125)?;
/// assert_eq!((candidates.value(2187), candidates.value(3000)), (0.0, 0.0)); // underflow; no such length
/// assert!((candidates.ln(2187) - 1093.0 * 0.125f64.ln()).abs() < 1e-9);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ByLength<T> {
    min_len: usize,
    values: Vec<T>, // never empty; values[i] belongs to length min_len + i
}

impl<T> ByLength<T> {
    /// The shortest length, `2^depth`.
    pub fn min_len(&self) -> usize {
        self.min_len
    }

    /// The longest length, `3^depth`.
    pub fn max_len(&self) -> usize {
        self.min_len + self.values.len() - 1
    }

    /// The value at `len`, or `None` if no tree has this length.
    pub fn get(&self, len: usize) -> Option<&T> {
        self.values.get(len.checked_sub(self.min_len)?)
    }

    /// Pairs of a length and its value, from the shortest to the longest.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, &T)> {
        self.values.iter().enumerate().map(|(i, value)| (self.min_len + i, value))
    }

    fn collect(lens: std::ops::RangeInclusive<usize>, value: impl FnMut(usize) -> T) -> Self {
        Self { min_len: *lens.start(), values: lens.map(value).collect() }
    }
}

impl ByLength<Magnitude> {
    /// The value at `len` as a plain number; zero if no tree has this length.
    pub fn value(&self, len: usize) -> f64 {
        self.at(len).value()
    }

    /// The natural logarithm of the value at `len`, finite where [`value`](Self::value) under- or overflows; minus
    /// infinity if no tree has this length.
    pub fn ln(&self, len: usize) -> f64 {
        self.at(len).ln()
    }

    fn at(&self, len: usize) -> Magnitude {
        self.get(len).copied().unwrap_or(Magnitude::ZERO)
    }

    /// The level above all branching: one node, of length 1.
    fn root() -> Self {
        Self::collect(1..=1, |_| Magnitude::ONE)
    }
}
