//! The expected class entropy of an ensemble of grammars, and the fraction of rules that yields a target entropy.

use crate::corpus::{Corpus, Sampler};
use crate::error::{Counts, Error, Reals, Result};
use crate::grammar::Ensemble;
use crate::inside::Inside;
use crate::memory;
use crate::seed::Seed;

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean.
    pub stderr: f64,
}

impl Estimate {
    /// The mean of some values. The standard error of a single value is NaN.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Estimate { mean, stderr: if values.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { f64::NAN } }
    }
}

/// Sentences held in memory at a time.
const PIECE: u64 = 1 << 16;

/// The expected class entropy `E_G E_X H(Y | X)` in nats: the mean over random grammars and their random sentences.
///
/// The standard error is that over grammars; with a single grammar, that over its sentences. `progress` is called with the
/// number of sentences finished since the last call.
///
/// ```
/// use gardenpath::{Ensemble, Seed, class_entropy};
///
/// let ensemble = Ensemble::new(8, 2).fraction(0.5);
/// let entropy = class_entropy(&ensemble, 4, 100, Seed::new(0), &|_| ())?;
/// assert!(entropy.mean > 0.0 && entropy.mean < 8f64.ln());
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn class_entropy(
    ensemble: &Ensemble,
    grammars: u64,
    sentences: u64,
    seed: Seed,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Estimate> {
    if grammars == 0 || sentences == 0 {
        return Err(Error::count("number of grammars or sentences", 0u64, Counts::AtLeast(1)));
    }
    let bytes = (u128::from(grammars) + u128::from(sentences)) * size_of::<f64>() as u128;
    memory::check(format_args!("the entropy of {grammars} grammars with {sentences} sentences each"), bytes)?;
    let (mut means, mut last) = (Vec::new(), Vec::new());
    for g in 0..grammars {
        let seed = seed.child("ambiguity").nth(g);
        let grammar = ensemble.sample(seed)?;
        let (sampler, inside) = (Sampler::new(&grammar), Inside::new(&grammar));
        last.clear();
        for piece in Corpus::stream(&sampler, seed, 0..sentences, PIECE) {
            last.extend(inside.batch_map(&piece, |posterior| posterior.entropy(), progress)?);
        }
        means.push(last.iter().sum::<f64>() / sentences as f64);
    }
    Ok(if grammars == 1 { Estimate::of(&last) } else { Estimate::of(&means) })
}

/// The fraction of grammatical tuples whose ensemble has the class entropy `wanted` (nats), by bisection on the number of
/// ternary rules; with it the entropy that was measured there.
pub fn fraction_for_entropy(
    ensemble: &Ensemble,
    wanted: f64,
    grammars: u64,
    sentences: u64,
    seed: Seed,
) -> Result<(f64, Estimate)> {
    let all = ensemble.vocab() * ensemble.vocab();
    let measure = |rules: usize| {
        let fraction = rules as f64 / all as f64;
        class_entropy(&ensemble.clone().fraction(fraction), grammars, sentences, seed, &|_| ())
    };
    let (mut low, mut high) = (1, all);
    let (mut below, mut above) = (measure(low)?, measure(high)?);
    if !(below.mean..=above.mean).contains(&wanted) {
        return Err(Error::real("class entropy", wanted, Reals::Between(below.mean, above.mean)));
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        let entropy = measure(middle)?;
        if entropy.mean < wanted {
            (low, below) = (middle, entropy);
        } else {
            (high, above) = (middle, entropy);
        }
    }
    let nearest = if wanted - below.mean < above.mean - wanted { (low, below) } else { (high, above) };
    Ok((nearest.0 as f64 / all as f64, nearest.1))
}
