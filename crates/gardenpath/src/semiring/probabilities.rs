//! Probabilities in three forms: plain, with a wide exponent, and as logarithms.

use super::Semiring;
use crate::magnitude::Magnitude;

/// Plain probabilities. They underflow below 1e-308; [`crate::Inside`] uses them only where a bound rules that out.
impl Semiring for f64 {
    #[inline]
    fn zero() -> Self {
        0.0
    }
    #[inline]
    fn one() -> Self {
        1.0
    }
    #[inline]
    fn is_zero(&self) -> bool {
        *self == 0.0
    }
    #[inline]
    fn add(&mut self, other: Self) {
        *self += other;
    }
    #[inline]
    fn mul(&self, other: &Self) -> Self {
        self * other
    }
    #[inline]
    fn rule(probability: f64, _arity: usize) -> Self {
        probability
    }
}

/// Probabilities with an exponent of their own: exact to the last bit of an `f64`, and nothing underflows.
impl Semiring for Magnitude {
    #[inline]
    fn zero() -> Self {
        Magnitude::ZERO
    }
    #[inline]
    fn one() -> Self {
        Magnitude::ONE
    }
    #[inline]
    fn is_zero(&self) -> bool {
        Magnitude::is_zero(*self)
    }
    #[inline]
    fn add(&mut self, other: Self) {
        *self += other;
    }
    #[inline]
    fn mul(&self, other: &Self) -> Self {
        *self * *other
    }
    #[inline]
    fn rule(probability: f64, _arity: usize) -> Self {
        Magnitude::new(probability)
    }
}

/// The natural logarithm of a probability; minus infinity is zero.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LogProbability(pub f64);

impl Semiring for LogProbability {
    fn zero() -> Self {
        LogProbability(f64::NEG_INFINITY)
    }
    fn one() -> Self {
        LogProbability(0.0)
    }
    fn is_zero(&self) -> bool {
        self.0 == f64::NEG_INFINITY
    }
    fn add(&mut self, other: Self) {
        let (large, small) = if self.0 >= other.0 { (self.0, other.0) } else { (other.0, self.0) };
        if small > f64::NEG_INFINITY {
            self.0 = large + (small - large).exp().ln_1p();
        } else {
            self.0 = large;
        }
    }
    fn mul(&self, other: &Self) -> Self {
        LogProbability(self.0 + other.0)
    }
    fn rule(probability: f64, _arity: usize) -> Self {
        LogProbability(probability.ln())
    }
}
