//! Ridge regression in closed form: normal equations in double precision, solved by Cholesky's factorisation.

use crate::matmul::{self, Update, identity};
use crate::panels::{to_rows, whole_panels};
use crate::scalar::Scalar;

/// A linear map from rows to targets, with the smallest sum of squared errors and of its squared weights times a penalty.
///
/// Inputs are brought to mean 0 and variance 1 first, so that the penalty treats all channels alike; the intercepts are free.
#[derive(Clone, Debug, PartialEq)]
pub struct Ridge {
    /// The mean of each input.
    means: Vec<f64>,
    /// The inverse deviation of each input; 0 for inputs that do not vary.
    scales: Vec<f64>,
    /// `[output][input]`, for standardised inputs.
    weights: Vec<f64>,
    /// The mean of each target.
    intercepts: Vec<f64>,
}

/// A deviation below this part of the mean is rounding: activations are single-precision numbers.
const ROUNDING: f64 = 1e-6;

impl Ridge {
    /// Fits rows `[row][width]` to targets `[row][outputs]`.
    ///
    /// `penalty`, a positive number, is relative to the mean of the diagonal of the normal equations (their trace divided by
    /// the width): it means the same for any number of rows. Channels that do not vary, such as dead neurons, get no weight.
    pub fn fit<T: Scalar>(rows: &[T], width: usize, targets: &[f64], outputs: usize, penalty: f64) -> Self {
        let count = rows.len() / width;
        let means = column_means(rows.iter().map(|value| value.wide()), width, count);
        let squares =
            rows.chunks_exact(width).flat_map(|row| row.iter().zip(&means).map(|(x, m)| (x.wide() - m).powi(2)));
        let deviations = column_means(squares, width, count).into_iter().map(f64::sqrt);
        let scale =
            |(deviation, mean): (f64, &f64)| if deviation > ROUNDING * mean.abs() { 1.0 / deviation } else { 0.0 };
        let scales: Vec<f64> = deviations.zip(&means).map(scale).collect();
        let intercepts = column_means(targets.iter().copied(), outputs, count);

        let inputs: Vec<f64> = rows.chunks_exact(width).flat_map(|row| standardise(row, &means, &scales)).collect();
        let centred = targets.chunks_exact(outputs).flat_map(|row| row.iter().zip(&intercepts).map(|(x, m)| x - m));
        let centred: Vec<f64> = centred.collect();
        let mut gram = products(&inputs, width, &inputs, width);
        let trace: f64 = gram.iter().step_by(width + 1).sum();
        // Where nothing varies there is nothing to fit, and any positive number will do.
        let ridge = if trace > 0.0 { penalty * trace / width as f64 } else { 1.0 };
        gram.iter_mut().step_by(width + 1).for_each(|value| *value += ridge);
        factorise(&mut gram, width);
        let mut weights = products(&centred, outputs, &inputs, width);
        weights.chunks_exact_mut(width).for_each(|right| solve(&gram, right));
        Ridge { means, scales, weights, intercepts }
    }

    /// The prediction for a row.
    pub fn predict<T: Scalar>(&self, row: &[T]) -> Vec<f64> {
        let input: Vec<f64> = standardise(row, &self.means, &self.scales).collect();
        let outputs = self.weights.chunks_exact(input.len()).zip(&self.intercepts);
        outputs.map(|(weights, intercept)| intercept + dot(weights, &input)).collect()
    }
}

fn column_means(values: impl Iterator<Item = f64>, width: usize, count: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    for (i, value) in values.enumerate() {
        sums[i % width] += value;
    }
    sums.iter().map(|sum| sum / count as f64).collect()
}

fn standardise<T: Scalar>(row: &[T], means: &[f64], scales: &[f64]) -> impl Iterator<Item = f64> {
    row.iter().zip(means).zip(scales).map(|((value, mean), scale)| (value.wide() - mean) * scale)
}

/// `leftᵀ right` for matrices with as many rows.
fn products(left: &[f64], left_width: usize, right: &[f64], right_width: usize) -> Vec<f64> {
    let (inputs, outputs) = (left_width, right_width);
    let mut result = vec![0.0; inputs * whole_panels(outputs)];
    let links = identity(left.len() / inputs);
    matmul::update(vec![Update { weights: &mut result, inputs, outputs, links: &links, factor: 1.0 }], left, right);
    to_rows(&result, inputs, outputs)
}

/// Replaces the lower triangle of a positive definite matrix by its factor `L`, with `L Lᵀ` equal to the matrix.
fn factorise(matrix: &mut [f64], size: usize) {
    for i in 0..size {
        let (above, rest) = matrix.split_at_mut(i * size);
        let row = &mut rest[..size];
        for j in 0..i {
            let other = &above[j * size..][..size];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        row[i] = (row[i] - dot(&row[..i], &row[..i])).sqrt();
    }
}

/// Replaces the right-hand side by the solution, forwards through `L` and backwards through its transpose.
fn solve(factor: &[f64], right: &mut [f64]) {
    let size = right.len();
    for i in 0..size {
        let row = &factor[i * size..][..=i];
        right[i] = (right[i] - dot(&row[..i], &right[..i])) / row[i];
    }
    for i in (0..size).rev() {
        let row = &factor[i * size..][..=i];
        right[i] /= row[i];
        let solved = right[i];
        right[..i].iter_mut().zip(row).for_each(|(value, factor)| *value -= factor * solved);
    }
}

/// Sums side by side, which become vector code; one sum must keep its order and cannot.
const LANES: usize = 8;

fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (left_blocks, left_rest) = left.as_chunks::<LANES>();
    let (right_blocks, right_rest) = right.as_chunks::<LANES>();
    for (left, right) in left_blocks.iter().zip(right_blocks) {
        for ((sum, x), y) in sums.iter_mut().zip(left).zip(right) {
            *sum += x * y;
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::Seed;

    fn random(count: usize, number: u64) -> Vec<f64> {
        let mut stream = Seed::new(1).stream(number);
        (0..count).map(|_| stream.unit() - 0.5).collect()
    }

    /// One channel: the slope of least squares shrinks by 1 / (1 + penalty), around the means.
    #[test]
    fn ridge_by_hand() {
        let (rows, targets) = ([1.0, 2.0, 3.0, 6.0], [2.0, 2.0, 3.0, 9.0]);
        // Means 3 and 4, sums of squares and products 14 and 21: the slope is 1.5.
        for penalty in [1e-12, 0.5, 3.0] {
            let ridge = Ridge::fit(&rows, 1, &targets, 1, penalty);
            let expected = 4.0 + 1.5 / (1.0 + penalty) * (10.0 - 3.0);
            let found = ridge.predict(&[10.0])[0];
            assert!((found - expected).abs() < 1e-9, "penalty {penalty}: {found}, not {expected}");
        }
    }

    #[test]
    fn ridge_finds_a_planted_map() {
        let (count, width, outputs) = (300, 37, 3);
        let (rows, map, new) = (random(count * width, 0), random(width * outputs, 1), random(width, 2));
        let apply = |row: &[f64]| -> Vec<f64> {
            let output = |k: usize| row.iter().zip(map[k * width..].iter()).map(|(x, w)| x * w).sum::<f64>() + k as f64;
            (0..outputs).map(output).collect()
        };
        let targets: Vec<f64> = rows.chunks(width).flat_map(apply).collect();
        let ridge = Ridge::fit(&rows, width, &targets, outputs, 1e-12);
        for (found, expected) in ridge.predict(&new).iter().zip(apply(&new)) {
            assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
        }
    }

    /// At the minimum the gradient is zero: the errors, projected on a channel, balance the penalty on its weight.
    #[test]
    fn ridge_is_a_minimum() {
        let (count, width, penalty) = (60, 21, 0.1);
        let mut rows = random(count * width, 3);
        for row in rows.chunks_mut(width) {
            // Two channels that are nearly the same, one dead channel, and one of another scale.
            row[1] = row[0] + 0.01 * row[1];
            row[2] = 0.0;
            row[3] *= 1e4;
        }
        let targets = random(count, 4);
        let ridge = Ridge::fit(&rows, width, &targets, 1, penalty);
        let mean = |channel: usize| rows.iter().skip(channel).step_by(width).sum::<f64>() / count as f64;
        let centre: Vec<f64> = (0..width).map(mean).collect();
        let intercept = ridge.predict(&centre)[0];
        let errors: Vec<f64> = rows.chunks(width).zip(&targets).map(|(row, y)| y - ridge.predict(row)[0]).collect();
        for channel in (0..width).filter(|&channel| channel != 2) {
            let column: Vec<f64> = rows.iter().skip(channel).step_by(width).map(|x| x - centre[channel]).collect();
            let deviation = (column.iter().map(|x| x * x).sum::<f64>() / count as f64).sqrt();
            let mut stepped = centre.clone();
            stepped[channel] += deviation;
            let weight = ridge.predict(&stepped)[0] - intercept;
            let pull: f64 = column.iter().zip(&errors).map(|(x, error)| x / deviation * error).sum();
            // The trace is the number of rows for each living channel.
            let push = penalty * count as f64 * (width - 1) as f64 / width as f64 * weight;
            assert!((pull - push).abs() < 1e-9, "channel {channel}: {pull} and {push}");
        }
    }
}
