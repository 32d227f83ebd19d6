//! Candidates that are not in the tree: how many there are, and how little they say about the root.
//!
//! One level up, symbols are not seen: a parser finds candidates for them, true and spurious ones. The paper argues that the
//! spurious part of the covariances is negligible beside the true one, although its part of the counts is not.
//!
//! Counts of candidates come from sentences; the true part is exact ([`ExpectedMoments`]), and what is left of the counts is
//! spurious. The squared norm of a noisy vector is too large by its noise. So sentences are divided into two halves, and the
//! inner product of their spurious parts, whose noise is independent, is an unbiased estimate of the squared norm.

use super::{energy, tuples};
use crate::arity::Arities;
use crate::chart::Parser;
use crate::corpus::{Corpus, Sampler};
use crate::error::{Counts, Error, Result};
use crate::grammar::{Grammar, Layer};
use crate::interrupt::checkpoint;
use crate::moments::{Covariance, ExpectedMoments, Moments, Tuples, check_paper, check_table, count_candidates};
use crate::seed::Seed;
use crate::semiring::Recognition;

/// The candidates of a level in a sample of sentences, and the spurious part of them.
///
/// ```
/// use gardenpath::proof::Spurious;
/// use gardenpath::{Ensemble, Seed};
///
/// let grammar = Ensemble::new(8, 3).fraction(0.25).sample(Seed::new(7))?;
/// let spurious = Spurious::measure(&grammar, 2, 100_000, Seed::new(1))?;
/// assert!(spurious.pairs.count > 0.3, "many candidates are spurious: {:?}", spurious.pairs);
/// assert!(spurious.pairs.on_rules < 0.3, "and say little about the root: {:?}", spurious.pairs);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Spurious {
    /// Of pairs of adjacent candidates.
    pub pairs: Share,
    /// Of triples.
    pub triples: Share,
    /// All candidates of all sentences.
    pub moments: Moments,
}

/// How much of the candidates is spurious.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The share of the tuples of candidates that have at least one spurious symbol.
    pub count: f64,
    /// The squared norm of the spurious part of the covariance over that of the true part, on tuples that are rules: what the
    /// paper's proposition calls negligible. An unbiased estimate, so it can be slightly negative.
    pub on_rules: f64,
    /// The same on all tuples.
    pub on_all: f64,
}

impl Spurious {
    /// Counts the candidates of a level between root and tokens in `samples` sentences, at least two.
    pub fn measure(grammar: &Grammar, level: usize, samples: u64, seed: Seed) -> Result<Self> {
        check_paper(grammar.layers())?;
        if !(1..grammar.depth()).contains(&level) {
            return Err(Error::count("level of candidates", level, Counts::Between(1, grammar.depth() - 1)));
        }
        if samples < 2 {
            return Err(Error::count("number of sentences", samples, Counts::AtLeast(2)));
        }
        // The counts, the covariances of both halves, and the true moments with their covariance.
        check_table(grammar.sizes()[level], grammar.classes(), Arities::PAPER, 40)?;
        let half = samples / 2;
        let mut moments = count(grammar, level, 0, half, seed)?;
        let second = count(grammar, level, half, samples, seed)?;
        let halves = [moments.covariance(), second.covariance()];
        moments.merge(&second)?;
        drop(second);
        let truth = ExpectedMoments::of_level(grammar, level)?;
        let true_part = truth.covariance_among(&moments, samples)?;
        let layer = grammar.layer(level - 1);
        let share = |arity: usize| {
            let count = 1.0 - samples as f64 * truth.total(arity) / moments.total(arity) as f64;
            let [on_rules, on_all] = spurious_energy(layer, arity, &true_part, &halves);
            Share { count, on_rules, on_all }
        };
        Ok(Spurious { pairs: share(2), triples: share(3), moments })
    }
}

/// The candidates of the sentences `first..last`.
fn count(grammar: &Grammar, level: usize, first: u64, last: u64, seed: Seed) -> Result<Moments> {
    let (parser, sampler) = (Parser::<Recognition>::new(grammar), Sampler::new(grammar));
    let mut moments = Moments::new(grammar.sizes()[level], grammar.classes())?;
    for corpus in Corpus::stream(&sampler, seed, first..last, PIECE) {
        checkpoint();
        moments.merge(&count_candidates(&parser, &corpus, level, grammar.classes(), Tuples::Adjacent)?)?;
    }
    Ok(moments)
}

/// Sentences that are in memory at a time.
const PIECE: u64 = 1 << 20;

/// The squared norm of the spurious part over that of the true part, on rules and on all tuples.
fn spurious_energy<'c>(layer: &Layer, arity: usize, truth: &'c Covariance, halves: &'c [Covariance; 2]) -> [f64; 2] {
    let spurious = |truth: &[f64], [a, b]: [&[f64]; 2]| -> f64 {
        truth.iter().zip(a).zip(b).map(|((t, a), b)| (a - t) * (b - t)).sum()
    };
    let (mut noise, mut signal) = (0.0, 0.0);
    for tuple in tuples(layer, arity) {
        let row = |covariance: &'c Covariance| covariance.vector(tuple.as_slice());
        noise += spurious(row(truth), halves.each_ref().map(row));
        signal += energy(row(truth));
    }
    let all = |covariance: &'c Covariance| covariance.of_arity(arity);
    [noise / signal, spurious(all(truth), halves.each_ref().map(all)) / energy(all(truth))]
}
