//! The values of one level of a chart as full matrices: a row of symbols for every cell.
//!
//! Cells are stored twice: by start, as first children are read, and by end, as the children after them are. Values are plain numbers.
//! Where those would underflow, every position has a power of two, and a cell is multiplied by that of its end and divided by that of
//! its start: in a product over neighbouring cells the powers in between cancel, so sums over splits need no scaling at all.

use super::gemm::padded;
use crate::chart::{Level, LevelCells};
use crate::grammar::Symbol;
use crate::magnitude::{Magnitude, power_of_two};
use crate::semiring::Semiring;
use crate::span::Span;
use std::ops::Range;

/// Probabilities that can be multiplied by powers of two beyond the range of an `f64`.
pub(crate) trait Numeric: Semiring {
    /// Whether values keep an exponent of their own.
    const IS_SCALED: bool;
    /// The power of two of a value that is not zero.
    fn exponent(&self) -> i64;
    /// The value times `2^exponent`.
    fn times_power(&self, exponent: i64) -> f64;
    /// The value of `mantissa * 2^exponent`.
    fn compose(mantissa: f64, exponent: i64) -> Self;
    /// The value with an exponent of its own.
    fn magnitude(&self) -> Magnitude;
}

impl Numeric for f64 {
    const IS_SCALED: bool = false;
    fn exponent(&self) -> i64 {
        exponent_of(*self)
    }
    fn times_power(&self, _: i64) -> f64 {
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
    const IS_SCALED: bool = true;
    fn exponent(&self) -> i64 {
        Magnitude::exponent(*self)
    }
    fn times_power(&self, exponent: i64) -> f64 {
        self.without(-exponent)
    }
    fn compose(mantissa: f64, exponent: i64) -> Self {
        Magnitude::scaled(mantissa, exponent)
    }
    fn magnitude(&self) -> Magnitude {
        *self
    }
}

/// Values between `2^-300` and `2^300`: the product of three of them and a rule of at least `2^-`[`RULE_ROOM`] is a normal number,
/// so no candidate is lost.
const ROOM: i64 = 300;
pub(super) const RULE_ROOM: i64 = 100;

/// Whether a value, if it is not zero, can be multiplied by two others and a rule.
#[inline]
pub(crate) fn has_room(value: f64) -> bool {
    value == 0.0 || exponent_of(value).abs() <= ROOM
}

/// The power of two of a positive number.
#[inline]
fn exponent_of(value: f64) -> i64 {
    (value.to_bits() >> 52) as i64 - 1023
}

/// The smallest and the largest power of two among the values of a cell.
#[derive(Clone, Copy, Debug)]
struct Exponents {
    low: i16,
    high: i16,
}

impl Exponents {
    const NONE: Exponents = Exponents { low: i16::MAX, high: i16::MIN };

    fn of(row: &[f64]) -> Self {
        let mut all = Exponents::NONE;
        for exponent in row.iter().filter(|value| **value > 0.0).map(|value| exponent_of(*value) as i16) {
            all = Exponents { low: all.low.min(exponent), high: all.high.max(exponent) };
        }
        all
    }

    fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// Whether the values have room once they are multiplied by a power of two.
    fn have_room(self, power: i64) -> bool {
        self.is_empty() || (i64::from(self.low) + power >= -ROOM && i64::from(self.high) + power <= ROOM)
    }
}

/// What is not filled is neither cleared nor read: [`Band::splits`] and [`Band::is_filled`] tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Band {
    /// The number of values per cell: that of the symbols, padded for the matrix products.
    width: usize,
    symbols: usize,
    by_start: Vec<f64>,
    by_end: Vec<f64>,
    exponents: Vec<Exponents>,
    /// For every end: its first cell among those by end, the first start, and the start after the last.
    ends: Vec<(u32, Range<u32>)>,
    /// `[start][end]` and `[end][start]`: the cells that are filled, as sets of bits.
    filled_ends: Vec<u64>,
    filled_starts: Vec<u64>,
    /// The size of a set, in words.
    words: usize,
    /// The power of two of every position.
    powers: Vec<i64>,
}

impl Band {
    /// Makes room for a level with these cells, all of them empty; values are multiplied by these powers of two.
    pub fn reset(&mut self, cells: &LevelCells, symbols: usize, powers: &[i64]) {
        (self.symbols, self.width) = (symbols, padded(symbols));
        make_room(&mut self.by_start, cells.total() * self.width);
        self.exponents.clear();
        self.exponents.resize(cells.total(), Exponents::NONE);
        self.powers.clear();
        self.powers.extend_from_slice(powers);
    }

    /// The values of the cells of a start, all zero, to be filled and [closed](Self::close).
    pub fn open(&mut self, cells: &LevelCells, start: usize) -> &mut [f64] {
        let first = cells.first(start) * self.width;
        let row = &mut self.by_start[first..first + cells.count(start) * self.width];
        row.fill(0.0);
        row
    }

    /// Takes note of what the cells of a start were filled with. Those that no tree uses are emptied.
    pub fn close(&mut self, cells: &LevelCells, start: usize) {
        for offset in 0..cells.count(start) {
            if cells.used_offset(start, cells.min_span(start) + offset).is_some() {
                let cell = cells.first(start) + offset;
                self.exponents[cell] = Exponents::of(self.cells(cell..cell + 1));
            }
        }
    }

    /// Takes the values of a level. Returns false if some differ so much that small ones could be lost in products.
    pub fn load<S: Numeric>(&mut self, cells: &LevelCells, level: &Level<S>, symbols: usize) -> bool {
        self.reset(cells, symbols, &[]);
        self.powers.resize(cells.starts() + 1, 0);
        if S::IS_SCALED {
            let filled = level.all_filled().iter().map(|filled| (filled.cell, i64::from(filled.span)));
            let values = filled.flat_map(|(cell, span)| level.cell(cell).iter().map(move |(_, value)| (value, span)));
            follow(&mut self.powers, values.map(|(value, span)| (value.exponent(), span)));
        }
        for start in 0..cells.starts() {
            if level.filled(start).is_empty() {
                continue;
            }
            self.open(cells, start);
            for filled in level.filled(start) {
                let power = self.powers[start + filled.span as usize] - self.powers[start];
                let row = &mut self.by_start[filled.cell as usize * self.width..][..self.width];
                for (symbol, value) in level.cell(filled.cell) {
                    if S::IS_SCALED && (value.exponent() + power).abs() > ROOM {
                        return false;
                    }
                    row[usize::from(*symbol)] = value.times_power(power);
                }
            }
            self.close(cells, start);
        }
        self.sort_by_end(cells);
        true
    }

    /// Gives the values to an empty level.
    pub fn store<S: Numeric>(&self, cells: &LevelCells, level: &mut Level<S>) {
        for start in 0..cells.starts() {
            for offset in 0..cells.count(start) {
                let (cell, span) = (cells.first(start) + offset, cells.min_span(start) + offset);
                if !self.exponents[cell].is_empty() {
                    let power = self.powers[start] - self.powers[start + span];
                    let row = &self.cells(cell..cell + 1)[..self.symbols];
                    for (symbol, &value) in row.iter().enumerate().filter(|(_, value)| **value > 0.0) {
                        level.push(symbol as Symbol, S::compose(value, power));
                    }
                }
                level.close_cell(span);
            }
            level.close_start();
        }
    }

    /// Whether no value can be lost in products.
    pub fn has_room(&self) -> bool {
        self.exponents.iter().all(|exponents| exponents.have_room(0))
    }

    /// Chooses new powers of two for values that have been summed up. Returns false, and leaves all as it is, if some of them differ so
    /// much that small ones could be lost in products.
    pub fn rescale(&mut self, cells: &LevelCells) -> bool {
        let Band { width, by_start, exponents, powers, .. } = self;
        let middles = filled(cells, exponents).map(|(cell, span)| {
            let Exponents { low, high } = exponents[cell];
            ((i64::from(low) + i64::from(high)) / 2, span.len as i64)
        });
        let mut change = vec![0; powers.len()];
        follow(&mut change, middles);
        let power = |span: Span| change[span.end()] - change[span.start];
        if !filled(cells, exponents).all(|(cell, span)| exponents[cell].have_room(power(span))) {
            return false;
        }
        for (cell, span) in filled(cells, exponents) {
            let factor = power_of_two(power(span));
            by_start[cell * *width..][..*width].iter_mut().for_each(|value| *value *= factor);
        }
        powers.iter_mut().zip(&change).for_each(|(power, change)| *power += change);
        true
    }

    /// Makes the second copy, once all cells are filled.
    pub fn sort_by_end(&mut self, cells: &LevelCells) {
        self.ends.clear();
        self.ends.resize(cells.starts() + 1, (0, 0..0));
        for start in 0..cells.starts() {
            for offset in 0..cells.count(start) {
                let starts = &mut self.ends[start + cells.min_span(start) + offset].1;
                if starts.start == starts.end {
                    starts.start = start as u32;
                }
                starts.end = start as u32 + 1;
            }
        }
        let mut total = 0;
        for (first, starts) in &mut self.ends {
            *first = total;
            total += starts.len() as u32;
        }
        make_room(&mut self.by_end, total as usize * self.width);
        let positions = cells.starts() + 1;
        self.words = positions.div_ceil(64);
        for filled in [&mut self.filled_ends, &mut self.filled_starts] {
            filled.clear();
            filled.resize(positions * self.words, 0);
        }
        let Band { width, words, by_start, by_end, ends, filled_ends, filled_starts, .. } = self;
        for (cell, span) in filled(cells, &self.exponents) {
            let (start, end) = (span.start, span.end());
            let (from, to) = (cell * *width, place(ends, *width, start, end));
            by_end[to..to + *width].copy_from_slice(&by_start[from..from + *width]);
            filled_ends[start * *words + end / 64] |= 1 << (end % 64);
            filled_starts[end * *words + start / 64] |= 1 << (start % 64);
        }
    }

    /// The number of values per cell.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The powers of two of all positions.
    pub fn powers(&self) -> &[i64] {
        &self.powers
    }

    /// The values of some cells, by start.
    #[inline]
    pub fn cells(&self, cells: Range<usize>) -> &[f64] {
        &self.by_start[cells.start * self.width..cells.end * self.width]
    }

    /// All values, by end and then by start.
    #[inline]
    pub fn by_end(&self) -> &[f64] {
        &self.by_end
    }

    /// Where the values of a cell stand in [`Band::by_end`]; those of the next start with the same end follow.
    #[inline]
    pub fn place(&self, start: usize, end: usize) -> usize {
        place(&self.ends, self.width, start, end)
    }

    /// The starts of the filled cells with this end.
    pub fn filled_starts(&self, end: usize) -> impl Iterator<Item = usize> + '_ {
        (0..end).filter(move |&start| self.is_filled(start, end))
    }

    /// Whether a cell is filled.
    #[inline]
    pub fn is_filled(&self, start: usize, end: usize) -> bool {
        self.filled_starts[end * self.words + start / 64] >> (start % 64) & 1 == 1
    }

    /// Whether some filled cell has this start.
    #[inline]
    pub fn has_start(&self, start: usize) -> bool {
        self.filled_ends[start * self.words..][..self.words].iter().any(|&word| word != 0)
    }

    /// The places at which a part of the sentence can be split into two filled cells, in increasing order.
    #[inline]
    pub fn splits(&self, start: usize, end: usize, splits: &mut Vec<u32>) {
        splits.clear();
        let firsts = &self.filled_ends[start * self.words..][..self.words];
        let seconds = &self.filled_starts[end * self.words..][..self.words];
        for ((word, first), second) in (0..).zip(firsts).zip(seconds) {
            let mut bits = first & second;
            while bits != 0 {
                splits.push(64 * word + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }
}

/// Makes a list at least this long; what it held is lost. New pages are not touched before they are used.
fn make_room(values: &mut Vec<f64>, needed: usize) {
    if values.len() < needed {
        *values = vec![0.0; needed];
    }
}

#[inline]
fn place(ends: &[(u32, Range<u32>)], width: usize, start: usize, end: usize) -> usize {
    let (first, starts) = &ends[end];
    (*first as usize + start - starts.start as usize) * width
}

/// The filled cells.
fn filled<'c>(cells: &'c LevelCells, exponents: &'c [Exponents]) -> impl Iterator<Item = (usize, Span)> + 'c {
    let of_start = move |start: usize| {
        let cell = move |offset: usize| (cells.first(start) + offset, Span::new(start, cells.min_span(start) + offset));
        (0..cells.count(start)).map(cell)
    };
    (0..cells.starts()).flat_map(of_start).filter(|&(cell, _)| !exponents[cell].is_empty())
}

/// Subtracts from the powers of two of all positions the slope of the exponents over the spans, so that the values are near 1.
fn follow(powers: &mut [i64], values: impl Iterator<Item = (i64, i64)>) {
    let (exponents, spans) = values.fold((0, 0), |sums, (exponent, span)| (sums.0 + exponent, sums.1 + span));
    if spans > 0 {
        let slope = exponents as f64 / spans as f64;
        (0..).zip(powers).for_each(|(position, power)| *power -= (slope * f64::from(position)).round() as i64);
    }
}
