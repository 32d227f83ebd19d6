//! The convolutional network: windows of four positions, two apart, until one or few are left.

use super::forward::{Forward, Sentences, token};
use super::table::Table;
use super::weights::Weights;
use crate::cnn::{TAPS, padded_length};
use crate::error::Result;
use crate::network::{Network, Normalization};
use burn::tensor::ops::PadMode;
use burn::tensor::{Device, Tensor, activation};

/// The convolutional network on the card.
pub struct Cnn {
    network: Network,
    normalization: Normalization,
    inputs: Table,
}

impl Cnn {
    /// The network, without weights.
    pub fn new(network: &Network, normalization: Normalization, device: &Device) -> Self {
        Cnn { network: network.clone(), normalization, inputs: Table::whitened(network.vocab, device) }
    }
}

impl Forward for Cnn {
    fn logits(&mut self, weights: &Weights, sentences: Sentences) -> Result<Tensor<2>> {
        let Network { vocab, classes, ref shape, width, .. } = self.network;
        let (batch, positions) = (sentences.len(), padded_length(shape));
        let tokens = sentences.iter().flat_map(|sentence| (0..positions).map(move |place| token(sentence, place)));
        let mut maps = self.inputs.rows(tokens).reshape([batch, positions, vocab]);
        for layer in 0..=shape.depth() {
            let scale = self.normalization.scale(TAPS, maps.dims()[2]);
            let windows = windows(maps);
            let [_, places, inputs] = windows.dims();
            let filters = weights.get(&format!("conv.{layer}"), [inputs, width]);
            let sums = windows.reshape([batch * places, inputs]).matmul(filters);
            maps = activation::relu(sums * scale).reshape([batch, places, width]);
        }
        let means = maps.mean_dim(1).reshape([batch, width]);
        Ok(means.matmul(weights.get("readout", [width, classes])) / width as f64)
    }
}

/// The windows that start at -1, 1, 3, …, with zeros outside; `[batch, positions, channels]` becomes
/// `[batch, positions / 2, TAPS * channels]`.
///
/// Two pairs of neighbours make a window, so that nothing but whole slices is copied.
fn windows(maps: Tensor<3>) -> Tensor<3> {
    let [batch, positions, channels] = maps.dims();
    let count = positions / 2;
    let padded = maps.pad([(0, 0), (1, 1), (0, 0)], PadMode::Constant(0.0)).narrow(1, 0, 2 * count + 2);
    let pairs = padded.reshape([batch, count + 1, 2 * channels]);
    Tensor::cat(vec![pairs.clone().narrow(1, 0, count), pairs.narrow(1, 1, count)], 2)
}
