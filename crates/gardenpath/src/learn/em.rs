//! The baseline: inside-outside expectation maximisation from random starts.
//!
//! Every symbol may have every tuple as a rule; probabilities start at random and follow the expected counts.
//! The likelihood only ever grows, but it has very many maxima, and the best of a few starts is rarely the truth.

use super::census::{Census, labelled};
use super::uses::{count_uses, reestimate};
use super::{Learned, Learner, Outline, Progress};
use crate::arity::PerArity;
use crate::corpus::Corpus;
use crate::error::{Counts, Error, Result};
use crate::grammar::{Grammar, Rule, Symbol};
use crate::inside::Inside;
use crate::seed::{Seed, Stream};
use crate::shape::Shape;
use crate::tuple::TupleCode;

/// The baseline.
///
/// Probabilities of numbers of children that the outline gives are those of the start.
///
/// ```
/// use gardenpath::learn::{Em, Learner, Outline, Progress};
/// use gardenpath::{Corpus, Ensemble, Seed};
///
/// let truth = Ensemble::new(2, 2).fraction(0.5).sample(Seed::new(3))?;
/// let corpus = Corpus::sample(&truth, Seed::new(4), 0..200);
/// let learner = Em { starts: 2, rounds: 10, ..Em::new(Outline::new(2, 2)) };
/// let mut likelihoods = Vec::new();
/// learner.learn(&corpus, &mut |step| {
///     if let Progress::Climbed { log_likelihood, .. } = step {
///         likelihoods.push(*log_likelihood);
///     }
/// })?;
/// assert!(likelihoods[9] > likelihoods[0]);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Em {
    /// What is known about the grammar.
    pub outline: Outline,
    /// How many random starts are tried; the most likely result is kept.
    pub starts: usize,
    /// Steps of each start.
    pub rounds: usize,
    /// The seed of the starts.
    pub seed: Seed,
}

/// The most possible rules per layer; with more, EM would take days.
const MAX_RULES: usize = 1 << 20;

impl Em {
    /// Three starts of 50 steps.
    pub fn new(outline: Outline) -> Self {
        Em { outline, starts: 3, rounds: 50, seed: Seed::new(0) }
    }
}

impl Learner for Em {
    fn learn(&self, corpus: &Corpus, progress: &mut dyn FnMut(&Progress)) -> Result<Learned> {
        let &Em { ref outline, starts, rounds, seed } = self;
        outline.check(Shape::MAX_DEPTH, 4)?;
        let corpus = &*labelled(corpus)?;
        let census = Census::new(corpus, outline)?;
        let sizes = outline.sizes(census.classes(), census.tokens);
        let branching = outline.branching.probabilities();
        let codes: Vec<TupleCode> = sizes[1..].iter().map(|&size| TupleCode::new(size, branching.arities())).collect();
        if sizes.iter().zip(&codes).any(|(parents, code)| parents.saturating_mul(code.len()) > MAX_RULES) {
            return Err(Error::TooManyParameters { sizes, most: MAX_RULES });
        }
        if starts == 0 || rounds == 0 {
            return Err(Error::count("number of starts or rounds", 0u64, Counts::AtLeast(1)));
        }
        let mut best: Option<(Grammar, f64)> = None;
        for start in 0..starts {
            let mut stream = seed.child("em").stream(start as u64);
            let layers = sizes.iter().zip(&codes);
            let mut layers: Vec<Vec<Rule>> =
                layers.map(|(&parents, code)| random_layer(parents, code, branching, &mut stream)).collect();
            layers[0].retain(|rule| census.prior[usize::from(rule.parent)] > 0.0);
            let mut grammar = Grammar::new(sizes.clone(), census.prior.clone(), layers)?;
            for round in 0..rounds {
                let uses = count_uses(&grammar, corpus, 0..corpus.len())?;
                let log_likelihood = uses.log_likelihood / corpus.len() as f64;
                progress(&Progress::Climbed { start: start + 1, step: round + 1, log_likelihood });
                grammar = reestimate(&grammar, &uses)?;
            }
            let log_likelihood = mean_log_likelihood(&grammar, corpus)?;
            if best.as_ref().is_none_or(|best| log_likelihood > best.1) {
                best = Some((grammar, log_likelihood));
            }
        }
        let (grammar, log_likelihood) = best.expect("there is at least one start");
        Ok(Learned { log_likelihood: Some(log_likelihood), ..Learned::unjudged(grammar, 0) })
    }
}

/// The mean log-likelihood per sentence, given the labels; sentences that have no derivation are left out of the sum, as in the steps.
fn mean_log_likelihood(grammar: &Grammar, corpus: &Corpus) -> Result<f64> {
    let posteriors = Inside::new(grammar).batch(corpus)?;
    let of_labels =
        posteriors.iter().zip(corpus.roots()).filter_map(|(posterior, &root)| posterior.log_likelihood(root));
    Ok(of_labels.sum::<f64>() / corpus.len() as f64)
}

/// All possible rules with random probabilities; each number of children begins with its share of the mass.
fn random_layer(parents: usize, code: &TupleCode, branching: PerArity<f64>, stream: &mut Stream) -> Vec<Rule> {
    let mut rules = Vec::with_capacity(parents * code.len());
    for parent in (0..parents).map(|parent| parent as Symbol) {
        let weights: Vec<f64> = (0..code.len()).map(|_| 0.5 + stream.unit()).collect();
        for (arity, share) in branching.nonzero() {
            let total: f64 = weights[code.range(arity)].iter().sum();
            rules.extend(code.range(arity).map(|tuple| Rule {
                parent,
                children: code.children(tuple),
                probability: share * weights[tuple] / total,
            }));
        }
    }
    rules
}
