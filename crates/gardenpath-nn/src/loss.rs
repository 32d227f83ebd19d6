//! The cross-entropy of a softmax.

use crate::scalar::Scalar;
use gardenpath::Symbol;

/// The mean cross-entropy of a batch, with its gradient with respect to the logits.
///
/// `logits` is `[sentences][classes]`, row-major, and becomes the gradient.
pub fn cross_entropy_gradient<T: Scalar>(logits: &mut [T], classes: usize, roots: &[Symbol]) -> f64 {
    let share = T::of(1.0 / roots.len() as f64);
    let mut total = 0.0;
    for (logits, &root) in logits.chunks_exact_mut(classes).zip(roots) {
        total += cross_entropy(logits, root);
        softmax(logits);
        logits[usize::from(root)] -= T::ONE;
        logits.iter_mut().for_each(|value| *value *= share);
    }
    total / roots.len() as f64
}

/// The cross-entropy of one sentence, in double precision.
pub fn cross_entropy<T: Scalar>(logits: &[T], root: Symbol) -> f64 {
    let largest = logits.iter().map(|x| x.wide()).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logits.iter().map(|x| libm::exp(x.wide() - largest)).sum();
    libm::log(sum) + largest - logits[usize::from(root)].wide()
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
