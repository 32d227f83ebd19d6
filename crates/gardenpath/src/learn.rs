//! Learning a grammar from sentences and their root labels.
//!
//! | learner | what it is |
//! |---|---|
//! | [`Exact`] | recovers every rule, or says why not |
//! | [`Em`] | inside-outside from random starts, the baseline |
//! | [`Paper`] | the algorithm of the paper, as it stands |
//!
//! Each is a [`Learner`]: given an [`Outline`] of the grammar and a corpus it returns a [`Learned`] grammar. [`score`] measures how close
//! that is to the truth. The labels are the roots of the corpus; if none of its sentences has one (all are 255), they are all of one
//! class.
//!
//! ```
//! use gardenpath::learn::{Em, Exact, Learner, Outline, Paper};
//! use gardenpath::{Corpus, Ensemble, Seed};
//!
//! let truth = Ensemble::new(3, 2).fraction(0.3).sample(Seed::new(7))?;
//! let corpus = Corpus::sample(&truth, Seed::new(1), 0..2000);
//! let outline = Outline::new(3, 2);
//! let learners: [&dyn Learner; 3] = [
//!     &Exact::new(outline.clone()),
//!     &Paper::new(outline.clone()),
//!     &Em { rounds: 5, ..Em::new(outline) },
//! ];
//! for learner in learners {
//!     let learned = learner.learn(&corpus, &mut |step| println!("{step}"))?;
//!     assert_eq!(learned.grammar.sizes(), [3, 3, 3]);
//! }
//! # Ok::<(), gardenpath::Error>(())
//! ```

pub(crate) mod census;
mod em;
mod exact;
mod outline;
pub mod paper;
mod progress;
pub mod score;
pub(crate) mod shards;
pub(crate) mod uses;

pub use em::Em;
pub use exact::Exact;
pub use outline::{Branching, Outline};
pub use paper::Paper;
pub use progress::Progress;

use crate::arity::PerArity;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Grammar, Layer};

/// A way to learn grammars, with its options.
pub trait Learner {
    /// Learns a grammar from sentences and their labels; `progress` is told about every step.
    fn learn(&self, corpus: &Corpus, progress: &mut dyn FnMut(&Progress)) -> Result<Learned>;
}

/// A learned grammar, and what the learner says about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The grammar, of the same type as a sampled one. Its roots are the labels, with their frequencies as prior; the symbols of inner
    /// levels are numbered arbitrarily.
    pub grammar: Grammar,
    /// Whether it can be trusted: a self-check that needs no ground truth.
    pub verdict: Verdict,
    /// What was learned about each level of parents, from the root down.
    pub levels: Vec<LearnedLevel>,
    /// The number of sentences that were skipped because no tree has their length, if the learner skips such.
    pub skipped: Option<usize>,
    /// The number of sentences that the grammar does not derive from their label, skipped ones left out, if the learner counts them.
    pub underivable: Option<usize>,
    /// The mean log-likelihood of a sentence given its label, if the learner maximises it.
    pub log_likelihood: Option<f64>,
}

/// Whether a learned grammar can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passed every test.
    Converged,
    /// It is wrong or incomplete, for this reason.
    NotConverged(String),
    /// The learner does not judge itself.
    Unknown,
}

/// The rules that were learned for the symbols of one level.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedLevel {
    /// The level of the parents: 0 is the root.
    pub level: usize,
    /// The number of rules with each number of children.
    pub rules: PerArity<usize>,
    /// The probability of each number of children, in the mean over the symbols that have rules.
    pub probabilities: PerArity<f64>,
    /// The number of symbols for which no rule was found: of those that the learner was told of, or of the classes that occur.
    pub empty_symbols: usize,
}

impl Learned {
    /// What a learner that does not judge itself has found; `empty_classes` are those for which it found no rule.
    fn unjudged(grammar: Grammar, empty_classes: usize) -> Self {
        let mut empty_symbols = vec![0; grammar.depth()];
        empty_symbols[0] = empty_classes;
        let levels = LearnedLevel::of(&grammar, &empty_symbols);
        Learned { grammar, verdict: Verdict::Unknown, levels, skipped: None, underivable: None, log_likelihood: None }
    }
}

impl LearnedLevel {
    /// The levels of a grammar, given the number of symbols of each for which no rule was found.
    fn of(grammar: &Grammar, empty_symbols: &[usize]) -> Vec<Self> {
        let level = |(level, (layer, &empty_symbols)): (usize, (&Layer, &usize))| {
            let parents = layer.rules().chunk_by(|x, y| x.parent == y.parent).count() as f64;
            let (mut rules, mut probabilities) = (PerArity::default(), PerArity::default());
            for rule in layer.rules() {
                rules[rule.children.len()] += 1;
                probabilities[rule.children.len()] += rule.probability / parents;
            }
            LearnedLevel { level, rules, probabilities, empty_symbols }
        };
        grammar.layers().iter().zip(empty_symbols).enumerate().map(level).collect()
    }
}
