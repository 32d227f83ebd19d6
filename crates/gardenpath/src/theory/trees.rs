//! How many trees share a sentence length: `N_t(d, L)` (eq. `Nt_app`), and the trees themselves at depth 2.

use num_bigint::BigUint;
use num_traits::One;

use super::lengths::mean_internal_nodes;
use super::polynomial::{descend, root};
use super::{ByLength, Magnitude, TheoryError, check_probabilities, check_shape};
use crate::arity::{Arities, PerArity};
use crate::span::Span;

/// The exact number of trees for each length, `N_t(d, L)` (eq. `Nt_app`).
///
/// ```
/// use gardenpath::Arities;
/// use gardenpath::theory::trees::tree_count;
/// let counts = |arities| {
///     let trees = tree_count(2, arities)?;
///     let counts: Vec<String> = trees.iter().map(|(len, count)| format!("{len}:{count}")).collect();
///     Ok::<_, gardenpath::theory::TheoryError>(counts.join(" "))
/// };
/// assert_eq!(counts(Arities::PAPER)?, "4:1 5:2 6:2 7:3 8:3 9:1");
/// assert_eq!(counts(Arities::from([1, 3]))?, "1:1 2:0 3:2 4:0 5:3 6:0 7:3 8:0 9:1");
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn tree_count(depth: usize, arities: Arities) -> Result<ByLength<BigUint>, TheoryError> {
    check_shape(depth, arities)?;
    Ok((0..depth).fold(root(BigUint::one()), |parents, _| descend(&parents, arities, |_| ())))
}

/// The paper's asymptote for the number of trees at the typical length, `2^((<s>^L - 1) / (<s> - 1))` (below eq.
/// `Nt_app`): one choice among the arities per internal node of a mean tree, two in the paper's case.
///
/// It is the right order of magnitude, not the limit. Trees of one length differ in their number of nodes `k`, and
/// `N_t(d)` is `P(d)` times the mean of `2^k` (at even odds a tree has probability `2^-k`), which exceeds `2` to the
/// mean of `k` by a factor that itself grows exponentially with `d`: the exact count overtakes this form at depth 7.
///
/// ```
/// use gardenpath::theory::{Magnitude, trees::{tree_count, typical_tree_count}};
/// use gardenpath::{Arities, PerArity};
/// let exact = Magnitude::from(tree_count(6, Arities::PAPER)?.get(244).unwrap());
/// assert!((exact.log10() - 48.4).abs() < 0.05);
/// assert!((typical_tree_count(6, PerArity::paper(0.5))?.log10() - 48.8).abs() < 0.05);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn typical_tree_count(depth: usize, probabilities: PerArity<f64>) -> Result<Magnitude, TheoryError> {
    let choices = probabilities.nonzero().count() as f64;
    Ok(Magnitude::exp(mean_internal_nodes(depth, probabilities)? * choices.ln()))
}

/// A tree of depth 2: the number of children of the root, and of each of these.
///
/// ```
/// use gardenpath::theory::trees::two_level_topologies;
/// use gardenpath::{Arities, PerArity, Span};
/// let topology = two_level_topologies(Arities::PAPER).nth(1).unwrap();
/// assert_eq!((topology.root_arity(), topology.child_arities()), (2, &[2, 3][..]));
/// assert_eq!((topology.sentence_len(), topology.node_counts()), (5, PerArity::from([(2, 2), (3, 1)])));
/// assert_eq!(topology.blocks(), [Span::new(0, 2), Span::new(2, 3)]);
/// assert_eq!(topology.probability(PerArity::paper(0.5))?, 1.0 / 8.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    child_arities: Vec<usize>,
}

impl Topology {
    /// The number of children of the root.
    pub fn root_arity(&self) -> usize {
        self.child_arities.len()
    }

    /// How many tokens each child of the root has, from left to right.
    pub fn child_arities(&self) -> &[usize] {
        &self.child_arities
    }

    /// The length of its sentences.
    pub fn sentence_len(&self) -> usize {
        self.child_arities.iter().sum()
    }

    /// The tokens below each child.
    pub fn blocks(&self) -> Vec<Span> {
        let block = |next: &mut usize, &len: &usize| {
            *next += len;
            Some(Span::new(*next - len, len))
        };
        self.child_arities.iter().scan(0, block).collect()
    }

    /// The number of nodes of each arity, the root included.
    pub fn node_counts(&self) -> PerArity<usize> {
        let mut counts = PerArity::default();
        self.child_arities.iter().chain([&self.root_arity()]).for_each(|&arity| counts[arity] += 1);
        counts
    }

    /// The probability of this tree: `p_s` for every node (figure `trees_L_2`).
    pub fn probability(&self, probabilities: PerArity<f64>) -> Result<f64, TheoryError> {
        check_probabilities(probabilities)?;
        Ok(self.node_counts().nonzero().map(|(arity, count)| probabilities[arity].powi(count as i32)).product())
    }
}

/// All trees of depth 2, those with the fewest children of the root first: twelve in the paper's case (figure `trees_L_2`), 19 million
/// with all arities.
///
/// ```
/// use gardenpath::Arities;
/// use gardenpath::theory::trees::two_level_topologies;
/// assert_eq!(two_level_topologies(Arities::PAPER).count(), 12);
/// assert_eq!(two_level_topologies(Arities::from([1, 2, 4])).count(), 3 + 9 + 81);
/// ```
pub fn two_level_topologies(arities: Arities) -> impl Iterator<Item = Topology> {
    let all: Vec<usize> = arities.iter().collect();
    // The digits of a number, the leftmost child being the highest.
    let topology = move |root: usize, number: usize| Topology {
        child_arities: (0..root as u32).rev().map(|place| all[number / all.len().pow(place) % all.len()]).collect(),
    };
    let choices = arities.iter().count();
    let numbers = move |root: usize| (0..choices.pow(root as u32)).map(move |number| (root, number));
    arities.iter().flat_map(numbers).map(move |(root, number)| topology(root, number))
}
