//! How ambiguous a sentence of depth 2 is: the mean entropy `E[H(Y | X)]` of the root given the tokens, in nats, for
//! large vocabularies (eq. `L_2_class_entropy`).
//!
//! A sentence was written by one of the trees of depth 2, the *true* one. Another tree of the same length, a *rival*, also derives it if
//! all its nodes happen to be rules. For `vocab -> infinity` this is a matter of independent coins: each block of
//! `s` tokens has a parent with probability `f_s`, unless it is a block of the true tree, which has one for certain; the
//! parents found so are different symbols each time, and the tuple of them has a parent, a new root, with probability
//! `f_s`. Trees that share a block share its coin. A node with a single child is no exception: it stands on a block of one token, or on
//! one symbol that stands on the whole sentence.
//!
//! Among the trees that derive a sentence, one weighs `prod p_s / m_s` over its nodes. As `m_s = f_s v^(s-1)` and the
//! powers of `v` depend on the length only, the weight is `prod p_s / f_s`. (So it is if the levels have vocabularies of different
//! sizes.) All roots being different, the entropy of these weights is the entropy of the root.

use std::collections::BTreeMap;
use std::f64::consts::LN_2;

use super::trees::{Topology, tree_count, two_level_topologies};
use super::{TheoryError, check_fraction, check_fractions, check_probabilities};
use crate::arity::PerArity;
use crate::span::Span;

/// The largest number of trees of one length for which [`class_entropy`] is known.
///
/// Sets of trees are followed one by one, so the cost grows exponentially: 20 trees, as with two, three and four children, take a second.
pub const MAX_TREES: usize = 20;

/// The mean entropy of the root at depth 2 for the fractions of the root's rules and those of its children, and for any probabilities of
/// branching: exact sums over the true tree and over the sets of rivals that derive the same sentence.
///
/// A fraction of zero stands for its limit. Fractions of arities that never occur do not matter. Where only one kind of branching occurs
/// the entropy is zero.
///
/// ```
/// use gardenpath::PerArity;
/// use gardenpath::theory::entropy::class_entropy;
/// let paper = |fraction, p_binary| class_entropy([PerArity::all(fraction); 2], PerArity::paper(p_binary));
/// assert!((paper(1.0, 0.5)? - 0.70461).abs() < 1e-5);
/// assert!((paper(0.25, 0.5)? - 0.0097).abs() < 1e-4);
/// assert_eq!(paper(0.25, 1.0)?, 0.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn class_entropy(fractions: [PerArity<f64>; 2], probabilities: PerArity<f64>) -> Result<f64, TheoryError> {
    fractions.into_iter().try_for_each(check_fractions)?;
    check_probabilities(probabilities)?;
    let counts = tree_count(2, probabilities.arities())?;
    let trees = counts.iter().map(|(_, count)| usize::try_from(count).unwrap_or(usize::MAX)).max().unwrap_or(0);
    if trees > MAX_TREES {
        return Err(TheoryError::Trees { trees });
    }
    let model = Model { fractions, probabilities };
    let all: Vec<Topology> = two_level_topologies(probabilities.arities()).collect();
    let mut mean = 0.0;
    for truth in &all {
        let rivals: Vec<&Topology> =
            all.iter().filter(|rival| *rival != truth && rival.sentence_len() == truth.sentence_len()).collect();
        mean += truth.probability(probabilities)? * model.entropy_given(truth, &rivals);
    }
    Ok(mean)
}

/// The entropy by eq. `L_2_class_entropy` as printed, which exists for two and three children at even odds and `f2 = f3 = fraction`.
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
    check_fraction(fraction)?;
    let (cube, fourth) = (fraction.powi(3), fraction.powi(4));
    let five_tokens = cube * LN_2;
    let six_tokens = (2.0 * cube + fourth) / 3.0 * entropy(&[(1.0, 0.0), (1.0, LN_2)]);
    let more_tokens = 2.0 * fourth * (1.0 - fourth) * LN_2 + fourth.powi(2) * 3f64.ln();
    Ok(five_tokens / 4.0 + six_tokens * 3.0 / 16.0 + more_tokens * 3.0 / 8.0)
}

struct Model {
    /// Of the root's rules, and of its children's.
    fractions: [PerArity<f64>; 2],
    probabilities: PerArity<f64>,
}

/// Rivals of the same weight, of which some have all their blocks.
struct Class {
    rivals: i32,
    /// The probability that the symbols of one have a parent.
    chance: f64,
    /// Of one, relative to the true tree.
    ln_weight: f64,
}

impl Model {
    /// The mean entropy of the root given the true tree: a sum over the sets of rivals all of whose blocks have parents.
    fn entropy_given(&self, truth: &Topology, rivals: &[&Topology]) -> f64 {
        // Which rivals stand and fall with a block.
        let mut users: BTreeMap<Span, u32> = BTreeMap::new();
        for (index, rival) in rivals.iter().enumerate() {
            rival.blocks().into_iter().for_each(|block| *users.entry(block).or_default() |= 1 << index);
        }
        let given = truth.blocks();
        users.retain(|block, _| !given.contains(block));
        let mut sets = BTreeMap::from([((1u32 << rivals.len()) - 1, 1.0)]);
        for (block, users) in users {
            let chance = self.fractions[1][block.len];
            let mut next = BTreeMap::new();
            for (set, probability) in sets {
                if set & users == 0 {
                    *next.entry(set).or_default() += probability;
                } else {
                    *next.entry(set).or_default() += probability * chance;
                    *next.entry(set & !users).or_default() += probability * (1.0 - chance);
                }
            }
            next.retain(|_, probability| *probability > 0.0);
            sets = next;
        }
        // Only the weights of the rivals matter now, which the numbers of their nodes decide.
        let mut kinds: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        for (index, rival) in rivals.iter().enumerate() {
            let mut kind = rival.child_arities().to_vec();
            kind.sort_unstable();
            *kinds.entry(kind).or_default() |= 1 << index;
        }
        let mut numbers: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
        for (set, probability) in sets {
            *numbers.entry(kinds.values().map(|kind| (set & kind).count_ones()).collect()).or_default() += probability;
        }
        let of_numbers = |(numbers, probability): (Vec<u32>, f64)| {
            let kinds = kinds.keys().zip(numbers).filter(|(_, rivals)| *rivals > 0);
            let class = |(kind, rivals): (&Vec<usize>, u32)| Class {
                rivals: rivals as i32,
                chance: self.fractions[0][kind.len()],
                ln_weight: self.ln_weight(kind, truth.child_arities()),
            };
            probability * mean_entropy(&mut vec![(1.0, 0.0)], &kinds.map(class).collect::<Vec<Class>>())
        };
        numbers.into_iter().map(of_numbers).sum()
    }

    /// The logarithm of the weight `prod p_s / f_s` of a tree over that of another. Nodes that both have cancel, so that fractions of
    /// zero yield the limit.
    fn ln_weight(&self, children: &[usize], others: &[usize]) -> f64 {
        let ln = |level: usize, arity: usize, surplus: f64| match surplus {
            0.0 => 0.0,
            _ => surplus * (self.probabilities[arity] / self.fractions[level][arity]).ln(),
        };
        let count = |all: &[usize], arity: usize| all.iter().filter(|own| **own == arity).count() as f64;
        let has = |all: &[usize], arity: usize| f64::from(u8::from(all.len() == arity));
        let of_arity = |arity| {
            ln(0, arity, has(children, arity) - has(others, arity))
                + ln(1, arity, count(children, arity) - count(others, arity))
        };
        self.probabilities.arities().iter().map(of_arity).sum()
    }
}

/// The mean entropy over the numbers of rivals of each class that have a root, given those already decided in `parses`.
fn mean_entropy(parses: &mut Vec<(f64, f64)>, classes: &[Class]) -> f64 {
    let Some((class, rest)) = classes.split_first() else { return entropy(parses) };
    let (mut mean, mut ways) = (0.0, 1.0);
    for rooted in 0..=class.rivals {
        let probability = ways * class.chance.powi(rooted) * (1.0 - class.chance).powi(class.rivals - rooted);
        if probability > 0.0 {
            parses.push((f64::from(rooted), class.ln_weight));
            mean += probability * mean_entropy(parses, rest);
            parses.pop();
        }
        ways *= f64::from(class.rivals - rooted) / f64::from(rooted + 1);
    }
    mean
}

/// The entropy in nats of a distribution given by numbers of outcomes and the logarithms of their weights.
fn entropy(outcomes: &[(f64, f64)]) -> f64 {
    let possible = || outcomes.iter().filter(|(number, ln_weight)| *number > 0.0 && *ln_weight > f64::NEG_INFINITY);
    let largest = possible().map(|(_, ln_weight)| *ln_weight).fold(f64::NEG_INFINITY, f64::max);
    let (mut total, mut sum) = (0.0, 0.0);
    for (number, ln_weight) in possible() {
        let weight = number * (ln_weight - largest).exp();
        total += weight;
        sum += weight * (ln_weight - largest);
    }
    total.ln() - sum / total
}
