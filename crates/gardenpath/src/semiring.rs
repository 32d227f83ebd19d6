//! Semirings: what a chart adds and multiplies decides what it computes.
//!
//! The recursion of [`crate::Chart`] is written once. With [`Recognition`] it is CYK, with `f64` the inside algorithm, with
//! [`Count`] it counts trees, with [`BestLog`] it finds the best one, with [`Expectation`] the entropy of the trees.

mod derivations;
mod probabilities;

pub use derivations::{BestLog, Count, Expectation, Recognition};
pub use probabilities::LogProbability;

/// A commutative semiring with a value for every rule.
///
/// A new quantity takes a few lines:
///
/// ```
/// use gardenpath::{Chart, Ensemble, Seed, Semiring};
///
/// /// The smallest number of binary rules in a tree: (min, +).
/// #[derive(Clone)]
/// struct FewestBinary(u32);
///
/// impl Semiring for FewestBinary {
///     fn zero() -> Self { FewestBinary(u32::MAX) }
///     fn one() -> Self { FewestBinary(0) }
///     fn is_zero(&self) -> bool { self.0 == u32::MAX }
///     fn add(&mut self, other: Self) { self.0 = self.0.min(other.0) }
///     fn mul(&self, other: &Self) -> Self { FewestBinary(self.0.saturating_add(other.0)) }
///     fn rule(_probability: f64, arity: usize) -> Self { FewestBinary((arity == 2) as u32) }
/// }
///
/// let grammar = Ensemble::new(4, 2).fraction(1.0).sample(Seed::new(1))?;
/// let chart = Chart::<FewestBinary>::parse(&grammar, &[0, 1, 2, 3, 0, 1])?;
/// // Six tokens are 3 + 3 with one binary rule at the root, or 2 + 2 + 2 with three below it.
/// assert_eq!(chart.roots().iter().map(|root| root.0).min(), Some(1));
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub trait Semiring: Clone + Send + Sync {
    /// The neutral element of addition: no derivation.
    fn zero() -> Self;
    /// The neutral element of multiplication: a token.
    fn one() -> Self;
    /// Whether this is [`Semiring::zero`].
    fn is_zero(&self) -> bool;
    /// Adds the value of other derivations of the same symbol on the same span.
    fn add(&mut self, other: Self);
    /// The value of two parts of one derivation.
    fn mul(&self, other: &Self) -> Self;
    /// The value of a rule with this probability and number of children.
    fn rule(probability: f64, arity: usize) -> Self;
}
