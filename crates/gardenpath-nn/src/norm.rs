//! Layer normalisation: each row gets mean 0 and variance 1, then a gain and a bias for each channel.

use crate::dispatch::dispatch;
use crate::rows::share;
use crate::scalar::Scalar;
use rayon::prelude::*;

/// Added to the variance, as PyTorch does.
pub const EPSILON: f64 = 1e-5;

/// Rows whose contributions to gain and bias are summed by one task: fixed, so that sums do not depend on the threads.
const BLOCK: usize = 128;

/// A normalisation of many rows, with what its backward pass needs.
#[derive(Clone, Debug, Default)]
pub struct Norm<T> {
    /// The result.
    pub rows: Vec<T>,
    /// The rows with mean 0 and variance 1.
    unit: Vec<T>,
    /// The inverse deviation of each row.
    inverse: Vec<T>,
}

impl<T: Scalar> Norm<T> {
    /// Normalises the rows of `x`.
    pub fn forward(&mut self, x: &[T], gain: &[T], bias: &[T]) {
        let width = gain.len();
        let count = x.len() / width;
        self.rows.resize(x.len(), T::ZERO);
        self.unit.resize(x.len(), T::ZERO);
        self.inverse.resize(count, T::ZERO);
        let share = share(count);
        let rows = self.rows.par_chunks_mut(share * width).zip(x.par_chunks(share * width));
        let kept = self.unit.par_chunks_mut(share * width).zip(self.inverse.par_chunks_mut(share));
        rows.zip(kept).for_each(|((rows, x), (unit, inverse))| forward_rows(rows, x, unit, inverse, [gain, bias]));
    }

    /// Adds the gradient that comes back to `x`, given that of the result.
    ///
    /// With unit rows `u` and `g = gain * dy` this is `(g - mean(g) - u mean(g u)) / deviation`.
    pub fn backward(&self, dx: &mut [T], dy: &[T], gain: &[T]) {
        let width = gain.len();
        let share = share(self.inverse.len());
        let rows = dx.par_chunks_mut(share * width).zip(dy.par_chunks(share * width));
        let kept = self.unit.par_chunks(share * width).zip(self.inverse.par_chunks(share));
        rows.zip(kept).for_each(|((dx, dy), (unit, inverse))| backward_rows(dx, dy, unit, inverse, gain));
    }

    /// Adds the gradients of gain and bias, multiplied by `factor`.
    pub fn gain_gradient(&self, target: &mut [T], dy: &[T], factor: T) {
        let width = target.len();
        add_blocks(target, dy, factor, |sums, rows, first| {
            let unit = &self.unit[first * width..];
            for (dy, unit) in rows.chunks_exact(width).zip(unit.chunks_exact(width)) {
                sums.iter_mut().zip(dy.iter().zip(unit)).for_each(|(sum, (&dy, &unit))| *sum += dy * unit);
            }
        });
    }

    /// Adds the gradient of the bias, multiplied by `factor`.
    pub fn bias_gradient(&self, target: &mut [T], dy: &[T], factor: T) {
        let width = target.len();
        add_blocks(target, dy, factor, |sums, rows, _| {
            for dy in rows.chunks_exact(width) {
                sums.iter_mut().zip(dy).for_each(|(sum, &dy)| *sum += dy);
            }
        });
    }
}

/// Adds sums over blocks of rows to `target`, in the order of the blocks.
fn add_blocks<T: Scalar>(target: &mut [T], rows: &[T], factor: T, add: impl Fn(&mut [T], &[T], usize) + Sync) {
    let width = target.len();
    let sum = |(i, rows): (usize, &[T])| {
        let mut sums = vec![T::ZERO; width];
        add(&mut sums, rows, i * BLOCK);
        sums
    };
    let blocks: Vec<Vec<T>> = rows.par_chunks(BLOCK * width).enumerate().map(sum).collect();
    for block in blocks {
        target.iter_mut().zip(block).for_each(|(target, sum)| *target += factor * sum);
    }
}

dispatch! {
    fn forward_rows(rows: &mut [T], x: &[T], unit: &mut [T], inverse: &mut [T], gain_and_bias: [&[T]; 2]) = forward_kernel
}

/// No operations are fused: results are the same without AVX2.
#[inline(always)]
fn forward_kernel<T: Scalar, const FUSED: bool>(
    rows: &mut [T],
    x: &[T],
    unit: &mut [T],
    inverse: &mut [T],
    [gain, bias]: [&[T]; 2],
) {
    let width = gain.len();
    let rows = rows.chunks_exact_mut(width).zip(x.chunks_exact(width));
    for ((row, x), (unit, inverse)) in rows.zip(unit.chunks_exact_mut(width).zip(inverse)) {
        *inverse = normalize(unit, x);
        for ((y, &unit), (&gain, &bias)) in row.iter_mut().zip(&*unit).zip(gain.iter().zip(bias)) {
            *y = unit * gain + bias;
        }
    }
}

dispatch! {
    fn backward_rows(dx: &mut [T], dy: &[T], unit: &[T], inverse: &[T], gain: &[T]) = backward_kernel
}

#[inline(always)]
fn backward_kernel<T: Scalar, const FUSED: bool>(dx: &mut [T], dy: &[T], unit: &[T], inverse: &[T], gain: &[T]) {
    let width = gain.len();
    let mut g = vec![T::ZERO; width];
    let rows = dx.chunks_exact_mut(width).zip(dy.chunks_exact(width));
    for ((dx, dy), (unit, &inverse)) in rows.zip(unit.chunks_exact(width).zip(inverse)) {
        g.iter_mut().zip(dy.iter().zip(gain)).for_each(|(g, (&dy, &gain))| *g = dy * gain);
        let mean = mean(&g, &g, |g, _| g);
        let slope = self::mean(&g, unit, |g, unit| g * unit);
        for (dx, (&g, &unit)) in dx.iter_mut().zip(g.iter().zip(unit)) {
            *dx += inverse * (g - mean - unit * slope);
        }
    }
}

/// Subtracts the mean, divides by the deviation, and returns its inverse.
#[inline(always)]
fn normalize<T: Scalar>(unit: &mut [T], x: &[T]) -> T {
    let mean = mean(x, x, |x, _| x);
    unit.iter_mut().zip(x).for_each(|(unit, &x)| *unit = x - mean);
    let variance = self::mean(unit, unit, |x, y| x * y);
    let inverse = T::ONE / (variance + T::of(EPSILON)).sqrt();
    unit.iter_mut().for_each(|unit| *unit *= inverse);
    inverse
}

/// The mean of a function of the numbers of two rows, summed in eight lanes so that it can be vector code.
#[inline(always)]
fn mean<T: Scalar>(a: &[T], b: &[T], value: impl Fn(T, T) -> T) -> T {
    let mut lanes = [T::ZERO; LANES];
    let ((whole_a, rest_a), (whole_b, rest_b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in whole_a.iter().zip(whole_b) {
        lanes = std::array::from_fn(|lane| lanes[lane] + value(a[lane], b[lane]));
    }
    let rest: T = rest_a.iter().zip(rest_b).map(|(&a, &b)| value(a, b)).sum();
    (lanes.into_iter().sum::<T>() + rest) * T::of(1.0 / a.len() as f64)
}

const LANES: usize = 8;
