//! Which fraction of all `vocab^d` strings a tree of a given length can write: `F(d, L)` (eq. `frac_data`).
//!
//! For one fixed tree the fraction is a factor `f_s` per internal node: its children must be one of the tuples that have
//! a parent. `F` averages this over the trees that end at length `d`. Where the fractions differ, the paper's `f^d'` for the `d'`
//! nodes of a level becomes a product of `f_s^(n_s)` over the `n_s` nodes of each arity.
//!
//! The average must give a tree its probability. Going down one level, an incoming length `d'` therefore weighs
//! `P(d', L)` times the chance to branch from `d'` to `d`; the printed equation leaves out the first factor, in the
//! numerator and the denominator. Both versions are here. If all arities are equally probable they are equal up to depth 2; at depth 3
//! they differ in the paper's case by up to 17% for `f = 1/2` and 29% for `f = 1/4`, and in the tails of deeper grammars by orders of
//! magnitude.

use super::lengths::mean_internal_nodes;
use super::polynomial::{descend, root};
use super::{ByLength, Magnitude, TheoryError, check_fractions, check_probabilities, check_shape};
use crate::arity::PerArity;

/// The fraction of strings of each length that a tree of this length can write, averaged over the trees with their
/// probabilities: eq. `frac_data` with the weights `P(d', L)` of the incoming lengths restored.
///
/// Read it by [`value`](ByLength::value) or, below `10^-308`, by [`ln`](ByLength::ln). It is zero for lengths that
/// never occur. Fractions of arities that never occur do not matter, so that [`PerArity::all`] gives all arities the same.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::fraction::grammatical_fraction;
/// // Six tokens: two thirds of the time 3-3 (three nodes), otherwise 2-2-2 (four nodes).
/// let fraction = grammatical_fraction(2, PerArity::all(0.5), PerArity::paper(0.5))?;
/// let expected = (2.0 * 0.5f64.powi(3) + 0.5f64.powi(4)) / 3.0;
/// assert!((fraction.value(6) - expected).abs() < 1e-15);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn grammatical_fraction(
    depth: usize,
    fractions: PerArity<f64>,
    probabilities: PerArity<f64>,
) -> Result<ByLength<Magnitude>, TheoryError> {
    check(depth, fractions, probabilities)?;
    // P(d, L) F(d, L) is again a sum over trees, with weights p_s f_s.
    let sum = |weight: &dyn Fn(usize) -> f64| {
        let below = |level, _| descend(&level, probabilities.arities(), |arity| Magnitude::new(weight(arity)));
        (0..depth).fold(root(Magnitude::ONE), below)
    };
    Ok(ratio(&sum(&|arity| probabilities[arity] * fractions[arity]), &sum(&|arity| probabilities[arity])))
}

/// The same fraction by eq. `frac_data` as printed: every incoming length weighs the same, however rare it is. The paper has it for two
/// and three children; for other arities this is the same recursion.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::fraction::{grammatical_fraction, paper_grammatical_fraction};
/// let (fractions, probabilities) = (PerArity::all(0.5), PerArity::paper(0.5));
/// let printed = paper_grammatical_fraction(3, fractions, probabilities)?;
/// let weighted = grammatical_fraction(3, fractions, probabilities)?;
/// assert!(printed.value(15) != weighted.value(15));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn paper_grammatical_fraction(
    depth: usize,
    fractions: PerArity<f64>,
    probabilities: PerArity<f64>,
) -> Result<ByLength<Magnitude>, TheoryError> {
    check(depth, fractions, probabilities)?;
    let arities = probabilities.arities();
    let (mut fraction, mut reached) = (root(Magnitude::ONE), root(Magnitude::ONE));
    for _ in 0..depth {
        let weight = |&sum: &Magnitude| if sum.is_zero() { Magnitude::ZERO } else { Magnitude::ONE };
        let unweighted = ByLength { min_len: reached.min_len, values: reached.values.iter().map(weight).collect() };
        let grammatical = descend(&fraction, arities, |arity| Magnitude::new(probabilities[arity] * fractions[arity]));
        reached = descend(&unweighted, arities, |arity| Magnitude::new(probabilities[arity]));
        fraction = ratio(&grammatical, &reached);
    }
    Ok(fraction)
}

/// The paper's asymptote at the typical length, `f^((<s>^L - 1) / (<s> - 1))`: one factor per internal node of a mean
/// tree. With several fractions, `f` is their geometric mean, the product of `f_s^(p_s)`, as `p_s` of these nodes have `s` children.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::fraction::typical_grammatical_fraction;
/// assert_eq!(typical_grammatical_fraction(2, PerArity::all(0.5), PerArity::paper(1.0))?.value(), 0.125);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn typical_grammatical_fraction(
    depth: usize,
    fractions: PerArity<f64>,
    probabilities: PerArity<f64>,
) -> Result<Magnitude, TheoryError> {
    check(depth, fractions, probabilities)?;
    let ln_per_node: f64 = probabilities.nonzero().map(|(arity, p)| p * fractions[arity].ln()).sum();
    Ok(Magnitude::exp(mean_internal_nodes(depth, probabilities)? * ln_per_node))
}

fn check(depth: usize, fractions: PerArity<f64>, probabilities: PerArity<f64>) -> Result<(), TheoryError> {
    check_fractions(fractions)?;
    check_probabilities(probabilities)?;
    check_shape(depth, probabilities.arities())
}

fn ratio(numerator: &ByLength<Magnitude>, denominator: &ByLength<Magnitude>) -> ByLength<Magnitude> {
    ByLength::collect(numerator.min_len()..=numerator.max_len(), |len| numerator.at(len) / denominator.at(len))
}
