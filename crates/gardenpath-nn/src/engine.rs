//! The device interface for training, and the CPU engine.

use crate::activations::Activations;
use crate::error::{Error, Result};
use crate::model::Model;
use crate::network::{Network, Parameter};
use crate::optimizer::{Adam, Optimizer};
use crate::prepared::Prepared;
use crate::tensors::{Sink, Tensors};
use gardenpath::{Seed, Symbol};

/// A tensor with its name, as it stands in files.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTensor {
    /// Its name.
    pub name: String,
    /// Its sizes.
    pub shape: Vec<usize>,
    /// Its values, row-major.
    pub values: Vec<f32>,
}

/// A device that trains a network.
///
/// Every device rejects the same batches with the same errors before computing anything: those of
/// [`Network::check_answered`] and [`Network::check_sentences`].
pub trait Engine {
    /// The network that is trained.
    fn network(&self) -> &Network;

    /// One step of the optimiser, given the right answers to all questions about the sentences: their roots, or tokens one sentence after the
    /// other. Returns the cross-entropy of the batch before the step, per [unit of the task](crate::Task::units).
    fn step(&mut self, sentences: &[&[Symbol]], answers: &[Symbol]) -> Result<f64>;

    /// The logits of a batch, `[questions][outputs]`: `[sentences][classes]` in the task of telling roots.
    fn logits(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<f32>>;

    /// Prepares sentences whose logits will be requested repeatedly as the weights change.
    fn prepare(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<Prepared>> {
        self.network().check_sentences(sentences.iter().copied())?;
        Ok(Prepared::different(self.network(), sentences))
    }

    /// The logits of the different ones among prepared sentences.
    fn prepared_logits(&mut self, prepared: &Prepared) -> Result<Vec<f32>> {
        prepared.logits(|batch| self.logits(batch))
    }

    /// The weights, then the state of the optimiser: everything needed to resume.
    fn state(&self) -> Vec<NamedTensor>;
}

impl<E: Engine + ?Sized> Engine for Box<E> {
    fn network(&self) -> &Network {
        (**self).network()
    }

    fn step(&mut self, sentences: &[&[Symbol]], answers: &[Symbol]) -> Result<f64> {
        (**self).step(sentences, answers)
    }

    fn logits(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<f32>> {
        (**self).logits(sentences)
    }

    fn prepare(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<Prepared>> {
        (**self).prepare(sentences)
    }

    fn prepared_logits(&mut self, prepared: &Prepared) -> Result<Vec<f32>> {
        (**self).prepared_logits(prepared)
    }

    fn state(&self) -> Vec<NamedTensor> {
        (**self).state()
    }
}

/// The initial state of a network: its weights.
///
/// ```
/// use gardenpath::{Seed, Shape};
/// use gardenpath_nn::{Architecture, Network, engine};
///
/// let network = Network::new(8, 8, Shape::mixed(2), 64, Architecture::cnn())?;
/// let state = engine::initial_state(&network, Seed::new(1));
/// assert_eq!(state[0].name, "conv.0");
/// assert_eq!(state[0].shape, [4, 8, 64]);
/// # Ok::<(), gardenpath_nn::Error>(())
/// ```
pub fn initial_state(network: &Network, seed: Seed) -> Vec<NamedTensor> {
    let parameters = network.parameters();
    let weights = Tensors::sample(&parameters, seed);
    named(&parameters, &weights, "").collect()
}

/// The engine that computes on the CPU, on all threads of the current pool.
pub struct Cpu {
    parameters: Vec<Parameter>,
    model: Model<f32>,
    weights: Tensors<f32>,
    descent: Descent,
}

/// How weights move.
enum Descent {
    Sgd { rate: f32 },
    Adam { rates: Vec<f64>, state: Adam, gradient: Tensors<f32> },
}

impl Cpu {
    /// An engine that resumes from a state.
    pub fn new(network: &Network, optimizer: Optimizer, state: &[NamedTensor]) -> Result<Self> {
        let parameters = network.parameters();
        let weights = find(&parameters, state, "")?;
        let descent = match optimizer {
            Optimizer::Sgd { learning_rate } => Descent::Sgd { rate: learning_rate as f32 },
            Optimizer::Adam { learning_rate } => Descent::Adam {
                rates: parameters.iter().map(|parameter| parameter.rate * learning_rate).collect(),
                state: adam_state(&parameters, state)?,
                gradient: Tensors::zeros(&parameters),
            },
        };
        Ok(Cpu { model: Model::new(network), parameters, weights, descent })
    }

    /// The activations of all hidden layers for a batch, from the tokens up.
    pub fn activations(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<Activations<f32>>> {
        self.model.activations(&self.weights, sentences)
    }
}

/// The name of the tensor that counts the steps of Adam.
const STEPS: &str = "adam.steps";

/// The prefix of the names of the mean gradients.
const FIRST: &str = "adam.first.";

/// The prefix of the names of the mean squares.
const SECOND: &str = "adam.second.";

/// The state of Adam among the tensors of a state, or that of a beginning.
pub(crate) fn adam_state(parameters: &[Parameter], state: &[NamedTensor]) -> Result<Adam> {
    let Some(steps) = state.iter().find(|tensor| tensor.name == STEPS) else { return Ok(Adam::new(parameters)) };
    let steps = steps.values.first().copied().unwrap_or_default() as u64;
    Ok(Adam { first: find(parameters, state, FIRST)?, second: find(parameters, state, SECOND)?, steps })
}

impl Engine for Cpu {
    fn network(&self) -> &Network {
        self.model.network()
    }

    fn step(&mut self, sentences: &[&[Symbol]], answers: &[Symbol]) -> Result<f64> {
        within_pool(|| match &mut self.descent {
            Descent::Sgd { rate } => self.model.learn(&mut self.weights, sentences, answers, &mut Sink::Descent(*rate)),
            Descent::Adam { rates, state, gradient } => {
                gradient.iter_mut().for_each(|values| values.fill(0.0));
                let sink = &mut Sink::Gradient(gradient);
                let loss = self.model.learn(&mut self.weights, sentences, answers, sink)?;
                state.step(&mut self.weights, gradient, rates);
                Ok(loss)
            }
        })
    }

    fn logits(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<f32>> {
        within_pool(|| Ok(self.model.logits(&self.weights, sentences)?.to_vec()))
    }

    fn prepare(&mut self, sentences: &[&[Symbol]]) -> Result<Vec<Prepared>> {
        within_pool(|| self.model.prepare(sentences))
    }

    fn prepared_logits(&mut self, prepared: &Prepared) -> Result<Vec<f32>> {
        match &prepared.plan {
            Some(plan) => within_pool(|| Ok(self.model.planned_logits(&self.weights, plan).to_vec())),
            None => prepared.logits(|batch| self.logits(batch)),
        }
    }

    fn state(&self) -> Vec<NamedTensor> {
        let adam = match &self.descent {
            Descent::Sgd { .. } => None,
            Descent::Adam { state, .. } => Some(state),
        };
        state(&self.parameters, &self.weights, adam)
    }
}

/// Runs a step on a thread of the pool: from outside, each of its many parallel loops would wait for a signal.
fn within_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}

/// The tensors of a state: the weights and Adam's moments.
pub(crate) fn state(parameters: &[Parameter], weights: &Tensors<f32>, adam: Option<&Adam>) -> Vec<NamedTensor> {
    let mut state: Vec<NamedTensor> = named(parameters, weights, "").collect();
    if let Some(Adam { first, second, steps }) = adam {
        state.extend(named(parameters, first, FIRST));
        state.extend(named(parameters, second, SECOND));
        state.push(NamedTensor { name: STEPS.into(), shape: vec![1], values: vec![*steps as f32] });
    }
    state
}

fn named<'a>(
    parameters: &'a [Parameter],
    tensors: &'a Tensors<f32>,
    prefix: &'a str,
) -> impl Iterator<Item = NamedTensor> + 'a {
    parameters.iter().enumerate().map(move |(i, parameter)| NamedTensor {
        name: format!("{prefix}{}", parameter.name),
        shape: parameter.shape.clone(),
        values: tensors.row_major(i),
    })
}

/// The weights among the tensors of a state.
pub fn weights(network: &Network, state: &[NamedTensor]) -> Result<Tensors<f32>> {
    find(&network.parameters(), state, "")
}

/// The tensors of all parameters among those of a state.
pub(crate) fn find(parameters: &[Parameter], state: &[NamedTensor], prefix: &str) -> Result<Tensors<f32>> {
    let find = |parameter: &Parameter| {
        let name = format!("{prefix}{}", parameter.name);
        let Some(tensor) = state.iter().find(|tensor| tensor.name == name) else {
            return Err(Error::Missing { name });
        };
        if tensor.shape != parameter.shape || tensor.values.len() != parameter.len() {
            return Err(Error::WrongShape { name, found: tensor.shape.clone(), expected: parameter.shape.clone() });
        }
        Ok(tensor.values.clone())
    };
    let values: Vec<Vec<f32>> = parameters.iter().map(find).collect::<Result<_>>()?;
    Ok(Tensors::from_row_major(parameters, values))
}
