//! The optimisers, written out so that their state can be saved and read.

use super::weights::Weights;
use crate::engine::{self, NamedTensor};
use crate::error::Result;
use crate::network::Parameter;
use crate::optimizer::{EPSILON, FIRST_DECAY as FIRST, Optimizer, SECOND_DECAY as SECOND};
use burn::tensor::{Device, Tensor};

/// How to change weights.
pub(super) enum Rule {
    /// Gradient descent with this learning rate.
    Sgd(f64),
    Adam(Adam),
}

/// Running moments of the gradients.
pub(super) struct Adam {
    /// The learning rate of each tensor.
    rates: Vec<f64>,
    first: Weights,
    second: Weights,
    steps: i32,
}

impl Rule {
    /// The rule of an optimiser, continued where `state` has its moments.
    pub fn new(optimizer: Optimizer, parameters: &[Parameter], state: &[NamedTensor], device: &Device) -> Result<Self> {
        let learning_rate = match optimizer {
            Optimizer::Sgd { learning_rate } => return Ok(Self::Sgd(learning_rate)),
            Optimizer::Adam { learning_rate } => learning_rate,
        };
        let rates = parameters.iter().map(|parameter| parameter.rate * learning_rate).collect();
        let steps = engine::adam_steps(state);
        let moments = |prefix| match steps {
            None => Ok(Weights::zeros(parameters, device)),
            Some(_) => Weights::read(parameters, prefix, state, device),
        };
        let (first, second) = (moments(engine::FIRST)?, moments(engine::SECOND)?);
        Ok(Self::Adam(Adam { rates, first, second, steps: steps.unwrap_or(0) as i32 }))
    }

    /// One step.
    pub fn update(&mut self, weights: &mut Weights, gradients: Vec<Tensor<1>>) {
        match self {
            Self::Sgd(rate) => {
                for (weight, gradient) in weights.values.iter_mut().zip(gradients) {
                    weight.inplace(|weight| weight - gradient * *rate);
                }
            }
            Self::Adam(adam) => adam.update(weights, gradients),
        }
    }

    /// What it takes to continue: nothing, or the moments and the number of steps.
    pub fn state(&self) -> impl Iterator<Item = NamedTensor> {
        let adam = match self {
            Self::Sgd(_) => None,
            Self::Adam(adam) => Some(adam),
        };
        adam.into_iter().flat_map(Adam::state)
    }
}

impl Adam {
    fn update(&mut self, weights: &mut Weights, gradients: Vec<Tensor<1>>) {
        self.steps += 1;
        // The moments start at zero; this undoes what that takes away from their mean.
        let first_bias = 1.0 - FIRST.powi(self.steps);
        let second_bias = 1.0 - SECOND.powi(self.steps);
        let moments = self.first.values.iter_mut().zip(&mut self.second.values).zip(&self.rates);
        for ((weight, gradient), ((first, second), rate)) in weights.values.iter_mut().zip(gradients).zip(moments) {
            first.inplace(|first| first * FIRST + gradient.clone() * (1.0 - FIRST));
            second.inplace(|second| second * SECOND + gradient.square() * (1.0 - SECOND));
            let spread = (second.clone() / second_bias).sqrt() + EPSILON;
            weight.inplace(|weight| weight - first.clone() / spread * (rate / first_bias));
        }
    }

    fn state(&self) -> impl Iterator<Item = NamedTensor> {
        let steps = NamedTensor { name: engine::STEPS.into(), shape: vec![1], values: vec![self.steps as f32] };
        self.first.write(engine::FIRST).chain(self.second.write(engine::SECOND)).chain([steps])
    }
}
