//! The engine on a graphics card, by way of [burn](https://docs.rs/burn).
//!
//! The networks are written with products of dense matrices wherever they can be, also for lookups and for sums over
//! splits: that is what cards are fast at, gradients included, while a scatter into shared rows would run row after
//! row. It also leaves no sum to the order in which threads arrive, so that a run repeats itself.

mod adapter;
mod cnn;
mod descent;
mod forward;
mod inn;
mod table;
mod transfer;
mod transformer;
mod transitions;
mod weights;

pub use adapter::description;

use crate::engine::{self, Engine, NamedTensor};
use crate::error::Result;
use crate::network::{Architecture, Network, Parameter};
use crate::optimizer::Optimizer;
use burn::tensor::{Device, Tensor, activation};
use cnn::Cnn;
use descent::Descent;
use forward::Forward;
use gardenpath::Symbol;
use inn::Inn;
use transformer::Transformer;
use weights::Weights;

/// Sentences whose logits are computed together: as many as there are in a batch of training, so that they fit as well.
const TOGETHER: usize = 128;

/// The engine that computes on a graphics card.
///
/// The card must have room for a whole batch.
pub struct Gpu {
    device: Device,
    network: Network,
    parameters: Vec<Parameter>,
    model: Box<dyn Forward>,
    weights: Weights,
    descent: Descent,
}

impl Gpu {
    /// An engine that goes on from a state.
    ///
    /// # Errors
    /// There is no card, or the state lacks a tensor, or one has other sizes than the network.
    pub fn new(network: &Network, optimizer: Optimizer, state: &[NamedTensor]) -> Result<Self> {
        let device = adapter::device()?;
        let model: Box<dyn Forward> = match network.architecture {
            Architecture::Cnn { normalization } => Box::new(Cnn::new(network, normalization, &device)),
            Architecture::Inn { normalization } => Box::new(Inn::new(network, normalization, &device)),
            Architecture::Transformer { layers, heads, mlp } => {
                Box::new(Transformer::new(network, layers, heads, mlp, &device))
            }
        };
        let parameters = network.parameters();
        let weights = Weights::new(&parameters, &engine::find(&parameters, state, "")?, &device);
        let descent = Descent::new(optimizer, &parameters, state, &device)?;
        Ok(Gpu { device, network: network.clone(), parameters, model, weights, descent })
    }

    /// The cross-entropy of the right answers in nats, per unit of the task.
    ///
    /// Rows that answer no question count nothing: that is cheaper than to pick out the others, and to scatter their gradient.
    fn loss(&self, logits: Tensor<2>, sentences: &[&[Symbol]], answers: &[Symbol]) -> Tensor<1> {
        let rows = logits.dims()[0];
        let share = 1.0 / self.network.task.units(sentences.len(), answers.len()) as f32;
        let (mut labels, mut shares) = (vec![0; rows], vec![0.0; rows]);
        let asked = self.model.asked(sentences).unwrap_or_else(|| (0..rows).collect());
        for (row, &answer) in asked.into_iter().zip(answers) {
            (labels[row], shares[row]) = (answer.into(), share);
        }
        let labels = transfer::integers(labels, &self.device).reshape([rows, 1]);
        let log_probabilities = activation::log_softmax(logits, 1).gather(1, labels);
        (log_probabilities * transfer::matrix(shares, 1, &self.device)).sum().neg()
    }
}

impl Engine for Gpu {
    fn network(&self) -> &Network {
        &self.network
    }

    fn step(&mut self, sentences: &[&[Symbol]], answers: &[Symbol]) -> Result<f64> {
        self.network.check_answered(sentences.iter().copied(), answers)?;
        let tracked = self.weights.tracked();
        let logits = self.model.logits(&tracked, sentences)?;
        let loss = self.loss(logits, sentences, answers);
        let gradients = tracked.gradients(&mut loss.backward());
        self.descent.step(&mut self.weights, gradients);
        Ok(loss.into_scalar::<f32>().into())
    }

    fn logits(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<f32>> {
        self.network.check_sentences(sentences.iter().copied())?;
        let mut logits = Vec::new();
        for chunk in sentences.chunks(TOGETHER) {
            let rows = transfer::values(self.model.logits(&self.weights, chunk)?);
            match self.model.asked(chunk) {
                None => logits.extend(rows),
                Some(asked) => {
                    let width = self.network.outputs();
                    asked.into_iter().for_each(|row| logits.extend_from_slice(&rows[row * width..][..width]));
                }
            }
        }
        Ok(logits)
    }

    fn state(&self) -> Vec<NamedTensor> {
        let Gpu { parameters, weights, descent, .. } = self;
        engine::state(parameters, &transfer::to_host(parameters, &weights.values), descent.adam(parameters).as_ref())
    }
}
