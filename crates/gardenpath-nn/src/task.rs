//! Tasks: the questions about a sentence, and the right answers.
//!
//! A network outputs one row of logits per question. The number of questions depends on the task and the sentence: one about its
//! root, one before each token and at the end, or one for each masked token.

use gardenpath::{Seed, Symbol, random_mask};
use serde::{Deserialize, Serialize};

/// What to predict.
///
/// ```
/// use gardenpath_nn::Task;
///
/// // Questions before each of three tokens and at the end, where the number of tokens, 8, stands for the end.
/// assert_eq!(Task::Next.answers(8, &[5, 0, 7]), [5, 0, 7, 8]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// The root, from the whole sentence.
    #[default]
    Root,
    /// Every token from those before it, and the end of the sentence.
    Next,
    /// Tokens that are masked, from all others.
    Masked,
}

impl Task {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Task::Root => "root",
            Task::Next => "next",
            Task::Masked => "masked",
        }
    }

    /// Whether the task is to name roots.
    pub fn is_root(&self) -> bool {
        *self == Task::Root
    }

    /// The right answers that the sentence itself contains: those of [`Task::Next`]; none for other tasks.
    pub fn answers(self, vocab: usize, sentence: &[Symbol]) -> Vec<Symbol> {
        match self {
            Task::Next => sentence.iter().copied().chain([vocab as Symbol]).collect(),
            Task::Root | Task::Masked => Vec::new(),
        }
    }

    /// The number of questions about a sentence: rows of logits.
    pub fn questions(self, vocab: usize, sentence: &[Symbol]) -> usize {
        match self {
            Task::Root => 1,
            Task::Next => sentence.len() + 1,
            Task::Masked => sentence.iter().filter(|&&token| usize::from(token) == vocab).count(),
        }
    }

    /// By what the sum of the losses of all questions about some sentences is divided: losses are per sentence (root), per token (next) or per
    /// masked token.
    pub fn units(self, sentences: usize, questions: usize) -> f64 {
        match self {
            Task::Root => sentences as f64,
            Task::Next => (questions - sentences) as f64,
            Task::Masked => questions as f64,
        }
    }
}

/// A sentence with masked tokens, and what they were. The number of tokens, `vocab`, stands for the mask.
///
/// ```
/// use gardenpath_nn::Masked;
///
/// let masked = Masked::new(8, &[5, 0, 7, 1], &[0, 3]);
/// assert_eq!(masked.sentence, [8, 0, 7, 8]);
/// assert_eq!(masked.answers, [5, 1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// The sentence as the network sees it.
    pub sentence: Vec<Symbol>,
    /// The tokens behind the masks.
    pub answers: Vec<Symbol>,
}

impl Masked {
    /// Masks the tokens at some positions.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn new(vocab: usize, sentence: &[Symbol], positions: &[usize]) -> Self {
        let mut masked = sentence.to_vec();
        positions.iter().for_each(|&position| masked[position] = vocab as Symbol);
        Masked { sentence: masked, answers: positions.iter().map(|&position| sentence[position]).collect() }
    }

    /// Masks each token with probability `rate`, as [`Floor::measure`](gardenpath::Floor::measure) does with the same seed and number.
    pub fn random(vocab: usize, sentence: &[Symbol], rate: f64, seed: Seed, number: u64) -> Self {
        Masked::new(vocab, sentence, &random_mask(sentence.len(), rate, seed, number))
    }

    /// The same, but masks one random token if none would be masked, so that every sentence has something to learn.
    pub fn at_least_one(vocab: usize, sentence: &[Symbol], rate: f64, seed: Seed, number: u64) -> Self {
        let mut positions = random_mask(sentence.len(), rate, seed, number);
        if positions.is_empty() && !sentence.is_empty() {
            positions.push(seed.child("one").stream(number).below(sentence.len() as u64) as usize);
        }
        Masked::new(vocab, sentence, &positions)
    }
}
