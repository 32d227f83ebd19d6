//! The numbers of a network: `f32` to train, `f64` to check gradients.

use crate::transpose::{self, Square};
use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A real number of either precision.
pub trait Scalar:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
{
    /// The number 0.
    const ZERO: Self;
    /// The number 1.
    const ONE: Self;

    /// The nearest number of this precision.
    fn of(value: f64) -> Self;
    /// The same number in double precision.
    fn wide(self) -> f64;
    /// `self * factor + term`, rounded once.
    fn fused(self, factor: Self, term: Self) -> Self;
    /// The exponential function.
    fn exp(self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// Writes the rows of a square as columns.
    fn transpose(result: &mut Square<Self>, rows: &Square<Self>);
}

macro_rules! scalar {
    ($float:ident, $exp:expr, $transpose:expr) => {
        impl Scalar for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $float
            }

            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn fused(self, factor: Self, term: Self) -> Self {
                self.mul_add(factor, term)
            }

            #[inline(always)]
            fn exp(self) -> Self {
                $exp(self)
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                $float::sqrt(self)
            }

            #[inline(always)]
            fn transpose(result: &mut Square<Self>, rows: &Square<Self>) {
                $transpose(result, rows);
            }
        }
    };
}

scalar!(f32, exp_f32, transpose::single);
scalar!(f64, libm::exp, transpose::plain);

/// The exponential function to about one unit in the last place, without branches, so that loops of it become vector code.
///
/// `x = n ln 2 + r`: the sum with 1.5 * 2^23 rounds to the integer `n` and leaves it in the lowest bits; what remains is a
/// short Taylor series.
#[inline(always)]
fn exp_f32(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let tail = 0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0)))));
    let power = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    (1.0 + r + r * r * tail) * f32::from_bits(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_exact_to_rounding() {
        for i in -8_700..=8_800 {
            let x = i as f32 * 0.01;
            let (found, expected) = (Scalar::exp(x).wide(), f64::from(x).exp());
            assert!((found / expected - 1.0).abs() < 3e-7, "exp({x}) = {found}, not {expected}");
        }
        assert_eq!(Scalar::exp(0.0f32), 1.0);
        assert!(Scalar::exp(-1e30f32) < 1e-37);
    }
}
