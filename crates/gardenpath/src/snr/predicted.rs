//! What the exact law of the tuples predicts for the signal-to-noise ratio, without any sentence.
//!
//! Each sentence has at most one tuple at a position. So the number of sentences with a given tuple is binomial, and given
//! that number `n` the roots are a multinomial sample of the exact law `p`: the expected noise is `(1 - |p|^2) / n`. Where
//! `n = 0` the estimate is uniform, and the noise is the signal of that tuple. That makes the expected noise of each tuple,
//! and of any mean over tuples and grammars, exact; tuples of one sentence are never counted together. The one thing left
//! out is how the noise of a single corpus scatters around its expectation.

use super::{PositionedTuples, arity, centre, grammatical_tuples, mean};
use crate::error::Result;
use crate::grammar::{Children, Grammar};

/// The exact signal of a grammar, and the expected noise at any number of sentences.
///
/// ```
/// use gardenpath::snr::{PredictedSignal, SignalToNoise};
/// use gardenpath::{Ensemble, Seed};
///
/// let grammar = Ensemble::new(8, 2).fraction(0.125).sample(Seed::new(1))?;
/// let predicted = PredictedSignal::new(&grammar)?;
/// let measured = SignalToNoise::measure(&grammar, &[3000], Seed::new(1))?;
/// assert!((predicted.signal() - measured.signal).abs() < 1e-15);
/// assert!((predicted.noise(3000) / measured.noise[0] - 1.0).abs() < 0.3);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PredictedSignal {
    tuples: Vec<Tuple>,
}

/// A grammatical tuple at the position.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tuple {
    /// The probability that a sentence has it there.
    probability: f64,
    /// The squared distance of the law of its root from uniform.
    signal: f64,
    /// The noise of a single sentence: `1 - |p|^2`.
    spread: f64,
}

impl PredictedSignal {
    /// The prediction at the [`centre`] of the sentences, for tuples of their longest [`arity`].
    pub fn new(grammar: &Grammar) -> Result<Self> {
        Self::at(grammar, arity(grammar), centre(grammar))
    }

    /// The prediction for the tuples of one arity at a position, counted from 0. Averages run over the same tuples as those of
    /// [`SignalToNoise::measure_at`](super::SignalToNoise::measure_at).
    pub fn at(grammar: &Grammar, arity: usize, position: usize) -> Result<Self> {
        let exact = PositionedTuples::new(grammar, arity, position)?;
        let uniform = 1.0 / grammar.classes() as f64;
        let tuple = |(children, law): (Children, Vec<f64>)| Tuple {
            probability: exact.joint(children.as_slice()).iter().sum(),
            signal: law.iter().map(|p| (p - uniform).powi(2)).sum(),
            spread: 1.0 - law.iter().map(|p| p * p).sum::<f64>(),
        };
        Ok(PredictedSignal { tuples: grammatical_tuples(grammar, &exact)?.into_iter().map(tuple).collect() })
    }

    /// The mean signal of the tuples.
    pub fn signal(&self) -> f64 {
        mean(self.tuples.iter().map(|tuple| tuple.signal))
    }

    /// The mean of `1 / p` over the tuples, where `p` is the probability of the tuple at the position: with many sentences,
    /// the noise is about this mean over their number.
    pub fn mean_rarity(&self) -> f64 {
        mean(self.tuples.iter().map(|tuple| 1.0 / tuple.probability))
    }

    /// The expected mean noise at a number of sentences.
    pub fn noise(&self, samples: u64) -> f64 {
        mean(self.tuples.iter().map(|tuple| {
            let count = InverseCount::new(samples, tuple.probability);
            tuple.spread * count.inverse + tuple.signal * count.none
        }))
    }

    /// The smallest number of sentences from which on the expected noise over the signal is at most `threshold` (the paper
    /// takes 0.5); `None` if that needs more than `2^40` sentences.
    pub fn sample_complexity(&self, threshold: f64) -> Option<u64> {
        let goal = threshold * self.signal();
        // The noise falls from the place where every tuple is seen about once: doubling finds the last crossing.
        let first = (1.0 / self.tuples.iter().map(|tuple| tuple.probability).fold(1.0, f64::min)).ceil() as u64;
        let mut doubled =
            std::iter::successors(Some(first), |&samples| Some(2 * samples)).take_while(|&samples| samples <= MOST);
        let mut high = doubled.find(|&samples| self.noise(samples) <= goal)?;
        let mut low = if high == first { 0 } else { high / 2 };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.noise(middle) <= goal { high = middle } else { low = middle }
        }
        Some(high)
    }
}

/// The most sentences of a prediction.
const MOST: u64 = 1 << 40;

/// Of a binomial number `n`: the mean of `1 / n` where it is positive, and the probability that it is 0.
struct InverseCount {
    inverse: f64,
    none: f64,
}

impl InverseCount {
    /// Sums over the law of `n` from its mode to both sides: ratios of neighbouring probabilities are exact, and what is left
    /// out is below rounding.
    fn new(trials: u64, probability: f64) -> Self {
        if probability >= 1.0 {
            let none = if trials == 0 { 1.0 } else { 0.0 };
            return InverseCount { inverse: if trials == 0 { 0.0 } else { 1.0 / trials as f64 }, none };
        }
        let (total, odds) = (trials as f64, probability / (1.0 - probability));
        let expected = total * probability;
        if expected > MANY {
            // The mean of 1 / n to second order in its relative spread.
            return InverseCount { inverse: (1.0 + (1.0 - probability) / expected) / expected, none: 0.0 };
        }
        let mode = ((total + 1.0) * probability).floor().min(total);
        let (mut weights, mut inverses, mut none) = (0.0, 0.0, 0.0);
        let mut add = |count: f64, weight: f64| {
            weights += weight;
            if count > 0.0 { inverses += weight / count } else { none = weight }
        };
        let (mut count, mut weight) = (mode, 1.0);
        while count <= total && weight > NEGLIGIBLE {
            add(count, weight);
            weight *= (total - count) / (count + 1.0) * odds;
            count += 1.0;
        }
        (count, weight) = (mode, 1.0);
        while count > 0.0 && weight > NEGLIGIBLE {
            weight *= count / ((total - count + 1.0) * odds);
            count -= 1.0;
            add(count, weight);
        }
        InverseCount { inverse: inverses / weights, none: none / weights }
    }
}

/// So many sentences with a tuple are expected that fluctuations of their number hardly matter: a relative error of 1e-12.
const MANY: f64 = 1e6;

/// Probabilities, relative to the largest, that do not change a sum.
const NEGLIGIBLE: f64 = 1e-20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ensemble, Seed, snr::SignalToNoise};

    #[test]
    fn inverse_counts_are_those_of_the_binomial_law() {
        for (trials, p) in [(1u64, 0.3), (7, 0.5), (50, 0.01), (50, 0.97), (400, 0.2), (9, 1.0), (0, 0.4)] {
            let q: f64 = 1.0 - p;
            // Integrate the generating function: the sum over j of q^(n-j) (1 - q^j) / j.
            let expected: f64 =
                (1..=trials).map(|j| q.powi((trials - j) as i32) * (1.0 - q.powi(j as i32)) / j as f64).sum();
            let found = InverseCount::new(trials, p);
            assert!((found.inverse - expected).abs() < 1e-12, "{trials} {p}: {} {expected}", found.inverse);
            assert!((found.none - q.powi(trials as i32)).abs() < 1e-12, "{trials} {p}");
        }
        // Where the law is no longer summed, the numbers go on.
        let [below, above] = [0.999_999, 1.000_001].map(|scale: f64| {
            let trials = (4e6 * scale) as u64;
            trials as f64 * InverseCount::new(trials, 0.25).inverse
        });
        assert!((below / above - 1.0).abs() < 1e-11, "{below} {above}");
    }

    /// The expectation of what is measured, at few sentences (most triples unseen) and at many.
    #[test]
    fn predictions_are_means_of_measurements() {
        let grammar = Ensemble::new(6, 2).fraction(1.0 / 6.0).sample(Seed::new(3)).unwrap();
        let predicted = PredictedSignal::new(&grammar).unwrap();
        let sizes = [10, 100, 1000];
        let corpora = 400;
        let curves: Vec<SignalToNoise> =
            (0..corpora).map(|seed| SignalToNoise::measure(&grammar, &sizes, Seed::new(100 + seed)).unwrap()).collect();
        for (k, &size) in sizes.iter().enumerate() {
            let average = mean(curves.iter().map(|curve| curve.noise[k]));
            let variance = mean(curves.iter().map(|curve| (curve.noise[k] - average).powi(2)));
            let error = (variance / f64::from(corpora as u32)).sqrt();
            let expected = predicted.noise(size);
            assert!((average - expected).abs() < 4.0 * error, "{size}: {average} ± {error}, expected {expected}");
            assert!(error < 0.03 * expected, "the test can fail: {error} of {expected}");
        }
    }

    #[test]
    fn the_crossing_is_where_the_noise_is_half_of_the_signal() {
        let grammar = Ensemble::new(8, 2).fraction(0.125).sample(Seed::new(1)).unwrap();
        let predicted = PredictedSignal::new(&grammar).unwrap();
        let crossing = predicted.sample_complexity(0.5).unwrap();
        assert!(predicted.noise(crossing) <= 0.5 * predicted.signal());
        assert!(predicted.noise(crossing - 1) > 0.5 * predicted.signal());
        assert_eq!(predicted.sample_complexity(0.0), None);
        // With many sentences, noise is rarity over their number, but for the small |p|^2.
        let (samples, rarity) = (1 << 24, predicted.mean_rarity());
        assert!((predicted.noise(samples) * samples as f64 / rarity - 1.0).abs() < 0.5);
    }
}
