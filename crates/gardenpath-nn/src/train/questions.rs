//! Batches of questions about the sentences of a corpus.

use crate::network::Network;
use crate::task::{Masked, Task};
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
