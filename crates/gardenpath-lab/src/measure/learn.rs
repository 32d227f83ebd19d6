//! A grammar learned from sentences and their roots, and how good it is.

use anyhow::Result;
use gardenpath::learn::em;
use gardenpath::learn::exact::{self, Verdict};
use gardenpath::learn::paper::PaperLearner;
use gardenpath::learn::score::{LevelScore, RuleScore, answers, score_rules};
use gardenpath::{Corpus, Seed};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learn {
    mode: Mode,
    vocab: usize,
    depth: usize,
    fraction: f64,
    samples: u64,
    #[serde(default = "super::test_sentences")]
    test: u64,
    seed: u64,
}

pub(super) const PARAMETERS: &[&str] = &["mode", "vocab", "depth", "fraction", "samples", "test", "seed"];

/// How to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The learner that recovers every rule.
    Exact,
    /// The algorithms of the paper.
    Paper,
    /// Inside-outside from random starts.
    Em,
}

impl Learn {
    pub(super) fn run(&self) -> Result<Value> {
        let &Learn { mode, vocab, depth, samples, .. } = self;
        let truth = super::grammar(vocab, depth, self.fraction, self.seed)?;
        let seed = Seed::new(self.seed);
        let corpus = Corpus::try_sample(&truth, seed, 0..samples)?;
        let (learned, verdict) = match mode {
            Mode::Exact => {
                let options =
                    exact::Options { seed, tokens: vocab, classes: vocab, ..exact::Options::new(vocab, depth) };
                let learned = exact::learn(&corpus, &options, &mut |_| ())?;
                (learned.grammar, Some(learned.verdict))
            }
            Mode::Paper => {
                let learner = PaperLearner::new(vocab, depth).sizes(vocab, vocab).clustering(10, seed);
                (learner.learn(&corpus)?.grammar, None)
            }
            Mode::Em => {
                let options = em::Options { seed, tokens: vocab, classes: vocab, ..em::Options::new(vocab, depth) };
                (em::learn(&corpus, &options, &mut |_, _, _| ())?.grammar, None)
            }
        };
        let scores = score_rules(&learned, &truth)?;
        let test = Corpus::try_sample(&truth, seed.child("test"), 0..self.test)?;
        let (learned, bayes) = (answers(&learned, &test)?, answers(&truth, &test)?);
        Ok(json!({
            "accuracy": learned.accuracy,
            "bayes_accuracy": bayes.accuracy,
            "parse_rate": learned.parse_rate,
            "normalized_error": normalized_error(learned.accuracy, vocab),
            "bayes_normalized_error": normalized_error(bayes.accuracy, vocab),
            "precision": over_rules(&scores, RuleScore::precision),
            "recall": over_rules(&scores, RuleScore::recall),
            "all_rules": scores.iter().all(LevelScore::is_exact),
            "converged": verdict.map(|verdict| verdict == Verdict::Converged),
        }))
    }

    pub(super) fn work(&self) -> f64 {
        let rounds = match self.mode {
            Mode::Exact => 40.0,
            Mode::Paper => 1.0,
            Mode::Em => 300.0,
        };
        rounds * self.samples as f64 * super::length(self.depth).powf(1.5)
    }
}

/// The share of wrong answers in units of guessing: 1 knows nothing, 0 everything.
pub(super) fn normalized_error(accuracy: f64, classes: usize) -> f64 {
    (1.0 - accuracy) / (1.0 - 1.0 / classes as f64)
}

/// The mean of a score over layers and arities.
fn over_rules(scores: &[LevelScore], score: impl Fn(&RuleScore) -> f64) -> f64 {
    let all: Vec<f64> = scores.iter().flat_map(|level| [score(&level.binary), score(&level.ternary)]).collect();
    all.iter().sum::<f64>() / all.len() as f64
}
