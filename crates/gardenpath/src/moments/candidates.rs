//! Counting the candidate symbols of a chart level: the same tables as for tokens.

use super::Moments;
use super::tokens::check;
use crate::chart::{Buffers, Chart, Level, Parser};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::grammar::{Layer, Symbol};
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

impl Moments {
    /// Adds the adjacent candidates of one level of a chart: pairs of cells where one begins as the other ends, triples
    /// likewise, each candidate of one cell with each of the next.
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
            filled.entries().iter().map(|entry| entry.0).max().filter(|&s| usize::from(s) >= self.symbols)
        {
            return Err(Error::parameter("candidate symbol", most, format!("below {}", self.symbols)));
        }
        self.count_level(filled, chart.len(), usize::from(root), tuples);
        Ok(())
    }

    fn count_level(&mut self, level: &Level<Recognition>, len: usize, root: usize, tuples: Tuples) {
        let complete = tuples == Tuples::Complete;
        for start in 0..if complete { len.min(1) } else { len } {
            level.for_each_adjacent(start, 3, |cells, end| {
                if cells.len() > 1 && (!complete || end == len) {
                    level.for_each_tuple(cells, |tuple, _| match *tuple {
                        [a, b] => self.count_pair(root, a, b, 1),
                        [a, b, c] => self.count_triple(root, a, b, c, 1),
                        _ => unreachable!("two or three cells"),
                    });
                }
            });
        }
    }
}

/// The moments of the candidates of `level` over a corpus, on all threads; layers above that level are not parsed.
pub(crate) fn count_candidates(
    parser: &Parser<Recognition>,
    corpus: &Corpus,
    level: usize,
    classes: usize,
    tuples: Tuples,
) -> Result<Moments> {
    let grammar = parser.grammar();
    let mut moments = Moments::new(grammar.sizes()[level], classes)?;
    corpus.roots().iter().max().map_or(Ok(()), |&root| moments.check_root(root))?;
    let part = corpus.len().div_ceil(moments.parts(size_of::<u64>())).max(1);
    check(corpus.tokens(), grammar.vocab())?;
    let above_tokens = tuples == Tuples::Complete && level == 1 && grammar.depth() == 2;
    let shortcut = if above_tokens { Shortcut::new(grammar.layer(level)) } else { None };
    let count_part = |k: usize| -> Result<Moments> {
        let mut moments = Moments::new(grammar.sizes()[level], classes)?;
        let numbers = k * part..corpus.len().min((k + 1) * part);
        if let Some(shortcut) = &shortcut {
            numbers.for_each(|i| shortcut.count(&mut moments, corpus.sentence(i), usize::from(corpus.roots()[i])));
            return Ok(moments);
        }
        let Buffers { mut chart, mut scratch } = parser.buffers();
        for i in numbers {
            checkpoint();
            parser.start(&mut chart, &mut scratch, corpus.sentence(i))?;
            for layer in (level..grammar.depth()).rev() {
                parser.fill_layer(&mut chart, &mut scratch, layer);
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

/// Complete spans of a grammar of depth 2 in which every tuple of tokens has at most one parent: two or three
/// look-ups per way to cut a sentence, and no chart. Any tuple that covers the sentence is then part of some tree.
struct Shortcut {
    tokens: usize,
    /// The parent of each pair and of each triple, or [`Shortcut::NONE`].
    pairs: Vec<Symbol>,
    triples: Vec<Symbol>,
}

impl Shortcut {
    const NONE: Symbol = Symbol::MAX;

    /// The tables of a layer, unless some tuple has several parents.
    fn new(layer: &Layer) -> Option<Self> {
        let tokens = layer.children();
        let mut tables = [vec![Self::NONE; tokens * tokens], vec![Self::NONE; tokens.pow(3)]];
        for rule in layer.rules() {
            let tuple = rule.children.iter().fold(0, |number, child| number * tokens + usize::from(child));
            let parent = &mut tables[rule.children.len() - 2][tuple];
            if *parent != Self::NONE {
                return None;
            }
            *parent = rule.parent;
        }
        let [pairs, triples] = tables;
        Some(Shortcut { tokens, pairs, triples })
    }

    /// The symbol above two or three tokens.
    #[inline]
    fn parent(&self, tuple: &[Symbol]) -> Option<Symbol> {
        let parent = match *tuple {
            [a, b] => self.pairs[usize::from(a) * self.tokens + usize::from(b)],
            [a, b, c] => self.triples[(usize::from(a) * self.tokens + usize::from(b)) * self.tokens + usize::from(c)],
            _ => Self::NONE,
        };
        (parent != Self::NONE).then_some(parent)
    }

    #[inline]
    fn count(&self, moments: &mut Moments, sentence: &[Symbol], root: usize) {
        for first in 2..=sentence.len().min(3) {
            let (left, rest) = sentence.split_at(first);
            let Some(a) = self.parent(left) else { continue };
            if let Some(b) = self.parent(rest) {
                moments.count_pair(root, a, b, 1);
            }
            for second in 2..=rest.len().min(3) {
                let (middle, right) = rest.split_at(second);
                if let (Some(b), Some(c)) = (self.parent(middle), self.parent(right)) {
                    moments.count_triple(root, a, b, c, 1);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ensemble, Seed};

    /// The moments of one level, chart by chart, without threads and shortcuts.
    fn one_by_one(parser: &Parser<Recognition>, corpus: &Corpus, level: usize, tuples: Tuples) -> Moments {
        let grammar = parser.grammar();
        let mut moments = Moments::new(grammar.sizes()[level], grammar.classes()).unwrap();
        for (sentence, &root) in corpus.sentences().zip(corpus.roots()) {
            moments.add_candidates(&parser.parse(sentence).unwrap(), level, root, tuples).unwrap();
        }
        moments
    }

    #[test]
    fn shortcuts_and_threads_change_nothing() {
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
