//! How well a grammar predicts the next token, beside the best that is possible.

use crate::corpus::Corpus;
use crate::error::{Counts, Error, Result};
use crate::grammar::{Grammar, Symbol};
use crate::inside::{Inside, Posterior};

/// The loss of predicting each token and the end of a sentence from what stands before, in nats per token.
///
/// Both numbers are mean surprisals of the same sentences, so that their difference has a smaller error than each of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NextTokenScore {
    /// The loss of the learned grammar, on the sentences that it derives, if it derives any.
    pub loss: Option<f64>,
    /// That of the true grammar on the same sentences, if it is known: no predictor does better on average.
    pub floor: Option<f64>,
    /// The share of sentences that the learned grammar derives. Its loss on the others is infinite.
    pub parse_rate: f64,
}

/// Scores a learned grammar on sentences that it has not seen; their roots do not matter.
///
/// ```
/// use gardenpath::learn::score::score_next_token;
/// use gardenpath::{Corpus, Ensemble, Seed};
///
/// let grammar = Ensemble::new(8, 2).fraction(0.125).sample(Seed::new(7))?;
/// let corpus = Corpus::sample(&grammar, Seed::new(8), 0..1000);
/// let score = score_next_token(&grammar, Some(&grammar), &corpus)?;
/// assert_eq!((score.floor, score.parse_rate), (score.loss, 1.0));
/// assert!(score.loss.unwrap() < 8f64.ln());
/// # Ok::<(), gardenpath::Error>(())
/// ```
///
/// # Errors
///
/// If there are no sentences, or if the true grammar is known and does not derive one of them.
pub fn score_next_token(learned: &Grammar, truth: Option<&Grammar>, corpus: &Corpus) -> Result<NextTokenScore> {
    if corpus.is_empty() {
        return Err(Error::count("number of sentences", 0u64, Counts::AtLeast(1)));
    }
    let found = surprisals(learned, corpus)?;
    let derived: Vec<usize> = (0..corpus.len()).filter(|&i| found[i].is_finite()).collect();
    let tokens: usize = derived.iter().map(|&i| corpus.sentence(i).len()).sum();
    let sum = |surprisals: &[f64]| derived.iter().map(|&i| surprisals[i]).sum::<f64>();
    let mean = |surprisals: &[f64]| (tokens > 0).then(|| sum(surprisals) / tokens as f64);
    let best = truth.map(|truth| surprisals(truth, corpus)).transpose()?;
    if let Some(i) = best.iter().flatten().position(|surprisal| surprisal.is_infinite()) {
        return Err(Error::Impossible { sentence: i + 1 });
    }
    let parse_rate = derived.len() as f64 / corpus.len() as f64;
    Ok(NextTokenScore { loss: mean(&found), floor: best.and_then(|best| mean(&best)), parse_rate })
}

/// `-ln p(sentence)`, the sum over all tokens and the end; infinite without a derivation.
fn surprisals(grammar: &Grammar, corpus: &Corpus) -> Result<Vec<f64>> {
    let prior = grammar.prior();
    let surprisal = |posterior: &Posterior| {
        let joint = |root: Symbol| Some(prior[usize::from(root)].ln() + posterior.log_likelihood(root)?);
        let joints: Vec<f64> = posterior.possible_roots().filter_map(joint).collect();
        let most = joints.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if most == f64::NEG_INFINITY {
            return f64::INFINITY;
        }
        -most - joints.iter().map(|joint| (joint - most).exp()).sum::<f64>().ln()
    };
    Ok(Inside::new(grammar).batch(corpus)?.iter().map(surprisal).collect())
}
