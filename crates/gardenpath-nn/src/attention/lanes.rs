//! Rows of one head in lanes of eight: how they lie in memory, and the sums over them.
//!
//! Queries are handled eight at a time, one in each lane. Then scores, softmax and sums over positions are vector code without a sum
//! across lanes, however short the sentence and however narrow the head.

use crate::dispatch::multiply_add;
use crate::scalar::Scalar;

/// Channels and positions are handled in groups of eight.
pub const LANES: usize = 8;

/// Eight neighbouring numbers.
pub type Group<T> = [T; LANES];

/// One head of some rows, in groups of channels; the last group is filled up with zeros.
pub struct Head<T> {
    groups: usize,
    rows: Vec<Group<T>>,
}

impl<T: Scalar> Head<T> {
    /// Zeros for so many rows, with heads of so many channels.
    pub fn new(rows: usize, head: usize) -> Self {
        let groups = head.div_ceil(LANES);
        Head { groups, rows: vec![[T::ZERO; LANES]; rows * groups] }
    }

    /// Makes all numbers zero.
    pub fn clear(&mut self) {
        self.rows.fill([T::ZERO; LANES]);
    }

    /// Adds up to eight rows of others, `first` and those after it, to every row, multiplied by the factors of that row for each of them.
    /// From row `full` on, those before `row - full` are left out.
    #[inline(always)]
    pub fn add_rows<const FUSED: bool>(&mut self, factors: &[Group<T>], rows: &Head<T>, first: usize, full: usize) {
        let count = LANES.min(rows.rows.len() / rows.groups - first);
        for group in 0..self.groups {
            let mut others = [[T::ZERO; LANES]; LANES];
            for (lane, other) in others[..count].iter_mut().enumerate() {
                *other = rows.rows[(first + lane) * self.groups + group];
            }
            let results = self.rows[group..].iter_mut().step_by(self.groups);
            for (row, (result, factors)) in results.zip(factors).enumerate() {
                let least = row.saturating_sub(full).min(count);
                let mut sum = *result;
                // All lanes, as a rule: then their number is known to the compiler.
                if (least, count) == (0, LANES) {
                    for (&factor, other) in factors.iter().zip(&others) {
                        sum = add_scaled::<T, FUSED>(sum, factor, other);
                    }
                } else {
                    for (&factor, other) in factors[least..count].iter().zip(&others[least..count]) {
                        sum = add_scaled::<T, FUSED>(sum, factor, other);
                    }
                }
                *result = sum;
            }
        }
    }

    /// Takes the channels `first..first + head` of rows of `width` channels.
    #[inline(always)]
    pub fn take(&mut self, rows: &[T], width: usize, first: usize, head: usize) {
        for (row, target) in rows.chunks_exact(width).zip(self.rows.chunks_exact_mut(self.groups)) {
            for (group, channels) in target.iter_mut().zip(row[first..first + head].chunks(LANES)) {
                match channels.first_chunk() {
                    Some(whole) => *group = *whole,
                    None => group[..channels.len()].copy_from_slice(channels),
                }
            }
        }
    }

    /// Puts the channels back.
    #[inline(always)]
    pub fn put(&self, rows: &mut [T], width: usize, first: usize, head: usize) {
        for (row, source) in rows.chunks_exact_mut(width).zip(self.rows.chunks_exact(self.groups)) {
            for (group, channels) in source.iter().zip(row[first..first + head].chunks_mut(LANES)) {
                match channels.first_chunk_mut() {
                    Some(whole) => *whole = *group,
                    None => channels.copy_from_slice(&group[..channels.len()]),
                }
            }
        }
    }
}

/// One head of eight rows, channel by channel, with a row in each lane.
pub struct Eight<T> {
    channels: Vec<Group<T>>,
}

/// The rows of a matrix of `width` channels, of which a head begins with channel `first`.
#[derive(Clone, Copy)]
pub struct Channels<'a, T> {
    /// All rows.
    pub rows: &'a [T],
    /// The number of channels.
    pub width: usize,
    /// The first channel of the head.
    pub first: usize,
}

impl<T: Scalar> Eight<T> {
    /// Zeros for heads of so many channels.
    pub fn new(head: usize) -> Self {
        Eight { channels: vec![[T::ZERO; LANES]; head] }
    }

    /// Takes up to eight rows, from row `i` on. Lanes without a row keep what they held.
    #[inline(always)]
    pub fn take(&mut self, Channels { rows, width, first }: Channels<'_, T>, i: usize) {
        let rows = &rows[i * width..];
        let (whole, rest) = self.channels.as_chunks_mut::<LANES>();
        let others = first + whole.len() * LANES;
        if rows.len() >= LANES * width {
            for (number, channels) in whole.iter_mut().enumerate() {
                let square: [Group<T>; LANES] = std::array::from_fn(|lane| {
                    *rows[lane * width + first + number * LANES..].first_chunk().expect("all channels of the head")
                });
                *channels = transposed(square);
            }
        } else {
            for (lane, row) in rows.chunks_exact(width).enumerate() {
                for (channel, &value) in whole.as_flattened_mut().iter_mut().zip(&row[first..]) {
                    channel[lane] = value;
                }
            }
        }
        for (lane, row) in rows.chunks_exact(width).take(LANES).enumerate() {
            for (channel, &value) in rest.iter_mut().zip(&row[others..]) {
                channel[lane] = value;
            }
        }
    }

    /// Puts them back.
    #[inline(always)]
    pub fn put(&self, rows: &mut [T], width: usize, first: usize, i: usize) {
        let (whole, rest) = self.channels.as_chunks::<LANES>();
        let others = first + whole.len() * LANES;
        for (number, &channels) in whole.iter().enumerate() {
            let square = transposed(channels);
            for (row, values) in rows[i * width..].chunks_exact_mut(width).zip(square) {
                row[first + number * LANES..][..LANES].copy_from_slice(&values);
            }
        }
        for (lane, row) in rows[i * width..].chunks_exact_mut(width).take(LANES).enumerate() {
            for (channel, value) in rest.iter().zip(&mut row[others..]) {
                *value = channel[lane];
            }
        }
    }

    /// The inner products of the eight with each row of a matrix.
    #[inline(always)]
    pub fn dot<const FUSED: bool>(&self, Channels { rows, width, first }: Channels<'_, T>, products: &mut [Group<T>]) {
        products.fill([T::ZERO; LANES]);
        let (whole, rest) = self.channels.as_chunks::<LANES>();
        for (number, channels) in whole.iter().enumerate() {
            let rows = rows[first + number * LANES..].chunks(width);
            for (product, row) in products.iter_mut().zip(rows) {
                let row: &Group<T> = row.first_chunk().expect("all channels of the head");
                *product = add_all::<T, FUSED>(*product, row, channels);
            }
        }
        if !rest.is_empty() {
            let rows = rows[first + whole.len() * LANES..].chunks(width);
            for (product, row) in products.iter_mut().zip(rows) {
                for (&factor, channel) in row.iter().zip(rest) {
                    *product = add_scaled::<T, FUSED>(*product, factor, channel);
                }
            }
        }
    }

    /// The sums of the rows of a matrix, each multiplied by its factor for each of the eight. From row `full` on, lane `i` takes part up to
    /// row `full + i`.
    #[inline(always)]
    pub fn sum<const FUSED: bool>(
        &mut self,
        Channels { rows, width, first }: Channels<'_, T>,
        factors: &[Group<T>],
        full: usize,
    ) {
        let full = full.min(factors.len());
        let (whole, rest) = self.channels.as_chunks_mut::<LANES>();
        let others = whole.len() * LANES;
        for (number, result) in whole.iter_mut().enumerate() {
            let mut sums = [[T::ZERO; LANES]; LANES];
            let mut rows = rows[first + number * LANES..].chunks(width).zip(factors);
            for (row, factors) in rows.by_ref().take(full) {
                let row: &Group<T> = row.first_chunk().expect("all channels of the head");
                for (sum, &value) in sums.iter_mut().zip(row) {
                    *sum = add_scaled::<T, FUSED>(*sum, value, factors);
                }
            }
            for (lane, (row, factors)) in rows.enumerate() {
                for (sum, &value) in sums.iter_mut().zip(row) {
                    *sum = from_lane(lane, add_scaled::<T, FUSED>(*sum, value, factors), *sum);
                }
            }
            *result = sums;
        }
        for (number, sum) in rest.iter_mut().enumerate() {
            *sum = [T::ZERO; LANES];
            let mut rows = rows[first + others + number..].chunks(width).zip(factors);
            for (row, factors) in rows.by_ref().take(full) {
                *sum = add_scaled::<T, FUSED>(*sum, row[0], factors);
            }
            for (lane, (row, factors)) in rows.enumerate() {
                *sum = from_lane(lane, add_scaled::<T, FUSED>(*sum, row[0], factors), *sum);
            }
        }
    }
}

/// The rows of a square as columns.
#[inline(always)]
fn transposed<T: Scalar>(square: [Group<T>; LANES]) -> [Group<T>; LANES] {
    std::array::from_fn(|i| std::array::from_fn(|j| square[j][i]))
}

/// One group from lane `first` on, another before it.
#[inline(always)]
pub fn from_lane<T: Scalar>(first: usize, from: Group<T>, before: Group<T>) -> Group<T> {
    std::array::from_fn(|lane| if lane >= first { from[lane] } else { before[lane] })
}

/// `sum + Σ factor * group`.
#[inline(always)]
fn add_all<T: Scalar, const FUSED: bool>(
    mut sum: Group<T>,
    factors: &Group<T>,
    groups: &[Group<T>; LANES],
) -> Group<T> {
    for (&factor, group) in factors.iter().zip(groups) {
        sum = add_scaled::<T, FUSED>(sum, factor, group);
    }
    sum
}

/// `sum + factor * group`, by value: so it becomes one vector operation.
#[inline(always)]
fn add_scaled<T: Scalar, const FUSED: bool>(mut sum: Group<T>, factor: T, group: &Group<T>) -> Group<T> {
    for (sum, &value) in sum.iter_mut().zip(group) {
        *sum = multiply_add::<T, FUSED>(factor, value, *sum);
    }
    sum
}

/// The sum of a number for each position, in each lane: those of every eighth position first, then those eight.
#[derive(Clone, Copy)]
pub struct Total<T>([Group<T>; LANES]);

impl<T: Scalar> Total<T> {
    /// The sum of nothing.
    #[inline(always)]
    pub fn new() -> Self {
        Total([[T::ZERO; LANES]; LANES])
    }

    /// Adds the numbers of eight positions, or of the last ones.
    #[inline(always)]
    pub fn add(&mut self, values: impl Iterator<Item = Group<T>>) {
        for (sum, value) in self.0.iter_mut().zip(values) {
            *sum = plus(*sum, value);
        }
    }

    /// The sum.
    #[inline(always)]
    pub fn sum(self) -> Group<T> {
        let [first, others @ ..] = self.0;
        others.into_iter().fold(first, plus)
    }
}

#[inline(always)]
fn plus<T: Scalar>(a: Group<T>, b: Group<T>) -> Group<T> {
    std::array::from_fn(|lane| a[lane] + b[lane])
}
