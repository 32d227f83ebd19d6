//! Sums over a corpus that do not depend on the number of threads.

use crate::error::Result;
use crate::interrupt::checkpoint;
use rayon::prelude::*;
use std::ops::Range;

/// Runs `work` on shards of `size` sentences, on all threads, and hands the results to `merge` in the order of the shards.
///
/// A wave of shards at a time is in memory, however large the corpus is.
pub(crate) fn merge_in_order<T: Send>(
    sentences: Range<usize>,
    size: usize,
    work: impl Fn(Range<usize>) -> Result<T> + Sync,
    mut merge: impl FnMut(T),
) -> Result<()> {
    let starts: Vec<usize> = sentences.clone().step_by(size).collect();
    for wave in starts.chunks(2 * rayon::current_num_threads()) {
        let results = wave.par_iter().map(|&start| {
            checkpoint();
            work(start..sentences.end.min(start + size))
        });
        for result in results.collect::<Vec<Result<T>>>() {
            merge(result?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn shards_are_merged_in_order_and_errors_come_through() {
        let mut seen = Vec::new();
        merge_in_order(3..100, 7, |range| Ok(range.collect::<Vec<usize>>()), |shard| seen.extend(shard)).unwrap();
        assert_eq!(seen, (3..100).collect::<Vec<usize>>());
        let fail = |range: Range<usize>| if range.contains(&50) { Err(Error::line(50, "bad")) } else { Ok(()) };
        assert_eq!(merge_in_order(0..100, 7, fail, |()| ()), Err(Error::line(50, "bad")));
    }
}
