//! Adjacent candidates: cells of a level where one begins as the other ends, and the tuples of symbols that stand there.

use super::Level;
use crate::grammar::{Children, Symbol};
use crate::semiring::Semiring;

impl<S: Semiring> Level<S> {
    /// Calls `visit` with every sequence of up to `most` cells from `start` on that are not empty, each beginning where the one before it
    /// ends, and with the place where the last one ends. A sequence comes before those that continue it, shorter cells before longer ones.
    ///
    /// # Panics
    /// If `most` is more than [`Children::MAX`].
    pub fn for_each_adjacent(&self, start: usize, most: usize, mut visit: impl FnMut(&[u32], usize)) {
        self.extend_cells(&mut [0; Children::MAX][..most], 0, start, &mut visit);
    }

    fn extend_cells(&self, cells: &mut [u32], count: usize, start: usize, visit: &mut impl FnMut(&[u32], usize)) {
        for next in self.filled(start) {
            let end = start + next.span as usize;
            cells[count] = next.cell;
            visit(&cells[..=count], end);
            if count + 1 < cells.len() {
                self.extend_cells(cells, count + 1, end, visit);
            }
        }
    }

    /// Calls `visit` with every tuple of one candidate from each cell and the product of their values, in the order of a dictionary.
    ///
    /// # Panics
    /// If there are more than [`Children::MAX`] cells.
    #[inline]
    pub fn for_each_tuple(&self, cells: &[u32], mut visit: impl FnMut(&[Symbol], S)) {
        self.extend_tuple(&mut [0; Children::MAX][..cells.len()], 0, cells, S::one(), &mut visit);
    }

    fn extend_tuple(
        &self,
        tuple: &mut [Symbol],
        count: usize,
        cells: &[u32],
        value: S,
        visit: &mut impl FnMut(&[Symbol], S),
    ) {
        for (symbol, own) in self.cell(cells[count]) {
            tuple[count] = *symbol;
            let value = value.mul(own);
            if count + 1 < cells.len() {
                self.extend_tuple(tuple, count + 1, cells, value, visit);
            } else {
                visit(tuple, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Chart, Corpus, Ensemble, Seed, Symbol};

    /// Against all combinations of the cells of a level.
    #[test]
    fn sequences_are_those_of_neighbours() {
        let grammar =
            Ensemble::new(4, 3).arities([(1, 0.3), (2, 0.4), (3, 0.3)]).fraction(0.9).sample(Seed::new(1)).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(2), 0..20);
        let mut longest = 0;
        for sentence in corpus.sentences() {
            let chart = Chart::<f64>::parse(&grammar, sentence).unwrap();
            let level = chart.level(2);
            // All tuples of up to three adjacent candidates, by their end.
            let mut expected: Vec<(usize, Vec<Symbol>, f64)> = vec![(0, Vec::new(), 1.0)];
            let mut first = 0;
            for _ in 0..3 {
                let range = first..expected.len();
                first = range.end;
                for k in range {
                    let (end, tuple, value) = expected[k].clone();
                    for cell in chart.cells(2).filter(|cell| cell.span.start == end) {
                        let longer = |&(symbol, own): &(Symbol, f64)| {
                            (cell.span.end(), [tuple.as_slice(), &[symbol]].concat(), value * own)
                        };
                        expected.extend(cell.values.iter().map(longer));
                    }
                }
            }
            expected.remove(0);
            let mut found = Vec::new();
            level.for_each_adjacent(0, 3, |cells, end| {
                level.for_each_tuple(cells, |tuple, value| found.push((end, tuple.to_vec(), value)));
            });
            longest = longest.max(found.len());
            let sorted = |mut tuples: Vec<(usize, Vec<Symbol>, f64)>| {
                tuples.sort_by(|x, y| x.partial_cmp(y).unwrap());
                tuples
            };
            assert_eq!(sorted(found), sorted(expected));
        }
        assert!(longest > 30, "{longest}");
    }
}
