//! Sums over a corpus that do not depend on the number of threads.

use crate::corpus::Corpus;
use crate::error::Result;
use crate::interrupt::checkpoint;
use crate::pool::Pool;
use rayon::prelude::*;
use std::ops::Range;

/// Sentences and tokens of one shard, at most: small enough to divide a corpus of a few long sentences among threads.
const SENTENCES: usize = 1024;
const TOKENS: usize = 1 << 14;

/// Shards that each thread works on before their results are merged.
const WAVE: usize = 8;

/// Runs `work` on shards of the corpus, on all threads, and hands the results to `merge` in the order of the shards.
///
/// A wave of shards at a time is in memory, however large the corpus is.
pub(crate) fn merge_in_order<T: Send>(
    corpus: &Corpus,
    sentences: Range<usize>,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
    merge: impl FnMut(T),
) -> Result<()> {
    in_order(&mut shards(corpus, sentences), |shard| work(shard.clone()), merge)
}

/// Runs `work` on items, on all threads, and hands the results to `merge` in the order of the items, a wave at a time.
pub(crate) fn in_order<I: Send, T: Send>(
    items: &mut [I],
    work: impl Fn(&mut I) -> Result<T> + Sync,
    mut merge: impl FnMut(T),
) -> Result<()> {
    for wave in items.chunks_mut(WAVE * rayon::current_num_threads()) {
        let results = wave.par_iter_mut().with_max_len(1).map(|item| {
            checkpoint();
            work(item)
        });
        for result in results.collect::<Vec<Result<T>>>() {
            merge(result?);
        }
    }
    Ok(())
}

/// The shards of a part of a corpus. They depend on the sentences alone, not on the number of threads.
pub(crate) fn shards(corpus: &Corpus, sentences: Range<usize>) -> Vec<Range<usize>> {
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

/// Sums over a shard, few of which are not zero: one table for each thread at work, used again and again.
pub(crate) struct Tables(Pool<'static, Sums>);

/// Sums that are not zero, with their places.
pub(crate) type Touched = Vec<(u32, f64)>;

/// Sums that remember which of them were added to.
pub(crate) struct Sums {
    values: Vec<f64>,
    /// The places of all sums that are not zero.
    touched: Vec<u32>,
}

impl Tables {
    /// Tables of `size` sums each.
    pub fn new(size: usize) -> Self {
        Tables(Pool::new(move || Sums { values: vec![0.0; size], touched: Vec::new() }))
    }

    /// Lets `fill` add to sums that are all zero; returns those that are not zero any more, with their places.
    pub fn sum(&self, fill: impl FnOnce(&mut Sums) -> Result<()>) -> Result<Touched> {
        self.0.lend(|sums| {
            let filled = fill(sums);
            let Sums { values, touched } = sums;
            let found = touched.drain(..).map(|place| (place, std::mem::take(&mut values[place as usize]))).collect();
            filled.map(|()| found)
        })
    }
}

/// Adds the sums of a shard to those of all.
pub(crate) fn add_touched(all: &mut [f64], sums: &[(u32, f64)]) {
    sums.iter().for_each(|&(place, sum)| all[place as usize] += sum);
}

impl Sums {
    /// Adds to one of the sums.
    #[inline]
    pub fn add(&mut self, place: usize, value: f64) {
        let sum = &mut self.values[place];
        if *sum == 0.0 {
            self.touched.push(place as u32);
        }
        *sum += value;
    }
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

    #[test]
    fn only_sums_that_are_not_zero_are_handed_out() {
        let tables = Tables::new(1000);
        let sum = |values: &[(usize, f64)]| {
            let found = tables.sum(|sums| {
                values.iter().for_each(|&(place, value)| sums.add(place, value));
                Ok(())
            });
            found.unwrap()
        };
        assert_eq!(sum(&[(7, 1.0), (900, 0.5), (7, 2.0)]), [(7, 3.0), (900, 0.5)]);
        assert_eq!(sum(&[(900, 1.0)]), [(900, 1.0)], "what was handed out is gone");
    }
}
