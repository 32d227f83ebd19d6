//! How many symbols a parser proposes for a span: the mean-field map from the tokens to the root (eq. `bottom_up`).
//!
//! A span of tokens can be cut into two or three shorter spans in several ways; each combination of symbols proposed
//! for these has a parent with probability `f_2` or `f_3`. Taking means as if all these were independent gives
//! `n = f_2 (n * n) + f_3 (n * n * n)`, where `*` is the convolution over lengths. At `f = 1` nothing is rejected and
//! `n` counts the trees.
//!
//! The map has two fates: proposals die out for small fractions and explode for large ones. The border is easy to see.
//! `n` sums over trees the product of `f_s` over their nodes. If `f_s = p_s` that is the probability of the tree, and
//! `n` is the law of lengths `P(d, L)`: at the typical length it neither explodes nor vanishes, but falls like
//! `<s>^-L` because the law spreads. A factor on both fractions is raised to a number of nodes of the order of `<s>^L`,
//! which wins over this slow decay. So the critical fraction tends to 1/2, the paper's value, from above, by about
//! `ln(5/2) / 2` over the number of nodes that the last level adds. The true derivation, which always survives, is not
//! part of this picture; nor is the bound of `vocab` symbols per span.

use super::lengths::typical_length;
use super::{ByLength, Magnitude, TheoryError, check_depth, check_fraction, check_fractions};
use crate::interrupt::checkpoint;

/// The mean number of symbols proposed for a span of each length, `depth` levels above the tokens (eq. `bottom_up`).
///
/// ```
/// use gardenpath::theory::candidates::mean_candidates;
/// let mean = mean_candidates(2, 0.5, 0.25)?;
/// // Six tokens: 3-3 needs two triples and a pair, 2-2-2 three pairs and a triple.
/// assert_eq!(mean.value(6), 0.5 * 0.25 * 0.25 + 0.25 * 0.5f64.powi(3));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn mean_candidates(
    depth: usize,
    binary_fraction: f64,
    ternary_fraction: f64,
) -> Result<ByLength<Magnitude>, TheoryError> {
    check_depth(depth)?;
    check_fractions(binary_fraction, ternary_fraction)?;
    Ok((0..depth).fold(ByLength::root(), |children, _| ascend(&children, binary_fraction, ternary_fraction)))
}

/// The course of the map at one fraction.
///
/// ```
/// use gardenpath::theory::candidates::bifurcation;
/// let curve = &bifurcation(2, &[0.5], 0.5)?[0];
/// assert_eq!(curve.at_typical_length[1].value(), 0.5f64.powi(3) + 0.5f64.powi(4));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BifurcationCurve {
    /// The common fraction of grammatical pairs and triples.
    pub fraction: f64,
    /// The mean number of candidates at the typical length of depth 1, 2, ….
    pub at_typical_length: Vec<Magnitude>,
}

/// For each fraction, the mean number of candidates at the typical lengths of depth `1..=depth`, which depend on the probability of a
/// binary node (figure `f_bifurcation`, for `p_binary = 1/2`).
///
/// ```
/// use gardenpath::theory::candidates::bifurcation;
/// let curves = bifurcation(5, &[0.3, 0.7], 0.5)?;
/// let last = |i: usize| curves[i].at_typical_length[4].value();
/// assert!(last(0) < 1e-9 && last(1) > 1e3);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn bifurcation(depth: usize, fractions: &[f64], p_binary: f64) -> Result<Vec<BifurcationCurve>, TheoryError> {
    check_depth(depth)?;
    fractions
        .iter()
        .map(|&fraction| {
            check_fraction("fraction", fraction)?;
            let mut level = ByLength::root();
            let mut at_typical_length = Vec::with_capacity(depth);
            for height in 1..=depth {
                level = ascend(&level, fraction, fraction);
                at_typical_length.push(level.at(typical_length(height, p_binary)?));
            }
            Ok(BifurcationCurve { fraction, at_typical_length })
        })
        .collect()
}

/// The fraction `f2 = f3` at which the mean number of candidates at the typical length is the same for `depth - 1` and
/// `depth` levels: below it the map shrinks in this step, above it grows. (At depth 1 that is 1, as every token is one
/// candidate.)
///
/// Raising the fraction by a factor raises each tree's contribution by that factor to its number of nodes. The deeper
/// trees have more of them, so growth increases with the fraction and there is a single crossing, found by bisection.
///
/// ```
/// use gardenpath::theory::candidates::critical_fraction;
/// // At depth 2 it solves f^3 + f^4 = f.
/// let fraction = critical_fraction(2, 0.5)?;
/// assert!((fraction.powi(2) + fraction.powi(3) - 1.0).abs() < 1e-11);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn critical_fraction(depth: usize, p_binary: f64) -> Result<f64, TheoryError> {
    check_depth(depth)?;
    let (mut shrinks, mut grows) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = 0.5 * (shrinks + grows);
        let curve = &bifurcation(depth, &[middle], p_binary)?[0].at_typical_length;
        let before = if depth == 1 { Magnitude::ONE } else { curve[depth - 2] };
        if curve[depth - 1] < before {
            shrinks = middle;
        } else {
            grows = middle;
        }
    }
    Ok(0.5 * (shrinks + grows))
}

/// One level of the map. The pairs are formed once and serve both as binary splits and as the first two of three.
fn ascend(children: &ByLength<Magnitude>, binary_fraction: f64, ternary_fraction: f64) -> ByLength<Magnitude> {
    let (binary_fraction, ternary_fraction) = (Magnitude::new(binary_fraction), Magnitude::new(ternary_fraction));
    let pairs = convolve(children, children);
    let triples = convolve(&pairs, children);
    ByLength::collect(pairs.min_len()..=triples.max_len(), |len| {
        binary_fraction * pairs.at(len) + ternary_fraction * triples.at(len)
    })
}

fn convolve(left: &ByLength<Magnitude>, right: &ByLength<Magnitude>) -> ByLength<Magnitude> {
    let shortest = left.min_len() + right.min_len();
    let mut sum = ByLength::collect(shortest..=left.max_len() + right.max_len(), |_| Magnitude::ZERO);
    for (i, &first) in left.values.iter().enumerate() {
        checkpoint();
        for (j, &second) in right.values.iter().enumerate() {
            sum.values[i + j] += first * second;
        }
    }
    sum
}
