//! How ambiguous a sentence of depth 2 is: the mean entropy `E[H(Y | X)]` of the root given the tokens, in nats, for
//! large vocabularies (eq. `L_2_class_entropy`).
//!
//! A sentence was written by one of twelve trees, the *true* one. Another tree of the same length also derives it if
//! all its nodes happen to be rules. For `vocab -> infinity` this is a matter of independent coins: each block of
//! tokens has a parent with probability `f_s`, unless it is a block of the true tree, which has one for certain; the
//! parents found so are different symbols each time, and the tuple of them has a parent, a new root, with probability
//! `f_s`. Trees that share a block share its coin.
//!
//! Among the trees that derive a sentence, one weighs `prod p_s / m_s` over its nodes. As `m_s = f_s v^(s-1)` and the
//! powers of `v` depend on the length only, the weight is `prod p_s / f_s`. All roots being different, the entropy of
//! these weights is the entropy of the root.

use super::trees::{Topology, two_level_topologies};
use super::{TheoryError, check_fraction, check_fractions, check_probability};

/// The mean entropy of the root at depth 2 for any fractions and branching probability, by exact enumeration of the
/// true tree and of the sets of other trees that derive the same sentence.
///
/// A fraction of zero stands for its limit. Where only one kind of branching occurs the entropy is zero.
///
/// ```
/// use gardenpath::theory::entropy::class_entropy;
/// assert!((class_entropy(1.0, 1.0, 0.5)? - 0.70461).abs() < 1e-5);
/// assert!((class_entropy(0.25, 0.25, 0.5)? - 0.0097).abs() < 1e-4);
/// assert_eq!(class_entropy(0.25, 0.25, 1.0)?, 0.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn class_entropy(binary_fraction: f64, ternary_fraction: f64, p_binary: f64) -> Result<f64, TheoryError> {
    check_fractions(binary_fraction, ternary_fraction)?;
    check_probability(p_binary)?;
    let model = Model { fractions: [binary_fraction, ternary_fraction], p_binary };
    let all = two_level_topologies();
    let mut mean = 0.0;
    for truth in &all {
        let rivals: Vec<&Topology> =
            all.iter().filter(|rival| *rival != truth && rival.sentence_len() == truth.sentence_len()).collect();
        mean += truth.weight(p_binary, 1.0 - p_binary) * model.entropy_given(truth, &rivals);
    }
    Ok(mean)
}

/// The entropy by eq. `L_2_class_entropy` as printed, for `f2 = f3 = fraction` and even odds of branching.
///
/// It differs from [`class_entropy`] except at 0 and 1: at six tokens it exchanges the chances of 3-3 and 2-2-2 and
/// sets their odds to 2 : 1 instead of `2f : 1`; at seven and eight it takes trees that share a block for independent.
///
/// ```
/// use gardenpath::theory::entropy::paper_class_entropy;
/// assert!((paper_class_entropy(0.25)? - 0.0061).abs() < 1e-4);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn paper_class_entropy(fraction: f64) -> Result<f64, TheoryError> {
    check_fraction("fraction", fraction)?;
    let (cube, fourth) = (fraction.powi(3), fraction.powi(4));
    let five_tokens = cube * entropy(&[1.0, 1.0]);
    let six_tokens = (2.0 * cube + fourth) / 3.0 * entropy(&[1.0, 2.0]);
    let more_tokens = 2.0 * fourth * (1.0 - fourth) * entropy(&[1.0, 1.0]) + fourth.powi(2) * entropy(&[1.0, 1.0, 1.0]);
    Ok(five_tokens / 4.0 + six_tokens * 3.0 / 16.0 + more_tokens * 3.0 / 8.0)
}

/// A condition under which a rival tree derives the sentence.
#[derive(Clone, Copy, PartialEq)]
enum Coin {
    /// The tokens from `start` on, `arity` of them, have a parent. Rivals may share this coin.
    Block { start: usize, arity: usize },
    /// The children of the root of this rival have a parent.
    Root { rival: usize, arity: usize },
}

struct Model {
    fractions: [f64; 2], // of pairs, of triples
    p_binary: f64,
}

impl Model {
    /// The mean entropy of the root given the true tree: a sum over the sets of rivals that derive the sentence too.
    fn entropy_given(&self, truth: &Topology, rivals: &[&Topology]) -> f64 {
        let sets = 1usize << rivals.len();
        let mut mean = 0.0;
        for exactly in 1..sets {
            // "These and no others", by inclusion and exclusion over the sets that contain them.
            let probability: f64 = (exactly..sets)
                .filter(|larger| larger & exactly == exactly)
                .map(|larger| {
                    let sign = if (larger ^ exactly).count_ones() % 2 == 0 { 1.0 } else { -1.0 };
                    sign * self.all_derive(truth, rivals, larger)
                })
                .sum();
            if probability > 0.0 {
                let parses: Vec<&Topology> =
                    std::iter::once(truth).chain(members(rivals, exactly).map(|(_, rival)| rival)).collect();
                mean += probability * entropy(&self.weights(&parses));
            }
        }
        mean
    }

    /// The probability that at least the rivals in `set` derive the sentence.
    fn all_derive(&self, truth: &Topology, rivals: &[&Topology], set: usize) -> f64 {
        let given = truth.blocks();
        let mut coins: Vec<Coin> = Vec::new();
        for (index, rival) in members(rivals, set) {
            coins.push(Coin::Root { rival: index, arity: rival.root_arity() });
            for block in rival.blocks().into_iter().filter(|block| !given.contains(block)) {
                let coin = Coin::Block { start: block.0, arity: block.1 };
                if !coins.contains(&coin) {
                    coins.push(coin);
                }
            }
        }
        coins
            .iter()
            .map(|coin| match coin {
                Coin::Block { arity, .. } | Coin::Root { arity, .. } => self.fractions[arity - 2],
            })
            .product()
    }

    /// Posterior weights `prod p_s / f_s`, multiplied by the highest powers of `f2` and `f3` in their denominators so
    /// that a fraction of zero yields the limit.
    fn weights(&self, parses: &[&Topology]) -> Vec<f64> {
        let most_binary = parses.iter().map(|parse| parse.node_counts().0).max().unwrap_or(0);
        let most_ternary = parses.iter().map(|parse| parse.node_counts().1).max().unwrap_or(0);
        parses
            .iter()
            .map(|parse| {
                let (binary, ternary) = parse.node_counts();
                parse.weight(self.p_binary, 1.0 - self.p_binary)
                    * self.fractions[0].powi((most_binary - binary) as i32)
                    * self.fractions[1].powi((most_ternary - ternary) as i32)
            })
            .collect()
    }
}

/// The rivals whose bit is set, with their indices.
fn members<'a>(rivals: &'a [&Topology], set: usize) -> impl Iterator<Item = (usize, &'a Topology)> {
    rivals.iter().copied().enumerate().filter(move |(index, _)| set >> index & 1 == 1)
}

/// The entropy in nats of a distribution given by unnormalised weights, at least one of them positive.
fn entropy(weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    weights.iter().filter(|&&weight| weight > 0.0).map(|weight| -(weight / total) * (weight / total).ln()).sum()
}
