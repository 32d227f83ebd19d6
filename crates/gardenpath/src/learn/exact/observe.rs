//! Passes over the corpus: expected counts of tuples, and of what stands around them.

use super::lattice::{self, Instance, Lattice, Reader};
use super::lexicon::Lexicon;
use super::mixture::Observations;
use super::segment::{NodeLaw, Segmentation};
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Children, Grammar, Symbol};
use crate::learn::shards::merge_in_order;
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

impl View<'_> {
    /// The numbers of the tuples.
    pub fn code(&self) -> TupleCode {
        lattice::code(self.grammar, self.level)
    }

    /// Expected counts of all tuples over the given sentences.
    pub fn count(&self, lexicon: &Lexicon, sentences: Range<usize>) -> Result<Counts> {
        let size = self.code().len();
        self.pass(lexicon, sentences, size, |segmentation, lattice, _, lexicon, counts| {
            for instance in &lattice.instances {
                let value = lexicon.probability[instance.tuple as usize] * instance.weight;
                counts[instance.tuple as usize] += value * segmentation.around[instance.block as usize];
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
        sentences: Range<usize>,
        place: &[u32],
        support: usize,
        sides: Option<&Sides>,
    ) -> Result<Observations> {
        let classes = self.classes;
        // One more for the border of the sentence.
        let around = sides.map_or(0, |sides| sides.features + 1);
        let groups = if sides.is_some() { vec![classes, around, around] } else { vec![classes] };
        let features: usize = groups.iter().sum();
        let counts =
            self.pass(lexicon, sentences, support * features, |segmentation, lattice, root, lexicon, counts| {
                let value = |instance: &Instance| lexicon.probability[instance.tuple as usize] * instance.weight;
                let row = |tuple: u32| place[tuple as usize] as usize * features;
                for instance in &lattice.instances {
                    let p = value(instance) * segmentation.around[instance.block as usize];
                    counts[row(instance.tuple) + usize::from(root)] += p;
                }
                let Some(Sides { to_left, to_right, features: border }) = sides else { return };
                let shown = |side: &[u32], tuple: u32| side[place[tuple as usize] as usize] as usize;
                let (left, right) = (classes, classes + around);
                let likely = |block: usize| segmentation.weights[block] * segmentation.around[block] > 0.0;
                for (block, &(start, width)) in lattice.blocks.iter().enumerate() {
                    if !likely(block) {
                        continue;
                    }
                    let end = (start + width) as usize;
                    if start == 0 || end == lattice.len {
                        for instance in lattice.of_block(block) {
                            let p = value(instance) * segmentation.around[block];
                            if start == 0 {
                                counts[row(instance.tuple) + left + border] += p;
                            }
                            if end == lattice.len {
                                counts[row(instance.tuple) + right + border] += p;
                            }
                        }
                    }
                    let first_next = lattice.blocks.partition_point(|b| (b.0 as usize) < end);
                    for (offset, &(_, next_width)) in
                        lattice.blocks[first_next..].iter().take_while(|b| b.0 as usize == end).enumerate()
                    {
                        let next = first_next + offset;
                        let scale = lexicon.token_scale.powi((width + next_width) as i32);
                        let both = segmentation.around_two(start as usize, end + next_width as usize) * scale;
                        if both == 0.0 {
                            continue;
                        }
                        for one in lattice.of_block(block) {
                            for two in lattice.of_block(next) {
                                let p = both * value(one) * value(two);
                                counts[row(one.tuple) + right + shown(to_left, two.tuple)] += p;
                                counts[row(two.tuple) + left + shown(to_right, one.tuple)] += p;
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
        sentences: Range<usize>,
        size: usize,
        add: impl Fn(&Segmentation, &Lattice, Symbol, &Lexicon, &mut [f64]) + Sync,
    ) -> Result<Counts> {
        let scale = lexicon.token_scale;
        let shard = |range: Range<usize>| -> Result<Counts> {
            let mut reader = Reader::new(self.grammar, self.level, self.known_scale);
            let (mut lattice, mut segmentation) = (Lattice::default(), Segmentation::default());
            let mut sum = Counts { counts: vec![0.0; size], log_likelihood: 0.0, tokens: 0.0 };
            for i in range {
                let sentence = self.corpus.sentence(i);
                reader.read(sentence, |tuple| lexicon.probability[tuple as usize] > 0.0, &mut lattice)?;
                let value = |tuple: u32, weight: f64| lexicon.probability[tuple as usize] * weight;
                if segmentation.run(&lattice, &self.law, scale, value) {
                    add(&segmentation, &lattice, self.corpus.roots()[i], lexicon, &mut sum.counts);
                    sum.log_likelihood +=
                        segmentation.total.ln() - sentence.len() as f64 * (scale * self.known_scale).ln();
                    sum.tokens += sentence.len() as f64;
                }
            }
            Ok(sum)
        };
        let mut total = Counts { counts: vec![0.0; size], log_likelihood: 0.0, tokens: 0.0 };
        merge_in_order(self.corpus, sentences, shard, |found| {
            total.counts.iter_mut().zip(&found.counts).for_each(|(sum, count)| *sum += count);
            total.log_likelihood += found.log_likelihood;
            total.tokens += found.tokens;
        })?;
        Ok(total)
    }
}
