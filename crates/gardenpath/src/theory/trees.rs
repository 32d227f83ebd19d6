//! How many trees share a sentence length: `N_t(d, L)` (eq. `Nt_app`), and the trees themselves at depth 2.

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::lengths::mean_internal_nodes;
use super::{ByLength, Magnitude, TheoryError, check_depth, check_probability};
use crate::interrupt::checkpoint;

/// The exact number of trees for each length, `N_t(d, L)` (eq. `Nt_app`).
///
/// ```
/// use gardenpath::theory::trees::tree_count;
/// let trees = tree_count(2)?;
/// let counts: Vec<String> = trees.iter().map(|(len, count)| format!("{len}:{count}")).collect();
/// assert_eq!(counts.join(" "), "4:1 5:2 6:2 7:3 8:3 9:1");
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn tree_count(depth: usize) -> Result<ByLength<BigUint>, TheoryError> {
    check_depth(depth)?;
    let root = ByLength::collect(1..=1, |_| BigUint::one());
    Ok((0..depth).fold(root, |parents, _| branch(parents)))
}

/// One level of eq. `Nt_app`. With `T(x)` the polynomial whose coefficients are the parents' counts, the children's are
/// those of `T(x^2 + x^3)`. Horner's rule needs additions only, where the binomial coefficients of the equation would
/// need a product of large integers for each pair of lengths.
fn branch(parents: ByLength<BigUint>) -> ByLength<BigUint> {
    let shortest = parents.min_len;
    let mut parents = parents.values.into_iter().rev();
    // From the highest degree down, so that a factor x^2 appends two zeros.
    let mut polynomial: Vec<BigUint> = parents.next().into_iter().collect();
    for count in parents {
        checkpoint();
        multiply_by_one_plus_x(&mut polynomial);
        polynomial.extend([BigUint::zero(), count]);
    }
    for _ in 0..shortest {
        multiply_by_one_plus_x(&mut polynomial); // the x^2 that goes with it is in min_len
    }
    polynomial.reverse();
    ByLength { min_len: 2 * shortest, values: polynomial }
}

fn multiply_by_one_plus_x(polynomial: &mut Vec<BigUint>) {
    polynomial.push(BigUint::zero());
    for i in (1..polynomial.len()).rev() {
        let (higher, lower) = polynomial.split_at_mut(i);
        lower[0] += &higher[i - 1];
    }
}

/// The paper's asymptote for the number of trees at the typical length, `2^((<s>^L - 1) / (<s> - 1))` (below eq.
/// `Nt_app`): one binary choice per internal node of a mean tree.
///
/// It is the right order of magnitude, not the limit. Trees of one length differ in their number of nodes `k`, and
/// `N_t(d)` is `P(d)` times the mean of `2^k` (at even odds a tree has probability `2^-k`), which exceeds `2` to the
/// mean of `k` by a factor that itself grows exponentially with `d`: the exact count overtakes this form at depth 7.
///
/// ```
/// use gardenpath::theory::{Magnitude, trees::{tree_count, typical_tree_count}};
/// let exact = Magnitude::from(tree_count(6)?.get(244).unwrap());
/// assert!((exact.log10() - 48.4).abs() < 0.05);
/// assert!((typical_tree_count(6, 0.5)?.log10() - 48.8).abs() < 0.05);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
pub fn typical_tree_count(depth: usize, p_binary: f64) -> Result<Magnitude, TheoryError> {
    Ok(Magnitude::exp(mean_internal_nodes(depth, p_binary)? * std::f64::consts::LN_2))
}

/// A tree of depth 2: the number of children of the root, and of each of these.
///
/// ```
/// use gardenpath::theory::trees::two_level_topologies;
/// let topology = &two_level_topologies()[1];
/// assert_eq!((topology.root_arity(), topology.child_arities()), (2, &[2, 3][..]));
/// assert_eq!((topology.sentence_len(), topology.node_counts()), (5, (2, 1)));
/// assert_eq!(topology.blocks(), [(0, 2), (2, 3)]);
/// assert_eq!(topology.probability(0.5)?, 1.0 / 8.0);
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    child_arities: Vec<usize>,
}

impl Topology {
    /// The number of children of the root, 2 or 3.
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

    /// Start and length of the block of tokens below each child.
    pub fn blocks(&self) -> Vec<(usize, usize)> {
        self.child_arities
            .iter()
            .scan(0, |next, &arity| {
                let start = *next;
                *next += arity;
                Some((start, arity))
            })
            .collect()
    }

    /// The number of binary and of ternary nodes, the root included.
    pub fn node_counts(&self) -> (usize, usize) {
        let arities = || self.child_arities.iter().copied().chain([self.root_arity()]);
        let ternary = arities().filter(|&arity| arity == 3).count();
        (arities().count() - ternary, ternary)
    }

    /// The probability of this tree: `p2` or `p3` for every node (figure `trees_L_2`).
    pub fn probability(&self, p_binary: f64) -> Result<f64, TheoryError> {
        check_probability(p_binary)?;
        Ok(self.weight(p_binary, 1.0 - p_binary))
    }

    /// The product of a weight for each node.
    pub(super) fn weight(&self, binary_weight: f64, ternary_weight: f64) -> f64 {
        let (binary, ternary) = self.node_counts();
        binary_weight.powi(binary as i32) * ternary_weight.powi(ternary as i32)
    }
}

/// The twelve trees of depth 2 (figure `trees_L_2`), those with a binary root first.
///
/// ```
/// assert_eq!(gardenpath::theory::trees::two_level_topologies().len(), 12);
/// ```
pub fn two_level_topologies() -> Vec<Topology> {
    // The bits of `choices` say which children are ternary, the leftmost child being the highest bit.
    let with_root = |root: usize| {
        (0..1usize << root).map(move |choices| Topology {
            child_arities: (0..root).rev().map(|bit| 2 + (choices >> bit & 1)).collect(),
        })
    };
    with_root(2).chain(with_root(3)).collect()
}
