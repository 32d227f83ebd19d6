//! Counting the candidate symbols of a chart level: the same tables as for tokens.

use super::{Moments, TupleTable};
use crate::chart::{Buffers, Chart, Level, Parser, Wanted};
use crate::corpus::Corpus;
use crate::error::{Counts, Error, Result};
use crate::grammar::{Symbol, largest};
use crate::interrupt::checkpoint;
use crate::semiring::Recognition;
use rayon::prelude::*;

/// Which tuples of adjacent candidates are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tuples {
    /// All neighbours: every start and every combination of span lengths.
    Adjacent,
    /// Those that cover the sentence from its first token to its last: what a root can be rewritten into.
    Complete,
}

impl TupleTable<u64> {
    /// Adds the adjacent candidates of one level of a chart: tuples of cells where one begins as the other ends, each candidate of
    /// one cell with each of the next.
    ///
    /// ```
    /// use gardenpath::{Chart, Ensemble, Moments, Recognition, Sampler, Seed, Tuples};
    ///
    /// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
    /// let tree = Sampler::new(&grammar).tree(Seed::new(1), 0);
    /// let chart = Chart::<Recognition>::parse(&grammar, tree.sentence())?;
    /// let mut moments = Moments::new(8, 8)?;
    /// moments.add_candidates(&chart, 1, tree.root(), Tuples::Complete)?;
    /// assert!(moments.pair_total() + moments.triple_total() >= 1, "the true children of the root are among them");
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn add_candidates(
        &mut self,
        chart: &Chart<Recognition>,
        level: usize,
        root: Symbol,
        tuples: Tuples,
    ) -> Result<()> {
        self.check_root(root)?;
        let filled = chart.level(level);
        if let Some(most) =
            filled.entries().iter().map(|entry| entry.0).max().filter(|&s| usize::from(s) >= self.symbols())
        {
            return Err(Error::count("candidate symbol", most, Counts::Below(self.symbols())));
        }
        self.count_level(filled, chart.len(), usize::from(root), tuples);
        Ok(())
    }

    fn count_level(&mut self, level: &Level<Recognition>, len: usize, root: usize, tuples: Tuples) {
        let (code, arities, complete) = (self.code(), self.arities(), tuples == Tuples::Complete);
        for start in 0..if complete { len.min(1) } else { len } {
            level.for_each_adjacent(start, arities.most(), |cells, end| {
                if arities.contains(cells.len()) && (!complete || end == len) {
                    let (counts, first) = (self.block_mut(cells.len(), root), code.range(cells.len()).start);
                    level.for_each_tuple(cells, |tuple, _| counts[code.of(tuple) - first] += 1);
                }
            });
        }
    }
}

/// The pairs and triples of the candidates of `level` over a corpus, on all threads; layers above that level are not parsed.
pub(crate) fn count_candidates(
    parser: &Parser<Recognition>,
    corpus: &Corpus,
    level: usize,
    classes: usize,
    tuples: Tuples,
) -> Result<Moments> {
    let grammar = parser.grammar();
    let mut moments = Moments::new(grammar.sizes()[level], classes)?;
    moments.check_root(largest(corpus.roots()))?;
    let part = corpus.len().div_ceil(moments.parts(size_of::<u64>())).max(1);
    grammar.check_sentence(corpus.tokens())?;
    let count_part = |k: usize| -> Result<Moments> {
        let mut moments = Moments::new(grammar.sizes()[level], classes)?;
        let numbers = k * part..corpus.len().min((k + 1) * part);
        let Buffers { mut chart, mut scratch } = parser.buffers();
        for i in numbers {
            checkpoint();
            parser.start(&mut chart, &mut scratch, corpus.sentence(i))?;
            for layer in (level..grammar.depth()).rev() {
                parser.fill_layer(&mut chart, &mut scratch, layer, Wanted::All);
            }
            moments.count_level(chart.level(level), chart.len(), usize::from(corpus.roots()[i]), tuples);
        }
        Ok(moments)
    };
    let parts: Vec<Result<Moments>> = (0..corpus.len().div_ceil(part)).into_par_iter().map(count_part).collect();
    for part in parts {
        moments.merge(&part?)?;
    }
    Ok(moments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ensemble, Seed};

    /// The moments of one level, chart by chart, without threads.
    fn one_by_one(parser: &Parser<Recognition>, corpus: &Corpus, level: usize, tuples: Tuples) -> Moments {
        let grammar = parser.grammar();
        let mut moments = Moments::new(grammar.sizes()[level], grammar.classes()).unwrap();
        for (sentence, &root) in corpus.sentences().zip(corpus.roots()) {
            moments.add_candidates(&parser.parse(sentence).unwrap(), level, root, tuples).unwrap();
        }
        moments
    }

    #[test]
    fn threads_change_nothing() {
        for depth in 1..=3 {
            let grammar = Ensemble::new(6, depth).fraction(0.5).sample(Seed::new(depth as u64)).unwrap();
            let parser = Parser::<Recognition>::new(&grammar);
            let corpus = Corpus::sample(&grammar, Seed::new(1), 0..500);
            for level in 1..=depth {
                for tuples in [Tuples::Adjacent, Tuples::Complete] {
                    let fast = count_candidates(&parser, &corpus, level, 6, tuples).unwrap();
                    assert_eq!(
                        fast,
                        one_by_one(&parser, &corpus, level, tuples),
                        "level {level} of {depth}, {tuples:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn candidates_of_the_lowest_level_are_the_tokens() {
        let grammar = Ensemble::new(6, 2).sample(Seed::new(1)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(1), 0..500);
        let mut tokens = Moments::new(6, 6).unwrap();
        tokens.add_corpus(&corpus).unwrap();
        let parser = Parser::<Recognition>::new(&grammar);
        assert_eq!(one_by_one(&parser, &corpus, 2, Tuples::Adjacent), tokens);
    }
}
