//! Reads a sentence token by token: surprisals and the posterior over the root.

use crate::files::Names;
use anyhow::Result;
use gardenpath::{Grammar, Inside, Predictor, Symbol};
use serde::Serialize;

/// The surprisal of each token, and the posterior over the root after it.
///
/// ```
/// use gardenpath::{Ensemble, Seed};
/// use gardenpath_lab::reading::Reading;
///
/// let grammar = Ensemble::new(4, 2).fraction(1.0).sample(Seed::new(1))?;
/// let reading = Reading::new(&grammar, vec![0, 1, 2, 3])?;
/// // Before the first token, after each of four, and after the end.
/// assert_eq!((reading.steps.len(), reading.surprisal.len()), (6, 5));
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Serialize)]
pub struct Reading {
    /// The sentence.
    pub tokens: Vec<Symbol>,
    /// Its length.
    pub len: usize,
    /// `ln P(sentence)`.
    pub logprob: Option<f64>,
    /// `-ln` of the probability of each token, and of the end.
    pub surprisal: Vec<Option<f64>>,
    /// Before the first token, after each, and after the end.
    #[serde(rename = "prefixes")]
    pub steps: Vec<Step>,
    /// The names of the sentence's tokens, if the grammar has names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<String>>,
    /// The names of all classes, if the grammar has names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_names: Option<Vec<String>>,
}

/// The posterior over the root.
#[derive(Serialize)]
pub struct Step {
    /// The most probable root.
    pub root: Option<Symbol>,
    /// The probability of each root, if the prefix is possible.
    pub posterior: Option<Vec<f64>>,
    /// The entropy in nats.
    pub entropy: Option<f64>,
}

impl Step {
    fn of(posterior: &[f64]) -> Self {
        let likely = most_probable(posterior);
        let entropy = -posterior.iter().filter(|p| **p > 0.0).map(|p| p * p.ln()).sum::<f64>();
        Step {
            root: likely.map(|(root, _)| root as Symbol),
            posterior: likely.map(|_| posterior.to_vec()),
            // The entropy of a certain root is 0, not -0.
            entropy: likely.map(|_| entropy.max(0.0)),
        }
    }
}

impl Reading {
    /// Reads a sentence.
    pub fn new(grammar: &Grammar, tokens: Vec<Symbol>) -> Result<Self> {
        let predictor = Predictor::new(grammar);
        let mut reader = predictor.reader();
        // A certain token has surprisal 0, not -0.
        let surprisal = |p: f64| Some(0.0 - p.ln()).filter(|surprisal| surprisal.is_finite());
        let (mut surprisals, mut steps) = (Vec::new(), vec![Step::of(grammar.prior())]);
        for &token in &tokens {
            surprisals.push(surprisal(reader.next()[usize::from(token)]));
            reader.push(token)?;
            steps.push(Step::of(&reader.hidden(0)));
        }
        let end = reader.next()[grammar.vocab()];
        surprisals.push(surprisal(end));
        let posterior = Inside::new(grammar).posterior(&tokens)?;
        let roots = (0..grammar.classes()).map(|root| posterior.probability(root as Symbol));
        steps.push(Step::of(&roots.collect::<Vec<_>>()));
        let names = Names::of(grammar);
        let words = |names: Vec<String>| tokens.iter().map(|&token| names[usize::from(token)].clone()).collect();
        Ok(Reading {
            len: tokens.len(),
            logprob: Some(reader.log_probability() + end.ln()).filter(|log| log.is_finite()),
            surprisal: surprisals,
            steps,
            words: names.tokens.map(words),
            root_names: names.roots,
            tokens,
        })
    }

    /// The labels of the steps: nothing, the tokens, and the end.
    pub fn labels(&self, grammar: &Grammar) -> Vec<String> {
        let tokens = self.tokens.iter().map(|&token| grammar.name(grammar.depth(), token).into_owned());
        std::iter::once("start".to_owned()).chain(tokens).chain(["end".to_owned()]).collect()
    }
}

/// The index and value of the largest probability; the first one if tied.
pub fn most_probable(row: &[f64]) -> Option<(usize, f64)> {
    let larger = |best: Option<(usize, f64)>, (place, &p): (usize, &f64)| match best {
        Some((_, most)) if most >= p => best,
        _ => Some((place, p)),
    };
    row.iter().enumerate().filter(|(_, p)| **p > 0.0).fold(None, larger)
}
