//! Activations of hidden layers, and which tokens each row represents.

use gardenpath::Span;

/// The row of a hidden layer that stands for some tokens of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The row of the layer.
    pub row: usize,
    /// The tokens.
    pub span: Span,
}

/// The rows of one hidden layer for a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Activations<T> {
    /// The name of the layer.
    pub layer: String,
    /// The number of channels.
    pub width: usize,
    /// All rows.
    pub values: Vec<T>,
    /// The rows of each sentence, by start and length. In an inside network sentences may share rows.
    pub places: Vec<Vec<Place>>,
}

impl<T> Activations<T> {
    /// A row.
    pub fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.width..][..self.width]
    }
}
