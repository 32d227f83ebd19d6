//! Passes over the corpus: expected counts of tuples.

use super::lattice;
use super::lexicon::Lexicon;
use super::segment::{NodeLaw, Segmentation};
use super::shelf::{Sentences, Shelf};
use crate::chart::Parser;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Children, Grammar};
use crate::learn::shards::{Tables, add_touched};
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

    /// A parser for the layers that are known.
    pub fn parser(&self) -> Parser<'a, f64> {
        Parser::new(self.grammar).with_token_scale(self.known_scale)
    }

    /// The lattices of some sentences.
    pub fn shelf(&self, sentences: Range<usize>) -> Shelf<'a> {
        Shelf::new(self.parser(), self.corpus, sentences, self.level)
    }

    /// Expected counts of all tuples over the sentences of a shelf, by forward and backward.
    pub fn count(&self, lexicon: &Lexicon, shelf: &mut Shelf) -> Result<Counts> {
        let size = self.code().len();
        let tables = Tables::new(size);
        let log_scale = (lexicon.token_scale * self.known_scale).ln();
        let known = |_, tuple: u32| lexicon.probability[tuple as usize] > 0.0;
        let shard = |sentences: Sentences<_>| {
            let mut segmentation = Segmentation::new(&self.law, &lexicon.probability, lexicon.token_scale);
            let (mut log_likelihood, mut tokens) = (0.0, 0.0);
            let counts = tables.sum(|counts| {
                sentences.for_each(|_, lattice| {
                    if !segmentation.run(lattice) {
                        return;
                    }
                    for (instance, value) in lattice.instances.iter().zip(&segmentation.values) {
                        counts.add(instance.tuple as usize, value * segmentation.around[instance.block as usize]);
                    }
                    log_likelihood += segmentation.total.ln() - lattice.len as f64 * log_scale;
                    tokens += lattice.len as f64;
                })
            });
            Ok((counts?, log_likelihood, tokens))
        };
        let mut total = Counts { counts: vec![0.0; size], log_likelihood: 0.0, tokens: 0.0 };
        shelf.pass(known, shard, |(counts, log_likelihood, tokens)| {
            add_touched(&mut total.counts, &counts);
            total.log_likelihood += log_likelihood;
            total.tokens += tokens;
        })?;
        Ok(total)
    }
}
