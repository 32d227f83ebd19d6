//! The inside network: a cell for each span, made from the parts of all its splits.
//!
//! All sentences of a batch share one layout of cells. Filters are applied to the cells of a level first, and a
//! constant matrix of counts then sums the results over the splits of each cell above. Only for the root, one cell
//! per sentence, it is cheaper to sum first.

use super::splits::{PARTS, transitions};
use super::table::Table;
use super::weights::Weights;
use super::{Model, Sentences, integers, longest, matrix, scale, token};
use crate::network::{Network, Normalization};
use burn::tensor::{Device, Tensor, activation};
use std::collections::HashMap;

/// The inside network on the card.
pub(super) struct Inn {
    network: Network,
    normalization: Normalization,
    device: Device,
    inputs: Table,
    /// The counts of all levels, by the length for which cells are laid out.
    counts: HashMap<usize, Vec<Tensor<2>>>,
}

impl Inn {
    pub fn new(network: &Network, normalization: Normalization, device: &Device) -> Self {
        let inputs = Table::whitened(network.vocab, device);
        Self { network: network.clone(), normalization, device: device.clone(), inputs, counts: HashMap::new() }
    }

    /// The number of channels into a level.
    fn channels(&self, level: usize) -> usize {
        if level + 1 == self.network.shape.depth() { self.network.vocab } else { self.network.width }
    }

    /// The length for which cells are laid out: that of the longest sentence, rounded up so that few layouts serve all
    /// batches.
    fn positions(&self, sentences: Sentences) -> usize {
        longest(sentences).next_multiple_of(3_usize.pow(self.network.shape.depth().saturating_sub(2) as u32))
    }

    /// The counts of the splits of all levels, `[cells, PARTS * cells below]`.
    fn counts(&mut self, positions: usize) -> Vec<Tensor<2>> {
        let counts = self.counts.entry(positions).or_insert_with(|| {
            let levels = transitions(self.network.shape.depth(), positions).into_iter();
            levels.map(|level| matrix(level.counts, PARTS * level.below, &self.device)).collect()
        });
        counts.clone()
    }

    /// The filters of a level for all parts, scaled, `[PARTS, channels, width]`.
    fn filters(&self, weights: &Weights, level: usize) -> Tensor<3> {
        let (channels, width) = (self.channels(level), self.network.width);
        let filters = |name: &str, parts: usize| {
            let filters = weights.get(&format!("level.{level}.{name}"), [parts, channels, width]);
            filters * scale(self.normalization, parts, channels)
        };
        Tensor::cat(vec![filters("binary", 2), filters("ternary", 3)], 0)
    }
}

impl Model for Inn {
    fn logits(&mut self, weights: &Weights, sentences: Sentences) -> Tensor<2> {
        let Network { classes, width, .. } = self.network;
        let depth = self.network.shape.depth();
        let batch = sentences.len();
        let positions = self.positions(sentences);
        let counts = self.counts(positions);

        // Cells are rows, `[cells * batch, channels]`.
        let tokens = (0..positions).flat_map(|place| sentences.iter().map(move |sentence| token(sentence, place)));
        let mut cells = self.inputs.rows(tokens);
        for level in (1..depth).rev() {
            let [rows, channels] = cells.dims();
            let filtered = cells.reshape([1, rows, channels]).matmul(self.filters(weights, level));
            let sums = counts[level].clone().matmul(filtered.reshape([PARTS * rows / batch, batch * width]));
            cells = activation::relu(sums).reshape([-1, width as i32]);
        }

        let [rows, channels] = cells.dims();
        let below = rows / batch;
        let shortest = 2_usize.pow(depth as u32);
        let lengths = sentences.iter().map(|sentence| (sentence.len() - shortest) as i32).collect();
        let splits = counts[0].clone().select(0, integers(lengths, &self.device)).reshape([batch, PARTS, below]);
        let parts = splits.matmul(cells.reshape([below, batch, channels]).swap_dims(0, 1));
        let filters = self.filters(weights, 0).reshape([PARTS * channels, width]);
        let roots = activation::relu(parts.reshape([batch, PARTS * channels]).matmul(filters));
        roots.matmul(weights.get("readout", [width, classes])) / width as f64
    }
}
