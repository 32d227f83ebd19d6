//! From the neighbours of one level to those of the next.
//!
//! Adjacent children have one parent, or several: then the first of them are the last children of a node, those that follow all children
//! of the nodes to the right of it, and the last are the first children of one more node. So the expected numbers of adjacent parents give
//! those of adjacent children: parents are replaced by parts of their rules, one after the other.

use crate::arity::Arities;
use crate::error::Result;
use crate::grammar::{Grammar, Layer, Symbol};
use crate::interrupt::checkpoint;
use crate::memory;
use crate::tuple::TupleCode;
use std::ops::Range;

/// Expected numbers of adjacent nodes of one level: `[length - 1][tuple]`, from single nodes on.
pub(super) type Neighbours = Vec<Vec<f64>>;

/// The neighbours of the upper level, prepared.
pub(super) struct Source {
    nodes: Neighbours,
    /// The same with the first child of the last node in its place. Where a window ends with a single child of its last parent, the work
    /// is least if this is done before anything else.
    ended: Neighbours,
}

/// The children of a rule with which a window begins.
pub(super) struct Beginning<'r> {
    /// All children of the rule.
    pub children: &'r [Symbol],
    /// Those in the window.
    pub part: Range<usize>,
    /// Whether children of the next node follow.
    pub goes_on: bool,
}

/// All windows of adjacent children of one layer.
pub(super) struct Windows {
    parents: usize,
    children: usize,
    /// The most children of a window, and the fewest of a rule.
    longest: usize,
    least: usize,
    /// The children of the first parent, for each shift: whole windows, and what is followed by children of the next parent.
    inside: Vec<Parts>,
    suffixes: Vec<Parts>,
    /// All children of a parent, and its first ones.
    wholes: Parts,
    prefixes: Parts,
}

/// Adjacent children of one parent, by the number of their tuple, with their probability.
struct Part {
    parent: u32,
    tuple: u32,
    weight: f64,
}

/// `[length - 1]`
type Parts = Vec<Vec<Part>>;

/// The places of a part in rules with so many other children.
type Places<'a> = dyn Fn(usize) -> Range<usize> + 'a;

/// The weight of a part of all children.
type Weight<'a> = dyn Fn(&[Symbol], Range<usize>) -> f64 + 'a;

impl Windows {
    /// Windows of up to `longest` children. There is a `weight` for every beginning and every shift: a shift is one of several ways to
    /// place the window relative to its first parent.
    pub fn new(layer: &Layer, longest: usize, shifts: usize, weight: impl Fn(Beginning, usize) -> f64) -> Self {
        let most = layer.arities().most();
        let parts = |longest: usize, places: &Places, weight: &Weight| -> Parts {
            (1..=longest.min(most)).map(|length| Part::all(layer, length, places, weight)).collect()
        };
        let begin = |longest: usize, goes_on: bool, places: &Places| -> Vec<Parts> {
            let of_shift = |shift: usize| {
                parts(longest, places, &|children, part| weight(Beginning { children, part, goes_on }, shift))
            };
            (0..shifts).map(of_shift).collect()
        };
        Windows {
            parents: layer.parents(),
            children: layer.children(),
            longest,
            least: layer.arities().least(),
            inside: begin(longest, false, &|others| 0..others + 1),
            suffixes: begin(longest - 1, true, &|others| others..others + 1),
            wholes: parts(longest.saturating_sub(2), &|others| 0..usize::from(others == 0), &|_, _| 1.0),
            prefixes: parts(longest.saturating_sub(1).max(1), &|_| 0..1, &|_, _| 1.0),
        }
    }

    /// Prepares the neighbours of the upper level.
    pub fn source(&self, nodes: Neighbours) -> Source {
        let end = |nodes: &Vec<f64>| {
            let mut ended = vec![0.0; nodes.len() / self.parents * self.children];
            self.replace(nodes, &self.prefixes[0], 1, &mut ended);
            ended
        };
        let ended = nodes.iter().map(end).collect();
        Source { nodes, ended }
    }

    /// The expected numbers of neighbours in the lower level, from the upper level for each shift.
    pub fn below(&self, sources: &[(usize, &Source)]) -> Neighbours {
        checkpoint();
        let mut below = vec![vec![0.0; self.children]];
        below.extend(self.begun(sources, |source| &source.ended, self.children, self.longest - 1));
        for &(shift, source) in sources {
            for (parts, sums) in self.inside[shift].iter().zip(&mut below) {
                self.replace(&source.nodes[0], parts, 1, sums);
            }
        }
        let begun = self.begun(sources, |source| &source.nodes, self.parents, self.longest.saturating_sub(2));
        for (begun, longer) in begun.iter().zip(1..) {
            for (parts, sums) in self.prefixes.iter().zip(&mut below[longer..]).skip(1) {
                self.replace(begun, parts, 1, sums);
            }
        }
        below
    }

    /// `[length - 1]`: windows with up to `longest` children of all parents but the last, of which there are `last`, prepared or not.
    fn begun(
        &self,
        sources: &[(usize, &Source)],
        tables: impl Fn(&Source) -> &Neighbours,
        last: usize,
        longest: usize,
    ) -> Neighbours {
        let mut begun = Neighbours::new();
        let most_parents = sources.iter().map(|(_, source)| source.nodes.len()).max().unwrap_or(0).max(2);
        // How many parents are left, with the last one: those between will have at least `least` children each.
        for left in (1..most_parents).rev() {
            let after = self.parents.pow(left as u32 - 1) * last;
            let sum = |length: usize| {
                let mut sums = vec![0.0; self.children.pow(length as u32) * after];
                for &(shift, source) in sources {
                    if let (Some(nodes), Some(parts)) = (tables(source).get(left), self.suffixes[shift].get(length - 1))
                    {
                        self.replace(nodes, parts, after, &mut sums);
                    }
                }
                for (parts, own) in self.wholes.iter().zip(1..length) {
                    if let Some(shorter) = begun.get(length - own - 1) {
                        self.replace(shorter, parts, after, &mut sums);
                    }
                }
                sums
            };
            begun = (1..=longest.saturating_sub((left - 1) * self.least)).map(sum).collect();
        }
        begun
    }

    /// Replaces a parent by children: from `[before][parent][after]` to `[before][tuple][after]`, added to what is there.
    fn replace(&self, table: &[f64], parts: &[Part], after: usize, sums: &mut [f64]) {
        let from = self.parents * after;
        let to = sums.len() / (table.len() / from);
        for (values, sums) in table.chunks(from).zip(sums.chunks_mut(to)) {
            if after == 1 {
                parts.iter().for_each(|part| sums[part.tuple as usize] += part.weight * values[part.parent as usize]);
                continue;
            }
            for part in parts {
                let values = &values[part.parent as usize * after..][..after];
                let sums = &mut sums[part.tuple as usize * after..][..after];
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += part.weight * value);
            }
        }
    }
}

impl Part {
    /// All parts of `length` children, at the places that there are if a rule has so many others.
    fn all(layer: &Layer, length: usize, places: &Places, weight: &Weight) -> Vec<Part> {
        let code = TupleCode::new(layer.children(), [length].into());
        let mut parts = Vec::new();
        for rule in layer.rules().iter().filter(|rule| rule.children.len() >= length) {
            let children = rule.children.as_slice();
            for place in places(children.len() - length) {
                let part = place..place + length;
                let weight = rule.probability * weight(children, part.clone());
                if weight != 0.0 {
                    // Tables of all tuples fit into memory, so their numbers are small.
                    parts.push(Part { parent: rule.parent.into(), tuple: code.of(&children[part]) as u32, weight });
                }
            }
        }
        Self::merge(parts, layer.parents(), code.len())
    }

    /// The same parts, each once, sorted by tuple, so that writing to tables is sequential.
    fn merge(mut parts: Vec<Part>, parents: usize, tuples: usize) -> Vec<Part> {
        if parents * tuples > 8 * parts.len() {
            parts.sort_unstable_by_key(|part| (part.tuple, part.parent));
            parts.dedup_by(|next, part| {
                let same = (next.tuple, next.parent) == (part.tuple, part.parent);
                part.weight += if same { next.weight } else { 0.0 };
                same
            });
            return parts;
        }
        // Most of them exist: a table is faster.
        let mut weights = vec![0.0; parents * tuples];
        parts.iter().for_each(|part| weights[part.tuple as usize * parents + part.parent as usize] += part.weight);
        let found = weights.into_iter().enumerate().filter(|(_, weight)| *weight != 0.0);
        let part = |(k, weight)| Part { parent: (k % parents) as u32, tuple: (k / parents) as u32, weight };
        found.map(part).collect()
    }
}

/// How many neighbours each level down to `level` must know for windows of `longest` nodes there, and the bytes that the tables of one
/// root take at most.
pub(super) fn needed_lengths(grammar: &Grammar, level: usize, longest: usize) -> Result<(Vec<usize>, u128)> {
    let layers = &grammar.layers()[..level];
    let mut lengths = vec![longest];
    for (level, layer) in layers.iter().enumerate().rev() {
        let children = lengths[lengths.len() - 1];
        // At least one child of the first and one of the last parent, and all of those between.
        let parents = if children == 1 { 1 } else { 2 + (children - 2) / layer.arities().least() };
        let most = layers[..level].iter().map(|layer| layer.arities().most()).fold(1, usize::saturating_mul);
        lengths.push(parents.min(most));
    }
    lengths.reverse();
    // Five lists of tables with no more entries than those of the larger level and the longer windows.
    let bytes = |(level, pair): (usize, &[usize])| {
        let symbols = grammar.sizes()[level].max(grammar.sizes()[level + 1]);
        TupleCode::new(symbols, (1..=pair[0].max(pair[1])).collect::<Arities>()).len() as u128 * 40
    };
    let bytes = lengths.windows(2).enumerate().map(bytes).max().unwrap_or(0);
    memory::check(format_args!("tables of {longest} neighbours of {:?} symbols", &grammar.sizes()[..=level]), bytes)?;
    Ok((lengths, bytes))
}
