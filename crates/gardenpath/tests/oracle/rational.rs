//! Numbers without any rounding.

use gardenpath::Semiring;
use num_traits::{One, ToPrimitive, Zero};
use std::f64::consts::LN_2;

/// A quotient of whole numbers of any size.
pub type Rational = num_rational::BigRational;

/// What an `f64` stands for.
pub fn exact(value: f64) -> Rational {
    Rational::from_float(value).expect("a finite number")
}

/// The nearest `f64`.
pub fn value(exact: &Rational) -> f64 {
    exact.to_f64().expect("every rational number is near one")
}

/// The semiring of rational numbers, for the library's own recursions.
#[derive(Clone, Debug, PartialEq)]
pub struct Exact(pub Rational);

impl Semiring for Exact {
    fn zero() -> Self {
        Exact(Rational::zero())
    }
    fn one() -> Self {
        Exact(Rational::one())
    }
    fn is_zero(&self) -> bool {
        self.0.is_zero()
    }
    fn add(&mut self, other: Self) {
        // Most terms are zero, and sums need a greatest common divisor.
        if !other.is_zero() {
            self.0 += other.0;
        }
    }
    fn mul(&self, other: &Self) -> Self {
        Exact(&self.0 * &other.0)
    }
    fn rule(probability: f64, _arity: usize) -> Self {
        Exact(exact(probability))
    }
}

impl Exact {
    /// The logarithm, also far below the smallest `f64`.
    pub fn ln(&self) -> f64 {
        let shift = self.0.denom().bits() as i32 - self.0.numer().bits() as i32;
        let near_one = &self.0 * exact(2.0).pow(shift);
        value(&near_one).ln() - f64::from(shift) * LN_2
    }
}

/// Equal up to a relative error of 1e-13: zero is zero.
pub fn assert_near(found: f64, expected: &Rational, what: &str) {
    let expected = value(expected);
    assert!((found - expected).abs() <= 1e-13 * expected, "{what}: found {found}, expected {expected}");
}

/// The same for all numbers of a list.
pub fn assert_all_near(found: &[f64], expected: &[Rational], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    found.iter().zip(expected).for_each(|(found, expected)| assert_near(*found, expected, what));
}

/// Equal up to a relative error of 1e-11.
pub fn assert_close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-11 * expected.abs(), "{what}: found {found}, expected {expected}");
}
