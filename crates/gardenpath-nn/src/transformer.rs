//! The transformer: a class token before the sentence, attention and perceptrons, pre-normalised.
//!
//! Sentences are packed one after another, so padding costs nothing. The task says which rows are read in the end: the class token, masked
//! tokens, or every row. In the last layer nothing else asks, and nothing else enters the perceptron. To tell the next token, a row
//! sees those before it only.

use crate::activations::{Activations, Place};
use crate::attention::{self, Group, Layout, Packed};
use crate::error::Result;
use crate::loss::cross_entropy_gradient;
use crate::matmul::{self, Direction, Link, Update, Weights, identity};
use crate::network::Network;
use crate::norm::Norm;
use crate::rows::{self, Product, clear};
use crate::scalar::Scalar;
use crate::task::Task;
use crate::tensors::{Sink, Tensors};
use crate::wiring::Lists;
use gardenpath::{Span, Symbol};

/// The numbers of the tensors of a layer, relative to its first.
mod tensor {
    pub const EMBEDDING: usize = 0;
    pub const POSITION: usize = 1;
    pub const FIRST_LAYER: usize = 2;
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
    pub const PER_LAYER: usize = 10;
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

/// The activations of a layer.
#[derive(Clone, Debug, Default)]
struct Layer<T> {
    /// The number of its first tensor.
    first: usize,
    width: usize,
    mlp: usize,
    /// Whether only the rows that are read ask.
    is_last: bool,
    layout: Layout,
    attention_norm: Norm<T>,
    query: Vec<T>,
    key: Vec<T>,
    value: Vec<T>,
    weights: Vec<Group<T>>,
    mixed: Vec<T>,
    mlp_norm: Norm<T>,
    hidden: Vec<T>,
}

/// The buffers of the backward pass.
#[derive(Clone, Debug, Default)]
struct Gradient<T> {
    stream: Vec<T>,
    norm: Vec<T>,
    hidden: Vec<T>,
    mixed: Vec<T>,
    query: Vec<T>,
    key: Vec<T>,
    value: Vec<T>,
}

/// Which rows of a batch there are.
struct Batch {
    /// The token and the position of each row.
    rows: Vec<(u32, u32)>,
    /// The number of rows of each sentence.
    positions: Vec<usize>,
    /// The number of rows of each sentence that are read.
    questions: Vec<usize>,
    /// From every row to itself.
    all: Vec<Link>,
    /// From the rows that are read to their logits.
    read: Vec<Link>,
}

impl Batch {
    fn new(task: Task, vocab: usize, sentences: &[&[Symbol]]) -> Self {
        // Embeddings are those of the tokens, the class token and the mask, which is number `vocab` in sentences.
        let class = vocab as u32;
        let embedding = |&token: &Symbol| u32::from(token) + u32::from(usize::from(token) == vocab);
        let mut rows = Vec::new();
        for sentence in sentences {
            rows.push((class, 0));
            rows.extend(sentence.iter().map(embedding).zip(1..));
        }
        let is_read = |embedding: u32| match task {
            Task::Root => embedding == class,
            Task::Next => true,
            Task::Masked => embedding > class,
        };
        let read = (0..).zip(&rows).filter(|(_, (embedding, _))| is_read(*embedding));
        let read = read.zip(0..).map(|((from, _), to)| Link { from, to }).collect();
        let positions = sentences.iter().map(|sentence| sentence.len() + 1).collect();
        let questions = sentences.iter().map(|sentence| task.questions(vocab, sentence)).collect();
        Batch { positions, questions, all: identity(rows.len()), read, rows }
    }
}

impl<T: Scalar> Transformer<T> {
    /// The passes of a network with these sizes.
    pub fn new(network: &Network, layers: usize, heads: usize, mlp: usize) -> Self {
        let width = network.width;
        let layer = |i| {
            let layout = Layout { width, heads, causal: network.task == Task::Next, ..Layout::default() };
            let first = tensor::FIRST_LAYER + i * tensor::PER_LAYER;
            Layer { first, width, mlp, is_last: i + 1 == layers, layout, ..Layer::default() }
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

impl<T: Scalar> Layer<T> {
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
    fn forward(&mut self, weights: &Tensors<T>, batch: &Batch, stream: &mut Vec<T>) {
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
        self.weights.resize(self.layout.weight_groups(), Group::default());
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
    fn backward(&self, weights: &mut Tensors<T>, batch: &Batch, gradient: &mut Gradient<T>, sink: &mut Sink<'_, T>) {
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
fn step<T: Scalar>(
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
fn norm_step<T: Scalar>(norm: &Norm<T>, weights: &mut Tensors<T>, sink: &mut Sink<'_, T>, gain: usize, dy: &[T]) {
    let (target, factor) = sink.of(weights, gain);
    norm.gain_gradient(target, dy, factor);
    let (target, factor) = sink.of(weights, gain + 1);
    norm.bias_gradient(target, dy, factor);
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
