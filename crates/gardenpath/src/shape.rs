//! The shape of a layered grammar: how deep it is, and which span lengths and cells each level can have.

use crate::arity::Arities;
use crate::bits::Bits;
use std::ops::RangeInclusive;

/// Depth and arities of a layered grammar, from which all span lengths follow.
///
/// Level 0 is the root and level `depth` the tokens. Layer `l` (`0..depth`) holds the rules from level `l` to level
/// `l + 1`. With binary and ternary rules, a node of level `l` covers between `2^(depth-l)` and `3^(depth-l)` tokens.
///
/// ```
/// use gardenpath::Shape;
///
/// let shape = Shape::mixed(3);
/// assert_eq!(shape.spans(3), 1..=1);
/// assert_eq!(shape.spans(1), 4..=9);
/// assert_eq!(shape.lengths(), 8..=27);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    layers: Vec<Arities>,
    /// `spans[level]`: how many tokens a node can have below it.
    spans: Vec<Numbers>,
    /// `nodes[level]`: how many nodes a tree can have.
    nodes: Vec<Numbers>,
}

/// A set of numbers that is not empty, with its bounds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Numbers {
    least: usize,
    most: usize,
    is_interval: bool,
    bits: Bits,
}

impl Numbers {
    fn new(bits: Bits) -> Self {
        let (least, most) = bits.bounds().expect("a layer has rules");
        Numbers { least, most, is_interval: bits.is_interval(), bits }
    }
}

impl Shape {
    /// The deepest grammar that is supported.
    pub const MAX_DEPTH: usize = 10;

    /// The longest sentence that a grammar may have: 3^10 tokens.
    pub const MAX_LEN: usize = 59_049;

    /// The shape of a grammar whose layers, from the root down, have these arities.
    ///
    /// # Panics
    /// If there is no layer, more than [`Shape::MAX_DEPTH`], or one without arities, or if sentences could have more than
    /// [`Shape::MAX_LEN`] tokens.
    pub fn new(layers: &[Arities]) -> Self {
        let depth = layers.len();
        assert!((1..=Self::MAX_DEPTH).contains(&depth), "a depth of 1 to {} is supported", Self::MAX_DEPTH);
        assert!(Self::longest(layers) <= Self::MAX_LEN, "a sentence has at most {} tokens", Self::MAX_LEN);
        let mut nodes = vec![Bits::one(1)];
        for arities in layers {
            // One more node at a time: all numbers of children that so many nodes can have together.
            let mut children = Bits::one(0);
            let mut below = Bits::default();
            let above = &nodes[nodes.len() - 1];
            for count in 1..=above.bounds().map_or(0, |(_, most)| most) {
                let mut more = Bits::default();
                arities.iter().for_each(|arity| more.add_shifted(&children, arity));
                children = more;
                if above.contains(count) {
                    below.add_shifted(&children, 0);
                }
            }
            nodes.push(below);
        }
        let mut spans = vec![Bits::one(1)];
        for arities in layers.iter().rev() {
            let below = &spans[spans.len() - 1];
            let (mut all, mut sums) = (Bits::default(), Bits::one(0));
            for arity in 1..=arities.most() {
                sums = sums.sums(below);
                if arities.contains(arity) {
                    all.add_shifted(&sums, 0);
                }
            }
            spans.push(all);
        }
        spans.reverse();
        let [spans, nodes] = [spans, nodes].map(|levels| levels.into_iter().map(Numbers::new).collect());
        Shape { layers: layers.to_vec(), spans, nodes }
    }

    /// The largest number of tokens below layers with these arities.
    pub(crate) fn longest(layers: &[Arities]) -> usize {
        layers.iter().fold(1, |most, arities| arities.most().saturating_mul(most))
    }

    /// The shape of the paper's ensemble: binary and ternary rules in each layer.
    pub fn mixed(depth: usize) -> Self {
        Shape::new(&vec![Arities::PAPER; depth])
    }

    /// The number of layers of rules.
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// The bounds of the span lengths of level `level` (the paper's interval `I_l`). With some sets of arities there are lengths between
    /// them that no node has: [`Shape::has_span`].
    pub fn spans(&self, level: usize) -> RangeInclusive<usize> {
        self.spans[level].least..=self.spans[level].most
    }

    /// Whether a node of `level` can cover this many tokens.
    pub fn has_span(&self, level: usize, len: usize) -> bool {
        self.spans[level].bits.contains(len)
    }

    /// The numbers of tokens that a node of `level` can cover.
    pub(crate) fn span_bits(&self, level: usize) -> &Bits {
        &self.spans[level].bits
    }

    /// The numbers of children that the rules of `layer` allow.
    pub fn arities(&self, layer: usize) -> Arities {
        self.layers[layer]
    }

    /// The bounds of the sentence lengths.
    pub fn lengths(&self) -> RangeInclusive<usize> {
        self.spans(0)
    }

    /// Whether some tree has this many tokens. Between the bounds of [`Shape::lengths`] there may be gaps.
    ///
    /// ```
    /// use gardenpath::{Arities, Shape};
    ///
    /// // Two or three nodes of three tokens each.
    /// let shape = Shape::new(&[Arities::from([2, 3]), Arities::from([3])]);
    /// assert_eq!((5..11).filter(|&len| shape.has_length(len)).collect::<Vec<_>>(), [6, 9]);
    /// ```
    pub fn has_length(&self, len: usize) -> bool {
        self.has_span(0, len)
    }

    /// Which cells of a level some tree over a sentence of `len` tokens uses.
    pub(crate) fn reach(&self, level: usize, len: usize) -> Reach<'_> {
        let (spans, nodes) = (&self.spans[level], &self.nodes[level]);
        let sets = (!(spans.is_interval && nodes.is_interval)).then(|| {
            // The numbers of nodes that the tokens before a position can be, and those up to a position if the rest can follow.
            let (mut before, mut up_to) = (vec![Bits::default(); len + 1], vec![Bits::default(); len + 1]);
            (before[0], up_to[len]) = (Bits::one(0), nodes.bits.clone());
            for end in 1..=len {
                for span in spans.bits.iter().take_while(|&span| span <= end) {
                    let (left, right) = before.split_at_mut(end);
                    right[0].add_shifted(&left[end - span], 1);
                    let (left, right) = up_to.split_at_mut(len - end + 1);
                    left[len - end].add_predecessors(&right[span - 1]);
                }
            }
            (before, up_to)
        });
        Reach { spans, nodes, len, sets }
    }

    /// Whether some tree over a sentence of length `len` has a node of `level` on `start..start + span`.
    ///
    /// Where lengths have gaps this takes time in proportion to the square of `len`.
    pub fn reachable(&self, level: usize, len: usize, start: usize, span: usize) -> bool {
        self.reach(level, len).contains(start, span)
    }
}

/// The cells of one level for sentences of one length.
///
/// The tokens on the left must be covered by some number of nodes of the same level, those on the right by another, and the total must
/// be a possible number of nodes. Where lengths and numbers have no gaps, these are three comparisons of intervals.
pub(crate) struct Reach<'s> {
    spans: &'s Numbers,
    nodes: &'s Numbers,
    len: usize,
    sets: Option<(Vec<Bits>, Vec<Bits>)>,
}

impl Reach<'_> {
    /// Whether some tree has a node on `start..start + span`.
    pub fn contains(&self, start: usize, span: usize) -> bool {
        if start + span > self.len || !self.spans.bits.contains(span) {
            return false;
        }
        if let Some((before, up_to)) = &self.sets {
            return before[start].has_successor_in(&up_to[start + span]);
        }
        let counts = |tokens: usize| (tokens.div_ceil(self.spans.most), tokens / self.spans.least);
        let (left, right) = (counts(start), counts(self.len - start - span));
        left.0 <= left.1
            && right.0 <= right.1
            && left.0 + 1 + right.0 <= self.nodes.most
            && left.1 + 1 + right.1 >= self.nodes.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The cells of all trees of a shape, by sentence length: (level, start, span), by enumerating trees of span lengths.
    fn cells_by_enumeration(layers: &[Arities], longest: usize) -> HashSet<(usize, usize, usize, usize)> {
        // All trees of numbers of children: `trees[level]` is a list of spans for each level from there on.
        fn trees(layers: &[Arities], longest: usize) -> Vec<Vec<Vec<usize>>> {
            let Some((arities, rest)) = layers.split_first() else { return vec![vec![vec![1]]] };
            let below = trees(rest, longest);
            let mut all = Vec::new();
            for arity in arities.iter() {
                let mut sequences: Vec<Vec<Vec<usize>>> = vec![vec![Vec::new(); rest.len() + 1]];
                for _ in 0..arity {
                    let longer = sequences.iter().flat_map(|left| {
                        below
                            .iter()
                            .map(move |right| left.iter().zip(right).map(|(l, r)| [&l[..], r].concat()).collect())
                    });
                    sequences = longer.filter(|levels: &Vec<Vec<usize>>| levels[rest.len()].len() <= longest).collect();
                }
                for levels in sequences {
                    let span = levels[rest.len()].len();
                    all.push([vec![vec![span]], levels].concat());
                }
            }
            all
        }
        let mut cells = HashSet::new();
        for tree in trees(layers, longest) {
            for (level, spans) in tree.iter().enumerate() {
                let mut start = 0;
                for &span in spans {
                    cells.insert((tree[0][0], level, start, span));
                    start += span;
                }
            }
        }
        cells
    }

    #[test]
    fn cells_are_those_of_some_tree() {
        let sets: [&[usize]; 9] = [&[1], &[2], &[3], &[4], &[1, 2], &[2, 3], &[2, 4], &[1, 2, 3], &[2, 3, 4]];
        let sets = sets.map(|set| set.iter().copied().collect::<Arities>());
        let mut shapes: Vec<Vec<Arities>> = sets.iter().flat_map(|&set| [vec![set], vec![set; 2]]).collect();
        shapes.extend([vec![Arities::PAPER; 3], vec![Arities::from([2]), Arities::from([3]), Arities::PAPER]]);
        shapes.extend([vec![Arities::PAPER, Arities::from([3])], vec![Arities::from([2, 4]), Arities::from([1, 3])]]);
        for layers in shapes {
            let shape = Shape::new(&layers);
            let longest = (*shape.lengths().end()).min(12);
            let cells = cells_by_enumeration(&layers, longest);
            for len in 1..=longest {
                let exists = cells.contains(&(len, 0, 0, len));
                assert_eq!(shape.has_length(len), exists, "{layers:?}: {len}");
                for level in (0..=layers.len()).filter(|_| exists) {
                    let reach = shape.reach(level, len);
                    for (start, span) in (0..len).flat_map(|start| (1..=len).map(move |span| (start, span))) {
                        let expected = cells.contains(&(len, level, start, span));
                        assert_eq!(reach.contains(start, span), expected, "{layers:?}: {len} {level} {start}+{span}");
                    }
                }
            }
        }
    }

    #[test]
    fn fixed_trees_have_one_length() {
        let shape = Shape::new(&[Arities::from([3]); 3]);
        assert_eq!(shape.lengths(), 27..=27);
        assert!(shape.reachable(2, 27, 9, 3) && !shape.reachable(2, 27, 10, 3));
    }
}
