//! Sampling of derivations: one random word and one table look-up per rule.

use crate::grammar::{Grammar, Layer, Symbol};
use crate::seed::{Seed, Stream};
use crate::tree::Tree;
use std::ops::Range;

/// Alias tables of a grammar, from which sentences and trees are drawn.
///
/// Each rule costs one 64-bit word: the high half of its product with the number of slots is the slot, the low half decides
/// between the slot's two rules. Nothing branches on random data, not even the number of children.
#[derive(Clone, Debug)]
pub struct Sampler {
    roots: Choice<4>,
    layers: Layers,
    max_len: usize,
    mean_len: f64,
}

/// The tables of all layers. Those of rules with up to three children are small, which is worth a kind of its own.
#[derive(Clone, Debug)]
enum Layers {
    Narrow(Vec<Choice<4>>),
    Wide(Vec<Choice<WIDE>>),
}

/// Bytes of an outcome of any number of children, in whole words.
const WIDE: usize = 16;

/// Sentences that were sampled together, in memory that the next ones use again.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampled {
    /// More than there are.
    tokens: Vec<Symbol>,
    pub offsets: Vec<usize>,
    pub roots: Vec<Symbol>,
    /// The nodes of two levels of a batch of sentences, and for each of these its stream and how many nodes it has.
    above: Vec<Symbol>,
    below: Vec<Symbol>,
    open: Vec<(Stream, usize)>,
}

/// Sentences that are sampled level by level, side by side: their streams are independent, so that the processor has other work
/// where the length of one cannot be foreseen. Fewer if they are long.
const BATCH: usize = 64;
const BATCH_TOKENS: usize = 1 << 13;

/// One alias table per parent.
#[derive(Clone, Debug)]
struct Choice<const W: usize> {
    slots: Vec<Slot<W>>,
    /// First slot and number of slots of each parent.
    ranges: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
struct Slot<const W: usize> {
    /// The slot's own outcome is taken if the fraction is below this, the other one otherwise.
    threshold: u64,
    own: Outcome<W>,
    other: Outcome<W>,
}

/// Up to `W - 1` symbols, and their number as the last byte.
#[derive(Clone, Copy, Debug)]
struct Outcome<const W: usize>([u8; W]);

impl Sampler {
    /// Makes the tables of a grammar.
    pub fn new(grammar: &Grammar) -> Self {
        let roots = (0..grammar.classes()).map(|class| (Outcome::new(&[class as u8]), grammar.prior()[class]));
        let narrow = grammar.layers().iter().all(|layer| layer.arities().most() < 4);
        Sampler {
            roots: Choice::new(vec![roots.collect()]),
            layers: if narrow { Layers::Narrow(tables(grammar)) } else { Layers::Wide(tables(grammar)) },
            max_len: *grammar.shape().lengths().end(),
            mean_len: grammar.mean_length(),
        }
    }

    /// The derivation tree of sentence `i` of the corpus with this seed.
    pub fn tree(&self, seed: Seed, i: u64) -> Tree {
        match &self.layers {
            Layers::Narrow(layers) => self.tree_of(layers, seed, i),
            Layers::Wide(layers) => self.tree_of(layers, seed, i),
        }
    }

    fn tree_of<const W: usize>(&self, layers: &[Choice<W>], seed: Seed, i: u64) -> Tree {
        let mut stream = corpus_seed(seed).stream(i);
        let mut levels = vec![vec![self.roots.draw(0, &mut stream).0[0]]];
        let mut arities = Vec::new();
        let mut buffer = vec![0; self.max_len + W];
        for layer in layers {
            let above = levels.last().expect("there is a root");
            let mut below = Vec::with_capacity(above.len());
            let len = layer.expand(above, &mut buffer, &mut stream, |arity| below.push(arity));
            levels.push(buffer[..len].to_vec());
            arities.push(below);
        }
        Tree::new(levels, arities)
    }

    /// The mean length of the sentences.
    pub fn mean_length(&self) -> f64 {
        self.mean_len
    }

    /// Samples the sentences with these numbers, in place of those that `sampled` holds.
    pub(super) fn sentences(&self, seed: Seed, numbers: Range<u64>, sampled: &mut Sampled) {
        match &self.layers {
            Layers::Narrow(layers) => self.sentences_of(layers, seed, numbers, sampled),
            Layers::Wide(layers) => self.sentences_of(layers, seed, numbers, sampled),
        }
    }

    #[inline(never)]
    fn sentences_of<const W: usize>(
        &self,
        layers: &[Choice<W>],
        seed: Seed,
        numbers: Range<u64>,
        sampled: &mut Sampled,
    ) {
        let seed = corpus_seed(seed);
        let (last, upper) = layers.split_last().expect("a grammar has layers");
        let batch = (BATCH_TOKENS / self.max_len).clamp(1, BATCH);
        let room = batch * self.max_len + W;
        let Sampled { tokens, offsets, roots, above, below, open } = sampled;
        offsets.clear();
        offsets.push(0);
        roots.clear();
        let count = numbers.end - numbers.start;
        tokens.resize(tokens.len().max((count as f64 * self.mean_len * 1.05) as usize + room), 0);
        [&mut *above, &mut *below].into_iter().for_each(|nodes| nodes.resize(nodes.len().max(room), 0));
        let mut end = 0;
        for first in numbers.clone().step_by(batch) {
            open.clear();
            for i in first..numbers.end.min(first.saturating_add(batch as u64)) {
                let mut stream = seed.stream(i);
                let root = self.roots.draw(0, &mut stream).0[0];
                above[open.len()] = root;
                roots.push(root);
                open.push((stream, 1));
            }
            for layer in upper {
                let (mut read, mut written) = (0, 0);
                for (stream, len) in &mut *open {
                    let nodes = &above[read..read + *len];
                    read += *len;
                    *len = layer.expand(nodes, &mut below[written..], stream, |_| ());
                    written += *len;
                }
                std::mem::swap(above, below);
            }
            if tokens.len() < end + room {
                tokens.resize(tokens.len() + tokens.len() / 8 + room, 0);
            }
            let mut read = 0;
            for (stream, len) in &mut *open {
                end += last.expand(&above[read..read + *len], &mut tokens[end..], stream, |_| ());
                read += *len;
                offsets.push(end);
            }
        }
    }
}

impl Sampled {
    /// The tokens of all sentences.
    pub fn tokens(&self) -> &[Symbol] {
        &self.tokens[..self.offsets.last().map_or(0, |end| *end)]
    }
}

/// Grammars and corpora with the same number as a seed do not share randomness.
fn corpus_seed(seed: Seed) -> Seed {
    seed.child("corpus")
}

/// The tables of all layers.
fn tables<const W: usize>(grammar: &Grammar) -> Vec<Choice<W>> {
    let of_layer = |layer: &Layer| {
        let outcomes = |parent| {
            let rules = &layer.rules()[layer.rules_of(parent as Symbol)];
            rules.iter().map(|rule| (Outcome::new(rule.children.as_slice()), rule.probability)).collect()
        };
        Choice::new((0..layer.parents()).map(outcomes).collect())
    };
    grammar.layers().iter().map(of_layer).collect()
}

impl<const W: usize> Outcome<W> {
    fn new(symbols: &[Symbol]) -> Self {
        let mut bytes = [0; W];
        bytes[..symbols.len()].copy_from_slice(symbols);
        bytes[W - 1] = symbols.len() as u8;
        Outcome(bytes)
    }
}

impl<const W: usize> Choice<W> {
    fn new(parents: Vec<Vec<(Outcome<W>, f64)>>) -> Self {
        let (mut slots, mut ranges) = (Vec::new(), Vec::new());
        for outcomes in parents {
            ranges.push((slots.len() as u32, outcomes.len() as u32));
            slots.extend(alias_table(&outcomes));
        }
        Choice { slots, ranges }
    }

    #[inline]
    fn draw(&self, parent: Symbol, stream: &mut Stream) -> Outcome<W> {
        let (first, count) = self.ranges[usize::from(parent)];
        let wide = u128::from(stream.bits()) * u128::from(count);
        let slot = &self.slots[first as usize + (wide >> 64) as usize];
        if (wide as u64) < slot.threshold { slot.own } else { slot.other }
    }

    /// Rewrites every symbol of `above` into `below`, which must have `W` bytes of room to spare; returns the length.
    #[inline]
    fn expand(&self, above: &[Symbol], below: &mut [Symbol], stream: &mut Stream, mut arity: impl FnMut(u8)) -> usize {
        let mut len = 0;
        // A state of its own stays in registers: bytes that are stored could be part of any other.
        let mut own = stream.clone();
        for &parent in above {
            let Outcome(bytes) = self.draw(parent, &mut own);
            // All bytes are written; the next rule overwrites what is not a child.
            below[len..len + W].copy_from_slice(&bytes);
            arity(bytes[W - 1]);
            len += usize::from(bytes[W - 1]);
        }
        *stream = own;
        len
    }
}

/// Walker's alias table by Vose's method: slots of equal mass, each shared by at most two outcomes.
fn alias_table<const W: usize>(outcomes: &[(Outcome<W>, f64)]) -> Vec<Slot<W>> {
    let total: f64 = outcomes.iter().map(|(_, p)| p).sum();
    let mut mass: Vec<f64> = outcomes.iter().map(|(_, p)| p / total * outcomes.len() as f64).collect();
    let full = |outcome| Slot { threshold: u64::MAX, own: outcome, other: outcome };
    let mut slots: Vec<Slot<W>> = outcomes.iter().map(|&(outcome, _)| full(outcome)).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..mass.len()).partition(|&k| mass[k] < 1.0);
    while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
        small.pop();
        slots[poor].threshold = (mass[poor] * 2f64.powi(64)) as u64;
        slots[poor].other = outcomes[rich].0;
        mass[rich] -= 1.0 - mass[poor];
        if mass[rich] < 1.0 {
            large.pop();
            small.push(rich);
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Corpus, Ensemble};

    #[test]
    fn alias_tables_hold_the_probabilities_exactly() {
        for probabilities in
            [vec![1.0], vec![0.5, 0.25, 0.125, 0.125], vec![0.7, 0.1, 0.1, 0.05, 0.05], vec![1e-9, 1.0 - 1e-9]]
        {
            let outcomes: Vec<(Outcome<4>, f64)> =
                probabilities.iter().enumerate().map(|(k, &p)| (Outcome::new(&[k as u8]), p)).collect();
            let slots = alias_table(&outcomes);
            let mut found = vec![0.0; probabilities.len()];
            for slot in &slots {
                let own = slot.threshold as f64 / 2f64.powi(64);
                found[usize::from(slot.own.0[0])] += own / slots.len() as f64;
                found[usize::from(slot.other.0[0])] += (1.0 - own) / slots.len() as f64;
            }
            assert!(found.iter().zip(&probabilities).all(|(f, p)| (f - p).abs() < 1e-15), "{found:?}");
        }
    }

    /// Sentences are sampled side by side, trees one by one: several batches of a short language, and sentences that are too long for one.
    #[test]
    fn sentences_and_trees_agree() {
        for (depth, count) in [(3, 200), (8, 20)] {
            let grammar = Ensemble::new(7, depth).zipf(0.5).sample(Seed::new(2)).unwrap();
            let corpus = Corpus::sample(&grammar, Seed::new(5), 1000..1000 + count);
            let sampler = Sampler::new(&grammar);
            for i in 0..count as usize {
                let tree = sampler.tree(Seed::new(5), 1000 + i as u64);
                assert_eq!(tree.sentence(), corpus.sentence(i));
                assert_eq!(tree.root(), corpus.roots()[i]);
                assert!(tree.log_probability(&grammar).is_some());
            }
        }
    }
}
