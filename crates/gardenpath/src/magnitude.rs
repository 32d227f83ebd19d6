//! A non-negative number that neither under- nor overflows.
//!
//! A sentence of depth 7 can have a probability of `10^-1000`, and the trees of one length can number `10^200`. Logarithms
//! would fit, but adding them costs an `exp` and digits: their absolute error grows with their size. A separate exponent
//! keeps all 53 bits at the price of a few integer operations.

use std::ops::{Add, AddAssign, Div, Mul};

use num_bigint::BigUint;

/// A non-negative real `mantissa * 2^exponent` with the precision of an `f64` and practically no bound on its size.
///
/// ```
/// use gardenpath::theory::trees::typical_tree_count;
/// let count = typical_tree_count(9, gardenpath::PerArity::paper(0.5))?;
/// assert_eq!(count.value(), f64::INFINITY); // too large for an f64 …
/// assert!((count.log10() - 765.4).abs() < 0.1); // … but not lost
/// assert!((count.ln() - 1762.3).abs() < 0.1 && !count.is_zero());
/// # Ok::<(), gardenpath::theory::TheoryError>(())
/// ```
// Fields in this order make the derived comparison the numerical one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Magnitude {
    exponent: i64,
    mantissa: f64, // in [1, 2), or 0 for zero
}

const HIDDEN_BIT: i64 = 52;
const BIAS: i64 = 1023;

impl Magnitude {
    // Smaller than any exponent that can occur, and far enough from i64::MIN for sums and differences not to overflow.
    pub(crate) const ZERO: Self = Self { exponent: i64::MIN / 4, mantissa: 0.0 };
    pub(crate) const ONE: Self = Self { exponent: 0, mantissa: 1.0 };

    /// The magnitude of a finite `value >= 0`.
    ///
    /// ```
    /// use gardenpath::Magnitude;
    /// assert_eq!(Magnitude::new(0.75).value(), 0.75);
    /// ```
    #[inline]
    pub fn new(value: f64) -> Self {
        Self::scaled(value, 0)
    }

    /// The magnitude `value * 2^exponent` of a finite `value >= 0`.
    #[inline]
    pub(crate) fn scaled(value: f64, exponent: i64) -> Self {
        debug_assert!(value >= 0.0 && value.is_finite());
        // Subnormal numbers have no hidden bit; lift them first.
        let (value, exponent) =
            if value < f64::MIN_POSITIVE { (value * power_of_two(64), exponent - 64) } else { (value, exponent) };
        if value == 0.0 {
            return Self::ZERO;
        }
        let bits = value.to_bits();
        let fraction = bits & ((1 << HIDDEN_BIT) - 1);
        Self {
            exponent: (bits >> HIDDEN_BIT) as i64 - BIAS + exponent,
            mantissa: f64::from_bits(fraction | 1f64.to_bits()),
        }
    }

    /// The number whose natural logarithm is `ln`; zero for minus infinity.
    pub(crate) fn exp(ln: f64) -> Self {
        if ln == f64::NEG_INFINITY {
            return Self::ZERO;
        }
        let exponent = (ln / std::f64::consts::LN_2).floor();
        Self::scaled((ln - exponent * std::f64::consts::LN_2).exp(), exponent as i64)
    }

    /// As a plain number: zero or infinity where an `f64` ends.
    pub fn value(self) -> f64 {
        // Two factors, so that results below the smallest normal number are still reached.
        let exponent = self.exponent.clamp(-1200, 1200);
        self.mantissa * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2)
    }

    /// The natural logarithm; minus infinity for zero.
    pub fn ln(self) -> f64 {
        if self.is_zero() {
            f64::NEG_INFINITY
        } else {
            self.mantissa.ln() + self.exponent as f64 * std::f64::consts::LN_2
        }
    }

    /// The decimal logarithm; minus infinity for zero.
    pub fn log10(self) -> f64 {
        self.ln() / std::f64::consts::LN_10
    }

    /// Whether this is exactly zero (never by underflow).
    #[inline]
    pub fn is_zero(self) -> bool {
        self.mantissa == 0.0
    }

    /// The power of two.
    #[inline]
    pub(crate) fn exponent(self) -> i64 {
        self.exponent
    }

    /// The value times `2^-exponent` as a plain number.
    #[inline]
    pub(crate) fn without(self, exponent: i64) -> f64 {
        self.mantissa * power_of_two(self.exponent - exponent)
    }
}

impl Default for Magnitude {
    /// Zero.
    fn default() -> Self {
        Self::ZERO
    }
}

/// `2^exponent`, 0 below and infinity above the range of normal numbers.
#[inline]
pub(crate) fn power_of_two(exponent: i64) -> f64 {
    match exponent {
        -1022..=1023 => f64::from_bits(((exponent + BIAS) as u64) << HIDDEN_BIT),
        ..-1022 => 0.0,
        _ => f64::INFINITY,
    }
}

/// Exact counts can be compared with real-valued predictions.
impl From<&BigUint> for Magnitude {
    fn from(count: &BigUint) -> Self {
        let dropped = count.bits().saturating_sub(64);
        let leading = (count >> dropped).iter_u64_digits().next().unwrap_or(0);
        Self::scaled(leading as f64, dropped as i64)
    }
}

impl Mul for Magnitude {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        Self::scaled(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }
}

impl Div for Magnitude {
    type Output = Self;

    /// `0 / 0` is zero, the convention for quantities conditioned on a length that never occurs.
    fn div(self, other: Self) -> Self {
        if self.is_zero() {
            return Self::ZERO;
        }
        Self::scaled(self.mantissa / other.mantissa, self.exponent - other.exponent)
    }
}

impl Add for Magnitude {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        let (large, small) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        Self::scaled(large.mantissa + small.without(large.exponent), large.exponent)
    }
}

impl AddAssign for Magnitude {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_agrees_with_f64_where_f64_reaches() {
        let numbers = [0.0, 5e-324, 1e-310, 1e-20, 0.1, 1.0, 1.5, 2.0, 3.0, 7e11, 1e200, f64::MAX];
        for a in numbers {
            assert_eq!(Magnitude::new(a).value(), a);
            for b in numbers {
                let (x, y) = (Magnitude::new(a), Magnitude::new(b));
                assert_eq!((x + y).value(), a + b, "{a} + {b}");
                assert_eq!(x < y, a < b, "{a} < {b}");
                // Below the normal numbers f64 rounds twice, so products and quotients are compared above them only.
                if a * b == 0.0 || a * b >= f64::MIN_POSITIVE {
                    assert!(a * b != 0.0 || (x * y).is_zero() || (x * y).ln() < -700.0);
                    assert_eq!((x * y).value(), a * b, "{a} * {b}");
                }
                if b > 0.0 && a / b >= f64::MIN_POSITIVE {
                    assert_eq!((x / y).value(), a / b, "{a} / {b}");
                }
            }
        }
    }

    #[test]
    fn exponents_go_far_beyond_f64() {
        let tiny = Magnitude::exp(-1e6);
        assert_eq!(tiny.value(), 0.0);
        assert!(!tiny.is_zero() && (tiny.ln() + 1e6).abs() < 1e-9);
        assert_eq!((tiny / tiny).value(), 1.0);
        assert_eq!(Magnitude::exp(f64::NEG_INFINITY), Magnitude::ZERO);
        assert_eq!(Magnitude::ZERO.ln(), f64::NEG_INFINITY);
        assert_eq!((Magnitude::ZERO / Magnitude::ZERO).value(), 0.0);
    }

    #[test]
    fn counts_keep_their_leading_digits() {
        assert_eq!(Magnitude::from(&BigUint::from(0u32)), Magnitude::ZERO);
        assert_eq!(Magnitude::from(&BigUint::from(12u32)).value(), 12.0);
        let large = BigUint::from(3u32) << 5000u32;
        assert!((Magnitude::from(&large).ln() - (3f64.ln() + 5000.0 * 2f64.ln())).abs() < 1e-9);
    }
}
