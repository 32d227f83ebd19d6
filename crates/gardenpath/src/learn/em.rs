//! The baseline that users would try: inside-outside expectation maximisation from random starts.
//!
//! Every symbol may have every pair and every triple as a rule; probabilities start at random and follow the expected counts.
//! The likelihood only ever grows, but it has very many maxima, and the best of a few starts is rarely the truth.

use super::data::Census;
use super::uses::{count_uses, reestimate};
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::grammar::{Children, Grammar, Rule, Symbol};
use crate::inside::Inside;
use crate::seed::{Seed, Stream};

/// What the baseline is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of symbols of each level between the root and the tokens.
    pub vocab: usize,
    /// The number of layers of rules.
    pub depth: usize,
    /// How many random starts are tried; the most likely result is kept.
    pub starts: usize,
    /// Steps of each start.
    pub rounds: usize,
    /// The seed of the starts.
    pub seed: Seed,
    /// The least number of tokens. There are more if the corpus has more.
    pub tokens: usize,
    /// The least number of classes. There are more if the labels say so; classes that never occur get no rules.
    pub classes: usize,
}

impl Options {
    /// Options for grammars with `vocab` symbols between root and tokens and `depth` layers: three starts of 50 steps.
    pub fn new(vocab: usize, depth: usize) -> Self {
        Options { vocab, depth, starts: 3, rounds: 50, seed: Seed::new(0), tokens: 0, classes: 0 }
    }
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
/// let options = Options { starts: 2, rounds: 10, ..Options::new(2, 2) };
/// let mut likelihoods = Vec::new();
/// learn(&corpus, &options, &mut |_, _, likelihood| likelihoods.push(likelihood))?;
/// assert!(likelihoods[9] > likelihoods[0]);
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn learn(corpus: &Corpus, options: &Options, progress: &mut dyn FnMut(usize, usize, f64)) -> Result<Found> {
    let Options { vocab, depth, starts, rounds, .. } = *options;
    let census = Census::new(corpus, options.tokens, options.classes)?;
    let mut sizes = vec![vocab; depth.saturating_sub(1)];
    sizes.insert(0, census.classes());
    sizes.push(census.tokens);
    let possible = |layer: &[usize]| {
        layer[0].saturating_mul(layer[1].saturating_pow(2).saturating_add(layer[1].saturating_pow(3)))
    };
    if sizes.windows(2).any(|layer| possible(layer) > MAX_RULES) {
        return Err(Error::parameter(
            "number of symbols per level",
            format!("{sizes:?}"),
            format!("at most {MAX_RULES} possible rules per layer for this mode"),
        ));
    }
    if starts == 0 || rounds == 0 {
        return Err(Error::parameter("number of starts and rounds", 0, "at least 1 of each"));
    }
    let mut best: Option<Found> = None;
    for start in 0..starts {
        let mut stream = options.seed.child("em").stream(start as u64);
        let mut layers: Vec<Vec<Rule>> =
            sizes.windows(2).map(|layer| random_layer(layer[0], layer[1], &mut stream)).collect();
        layers[0].retain(|rule| census.prior[usize::from(rule.parent)] > 0.0);
        let mut grammar = Grammar::new(sizes.clone(), census.prior.clone(), layers)?;
        for round in 0..rounds {
            let uses = count_uses(&grammar, corpus, 0..corpus.len())?;
            progress(start, round, uses.log_likelihood / corpus.len() as f64);
            grammar = reestimate(&grammar, &uses)?;
        }
        let log_likelihood = mean_log_likelihood(&grammar, corpus)?;
        if best.as_ref().is_none_or(|best| log_likelihood > best.log_likelihood) {
            best = Some(Found { grammar, log_likelihood });
        }
    }
    Ok(best.expect("there is at least one start"))
}

/// The mean log-likelihood per sentence, given the labels; sentences that have no derivation are left out of the sum, as in the steps.
fn mean_log_likelihood(grammar: &Grammar, corpus: &Corpus) -> Result<f64> {
    let posteriors = Inside::new(grammar).batch(corpus)?;
    let of_labels =
        posteriors.iter().zip(corpus.roots()).filter_map(|(posterior, &root)| posterior.log_likelihood(root));
    Ok(of_labels.sum::<f64>() / corpus.len() as f64)
}

/// All possible rules with random probabilities.
fn random_layer(parents: usize, children: usize, stream: &mut Stream) -> Vec<Rule> {
    let symbols = || (0..children).map(|k| k as Symbol);
    let pairs = symbols().flat_map(|a| symbols().map(move |b| Children::from([a, b])));
    let triple = |pair: Children| symbols().map(move |c| Children::from([pair.as_slice()[0], pair.as_slice()[1], c]));
    let sides: Vec<Children> = pairs.clone().chain(pairs.flat_map(triple)).collect();
    let mut rules = Vec::with_capacity(parents * sides.len());
    for parent in (0..parents).map(|k| k as Symbol) {
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
