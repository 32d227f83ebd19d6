//! The transformer: blocks of attention and a hidden layer, read at a token in front of the sentence, or at every place.

use super::forward::{Forward, Sentences, longest};
use super::table::Table;
use super::transfer::matrix;
use super::weights::Weights;
use crate::attention::check_memory;
use crate::error::Result;
use crate::network::Network;
use crate::norm::EPSILON;
use crate::task::Task;
use burn::tensor::module::layer_norm;
use burn::tensor::{Device, Tensor, activation};
use gardenpath::Symbol;
use std::iter::once;

/// What is added to the scores of padding: its exponential is zero, and unlike infinity it survives every compiler of
/// shaders.
const NEVER: f32 = -1e30;

/// The transformer on the card.
pub struct Transformer {
    network: Network,
    layers: usize,
    heads: usize,
    mlp: usize,
    inputs: Table,
    device: Device,
}

/// The weights of a block.
struct Block<'a> {
    weights: &'a Weights,
    layer: usize,
}

impl Block<'_> {
    /// `rows` times a matrix of the block, over the square root of the number of inputs.
    fn linear(&self, rows: Tensor<2>, name: &str, outputs: usize) -> Tensor<2> {
        let inputs = rows.dims()[1];
        let matrix = self.weights.get(&format!("layer.{}.{name}", self.layer), [inputs, outputs]);
        rows.matmul(matrix) * (1.0 / (inputs as f64).sqrt())
    }

    /// A norm of the block.
    fn norm(&self, rows: Tensor<2>, name: &str) -> Tensor<2> {
        norm(rows, self.weights, &format!("layer.{}.{name}", self.layer))
    }
}

impl Transformer {
    /// The network, without weights.
    pub fn new(network: &Network, layers: usize, heads: usize, mlp: usize, device: &Device) -> Self {
        let inputs = Table::one_hot(network.inputs() + 1, device);
        Transformer { network: network.clone(), layers, heads, mlp, inputs, device: device.clone() }
    }

    /// Attention of `queries` to `keys`, rows of all sentences, `[batch * positions, width]`; `mask` is added to the
    /// scores.
    fn attention(&self, block: &Block, queries: Tensor<2>, keys: Tensor<2>, mask: Tensor<4>) -> Tensor<2> {
        let (batch, width) = (mask.dims()[0], self.network.width);
        let size = width / self.heads;
        let heads = |rows: Tensor<2>, name| {
            let positions = rows.dims()[0] / batch;
            block.linear(rows, name, width).reshape([batch, positions, self.heads, size]).swap_dims(1, 2)
        };
        let queries = heads(queries, "query");
        let scores = queries.matmul(heads(keys.clone(), "key").transpose()) / size as f64 + mask;
        let mixed = activation::softmax(scores, 3).matmul(heads(keys, "value"));
        block.linear(mixed.swap_dims(1, 2).reshape([-1, width as i32]), "output", width)
    }
}

impl Forward for Transformer {
    fn logits(&mut self, weights: &Weights, sentences: Sentences) -> Result<Tensor<2>> {
        let Network { vocab, ref shape, width, task, .. } = self.network;
        check_memory(sentences, self.layers - usize::from(task.is_root()), self.heads)?;
        let batch = sentences.len();
        let longest = longest(sentences);
        let positions = longest + 1;

        // The class token stands between the tokens and the mask, which is number `vocab` in sentences.
        let embedding = move |token: usize| token + usize::from(token == vocab);
        let token = move |sentence: &[Symbol], place: usize| Some(embedding(usize::from(*sentence.get(place)?)));
        let row = |sentence| once(Some(vocab)).chain((0..longest).map(move |place| token(sentence, place)));
        let tokens = self.inputs.rows(sentences.iter().flat_map(|sentence| row(sentence)));
        let embeddings = weights.get("embedding", [self.network.inputs() + 1, width]);
        let embedded = tokens.matmul(embeddings).reshape([batch, positions, width]);
        let places = weights.get("position", [1, shape.lengths().end() + 1, width]).narrow(1, 0, positions);

        // One row of keys for all queries, or in a causal network one for each.
        let queries = if task == Task::Next { positions } else { 1 };
        let last =
            |sentence: &[Symbol], query: usize| if queries > 1 { query.min(sentence.len()) } else { sentence.len() };
        let key = |last, place| if place <= last { 0.0 } else { NEVER };
        let of_query = |last| (0..positions).map(move |place| key(last, place));
        let of_sentence = |sentence| (0..queries).flat_map(move |query| of_query(last(sentence, query)));
        let keys = sentences.iter().flat_map(|sentence| of_sentence(sentence)).collect();
        let mask = matrix(keys, positions, &self.device).reshape([batch, 1, queries, positions]);

        // All positions are rows, `[batch * positions, width]`, until the last block if it is the class token that is read.
        let mut rows = (embedded + places).reshape([batch * positions, width]);
        for layer in 0..self.layers {
            let block = Block { weights, layer };
            let keys = block.norm(rows.clone(), "attention_norm");
            let mut queries = keys.clone();
            if layer + 1 == self.layers && task.is_root() {
                // Nobody reads the other positions.
                rows = first(rows, batch);
                queries = first(queries, batch);
            }
            rows = rows + self.attention(&block, queries, keys, mask.clone());
            let hidden = block.linear(block.norm(rows.clone(), "mlp_norm"), "up", self.mlp);
            rows = rows + block.linear(activation::relu(hidden), "down", width);
        }
        let readout = weights.get("readout", [width, self.network.outputs()]);
        Ok(norm(rows, weights, "final_norm").matmul(readout) / width as f64)
    }

    fn asked(&self, sentences: Sentences) -> Option<Vec<usize>> {
        let Network { vocab, task, .. } = self.network;
        let positions = longest(sentences) + 1;
        let of_sentence = |(i, sentence): (usize, &&[Symbol])| -> Vec<usize> {
            let places = 0..=sentence.len();
            let is_masked = |&place: &usize| place > 0 && usize::from(sentence[place - 1]) == vocab;
            let asked = places.filter(|place| task == Task::Next || is_masked(place));
            asked.map(|place| i * positions + place).collect()
        };
        (!task.is_root()).then(|| sentences.iter().enumerate().flat_map(of_sentence).collect())
    }
}

/// The first of the rows of each sentence.
fn first(rows: Tensor<2>, batch: usize) -> Tensor<2> {
    let [count, width] = rows.dims();
    rows.reshape([batch, count / batch, width]).narrow(1, 0, 1).reshape([batch, width])
}

/// Rows less their mean, over their standard deviation, then times a gain and plus a bias.
fn norm(rows: Tensor<2>, weights: &Weights, name: &str) -> Tensor<2> {
    let width = rows.dims()[1];
    let [gain, bias] = ["gain", "bias"].map(|part| weights.get(&format!("{name}.{part}"), [width]));
    layer_norm(rows, gain, Some(bias), EPSILON)
}
