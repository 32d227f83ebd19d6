//! How long sentences are: the law `P(d, L)` of the number of tokens (section `app_subsec:p_of_d`).
//!
//! Each level replaces every symbol by `s` symbols with probability `p_s`, so the law is the composition of the polynomials
//! `g(x) = sum of p_s x^s`. With two and three children, `d` symbols arise from `d'` when exactly `d - 2d'` of them are ternary, which
//! explains the binomial coefficient `d'! / ((3d' - d)! (d - 2d')!)` of the paper's master equation. Every term of the sum is positive,
//! so nothing cancels and the law is exact to rounding.

use super::polynomial::{descend, root};
use super::{ByLength, Magnitude, TheoryError, check_depth, check_probabilities, check_shape};
use crate::arity::{Arities, PerArity};
use crate::shape::Shape;

/// The law of sentence lengths of a grammar.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::lengths::length_distribution;
/// let law = length_distribution(3, PerArity::paper(0.5))?;
/// assert_eq!((law.min_len(), law.max_len()), (8, 27));
/// assert!((law.iter().map(|(_, probability)| probability).sum::<f64>() - 1.0).abs() < 1e-12);
/// assert!((law.mean() - 2.5f64.powi(3)).abs() < 1e-12);
/// assert!((law.variance() - 0.25 * (2.5f64.powi(2) + 2.5f64.powi(3) + 2.5f64.powi(4))).abs() < 1e-12);
/// assert_eq!((law.probability(27), law.probability(28)), (0.5f64.powi(13), 0.0));
/// assert!((law.ln_probability(27) - 13.0 * 0.5f64.ln()).abs() < 1e-12);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LengthLaw {
    typical: f64,
    probabilities: ByLength<Magnitude>,
}

/// The probability of each sentence length: the first equation of section `app_subsec:p_of_d`, for any probabilities of branching.
/// Arities of probability zero do not exist, so that with a single one there is a single length.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::lengths::length_distribution;
/// assert_eq!(length_distribution(2, PerArity::paper(0.5))?.probability(4), 1.0 / 8.0);
/// let quaternary = length_distribution(5, PerArity::from([(4, 1.0)]))?;
/// assert_eq!((quaternary.min_len(), quaternary.probability(1024)), (1024, 1.0));
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn length_distribution(depth: usize, probabilities: PerArity<f64>) -> Result<LengthLaw, TheoryError> {
    check_depth(depth)?;
    LengthLaw::of_levels(&vec![probabilities; depth])
}

impl LengthLaw {
    /// The law of a grammar whose levels, from the root down, branch with different probabilities.
    ///
    /// ```
    /// use gardenpath::PerArity;
    /// use gardenpath::theory::lengths::LengthLaw;
    /// // One or two nodes of three tokens each.
    /// let law = LengthLaw::of_levels(&[PerArity::from([(1, 0.5), (2, 0.5)]), PerArity::from([(3, 1.0)])])?;
    /// assert_eq!([3, 4, 5, 6].map(|len| law.probability(len)), [0.5, 0.0, 0.0, 0.5]);
    /// # Ok::<(), gardenpath::theory::TheoryError>(())
    /// ```
    pub fn of_levels(levels: &[PerArity<f64>]) -> Result<LengthLaw, TheoryError> {
        check_depth(levels.len())?;
        levels.iter().try_for_each(|&level| check_probabilities(level))?;
        let longest = Shape::longest(&levels.iter().map(PerArity::arities).collect::<Vec<Arities>>());
        if longest > super::MAX_LEN {
            return Err(TheoryError::Length { longest });
        }
        Ok(LengthLaw {
            typical: levels.iter().map(branching).product(),
            probabilities: levels.iter().fold(root(Magnitude::ONE), |nodes, level| {
                descend(&nodes, level.arities(), |arity| Magnitude::new(level[arity]))
            }),
        })
    }

    /// The shortest length.
    pub fn min_len(&self) -> usize {
        self.probabilities.min_len()
    }

    /// The longest length.
    pub fn max_len(&self) -> usize {
        self.probabilities.max_len()
    }

    /// The probability of `len`; zero if no tree has this length.
    pub fn probability(&self, len: usize) -> f64 {
        self.probabilities.value(len)
    }

    /// The natural logarithm of the probability of `len`, also where the probability underflows (in the paper's case from depth 7 on).
    pub fn ln_probability(&self, len: usize) -> f64 {
        self.probabilities.ln(len)
    }

    /// Pairs of a length and its probability, from the shortest to the longest.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, f64)> {
        self.probabilities.iter().map(|(len, probability)| (len, probability.value()))
    }

    /// The mean length: `<s>^depth` up to rounding, with `<s>` the [`mean_branching`].
    pub fn mean(&self) -> f64 {
        self.iter().map(|(len, probability)| len as f64 * probability).sum()
    }

    /// The variance of the length.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        self.iter().map(|(len, probability)| (len as f64 - mean).powi(2) * probability).sum()
    }

    /// The law in units of the typical length: points `((d - <s>^L) / <s>^L, P(d, L) <s>^L)`, whose curves for
    /// different depths fall onto each other from depth 3 on (figure `scaling_lengths`).
    ///
    /// ```
    /// use gardenpath::PerArity;
    /// use gardenpath::theory::lengths::length_distribution;
    /// let points = length_distribution(1, PerArity::paper(0.5))?.scaling_form();
    /// assert_eq!(points, [(-0.2, 1.25), (0.2, 1.25)]);
    /// # Ok::<(), gardenpath::theory::TheoryError>(())
    /// ```
    pub fn scaling_form(&self) -> Vec<(f64, f64)> {
        let typical = self.typical;
        self.iter().map(|(len, probability)| ((len as f64 - typical) / typical, probability * typical)).collect()
    }
}

/// The mean number of children `<s>`, the sum of `s p_s`.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::lengths::mean_branching;
/// assert_eq!(mean_branching(PerArity::paper(0.5))?, 2.5);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn mean_branching(probabilities: PerArity<f64>) -> Result<f64, TheoryError> {
    check_probabilities(probabilities)?;
    Ok(branching(&probabilities))
}

/// As what is missing to the largest arity, which rounds to a whole number where all nodes are alike: `3 - p_2` in the paper's case.
fn branching(probabilities: &PerArity<f64>) -> f64 {
    let most = probabilities.arities().most();
    probabilities.nonzero().fold(most as f64, |mean, (arity, p)| mean - (most - arity) as f64 * p)
}

/// The length `floor(<s>^L)` at which the paper evaluates its curves; where no tree has it, the next shorter one that some tree has.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::lengths::typical_length;
/// assert_eq!(typical_length(6, PerArity::paper(0.5))?, 244);
/// // Two or four children: all lengths are even.
/// assert_eq!(typical_length(3, PerArity::from([(2, 0.5), (4, 0.5)]))?, 26);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn typical_length(depth: usize, probabilities: PerArity<f64>) -> Result<usize, TheoryError> {
    let (branching, arities) = (mean_branching(probabilities)?, probabilities.arities());
    check_shape(depth, arities)?;
    let shape = Shape::new(&vec![arities; depth]);
    // A whole number stays one in spite of rounding. The shortest length is at most the mean.
    let mean = branching.powi(depth as i32) * (1.0 + 1e-12);
    Ok((1..=mean as usize).rev().find(|&len| shape.has_length(len)).unwrap_or(*shape.lengths().start()))
}

/// The mean number of internal nodes of a tree, `1 + <s> + … + <s>^(L-1) = (<s>^L - 1) / (<s> - 1)`: the exponent in
/// the paper's asymptotes.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::lengths::mean_internal_nodes;
/// assert_eq!(mean_internal_nodes(3, PerArity::from([(2, 1.0)]))?, 7.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn mean_internal_nodes(depth: usize, probabilities: PerArity<f64>) -> Result<f64, TheoryError> {
    check_depth(depth)?;
    let branching = mean_branching(probabilities)?;
    Ok((0..depth as i32).map(|level| branching.powi(level)).sum())
}

/// The variance of the ratio `r` by which a level of `len` symbols grows to the next: that of the number of children of one symbol,
/// which is the sum of `p_s p_t (t - s)^2` over pairs of arities, divided by `len`.
///
/// With two and three children at even odds that is `1 / (4 d)`. The paper prints `13 / (4 d)`, which results from adding the variances
/// of `2 n2` and `3 n3` as if these two counts, whose sum is `d`, were independent.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::lengths::branching_variance;
/// assert_eq!(branching_variance(10, PerArity::paper(0.5))?, 1.0 / 40.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn branching_variance(len: usize, probabilities: PerArity<f64>) -> Result<f64, TheoryError> {
    check_probabilities(probabilities)?;
    if len == 0 {
        return Err(TheoryError::EmptyLevel);
    }
    let more = |arity: usize| probabilities.nonzero().filter(move |(other, _)| *other > arity);
    let of_arity = |(s, p): (usize, f64)| more(s).map(|(t, q)| p * q * ((t - s) * (t - s)) as f64).sum::<f64>();
    Ok(probabilities.nonzero().map(of_arity).sum::<f64>() / len as f64)
}

/// The variance of `ln r` to first order in `1 / len` (delta method): [`branching_variance`] over `<s>^2`, which is
/// `1 / (25 d)` for two and three children at even odds.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::lengths::log_branching_variance;
/// assert_eq!(log_branching_variance(10, PerArity::paper(0.5))?, 1.0 / 250.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn log_branching_variance(len: usize, probabilities: PerArity<f64>) -> Result<f64, TheoryError> {
    Ok(branching_variance(len, probabilities)? / mean_branching(probabilities)?.powi(2))
}
