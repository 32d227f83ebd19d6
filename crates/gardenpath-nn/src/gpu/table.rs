//! The vectors of tokens.

use super::transfer::{integers, matrix};
use crate::filter_network::whitened_tokens;
use burn::tensor::{Device, Tensor};

/// A constant table with a vector for each token, and a last one of zeros for padding.
pub struct Table(Tensor<2>);

impl Table {
    /// One-hot vectors: a product with them looks up rows of weights, and its gradient is a product as well.
    pub fn one_hot(tokens: usize, device: &Device) -> Self {
        let hot = |i: usize| if i / tokens == i % tokens { 1.0 } else { 0.0 };
        Self::new((0..tokens * tokens).map(hot).collect(), tokens, device)
    }

    /// One-hot vectors less their mean, over their standard deviation, as if all tokens were equally frequent.
    pub fn whitened(tokens: usize, device: &Device) -> Self {
        Self::new(whitened_tokens(tokens), tokens, device)
    }

    /// A table of vectors `[tokens, tokens]`, to which padding is added.
    fn new(mut vectors: Vec<f32>, tokens: usize, device: &Device) -> Self {
        vectors.resize((tokens + 1) * tokens, 0.0);
        Table(matrix(vectors, tokens, device))
    }

    /// The vectors of these tokens, one per row; `None` is padding.
    pub fn rows(&self, tokens: impl Iterator<Item = Option<usize>>) -> Tensor<2> {
        let padding = self.0.dims()[1];
        let rows = tokens.map(|token| token.unwrap_or(padding) as i32).collect();
        self.0.clone().select(0, integers(rows, &self.0.device()))
    }
}
