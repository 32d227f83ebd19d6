//! The steps of the optimisers, written out so that their state can be saved and read.

use super::transfer::{to_card, to_host};
use super::weights::Weights;
use crate::engine::{NamedTensor, adam_state};
use crate::error::Result;
use crate::network::Parameter;
use crate::optimizer::{Adam, EPSILON, FIRST_DECAY, Optimizer, SECOND_DECAY};
use burn::tensor::{Device, Tensor};

/// How weights move.
pub enum Descent {
    /// Gradient descent.
    Sgd {
        /// The learning rate.
        rate: f64,
    },
    /// Adam.
    Adam {
        /// The learning rate of each tensor.
        rates: Vec<f64>,
        /// The mean gradients.
        first: Vec<Tensor<1>>,
        /// The mean squares of the gradients.
        second: Vec<Tensor<1>>,
        /// The number of steps so far.
        steps: u64,
    },
}

impl Descent {
    /// The steps of an optimiser, which goes on where the state has its moments.
    pub fn new(optimizer: Optimizer, parameters: &[Parameter], state: &[NamedTensor], device: &Device) -> Result<Self> {
        Ok(match optimizer {
            Optimizer::Sgd { learning_rate } => Descent::Sgd { rate: learning_rate },
            Optimizer::Adam { learning_rate } => {
                let Adam { first, second, steps } = adam_state(parameters, state)?;
                let rates = parameters.iter().map(|parameter| parameter.rate * learning_rate).collect();
                Descent::Adam { rates, first: to_card(&first, device), second: to_card(&second, device), steps }
            }
        })
    }

    /// One step.
    pub fn step(&mut self, weights: &mut Weights, gradients: Vec<Tensor<1>>) {
        let pairs = weights.values.iter_mut().zip(gradients);
        match self {
            Descent::Sgd { rate } => {
                for (weight, gradient) in pairs {
                    weight.inplace(|weight| weight - gradient * *rate);
                }
            }
            Descent::Adam { rates, first, second, steps } => {
                *steps += 1;
                // The moments start at zero; this undoes what that takes away from their means.
                let [first_bias, second_bias] =
                    [FIRST_DECAY, SECOND_DECAY].map(|decay| 1.0 - decay.powf(*steps as f64));
                let moments = first.iter_mut().zip(second).zip(rates);
                for ((weight, gradient), ((first, second), rate)) in pairs.zip(moments) {
                    first.inplace(|first| first * FIRST_DECAY + gradient.clone() * (1.0 - FIRST_DECAY));
                    second.inplace(|second| second * SECOND_DECAY + gradient.square() * (1.0 - SECOND_DECAY));
                    let spread = (second.clone() / second_bias).sqrt() + EPSILON;
                    weight.inplace(|weight| weight - first.clone() / spread * (*rate / first_bias));
                }
            }
        }
    }

    /// The state of Adam, on the host.
    pub fn adam(&self, parameters: &[Parameter]) -> Option<Adam> {
        match self {
            Descent::Sgd { .. } => None,
            Descent::Adam { first, second, steps, .. } => {
                let [first, second] = [first, second].map(|tensors| to_host(parameters, tensors));
                Some(Adam { first, second, steps: *steps })
            }
        }
    }
}
