//! Networks of filters that are shared over a layer: the passes of the CNN and of the INN, which differ only in their [`Plan`].
//!
//! Level 0 holds one whitened row for each token of the vocabulary, so the first layer is computed for few rows and looked up.
//! Buffers keep their memory from batch to batch.

use crate::loss::cross_entropy_gradient;
use crate::matmul::{self, Link, Update, Weights, identity};
use crate::panels::whole_panels;
use crate::rows::{self, Product};
use crate::scalar::Scalar;
use crate::tensors::{Sink, Tensors};
use crate::wiring::{Gather, Lists, Wiring};
use gardenpath::Symbol;

/// The wiring of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// One wiring for each layer, from the tokens up.
    pub layers: Vec<Wiring>,
    /// For each sentence the rows of the last layer that are read out, and the inverse.
    pub top: Gather,
}

/// The matrix of one role of a layer: where its values are, and how its products are scaled.
#[derive(Clone, Copy, Debug)]
struct Role<T> {
    tensor: usize,
    /// The place of the matrix in its tensor.
    index: usize,
    scale: T,
}

/// A layer: its roles and the sizes of their matrices.
#[derive(Clone, Debug)]
struct Layer<T> {
    roles: Vec<Role<T>>,
    inputs: usize,
    outputs: usize,
}

/// The buffers of a layer.
#[derive(Clone, Debug, Default)]
struct Buffers<T> {
    /// Sums of children, if they are made before the products.
    sums: Vec<T>,
    /// Products, if they are added up afterwards.
    products: Vec<T>,
    /// The rows of the layer.
    rows: Vec<T>,
    /// The gradient with respect to the rows.
    gradient: Vec<T>,
}

/// A network whose layers are wired anew for each batch.
#[derive(Clone, Debug)]
pub struct FilterNetwork<T> {
    width: usize,
    classes: usize,
    /// Whitened tokens, `[vocab][vocab]`.
    tokens: Vec<T>,
    layers: Vec<Layer<T>>,
    readout: usize,
    /// The factor of the readout: 1 / width, and the mean over the rows that are read.
    readout_scale: T,
    buffers: Vec<Buffers<T>>,
    scratch: Vec<T>,
    top: Vec<T>,
    top_gradient: Vec<T>,
    logits: Vec<T>,
}

/// One tensor of filters: its number of roles, and the factor of its products.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// The number of matrices in the tensor.
    pub roles: usize,
    /// The factor of the products.
    pub scale: f64,
}

impl<T: Scalar> FilterNetwork<T> {
    /// A network with these filters in each layer; tensors are numbered in this order, the readout is the last.
    ///
    /// `rows_read` is the number of rows over which the readout takes the mean.
    pub fn new(vocab: usize, classes: usize, width: usize, filters: &[Vec<Filter>], rows_read: usize) -> Self {
        let mut tensor = 0;
        let mut layers = Vec::new();
        for filters in filters {
            let mut roles = Vec::new();
            for filter in filters {
                roles.extend((0..filter.roles).map(|index| Role { tensor, index, scale: T::of(filter.scale) }));
                tensor += 1;
            }
            layers.push(Layer { roles, inputs: if layers.is_empty() { vocab } else { width }, outputs: width });
        }
        FilterNetwork {
            width,
            classes,
            tokens: whitened_tokens(vocab),
            buffers: vec![Buffers::default(); layers.len()],
            layers,
            readout: tensor,
            readout_scale: T::of(1.0 / (width * rows_read) as f64),
            scratch: Vec::new(),
            top: Vec::new(),
            top_gradient: Vec::new(),
            logits: Vec::new(),
        }
    }

    /// The logits of a batch, `[sentences][classes]`.
    pub fn logits(&mut self, weights: &Tensors<T>, plan: &Plan) -> &[T] {
        for (l, (layer, wiring)) in self.layers.iter().zip(&plan.layers).enumerate() {
            let (below, current) = self.buffers.split_at_mut(l);
            let input = below.last().map_or(&self.tokens, |buffers| &buffers.rows);
            layer.forward(weights, wiring, input, &mut current[0]);
        }
        let rows = &self.buffers.last().expect("a network has layers").rows;
        self.top.resize(plan.top.sources.len() * self.width, T::ZERO);
        rows::sum_lists(&mut self.top, self.width, rows, &plan.top.sources, |_, _| {});
        self.logits.resize(plan.top.sources.len() * self.classes, T::ZERO);
        let links = identity(plan.top.sources.len());
        let readout = [Product { weights: self.readout(weights), links: &links }];
        rows::multiply((&mut self.logits, self.classes), &self.top, &readout, |_| {});
        &self.logits
    }

    /// The mean cross-entropy of a batch; its gradient goes into the sink.
    pub fn learn(&mut self, weights: &mut Tensors<T>, plan: &Plan, roots: &[Symbol], sink: &mut Sink<'_, T>) -> f64 {
        self.logits(weights, plan);
        let loss = cross_entropy_gradient(&mut self.logits, self.classes, roots, roots.len() as f64);
        let links = identity(roots.len());
        self.top_gradient.resize(self.top.len(), T::ZERO);
        let readout = [Product { weights: self.readout(weights), links: &links }];
        rows::multiply_back((&mut self.top_gradient, self.width), &self.logits, &readout);
        let (target, factor) = sink.of(weights, self.readout);
        let factor = factor * self.readout_scale;
        let (inputs, outputs) = (self.width, self.classes);
        let update = Update { weights: target, inputs, outputs, links: &links, factor };
        matmul::update(vec![update], &self.top, &self.logits);

        let last = self.buffers.last_mut().expect("a network has layers");
        last.gradient.resize(last.rows.len(), T::ZERO);
        spread(&mut last.gradient, &self.top_gradient, self.width, &plan.top.targets, &last.rows);
        for l in (0..self.layers.len()).rev() {
            let (below, current) = self.buffers.split_at_mut(l);
            let (layer, wiring) = (&self.layers[l], &plan.layers[l]);
            layer.backward(weights, wiring, (&self.tokens, below.last_mut()), &mut current[0], &mut self.scratch, sink);
        }
        loss
    }

    /// The rows of each layer after [`FilterNetwork::logits`], from the tokens up.
    pub fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.buffers.iter().map(|buffers| buffers.rows.as_slice())
    }

    fn readout<'a>(&self, weights: &'a Tensors<T>) -> Weights<'a, T> {
        Weights {
            values: weights.get(self.readout),
            inputs: self.width,
            outputs: self.classes,
            scale: self.readout_scale,
        }
    }
}

impl<T: Scalar> Layer<T> {
    /// The memory of one matrix.
    fn matrix_len(&self) -> usize {
        self.inputs * whole_panels(self.outputs)
    }

    fn products<'a>(&self, weights: &'a Tensors<T>, wiring: &'a Wiring) -> Vec<Product<'a, T>> {
        let size = self.matrix_len();
        let of_role = |(role, links): (&Role<T>, &'a Vec<Link>)| {
            let values = &weights.get(role.tensor)[role.index * size..][..size];
            Product {
                weights: Weights { values, inputs: self.inputs, outputs: self.outputs, scale: role.scale },
                links,
            }
        };
        self.roles.iter().zip(&wiring.links).map(of_role).collect()
    }

    fn forward(&self, weights: &Tensors<T>, wiring: &Wiring, input: &[T], buffers: &mut Buffers<T>) {
        let Buffers { sums, products, rows, .. } = buffers;
        let input = match &wiring.before {
            None => input,
            Some(gather) => {
                sums.resize(gather.sources.len() * self.inputs, T::ZERO);
                rows::sum_lists(sums, self.inputs, input, &gather.sources, |_, _| {});
                sums
            }
        };
        rows.resize(wiring.targets * self.outputs, T::ZERO);
        let maps = self.products(weights, wiring);
        match &wiring.after {
            None => rows::multiply((rows, self.outputs), input, &maps, rows::relu),
            Some(gather) => {
                products.resize(wiring.products * self.outputs, T::ZERO);
                rows::multiply((products, self.outputs), input, &maps, |_| {});
                rows::sum_lists(rows, self.outputs, products, &gather.sources, |_, row| rows::relu(row));
            }
        }
    }

    /// Sends the gradient of the layer's sums to the rows below, if there are any to learn, and to the sink.
    fn backward(
        &self,
        weights: &mut Tensors<T>,
        wiring: &Wiring,
        (tokens, below): (&[T], Option<&mut Buffers<T>>),
        current: &mut Buffers<T>,
        scratch: &mut Vec<T>,
        sink: &mut Sink<'_, T>,
    ) {
        let Buffers { sums, products, gradient, .. } = current;
        // The products are no longer needed: their memory takes their gradient.
        let gradient: &[T] = match &wiring.after {
            None => gradient,
            Some(gather) => {
                rows::sum_lists(products, self.outputs, gradient, &gather.targets, |_, _| {});
                products
            }
        };
        let lower: &[T] = below.as_ref().map_or(tokens, |buffers| &buffers.rows);
        let input: &[T] = if wiring.before.is_some() { sums } else { lower };
        if below.is_some() {
            scratch.resize(input.len(), T::ZERO);
            rows::multiply_back((scratch, self.inputs), gradient, &self.products(weights, wiring));
        }
        self.update(weights, wiring, input, gradient, sink);
        if let Some(below) = below {
            below.gradient.resize(below.rows.len(), T::ZERO);
            match &wiring.before {
                Some(gather) => {
                    spread(&mut below.gradient, scratch, self.inputs, &gather.targets, &below.rows);
                }
                None => {
                    std::mem::swap(&mut below.gradient, scratch);
                    rows::divide(&mut below.gradient, self.inputs, |first, gradient| {
                        rows::relu_back(gradient, &below.rows[first * self.inputs..]);
                    });
                }
            }
        }
    }

    fn update(&self, weights: &mut Tensors<T>, wiring: &Wiring, input: &[T], gradient: &[T], sink: &mut Sink<'_, T>) {
        let size = self.matrix_len();
        let mut links = wiring.links.iter();
        for filter in self.roles.chunk_by(|a, b| a.tensor == b.tensor) {
            let (target, factor) = sink.of(weights, filter[0].tensor);
            let matrices = target.chunks_exact_mut(size).zip(filter).zip(&mut links);
            let updates = matrices.map(|((weights, role), links)| Update {
                weights,
                inputs: self.inputs,
                outputs: self.outputs,
                links,
                factor: factor * role.scale,
            });
            matmul::update(updates.collect(), input, gradient);
        }
    }
}

/// The gradient of sums of rectified rows: the sum over where they went, where the rectifier was open.
fn spread<T: Scalar>(result: &mut [T], gradient: &[T], width: usize, targets: &Lists, rows: &[T]) {
    rows::sum_lists(result, width, gradient, targets, |i, result| {
        rows::relu_back(result, &rows[i * width..][..width]);
    });
}

/// The one-hot vectors of all tokens, each with mean 0 and variance 1 over its channels.
pub fn whitened_tokens<T: Scalar>(vocab: usize) -> Vec<T> {
    let mean = 1.0 / vocab as f64;
    let deviation = (mean * (1.0 - mean)).sqrt();
    let value = |i: usize| {
        let hot = if i / vocab == i % vocab { 1.0 } else { 0.0 };
        T::of((hot - mean) / deviation)
    };
    (0..vocab * vocab).map(value).collect()
}
