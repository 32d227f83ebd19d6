//! Lattices that are kept from one pass over a corpus to the next.

use super::lattice::{Lattice, Lattices, Reader};
use crate::chart::Parser;
use crate::corpus::Corpus;
use crate::error::Result;
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

/// The sentences of one shard in one pass.
pub(super) struct Sentences<'p, K> {
    corpus: &'p Corpus,
    parser: &'p Parser<'p, f64>,
    level: usize,
    bytes: usize,
    shard: &'p mut Shard,
    known: &'p K,
}

struct Shard {
    sentences: Range<usize>,
    kept: Option<Lattices>,
}

impl<'a> Shelf<'a> {
    /// The parser knows the layers below `level`.
    pub fn new(parser: Parser<'a, f64>, corpus: &'a Corpus, sentences: Range<usize>, level: usize) -> Self {
        let shard = |sentences| Shard { sentences, kept: None };
        let shards: Vec<Shard> = shards(corpus, sentences).into_iter().map(shard).collect();
        let bytes = BYTES / shards.len().max(1);
        Shelf { corpus, parser, level, shards, bytes }
    }

    /// Runs `work` on the sentences of each shard, on all threads, and hands the results to `merge` in order.
    ///
    /// Tuples for which `known` is false, given the sentence, are left out, and are never seen again.
    pub fn pass<T: Send, K: Fn(usize, u32) -> bool + Sync>(
        &mut self,
        known: K,
        work: impl Fn(Sentences<K>) -> Result<T> + Sync,
        merge: impl FnMut(T),
    ) -> Result<()> {
        let &mut Shelf { corpus, ref parser, level, ref mut shards, bytes } = self;
        let work = |shard: &mut Shard| work(Sentences { corpus, parser, level, bytes, shard, known: &known });
        in_order(shards, work, merge)
    }
}

impl<K: Fn(usize, u32) -> bool> Sentences<'_, K> {
    /// Calls `visit` with each sentence and its lattice.
    pub fn for_each(self, mut visit: impl FnMut(usize, &Lattice)) -> Result<()> {
        let Sentences { corpus, parser, level, bytes, shard: Shard { sentences, kept }, known } = self;
        if let Some(kept) = kept {
            kept.retain(|position, tuple| known(sentences.start + position, tuple));
            sentences.clone().zip(kept.iter()).for_each(|(i, lattice)| visit(i, &lattice));
            return Ok(());
        }
        let (mut lattices, mut reader) = (Lattices::default(), Reader::new(parser, level));
        let mut fits = true;
        for i in sentences.clone() {
            reader.read(corpus.sentence(i), |tuple| known(i, tuple), &mut lattices)?;
            visit(i, &lattices.last());
            fits &= lattices.bytes() <= bytes;
            if !fits {
                lattices.clear();
            }
        }
        if fits {
            lattices.shrink();
            *kept = Some(lattices);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::exact::lattice::Instance;
    use crate::{Ensemble, Seed};

    /// Passes over sentences of the lowest level that sum up tuples, each with fewer known tuples than the one before. Returns the sums, and
    /// how many sentences the shelf has kept.
    fn passes(bytes: usize) -> (Vec<u64>, usize) {
        let grammar = Ensemble::new(5, 2).sample(Seed::new(1)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(2), 0..3000);
        let mut shelf = Shelf::new(Parser::new(&grammar), &corpus, 100..2900, 2);
        shelf.bytes = bytes;
        let pass = |least: u32| {
            let mut sums = 0;
            shelf
                .pass(
                    |i, tuple| tuple + i as u32 % 7 >= least,
                    |sentences| {
                        let mut sum = 0;
                        let tuple = |instance: &Instance| u64::from(instance.tuple);
                        sentences.for_each(|i, lattice| {
                            sum += i as u64 * lattice.instances.iter().map(tuple).sum::<u64>();
                        })?;
                        Ok(sum)
                    },
                    |sum| sums += sum,
                )
                .unwrap();
            sums
        };
        let sums = [0, 20, 60, 100].map(pass).to_vec();
        (sums, shelf.shards.iter().filter(|shard| shard.kept.is_some()).map(|shard| shard.sentences.len()).sum())
    }

    #[test]
    fn kept_lattices_are_those_that_would_be_read_again() {
        let (kept, all) = passes(BYTES);
        let (read, none) = passes(0);
        assert_eq!((all, none), (2800, 0));
        assert_eq!(kept, read);
        assert!(kept.is_sorted_by(|more, less| more > less && *less > 0), "{kept:?}");
    }
}
