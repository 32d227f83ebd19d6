//! Exact properties of random grammars as functions of their parameters, without sampling.
//!
//! A grammar of depth `depth` grows a tree of `depth` levels. Every node has `s` children with probability `p_s`, where `s` is one of
//! some arities between 1 and 8. Of all `vocab^s` tuples of `s` symbols a fraction `f_s` is produced by some rule. In the paper's case
//! the arities are 2 and 3, and sentences have between `2^depth` and `3^depth` tokens.
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
//! With arities 2 and 3 each formula is the paper's. Where the printed formula and the model disagree, the plain name is the model's and
//! `paper_…` is the printed one.
//!
//! One polynomial stands behind lengths, trees, fractions and candidates. Let `g(x)` be the sum of `w_s x^s`, where `w_s` weighs a node
//! of `s` children. The coefficient of `x^len` in the `depth`-fold composition `g(g(…g(x)))` sums, over all trees with `len` leaves, the
//! product of the weights of their nodes. Weights 1 count trees, the probabilities of branching give the law of lengths, the fractions
//! give the parser's candidates. Composing from the outside is the paper's top-down equation, from the inside its bottom-up one; they
//! agree because composition is associative.
//!
//! ```
//! use gardenpath::theory::{lengths::length_distribution, trees::tree_count};
//! use gardenpath::{Arities, PerArity};
//!
//! let law = length_distribution(2, PerArity::paper(0.5))?;
//! let trees = tree_count(2, Arities::PAPER)?;
//! assert_eq!(law.probability(6), 3.0 / 16.0); // 3-3 with 1/8 and 2-2-2 with 1/16
//! assert_eq!(trees.get(6), Some(&2u32.into()));
//!
//! // One, two or four children.
//! let probabilities = PerArity::from([(1, 0.25), (2, 0.5), (4, 0.25)]);
//! assert_eq!(length_distribution(2, probabilities)?.probability(1), 1.0 / 16.0);
//! # Ok::<(), gardenpath::theory::TheoryError>(())
//! ```

pub mod candidates;
pub mod complexity;
pub mod entropy;
pub mod fraction;
pub mod lengths;
mod polynomial;
pub mod splits;
pub mod trees;

pub use crate::magnitude::Magnitude;

use crate::arity::{Arities, PerArity};

/// The deepest grammar these functions accept.
///
/// ```
/// use gardenpath::theory::{MAX_DEPTH, trees::tree_count};
/// assert!(tree_count(MAX_DEPTH + 1, gardenpath::Arities::PAPER).is_err());
/// ```
pub const MAX_DEPTH: usize = 9;

/// The longest sentences these functions accept: `3^9` tokens.
///
/// Every recursion is quadratic in the length. At depth 9 with up to three children a law takes a second, exact counts take seven, and
/// forty steps of bisection half a minute.
pub const MAX_LEN: usize = 19_683;

/// A parameter outside its range.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::{TheoryError, lengths::length_distribution};
/// let error = length_distribution(2, PerArity::paper(1.5)).unwrap_err();
/// assert_eq!(error, TheoryError::Probability { arity: 2, value: 1.5 });
/// assert_eq!(error.to_string(), "the probability of 2 children must lie between 0 and 1, got 1.5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TheoryError {
    /// Depth (or height above the tokens) is zero or beyond [`MAX_DEPTH`].
    #[error("depth must lie between 1 and {MAX_DEPTH}, got {depth}")]
    Depth {
        /// The depth that was asked for.
        depth: usize,
    },
    /// Sentences could be longer than [`MAX_LEN`].
    #[error("sentences may have at most {MAX_LEN} tokens, got up to {longest}")]
    Length {
        /// The largest number of tokens.
        longest: usize,
    },
    /// No arity has a positive probability.
    #[error("expected at least one number of children with a positive probability, got none")]
    NoArities,
    /// A probability is out of range.
    #[error("the probability of {arity} children must lie between 0 and 1, got {value}")]
    Probability {
        /// The number of children.
        arity: usize,
        /// The value that was given.
        value: f64,
    },
    /// The probabilities of all numbers of children do not sum to 1.
    #[error("the probabilities of all numbers of children must sum to 1, got {sum}")]
    Sum {
        /// What they sum to.
        sum: f64,
    },
    /// A fraction of grammatical tuples is not between 0 and 1.
    #[error("a fraction of grammatical tuples must lie between 0 and 1, got {value}")]
    Fraction {
        /// The value that was given.
        value: f64,
    },
    /// A length of zero: no level of a tree is empty.
    #[error("a level has at least one symbol, got length 0")]
    EmptyLevel,
    /// More rules per symbol than there are tuples to share out, or none.
    #[error("arity {arity} has between 1 and {most} rules per symbol, got {rules}")]
    Rules {
        /// The number of children.
        arity: usize,
        /// The number of rules per symbol that was given.
        rules: u64,
        /// The largest possible number, `vocab^(arity - 1)`.
        most: u64,
    },
    /// More trees of one length than [`entropy::class_entropy`] can tell apart.
    #[error("the class entropy can be computed for at most {max} trees of the same length, got {trees}", max = entropy::MAX_TREES)]
    Trees {
        /// The largest number of trees of one length.
        trees: usize,
    },
}

fn check_depth(depth: usize) -> Result<(), TheoryError> {
    if (1..=MAX_DEPTH).contains(&depth) { Ok(()) } else { Err(TheoryError::Depth { depth }) }
}

/// Checks the trees of a depth.
fn check_shape(depth: usize, arities: Arities) -> Result<(), TheoryError> {
    check_depth(depth)?;
    let longest = arities.most().saturating_pow(depth as u32);
    match longest {
        0 => Err(TheoryError::NoArities),
        1..=MAX_LEN => Ok(()),
        _ => Err(TheoryError::Length { longest }),
    }
}

/// Checks probabilities of branching.
fn check_probabilities(probabilities: PerArity<f64>) -> Result<(), TheoryError> {
    if let Some((arity, value)) = probabilities.nonzero().find(|(_, p)| !(0.0..=1.0).contains(p)) {
        return Err(TheoryError::Probability { arity, value });
    }
    let sum: f64 = probabilities.nonzero().map(|(_, p)| p).sum();
    if (sum - 1.0).abs() < 1e-9 { Ok(()) } else { Err(TheoryError::Sum { sum }) }
}

fn check_fraction(value: f64) -> Result<(), TheoryError> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(TheoryError::Fraction { value }) }
}

fn check_fractions(fractions: PerArity<f64>) -> Result<(), TheoryError> {
    fractions.nonzero().try_for_each(|(_, value)| check_fraction(value))
}

/// One value for each length from that of the smallest tree of some depth to that of the largest. With some arities there are lengths
/// between them that no tree has; their values are zero.
///
/// ```
/// use gardenpath::theory::{candidates::mean_candidates, trees::tree_count};
/// use gardenpath::{Arities, PerArity};
/// let trees = tree_count(1, Arities::PAPER)?;
/// assert_eq!((trees.min_len(), trees.max_len()), (2, 3));
/// assert_eq!(trees.get(4), None);
/// assert_eq!(trees.iter().count(), 2);
/// // Real numbers can also be read as such, or as logarithms.
/// let candidates = mean_candidates(7, Arities::PAPER, PerArity::all(0.125))?;
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
    /// The shortest length: the least arity to the power of the depth.
    pub fn min_len(&self) -> usize {
        self.min_len
    }

    /// The longest length: the largest arity to the power of the depth.
    pub fn max_len(&self) -> usize {
        self.min_len + self.values.len() - 1
    }

    /// The value at `len`, or `None` if all trees are longer or all are shorter.
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
}
