//! Passes over the corpus: expected counts of tuples, and of what stands around them.

use super::lattice::{self, Lattice, Lattices};
use super::lexicon::Lexicon;
use super::mixture::Observations;
use super::segment::{NodeLaw, Segmentation};
use super::shelf::Shelf;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Children, Grammar, Symbol};
use crate::learn::shards::{Sums, Tables};
use crate::tuple::TupleCode;
use std::ops::Range;

/// One level of a corpus, seen through the layers that are known below it.
pub(super) struct View<'a> {
    pub grammar: &'a Grammar,
    pub corpus: &'a Corpus,
    /// The level whose symbols are known; its tuples are the candidates for rules.
    pub level: usize,
    pub classes: usize,
    /// The factor per token that is part of the weights of known candidates; 1 for the tokens themselves.
    pub known_scale: f64,
    pub law: NodeLaw,
}

/// What a tuple shows to its neighbours: one feature to the tuple on its left, one to that on its right.
pub(super) struct Sides {
    pub to_left: Vec<u32>,
    pub to_right: Vec<u32>,
    /// The number of features.
    pub features: usize,
}

/// What a pass finds: expected counts, and how well the lexicon explains the sentences.
pub(super) struct Counts {
    pub counts: Vec<f64>,
    pub log_likelihood: f64,
    /// The number of tokens of the sentences that some sequence of blocks explains.
    pub tokens: f64,
}

impl Sides {
    /// Tuples show their cluster.
    pub fn clusters(cluster: &[u32], clusters: usize) -> Self {
        Sides { to_left: cluster.to_vec(), to_right: cluster.to_vec(), features: clusters }
    }

    /// Tuples show the symbol at that end.
    pub fn edges(tuples: impl Iterator<Item = Children>, symbols: usize) -> Self {
        let end = |tuple: Children, place: usize| u32::from(tuple.as_slice()[place]);
        let ends = |tuple: Children| (end(tuple, 0), end(tuple, tuple.len() - 1));
        let (to_left, to_right) = tuples.map(ends).unzip();
        Sides { to_left, to_right, features: symbols }
    }
}

impl<'a> View<'a> {
    /// The numbers of the tuples.
    pub fn code(&self) -> TupleCode {
        lattice::code(self.grammar, self.level)
    }

    /// The lattices of some sentences.
    pub fn shelf(&self, sentences: Range<usize>) -> Shelf<'a> {
        Shelf::new(self.grammar, self.corpus, sentences, self.level, self.known_scale)
    }

    /// Expected counts of all tuples over the sentences of a shelf.
    pub fn count(&self, lexicon: &Lexicon, shelf: &mut Shelf) -> Result<Counts> {
        let size = self.code().len();
        self.pass(lexicon, shelf, size, |segmentation, lattice, _, counts| {
            for (instance, value) in lattice.instances.iter().zip(&segmentation.values) {
                counts.add(instance.tuple as usize, value * segmentation.around[instance.block as usize]);
            }
        })
    }

    /// Expected counts of the tuples in `support` with the root label and with what their neighbours show.
    ///
    /// `place[tuple]` is the position of a tuple in the support, `sides` are those of each of them. Without sides only labels are
    /// counted.
    pub fn observe(
        &self,
        lexicon: &Lexicon,
        shelf: &mut Shelf,
        place: &[u32],
        support: usize,
        sides: Option<&Sides>,
    ) -> Result<Observations> {
        let classes = self.classes;
        // One more for the border of the sentence.
        let around = sides.map_or(0, |sides| sides.features + 1);
        let groups = if sides.is_some() { vec![classes, around, around] } else { vec![classes] };
        let features: usize = groups.iter().sum();
        let counts = self.pass(lexicon, shelf, support * features, |segmentation, lattice, root, counts| {
            let place = |instance: usize| place[lattice.instances[instance].tuple as usize] as usize;
            let row = |instance: usize| place(instance) * features;
            let values = &segmentation.values;
            for (k, instance) in lattice.instances.iter().enumerate() {
                let p = values[k] * segmentation.around[instance.block as usize];
                counts.add(row(k) + usize::from(root), p);
            }
            let Some(Sides { to_left, to_right, features: border }) = sides else { return };
            let (left, right) = (classes, classes + around);
            let likely = |block: usize| segmentation.weights[block] * segmentation.around[block] > 0.0;
            for (number, block) in lattice.blocks.iter().enumerate() {
                if !likely(number) {
                    continue;
                }
                let (start, end) = (block.start as usize, (block.start + block.width) as usize);
                if start == 0 || end == lattice.len {
                    for one in lattice.of_block(number) {
                        let p = values[one] * segmentation.around[number];
                        if start == 0 {
                            counts.add(row(one) + left + border, p);
                        }
                        if end == lattice.len {
                            counts.add(row(one) + right + border, p);
                        }
                    }
                }
                let first_next = lattice.blocks.partition_point(|block| (block.start as usize) < end);
                let next = lattice.blocks[first_next..].iter().take_while(|block| block.start as usize == end);
                for (next, block) in (first_next..).zip(next) {
                    let both = segmentation.around_two(start, end + block.width as usize);
                    if both == 0.0 {
                        continue;
                    }
                    for one in lattice.of_block(number) {
                        for two in lattice.of_block(next) {
                            let p = both * values[one] * values[two];
                            counts.add(row(one) + right + to_left[place(two)] as usize, p);
                            counts.add(row(two) + left + to_right[place(one)] as usize, p);
                        }
                    }
                }
            }
        })?;
        Ok(Observations { counts: counts.counts, groups })
    }

    /// Runs forward and backward over sentences and lets `add` count something in each of them.
    fn pass(
        &self,
        lexicon: &Lexicon,
        shelf: &mut Shelf,
        size: usize,
        add: impl Fn(&Segmentation, &Lattice, Symbol, &mut Sums) + Sync,
    ) -> Result<Counts> {
        let (roots, tables) = (self.corpus.roots(), Tables::new(size));
        let log_scale = (lexicon.token_scale * self.known_scale).ln();
        let shard = |lattices: &Lattices, first: usize| {
            let mut segmentation = Segmentation::new(&self.law, &lexicon.probability, lexicon.token_scale);
            let (mut log_likelihood, mut tokens) = (0.0, 0.0);
            let counts = tables.sum(|counts| {
                for (lattice, &root) in lattices.iter().zip(&roots[first..]) {
                    if segmentation.run(&lattice) {
                        add(&segmentation, &lattice, root, counts);
                        log_likelihood += segmentation.total.ln() - lattice.len as f64 * log_scale;
                        tokens += lattice.len as f64;
                    }
                }
            });
            (counts, log_likelihood, tokens)
        };
        let mut total = Counts { counts: vec![0.0; size], log_likelihood: 0.0, tokens: 0.0 };
        let known = |_, tuple: u32| lexicon.probability[tuple as usize] > 0.0;
        shelf.pass(known, shard, |(counts, log_likelihood, tokens)| {
            counts.iter().for_each(|&(place, count)| total.counts[place as usize] += count);
            total.log_likelihood += log_likelihood;
            total.tokens += tokens;
        })?;
        Ok(total)
    }
}
