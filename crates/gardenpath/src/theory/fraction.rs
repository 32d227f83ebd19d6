//! Which fraction of all `vocab^d` strings a tree of a given length can write: `F(d, L)` (eq. `frac_data`).
//!
//! For one fixed tree the fraction is a factor `f` per internal node: its children must be one of the tuples that have
//! a parent. `F` averages this over the trees that end at length `d`. With `f2 != f3`, the paper's `f^d'` for the `d'`
//! nodes of a level becomes `f2^n2 f3^n3`, with `n2 = 3d' - d` binary and `n3 = d - 2d'` ternary ones.
//!
//! The average must give a tree its probability. Going down one level, an incoming length `d'` therefore weighs
//! `P(d', L)` times the chance to branch from `d'` to `d`; the printed equation leaves out the first factor, in the
//! numerator and the denominator. Both versions are here. They are equal up to depth 2; at depth 3 they differ by up to
//! 17% for `f = 1/2` and 29% for `f = 1/4`, and in the tails of deeper grammars by orders of magnitude.

use super::lengths::{descend, mean_internal_nodes, tree_sum};
use super::{ByLength, Magnitude, TheoryError, check_depth, check_fractions, check_probability};

/// The fraction of strings of each length that a tree of this length can write, averaged over the trees with their
/// probabilities: eq. `frac_data` with the weights `P(d', L)` of the incoming lengths restored.
///
/// Read it by [`value`](ByLength::value) or, below `10^-308`, by [`ln`](ByLength::ln). It is zero for lengths that
/// never occur (all but one if `p_binary` is 0 or 1).
///
/// ```
/// use gardenpath::theory::fraction::grammatical_fraction;
/// // Six tokens: two thirds of the time 3-3 (three nodes), otherwise 2-2-2 (four nodes).
/// let fraction = grammatical_fraction(2, 0.5, 0.5, 0.5)?;
/// let expected = (2.0 * 0.5f64.powi(3) + 0.5f64.powi(4)) / 3.0;
/// assert!((fraction.value(6) - expected).abs() < 1e-15);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn grammatical_fraction(
    depth: usize,
    binary_fraction: f64,
    ternary_fraction: f64,
    p_binary: f64,
) -> Result<ByLength<Magnitude>, TheoryError> {
    check(depth, binary_fraction, ternary_fraction, p_binary)?;
    // P(d, L) F(d, L) is again a sum over trees, with weights p_s f_s.
    let p_ternary = 1.0 - p_binary;
    let grammatical = tree_sum(depth, p_binary * binary_fraction, p_ternary * ternary_fraction);
    Ok(ratio(&grammatical, &tree_sum(depth, p_binary, p_ternary)))
}

/// The same fraction by eq. `frac_data` as printed: every incoming length weighs the same, however rare it is.
///
/// ```
/// use gardenpath::theory::fraction::{grammatical_fraction, paper_grammatical_fraction};
/// let (printed, weighted) = (paper_grammatical_fraction(3, 0.5, 0.5, 0.5)?, grammatical_fraction(3, 0.5, 0.5, 0.5)?);
/// assert!(printed.value(15) != weighted.value(15));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn paper_grammatical_fraction(
    depth: usize,
    binary_fraction: f64,
    ternary_fraction: f64,
    p_binary: f64,
) -> Result<ByLength<Magnitude>, TheoryError> {
    check(depth, binary_fraction, ternary_fraction, p_binary)?;
    let p_ternary = 1.0 - p_binary;
    Ok((0..depth).fold(ByLength::root(), |fraction, _| {
        let unweighted = ByLength::collect(fraction.min_len()..=fraction.max_len(), |_| Magnitude::ONE);
        let grammatical = descend(&fraction, p_binary * binary_fraction, p_ternary * ternary_fraction);
        ratio(&grammatical, &descend(&unweighted, p_binary, p_ternary))
    }))
}

/// The paper's asymptote at the typical length, `f^((<s>^L - 1) / (<s> - 1))`: one factor per internal node of a mean
/// tree. With two fractions, `f` is their geometric mean `f2^p2 f3^p3`, as `p2` of these nodes are binary.
///
/// ```
/// use gardenpath::theory::fraction::typical_grammatical_fraction;
/// assert_eq!(typical_grammatical_fraction(2, 0.5, 1.0, 1.0)?.value(), 0.125);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn typical_grammatical_fraction(
    depth: usize,
    binary_fraction: f64,
    ternary_fraction: f64,
    p_binary: f64,
) -> Result<Magnitude, TheoryError> {
    check(depth, binary_fraction, ternary_fraction, p_binary)?;
    // A branching that never happens must not bring in the logarithm of its fraction, which may be infinite.
    let ln_factor = |p: f64, fraction: f64| if p > 0.0 { p * fraction.ln() } else { 0.0 };
    let ln_per_node = ln_factor(p_binary, binary_fraction) + ln_factor(1.0 - p_binary, ternary_fraction);
    Ok(Magnitude::exp(mean_internal_nodes(depth, p_binary)? * ln_per_node))
}

fn check(depth: usize, binary_fraction: f64, ternary_fraction: f64, p_binary: f64) -> Result<(), TheoryError> {
    check_depth(depth)?;
    check_fractions(binary_fraction, ternary_fraction)?;
    check_probability(p_binary)
}

fn ratio(numerator: &ByLength<Magnitude>, denominator: &ByLength<Magnitude>) -> ByLength<Magnitude> {
    ByLength::collect(numerator.min_len()..=numerator.max_len(), |len| numerator.at(len) / denominator.at(len))
}
