//! What a learned grammar answers on fresh sentences, beside the best that is possible.

use super::check_comparable;
use crate::corpus::{Corpus, Sampler};
use crate::error::{Counts, Error, Result};
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
    /// The mean of `-ln p(root | sentence)`, in nats; see [`answers`] for what a grammar excludes.
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
    /// What the true grammar answers: no classifier does better on average.
    pub bayes: Answers,
}

/// A true root that a grammar excludes costs `-ln` of this, not infinity. That never happens to the grammar that made the sentence.
const EXCLUDED: f64 = 1e-4;

/// Sentences that are held in memory at a time.
const PIECE: u64 = 1 << 16;

/// What a grammar answers on the sentences of a corpus with known roots.
///
/// A sentence that the grammar does not derive counts as wrong, with the cross-entropy `ln(classes)` of not knowing; a true
/// root that it excludes, as learned grammars do, counts as probability 1e-4. Any probability that it does give counts as it is,
/// however small: the loss of the true grammar is exact.
pub fn answers(grammar: &Grammar, corpus: &Corpus) -> Result<Answers> {
    if corpus.is_empty() {
        return Err(Error::count("number of sentences", 0u64, Counts::AtLeast(1)));
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
        let (what, least) = ("number of tokens of the learned grammar", truth.vocab());
        return Err(Error::count(what, learned.vocab(), Counts::AtLeast(least)));
    }
    if sentences == 0 {
        return Err(Error::count("number of sentences", 0u64, Counts::AtLeast(1)));
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
            sums.add(posterior, root, inside.grammar().prior());
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

    fn add(&mut self, posterior: &Posterior, root: Symbol, prior: &[f64]) {
        let possible = posterior.possible_roots().count();
        if possible == 0 {
            let guessing = (prior.len() as f64).ln();
            self.cross_entropy += guessing;
            self.boolean_cross_entropy += guessing;
            return;
        }
        self.parse_rate += 1.0;
        self.accuracy += if posterior.root() == Some(root) { 1.0 } else { 0.0 };
        self.cross_entropy -= log_probability(posterior, root, prior).unwrap_or(EXCLUDED.ln());
        if posterior.possible_roots().any(|possible| possible == root) {
            let guess = 1.0 / possible as f64;
            self.boolean_accuracy += guess;
            self.boolean_cross_entropy -= guess.ln();
        } else {
            self.boolean_cross_entropy -= EXCLUDED.ln();
        }
    }

    fn divided(mut self, count: f64) -> Self {
        self.fields().into_iter().for_each(|sum| *sum /= count);
        self
    }
}

/// The logarithm of the probability of a root given the sentence, also where the probability is too small for an `f64`; `None` if
/// the root is excluded.
fn log_probability(posterior: &Posterior, root: Symbol, prior: &[f64]) -> Option<f64> {
    let probability = posterior.probability(root);
    if probability >= f64::MIN_POSITIVE {
        return Some(probability.ln());
    }
    let joint = |root: Symbol| Some(posterior.log_likelihood(root)? + prior.get(usize::from(root))?.ln());
    let best = posterior.root()?;
    let log = joint(root)? - joint(best)? + posterior.probability(best).ln();
    (log > f64::NEG_INFINITY).then_some(log)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Children, Rule};

    /// Two roots with the same two rules, of which the second root hardly ever uses the first one.
    fn lopsided(rare: f64) -> Grammar {
        let rule =
            |parent, symbol, probability| Rule { parent, children: Children::from([symbol, symbol]), probability };
        let rules = vec![rule(0, 0, 0.5), rule(0, 1, 0.5), rule(1, 0, rare), rule(1, 1, 1.0 - rare)];
        Grammar::new(vec![2, 2], vec![0.5; 2], vec![rules]).unwrap()
    }

    fn corpus(sentences: &[([Symbol; 2], Symbol)]) -> Corpus {
        let mut corpus = Corpus::default();
        sentences.iter().for_each(|(sentence, root)| corpus.push(sentence, *root));
        corpus
    }

    #[test]
    fn the_loss_of_the_true_grammar_is_not_clipped() {
        for rare in [1e-3, 1e-6, 1e-300, 1e-320] {
            let loss = answers(&lopsided(rare), &corpus(&[([0, 0], 1)])).unwrap().cross_entropy;
            let expected = -(rare / (0.5 + rare)).ln();
            assert!((loss - expected).abs() < 1e-9 * expected, "{rare}: {loss}, not {expected}");
        }
        // A posterior below the smallest f64.
        let rule =
            |parent, probability, symbol| Rule { parent, children: Children::from([symbol, symbol]), probability };
        let rules = vec![rule(0, 1.0, 0), rule(1, 1e-200, 0), rule(1, 1.0, 1)];
        let grammar = Grammar::new(vec![2, 2], vec![1.0, 1e-200], vec![rules]).unwrap();
        let loss = answers(&grammar, &corpus(&[([0, 0], 1)])).unwrap().cross_entropy;
        assert!((loss - 400.0 * 10f64.ln()).abs() < 1e-9 * loss, "{loss}");
    }

    #[test]
    fn what_a_grammar_excludes_has_a_finite_loss() {
        let rule = |parent, symbol| Rule { parent, children: Children::from([symbol, symbol]), probability: 1.0 };
        let grammar = Grammar::new(vec![2, 2], vec![0.5; 2], vec![vec![rule(0, 0), rule(1, 1)]]).unwrap();
        let excluded = answers(&grammar, &corpus(&[([0, 0], 1)])).unwrap();
        let cost = -1e-4f64.ln();
        assert_eq!((excluded.cross_entropy, excluded.boolean_cross_entropy, excluded.accuracy), (cost, cost, 0.0));
        let impossible = answers(&grammar, &corpus(&[([0, 1], 1)])).unwrap();
        assert_eq!((impossible.cross_entropy, impossible.parse_rate), (2f64.ln(), 0.0));
    }
}
