//! The baseline that users would try: inside-outside expectation maximisation from random starts.
//!
//! Every symbol may have every pair and every triple as a rule; probabilities start at random and follow the expected counts.
//! The likelihood only ever grows, but it has very many maxima, and the best of a few starts is rarely the truth.

use super::uses::{count_uses, reestimate};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::grammar::{Children, Grammar, Rule, Symbol};
use crate::seed::{Seed, Stream};

/// What the baseline is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of symbols of each level.
    pub vocab: usize,
    /// The number of layers of rules.
    pub depth: usize,
    /// How many random starts are tried; the most likely result is kept.
    pub starts: usize,
    /// Steps of each start.
    pub rounds: usize,
    /// The seed of the starts.
    pub seed: Seed,
}

/// What the baseline found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The most likely grammar.
    pub grammar: Grammar,
    /// Its mean log-likelihood per sentence, given the labels.
    pub log_likelihood: f64,
}

/// Beyond this many rules per layer the baseline would take days.
const MAX_RULES: usize = 1 << 20;

/// Runs the baseline. `progress` is told about every step.
///
/// ```
/// use gardenpath::learn::em::{Options, learn};
/// use gardenpath::{Corpus, Ensemble, Seed};
///
/// let truth = Ensemble::new(2, 2).fraction(0.5).sample(Seed::new(3))?;
/// let corpus = Corpus::sample(&truth, Seed::new(4), 0..200);
/// let options = Options { vocab: 2, depth: 2, starts: 2, rounds: 10, seed: Seed::new(0) };
/// let mut likelihoods = Vec::new();
/// learn(&corpus, &options, &mut |_, _, likelihood| likelihoods.push(likelihood))?;
/// assert!(likelihoods[9] > likelihoods[0]);
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn learn(corpus: &Corpus, options: &Options, progress: &mut dyn FnMut(usize, usize, f64)) -> Result<Found> {
    let Options { vocab, depth, starts, rounds, .. } = *options;
    let rules = vocab.saturating_pow(3).saturating_add(vocab.saturating_pow(4));
    if rules > MAX_RULES {
        return Err(Error::parameter(
            "vocab",
            vocab,
            format!("at most {MAX_RULES} possible rules per layer for this mode"),
        ));
    }
    if starts == 0 || rounds == 0 {
        return Err(Error::parameter("number of starts and rounds", 0, "at least 1 of each"));
    }
    let mut best: Option<Found> = None;
    for start in 0..starts {
        let mut stream = options.seed.child("em").stream(start as u64);
        let layers = (0..depth).map(|_| random_layer(vocab, &mut stream)).collect();
        let mut grammar = Grammar::new(vec![vocab; depth + 1], vec![1.0 / vocab as f64; vocab], layers)?;
        let mut log_likelihood = f64::NEG_INFINITY;
        for round in 0..rounds {
            let uses = count_uses(&grammar, corpus, 0..corpus.len())?;
            log_likelihood = uses.log_likelihood / corpus.len() as f64;
            progress(start, round, log_likelihood);
            grammar = reestimate(&grammar, &uses)?;
        }
        if best.as_ref().is_none_or(|best| log_likelihood > best.log_likelihood) {
            best = Some(Found { grammar, log_likelihood });
        }
    }
    Ok(best.expect("there is at least one start"))
}

/// All possible rules with random probabilities.
fn random_layer(vocab: usize, stream: &mut Stream) -> Vec<Rule> {
    let symbols = || (0..vocab).map(|k| k as Symbol);
    let pairs = symbols().flat_map(|a| symbols().map(move |b| Children::pair(a, b)));
    let triple = |pair: Children| symbols().map(move |c| Children::triple(pair.as_slice()[0], pair.as_slice()[1], c));
    let sides: Vec<Children> = pairs.clone().chain(pairs.flat_map(triple)).collect();
    let mut rules = Vec::with_capacity(vocab * sides.len());
    for parent in symbols() {
        // Pairs and triples begin with half of the mass each.
        let kind = |children: &Children| children.len() - 2;
        let weights: Vec<f64> = sides.iter().map(|_| 0.5 + stream.unit()).collect();
        let mut totals = [0.0; 2];
        sides.iter().zip(&weights).for_each(|(children, weight)| totals[kind(children)] += weight);
        rules.extend(sides.iter().zip(&weights).map(|(children, weight)| Rule {
            parent,
            children: *children,
            probability: 0.5 * weight / totals[kind(children)],
        }));
    }
    rules
}
