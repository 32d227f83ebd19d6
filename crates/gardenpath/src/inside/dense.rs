//! A layer of full cells, as matrix products.
//!
//! For every start, and every end of the first two children, `Q(a, b)` sums over their splits: a product of two matrices, whose rows
//! are the places of the split. `S(c, z)` sums over the ternary rules. One more product, over all ends of the second and all symbols of
//! the third child, completes the cells of the start.

use super::band::{Band, RULE_ROOM};
use super::gemm::{COLUMNS, LANES, PairSums, add_product, sum_splits};
use crate::arity::Arities;
use crate::chart::{Level, LevelCells};
use crate::grammar::Layer;
use crate::interrupt::checkpoint;
use crate::magnitude::Magnitude;
use crate::semiring::Semiring;
use std::ops::Range;

/// The rules of a layer as lists for the dense sums.
#[derive(Clone, Debug)]
pub(crate) struct DenseLayer {
    parents: usize,
    children: usize,
    /// `[parent]`, over the binary rules.
    pairs: PairSums,
    /// `[third child][parent]`, over the ternary rules.
    triples: PairSums,
    /// Whether all rules have two or three children, and no probability is too small for scaled values.
    is_supported: bool,
    has_room: bool,
}

/// Sums of up to [`LANES`] parts of a sentence with adjacent ends, side by side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    /// `Q`: `[first child][second child]`.
    pub pairs: Vec<[f64; LANES]>,
    /// Sums over rules.
    sums: Vec<[f64; LANES]>,
    /// `S`: `[end][third child][parent]`.
    matrix: Vec<f64>,
    /// Where the third children of some ends begin.
    rows: Vec<usize>,
}

/// Below this average number of candidates the sparse recursion is faster: a fifth of all symbols, but two, or half of them, if there
/// are few symbols.
fn crowd(symbols: usize) -> f64 {
    let symbols = symbols as f64;
    (0.2 * symbols).max(f64::min(0.5 * symbols, 2.0))
}

impl DenseLayer {
    pub fn new(layer: &Layer) -> Self {
        let (parents, children) = (layer.parents(), layer.children());
        let [parent_width, child_width] = [parents, children].map(|symbols| symbols.next_multiple_of(COLUMNS));
        let (mut pairs, mut triples) = (Vec::new(), Vec::new());
        for rule in layer.rules() {
            let parent = usize::from(rule.parent);
            let [a, b, ref last @ ..] = *rule.children.as_slice() else { continue };
            let pair = (usize::from(a) * child_width + usize::from(b)) as u32;
            match last {
                [] => pairs.push((parent as u32, pair, rule.probability)),
                [c] => triples.push(((usize::from(*c) * parent_width + parent) as u32, pair, rule.probability)),
                _ => {}
            }
        }
        let is_small = |probability: f64| Magnitude::new(probability).exponent() < -RULE_ROOM;
        DenseLayer {
            parents,
            children,
            pairs: PairSums::new(parent_width, pairs),
            triples: PairSums::new(child_width * parent_width, triples),
            is_supported: layer.arities().iter().all(|arity| Arities::PAPER.contains(arity)),
            has_room: !layer.rules().iter().any(|rule| is_small(rule.probability)),
        }
    }

    /// Whether the rules are such that there are matrix products, and values are safe in them.
    pub fn is_supported(&self, is_scaled: bool) -> bool {
        self.is_supported && (self.has_room || !is_scaled)
    }

    /// Whether the cells below are full enough for matrix products.
    pub fn pays<S: Semiring>(&self, below: &Level<S>) -> bool {
        let filled = below.all_filled().len();
        filled > 8 && below.entries().len() as f64 > crowd(self.children) * filled as f64
    }

    /// The number of symbols below.
    pub fn children(&self) -> usize {
        self.children
    }

    /// Computes the values of a level from the one below it, with the same powers of two. They are sorted by start only.
    pub fn fill(
        &self,
        lanes: &mut Lanes,
        (cells, above): (&LevelCells, &mut Band),
        (cells_below, below): (&LevelCells, &Band),
    ) {
        above.reset(cells, self.parents, below.powers());
        for start in 0..cells.starts() {
            // Short sentences are done before anybody waits.
            if start % 16 == 15 {
                checkpoint();
            }
            let own = cells.first(start)..cells.first(start) + cells.count(start);
            if !own.is_empty() {
                let first_end = start + cells.min_span(start);
                let row = Row { sums: above.cells_mut(own), first_end, width: self.parents.next_multiple_of(COLUMNS) };
                self.fill_start(lanes, row, cells_below, below, start);
                above.clear_unused(cells, start);
            }
        }
    }

    fn fill_start(&self, lanes: &mut Lanes, mut row: Row, cells: &LevelCells, below: &Band, start: usize) {
        for_each_block(lanes, cells, below, start, row.last_end(), |lanes, ends| {
            if !self.pairs.is_empty() {
                lanes.sum_rules(&self.pairs);
                row.add_lanes(lanes, ends.clone());
            }
            if !self.triples.is_empty() && row.last_end() > ends.start {
                lanes.sum_rules(&self.triples);
                lanes.transpose(ends.len());
                row.add_thirds(lanes, below, ends);
            }
        });
    }
}

/// Calls `visit` with `Q` of all parts of the sentence that begin at `start` and are made of two cells, at most [`LANES`] adjacent ends
/// at a time, none beyond `last_end`.
pub(crate) fn for_each_block(
    lanes: &mut Lanes,
    cells: &LevelCells,
    below: &Band,
    start: usize,
    last_end: usize,
    mut visit: impl FnMut(&mut Lanes, Range<usize>),
) {
    let width = below.width();
    lanes.pairs.resize(width * width, [0.0; LANES]);
    let middles = start + cells.min_span(start)..start + cells.min_span(start) + cells.count(start);
    // The splits of a part: the places where both children are cells.
    let splits = |end: usize| {
        let starts = below.starts(end);
        starts.start.max(middles.start)..starts.end.min(middles.end)
    };
    let mut next = middles.start + 1;
    while next <= last_end {
        let Some(first) = (next..=last_end).find(|&end| !splits(end).is_empty()) else { return };
        let ends = first..(first + LANES).min(last_end + 1);
        for (lane, end) in ends.clone().enumerate() {
            let splits = splits(end);
            let (firsts, seconds) = if splits.is_empty() {
                (&[][..], &[][..])
            } else {
                let cell = cells.first(start) + splits.start - middles.start;
                let place = below.place(splits.start, end);
                (below.cells(cell..cell + splits.len()), &below.by_end()[place..place + splits.len() * width])
            };
            sum_splits(&mut lanes.pairs, lane, firsts, seconds, width);
        }
        next = ends.end;
        visit(lanes, ends);
    }
}

impl Lanes {
    /// Sums over rules.
    pub fn sum_rules(&mut self, rules: &PairSums) -> &[[f64; LANES]] {
        self.sums.resize(rules.len(), [0.0; LANES]);
        rules.apply(&self.pairs, &mut self.sums);
        &self.sums
    }

    /// Sorts the sums of the first lanes by lane.
    fn transpose(&mut self, count: usize) {
        let size = self.sums.len();
        self.matrix.resize(size * LANES, 0.0);
        for (lane, matrix) in self.matrix.chunks_exact_mut(size).enumerate().take(count) {
            matrix.iter_mut().zip(&self.sums).for_each(|(value, sums)| *value = sums[lane]);
        }
    }
}

/// The cells of one start: `[end][parent]`.
struct Row<'b> {
    sums: &'b mut [f64],
    first_end: usize,
    width: usize,
}

impl Row<'_> {
    fn last_end(&self) -> usize {
        self.first_end + self.sums.len() / self.width - 1
    }

    /// Adds what the binary rules make of the parts with these ends.
    fn add_lanes(&mut self, lanes: &Lanes, ends: Range<usize>) {
        for (lane, end) in ends.enumerate() {
            if let Some(row) = end.checked_sub(self.first_end) {
                let row = &mut self.sums[row * self.width..][..self.width];
                row.iter_mut().zip(&lanes.sums).for_each(|(sum, value)| *sum += value[lane]);
            }
        }
    }

    /// Adds what the ternary rules make of the parts with these ends and the third children after them.
    fn add_thirds(&mut self, lanes: &mut Lanes, below: &Band, ends: Range<usize>) {
        let Lanes { sums, matrix, rows, .. } = lanes;
        // The third children of an end: those that begin where one of the parts ends.
        let thirds = |end: usize| {
            let starts = below.starts(end);
            starts.start.max(ends.start)..starts.end.min(ends.end)
        };
        let mut end = self.first_end.max(ends.start + 1);
        while end <= self.last_end() {
            let own = thirds(end);
            rows.clear();
            let first_end = end;
            while end <= self.last_end() && thirds(end) == own {
                if !own.is_empty() {
                    rows.push(below.place(own.start, end));
                }
                end += 1;
            }
            if !own.is_empty() {
                let cells = &mut self.sums[(first_end - self.first_end) * self.width..][..rows.len() * self.width];
                let matrix = &matrix[(own.start - ends.start) * sums.len()..][..own.len() * sums.len()];
                add_product(cells, below.by_end(), rows, matrix, self.width);
            }
        }
    }
}
