//! Lattices that are kept from one pass over a corpus to the next.

use super::lattice::{Lattices, Reader};
use crate::chart::Parser;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::Grammar;
use crate::learn::shards::{in_order, shards};
use std::ops::Range;

/// Bytes that kept lattices may need. Shards that do not fit are read again in every pass.
const BYTES: usize = 1 << 29;

/// The lattices of one level of a part of a corpus: read once, as far as they fit into memory.
pub(super) struct Shelf<'a> {
    corpus: &'a Corpus,
    parser: Parser<'a, f64>,
    level: usize,
    shards: Vec<Shard>,
    /// Bytes that one shard may keep.
    bytes: usize,
}

struct Shard {
    sentences: Range<usize>,
    kept: Option<Lattices>,
}

impl<'a> Shelf<'a> {
    /// `grammar` holds the known layers below `level`. Above the tokens, weights are multiplied by `token_scale` for each token, which
    /// keeps them near one.
    pub fn new(
        grammar: &'a Grammar,
        corpus: &'a Corpus,
        sentences: Range<usize>,
        level: usize,
        token_scale: f64,
    ) -> Self {
        let parser = Parser::new(grammar).with_token_scale(token_scale);
        let shard = |sentences| Shard { sentences, kept: None };
        let shards: Vec<Shard> = shards(corpus, sentences).into_iter().map(shard).collect();
        let bytes = BYTES / shards.len().max(1);
        Shelf { corpus, parser, level, shards, bytes }
    }

    /// Runs `work` on the lattices of each shard and the place of its first sentence, on all threads, and hands the results to `merge` in
    /// order.
    ///
    /// Tuples for which `known` is false, given the sentence, are left out, and are never seen again.
    pub fn pass<T: Send>(
        &mut self,
        known: impl Fn(usize, u32) -> bool + Sync,
        work: impl Fn(&Lattices, usize) -> T + Sync,
        merge: impl FnMut(T),
    ) -> Result<()> {
        let &mut Shelf { corpus, ref parser, level, ref mut shards, bytes } = self;
        let shard = |shard: &mut Shard| -> Result<T> {
            let first = shard.sentences.start;
            if let Some(kept) = &mut shard.kept {
                kept.retain(|position, tuple| known(first + position, tuple));
                return Ok(work(kept, first));
            }
            let (mut lattices, mut reader) = (Lattices::default(), Reader::new(parser, level));
            for i in shard.sentences.clone() {
                reader.read(corpus.sentence(i), |tuple| known(i, tuple), &mut lattices)?;
            }
            let found = work(&lattices, first);
            if lattices.bytes() <= bytes {
                lattices.shrink();
                shard.kept = Some(lattices);
            }
            Ok(found)
        };
        in_order(shards, shard, merge)
    }
}
