//! Parallel passes over the rows of a matrix. Each row is written by one task, in a fixed order of operations.

use crate::dispatch::{dispatch, multiply_add};
use crate::matmul::{self, Direction, Link, Weights};
use crate::panels::whole_panels;
use crate::scalar::Scalar;
use crate::wiring::Lists;
use rayon::prelude::*;

/// Rows below which dividing the work costs more than it saves.
const LEAST_ROWS: usize = 48;

/// Tasks for each thread: if one is held up, the others take over.
const TASKS: usize = 4;

/// Rows of a task that makes products: they and their results stay in the second-level cache.
const FORWARD_ROWS: usize = 144;

/// Rows for which transposing the weights is worth while.
const BACKWARD_ROWS: usize = 512;

/// Columns that are added up at a time: eight registers of AVX2, or four of AVX-512.
const BLOCK: usize = 64;

/// Sets the size of a buffer that is used again and again, and fills it with zeros.
pub fn clear<T: Scalar>(buffer: &mut Vec<T>, len: usize) {
    buffer.clear();
    buffer.resize(len, T::ZERO);
}

/// The number of rows of each task when `rows` are divided over the threads.
pub fn share(rows: usize) -> usize {
    rows.div_ceil(TASKS * rayon::current_num_threads()).max(LEAST_ROWS)
}

/// Divides the rows of a matrix over the threads. `visit` gets the number of its first row, and its rows.
pub fn divide<T: Scalar>(matrix: &mut [T], width: usize, visit: impl Fn(usize, &mut [T]) + Sync) {
    let share = share(matrix.len() / width);
    matrix.par_chunks_mut(share * width).enumerate().for_each(|(i, rows)| visit(i * share, rows));
}

/// The links whose `end` lies in a range of rows; `end` increases.
fn within(links: &[Link], first: usize, count: usize, end: impl Fn(&Link) -> u32) -> &[Link] {
    let start = links.partition_point(|link| (end(link) as usize) < first);
    let stop = links.partition_point(|link| (end(link) as usize) < first + count);
    &links[start..stop]
}

/// One weight matrix and the links along which it acts.
pub struct Product<'a, T> {
    /// The matrix.
    pub weights: Weights<'a, T>,
    /// The links; both ends increase.
    pub links: &'a [Link],
}

/// What products are added to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Onto {
    Result,
    Zero,
}

/// Adds up products in a direction, followed by `finish` on parts of rows of `width` numbers.
///
/// Many rows are divided over the threads. Few rows are not, but their columns: then each thread packs its own part of the weights.
fn add<T: Scalar>(
    direction: Direction,
    onto: Onto,
    (result, width): (&mut [T], usize),
    source: &[T],
    products: &[Product<'_, T>],
    finish: impl Fn(&mut [T]) + Sync,
) {
    let end = |link: &Link| if direction == Direction::Forward { link.to } else { link.from };
    let fill = |mut pieces: Vec<&mut [T]>, row: usize, column: usize| {
        for (number, Product { weights, links }) in products.iter().enumerate() {
            let links = within(links, row, pieces.len(), end);
            let replaces = number == 0 && onto == Onto::Zero;
            if replaces {
                let mut reached = links.iter().map(|link| end(link) as usize - row).peekable();
                for (i, piece) in pieces.iter_mut().enumerate() {
                    if reached.next_if_eq(&i).is_none() {
                        piece.fill(T::ZERO);
                    }
                }
            }
            matmul::multiply(direction, &mut pieces, (row, column), source, links, *weights, replaces);
        }
        pieces.iter_mut().for_each(|piece| finish(piece));
    };
    let (rows, threads) = (result.len() / width, rayon::current_num_threads());
    let least = if direction == Direction::Forward { FORWARD_ROWS } else { BACKWARD_ROWS };
    if rows < threads * least {
        let share = whole_panels(width.div_ceil(threads));
        let mut tasks: Vec<Vec<&mut [T]>> = Vec::new();
        tasks.resize_with(width.div_ceil(share), || Vec::with_capacity(rows));
        for row in result.chunks_exact_mut(width) {
            tasks.iter_mut().zip(row.chunks_mut(share)).for_each(|(task, piece)| task.push(piece));
        }
        tasks.into_par_iter().enumerate().for_each(|(i, pieces)| fill(pieces, 0, i * share));
    } else {
        // As many tasks for each thread, so that none is left over at the end.
        let share = rows.div_ceil(threads * (rows / (threads * least)));
        let tasks = result.par_chunks_mut(share * width).enumerate();
        tasks.for_each(|(i, rows)| fill(rows.chunks_exact_mut(width).collect(), i * share, 0));
    }
}

/// `result += Σ products` in a direction.
pub fn add_products<T: Scalar>(
    direction: Direction,
    result: (&mut [T], usize),
    source: &[T],
    products: &[Product<'_, T>],
) {
    add(direction, Onto::Result, result, source, products, |_| {});
}

/// `output = Σ products`, followed by `finish` on each task's rows.
pub fn multiply<T: Scalar>(
    output: (&mut [T], usize),
    input: &[T],
    products: &[Product<'_, T>],
    finish: impl Fn(&mut [T]) + Sync,
) {
    add(Direction::Forward, Onto::Zero, output, input, products, finish);
}

/// `input = Σ` of the gradients that come back through the products.
pub fn multiply_back<T: Scalar>(input: (&mut [T], usize), output: &[T], products: &[Product<'_, T>]) {
    add(Direction::Backward, Onto::Zero, input, output, products, |_| {});
}

/// `result[i] = Σ rows[j]` over the list of `i`, each row as often as it counts, followed by `finish` on each row of the result.
pub fn sum_lists<T: Scalar>(
    result: &mut [T],
    width: usize,
    rows: &[T],
    lists: &Lists,
    finish: impl Fn(usize, &mut [T]) + Sync,
) {
    divide(result, width, |first, result| {
        for (i, sum) in result.chunks_exact_mut(width).enumerate() {
            let (list, times) = lists.get(first + i);
            sum_rows(sum, rows, list, times);
            finish(first + i, sum);
        }
    });
}

dispatch! {
    fn sum_rows(sum: &mut [T], rows: &[T], list: &[u32], times: Option<&[f32]>) = sum_kernel
}

#[inline(always)]
fn sum_kernel<T: Scalar, const FUSED: bool>(sum: &mut [T], rows: &[T], list: &[u32], times: Option<&[f32]>) {
    let width = sum.len();
    let (blocks, rest) = sum.as_chunks_mut::<BLOCK>();
    let part = |i: u32, first: usize, count: usize| &rows[i as usize * width + first..][..count];
    for (number, block) in blocks.iter_mut().enumerate() {
        let part = |i| part(i, number * BLOCK, BLOCK);
        // A copy: so it stays in registers until the list ends.
        let mut sum = [T::ZERO; BLOCK];
        sum_parts::<T, FUSED>(&mut sum, part, list, times);
        *block = sum;
    }
    let (first, count) = (width - rest.len(), rest.len());
    sum_parts::<T, FUSED>(rest, |i| part(i, first, count), list, times);
}

#[inline(always)]
fn sum_parts<'a, T: Scalar, const FUSED: bool>(
    sum: &mut [T],
    part: impl Fn(u32) -> &'a [T],
    list: &[u32],
    times: Option<&[f32]>,
) {
    if let Some(times) = times {
        sum.fill(T::ZERO);
        for (&i, &times) in list.iter().zip(times) {
            let times = T::of(times.into());
            sum.iter_mut().zip(part(i)).for_each(|(sum, &value)| *sum = multiply_add::<T, FUSED>(times, value, *sum));
        }
        return;
    }
    let Some((&head, tail)) = list.split_first() else { return sum.fill(T::ZERO) };
    sum.copy_from_slice(part(head));
    for &i in tail {
        sum.iter_mut().zip(part(i)).for_each(|(sum, &value)| *sum += value);
    }
}

/// The rectifier.
///
/// Not for wider registers: with AVX2 the compiler writes nothing but the zeros, and such stores are many times as slow on some processors.
pub fn relu<T: Scalar>(values: &mut [T]) {
    values.iter_mut().for_each(|value| *value = if *value > T::ZERO { *value } else { T::ZERO });
}

/// Sets the gradient to zero where the rectifier was closed.
pub fn relu_back<T: Scalar>(gradient: &mut [T], values: &[T]) {
    for (gradient, &value) in gradient.iter_mut().zip(values) {
        *gradient = if value > T::ZERO { *gradient } else { T::ZERO };
    }
}
