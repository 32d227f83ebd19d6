//! A layer of the transformer: attention and a perceptron, forward and backward.

use super::batch::Batch;
use crate::attention::{self, Block, Layout, Packed};
use crate::matmul::{self, Direction, Link, Update, Weights};
use crate::norm::Norm;
use crate::rows::{self, Product};
use crate::scalar::Scalar;
use crate::tensors::{Sink, Tensors};

/// The numbers of the tensors of a layer, relative to its first.
mod tensor {
    pub const ATTENTION_GAIN: usize = 0;
    pub const ATTENTION_BIAS: usize = 1;
    pub const QUERY: usize = 2;
    pub const KEY: usize = 3;
    pub const VALUE: usize = 4;
    pub const OUTPUT: usize = 5;
    pub const MLP_GAIN: usize = 6;
    pub const MLP_BIAS: usize = 7;
    pub const UP: usize = 8;
    pub const DOWN: usize = 9;
}

/// Tensors of a layer.
pub const TENSORS: usize = 10;

/// The activations of a layer.
#[derive(Clone, Debug, Default)]
pub struct Layer<T> {
    /// The number of its first tensor.
    first: usize,
    width: usize,
    mlp: usize,
    /// Whether only the rows that are read out compute queries.
    is_last: bool,
    /// The layout of queries and keys.
    pub layout: Layout,
    attention_norm: Norm<T>,
    query: Vec<T>,
    key: Vec<T>,
    value: Vec<T>,
    weights: Vec<Block<T>>,
    mixed: Vec<T>,
    mlp_norm: Norm<T>,
    hidden: Vec<T>,
}

/// The buffers of the backward pass.
#[derive(Clone, Debug, Default)]
pub struct Gradient<T> {
    /// Of the residual stream.
    pub stream: Vec<T>,
    /// Of what a normalisation gives.
    pub norm: Vec<T>,
    hidden: Vec<T>,
    mixed: Vec<T>,
    query: Vec<T>,
    key: Vec<T>,
    value: Vec<T>,
}

impl<T: Scalar> Layer<T> {
    /// A layer whose tensors begin with number `first`, with a perceptron of hidden size `mlp`. In the last one only rows that are read ask.
    pub fn new(first: usize, layout: Layout, mlp: usize, is_last: bool) -> Self {
        Layer { first, width: layout.width, mlp, is_last, layout, ..Layer::default() }
    }

    fn map<'a>(&self, weights: &'a Tensors<T>, name: usize) -> Weights<'a, T> {
        let (inputs, outputs) = match name {
            tensor::UP => (self.width, self.mlp),
            tensor::DOWN => (self.mlp, self.width),
            _ => (self.width, self.width),
        };
        let scale = T::of(1.0 / (inputs as f64).sqrt());
        Weights { values: weights.get(self.first + name), inputs, outputs, scale }
    }

    fn asking<'a>(&self, batch: &'a Batch) -> &'a [Link] {
        if self.is_last { &batch.read } else { &batch.all }
    }

    /// Replaces the residual stream below the layer by the one above it.
    pub fn forward(&mut self, weights: &Tensors<T>, batch: &Batch, stream: &mut Vec<T>) {
        let width = self.width;
        let asking = self.asking(batch);
        let kept = &batch.all[..asking.len()];
        self.layout.positions.clone_from(&batch.positions);
        self.layout.queries.clone_from(if self.is_last { &batch.questions } else { &batch.positions });

        let [gain, bias] = [tensor::ATTENTION_GAIN, tensor::ATTENTION_BIAS].map(|name| weights.get(self.first + name));
        self.attention_norm.forward(stream, gain, bias);
        let [query, key, value] = [tensor::QUERY, tensor::KEY, tensor::VALUE].map(|name| self.map(weights, name));
        let normed = &self.attention_norm.rows;
        project(&mut self.query, normed, query, asking, |_| {});
        project(&mut self.key, normed, key, &batch.all, |_| {});
        project(&mut self.value, normed, value, &batch.all, |_| {});
        self.weights.resize(self.layout.weight_blocks(), Block::default());
        self.mixed.resize(asking.len() * width, T::ZERO);
        let packed = Packed { query: &self.query, key: &self.key, value: &self.value };
        attention::forward(&self.layout, packed, &mut self.weights, &mut self.mixed);
        keep_rows(stream, width, asking);
        let output = Product { weights: self.map(weights, tensor::OUTPUT), links: kept };
        rows::add_products(Direction::Forward, (stream, width), &self.mixed, &[output]);

        let [gain, bias] = [tensor::MLP_GAIN, tensor::MLP_BIAS].map(|name| weights.get(self.first + name));
        self.mlp_norm.forward(stream, gain, bias);
        let up = self.map(weights, tensor::UP);
        project(&mut self.hidden, &self.mlp_norm.rows, up, kept, rows::relu);
        let down = Product { weights: self.map(weights, tensor::DOWN), links: kept };
        rows::add_products(Direction::Forward, (stream, width), &self.hidden, &[down]);
    }

    /// Replaces the gradient of the residual stream above the layer by the one below it.
    pub fn backward(
        &self,
        weights: &mut Tensors<T>,
        batch: &Batch,
        gradient: &mut Gradient<T>,
        sink: &mut Sink<'_, T>,
    ) {
        let Gradient { stream, norm, hidden, mixed, query, key, value } = gradient;
        let width = self.width;
        let asking = self.asking(batch);
        let kept = &batch.all[..asking.len()];

        project_back(hidden, stream, self.map(weights, tensor::DOWN), kept);
        rows::divide(hidden, self.mlp, |first, rows| rows::relu_back(rows, &self.hidden[first * self.mlp..]));
        self.step(weights, sink, tensor::DOWN, &self.hidden, stream, kept);
        project_back(norm, hidden, self.map(weights, tensor::UP), kept);
        self.step(weights, sink, tensor::UP, &self.mlp_norm.rows, hidden, kept);
        self.mlp_norm.backward(stream, norm, weights.get(self.first + tensor::MLP_GAIN));
        norm_step(&self.mlp_norm, weights, sink, self.first + tensor::MLP_GAIN, norm);

        project_back(mixed, stream, self.map(weights, tensor::OUTPUT), kept);
        self.step(weights, sink, tensor::OUTPUT, &self.mixed, stream, kept);
        query.resize(self.query.len(), T::ZERO);
        key.resize(self.key.len(), T::ZERO);
        value.resize(self.value.len(), T::ZERO);
        let packed = Packed { query: &self.query, key: &self.key, value: &self.value };
        attention::backward(&self.layout, packed, &self.weights, mixed, [query, key, value]);
        project_back(norm, key, self.map(weights, tensor::KEY), &batch.all);
        for (gradient, name, links) in [(&*value, tensor::VALUE, &*batch.all), (&*query, tensor::QUERY, asking)] {
            let product = Product { weights: self.map(weights, name), links };
            rows::add_products(Direction::Backward, (norm, width), gradient, &[product]);
        }
        let normed = &self.attention_norm.rows;
        self.step(weights, sink, tensor::QUERY, normed, query, asking);
        self.step(weights, sink, tensor::KEY, normed, key, &batch.all);
        self.step(weights, sink, tensor::VALUE, normed, value, &batch.all);
        spread_rows(stream, width, asking, batch.all.len());
        self.attention_norm.backward(stream, norm, weights.get(self.first + tensor::ATTENTION_GAIN));
        norm_step(&self.attention_norm, weights, sink, self.first + tensor::ATTENTION_GAIN, norm);
    }

    fn step(
        &self,
        weights: &mut Tensors<T>,
        sink: &mut Sink<'_, T>,
        name: usize,
        input: &[T],
        output: &[T],
        links: &[Link],
    ) {
        let Weights { inputs, outputs, scale, .. } = self.map(weights, name);
        step(weights, sink, self.first + name, (inputs, outputs), input, output, links, scale);
    }
}

/// `output[to] = scale * input[from] W` for all links, which reach all rows of the output.
fn project<T: Scalar>(
    output: &mut Vec<T>,
    input: &[T],
    weights: Weights<'_, T>,
    links: &[Link],
    finish: impl Fn(&mut [T]) + Sync,
) {
    output.resize(links.len() * weights.outputs, T::ZERO);
    rows::multiply((output, weights.outputs), input, &[Product { weights, links }], finish);
}

/// `input[from] = scale * output[to] Wᵀ` for all links, which reach all rows of the input.
fn project_back<T: Scalar>(input: &mut Vec<T>, output: &[T], weights: Weights<'_, T>, links: &[Link]) {
    input.resize(links.len() * weights.inputs, T::ZERO);
    rows::multiply_back((input, weights.inputs), output, &[Product { weights, links }]);
}

/// Sends the gradient of one matrix to the sink.
#[allow(clippy::too_many_arguments)]
pub fn step<T: Scalar>(
    weights: &mut Tensors<T>,
    sink: &mut Sink<'_, T>,
    tensor: usize,
    (inputs, outputs): (usize, usize),
    input: &[T],
    output: &[T],
    links: &[Link],
    scale: T,
) {
    let (weights, factor) = sink.of(weights, tensor);
    matmul::update(vec![Update { weights, inputs, outputs, links, factor: factor * scale }], input, output);
}

/// Sends the gradients of the gain and of the bias, the next tensor, to the sink.
pub fn norm_step<T: Scalar>(norm: &Norm<T>, weights: &mut Tensors<T>, sink: &mut Sink<'_, T>, gain: usize, dy: &[T]) {
    let (target, factor) = sink.of(weights, gain);
    norm.gain_gradient(target, dy, factor);
    let (target, factor) = sink.of(weights, gain + 1);
    norm.bias_gradient(target, dy, factor);
}

/// Keeps the rows where links begin.
fn keep_rows<T: Scalar>(stream: &mut Vec<T>, width: usize, links: &[Link]) {
    for link in links.iter().filter(|link| link.from != link.to) {
        let from = link.from as usize * width;
        stream.copy_within(from..from + width, link.to as usize * width);
    }
    stream.truncate(links.len() * width);
}

/// Puts rows back to where their links begin, with zeros between them.
fn spread_rows<T: Scalar>(stream: &mut Vec<T>, width: usize, links: &[Link], rows: usize) {
    stream.resize(rows * width, T::ZERO);
    for link in links.iter().rev().filter(|link| link.from != link.to) {
        let (from, to) = (link.from as usize * width, link.to as usize * width);
        stream.copy_within(to..to + width, from);
        stream[to..to + width].fill(T::ZERO);
    }
}
