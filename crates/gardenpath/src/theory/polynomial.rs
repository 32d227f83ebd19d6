//! Sums over trees of the products of their nodes' weights: the composition of polynomials.

use num_bigint::BigUint;

use super::{ByLength, Magnitude};
use crate::arity::Arities;
use crate::interrupt::checkpoint;

/// A coefficient: a real number, whose nodes have weights, or a number of trees, whose nodes have none.
pub(super) trait Coefficient: Clone + Default {
    type Weight: Copy;

    fn scale(&mut self, weight: Self::Weight);
    fn add(&mut self, other: &Self, weight: Self::Weight);
}

impl Coefficient for Magnitude {
    type Weight = Magnitude;

    fn scale(&mut self, weight: Magnitude) {
        *self = *self * weight;
    }

    fn add(&mut self, other: &Self, weight: Magnitude) {
        *self += *other * weight;
    }
}

impl Coefficient for BigUint {
    type Weight = ();

    fn scale(&mut self, (): ()) {}

    fn add(&mut self, other: &Self, (): ()) {
        *self += other;
    }
}

/// One more level of branching: from the sums over trees of one depth to those of the next, with a weight for each number of children of
/// the new nodes.
///
/// With `T(x)` the polynomial whose coefficients are the parents' sums, the children's are those of `T(g(x))`, here by Horner's rule: a
/// product with `g` and a sum for each length of the parents. Counts need additions only, where the binomial coefficients of eq.
/// `Nt_app` would need a product of large integers for each pair of lengths. All terms are positive, so nothing cancels.
pub(super) fn descend<T: Coefficient>(
    parents: &ByLength<T>,
    arities: Arities,
    weight: impl Fn(usize) -> T::Weight,
) -> ByLength<T> {
    let (least, most) = (arities.least(), arities.most());
    let most_weight = weight(most);
    let others: Vec<(usize, T::Weight)> =
        arities.iter().filter(|&arity| arity < most).map(|arity| (most - arity, weight(arity))).collect();
    // Coefficients stand from the highest degree down, so that a factor x appends a zero. The factor x^least of g is left to the callers.
    let multiply = |polynomial: &mut Vec<T>| {
        checkpoint();
        polynomial.resize_with(polynomial.len() + most - least, T::default);
        for i in (0..polynomial.len()).rev() {
            let (higher, rest) = polynomial.split_at_mut(i);
            rest[0].scale(most_weight);
            for &(distance, weight) in others.iter().filter(|(distance, _)| *distance <= i) {
                rest[0].add(&higher[i - distance], weight);
            }
        }
    };
    let mut polynomial: Vec<T> = Vec::new();
    for sum in parents.values.iter().rev() {
        if !polynomial.is_empty() {
            multiply(&mut polynomial);
            polynomial.resize_with(polynomial.len() + least - 1, T::default);
        }
        polynomial.push(sum.clone());
    }
    (0..parents.min_len).for_each(|_| multiply(&mut polynomial));
    polynomial.reverse();
    ByLength { min_len: least * parents.min_len, values: polynomial }
}

/// The level above all branching: one node, of length 1.
pub(super) fn root<T>(one: T) -> ByLength<T> {
    ByLength { min_len: 1, values: vec![one] }
}
