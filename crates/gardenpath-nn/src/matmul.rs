//! Matrix products along links: the one kernel in which all networks spend their time.
//!
//! A [`Link`] says which row of the input meets which row of the output. With it a convolution needs no copy of its
//! patches, padding is never multiplied, and rows that nobody uses cost nothing. Every number of a result is a sum in an order
//! that depends on the links alone, never on how the work was divided, so results are the same for any number of threads.
//!
//! The tile of 6 x 16 keeps twelve registers of AVX2 busy, as the matrix libraries do; weights are repacked into panels of
//! sixteen columns that stay in the first-level cache. The wide version is chosen when the program runs.

use crate::scalar::Scalar;
use rayon::prelude::*;

/// Rows of a tile.
const ROWS: usize = 6;

/// Columns of a tile, and of a packed panel.
const COLUMNS: usize = 16;

/// Terms that are summed in registers before the result is updated: a panel of this length fits the first-level cache.
const TERMS: usize = 256;

/// Rows of a weight matrix that one task updates: enough to pay for the packing.
const UPDATE_ROWS: usize = 96;

/// A row of the input that contributes to a row of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The row of the input.
    pub from: u32,
    /// The row of the output.
    pub to: u32,
}

/// A weight matrix, row-major, `inputs` x `outputs`, with the factor by which its products are scaled.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// The numbers.
    pub values: &'a [T],
    /// The number of rows.
    pub inputs: usize,
    /// The number of columns.
    pub outputs: usize,
    /// The factor of the products.
    pub scale: T,
}

/// Calls the version for AVX2 with fused multiply-adds where the processor has them.
macro_rules! dispatch {
    ($wide:ident, $kernel:ident, $arguments:tt) => {{
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and FMA, all that the function needs beyond its safe twin.
            return unsafe { $wide $arguments };
        }
        $kernel::<T, false> $arguments
    }};
}

/// `output[to] += scale * input[from] W` for all links, whose `to` must differ.
///
/// Rows of `output` are numbered from `first`, so that a task can own a part of it.
pub fn forward<T: Scalar>(output: &mut [T], first: u32, input: &[T], links: &[Link], weights: Weights<'_, T>) {
    dispatch!(forward_wide, forward_kernel, (output, first, input, links, weights));
}

/// `input[from] += scale * output[to] Wᵀ` for all links, whose `from` must differ: the gradient of [`forward`].
pub fn backward<T: Scalar>(input: &mut [T], first: u32, output: &[T], links: &[Link], weights: Weights<'_, T>) {
    dispatch!(backward_wide, backward_kernel, (input, first, output, links, weights));
}

/// A weight matrix that is changed by the products of linked rows.
#[derive(Debug)]
pub struct Update<'a, T> {
    /// The matrix, row-major.
    pub weights: &'a mut [T],
    /// The number of its rows: the width of the input.
    pub inputs: usize,
    /// The links of input and output.
    pub links: &'a [Link],
    /// The factor of the change.
    pub factor: T,
}

/// `W += factor * Σ input[from]ᵀ output[to]` over all links of each update, on all threads.
///
/// With `factor` = scale this adds the gradient to `W`; with `factor` = -rate * scale it is a step of gradient descent that
/// needs no memory for the gradient.
pub fn update<T: Scalar>(updates: Vec<Update<'_, T>>, input: &[T], output: &[T]) {
    let tasks: Vec<Rows<'_, T>> = updates.into_iter().flat_map(Update::divide).collect();
    tasks.into_par_iter().for_each(|rows| update_rows(rows, input, output));
}

/// Some rows of a weight matrix that is updated.
struct Rows<'a, T> {
    first: usize,
    weights: &'a mut [T],
    inputs: usize,
    outputs: usize,
    links: &'a [Link],
    factor: T,
}

impl<'a, T: Scalar> Update<'a, T> {
    fn divide(self) -> impl Iterator<Item = Rows<'a, T>> {
        let Update { weights, inputs, links, factor } = self;
        let outputs = weights.len() / inputs;
        let share = inputs.div_ceil(rayon::current_num_threads()).next_multiple_of(ROWS).min(UPDATE_ROWS);
        let chunks = weights.chunks_mut(share * outputs).enumerate();
        chunks.map(move |(i, weights)| Rows { first: i * share, weights, inputs, outputs, links, factor })
    }
}

fn update_rows<T: Scalar>(rows: Rows<'_, T>, input: &[T], output: &[T]) {
    dispatch!(update_wide, update_kernel, (rows, input, output));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn forward_wide<T: Scalar>(output: &mut [T], first: u32, input: &[T], links: &[Link], weights: Weights<'_, T>) {
    forward_kernel::<T, true>(output, first, input, links, weights);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn backward_wide<T: Scalar>(input: &mut [T], first: u32, output: &[T], links: &[Link], weights: Weights<'_, T>) {
    backward_kernel::<T, true>(input, first, output, links, weights);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn update_wide<T: Scalar>(rows: Rows<'_, T>, input: &[T], output: &[T]) {
    update_kernel::<T, true>(rows, input, output);
}

#[inline(always)]
fn forward_kernel<T: Scalar, const FUSED: bool>(
    output: &mut [T],
    first: u32,
    input: &[T],
    links: &[Link],
    weights: Weights<'_, T>,
) {
    let Weights { values, inputs, outputs, scale } = weights;
    let mut panel = [[T::ZERO; COLUMNS]; TERMS];
    for column in (0..outputs).step_by(COLUMNS) {
        let columns = COLUMNS.min(outputs - column);
        for term in (0..inputs).step_by(TERMS) {
            let terms = TERMS.min(inputs - term);
            for (packed, row) in panel.iter_mut().zip(values[term * outputs..].chunks(outputs)).take(terms) {
                copy_columns(packed, &row[column..column + columns]);
            }
            let source = |link: &Link| &input[link.from as usize * inputs + term..][..terms];
            let target = |link: &Link| (link.to - first) as usize * outputs + column;
            product::<T, FUSED>(output, links, source, target, &panel[..terms], columns, scale);
        }
    }
}

#[inline(always)]
fn backward_kernel<T: Scalar, const FUSED: bool>(
    input: &mut [T],
    first: u32,
    output: &[T],
    links: &[Link],
    weights: Weights<'_, T>,
) {
    let Weights { values, inputs, outputs, scale } = weights;
    let mut panel = [[T::ZERO; COLUMNS]; TERMS];
    for column in (0..inputs).step_by(COLUMNS) {
        let columns = COLUMNS.min(inputs - column);
        for term in (0..outputs).step_by(TERMS) {
            let terms = TERMS.min(outputs - term);
            transpose(&mut panel[..terms], &values[column * outputs + term..], outputs, columns);
            let source = |link: &Link| &output[link.to as usize * outputs + term..][..terms];
            let target = |link: &Link| (link.from - first) as usize * inputs + column;
            product::<T, FUSED>(input, links, source, target, &panel[..terms], columns, scale);
        }
    }
}

/// Adds the product of the rows of all links with a panel to the `columns` numbers at their targets.
#[inline(always)]
fn product<'a, T: Scalar, const FUSED: bool>(
    result: &mut [T],
    links: &[Link],
    source: impl Fn(&Link) -> &'a [T],
    target: impl Fn(&Link) -> usize,
    panel: &[[T; COLUMNS]],
    columns: usize,
    scale: T,
) {
    for block in links.chunks(ROWS) {
        // A last block that is not full repeats its first row, whose product is not used.
        let rows = std::array::from_fn(|i| source(block.get(i).unwrap_or(&block[0])));
        let tile = row_tile::<T, FUSED>(rows, panel);
        for (sums, link) in tile.iter().zip(block) {
            add_scaled(&mut result[target(link)..][..columns], sums, scale);
        }
    }
}

#[inline(always)]
fn update_kernel<T: Scalar, const FUSED: bool>(rows: Rows<'_, T>, input: &[T], output: &[T]) {
    let Rows { first, weights, inputs, outputs, links, factor } = rows;
    let height = weights.len() / outputs;
    let mut panel = [[T::ZERO; COLUMNS]; TERMS];
    let mut blocks = vec![[T::ZERO; ROWS]; height.div_ceil(ROWS) * TERMS];
    for links in links.chunks(TERMS) {
        for (term, link) in links.iter().enumerate() {
            let row = &input[link.from as usize * inputs + first..][..height];
            for (block, values) in row.chunks(ROWS).enumerate() {
                blocks[block * TERMS + term][..values.len()].copy_from_slice(values);
            }
        }
        for column in (0..outputs).step_by(COLUMNS) {
            let columns = COLUMNS.min(outputs - column);
            for (packed, link) in panel.iter_mut().zip(links) {
                copy_columns(packed, &output[link.to as usize * outputs + column..][..columns]);
            }
            for (block, rows) in weights.chunks_mut(ROWS * outputs).enumerate() {
                let left = &blocks[block * TERMS..][..links.len()];
                let tile = column_tile::<T, FUSED>(left, &panel[..links.len()]);
                for (row, sums) in rows.chunks_mut(outputs).zip(&tile) {
                    add_scaled(&mut row[column..column + columns], sums, factor);
                }
            }
        }
    }
}

/// The products of rows with a panel.
#[inline(always)]
fn row_tile<T: Scalar, const FUSED: bool>(rows: [&[T]; ROWS], panel: &[[T; COLUMNS]]) -> [[T; COLUMNS]; ROWS] {
    let rows = rows.map(|row| &row[..panel.len()]);
    let mut tile = [[T::ZERO; COLUMNS]; ROWS];
    for (term, right) in panel.iter().enumerate() {
        for (sums, row) in tile.iter_mut().zip(rows) {
            add_product::<T, FUSED>(sums, row[term], right);
        }
    }
    tile
}

/// The sum of the outer products of packed columns with the rows of a panel.
#[inline(always)]
fn column_tile<T: Scalar, const FUSED: bool>(left: &[[T; ROWS]], panel: &[[T; COLUMNS]]) -> [[T; COLUMNS]; ROWS] {
    let mut tile = [[T::ZERO; COLUMNS]; ROWS];
    for (left, right) in left.iter().zip(panel) {
        for (sums, &factor) in tile.iter_mut().zip(left) {
            add_product::<T, FUSED>(sums, factor, right);
        }
    }
    tile
}

#[inline(always)]
fn add_product<T: Scalar, const FUSED: bool>(sums: &mut [T; COLUMNS], factor: T, row: &[T; COLUMNS]) {
    for (sum, &value) in sums.iter_mut().zip(row) {
        *sum = if FUSED { factor.fused(value, *sum) } else { factor * value + *sum };
    }
}

#[inline(always)]
fn add_scaled<T: Scalar>(result: &mut [T], sums: &[T; COLUMNS], scale: T) {
    match result.first_chunk_mut::<COLUMNS>() {
        Some(whole) => whole.iter_mut().zip(sums).for_each(|(result, &sum)| *result += scale * sum),
        None => result.iter_mut().zip(sums).for_each(|(result, &sum)| *result += scale * sum),
    }
}

#[inline(always)]
fn copy_columns<T: Scalar>(packed: &mut [T; COLUMNS], row: &[T]) {
    match row.first_chunk::<COLUMNS>() {
        Some(whole) => *packed = *whole,
        None => packed[..row.len()].copy_from_slice(row),
    }
}

/// Packs up to `COLUMNS` rows of a matrix as the columns of a panel.
#[inline(always)]
fn transpose<T: Scalar>(panel: &mut [[T; COLUMNS]], rows: &[T], width: usize, columns: usize) {
    for (column, row) in rows.chunks(width).take(columns).enumerate() {
        for (packed, &value) in panel.iter_mut().zip(row) {
            packed[column] = value;
        }
    }
}
