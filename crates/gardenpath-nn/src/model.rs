//! A network at work: logits, and the gradient of its loss.

use crate::activations::Activations;
use crate::error::{Error, Result};
use crate::network::{Architecture, Network};
use crate::scalar::Scalar;
use crate::tensors::{Sink, Tensors};
use crate::transformer::Transformer;
use crate::wired::Wired;
use crate::{cnn, inn};
use gardenpath::Symbol;

/// The forward and backward passes of a network, with buffers that are used again for each batch.
///
/// Every pass refuses a batch that the network cannot read ([`Network::check_sentences`]) before it computes anything.
pub struct Model<T> {
    network: Network,
    kind: Kind<T>,
}

enum Kind<T> {
    Cnn(Wired<T>),
    Inn(Wired<T>, inn::Planner),
    Transformer(Transformer<T>),
}

impl<T: Scalar> Model<T> {
    /// The passes of a network.
    pub fn new(network: &Network) -> Self {
        let kind = match network.architecture {
            Architecture::Cnn { normalization } => Kind::Cnn(cnn::engine(network, normalization)),
            Architecture::Inn { normalization } => {
                Kind::Inn(inn::engine(network, normalization), inn::Planner::new(network))
            }
            Architecture::Transformer { layers, heads, mlp } => {
                Kind::Transformer(Transformer::new(network, layers, heads, mlp))
            }
        };
        Model { network: network.clone(), kind }
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The logits of a batch, `[sentences][classes]`.
    pub fn logits(&mut self, weights: &Tensors<T>, sentences: &[&[Symbol]]) -> Result<&[T]> {
        if sentences.is_empty() {
            return Ok(&[]);
        }
        self.network.check_sentences(sentences.iter().copied())?;
        Ok(match &mut self.kind {
            Kind::Cnn(engine) => engine.logits(weights, &cnn::plan(&self.network, sentences)),
            Kind::Inn(engine, planner) => engine.logits(weights, &planner.plan(sentences)),
            Kind::Transformer(engine) => engine.logits(weights, sentences),
        })
    }

    /// The mean cross-entropy of a batch; its gradient goes into the sink.
    pub fn learn(
        &mut self,
        weights: &mut Tensors<T>,
        sentences: &[&[Symbol]],
        roots: &[Symbol],
        sink: &mut Sink<'_, T>,
    ) -> Result<f64> {
        self.network.check_labelled(sentences.iter().copied(), roots)?;
        Ok(match &mut self.kind {
            Kind::Cnn(engine) => engine.learn(weights, &cnn::plan(&self.network, sentences), roots, sink),
            Kind::Inn(engine, planner) => engine.learn(weights, &planner.plan(sentences), roots, sink),
            Kind::Transformer(engine) => engine.learn(weights, sentences, roots, sink),
        })
    }

    /// What all hidden layers hold for a batch of at least one sentence, from the tokens up.
    pub fn activations(&mut self, weights: &Tensors<T>, sentences: &[&[Symbol]]) -> Result<Vec<Activations<T>>> {
        if sentences.is_empty() {
            return Err(Error::TooSmall { what: "number of sentences", value: 0, least: 1 });
        }
        self.network.check_sentences(sentences.iter().copied())?;
        let (engine, plan, places, name) = match &mut self.kind {
            Kind::Cnn(engine) => {
                let places = cnn::places(&self.network, sentences);
                (engine, cnn::plan(&self.network, sentences), places, "conv")
            }
            Kind::Inn(engine, planner) => {
                let (plan, places) = planner.plan_with_places(sentences);
                (engine, plan, places, "level")
            }
            Kind::Transformer(engine) => return Ok(engine.activations(weights, sentences)),
        };
        engine.logits(weights, &plan);
        let depth = self.network.shape.depth();
        let layer = |((i, values), places): ((usize, &[T]), _)| {
            let number = if name == "level" { depth - 1 - i } else { i };
            let layer = format!("{name}.{number}");
            Activations { layer, width: self.network.width, values: values.to_vec(), places }
        };
        Ok(engine.rows().enumerate().zip(places).map(layer).collect())
    }
}
