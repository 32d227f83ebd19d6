//! Probabilities in three forms: plain, with a wide exponent, and as logarithms.

use super::Semiring;

/// Probabilities as they are. Underflows below 1e-308; [`crate::Inside`] uses it only where a bound excludes that.
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

/// A probability with an exponent of its own: exact to the last bit of an `f64`, and nothing underflows.
///
/// The value is `mantissa * 2^exponent` with the mantissa in `[1, 2)`, or zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    mantissa: f64,
    exponent: i64,
}

const MANTISSA_BITS: u64 = (1 << 52) - 1;
const ONE_BITS: u64 = 0x3ff << 52;

impl Scaled {
    /// The value `mantissa * 2^exponent` of a finite mantissa that is not negative.
    #[inline]
    pub fn new(mantissa: f64, exponent: i64) -> Self {
        let bits = mantissa.to_bits();
        match (bits >> 52) & 0x7ff {
            0 if mantissa == 0.0 => Scaled { mantissa: 0.0, exponent: 0 },
            // Subnormal numbers have an exponent field of zero: bring them into the normal range first.
            0 => Scaled::new(mantissa * 2f64.powi(64), exponent - 64),
            field => {
                let mantissa = f64::from_bits(bits & MANTISSA_BITS | ONE_BITS);
                Scaled { mantissa, exponent: exponent + field as i64 - 1023 }
            }
        }
    }

    /// The natural logarithm; minus infinity for zero.
    pub fn ln(self) -> f64 {
        if self.mantissa == 0.0 {
            return f64::NEG_INFINITY;
        }
        self.mantissa.ln() + self.exponent as f64 * std::f64::consts::LN_2
    }

    /// The quotient as an ordinary number.
    pub fn ratio(self, divisor: Scaled) -> f64 {
        self.mantissa / divisor.mantissa * power_of_two(self.exponent - divisor.exponent)
    }

    /// The mantissa in `[1, 2)`, or zero.
    #[inline]
    pub fn mantissa(self) -> f64 {
        self.mantissa
    }

    /// The power of two.
    #[inline]
    pub fn exponent(self) -> i64 {
        self.exponent
    }
}

/// `2^exponent`, 0 below and infinity above the range of normal numbers.
#[inline]
pub(crate) fn power_of_two(exponent: i64) -> f64 {
    match exponent {
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        ..-1022 => 0.0,
        _ => f64::INFINITY,
    }
}

impl Semiring for Scaled {
    #[inline]
    fn zero() -> Self {
        Scaled { mantissa: 0.0, exponent: 0 }
    }
    #[inline]
    fn one() -> Self {
        Scaled { mantissa: 1.0, exponent: 0 }
    }
    #[inline]
    fn is_zero(&self) -> bool {
        self.mantissa == 0.0
    }
    #[inline]
    fn add(&mut self, other: Self) {
        if other.is_zero() {
            return;
        }
        let (large, small) =
            if !self.is_zero() && self.exponent >= other.exponent { (*self, other) } else { (other, *self) };
        let sum = large.mantissa + small.mantissa * power_of_two(small.exponent - large.exponent);
        *self = Scaled::new(sum, large.exponent);
    }
    #[inline]
    fn mul(&self, other: &Self) -> Self {
        Scaled::new(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }
    #[inline]
    fn rule(probability: f64, _arity: usize) -> Self {
        Scaled::new(probability, 0)
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
