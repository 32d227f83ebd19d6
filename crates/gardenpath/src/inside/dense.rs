//! A layer of full cells, as matrix products.
//!
//! For every start, and every end of the first two children, `Q(a, b)` sums over their splits: a product of two matrices, whose rows
//! are the places of the split. `S(c, z)` sums over the ternary rules. One more product, over all ends of the second and all symbols of
//! the third child, completes the cells of the start.

use super::band::{Band, RULE_ROOM};
use super::gemm::{LANES, PairSums, add_product, padded, sum_all_splits, sum_splits};
use crate::arity::Arities;
use crate::chart::{Level, LevelCells};
use crate::grammar::Layer;
use crate::interrupt::checkpoint;
use crate::magnitude::Magnitude;
use crate::semiring::Semiring;

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

/// Sums of up to [`LANES`] parts of a sentence with one start, side by side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    /// The ends of the parts, in increasing order.
    ends: Vec<usize>,
    /// `Q`: `[first child][second child]`.
    pairs: Vec<[f64; LANES]>,
    /// Sums over rules.
    sums: Vec<[f64; LANES]>,
    /// `S`: `[part][third child][parent]`.
    matrices: Vec<f64>,
    /// The splits of one part.
    splits: Vec<u32>,
    /// Where third children with some ends stand.
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
        let [parent_width, child_width] = [parents, children].map(padded);
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
            // Only long sentences check for an interrupt: short ones finish at once.
            if start % 16 == 15 {
                checkpoint();
            }
            if cells.count(start) > 0 && below.has_start(start) {
                let first_end = start + cells.min_span(start);
                let width = above.width();
                let row = Row { sums: above.open(cells, start), first_end, width };
                self.fill_start(lanes, row, cells_below, below, start);
                above.close(cells, start);
            }
        }
    }

    fn fill_start(&self, lanes: &mut Lanes, mut row: Row, cells: &LevelCells, below: &Band, start: usize) {
        let (first_end, ends) = (row.first_end, start + 1..=row.last_end());
        let can_go_on = |end: usize| !self.triples.is_empty() && below.has_start(end);
        for_each_block(lanes, cells, below, start, ends.clone().filter(|&end| can_go_on(end)), |lanes| {
            row.add_pairs(lanes, &self.pairs);
            if row.last_end() > lanes.ends[0] {
                lanes.sum_rules(&self.triples);
                row.add_thirds(lanes, below);
            }
        });
        // A part that no third child can follow is a whole parent.
        let ends = ends.filter(|&end| end >= first_end && !can_go_on(end));
        for_each_block(lanes, cells, below, start, ends, |lanes| row.add_pairs(lanes, &self.pairs));
    }
}

/// Calls `visit` with `Q` of the parts of the sentence that begin at `start`, have one of these ends, and are made of two filled cells:
/// at most [`LANES`] at a time.
pub(crate) fn for_each_block(
    lanes: &mut Lanes,
    cells: &LevelCells,
    below: &Band,
    start: usize,
    ends: impl Iterator<Item = usize>,
    mut visit: impl FnMut(&mut Lanes),
) {
    if !below.has_start(start) {
        return;
    }
    let width = below.width();
    lanes.pairs.resize(width * width, [0.0; LANES]);
    lanes.ends.clear();
    let first_cell = cells.first(start);
    let first_end = start + cells.min_span(start);
    for end in ends {
        below.splits(start, end, &mut lanes.splits);
        let (Some(&first), Some(&last)) = (lanes.splits.first(), lanes.splits.last()) else { continue };
        let count = (last - first) as usize + 1;
        let (firsts, seconds) = (first_cell + first as usize - first_end, below.place(first as usize, end));
        let firsts = below.cells(firsts..firsts + count);
        let seconds = &below.by_end()[seconds..seconds + count * width];
        let lane = lanes.ends.len();
        if lanes.splits.len() == count {
            sum_all_splits(&mut lanes.pairs, lane, firsts, seconds, width);
        } else {
            lanes.splits.iter_mut().for_each(|split| *split -= first);
            sum_splits(&mut lanes.pairs, lane, firsts, seconds, &lanes.splits, width);
        }
        lanes.ends.push(end);
        if lanes.ends.len() == LANES {
            visit(lanes);
            lanes.ends.clear();
        }
    }
    if !lanes.ends.is_empty() {
        visit(lanes);
    }
}

impl Lanes {
    /// Sums over rules.
    pub fn sum_rules(&mut self, rules: &PairSums) {
        self.sums.resize(rules.len(), [0.0; LANES]);
        rules.apply(&self.pairs, &mut self.sums);
    }

    /// The last sums over rules: `[sum][part]`.
    pub fn sums(&self) -> &[[f64; LANES]] {
        &self.sums
    }

    /// The ends of the parts.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Sorts the sums by part.
    fn transpose(&mut self) {
        let size = self.sums.len();
        self.matrices.resize(size * LANES, 0.0);
        for (lane, matrix) in self.matrices.chunks_exact_mut(size).enumerate().take(self.ends.len()) {
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

    /// Adds what the binary rules make of the parts.
    fn add_pairs(&mut self, lanes: &mut Lanes, rules: &PairSums) {
        if rules.is_empty() {
            return;
        }
        lanes.sum_rules(rules);
        for (lane, end) in lanes.ends.iter().enumerate() {
            if let Some(row) = end.checked_sub(self.first_end) {
                let row = &mut self.sums[row * self.width..][..self.width];
                row.iter_mut().zip(&lanes.sums).for_each(|(sum, value)| *sum += value[lane]);
            }
        }
    }

    /// Adds what the ternary rules make of the parts and the third children after them.
    fn add_thirds(&mut self, lanes: &mut Lanes, below: &Band) {
        lanes.transpose();
        let Lanes { ends, sums, matrices, rows, .. } = lanes;
        // The parts that are followed by a filled cell with this end, as bits.
        let followed = |last: usize| {
            let is_followed = |end: usize| below.is_filled(end, last);
            ends.iter().enumerate().fold(0u8, |parts, (lane, &end)| parts | u8::from(is_followed(end)) << lane)
        };
        let is_in = |part: usize, parts: u8| parts >> part & 1 == 1;
        let mut first = self.first_end.max(ends[0] + 1);
        let mut own = if first <= self.last_end() { followed(first) } else { 0 };
        while first <= self.last_end() {
            // Adjacent ends that follow the same parts are the rows of one product.
            let (mut end, mut next) = (first + 1, 0);
            while end <= self.last_end() {
                next = followed(end);
                if next != own {
                    break;
                }
                end += 1;
            }
            let cells = (first - self.first_end) * self.width..(end - self.first_end) * self.width;
            let mut part = 0;
            while part < ends.len() {
                // Of adjacent parts, the third children stand side by side.
                let adjacent = (part..ends.len()).take_while(|&k| is_in(k, own) && ends[k] - ends[part] == k - part);
                let count = adjacent.count();
                if count > 0 {
                    rows.clear();
                    rows.extend((first..end).map(|end| below.place(ends[part], end)));
                    let matrix = &matrices[part * sums.len()..(part + count) * sums.len()];
                    add_product(&mut self.sums[cells.clone()], below.by_end(), rows, matrix, self.width);
                }
                part += count.max(1);
            }
            (first, own) = (end, next);
        }
    }
}
