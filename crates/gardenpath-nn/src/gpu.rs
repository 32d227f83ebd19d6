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

    /// The mean cross-entropy of the labels, in nats.
    fn loss(&self, logits: Tensor<2>, roots: &[Symbol]) -> Tensor<1> {
        let labels = transfer::integers(roots.iter().map(|&root| root.into()).collect(), &self.device);
        let log_probabilities = activation::log_softmax(logits, 1).gather(1, labels.reshape([roots.len(), 1]));
        log_probabilities.mean().neg()
    }
}

impl Engine for Gpu {
    fn network(&self) -> &Network {
        &self.network
    }

    fn step(&mut self, sentences: &[&[Symbol]], roots: &[Symbol]) -> Result<f64> {
        self.network.check_labelled(sentences.iter().copied(), roots)?;
        let tracked = self.weights.tracked();
        let logits = self.model.logits(&tracked, sentences)?;
        let loss = self.loss(logits, roots);
        let gradients = tracked.gradients(&mut loss.backward());
        self.descent.step(&mut self.weights, gradients);
        Ok(loss.into_scalar::<f32>().into())
    }

    fn logits(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<f32>> {
        self.network.check_sentences(sentences.iter().copied())?;
        let mut logits = Vec::new();
        for chunk in sentences.chunks(TOGETHER) {
            logits.extend(transfer::values(self.model.logits(&self.weights, chunk)?));
        }
        Ok(logits)
    }

    fn state(&self) -> Vec<NamedTensor> {
        let Gpu { parameters, weights, descent, .. } = self;
        engine::state(parameters, &transfer::to_host(parameters, &weights.values), descent.adam(parameters).as_ref())
    }
}
