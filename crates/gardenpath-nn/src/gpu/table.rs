//! The vectors of tokens.

use super::transfer::{integers, matrix};
use burn::tensor::{Device, Tensor};

/// A constant table with a vector for each token, and a last one of zeros for padding.
pub struct Table(Tensor<2>);

impl Table {
    /// One-hot vectors: a product with them looks up rows of weights, and its gradient is a product as well.
    pub fn one_hot(tokens: usize, device: &Device) -> Self {
        Self::new(tokens, 1.0, 0.0, device)
    }

    /// One-hot vectors less their mean, over their standard deviation, as if all tokens were equally frequent.
    pub fn whitened(tokens: usize, device: &Device) -> Self {
        let mean = 1.0 / tokens as f64;
        let deviation = (mean * (1.0 - mean)).sqrt();
        Self::new(tokens, (1.0 - mean) / deviation, -mean / deviation, device)
    }

    fn new(tokens: usize, hot: f64, cold: f64, device: &Device) -> Self {
        let mut values = vec![0.0; (tokens + 1) * tokens];
        for (token, vector) in values.chunks_mut(tokens).take(tokens).enumerate() {
            vector.fill(cold as f32);
            vector[token] = hot as f32;
        }
        Table(matrix(values, tokens, device))
    }

    /// The vectors of these tokens, one per row; `None` is padding.
    pub fn rows(&self, tokens: impl Iterator<Item = Option<usize>>) -> Tensor<2> {
        let padding = self.0.dims()[1];
        let rows = tokens.map(|token| token.unwrap_or(padding) as i32).collect();
        self.0.clone().select(0, integers(rows, &self.0.device()))
    }
}
