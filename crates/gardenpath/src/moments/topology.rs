//! How adjacent symbols are related in the tree: the diagrams of the paper's decomposition of covariances.
//!
//! Two adjacent symbols are children of one binary rule (i), two neighbouring children of one ternary rule (ii, iii), or
//! they stand on both sides of a border between two parents (iv). Three adjacent symbols have one parent (v) or two, as
//! every rule has at least two children: the left two of them stand together (vi), or the right two (vii). Every place
//! of a sentence has one of these topologies, so expected numbers of tuples, and with them the covariances with the root,
//! are sums over topologies.

use super::windows::Beginning;

/// The topology of two or three adjacent symbols, where all rules have two or three children. The numbers are those of the paper's figure `fig:covariance-decomposition`.
///
/// ```
/// use gardenpath::Topology;
///
/// assert_eq!(Topology::PAIRS.len() + Topology::TRIPLES.len(), 7);
/// assert_eq!(Topology::PAIRS[0].numeral(), "i");
/// assert!(Topology::TRIPLES.iter().all(|topology| topology.arity() == 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topology {
    /// i) Both children of a binary rule.
    BinarySiblings,
    /// ii) The first two children of a ternary rule.
    FirstTwo,
    /// iii) The last two children of a ternary rule.
    LastTwo,
    /// iv) The last child of a node and the first child of its right neighbour.
    Across,
    /// v) All children of a ternary rule.
    TernarySiblings,
    /// vi) The last two children of a node and the first child of its right neighbour.
    LeftTwo,
    /// vii) The last child of a node and the first two children of its right neighbour.
    RightTwo,
}

impl Topology {
    /// Those of pairs: i to iv.
    pub const PAIRS: [Topology; 4] =
        [Topology::BinarySiblings, Topology::FirstTwo, Topology::LastTwo, Topology::Across];

    /// Those of triples: v to vii.
    pub const TRIPLES: [Topology; 3] = [Topology::TernarySiblings, Topology::LeftTwo, Topology::RightTwo];

    /// Whether a window of [`arity`](Self::arity) symbols that begins like this has this topology.
    pub(super) fn begins_with(self, beginning: &Beginning) -> bool {
        let Beginning { children, part, goes_on } = beginning;
        *goes_on == matches!(self, Topology::Across | Topology::LeftTwo | Topology::RightTwo)
            && match self {
                Topology::BinarySiblings => children.len() == 2,
                Topology::FirstTwo => children.len() == 3 && part.start == 0,
                Topology::LastTwo => children.len() == 3 && part.start == 1,
                Topology::LeftTwo => part.len() == 2,
                Topology::Across | Topology::RightTwo => part.len() == 1,
                Topology::TernarySiblings => true,
            }
    }

    /// Of how many symbols it is the topology: 2 or 3.
    pub fn arity(self) -> usize {
        if Self::PAIRS.contains(&self) { 2 } else { 3 }
    }

    /// Its number in the paper, from `i` to `vii`.
    pub fn numeral(self) -> &'static str {
        match self {
            Topology::BinarySiblings => "i",
            Topology::FirstTwo => "ii",
            Topology::LastTwo => "iii",
            Topology::Across => "iv",
            Topology::TernarySiblings => "v",
            Topology::LeftTwo => "vi",
            Topology::RightTwo => "vii",
        }
    }
}
