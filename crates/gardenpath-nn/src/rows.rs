//! Parallel passes over the rows of a matrix. Each row is written by one task, in a fixed order of operations.

use crate::matmul::{self, Direction, Link, Weights};
use crate::scalar::Scalar;
use crate::vectorized::vectorized;
use crate::wiring::Lists;
use rayon::prelude::*;

/// Rows below which dividing the work costs more than it saves.
const LEAST_ROWS: usize = 12;

/// Sets the size of a buffer that is used again and again, and fills it with zeros.
pub fn clear<T: Scalar>(buffer: &mut Vec<T>, len: usize) {
    buffer.clear();
    buffer.resize(len, T::ZERO);
}

/// The number of rows of each task when `rows` are divided evenly over the threads.
pub fn share(rows: usize) -> usize {
    rows.div_ceil(rayon::current_num_threads()).max(LEAST_ROWS)
}

/// Divides the rows of a matrix evenly over the threads. `visit` gets the number of its first row, and its rows.
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

/// `result += Σ products` in a direction, between `begin` and `finish` on each task's rows of `width` numbers.
fn add<T: Scalar>(
    direction: Direction,
    (result, width): (&mut [T], usize),
    source: &[T],
    products: &[Product<'_, T>],
    begin: impl Fn(&mut [T]) + Sync,
    finish: impl Fn(&mut [T]) + Sync,
) {
    divide(result, width, |first, rows| {
        let count = rows.len() / width;
        begin(rows);
        for Product { weights, links } in products {
            let end = |link: &Link| if direction == Direction::Forward { link.to } else { link.from };
            let links = within(links, first, count, end);
            matmul::multiply(direction, rows, first as u32, source, links, *weights);
        }
        finish(rows);
    });
}

/// `result += Σ products` in a direction.
pub fn add_products<T: Scalar>(
    direction: Direction,
    result: (&mut [T], usize),
    source: &[T],
    products: &[Product<'_, T>],
) {
    add(direction, result, source, products, |_| {}, |_| {});
}

/// `output = Σ products`, followed by `finish` on each task's rows.
pub fn multiply<T: Scalar>(
    output: (&mut [T], usize),
    input: &[T],
    products: &[Product<'_, T>],
    finish: impl Fn(&mut [T]) + Sync,
) {
    add(Direction::Forward, output, input, products, |rows| rows.fill(T::ZERO), finish);
}

/// `input = Σ` of the gradients that come back through the products.
pub fn multiply_back<T: Scalar>(input: (&mut [T], usize), output: &[T], products: &[Product<'_, T>]) {
    add(Direction::Backward, input, output, products, |rows| rows.fill(T::ZERO), |_| {});
}

/// `result[i] = Σ rows[j]` over the list of `i`, followed by `finish` on each row of the result.
pub fn sum_lists<T: Scalar>(
    result: &mut [T],
    width: usize,
    rows: &[T],
    lists: &Lists,
    finish: impl Fn(usize, &mut [T]) + Sync,
) {
    divide(result, width, |first, result| {
        for (i, sum) in result.chunks_exact_mut(width).enumerate() {
            vectorized(|| sum_rows(sum, rows, lists.get(first + i)));
            finish(first + i, sum);
        }
    });
}

#[inline(always)]
fn sum_rows<T: Scalar>(sum: &mut [T], rows: &[T], list: &[u32]) {
    let width = sum.len();
    let row = |i: u32| &rows[i as usize * width..][..width];
    let Some((&head, tail)) = list.split_first() else { return sum.fill(T::ZERO) };
    sum.copy_from_slice(row(head));
    for &i in tail {
        sum.iter_mut().zip(row(i)).for_each(|(sum, &value)| *sum += value);
    }
}

/// The rectifier.
pub fn relu<T: Scalar>(values: &mut [T]) {
    vectorized(|| values.iter_mut().for_each(|value| *value = if *value > T::ZERO { *value } else { T::ZERO }));
}

/// Sets the gradient to zero where the rectifier was closed.
pub fn relu_back<T: Scalar>(gradient: &mut [T], values: &[T]) {
    vectorized(|| {
        for (gradient, &value) in gradient.iter_mut().zip(values) {
            *gradient = if value > T::ZERO { *gradient } else { T::ZERO };
        }
    });
}
