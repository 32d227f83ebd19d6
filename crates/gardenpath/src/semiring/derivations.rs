//! Recognition, counting, the best tree, and expectations.

use super::Semiring;
use crate::magnitude::Magnitude;
use num_bigint::BigUint;
use num_traits::Zero;

/// Whether there is a derivation: Boolean parsing, the CYK algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognition(pub bool);

impl Semiring for Recognition {
    fn zero() -> Self {
        Recognition(false)
    }
    fn one() -> Self {
        Recognition(true)
    }
    fn is_zero(&self) -> bool {
        !self.0
    }
    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
    fn mul(&self, other: &Self) -> Self {
        Recognition(self.0 && other.0)
    }
    fn rule(_probability: f64, _arity: usize) -> Self {
        Recognition(true)
    }
}

/// The exact number of derivations.
///
/// Small numbers, which is most of a chart, take no allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count(Digits);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Digits {
    Small(u64),
    /// More than `u64::MAX`.
    Large(BigUint),
}

impl Count {
    /// The number as a big integer.
    pub fn to_big(&self) -> BigUint {
        match &self.0 {
            Digits::Small(n) => BigUint::from(*n),
            Digits::Large(n) => n.clone(),
        }
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Digits::Small(n) => n.fmt(f),
            Digits::Large(n) => n.fmt(f),
        }
    }
}

impl Semiring for Count {
    fn zero() -> Self {
        Count(Digits::Small(0))
    }
    fn one() -> Self {
        Count(Digits::Small(1))
    }
    fn is_zero(&self) -> bool {
        match &self.0 {
            Digits::Small(n) => *n == 0,
            Digits::Large(n) => n.is_zero(),
        }
    }
    fn add(&mut self, other: Self) {
        self.0 = match (std::mem::replace(&mut self.0, Digits::Small(0)), other.0) {
            (Digits::Small(x), Digits::Small(y)) => match x.checked_add(y) {
                Some(sum) => Digits::Small(sum),
                None => Digits::Large(BigUint::from(x) + y),
            },
            (Digits::Large(x), Digits::Small(y)) | (Digits::Small(y), Digits::Large(x)) => Digits::Large(x + y),
            (Digits::Large(x), Digits::Large(y)) => Digits::Large(x + y),
        };
    }
    fn mul(&self, other: &Self) -> Self {
        Count(match (&self.0, &other.0) {
            (Digits::Small(0), _) | (_, Digits::Small(0)) => Digits::Small(0),
            (Digits::Small(x), Digits::Small(y)) => match x.checked_mul(*y) {
                Some(product) => Digits::Small(product),
                None => Digits::Large(BigUint::from(*x) * *y),
            },
            (Digits::Large(x), Digits::Small(y)) | (Digits::Small(y), Digits::Large(x)) => Digits::Large(x * *y),
            (Digits::Large(x), Digits::Large(y)) => Digits::Large(x * y),
        })
    }
    fn rule(_probability: f64, _arity: usize) -> Self {
        Self::one()
    }
}

/// The logarithm of the probability of the best derivation.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct BestLog(pub f64);

impl Semiring for BestLog {
    fn zero() -> Self {
        BestLog(f64::NEG_INFINITY)
    }
    fn one() -> Self {
        BestLog(0.0)
    }
    fn is_zero(&self) -> bool {
        self.0 == f64::NEG_INFINITY
    }
    fn add(&mut self, other: Self) {
        self.0 = self.0.max(other.0);
    }
    fn mul(&self, other: &Self) -> Self {
        BestLog(self.0 + other.0)
    }
    fn rule(probability: f64, _arity: usize) -> Self {
        BestLog(probability.ln())
    }
}

/// The expectation semiring: the total probability of the derivations, and the sum of `-p ln p` over them.
///
/// ```
/// use gardenpath::{Chart, Ensemble, Expectation, Seed};
///
/// let grammar = Ensemble::new(2, 2).fraction(1.0).sample(Seed::new(1))?;
/// let chart = Chart::<Expectation>::parse(&grammar, &[0, 1, 0, 1, 0])?;
/// // With all rules grammatical, five tokens have two trees, 2 + 3 and 3 + 2, of equal probability.
/// let mut total = chart.roots()[0];
/// gardenpath::Semiring::add(&mut total, chart.roots()[1]);
/// assert!((total.tree_entropy() - std::f64::consts::LN_2).abs() < 1e-12);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectation {
    probability: Magnitude,
    surprise: Magnitude,
}

impl Expectation {
    /// The entropy, in nats, of the derivations given that one of them was used.
    pub fn tree_entropy(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        ((self.surprise / self.probability).value() + self.probability.ln()).max(0.0)
    }

    /// The total probability.
    pub fn probability(&self) -> Magnitude {
        self.probability
    }

    /// This value times a constant probability, such as the prior of a root.
    pub fn weighted(&self, probability: f64) -> Self {
        self.mul(&Self::rule(probability, 2))
    }
}

impl Semiring for Expectation {
    fn zero() -> Self {
        Expectation { probability: Magnitude::zero(), surprise: Magnitude::zero() }
    }
    fn one() -> Self {
        Expectation { probability: Magnitude::one(), surprise: Magnitude::zero() }
    }
    fn is_zero(&self) -> bool {
        self.probability.is_zero()
    }
    fn add(&mut self, other: Self) {
        self.probability += other.probability;
        self.surprise += other.surprise;
    }
    fn mul(&self, other: &Self) -> Self {
        let surprise = self.probability * other.surprise + self.surprise * other.probability;
        Expectation { probability: self.probability * other.probability, surprise }
    }
    fn rule(probability: f64, _arity: usize) -> Self {
        let surprise = Magnitude::new(-probability.min(1.0).ln());
        let probability = Magnitude::new(probability);
        Expectation { probability, surprise: probability * surprise }
    }
}

#[cfg(test)]
mod tests {
    use super::super::LogProbability;
    use super::*;

    /// Associativity, distributivity and the neutral elements, on values made from rules.
    fn check_laws<S: Semiring>(same: impl Fn(&S, &S) -> bool) {
        let mut values: Vec<S> = [0.5, 0.125, 0.3].iter().map(|&p| S::rule(p, 2)).collect();
        values.extend([S::zero(), S::one()]);
        let sum = |x: &S, y: &S| {
            let mut sum = x.clone();
            sum.add(y.clone());
            sum
        };
        for x in &values {
            assert!(same(&sum(x, &S::zero()), x) && same(&x.mul(&S::one()), x) && x.mul(&S::zero()).is_zero());
            for y in &values {
                assert!(same(&sum(x, y), &sum(y, x)) && same(&x.mul(y), &y.mul(x)));
                for z in &values {
                    assert!(same(&x.mul(&sum(y, z)), &sum(&x.mul(y), &x.mul(z))));
                    assert!(same(&x.mul(&y.mul(z)), &x.mul(y).mul(z)));
                }
            }
        }
    }

    #[test]
    fn all_are_semirings() {
        let near = |x: f64, y: f64| x == y || (x - y).abs() < 1e-12;
        check_laws::<Recognition>(|x, y| x == y);
        check_laws::<Count>(|x, y| x == y);
        check_laws::<f64>(|&x, &y| near(x, y));
        check_laws::<Magnitude>(|x, y| near(x.ln(), y.ln()));
        check_laws::<LogProbability>(|x, y| near(x.0, y.0));
        check_laws::<BestLog>(|x, y| near(x.0, y.0));
        check_laws::<Expectation>(|x, y| {
            near(x.probability.ln(), y.probability.ln()) && near(x.surprise.ln(), y.surprise.ln())
        });
    }

    #[test]
    fn counts_grow_beyond_machine_words() {
        let mut n = Count::one();
        for _ in 0..200 {
            n.add(n.clone());
        }
        assert_eq!(n.to_big(), BigUint::from(1u8) << 200);
        assert_eq!(n.mul(&n).to_big(), BigUint::from(1u8) << 400);
    }

    #[test]
    fn magnitudes_do_not_underflow() {
        let mut x = <Magnitude as Semiring>::rule(0.3, 2);
        for _ in 0..12 {
            x = x * x;
        }
        assert!((x.ln() - 4096.0 * 0.3f64.ln()).abs() < 1e-9);
        let sum = x + x;
        assert_eq!((sum / x).value(), 2.0);
        assert_eq!(Magnitude::new(1e-310).ln(), 1e-310f64.ln());
    }
}
