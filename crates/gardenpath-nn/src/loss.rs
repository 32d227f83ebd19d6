//! The cross-entropy of a softmax.

use crate::scalar::Scalar;
use gardenpath::Symbol;
use rayon::prelude::*;

/// Rows for one task: fewer are not worth a thread.
pub const ROWS: usize = 64;

/// The cross-entropy of a batch, summed over all answers and divided by `units`, with its gradient with respect to the logits.
///
/// `logits` is `[answers][outputs]`, row-major, and becomes the gradient.
pub fn cross_entropy_gradient<T: Scalar>(logits: &mut [T], outputs: usize, answers: &[Symbol], units: f64) -> f64 {
    let share = T::of(1.0 / units);
    let of_row = |(logits, &answer): (&mut [T], &Symbol)| {
        let loss = cross_entropy(logits, answer);
        softmax(logits);
        logits[usize::from(answer)] -= T::ONE;
        logits.iter_mut().for_each(|value| *value *= share);
        loss
    };
    let rows = logits.par_chunks_exact_mut(outputs).zip(answers).with_min_len(ROWS);
    let losses: Vec<f64> = rows.map(of_row).collect();
    losses.into_iter().sum::<f64>() / units
}

/// The cross-entropy of one answer, in double precision.
fn cross_entropy<T: Scalar>(logits: &[T], root: Symbol) -> f64 {
    log_sum(logits) - logits[usize::from(root)].wide()
}

/// The logarithm of the sum of exponentials, in double precision: the cross-entropy of an answer is so much more than minus its logit.
pub fn log_sum<T: Scalar>(logits: &[T]) -> f64 {
    let largest = logits.iter().map(|x| x.wide()).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|x| libm::exp(x.wide() - largest)).sum();
    libm::log(sum) + largest
}

/// Replaces numbers by their softmax.
#[inline(always)]
pub fn softmax<T: Scalar>(values: &mut [T]) {
    let largest = values.iter().copied().fold(values[0], |a, b| if b > a { b } else { a });
    let mut sum = T::ZERO;
    for value in values.iter_mut() {
        *value = (*value - largest).exp();
        sum += *value;
    }
    let inverse = T::ONE / sum;
    values.iter_mut().for_each(|value| *value *= inverse);
}
