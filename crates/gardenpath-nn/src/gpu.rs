//! The engine on a graphics card, by way of [burn](https://docs.rs/burn).
//!
//! The networks are written with products of dense matrices wherever they can be, also for lookups and for sums over
//! splits: that is what cards are fast at, gradients included, while a scatter into shared rows would run row after
//! row. It also leaves no sum to the order in which threads arrive, so that a run repeats itself.

mod adapter;
mod cnn;
mod inn;
mod optimizer;
mod splits;
mod table;
mod transformer;
mod weights;

pub use adapter::description;

use crate::engine::{Engine, NamedTensor};
use crate::error::{Error, Result};
use crate::network::{Architecture, Network, Normalization};
use crate::optimizer::Optimizer;
use burn::tensor::{Device, Int, Tensor, TensorData, activation};
use cnn::Cnn;
use gardenpath::{Shape, Symbol};
use inn::Inn;
use optimizer::Rule;
use transformer::Transformer;
use weights::Weights;

/// Sentences whose logits are computed together: as many as there are in a batch of training, so that they fit as well.
const TOGETHER: usize = 128;

/// The sentences of a batch.
type Sentences<'a> = &'a [&'a [Symbol]];

/// The part of a network that differs between architectures.
trait Model: Send {
    /// The logits of some sentences, `[sentences, classes]`.
    fn logits(&mut self, weights: &Weights, sentences: Sentences) -> Tensor<2>;
}

/// A network in training on a graphics card.
///
/// The card must have room for a whole batch. Sentences must have lengths that the grammar allows, and tokens and
/// labels must be less than their numbers, or its functions panic.
pub struct Gpu {
    device: Device,
    network: Network,
    model: Box<dyn Model>,
    weights: Weights,
    rule: Rule,
}

impl Gpu {
    /// Brings a network to the card, with its weights and, to continue a run, the state of its optimiser.
    ///
    /// # Errors
    ///
    /// There is no card, or `state` lacks a tensor, or one has another shape, or the trees of the grammar are not binary and
    /// ternary on every level.
    pub fn new(network: &Network, optimizer: Optimizer, state: &[NamedTensor]) -> Result<Self> {
        if network.shape != Shape::mixed(network.shape.depth()) {
            return Err(Error::Device("a GPU needs a grammar with binary and ternary rules on every level".into()));
        }
        let device = adapter::device().map_err(Error::Device)?;
        let model: Box<dyn Model> = match network.architecture {
            Architecture::Cnn { normalization } => Box::new(Cnn::new(network, normalization, &device)),
            Architecture::Inn { normalization } => Box::new(Inn::new(network, normalization, &device)),
            Architecture::Transformer { layers, heads, mlp } => {
                Box::new(Transformer::new(network, layers, heads, mlp, &device))
            }
        };
        let parameters = network.parameters();
        let weights = Weights::read(&parameters, "", state, &device)?;
        let rule = Rule::new(optimizer, &parameters, state, &device)?;
        Ok(Self { device, network: network.clone(), model, weights, rule })
    }

    /// Panics at a symbol or a length that is out of bounds: a card would read other memory, without a word.
    fn check(&self, sentences: Sentences) {
        for sentence in sentences {
            assert!(self.network.shape.lengths().contains(&sentence.len()), "a sentence of {} tokens", sentence.len());
            assert!(
                sentence.iter().all(|&token| usize::from(token) < self.network.vocab),
                "a token is not in the vocabulary"
            );
        }
    }

    /// The mean cross-entropy of the labels, in nats.
    fn loss(&self, logits: Tensor<2>, roots: &[Symbol]) -> Tensor<1> {
        let labels = integers(roots.iter().map(|&root| root.into()).collect(), &self.device);
        let surprises = activation::log_softmax(logits, 1).gather(1, labels.reshape([roots.len(), 1]));
        surprises.mean().neg()
    }
}

impl Engine for Gpu {
    fn step(&mut self, sentences: &[&[Symbol]], roots: &[Symbol]) -> f64 {
        self.check(sentences);
        assert!(!sentences.is_empty() && sentences.len() == roots.len(), "a label for each of some sentences");
        assert!(roots.iter().all(|&root| usize::from(root) < self.network.classes), "a label is not a class");
        let tracked = self.weights.tracked();
        let logits = self.model.logits(&tracked, sentences);
        let loss = self.loss(logits, roots);
        let gradients = tracked.gradients(&mut loss.backward());
        self.rule.update(&mut self.weights, gradients);
        loss.into_scalar::<f32>().into()
    }

    fn logits(&mut self, sentences: &[&[Symbol]]) -> Vec<f32> {
        self.check(sentences);
        let chunks = sentences.chunks(TOGETHER);
        chunks.flat_map(|chunk| weights::values(self.model.logits(&self.weights, chunk))).collect()
    }

    fn state(&self) -> Vec<NamedTensor> {
        self.weights.write("").chain(self.rule.state()).collect()
    }
}

/// The token at a place of a sentence, or `None` after its end.
fn token(sentence: &[Symbol], place: usize) -> Option<usize> {
    sentence.get(place).map(|&token| token.into())
}

/// The number of tokens of the longest sentence.
fn longest(sentences: Sentences) -> usize {
    sentences.iter().map(|sentence| sentence.len()).max().unwrap_or(0)
}

/// The factor of a hidden layer that sums over `taps` places of `channels` channels.
fn scale(normalization: Normalization, taps: usize, channels: usize) -> f64 {
    let inputs = match normalization {
        Normalization::FanIn => taps * channels,
        Normalization::Width => channels,
    };
    (inputs as f64).powf(-0.5)
}

/// A vector of integers on the card.
fn integers(values: Vec<i32>, device: &Device) -> Tensor<1, Int> {
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}

/// A matrix of numbers on the card.
fn matrix(values: Vec<f32>, columns: usize, device: &Device) -> Tensor<2> {
    let rows = values.len() / columns;
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}
