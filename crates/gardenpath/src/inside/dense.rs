//! A layer of full cells, as matrix products.
//!
//! For every start and every width of the first two children:
//! `Q(a, b)` sums over their splits (a product of two matrices), `S(c, z)` sums over the ternary rules, and one more product
//! applies it to all third children at once. A cell's values share one exponent, so that nothing underflows as long as they are
//! of similar size. Bounds of the exponents are carried along; where they leave room for an underflow, [`DenseLayer::fill`]
//! declines, and the sparse recursion has to do it.

use super::gemm::{COLUMNS, Split, add_thirds, sum_rules, sum_splits};
use crate::arity::Arities;
use crate::chart::{Chart, Level, LevelCells};
use crate::grammar::{Layer, Symbol};
use crate::interrupt::checkpoint;
use crate::magnitude::{Magnitude, power_of_two};
use crate::semiring::Semiring;

/// Bounds of the exponents of some values: all are at least `2^low`, and the largest is about `2^high`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exponents {
    low: i32,
    high: i32,
}

impl Exponents {
    /// The bounds of no values.
    const NONE: Exponents = Exponents { low: i32::MAX, high: i32::MIN };

    /// The bounds of these values and others.
    fn with(self, other: Self) -> Self {
        Exponents { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The bounds of all products with other values.
    fn times(self, other: Self) -> Self {
        Exponents { low: self.low + other.low, high: self.high + other.high }
    }

    /// The bounds of all products with probabilities of at least `2^least`.
    fn times_probabilities(self, least: i32) -> Self {
        Exponents { low: self.low + least, ..self }
    }

    /// Whether the values are normal numbers once `2^high` is taken out.
    fn fit(self) -> bool {
        self.high - self.low <= NORMAL_RANGE
    }
}

/// Powers of two down to `2^-1022` are normal numbers; some of these are left for rounding.
const NORMAL_RANGE: i32 = 1000;

/// Probabilities that can be taken apart into numbers with a common exponent.
pub(super) trait Numeric: Semiring {
    /// The exponents between which all values of a cell lie; the upper one is taken out of them.
    fn exponents(cell: &[(Symbol, Self)]) -> Exponents;
    /// The value times `2^-exponent`.
    fn without(&self, exponent: i64) -> f64;
    /// The value of `mantissa * 2^exponent`.
    fn compose(mantissa: f64, exponent: i64) -> Self;
    /// The value with an exponent of its own.
    fn magnitude(&self) -> Magnitude;
}

impl Numeric for f64 {
    fn exponents(_: &[(Symbol, Self)]) -> Exponents {
        Exponents::default()
    }
    fn without(&self, _: i64) -> f64 {
        *self
    }
    fn compose(mantissa: f64, _: i64) -> Self {
        mantissa
    }
    fn magnitude(&self) -> Magnitude {
        Magnitude::new(*self)
    }
}

impl Numeric for Magnitude {
    fn exponents(cell: &[(Symbol, Self)]) -> Exponents {
        let [(_, first), rest @ ..] = cell else { return Exponents::default() };
        // A probability has at least 2^-1074, and a sentence fewer than 2^16 tokens.
        let one = |value: &Magnitude| Exponents { low: value.exponent() as i32, high: value.exponent() as i32 };
        rest.iter().fold(one(first), |all, (_, value)| all.with(one(value)))
    }
    fn without(&self, exponent: i64) -> f64 {
        Magnitude::without(*self, exponent)
    }
    fn compose(mantissa: f64, exponent: i64) -> Self {
        Magnitude::scaled(mantissa, exponent)
    }
    fn magnitude(&self) -> Magnitude {
        *self
    }
}

/// The rules of a layer as flat lists for the dense sums.
#[derive(Clone, Debug)]
pub(super) struct DenseLayer {
    parents: usize,
    children: usize,
    /// Numbers of symbols, padded for the matrix products.
    parent_width: usize,
    child_width: usize,
    /// (position in Q, parent, probability)
    pairs: Vec<(u32, u32, f64)>,
    /// (position in Q, position in S, probability)
    triples: Vec<(u32, u32, f64)>,
    /// The exponents of the smallest probabilities of pairs and of triples.
    least_pair: i32,
    least_triple: i32,
    /// Whether all rules have two or three children.
    is_supported: bool,
}

/// Blocks whose sums over the rules are computed side by side.
const LANES: usize = 8;

/// Below this average number of candidates the sparse recursion is faster: a fifth of all symbols, but two, or half of them, if there
/// are few symbols.
fn crowd(symbols: usize) -> f64 {
    let symbols = symbols as f64;
    (0.2 * symbols).max(f64::min(0.5 * symbols, 2.0))
}

#[derive(Default)]
pub(super) struct DenseScratch {
    /// The values of the level below: `[cell][symbol]`, and the exponents of its cells.
    values: Vec<f64>,
    exponents: Vec<Exponents>,
    longest_span: usize,
    /// The values of the cells of one start, `[cell][symbol]`, and their exponents.
    sums: Vec<f64>,
    sum_exponents: Vec<Option<Exponents>>,
    /// The splits of one block, and the upper bounds of their exponents.
    splits: Vec<Split>,
    split_exponents: Vec<i32>,
    /// The factors of the third children of one block.
    scales: Vec<f64>,
    /// `Q` of one block: `[a][b]`.
    pair_sums: Vec<f64>,
    /// `Q` and `S` of up to [`LANES`] blocks, side by side.
    pair_lanes: Vec<[f64; LANES]>,
    rule_lanes: Vec<[f64; LANES]>,
    /// `S` of one block: `[c][z]`.
    rule_sums: Vec<f64>,
    /// The blocks in the lanes: (width, exponents).
    lanes: Vec<(usize, Exponents)>,
}

impl DenseLayer {
    pub fn new(layer: &Layer) -> Self {
        let (parents, children) = (layer.parents(), layer.children());
        let (parent_width, child_width) = (parents.next_multiple_of(COLUMNS), children.next_multiple_of(COLUMNS));
        let (mut pairs, mut triples) = (Vec::new(), Vec::new());
        for rule in layer.rules() {
            let parent = usize::from(rule.parent);
            let [a, b, ref last @ ..] = *rule.children.as_slice() else { continue };
            let pair = (usize::from(a) * child_width + usize::from(b)) as u32;
            match last {
                [] => pairs.push((pair, parent as u32, rule.probability)),
                [c] => triples.push((pair, (usize::from(*c) * parent_width + parent) as u32, rule.probability)),
                _ => {}
            }
        }
        // Neighbouring rules then read neighbouring sums.
        triples.sort_by_key(|&(pair, sum, _)| (pair, sum));
        let least = |rules: &[(u32, u32, f64)]| {
            rules.iter().map(|&(_, _, probability)| Magnitude::new(probability).exponent() as i32).min().unwrap_or(0)
        };
        let (least_pair, least_triple) = (least(&pairs), least(&triples));
        let is_supported = layer.arities().iter().all(|arity| Arities::PAPER.contains(arity));
        DenseLayer {
            parents,
            children,
            parent_width,
            child_width,
            pairs,
            triples,
            least_pair,
            least_triple,
            is_supported,
        }
    }

    /// Whether the cells below are full enough for matrix products, and the rules such that there are any.
    pub fn pays<S: Semiring>(&self, below: &Level<S>) -> bool {
        let filled = below.all_filled().len();
        self.is_supported && filled > 8 && below.entries().len() as f64 > crowd(self.children) * filled as f64
    }

    /// Fills level `level` of the chart from the one below it, and returns true; or returns false and leaves the level empty,
    /// if the values of a cell are of such different sizes that small ones could be lost.
    pub fn fill<S: Numeric>(&self, chart: &mut Chart<S>, scratch: &mut DenseScratch, level: usize) -> bool {
        let (cells, above, below) = chart.layer_mut(level);
        let (cells, cells_below) = (cells.level(level), cells.level(level + 1));
        self.load(scratch, cells_below, below);
        for start in 0..cells.starts() {
            // Short sentences are done before anybody waits.
            if start % 16 == 15 {
                checkpoint();
            }
            let count = cells.count(start);
            scratch.sums.clear();
            scratch.sums.resize(count * self.parent_width, 0.0);
            scratch.sum_exponents.clear();
            scratch.sum_exponents.resize(count, None);
            if count > 0 {
                self.fill_start(scratch, cells, cells_below, below, start);
            }
            for offset in 0..count {
                if let Some(exponents) = scratch.sum_exponents[offset] {
                    if !exponents.fit() {
                        above.clear();
                        return false;
                    }
                    let values = &scratch.sums[offset * self.parent_width..][..self.parents];
                    for (symbol, &value) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
                        above.push(symbol as Symbol, S::compose(value, exponents.high.into()));
                    }
                }
                above.close_cell(cells.min_span(start) + offset);
            }
            above.close_start();
        }
        true
    }

    /// Copies the level below into dense rows with one exponent each.
    fn load<S: Numeric>(&self, scratch: &mut DenseScratch, cells: &LevelCells, below: &Level<S>) {
        let total = cells.first(cells.starts());
        scratch.values.clear();
        scratch.values.resize(total * self.child_width, 0.0);
        scratch.exponents.clear();
        scratch.exponents.resize(total, Exponents::default());
        scratch.longest_span = below.all_filled().iter().map(|filled| filled.span as usize).max().unwrap_or(0);
        for filled in below.all_filled() {
            let entries = below.cell(filled.cell);
            let exponents = S::exponents(entries);
            scratch.exponents[filled.cell as usize] = exponents;
            let row = &mut scratch.values[filled.cell as usize * self.child_width..][..self.child_width];
            for (symbol, value) in entries {
                row[usize::from(*symbol)] = value.without(exponents.high.into());
            }
        }
    }

    fn fill_start<S: Numeric>(
        &self,
        scratch: &mut DenseScratch,
        cells: &LevelCells,
        cells_below: &LevelCells,
        below: &Level<S>,
        start: usize,
    ) {
        let (Some(shortest), Some(longest)) = (below.filled(start).first(), below.filled(start).last()) else { return };
        let max_width = (longest.span as usize + scratch.longest_span).min(cells_below.starts() - start);
        scratch.lanes.clear();
        for width in shortest.span as usize + 1..=max_width {
            if let Some(exponents) = self.sum_block(scratch, cells_below, below, start, width) {
                if let Some(offset) = cells.used_offset(start, width) {
                    self.add_pairs(scratch, offset as usize, exponents);
                }
                if !self.triples.is_empty() && !below.filled(start + width).is_empty() {
                    self.open_lane(scratch, width, exponents);
                    if scratch.lanes.len() == LANES {
                        self.add_triples(scratch, cells, below, start);
                    }
                }
            }
        }
        self.add_triples(scratch, cells, below, start);
    }

    /// `Q` of a block, and the bounds of its exponents; `None` if the block has no split.
    fn sum_block<S: Numeric>(
        &self,
        scratch: &mut DenseScratch,
        cells: &LevelCells,
        below: &Level<S>,
        start: usize,
        width: usize,
    ) -> Option<Exponents> {
        scratch.splits.clear();
        scratch.split_exponents.clear();
        let mut all = Exponents::NONE;
        for one in below.filled(start) {
            let Some(rest) = width.checked_sub(one.span as usize).filter(|&rest| rest > 0) else { break };
            if let Some(two) = cells.find(start + one.span as usize, rest).filter(|&cell| !below.range(cell).is_empty())
            {
                let row = |cell: u32| cell * self.child_width as u32;
                scratch.splits.push(Split { first: row(one.cell), second: row(two), scale: 1.0 });
                let exponents = scratch.exponents[one.cell as usize].times(scratch.exponents[two as usize]);
                scratch.split_exponents.push(exponents.high);
                all = all.with(exponents);
            }
        }
        if all == Exponents::NONE {
            return None;
        }
        for (split, exponent) in scratch.splits.iter_mut().zip(&scratch.split_exponents) {
            split.scale = power_of_two((exponent - all.high).into());
        }
        scratch.pair_sums.resize(self.child_width * self.child_width, 0.0);
        sum_splits(&mut scratch.pair_sums, &scratch.values, &scratch.splits, self.child_width);
        Some(all)
    }

    /// Applies the binary rules to `Q`.
    fn add_pairs(&self, scratch: &mut DenseScratch, offset: usize, exponents: Exponents) {
        if self.pairs.is_empty() {
            return;
        }
        let DenseScratch { sums, sum_exponents, pair_sums, .. } = scratch;
        let row = &mut sums[offset * self.parent_width..][..self.parent_width];
        let scale = make_room(row, &mut sum_exponents[offset], exponents.times_probabilities(self.least_pair));
        for &(pair, parent, probability) in &self.pairs {
            row[parent as usize] += scale * probability * pair_sums[pair as usize];
        }
    }

    /// Puts `Q` of a block beside those of other blocks.
    fn open_lane(&self, scratch: &mut DenseScratch, width: usize, exponents: Exponents) {
        let lane = scratch.lanes.len();
        scratch.pair_lanes.resize(scratch.pair_sums.len(), [0.0; LANES]);
        for (lanes, &sum) in scratch.pair_lanes.iter_mut().zip(&scratch.pair_sums) {
            lanes[lane] = sum;
        }
        scratch.lanes.push((width, exponents));
    }

    /// Applies the ternary rules to all blocks in the lanes and to all third children after them.
    fn add_triples<S: Numeric>(&self, scratch: &mut DenseScratch, cells: &LevelCells, below: &Level<S>, start: usize) {
        if scratch.lanes.is_empty() {
            return;
        }
        scratch.rule_lanes.clear();
        scratch.rule_lanes.resize(self.children * self.parent_width, [0.0; LANES]);
        sum_rules(&self.triples, &scratch.pair_lanes, &mut scratch.rule_lanes);
        for lane in 0..scratch.lanes.len() {
            let (width, exponents) = scratch.lanes[lane];
            scratch.rule_sums.clear();
            scratch.rule_sums.extend(scratch.rule_lanes.iter().map(|lanes| lanes[lane]));
            self.add_thirds(scratch, cells, below, start, width, exponents.times_probabilities(self.least_triple));
        }
        scratch.lanes.clear();
    }

    /// One product of `S` with all third children that complete a used cell, in runs of adjacent spans.
    fn add_thirds<S: Numeric>(
        &self,
        scratch: &mut DenseScratch,
        cells: &LevelCells,
        below: &Level<S>,
        start: usize,
        width: usize,
        exponents: Exponents,
    ) {
        // Runs of third children in adjacent cells, whose parents are adjacent too: (first offset, first third).
        let mut run: Option<(usize, usize)> = None;
        scratch.scales.clear();
        for third in below.filled(start + width) {
            let Some(offset) = cells.used_offset(start, width + third.span as usize).map(|offset| offset as usize)
            else {
                continue;
            };
            if run.is_none_or(|(first, _)| first + scratch.scales.len() != offset) {
                self.close_run(scratch, run);
                run = Some((offset, third.cell as usize));
            }
            let row = &mut scratch.sums[offset * self.parent_width..][..self.parent_width];
            let own = exponents.times(scratch.exponents[third.cell as usize]);
            let scale = make_room(row, &mut scratch.sum_exponents[offset], own);
            scratch.scales.push(scale);
        }
        self.close_run(scratch, run);
    }

    fn close_run(&self, scratch: &mut DenseScratch, run: Option<(usize, usize)>) {
        if let Some((offset, third)) = run {
            let rows = scratch.scales.len();
            let sums = &mut scratch.sums[offset * self.parent_width..][..rows * self.parent_width];
            let thirds = &scratch.values[third * self.child_width..][..rows * self.child_width];
            add_thirds(sums, thirds, self.child_width, &scratch.scales, &scratch.rule_sums, self.parent_width);
            scratch.scales.clear();
        }
    }
}

/// Prepares a row to receive values with these exponents; returns the factor for these values.
///
/// A row keeps the largest exponent that it has met; smaller values are scaled down to it, exactly.
fn make_room(row: &mut [f64], row_exponents: &mut Option<Exponents>, exponents: Exponents) -> f64 {
    let Some(own) = *row_exponents else {
        *row_exponents = Some(exponents);
        return 1.0;
    };
    *row_exponents = Some(own.with(exponents));
    if own.high >= exponents.high {
        return power_of_two((exponents.high - own.high).into());
    }
    let scale = power_of_two((own.high - exponents.high).into());
    row.iter_mut().for_each(|value| *value *= scale);
    1.0
}
