//! Rows of one head in groups of eight numbers: how they lie in memory, and the sums over them.
//!
//! Queries are handled eight at a time, one in each lane. Then scores, softmax and sums over positions are vector code without a sum
//! across lanes, however short the sentence and however narrow the head.

use crate::dispatch::multiply_add;
use crate::scalar::Scalar;

/// Channels and queries are handled in groups of eight.
pub const LANES: usize = 8;

/// Eight neighbouring numbers.
pub type Group<T> = [T; LANES];

/// Positions are handled in blocks of four.
pub const POSITIONS: usize = 4;

/// The groups of four neighbouring positions.
pub type Block<T> = [Group<T>; POSITIONS];

/// Eight groups.
pub type Square<T> = [Group<T>; LANES];

/// One head of some rows, copied out of the matrix of all heads: there, rows of a head lie so far apart that they compete for the same
/// lines of a cache.
///
/// Eight channels of all rows follow the eight before them. The last channels and the last rows are filled up with zeros to multiples of
/// eight: what they add to a sum does not change it.
pub struct Head<T> {
    rows: usize,
    groups: Vec<Group<T>>,
}

impl<T: Scalar> Head<T> {
    /// Zeros for so many rows, with heads of so many channels.
    pub fn new(rows: usize, head: usize) -> Self {
        let rows = rows.max(1).next_multiple_of(LANES);
        Head { rows, groups: vec![[T::ZERO; LANES]; rows * head.div_ceil(LANES)] }
    }

    /// Makes all numbers zero.
    pub fn clear(&mut self) {
        self.groups.fill([T::ZERO; LANES]);
    }

    /// All rows of eight channels, and of the next eight, and so on.
    #[inline(always)]
    pub fn parts(&self) -> impl Iterator<Item = &[Group<T>]> {
        self.groups.chunks_exact(self.rows)
    }

    /// The same, to be changed.
    #[inline(always)]
    pub fn parts_mut(&mut self) -> impl Iterator<Item = &mut [Group<T>]> {
        self.groups.chunks_exact_mut(self.rows)
    }

    /// Takes the channels `first..first + head` of rows of `width` channels.
    #[inline(always)]
    pub fn take(&mut self, rows: &[T], width: usize, first: usize, head: usize) {
        for (part, start) in self.parts_mut().zip((first..).step_by(LANES)) {
            let count = LANES.min(first + head - start);
            for (group, row) in part.iter_mut().zip(rows.chunks_exact(width)) {
                match row[start..start + count].first_chunk() {
                    Some(whole) => *group = *whole,
                    None => group[..count].copy_from_slice(&row[start..start + count]),
                }
            }
        }
    }

    /// Puts the channels back.
    #[inline(always)]
    pub fn put(&self, rows: &mut [T], width: usize, first: usize, head: usize) {
        for (part, start) in self.parts().zip((first..).step_by(LANES)) {
            let count = LANES.min(first + head - start);
            for (group, row) in part.iter().zip(rows.chunks_exact_mut(width)) {
                match row[start..start + count].first_chunk_mut() {
                    Some(whole) => *whole = *group,
                    None => row[start..start + count].copy_from_slice(&group[..count]),
                }
            }
        }
    }
}

/// The rows of a part from `first` on.
#[inline(always)]
pub fn square<T>(part: &[Group<T>], first: usize) -> &Square<T> {
    part[first..].first_chunk().expect("rows are filled up to a multiple of eight")
}

/// The same, to be changed.
#[inline(always)]
pub fn square_mut<T>(part: &mut [Group<T>], first: usize) -> &mut Square<T> {
    part[first..].first_chunk_mut().expect("rows are filled up to a multiple of eight")
}

/// The rows of a square as columns.
#[inline(always)]
pub fn transposed<T: Scalar>(square: &Square<T>) -> Square<T> {
    std::array::from_fn(|i| std::array::from_fn(|j| square[j][i]))
}

/// Adds the rows of a square to each result, multiplied by its factors.
///
/// One sum waits for each of its terms, so the sums of a whole block go on side by side.
#[inline(always)]
pub fn add_rows<T: Scalar, const FUSED: bool>(results: &mut [Block<T>], factors: &[Block<T>], rows: &Square<T>) {
    for (results, factors) in results.iter_mut().zip(factors) {
        let mut sums = *results;
        for (lane, row) in rows.iter().enumerate() {
            for (sum, factors) in sums.iter_mut().zip(factors) {
                *sum = add_scaled::<T, FUSED>(*sum, factors[lane], row);
            }
        }
        *results = sums;
    }
}

/// The sums of rows, each multiplied by its factor for each of the sums.
#[inline(always)]
pub fn sums<T: Scalar, const FUSED: bool>(factors: &[Group<T>], rows: &[Group<T>]) -> Square<T> {
    let mut sums = [[T::ZERO; LANES]; LANES];
    for (factors, row) in factors.iter().zip(rows) {
        for (sum, &factor) in sums.iter_mut().zip(factors) {
            *sum = add_scaled::<T, FUSED>(*sum, factor, row);
        }
    }
    sums
}

/// `sum + factor * row`, by value: so it becomes one vector operation.
#[inline(always)]
fn add_scaled<T: Scalar, const FUSED: bool>(sum: Group<T>, factor: T, row: &Group<T>) -> Group<T> {
    std::array::from_fn(|lane| multiply_add::<T, FUSED>(factor, row[lane], sum[lane]))
}

/// The sum of a number for each position, in each lane: those of every eighth position first, then those eight.
#[inline(always)]
pub fn total<T: Scalar>(blocks: impl Iterator<Item = Block<T>>) -> Group<T> {
    let mut sums = [[[T::ZERO; LANES]; POSITIONS]; LANES / POSITIONS];
    for (number, block) in blocks.enumerate() {
        let sums = &mut sums[number % (LANES / POSITIONS)];
        *sums = std::array::from_fn(|i| plus(sums[i], block[i]));
    }
    let [first, others @ ..] = sums.as_flattened() else { unreachable!("there are eight") };
    others.iter().fold(*first, |sum, &other| plus(sum, other))
}

#[inline(always)]
fn plus<T: Scalar>(a: Group<T>, b: Group<T>) -> Group<T> {
    std::array::from_fn(|lane| a[lane] + b[lane])
}
