//! The paper's empirical signal-to-noise ratio (App. `app:empirical_SNR`) and the sample complexity it predicts.
//!
//! Signal: how far the law of the root, given a triple at the centre of the sentence, is from uniform. Noise: how far
//! its estimate from `samples` sentences is from the truth. The truth is exact ([`PositionedTuples`]), not a larger
//! sample; and so is the expected noise ([`PredictedSignal`]). In grammars with other rules than the paper's, the tuples
//! are as long as the longest rules.

mod predicted;

pub use crate::moments::PositionedTuples;
pub use predicted::PredictedSignal;

use crate::arity::PerArity;
use crate::corpus::{Corpus, Sampler};
use crate::error::{Counts, Error, Result};
use crate::grammar::{Children, Ensemble, Grammar, Layer};
use crate::interrupt::checkpoint;
use crate::memory;
use crate::seed::Seed;
use crate::shape::Shape;
use crate::tuple::TupleCode;
use rayon::prelude::*;

/// How the ratio is averaged over tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// The mean signal over the mean noise: the default, as it does not depend on tuples that were hardly seen.
    RatioOfMeans,
    /// The mean of the ratios of single tuples, as the paper can be read.
    MeanOfRatios,
}

/// Signal and noise of one grammar at increasing numbers of sentences.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalToNoise {
    /// The numbers of sentences.
    pub samples: Vec<u64>,
    /// The mean signal of the grammatical tuples.
    pub signal: f64,
    /// The mean noise at each number of sentences.
    pub noise: Vec<f64>,
    /// The mean of signal over noise at each number of sentences.
    pub ratio: Vec<f64>,
}

/// The curves of many grammars of one ensemble.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalStudy {
    /// One per grammar.
    pub curves: Vec<SignalToNoise>,
}

/// The number of symbols of the tuples that are looked at: that of the longest rules of the lowest layer, three in the paper.
pub fn arity(grammar: &Grammar) -> usize {
    grammar.layer(grammar.depth() - 1).arities().most()
}

/// The position of the tuple, counted from 0: the paper's `I = floor(<s>^L / 2)` counts from 1. If no rule of the lowest layer
/// can begin there, it is the last position before it where one can.
///
/// ```
/// use gardenpath::{Ensemble, Seed, snr};
/// let grammar = Ensemble::new(8, 3).sample(Seed::new(1))?;
/// assert_eq!(snr::centre(&grammar), 6);
/// // Sixteen tokens: the second of four nodes begins at 4, the third at 8.
/// let fixed = Ensemble::new(4, 2).arities([(4, 1.0)]).sample(Seed::new(1))?;
/// assert_eq!(snr::centre(&fixed), 4);
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn centre(grammar: &Grammar) -> usize {
    // A hair more than the mean length, which is an integer for fixed trees and has rounding errors.
    let centre = ((grammar.mean_length() + 1e-9) / 2.0).floor().max(1.0) as usize - 1;
    let (lowest, upper) = grammar.layers().split_last().expect("a grammar has layers");
    let most_nodes = Shape::longest(&upper.iter().map(Layer::arities).collect::<Vec<_>>());
    // The fewest nodes that cover the tokens before a position.
    let mut fewest = vec![0];
    for position in 1..=centre {
        let nodes = lowest.arities().iter().filter(|&own| own <= position).map(|own| fewest[position - own] + 1);
        fewest.push(nodes.min().unwrap_or(most_nodes));
    }
    fewest.iter().rposition(|&nodes| nodes < most_nodes).unwrap_or(0)
}

impl SignalToNoise {
    /// Measures a grammar at the [`centre`] of its sentences, by tuples of its longest [`arity`].
    pub fn measure(grammar: &Grammar, samples: &[u64], seed: Seed) -> Result<Self> {
        Self::measure_at(grammar, arity(grammar), centre(grammar), samples, seed)
    }

    /// Measures a grammar by the tuples of one arity at a position, counted from 0. Training sets nest: each number of sentences
    /// continues the one before it.
    ///
    /// Averages run over the rules of the lowest layer with this arity whose children can stand at the position. A tuple that was not
    /// seen says nothing about the root: its estimate is uniform.
    pub fn measure_at(grammar: &Grammar, arity: usize, position: usize, samples: &[u64], seed: Seed) -> Result<Self> {
        if samples.is_empty() || samples[0] == 0 || samples.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(Error::NotIncreasing { found: samples.to_vec() });
        }
        // Counts are 32 bits wide.
        if let Some(most) = samples.last().filter(|&&most| most > MAX_SAMPLES) {
            return Err(Error::count("number of sentences", *most, Counts::AtMost(MAX_SAMPLES)));
        }
        let exact = PositionedTuples::new(grammar, arity, position)?;
        let (classes, code) = (grammar.classes(), TupleCode::new(grammar.vocab(), [arity].into()));
        let tuples: Vec<(usize, Vec<f64>)> = grammatical_tuples(grammar, &exact)?
            .into_iter()
            .map(|(tuple, law)| (code.of(tuple.as_slice()), law))
            .collect();
        let uniform = 1.0 / classes as f64;
        let signals: Vec<f64> = tuples.iter().map(|(_, law)| square_distance(law, |_| uniform)).collect();
        let sampler = Sampler::new(grammar);
        let mut counts = vec![0u32; code.len() * classes];
        let (mut noise, mut ratio, mut done) = (Vec::new(), Vec::new(), 0);
        for &size in samples {
            for corpus in Corpus::stream(&sampler, seed, done..size, 1 << 18) {
                checkpoint();
                for (sentence, &root) in corpus.sentences().zip(corpus.roots()) {
                    if let Some(tuple) = sentence.get(position..position + arity) {
                        counts[code.of(tuple) * classes + usize::from(root)] += 1;
                    }
                }
            }
            done = size;
            let noise_of = |(tuple, law): &(usize, Vec<f64>)| {
                let seen = &counts[tuple * classes..][..classes];
                let total = seen.iter().map(|&count| f64::from(count)).sum::<f64>();
                square_distance(law, |root| if total > 0.0 { f64::from(seen[root]) / total } else { uniform })
            };
            let noises: Vec<f64> = tuples.iter().map(noise_of).collect();
            noise.push(mean(noises.iter().copied()));
            let ratios = signals.iter().zip(&noises).filter(|(_, noise)| **noise > 0.0);
            ratio.push(mean(ratios.map(|(signal, noise)| signal / noise)));
        }
        Ok(SignalToNoise { samples: samples.to_vec(), signal: mean(signals.into_iter()), noise, ratio })
    }
}

impl SignalStudy {
    /// Measures `grammars` grammars of an ensemble. `progress` is called, from any thread, with the number of grammars
    /// finished since its last call.
    ///
    /// ```
    /// use gardenpath::snr::{Average, SignalStudy, log_grid};
    /// use gardenpath::{Ensemble, Seed};
    ///
    /// let ensemble = Ensemble::new(8, 2).fraction(1.0 / 8.0);
    /// let study = SignalStudy::measure(&ensemble, 8, &log_grid(500.0, 30_000.0, 8), Seed::new(1), &|_| ())?;
    /// let complexity = study.sample_complexity(0.5, Average::RatioOfMeans).unwrap();
    /// assert!(complexity > 2e3 && complexity < 6e3, "{complexity}");
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn measure(
        ensemble: &Ensemble,
        grammars: u64,
        samples: &[u64],
        seed: Seed,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Self> {
        if grammars == 0 {
            return Err(Error::count("number of grammars", 0u64, Counts::AtLeast(1)));
        }
        let measure = |number: u64| {
            checkpoint();
            let seed = seed.child("snr").nth(number);
            let curve = SignalToNoise::measure(&ensemble.sample(seed)?, samples, seed);
            progress(1);
            curve
        };
        let curve = size_of::<SignalToNoise>() + 3 * size_of::<f64>() * samples.len();
        memory::check(format_args!("the curves of {grammars} grammars"), u128::from(grammars) * curve as u128)?;
        // The exact law and the counts of one grammar; where they are large, fewer grammars are measured side by side.
        let (sizes, arity) = (ensemble.level_sizes()?, ensemble.probabilities().arities().most());
        let tuples = (sizes[sizes.len() - 1] as u128).saturating_pow(arity as u32);
        let table = tuples.saturating_mul(32 * sizes[0] as u128);
        let mut curves = Vec::new();
        for first in (0..grammars).step_by(memory::at_once(table)) {
            let last = grammars.min(first.saturating_add(memory::at_once(table) as u64));
            curves.extend((first..last).into_par_iter().map(measure).collect::<Result<Vec<_>>>()?);
        }
        Ok(SignalStudy { curves })
    }

    /// The inverse ratio at each number of sentences, averaged over all grammars.
    pub fn inverse(&self, average: Average) -> Vec<f64> {
        self.inverse_of(&(0..self.curves.len()).collect::<Vec<_>>(), average)
    }

    /// The number of sentences at which the inverse ratio falls to `threshold` (the paper takes 0.5), interpolated in
    /// the logarithm of both; `None` if it does not cross within the range that was measured.
    pub fn sample_complexity(&self, threshold: f64, average: Average) -> Option<f64> {
        crossing(&self.curves[0].samples, &self.inverse(average), threshold)
    }

    /// An interval that holds `sample_complexity` with this confidence: percentiles over bootstrap samples of the
    /// grammars. `None` for a single grammar, which says nothing about others, and where `sample_complexity` is `None`.
    ///
    /// A sample that does not fall to the threshold within the range that was measured counts as infinity, one that is
    /// below it from the start as 0: an end of the interval is infinite or 0 if the data do not bound it.
    pub fn interval(&self, threshold: f64, average: Average, confidence: f64, seed: Seed) -> Option<(f64, f64)> {
        if self.curves.len() < 2 {
            return None;
        }
        self.sample_complexity(threshold, average)?;
        let resample = |round: u64| {
            let mut stream = seed.child("bootstrap").stream(round);
            let chosen: Vec<usize> =
                self.curves.iter().map(|_| stream.below(self.curves.len() as u64) as usize).collect();
            let inverse = self.inverse_of(&chosen, average);
            let beyond = if inverse.last().is_some_and(|&last| last <= threshold) { 0.0 } else { f64::INFINITY };
            crossing(&self.curves[0].samples, &inverse, threshold).unwrap_or(beyond)
        };
        let mut values: Vec<f64> = (0..BOOTSTRAPS).map(resample).collect();
        values.sort_by(f64::total_cmp);
        values.iter().find(|value| **value > 0.0 && value.is_finite())?;
        let place = |share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
        let tail = (1.0 - confidence.clamp(0.0, 1.0)) / 2.0;
        Some((place(tail), place(1.0 - tail)))
    }

    fn inverse_of(&self, chosen: &[usize], average: Average) -> Vec<f64> {
        let curves = || chosen.iter().map(|&k| &self.curves[k]);
        let signal = mean(curves().map(|curve| curve.signal));
        let at = |size: usize| match average {
            Average::RatioOfMeans => mean(curves().map(|curve| curve.noise[size])) / signal,
            Average::MeanOfRatios => 1.0 / mean(curves().map(|curve| curve.ratio[size])),
        };
        (0..self.curves[0].samples.len()).map(at).collect()
    }
}

/// The rules of the lowest layer that can stand at the position, each with the law of the root given its children.
fn grammatical_tuples(grammar: &Grammar, exact: &PositionedTuples) -> Result<Vec<(Children, Vec<f64>)>> {
    let rules = grammar.layer(grammar.depth() - 1).rules().iter().map(|rule| rule.children);
    let tuples: Vec<(Children, Vec<f64>)> = rules
        .filter(|tuple| tuple.len() == exact.arity())
        .filter_map(|tuple| Some((tuple, exact.conditional(tuple.as_slice())?)))
        .collect();
    if tuples.is_empty() {
        return Err(Error::count("number of grammatical tuples at this position", 0u64, Counts::AtLeast(1)));
    }
    Ok(tuples)
}

const BOOTSTRAPS: u64 = 1000;

/// The most sentences from which a ratio is measured.
const MAX_SAMPLES: u64 = u32::MAX as u64;

/// Increasing numbers of sentences, evenly spaced in their logarithm.
///
/// ```
/// assert_eq!(gardenpath::snr::log_grid(10.0, 1000.0, 3), [10, 100, 1000]);
/// ```
pub fn log_grid(first: f64, last: f64, points: usize) -> Vec<u64> {
    let step = (last / first).ln() / (points.max(2) - 1) as f64;
    let mut grid: Vec<u64> = (0..points).map(|k| (first * (step * k as f64).exp()).round().max(1.0) as u64).collect();
    grid.dedup();
    grid
}

/// Numbers of sentences around which the inverse ratio of an ensemble is expected to fall through 1/2, and a factor of about 30 to
/// both sides.
///
/// The scale is the number of roots times that of the longest rules of a symbol, times `m_s <s>^2 / (s p_s^2)` for each layer above the
/// lowest, with the arity `s` for which that is least: `v m3 (12.5 m2)^(L - 1)` in the paper.
///
/// ```
/// let samples = gardenpath::snr::expected_range(&gardenpath::Ensemble::new(8, 2).fraction(0.125), 12)?;
/// assert!(samples.len() == 12 && samples[0] < 3000 && samples[11] > 3000);
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn expected_range(ensemble: &Ensemble, points: usize) -> Result<Vec<u64>> {
    let (sizes, probabilities) = (ensemble.level_sizes()?, ensemble.probabilities());
    let branching: f64 = probabilities.nonzero().map(|(arity, p)| arity as f64 * p).sum();
    let rules = (0..ensemble.depth()).map(|level| ensemble.rules_per_symbol(level)).collect::<Result<Vec<_>>>()?;
    let (lowest, upper) = rules.split_last().expect("an ensemble has layers");
    let easiest = |rules: &PerArity<usize>| {
        let inverse = |(arity, rules): (usize, usize)| {
            rules as f64 * (branching.powi(2) / (arity as f64 * probabilities[arity].powi(2)))
        };
        rules.nonzero().map(inverse).fold(f64::INFINITY, f64::min)
    };
    let first = sizes[0] * lowest[probabilities.arities().most()];
    let scale = upper.iter().map(easiest).fold(first as f64, |scale, layer| scale * layer);
    Ok(log_grid((0.05 * scale).max(100.0), 50.0 * scale.max(100.0), points))
}

/// Where a falling curve crosses a threshold for the last time, interpolated in the logarithms.
fn crossing(samples: &[u64], values: &[f64], threshold: f64) -> Option<f64> {
    let k = (1..values.len()).rev().find(|&k| values[k - 1] > threshold && values[k] <= threshold)?;
    let (x, y) = ((samples[k - 1] as f64).ln(), (samples[k] as f64).ln());
    let share = (values[k - 1] / threshold).ln() / (values[k - 1] / values[k]).ln();
    Some((x + share * (y - x)).exp())
}

fn square_distance(law: &[f64], other: impl Fn(usize) -> f64) -> f64 {
    law.iter().enumerate().map(|(root, p)| (p - other(root)).powi(2)).sum()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grammars whose inverse ratio begins and ends at these values.
    fn study(ends: &[(f64, f64)]) -> SignalStudy {
        let curve = |&(first, last): &(f64, f64)| SignalToNoise {
            samples: vec![100, 1000],
            signal: 1.0,
            noise: vec![first, last],
            ratio: vec![1.0 / first, 1.0 / last],
        };
        SignalStudy { curves: ends.iter().map(curve).collect() }
    }

    fn interval(ends: &[(f64, f64)]) -> Option<(f64, f64)> {
        study(ends).interval(0.5, Average::RatioOfMeans, 0.9, Seed::new(1))
    }

    #[test]
    fn an_end_that_the_data_do_not_bound_is_open() {
        let (low, high) = interval(&[(0.8, 0.2), (0.9, 0.3), (0.7, 0.25)]).unwrap();
        assert!(low > 100.0 && low < high && high < 1000.0, "{low} {high}");
        // Some of the grammars do not fall to the threshold, and some samples of them hold mostly these.
        let (low, high) = interval(&[(0.9, 0.1), (1.5, 0.8), (0.9, 0.45)]).unwrap();
        assert!(low > 100.0 && high == f64::INFINITY, "{low} {high}");
        // Some are below it from the start.
        let (low, high) = interval(&[(0.8, 0.2), (0.1, 0.05), (0.7, 0.2)]).unwrap();
        assert!(low == 0.0 && high < 1000.0, "{low} {high}");
    }

    #[test]
    fn without_any_crossing_there_is_no_interval() {
        for ends in [(0.9, 0.6), (0.4, 0.3), (f64::NAN, f64::NAN)] {
            assert_eq!(interval(&[ends, ends]), None);
            assert_eq!(study(&[ends]).sample_complexity(0.5, Average::RatioOfMeans), None);
        }
    }
}
