//! Batches of questions about the sentences of a corpus, and the losses of a network's answers.

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::loss::cross_entropy;
use crate::network::Network;
use crate::task::{Masked, Task};
use gardenpath::interrupt::checkpoint;
use gardenpath::{Corpus, Seed, Symbol};
use std::borrow::Cow;

/// Which tokens of a test set are masked: each with probability `rate`, by the rule and the random numbers of
/// [`Floor::measure`](gardenpath::Floor::measure) with the same seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Masks {
    /// The share of masked tokens.
    pub rate: f64,
    /// Masks are a function of it and of the number of the sentence.
    pub seed: Seed,
}

/// A batch: sentences as the network sees them, and the right answers to all questions about them.
pub struct Questions<'a> {
    sentences: Vec<Cow<'a, [Symbol]>>,
    /// The right answers.
    pub answers: Vec<Symbol>,
}

impl<'a> Questions<'a> {
    /// The questions of a network about some sentences of a corpus. `mask` masks a sentence, given its place among these.
    pub fn new(
        network: &Network,
        corpus: &'a Corpus,
        numbers: &[usize],
        mask: impl Fn(usize, &[Symbol]) -> Masked,
    ) -> Self {
        let mut questions = Questions { sentences: Vec::with_capacity(numbers.len()), answers: Vec::new() };
        for (place, &number) in numbers.iter().enumerate() {
            let sentence = corpus.sentence(number);
            let (seen, answers) = match network.task {
                Task::Root => (Cow::Borrowed(sentence), vec![corpus.roots()[number]]),
                Task::Next => (Cow::Borrowed(sentence), Task::Next.answers(network.vocab, sentence)),
                Task::Masked => {
                    let Masked { sentence, answers } = mask(place, sentence);
                    (Cow::Owned(sentence), answers)
                }
            };
            questions.sentences.push(seen);
            questions.answers.extend(answers);
        }
        questions
    }

    /// The sentences as the network sees them.
    pub fn sentences(&self) -> Vec<&[Symbol]> {
        self.sentences.iter().map(AsRef::as_ref).collect()
    }
}

/// Sentences of a batch of the test set. Larger batches than in training share more work.
const TEST_BATCH: usize = 512;

/// The loss on a corpus, per [unit of the task](Task::units), and the share of questions whose answer has the largest logit. `masks` are those
/// of a network that tells masked tokens.
///
/// # Errors
/// There is no sentence or no masked token, or the network cannot read some sentence.
pub fn evaluate(engine: &mut impl Engine, corpus: &Corpus, masks: Masks) -> Result<(f64, f64)> {
    if corpus.is_empty() {
        return Err(Error::TooSmall { what: "number of test sentences", value: 0, least: 1 });
    }
    let Network { task, vocab, .. } = *engine.network();
    let outputs = engine.network().outputs();
    let (mut loss, mut right, mut count) = (0.0, 0usize, 0);
    for first in (0..corpus.len()).step_by(TEST_BATCH) {
        checkpoint();
        let numbers: Vec<usize> = (first..corpus.len().min(first + TEST_BATCH)).collect();
        let mask = |place, sentence: &[Symbol]| {
            Masked::random(vocab, sentence, masks.rate, masks.seed, (first + place) as u64)
        };
        let questions = Questions::new(engine.network(), corpus, &numbers, mask);
        let logits = engine.logits(&questions.sentences())?;
        for (logits, &answer) in logits.chunks_exact(outputs).zip(&questions.answers) {
            loss += cross_entropy(logits, answer);
            let best = logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(class, _)| class);
            right += usize::from(best == Some(usize::from(answer)));
        }
        count += questions.answers.len();
    }
    if count == 0 {
        return Err(Error::TooSmall { what: "number of masked tokens", value: 0, least: 1 });
    }
    Ok((loss / task.units(corpus.len(), count), right as f64 / count as f64))
}
