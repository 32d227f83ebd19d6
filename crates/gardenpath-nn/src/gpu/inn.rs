//! The inside network: a cell for each span, made from the parts of all its splits.
//!
//! All sentences of a batch share one layout of cells. Filters are applied to the cells of a level first, and a
//! constant matrix of counts then sums the results over the splits of each cell above. Only for the root, one cell per
//! sentence, it is cheaper to sum first.

use super::forward::{Forward, Sentences, longest, token};
use super::table::Table;
use super::transfer::{integers, matrix};
use super::transitions::transitions;
use super::weights::Weights;
use crate::error::Result;
use crate::network::{Network, Normalization, filter_name};
use burn::tensor::{Device, Tensor, activation};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The inside network on the card.
pub struct Inn {
    network: Network,
    normalization: Normalization,
    device: Device,
    inputs: Table,
    /// The counts of the splits of all levels, by the length for which cells are laid out.
    counts: HashMap<usize, Vec<Tensor<2>>>,
}

impl Inn {
    /// The network, without weights.
    pub fn new(network: &Network, normalization: Normalization, device: &Device) -> Self {
        let inputs = Table::whitened(network.vocab, device);
        Inn { network: network.clone(), normalization, device: device.clone(), inputs, counts: HashMap::new() }
    }

    /// The counts of the splits of all levels, `[cells, roles * cells below]`.
    fn counts(&mut self, sentences: Sentences) -> Result<Vec<Tensor<2>>> {
        let shape = &self.network.shape;
        let most = *shape.lengths().end();
        // The length is rounded up so that few layouts serve all batches.
        let length = longest(sentences).next_multiple_of((most / 9).max(1)).min(most);
        if let Entry::Vacant(entry) = self.counts.entry(length) {
            let levels = transitions(shape, length, self.normalization)?.into_iter();
            let matrices = levels.map(|level| matrix(level.counts, level.roles * level.below, &self.device));
            entry.insert(matrices.collect());
        }
        Ok(self.counts[&length].clone())
    }

    /// The filters of a level for all roles, scaled, `[roles, channels, width]`.
    fn filters(&self, weights: &Weights, level: usize, channels: usize) -> Tensor<3> {
        let filters = |arity| {
            let name = filter_name(arity);
            let filters = weights.get(&format!("level.{level}.{name}"), [arity, channels, self.network.width]);
            filters * self.normalization.scale(arity, channels)
        };
        Tensor::cat(self.network.shape.arities(level).iter().map(filters).collect(), 0)
    }
}

impl Forward for Inn {
    fn logits(&mut self, weights: &Weights, sentences: Sentences) -> Result<Tensor<2>> {
        let counts = self.counts(sentences)?;
        let Network { classes, ref shape, width, .. } = self.network;
        let batch = sentences.len();
        let roles = |level: usize| shape.arities(level).iter().sum::<usize>();
        let below = |level: usize| counts[level].dims()[1] / roles(level);

        // Cells are rows, `[cells * batch, channels]`.
        let places = 0..below(shape.depth() - 1);
        let tokens = places.flat_map(|place| sentences.iter().map(move |sentence| token(sentence, place)));
        let mut cells = self.inputs.rows(tokens);
        for level in (1..shape.depth()).rev() {
            let [rows, channels] = cells.dims();
            let filtered = cells.reshape([1, rows, channels]).matmul(self.filters(weights, level, channels));
            let sums = counts[level].clone().matmul(filtered.reshape([roles(level) * below(level), batch * width]));
            cells = activation::relu(sums).reshape([below(level - 1) * batch, width]);
        }

        let channels = cells.dims()[1];
        let lengths = sentences.iter().map(|sentence| (sentence.len() - shape.lengths().start()) as i32).collect();
        let splits = counts[0].clone().select(0, integers(lengths, &self.device));
        let children = cells.reshape([below(0), batch, channels]).swap_dims(0, 1);
        let sums = splits.reshape([batch, roles(0), below(0)]).matmul(children);
        let filters = self.filters(weights, 0, channels).reshape([roles(0) * channels, width]);
        let roots = activation::relu(sums.reshape([batch, roles(0) * channels]).matmul(filters));
        Ok(roots.matmul(weights.get("readout", [width, classes])) / width as f64)
    }
}
