//! Rows of one head in lanes of eight: how they lie in memory, and the sums over them.

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

    /// Row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[Group<T>] {
        &self.rows[i * self.groups..][..self.groups]
    }

    /// Row `i`, to be changed.
    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [Group<T>] {
        &mut self.rows[i * self.groups..][..self.groups]
    }

    /// One group of channels of all rows.
    #[inline(always)]
    pub fn column(&self, group: usize) -> impl Iterator<Item = &Group<T>> {
        self.rows[group..].iter().step_by(self.groups)
    }

    /// Adds a row to all rows, multiplied by the factor of each.
    #[inline(always)]
    pub fn add_outer<const FUSED: bool>(&mut self, factors: &[T], row: &[Group<T>]) {
        for (sums, &factor) in self.rows.chunks_exact_mut(self.groups).zip(factors) {
            for (sum, group) in sums.iter_mut().zip(row) {
                *sum = add_scaled::<T, FUSED>(*sum, factor, group);
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

/// One head of all positions, channel by channel, in groups of positions.
pub struct Transposed<T> {
    /// Groups of positions.
    pub groups: usize,
    channels: Vec<Group<T>>,
}

impl<T: Scalar> Transposed<T> {
    /// Zeros for so many positions, with heads of so many channels.
    pub fn new(positions: usize, head: usize) -> Self {
        let groups = positions.div_ceil(LANES);
        Transposed { groups, channels: vec![[T::ZERO; LANES]; groups * head] }
    }

    /// Takes the channels `first..first + head` of rows of `width` channels.
    #[inline(always)]
    pub fn take(&mut self, rows: &[T], width: usize, first: usize, head: usize) {
        for (position, row) in rows.chunks_exact(width).enumerate() {
            let (group, lane) = (position / LANES, position % LANES);
            for (channel, &value) in row[first..first + head].iter().enumerate() {
                self.channels[channel * self.groups + group][lane] = value;
            }
        }
    }

    /// The inner products of one row with all positions.
    #[inline(always)]
    pub fn dot<const FUSED: bool>(&self, row: &[Group<T>], products: &mut [Group<T>]) {
        for (group, product) in products.iter_mut().enumerate() {
            let channels = self.channels[group..].iter().step_by(self.groups);
            *product = sum::<T, FUSED>(row.as_flattened(), channels);
        }
    }
}

/// `Σ factor * group`.
#[inline(always)]
pub fn sum<'a, T: Scalar, const FUSED: bool>(factors: &[T], groups: impl Iterator<Item = &'a Group<T>>) -> Group<T> {
    let mut sum = [T::ZERO; LANES];
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

/// A sum over lanes of what `of` makes of each group.
#[inline(always)]
pub fn total<T: Scalar>(groups: usize, of: impl Fn(usize) -> Group<T>) -> T {
    let mut sums = [T::ZERO; LANES];
    for i in 0..groups {
        let group = of(i);
        sums.iter_mut().zip(group).for_each(|(sum, value)| *sum += value);
    }
    sums.into_iter().sum()
}
