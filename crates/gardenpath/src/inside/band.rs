//! The values of one level of a chart as full matrices: a row of symbols for every cell.
//!
//! Cells are stored twice: by start, as first children are read, and by end, as the children after them are. Values are plain numbers.
//! Where those would underflow, every position has a power of two, and a cell is multiplied by that of its end and divided by that of
//! its start: in a product over neighbouring cells the powers in between cancel, so sums over splits need no scaling at all.

use super::gemm::COLUMNS;
use crate::chart::{Level, LevelCells};
use crate::grammar::Symbol;
use crate::magnitude::{Magnitude, power_of_two};
use crate::semiring::Semiring;
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

#[derive(Clone, Debug, Default)]
pub(crate) struct Band {
    /// The number of values per cell: that of the symbols, padded for the matrix products.
    width: usize,
    symbols: usize,
    by_start: Vec<f64>,
    by_end: Vec<f64>,
    /// For every end: its first cell among those by end, the first start, and the start after the last.
    ends: Vec<(u32, Range<u32>)>,
    /// The power of two of every position.
    powers: Vec<i64>,
}

impl Band {
    /// Empties the band for a level with these cells; values are multiplied by these powers of two.
    pub fn reset(&mut self, cells: &LevelCells, symbols: usize, powers: &[i64]) {
        (self.symbols, self.width) = (symbols, symbols.next_multiple_of(COLUMNS));
        self.by_start.clear();
        self.by_start.resize(cells.first(cells.starts()) * self.width, 0.0);
        self.powers.clear();
        self.powers.extend_from_slice(powers);
    }

    /// Takes the values of a level. Returns false if some differ so much that small ones could be lost in products.
    pub fn load<S: Numeric>(&mut self, cells: &LevelCells, level: &Level<S>, symbols: usize) -> bool {
        self.reset(cells, symbols, &[]);
        self.powers.resize(cells.starts() + 1, 0);
        if S::IS_SCALED {
            let values = level.all_filled().iter().flat_map(|cell| {
                level.cell(cell.cell).iter().map(|(_, value)| (value.exponent(), i64::from(cell.span)))
            });
            follow(&mut self.powers, values);
        }
        for start in 0..cells.starts() {
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
        }
        self.sort_by_end(cells);
        true
    }

    /// Gives the values to an empty level.
    pub fn store<S: Numeric>(&self, cells: &LevelCells, level: &mut Level<S>) {
        for start in 0..cells.starts() {
            for offset in 0..cells.count(start) {
                let span = cells.min_span(start) + offset;
                let row = &self.by_start[(cells.first(start) + offset) * self.width..][..self.symbols];
                let power = self.powers[start] - self.powers[start + span];
                for (symbol, &value) in row.iter().enumerate().filter(|(_, value)| **value > 0.0) {
                    level.push(symbol as Symbol, S::compose(value, power));
                }
                level.close_cell(span);
            }
            level.close_start();
        }
    }

    /// Chooses new powers of two for values that have been summed up. Returns false, and leaves all as it is, if some of them differ so
    /// much that small ones could be lost in products.
    pub fn rescale(&mut self, cells: &LevelCells) -> bool {
        let width = self.width;
        let rows = move |start: usize| {
            (0..cells.count(start)).map(move |k| (cells.min_span(start) + k, (cells.first(start) + k) * width))
        };
        let values = (0..cells.starts()).flat_map(|start| {
            rows(start).flat_map(|(span, row)| {
                let positive = self.by_start[row..row + width].iter().filter(|value| **value > 0.0);
                positive.map(move |value| (exponent_of(*value), span as i64))
            })
        });
        let mut change = vec![0; self.powers.len()];
        follow(&mut change, values);
        for start in 0..cells.starts() {
            for (span, row) in rows(start) {
                let power = change[start + span] - change[start];
                let outside = |value: &f64| *value > 0.0 && (exponent_of(*value) + power).abs() > ROOM;
                if self.by_start[row..row + width].iter().any(outside) {
                    return false;
                }
            }
        }
        for start in 0..cells.starts() {
            for (span, row) in rows(start) {
                let factor = power_of_two(change[start + span] - change[start]);
                self.by_start[row..row + width].iter_mut().for_each(|value| *value *= factor);
            }
        }
        self.powers.iter_mut().zip(change).for_each(|(power, change)| *power += change);
        true
    }

    /// Whether no value can be lost in products.
    pub fn has_room(&self) -> bool {
        self.by_start.iter().all(|&value| has_room(value))
    }

    /// Empties the cells of a start that no tree uses.
    pub fn clear_unused(&mut self, cells: &LevelCells, start: usize) {
        for offset in 0..cells.count(start) {
            if cells.used_offset(start, cells.min_span(start) + offset).is_none() {
                let cell = cells.first(start) + offset;
                self.cells_mut(cell..cell + 1).fill(0.0);
            }
        }
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
        self.by_end.clear();
        self.by_end.resize(total as usize * self.width, 0.0);
        for start in 0..cells.starts() {
            for offset in 0..cells.count(start) {
                let from = (cells.first(start) + offset) * self.width;
                let to = self.place(start, start + cells.min_span(start) + offset);
                self.by_end[to..to + self.width].copy_from_slice(&self.by_start[from..from + self.width]);
            }
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
    pub fn cells(&self, cells: Range<usize>) -> &[f64] {
        &self.by_start[cells.start * self.width..cells.end * self.width]
    }

    pub fn cells_mut(&mut self, cells: Range<usize>) -> &mut [f64] {
        &mut self.by_start[cells.start * self.width..cells.end * self.width]
    }

    /// The starts of the cells with this end: all that are filled, and others with values of zero.
    #[inline]
    pub fn starts(&self, end: usize) -> Range<usize> {
        let starts = &self.ends[end].1;
        starts.start as usize..starts.end as usize
    }

    /// Where the values of a cell stand in [`Band::by_end`]; those of the next start with the same end follow.
    #[inline]
    pub fn place(&self, start: usize, end: usize) -> usize {
        let (first, starts) = &self.ends[end];
        (*first as usize + start - starts.start as usize) * self.width
    }

    /// All values, by end and then by start.
    pub fn by_end(&self) -> &[f64] {
        &self.by_end
    }
}

/// Subtracts from the powers of two of all positions the slope of the exponents over the spans, so that the values are near 1.
fn follow(powers: &mut [i64], values: impl Iterator<Item = (i64, i64)>) {
    let (exponents, spans) = values.fold((0, 0), |sums, (exponent, span)| (sums.0 + exponent, sums.1 + span));
    if spans > 0 {
        let slope = exponents as f64 / spans as f64;
        (0..).zip(powers).for_each(|(position, power)| *power -= (slope * f64::from(position)).round() as i64);
    }
}
