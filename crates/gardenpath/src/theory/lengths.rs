//! How long sentences are: the law `P(d, L)` of the number of tokens (section `app_subsec:p_of_d`).
//!
//! Each level replaces every symbol by two or three. From `d'` symbols, `d` arise when exactly `d - 2d'` of them are
//! ternary, which explains the binomial coefficient `d'! / ((3d' - d)! (d - 2d')!)` of the paper's master equation.
//! Every term of the sum is positive, so nothing cancels and the law is exact to rounding.

use super::{ByLength, Magnitude, TheoryError, check_depth, check_probability};
use crate::interrupt::checkpoint;

/// The law of sentence lengths of a grammar.
///
/// ```
/// use gardenpath::theory::lengths::length_distribution;
/// let law = length_distribution(3, 0.5)?;
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

/// The probability of each sentence length from `2^depth` to `3^depth`: the first equation of section
/// `app_subsec:p_of_d`, for any `p_binary`. With `p_binary` 0 or 1 a single length has probability 1.
///
/// ```
/// use gardenpath::theory::lengths::length_distribution;
/// assert_eq!(length_distribution(2, 0.5)?.probability(4), 1.0 / 8.0);
/// assert_eq!(length_distribution(5, 1.0)?.probability(32), 1.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn length_distribution(depth: usize, p_binary: f64) -> Result<LengthLaw, TheoryError> {
    check_depth(depth)?;
    Ok(LengthLaw {
        typical: mean_branching(p_binary)?.powi(depth as i32),
        probabilities: tree_sum(depth, p_binary, 1.0 - p_binary),
    })
}

impl LengthLaw {
    /// The shortest length, `2^depth`.
    pub fn min_len(&self) -> usize {
        self.probabilities.min_len()
    }

    /// The longest length, `3^depth`.
    pub fn max_len(&self) -> usize {
        self.probabilities.max_len()
    }

    /// The probability of `len`; zero outside the range.
    pub fn probability(&self, len: usize) -> f64 {
        self.probabilities.value(len)
    }

    /// The natural logarithm of the probability of `len`, also where the probability underflows (from depth 7 on).
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
    /// use gardenpath::theory::lengths::length_distribution;
    /// let points = length_distribution(1, 0.5)?.scaling_form();
    /// assert_eq!(points, [(-0.2, 1.25), (0.2, 1.25)]);
    /// # Ok::<(), gardenpath::theory::TheoryError>(())
    /// ```
    pub fn scaling_form(&self) -> Vec<(f64, f64)> {
        let typical = self.typical;
        self.iter().map(|(len, probability)| ((len as f64 - typical) / typical, probability * typical)).collect()
    }
}

/// The mean number of children `<s> = 2 p2 + 3 p3`.
///
/// ```
/// assert_eq!(gardenpath::theory::lengths::mean_branching(0.5)?, 2.5);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn mean_branching(p_binary: f64) -> Result<f64, TheoryError> {
    check_probability(p_binary)?;
    Ok(3.0 - p_binary)
}

/// The length `floor(<s>^L)` at which the paper evaluates its curves.
///
/// ```
/// assert_eq!(gardenpath::theory::lengths::typical_length(6, 0.5)?, 244);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn typical_length(depth: usize, p_binary: f64) -> Result<usize, TheoryError> {
    check_depth(depth)?;
    Ok(mean_branching(p_binary)?.powi(depth as i32).floor() as usize)
}

/// The mean number of internal nodes of a tree, `1 + <s> + … + <s>^(L-1) = (<s>^L - 1) / (<s> - 1)`: the exponent in
/// the paper's asymptotes.
///
/// ```
/// assert_eq!(gardenpath::theory::lengths::mean_internal_nodes(3, 1.0)?, 7.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn mean_internal_nodes(depth: usize, p_binary: f64) -> Result<f64, TheoryError> {
    check_depth(depth)?;
    let branching = mean_branching(p_binary)?;
    Ok((branching.powi(depth as i32) - 1.0) / (branching - 1.0))
}

/// The variance `p2 p3 / d` of the ratio `r` by which a level of `len` symbols grows to the next.
///
/// The number of ternary symbols is binomial, with variance `p2 p3 d`, and `r` is 2 plus its share. For even odds that
/// is `1 / (4 d)`. The paper prints `13 / (4 d)`, which results from adding the variances of `2 n2` and `3 n3` as if
/// these two counts, whose sum is `d`, were independent.
///
/// ```
/// assert_eq!(gardenpath::theory::lengths::branching_variance(10, 0.5)?, 1.0 / 40.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn branching_variance(len: usize, p_binary: f64) -> Result<f64, TheoryError> {
    check_probability(p_binary)?;
    if len == 0 { Err(TheoryError::EmptyLevel) } else { Ok(p_binary * (1.0 - p_binary) / len as f64) }
}

/// The variance of `ln r` to first order in `1 / len` (delta method): [`branching_variance`] over `<s>^2`, which is
/// `1 / (25 d)` for even odds.
///
/// ```
/// assert_eq!(gardenpath::theory::lengths::log_branching_variance(10, 0.5)?, 1.0 / 250.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn log_branching_variance(len: usize, p_binary: f64) -> Result<f64, TheoryError> {
    Ok(branching_variance(len, p_binary)? / mean_branching(p_binary)?.powi(2))
}

/// For each length, the sum over trees of the product of their nodes' weights.
pub(super) fn tree_sum(depth: usize, binary_weight: f64, ternary_weight: f64) -> ByLength<Magnitude> {
    (0..depth).fold(ByLength::root(), |level, _| descend(&level, binary_weight, ternary_weight))
}

/// One level of the top-down equations: a sequence of `d'` symbols, `k` of them ternary, becomes one of `2d' + k`
/// symbols, in `binomial(d', k)` ways that each weigh `binary_weight^(d'-k) ternary_weight^k`.
pub(super) fn descend(parents: &ByLength<Magnitude>, binary_weight: f64, ternary_weight: f64) -> ByLength<Magnitude> {
    let binary_powers = powers(binary_weight, parents.max_len());
    let ternary_powers = powers(ternary_weight, parents.max_len());
    let shortest = 2 * parents.min_len();
    let mut children = ByLength::collect(shortest..=3 * parents.max_len(), |_| Magnitude::ZERO);
    for (len, &parent) in parents.iter() {
        checkpoint();
        for (ternaries, &ways) in binomials(len).iter().enumerate() {
            let weight = binary_powers[len - ternaries] * ternary_powers[ternaries];
            children.values[2 * len + ternaries - shortest] += parent * ways * weight;
        }
    }
    children
}

/// `binomial(n, 0)` to `binomial(n, n)`. The second half mirrors the first, so that both ends are exact.
fn binomials(n: usize) -> Vec<Magnitude> {
    let mut row = vec![Magnitude::ONE];
    for k in 1..=n {
        row.push(if 2 * k <= n {
            row[k - 1] * Magnitude::new((n + 1 - k) as f64) / Magnitude::new(k as f64)
        } else {
            row[n - k]
        });
    }
    row
}

fn powers(base: f64, highest: usize) -> Vec<Magnitude> {
    let base = Magnitude::new(base);
    std::iter::successors(Some(Magnitude::ONE), |&power| Some(power * base)).take(highest + 1).collect()
}
