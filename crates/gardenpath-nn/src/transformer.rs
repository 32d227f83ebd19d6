//! The transformer: a class token before the sentence, attention and perceptrons, pre-normalised.
//!
//! Sentences are packed one after another, so padding costs nothing. The task says which rows are read in the end: the class token, masked
//! tokens, or every row. In the last layer only those rows compute queries and enter the perceptron. To predict the next token, a row
//! sees only those before it.

mod batch;
mod layer;

use crate::activations::{Activations, Place};
use crate::attention::{self, Layout};
use crate::error::Result;
use crate::loss::cross_entropy_gradient;
use crate::matmul::Weights;
use crate::network::Network;
use crate::norm::Norm;
use crate::rows::{self, Product, clear};
use crate::scalar::Scalar;
use crate::task::Task;
use crate::tensors::{Sink, Tensors};
use crate::wiring::Lists;
use batch::Batch;
use gardenpath::{Span, Symbol};
use layer::{Gradient, Layer, norm_step, step};

/// The numbers of the first tensors.
mod tensor {
    pub const EMBEDDING: usize = 0;
    pub const POSITION: usize = 1;
    pub const FIRST_LAYER: usize = 2;
}

/// The passes of a transformer.
#[derive(Clone, Debug)]
pub struct Transformer<T> {
    vocab: usize,
    outputs: usize,
    task: Task,
    width: usize,
    layers: Vec<Layer<T>>,
    /// The residual stream.
    stream: Vec<T>,
    norm: Norm<T>,
    logits: Vec<T>,
    gradient: Gradient<T>,
}

impl<T: Scalar> Transformer<T> {
    /// The passes of a network with these sizes.
    pub fn new(network: &Network, layers: usize, heads: usize, mlp: usize) -> Self {
        let width = network.width;
        let layer = |i| {
            let layout = Layout { width, heads, causal: network.task == Task::Next, ..Layout::default() };
            let first = tensor::FIRST_LAYER + i * layer::TENSORS;
            Layer::new(first, layout, mlp, i + 1 == layers)
        };
        Transformer {
            vocab: network.vocab,
            outputs: network.outputs(),
            task: network.task,
            width,
            layers: (0..layers).map(layer).collect(),
            stream: Vec::new(),
            norm: Norm::default(),
            logits: Vec::new(),
            gradient: Gradient::default(),
        }
    }

    /// The rows of a batch, of which those of a task are read, if the scores of its attention fit into memory.
    fn batch(&self, task: Task, sentences: &[&[Symbol]]) -> Result<Batch> {
        let full = self.layers.len() - usize::from(task != Task::Next);
        attention::check_memory(sentences, full, self.layers[0].layout.heads)?;
        Ok(Batch::new(task, self.vocab, sentences))
    }

    /// The logits of a batch, `[questions][outputs]`.
    pub fn logits(&mut self, weights: &Tensors<T>, sentences: &[&[Symbol]]) -> Result<&[T]> {
        self.forward(weights, &self.batch(self.task, sentences)?, |_| {});
        Ok(&self.logits)
    }

    /// The residual stream after each layer. A class token that sees the sentence stands for the whole of it; if it is what is read, it is
    /// alone above the last layer.
    pub fn activations(&mut self, weights: &Tensors<T>, sentences: &[&[Symbol]]) -> Result<Vec<Activations<T>>> {
        // Where tokens are told, the rows of all of them are looked at, not only of those that are masked.
        let batch = self.batch(if self.task.is_root() { Task::Root } else { Task::Next }, sentences)?;
        let mut streams = Vec::new();
        self.forward(weights, &batch, |stream| streams.push(stream.to_vec()));
        let (width, layers, task) = (self.width, self.layers.len(), self.task);
        let of_layer = |(i, values): (usize, Vec<T>)| {
            let is_alone = task.is_root() && i + 1 == layers;
            let mut next = 0;
            let of_sentence = |sentence: &&[Symbol]| {
                let (class, tokens) = (next, if is_alone { 0 } else { sentence.len() });
                next += 1 + tokens;
                let whole = (task != Task::Next).then_some(Place { row: class, span: Span::new(0, sentence.len()) });
                let token = |i| Place { row: class + 1 + i, span: Span::new(i, 1) };
                whole.into_iter().chain((0..tokens).map(token)).collect()
            };
            let places = sentences.iter().map(of_sentence).collect();
            Activations { layer: format!("layer.{i}"), width, values, places }
        };
        Ok(streams.into_iter().enumerate().map(of_layer).collect())
    }

    /// Makes the logits. `watch` sees the residual stream after each layer.
    fn forward(&mut self, weights: &Tensors<T>, batch: &Batch, mut watch: impl FnMut(&[T])) {
        let Self { width, stream, norm, logits, .. } = self;
        let width = *width;
        stream.resize(batch.rows.len() * width, T::ZERO);
        let (embedding, position) = (weights.get(tensor::EMBEDDING), weights.get(tensor::POSITION));
        rows::divide(stream, width, |first, rows| {
            for (row, &(token, place)) in rows.chunks_exact_mut(width).zip(&batch.rows[first..]) {
                let sources = embedding[token as usize * width..].iter().zip(&position[place as usize * width..]);
                row.iter_mut().zip(sources).for_each(|(x, (&token, &place))| *x = token + place);
            }
        });
        for layer in &mut self.layers {
            layer.forward(weights, batch, stream);
            watch(stream);
        }
        let last = weights.len() - FINAL;
        norm.forward(stream, weights.get(last), weights.get(last + 1));
        logits.resize(batch.read.len() * self.outputs, T::ZERO);
        let readout = readout(weights, width, self.outputs);
        let links = &batch.all[..batch.read.len()];
        rows::multiply((logits, self.outputs), &norm.rows, &[Product { weights: readout, links }], |_| {});
    }

    /// The loss of a batch, per unit of its task; its gradient goes into the sink.
    pub fn learn(
        &mut self,
        weights: &mut Tensors<T>,
        sentences: &[&[Symbol]],
        answers: &[Symbol],
        sink: &mut Sink<'_, T>,
    ) -> Result<f64> {
        let batch = self.batch(self.task, sentences)?;
        self.forward(weights, &batch, |_| {});
        let units = self.task.units(sentences.len(), answers.len());
        let loss = cross_entropy_gradient(&mut self.logits, self.outputs, answers, units);
        let Self { width, norm, logits, gradient, .. } = self;
        let width = *width;
        let last = weights.len() - FINAL;
        let links = &batch.all[..answers.len()];

        gradient.norm.resize(norm.rows.len(), T::ZERO);
        let readout = readout(weights, width, self.outputs);
        let factor = readout.scale;
        rows::multiply_back((&mut gradient.norm, width), logits, &[Product { weights: readout, links }]);
        step(weights, sink, last + 2, (width, self.outputs), &norm.rows, logits, links, factor);
        clear(&mut gradient.stream, norm.rows.len());
        norm.backward(&mut gradient.stream, &gradient.norm, weights.get(last));
        norm_step(norm, weights, sink, last, &gradient.norm);

        for layer in self.layers.iter().rev() {
            layer.backward(weights, &batch, gradient, sink);
        }
        let rows = (0..).zip(&batch.rows);
        let embeddings = weights.get(tensor::EMBEDDING).len() / width;
        let by_token = Lists::collect(embeddings, rows.clone().map(|(row, &(token, _))| (token, row, 1.0)));
        embedding_step(weights, sink, tensor::EMBEDDING, width, &by_token, gradient);
        let positions = weights.get(tensor::POSITION).len() / width;
        let by_position = Lists::collect(positions, rows.map(|(row, &(_, place))| (place, row, 1.0)));
        embedding_step(weights, sink, tensor::POSITION, width, &by_position, gradient);
        Ok(loss)
    }
}

/// The tensors after the layers: gain and bias of the last normalisation, and the readout.
const FINAL: usize = 3;

fn readout<T: Scalar>(weights: &Tensors<T>, width: usize, outputs: usize) -> Weights<'_, T> {
    let scale = T::of(1.0 / width as f64);
    Weights { values: weights.get(weights.len() - 1), inputs: width, outputs, scale }
}

/// Sends the gradient of the embeddings to the sink: the sums over the rows where each occurs.
fn embedding_step<T: Scalar>(
    weights: &mut Tensors<T>,
    sink: &mut Sink<'_, T>,
    tensor: usize,
    width: usize,
    lists: &Lists,
    gradient: &mut Gradient<T>,
) {
    let sums = &mut gradient.norm;
    sums.resize(lists.len() * width, T::ZERO);
    rows::sum_lists(sums, width, &gradient.stream, lists, |_, _| {});
    let (target, factor) = sink.of(weights, tensor);
    target.iter_mut().zip(sums).for_each(|(target, sum)| *target += factor * *sum);
}
