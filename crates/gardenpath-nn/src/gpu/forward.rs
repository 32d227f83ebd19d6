//! What the architectures have in common on the card.

use super::weights::Weights;
use crate::error::Result;
use burn::tensor::Tensor;
use gardenpath::Symbol;

/// The sentences of a batch.
pub type Sentences<'a> = &'a [&'a [Symbol]];

/// The forward pass of a network; the card finds the backward pass itself.
pub trait Forward: Send {
    /// The logits of some sentences, a row for each place of which [`Forward::asked`] makes a choice, if what they need fits into memory.
    fn logits(&mut self, weights: &Weights, sentences: Sentences) -> Result<Tensor<2>>;

    /// The rows of the logits that answer a question, in the order of the questions; `None` if all do.
    fn asked(&self, _: Sentences) -> Option<Vec<usize>> {
        None
    }
}

/// The token at a place of a sentence, or `None` after its end.
pub fn token(sentence: &[Symbol], place: usize) -> Option<usize> {
    sentence.get(place).map(|&token| token.into())
}

/// The number of tokens of the longest sentence.
pub fn longest(sentences: Sentences) -> usize {
    sentences.iter().map(|sentence| sentence.len()).max().unwrap_or(0)
}
