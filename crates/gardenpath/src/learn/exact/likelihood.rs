//! Are the sentences as likely as sentences sampled from the grammar?

use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::Grammar;
use crate::inside::Inside;
use crate::seed::Seed;
use std::ops::Range;

/// Sentences that are sampled from the grammar for each one that is judged.
const SAMPLES: usize = 4;

/// By how many standard errors the mean log-likelihood of sentences given their labels exceeds that of sentences of the grammar.
///
/// `training` is the number of sentences that the grammar was fitted to: with `k` free probabilities, sentences that it has not seen
/// are expected to be less likely by `k / training` nats than its own.
pub(super) fn deviation(
    grammar: &Grammar,
    corpus: &Corpus,
    sentences: Range<usize>,
    training: usize,
    seed: Seed,
) -> Result<f64> {
    let mut judged = Corpus::default();
    sentences.clone().for_each(|i| judged.push(corpus.sentence(i), corpus.roots()[i]));
    let own = Corpus::sample(grammar, seed.child("likelihood"), 0..(SAMPLES * judged.len()) as u64);
    let inside = Inside::new(grammar);
    let found = Spread::new(&inside, &judged)?;
    let expected = Spread::new(&inside, &own)?;
    let rules: usize = grammar.layers().iter().map(|layer| layer.rules().len()).sum();
    let symbols: usize = grammar.sizes()[..grammar.depth()].iter().sum();
    let bias = rules.saturating_sub(symbols) as f64 / training as f64;
    let error = (found.variance / found.count + expected.variance / expected.count).sqrt();
    let difference = found.mean - expected.mean;
    // Differences that fitting explains are not evidence.
    let beyond = if difference < 0.0 { (difference + bias).min(0.0) } else { difference };
    Ok(if error > 0.0 { beyond / error } else { 0.0 })
}

struct Spread {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Spread {
    /// The log-likelihoods of the sentences that have a derivation, given their labels.
    fn new(inside: &Inside, corpus: &Corpus) -> Result<Self> {
        let posteriors = inside.batch(corpus)?;
        let values: Vec<f64> = posteriors
            .iter()
            .zip(corpus.roots())
            .filter_map(|(posterior, &root)| posterior.log_likelihood(root))
            .collect();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count.max(1.0);
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        Ok(Spread { count: count.max(1.0), mean, variance })
    }
}
