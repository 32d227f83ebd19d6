//! Sums over a corpus that do not depend on the number of threads.

use crate::corpus::Corpus;
use crate::error::Result;
use crate::interrupt::checkpoint;
use rayon::prelude::*;
use std::ops::Range;

/// Sentences and tokens of one shard, at most: small enough to divide a corpus of a few long sentences among threads.
const SENTENCES: usize = 1024;
const TOKENS: usize = 1 << 14;

/// Runs `work` on shards of the corpus, on all threads, and hands the results to `merge` in the order of the shards.
///
/// A wave of shards at a time is in memory, however large the corpus is.
pub(crate) fn merge_in_order<T: Send>(
    corpus: &Corpus,
    sentences: Range<usize>,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
    mut merge: impl FnMut(T),
) -> Result<()> {
    for wave in shards(corpus, sentences).chunks(2 * rayon::current_num_threads()) {
        let results = wave.par_iter().map(|shard| {
            checkpoint();
            work(shard.clone())
        });
        for result in results.collect::<Vec<Result<T>>>() {
            merge(result?);
        }
    }
    Ok(())
}

/// The shards of a part of a corpus. They depend on the sentences alone, not on the number of threads.
fn shards(corpus: &Corpus, sentences: Range<usize>) -> Vec<Range<usize>> {
    let (mut shards, mut start) = (Vec::new(), sentences.start);
    while start < sentences.end {
        let full = corpus.offsets()[start] + TOKENS;
        let end = corpus.offsets().partition_point(|&offset| offset <= full) - 1;
        let end = end.clamp(start + 1, sentences.end.min(start + SENTENCES));
        shards.push(start..end);
        start = end;
    }
    shards
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    /// Sentences of one to seven tokens, with a long one among them.
    fn corpus() -> Corpus {
        let mut corpus = Corpus::default();
        (0..5000).for_each(|i| corpus.push(&vec![0; if i == 3000 { 3 * TOKENS } else { 1 + i % 7 }], 0));
        corpus
    }

    #[test]
    fn shards_are_merged_in_order_and_errors_come_through() {
        let (corpus, mut seen) = (corpus(), Vec::new());
        merge_in_order(&corpus, 3..4500, |range| Ok(range.collect::<Vec<usize>>()), |shard| seen.extend(shard))
            .unwrap();
        assert_eq!(seen, (3..4500).collect::<Vec<usize>>());
        let fail = |range: Range<usize>| if range.contains(&50) { Err(Error::line(50, "bad")) } else { Ok(()) };
        assert_eq!(merge_in_order(&corpus, 0..100, fail, |()| ()), Err(Error::line(50, "bad")));
    }

    #[test]
    fn shards_are_bounded_in_sentences_and_tokens() {
        let corpus = corpus();
        for shard in shards(&corpus, 0..5000) {
            let tokens = corpus.offsets()[shard.end] - corpus.offsets()[shard.start];
            assert!(shard.len() <= SENTENCES && (tokens <= TOKENS || shard.len() == 1), "{shard:?}");
        }
    }
}
