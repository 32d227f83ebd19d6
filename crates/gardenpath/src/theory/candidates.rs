//! How many symbols a parser proposes for a span: the mean-field map from the tokens to the root (eq. `bottom_up`).
//!
//! A span of tokens can be cut into shorter spans in several ways; each combination of symbols proposed for `s` of them has a parent
//! with probability `f_s`. Taking means as if all these were independent gives `n = f_2 (n * n) + f_3 (n * n * n)` for two and three
//! children, and a term for every other arity, where `*` is the convolution over lengths. At `f = 1` nothing is rejected and `n` counts
//! the trees.
//!
//! The map has two regimes: proposals die out for small fractions and explode for large ones. The border follows from a simple argument.
//! `n` sums over trees the product of `f_s` over their nodes. If `f_s = p_s` that is the probability of the tree, and
//! `n` is the law of lengths `P(d, L)`: at the typical length it neither explodes nor vanishes, but falls like
//! `<s>^-L` because the law spreads. A factor on all fractions is raised to a number of nodes of the order of `<s>^L`,
//! which wins over this slow decay. So where `k` arities are equally probable, the critical fraction tends to `1 / k`. In the paper's
//! case it tends to 1/2, the paper's value, from above, by about `ln(5/2) / 2` over the number of nodes that the last level adds. The
//! true derivation, which always survives, is not part of this picture; nor is the bound of `vocab` symbols per span.

use super::lengths::typical_length;
use super::polynomial::root;
use super::{ByLength, Magnitude, TheoryError, check_fraction, check_fractions, check_shape};
use crate::arity::{Arities, PerArity};
use crate::interrupt::checkpoint;

/// The mean number of symbols proposed for a span of each length, `depth` levels above the tokens (eq. `bottom_up`).
///
/// ```
/// use gardenpath::theory::candidates::mean_candidates;
/// use gardenpath::{Arities, PerArity};
/// let mean = mean_candidates(2, Arities::PAPER, PerArity::from([(2, 0.5), (3, 0.25)]))?;
/// // Six tokens: 3-3 needs two triples and a pair, 2-2-2 three pairs and a triple.
/// assert_eq!(mean.value(6), 0.5 * 0.25 * 0.25 + 0.25 * 0.5f64.powi(3));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn mean_candidates(
    depth: usize,
    arities: Arities,
    fractions: PerArity<f64>,
) -> Result<ByLength<Magnitude>, TheoryError> {
    check_shape(depth, arities)?;
    check_fractions(fractions)?;
    Ok((0..depth).fold(root(Magnitude::ONE), |children, _| ascend(&children, arities, fractions)))
}

/// The course of the map at one fraction.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::candidates::bifurcation;
/// let curve = &bifurcation(2, &[0.5], PerArity::paper(0.5))?[0];
/// assert_eq!(curve.at_typical_length[1].value(), 0.5f64.powi(3) + 0.5f64.powi(4));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct BifurcationCurve {
    /// The common fraction of grammatical tuples.
    pub fraction: f64,
    /// The mean number of candidates at the typical length of depth 1, 2, ….
    pub at_typical_length: Vec<Magnitude>,
}

/// For each fraction, the mean number of candidates at the typical lengths of depth `1..=depth`, which depend on the probabilities of
/// branching (figure `f_bifurcation`, for two and three children at even odds).
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::candidates::bifurcation;
/// let curves = bifurcation(5, &[0.3, 0.7], PerArity::paper(0.5))?;
/// let last = |i: usize| curves[i].at_typical_length[4].value();
/// assert!(last(0) < 1e-9 && last(1) > 1e3);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn bifurcation(
    depth: usize,
    fractions: &[f64],
    probabilities: PerArity<f64>,
) -> Result<Vec<BifurcationCurve>, TheoryError> {
    let typical = typical_lengths(depth, probabilities)?;
    fractions.iter().try_for_each(|&fraction| check_fraction(fraction))?;
    let curve = |&fraction: &f64| BifurcationCurve {
        fraction,
        at_typical_length: course(&typical, probabilities.arities(), fraction),
    };
    Ok(fractions.iter().map(curve).collect())
}

/// The common fraction at which the mean number of candidates at the typical length is the same for `depth - 1` and
/// `depth` levels: below it the map shrinks in this step, above it grows. (At depth 1 that is 1, as every token is one
/// candidate.)
///
/// Raising the fraction by a factor raises each tree's contribution by that factor to its number of nodes. The deeper
/// trees have more of them, so growth increases with the fraction and there is a single crossing, found by bisection.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::candidates::critical_fraction;
/// // At depth 2 it solves f^3 + f^4 = f.
/// let fraction = critical_fraction(2, PerArity::paper(0.5))?;
/// assert!((fraction.powi(2) + fraction.powi(3) - 1.0).abs() < 1e-11);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn critical_fraction(depth: usize, probabilities: PerArity<f64>) -> Result<f64, TheoryError> {
    let typical = typical_lengths(depth, probabilities)?;
    let (mut shrinks, mut grows) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = 0.5 * (shrinks + grows);
        let course = course(&typical, probabilities.arities(), middle);
        let before = if depth == 1 { Magnitude::ONE } else { course[depth - 2] };
        if course[depth - 1] < before {
            shrinks = middle;
        } else {
            grows = middle;
        }
    }
    Ok(0.5 * (shrinks + grows))
}

/// The typical lengths of depth 1, 2, ….
fn typical_lengths(depth: usize, probabilities: PerArity<f64>) -> Result<Vec<usize>, TheoryError> {
    check_shape(depth, probabilities.arities())?;
    (1..=depth).map(|depth| typical_length(depth, probabilities)).collect()
}

/// The mean numbers of candidates at one length for each of the depths 1, 2, ….
fn course(lengths: &[usize], arities: Arities, fraction: f64) -> Vec<Magnitude> {
    let mut level = root(Magnitude::ONE);
    let next = |&len: &usize| {
        level = ascend(&level, arities, PerArity::all(fraction));
        level.at(len)
    };
    lengths.iter().map(next).collect()
}

/// One level of the map, from the inside as the parser goes: the convolution of the first children serves all arities.
fn ascend(children: &ByLength<Magnitude>, arities: Arities, fractions: PerArity<f64>) -> ByLength<Magnitude> {
    let lens = arities.least() * children.min_len()..=arities.most() * children.max_len();
    let mut sum = ByLength::collect(lens, |_| Magnitude::ZERO);
    let mut tuples = children.clone();
    for arity in 1..=arities.most() {
        if arity > 1 {
            tuples = convolve(&tuples, children);
        }
        if arities.contains(arity) {
            let fraction = Magnitude::new(fractions[arity]);
            for (len, &tuples) in tuples.iter() {
                sum.values[len - sum.min_len] += fraction * tuples;
            }
        }
    }
    sum
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
