//! The shape of a layered grammar: how deep it is, and which span lengths and cells each level can have.

use std::ops::RangeInclusive;

/// The number of children that the rules of one layer allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arities {
    /// The smallest number of children of a rule: 2 or 3.
    pub min: usize,
    /// The largest number of children of a rule: 2 or 3.
    pub max: usize,
}

/// Depth and arities of a layered grammar, from which all span lengths follow.
///
/// Level 0 is the root and level `depth` the tokens. Layer `l` (`0..depth`) holds the rules from level `l` to level
/// `l + 1`. A node of level `l` covers between `2^(depth-l)` and `3^(depth-l)` tokens if both arities occur below it.
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
    /// `spans[level]`: smallest and largest number of tokens below a node.
    spans: Vec<(usize, usize)>,
    /// `nodes[level]`: smallest and largest number of nodes in a tree.
    nodes: Vec<(usize, usize)>,
}

impl Shape {
    /// The deepest grammar that is supported: 3^10 = 59,049 tokens.
    pub const MAX_DEPTH: usize = 10;

    /// The shape of a grammar whose layers, from the root down, have these arities.
    ///
    /// # Panics
    /// If there is no layer or more than [`Shape::MAX_DEPTH`].
    pub fn new(layers: &[Arities]) -> Self {
        let depth = layers.len();
        assert!((1..=Self::MAX_DEPTH).contains(&depth), "a depth of 1 to {} is supported", Self::MAX_DEPTH);
        let mut nodes = vec![(1, 1)];
        for (layer, arities) in layers.iter().enumerate() {
            let (min, max) = nodes[layer];
            nodes.push((min * arities.min, max * arities.max));
        }
        let mut spans = vec![(1, 1); depth + 1];
        for (layer, arities) in layers.iter().enumerate().rev() {
            let (min, max) = spans[layer + 1];
            spans[layer] = (min * arities.min, max * arities.max);
        }
        Shape { spans, nodes }
    }

    /// The shape of the paper's ensemble: binary and ternary rules in each layer.
    pub fn mixed(depth: usize) -> Self {
        Shape::new(&vec![Arities { min: 2, max: 3 }; depth])
    }

    /// The number of layers of rules.
    pub fn depth(&self) -> usize {
        self.spans.len() - 1
    }

    /// The span lengths of level `level` (the paper's interval `I_l`).
    pub fn spans(&self, level: usize) -> RangeInclusive<usize> {
        self.spans[level].0..=self.spans[level].1
    }

    /// The numbers of children that the rules of `layer` allow.
    pub fn arities(&self, layer: usize) -> RangeInclusive<usize> {
        let ((min, max), (min_below, max_below)) = (self.spans[layer], self.spans[layer + 1]);
        min / min_below..=max / max_below
    }

    /// The possible sentence lengths.
    pub fn lengths(&self) -> RangeInclusive<usize> {
        self.spans(0)
    }

    /// Whether some tree has this many tokens. Between the bounds of [`Shape::lengths`] there are gaps if a layer has only one arity.
    ///
    /// ```
    /// use gardenpath::{Arities, Shape};
    ///
    /// // Two or three nodes of three tokens each.
    /// let shape = Shape::new(&[Arities { min: 2, max: 3 }, Arities { min: 3, max: 3 }]);
    /// assert_eq!((5..11).filter(|&len| shape.has_length(len)).collect::<Vec<_>>(), [6, 9]);
    /// ```
    pub fn has_length(&self, len: usize) -> bool {
        // Upwards, the possible numbers of nodes of a level are always an interval.
        let (mut fewest, mut most) = (len, len);
        for layer in (0..self.depth()).rev() {
            let arities = self.arities(layer);
            (fewest, most) = (fewest.div_ceil(*arities.end()), most / arities.start());
            if fewest > most {
                return false;
            }
        }
        fewest <= 1 && most >= 1
    }

    /// Whether some tree over a sentence of length `len` has a node of `level` on `start..start + span`.
    ///
    /// The tokens on the left must be covered by some number of nodes of the same level, those on the right by
    /// another, and the total must be a possible number of nodes: three comparisons of intervals.
    pub fn reachable(&self, level: usize, len: usize, start: usize, span: usize) -> bool {
        let (min_span, max_span) = self.spans[level];
        if !(min_span..=max_span).contains(&span) || start + span > len {
            return false;
        }
        let counts = |tokens: usize| (tokens.div_ceil(max_span), tokens / min_span);
        let (left, right) = (counts(start), counts(len - start - span));
        let (min_nodes, max_nodes) = self.nodes[level];
        left.0 <= left.1 && right.0 <= right.1 && left.0 + 1 + right.0 <= max_nodes && left.1 + 1 + right.1 >= min_nodes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// All cells used by some tree, by enumerating the sequences of span lengths level by level.
    fn cells_by_enumeration(depth: usize, len: usize) -> HashSet<(usize, usize, usize)> {
        let mut cells = HashSet::new();
        let mut frontier: HashSet<Vec<usize>> = HashSet::from([vec![len]]);
        let shape = Shape::mixed(depth);
        for level in 0..=depth {
            let mut next = HashSet::new();
            for spans in frontier.iter().filter(|spans| spans.iter().all(|s| shape.spans(level).contains(s))) {
                let mut start = 0;
                for &span in spans {
                    cells.insert((level, start, span));
                    start += span;
                }
                if level < depth {
                    next.extend(refinements(spans, shape.spans(level + 1)));
                }
            }
            frontier = next;
        }
        cells
    }

    fn refinements(spans: &[usize], allowed: RangeInclusive<usize>) -> Vec<Vec<usize>> {
        let Some((&last, rest)) = spans.split_last() else { return vec![vec![]] };
        let mut parts = Vec::new();
        for a in allowed.clone() {
            for b in allowed.clone() {
                if a + b == last {
                    parts.push(vec![a, b]);
                }
                parts.extend(allowed.clone().filter(|c| a + b + c == last).map(|c| vec![a, b, c]));
            }
        }
        refinements(rest, allowed)
            .iter()
            .flat_map(|head| parts.iter().map(move |part| [head.as_slice(), part].concat()))
            .collect()
    }

    #[test]
    fn reachable_cells_are_those_of_some_tree() {
        for (depth, lengths) in [(1, 2..=3), (2, 4..=9), (3, 8..=15)] {
            let shape = Shape::mixed(depth);
            for len in lengths {
                let cells = cells_by_enumeration(depth, len);
                for level in 0..=depth {
                    for start in 0..len {
                        for span in 1..=len {
                            let expected = cells.contains(&(level, start, span));
                            let found = shape.reachable(level, len, start, span);
                            assert_eq!(found, expected, "depth {depth} len {len}: level {level} {start}+{span}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn lengths_are_those_of_some_tree() {
        let kinds = [Arities { min: 2, max: 3 }, Arities { min: 2, max: 2 }, Arities { min: 3, max: 3 }];
        for code in 0..27 {
            let layers = [kinds[code / 9], kinds[code / 3 % 3], kinds[code % 3]];
            // The numbers of nodes, level by level: each node has as many children as its layer allows.
            let mut counts = HashSet::from([1]);
            for layer in layers {
                counts = counts.iter().flat_map(|nodes| nodes * layer.min..=nodes * layer.max).collect();
            }
            let shape = Shape::new(&layers);
            for len in 0..40 {
                assert_eq!(shape.has_length(len), counts.contains(&len), "{layers:?}: {len}");
            }
        }
    }

    #[test]
    fn fixed_trees_have_one_length() {
        let shape = Shape::new(&[Arities { min: 3, max: 3 }; 3]);
        assert_eq!(shape.lengths(), 27..=27);
        assert!(shape.reachable(2, 27, 9, 3) && !shape.reachable(2, 27, 10, 3));
    }
}
