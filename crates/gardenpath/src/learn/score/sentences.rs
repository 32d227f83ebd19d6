//! What a learned grammar answers on fresh sentences, beside the best that is possible.

use super::check_comparable;
use crate::corpus::{Corpus, Sampler};
use crate::error::{Error, Result};
use crate::grammar::{Grammar, Symbol};
use crate::inside::{Inside, Posterior};
use crate::seed::Seed;

/// The answers of one grammar to the question which root a sentence has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answers {
    /// The share of sentences that the grammar derives from some root.
    pub parse_rate: f64,
    /// The share of sentences whose most probable root is the true one.
    pub accuracy: f64,
    /// The mean of `-ln p(root | sentence)`, in nats.
    pub cross_entropy: f64,
    /// The accuracy of the Boolean chart: a guess among all possible roots, each as likely.
    pub boolean_accuracy: f64,
    /// The cross-entropy of that guess.
    pub boolean_cross_entropy: f64,
}

/// Learned and true grammar on the same sentences of the true one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentenceScore {
    /// The number of sentences.
    pub sentences: u64,
    /// What the learned grammar answers.
    pub learned: Answers,
    /// What the true grammar answers: no one can do better on average.
    pub bayes: Answers,
}

/// The least probability that counts: a root that a learned grammar excludes costs `-ln` of this, not infinity.
const FLOOR: f64 = 1e-4;

/// Sentences that are held in memory at a time.
const PIECE: u64 = 1 << 16;

/// What a grammar answers on the sentences of a corpus with known roots.
///
/// A sentence that the grammar does not derive counts as wrong, with the cross-entropy `ln(classes)` of not knowing; a true
/// root that it excludes counts as probability 1e-4.
pub fn answers(grammar: &Grammar, corpus: &Corpus) -> Result<Answers> {
    if corpus.is_empty() {
        return Err(Error::parameter("number of sentences", 0, "at least 1"));
    }
    Ok(Answers::sums(&Inside::new(grammar), corpus)?.divided(corpus.len() as f64))
}

/// Scores a learned grammar on sentences `0..sentences` of the true grammar with this seed (take one that no learner
/// saw).
///
/// Answers count as in [`answers`].
///
/// ```
/// use gardenpath::learn::score::score_sentences;
/// use gardenpath::{Ensemble, Seed};
///
/// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
/// let score = score_sentences(&grammar, &grammar, Seed::new(99), 1000)?;
/// assert_eq!(score.learned, score.bayes);
/// assert!(score.bayes.accuracy > 0.95 && score.bayes.parse_rate == 1.0);
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn score_sentences(learned: &Grammar, truth: &Grammar, seed: Seed, sentences: u64) -> Result<SentenceScore> {
    check_comparable(learned, truth)?;
    if learned.vocab() < truth.vocab() {
        let expected = format!("at least the {} of the true one", truth.vocab());
        return Err(Error::parameter("number of tokens of the learned grammar", learned.vocab(), expected));
    }
    if sentences == 0 {
        return Err(Error::parameter("number of sentences", 0, "at least 1"));
    }
    let sampler = Sampler::new(truth);
    let (learned, truth) = (Inside::new(learned), Inside::new(truth));
    let (mut learned_sums, mut true_sums) = (Answers::default(), Answers::default());
    for corpus in Corpus::stream(&sampler, seed, 0..sentences, PIECE) {
        for (inside, sums) in [(&learned, &mut learned_sums), (&truth, &mut true_sums)] {
            sums.merge(&Answers::sums(inside, &corpus)?);
        }
    }
    let count = sentences as f64;
    Ok(SentenceScore { sentences, learned: learned_sums.divided(count), bayes: true_sums.divided(count) })
}

impl Answers {
    /// The sums over the sentences of a corpus.
    fn sums(inside: &Inside, corpus: &Corpus) -> Result<Self> {
        let mut sums = Answers::default();
        for (posterior, &root) in inside.batch(corpus)?.iter().zip(corpus.roots()) {
            sums.add(posterior, root, inside.grammar().classes());
        }
        Ok(sums)
    }

    fn fields(&mut self) -> [&mut f64; 5] {
        [
            &mut self.parse_rate,
            &mut self.accuracy,
            &mut self.cross_entropy,
            &mut self.boolean_accuracy,
            &mut self.boolean_cross_entropy,
        ]
    }

    fn merge(&mut self, other: &Self) {
        let mut other = *other;
        self.fields().into_iter().zip(other.fields()).for_each(|(sum, more)| *sum += *more);
    }

    fn add(&mut self, posterior: &Posterior, root: Symbol, classes: usize) {
        let possible = posterior.possible_roots().count();
        if possible == 0 {
            self.cross_entropy += (classes as f64).ln();
            self.boolean_cross_entropy += (classes as f64).ln();
            return;
        }
        let allowed = posterior.possible_roots().any(|possible| possible == root);
        let guess = if allowed { 1.0 / possible as f64 } else { 0.0 };
        self.parse_rate += 1.0;
        self.accuracy += if posterior.root() == Some(root) { 1.0 } else { 0.0 };
        self.cross_entropy -= posterior.probability(root).max(FLOOR).ln();
        self.boolean_accuracy += guess;
        self.boolean_cross_entropy -= guess.max(FLOOR).ln();
    }

    fn divided(mut self, count: f64) -> Self {
        self.fields().into_iter().for_each(|sum| *sum /= count);
        self
    }
}
