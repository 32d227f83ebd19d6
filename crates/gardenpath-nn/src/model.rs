//! The passes of a network: logits, and the gradient of its loss.

use crate::activations::Activations;
use crate::error::{Error, Result};
use crate::filter_network::{FilterNetwork, Plan};
use crate::network::{Architecture, Network};
use crate::prepared::{KEPT, Prepared};
use crate::scalar::Scalar;
use crate::tensors::{Sink, Tensors};
use crate::transformer::Transformer;
use crate::{cnn, inn};
use gardenpath::Symbol;

/// The forward and backward passes of a network, with buffers that are used again for each batch.
///
/// Every pass rejects a batch that the network cannot read ([`Network::check_sentences`]) before computing anything.
pub struct Model<T> {
    network: Network,
    kind: Kind<T>,
}

enum Kind<T> {
    Cnn(FilterNetwork<T>),
    Inn(FilterNetwork<T>, inn::Planner),
    Transformer(Transformer<T>),
}

impl<T: Scalar> Model<T> {
    /// The passes of a network.
    pub fn new(network: &Network) -> Self {
        let kind = match network.architecture {
            Architecture::Cnn { normalization } => Kind::Cnn(cnn::passes(network, normalization)),
            Architecture::Inn { normalization } => {
                Kind::Inn(inn::passes(network, normalization), inn::Planner::new(network, normalization))
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

    /// The logits of a batch, `[questions][outputs]`: `[sentences][classes]` in the task of telling roots.
    pub fn logits(&mut self, weights: &Tensors<T>, sentences: &[&[Symbol]]) -> Result<&[T]> {
        if sentences.is_empty() {
            return Ok(&[]);
        }
        self.network.check_sentences(sentences.iter().copied())?;
        Ok(match &mut self.kind {
            Kind::Cnn(passes) => passes.logits(weights, &cnn::plan(&self.network, sentences)),
            Kind::Inn(passes, planner) => passes.logits(weights, &planner.plan(sentences)?),
            Kind::Transformer(passes) => passes.logits(weights, sentences)?,
        })
    }

    /// Prepares sentences whose logits will be requested repeatedly.
    pub(crate) fn prepare(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<Prepared>> {
        let network = &self.network;
        network.check_sentences(sentences.iter().copied())?;
        match &mut self.kind {
            Kind::Cnn(_) => Prepared::shared(network, sentences, KEPT, |batch| Ok(cnn::plan(network, batch))),
            Kind::Inn(_, planner) => Prepared::shared(network, sentences, KEPT, |batch| planner.plan(batch)),
            Kind::Transformer(_) => Ok(Prepared::different(network, sentences)),
        }
    }

    /// The logits of sentences that are wired already; none for a network without wires.
    pub(crate) fn planned_logits(&mut self, weights: &Tensors<T>, plan: &Plan) -> &[T] {
        match &mut self.kind {
            Kind::Cnn(passes) | Kind::Inn(passes, _) => passes.logits(weights, plan),
            Kind::Transformer(_) => &[],
        }
    }

    /// The cross-entropy of a batch, given the right answers to all questions about it, per [unit of the task](crate::Task::units); its gradient
    /// goes into the sink.
    pub fn learn(
        &mut self,
        weights: &mut Tensors<T>,
        sentences: &[&[Symbol]],
        answers: &[Symbol],
        sink: &mut Sink<'_, T>,
    ) -> Result<f64> {
        self.network.check_answered(sentences.iter().copied(), answers)?;
        Ok(match &mut self.kind {
            Kind::Cnn(passes) => passes.learn(weights, &cnn::plan(&self.network, sentences), answers, sink),
            Kind::Inn(passes, planner) => passes.learn(weights, &planner.plan(sentences)?, answers, sink),
            Kind::Transformer(passes) => passes.learn(weights, sentences, answers, sink)?,
        })
    }

    /// The activations of all hidden layers for a non-empty batch, from the tokens up.
    pub fn activations(&mut self, weights: &Tensors<T>, sentences: &[&[Symbol]]) -> Result<Vec<Activations<T>>> {
        if sentences.is_empty() {
            return Err(Error::TooSmall { what: "number of sentences", value: 0, least: 1 });
        }
        self.network.check_sentences(sentences.iter().copied())?;
        let (passes, plan, places, name) = match &mut self.kind {
            Kind::Cnn(passes) => {
                let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
                let places = cnn::places(&self.network.shape, &lengths);
                (passes, cnn::plan(&self.network, sentences), places, "conv")
            }
            Kind::Inn(passes, planner) => {
                let (plan, places) = planner.plan_with_places(sentences)?;
                (passes, plan, places, "level")
            }
            Kind::Transformer(passes) => return passes.activations(weights, sentences),
        };
        passes.logits(weights, &plan);
        let depth = self.network.shape.depth();
        let layer = |((i, values), places): ((usize, &[T]), _)| {
            let number = if name == "level" { depth - 1 - i } else { i };
            let layer = format!("{name}.{number}");
            Activations { layer, width: self.network.width, values: values.to_vec(), places }
        };
        Ok(passes.rows().enumerate().zip(places).map(layer).collect())
    }
}
