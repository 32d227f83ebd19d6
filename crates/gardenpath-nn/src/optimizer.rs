//! How weights move: gradient descent, and Adam.

use crate::network::{Architecture, Network, Parameter};
use crate::tensors::Tensors;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The rule by which weights follow their gradient.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "optimizer", rename_all = "lowercase")]
pub enum Optimizer {
    /// Gradient descent without momentum.
    Sgd {
        /// The learning rate.
        learning_rate: f64,
    },
    /// Adam with the usual constants. The learning rate is meant for a width of 512; hidden layers of other widths are
    /// scaled by [`Parameter::rate`].
    Adam {
        /// The learning rate.
        learning_rate: f64,
    },
}

impl Optimizer {
    /// The paper's: gradient descent at a rate equal to the width, and Adam at 5e-4 for the transformer.
    pub fn of_paper(network: &Network) -> Self {
        Self::of_architecture(network.architecture, network.width)
    }

    /// The paper's for an architecture of some width.
    pub fn of_architecture(architecture: Architecture, width: usize) -> Self {
        match architecture {
            Architecture::Transformer { .. } => Optimizer::Adam { learning_rate: 5e-4 },
            _ => Optimizer::Sgd { learning_rate: width as f64 },
        }
    }
}

/// The decay of the mean gradient.
pub const FIRST_DECAY: f64 = 0.9;
/// The decay of the mean square of the gradient.
pub const SECOND_DECAY: f64 = 0.999;
/// Added to the root of the mean square.
pub const EPSILON: f64 = 1e-8;

/// The state of Adam.
#[derive(Clone, Debug, PartialEq)]
pub struct Adam {
    /// The mean gradient.
    pub first: Tensors<f32>,
    /// The mean square of the gradient.
    pub second: Tensors<f32>,
    /// The number of steps so far.
    pub steps: u64,
}

impl Adam {
    /// The state before the first step.
    pub fn new(parameters: &[Parameter]) -> Self {
        Adam { first: Tensors::zeros(parameters), second: Tensors::zeros(parameters), steps: 0 }
    }

    /// One step.
    pub fn step(&mut self, weights: &mut Tensors<f32>, gradient: &Tensors<f32>, rates: &[f64]) {
        self.steps += 1;
        let steps = self.steps.min(i32::MAX as u64) as i32;
        let first_bias = 1.0 - FIRST_DECAY.powi(steps);
        let second_bias = 1.0 - SECOND_DECAY.powi(steps);
        let tensors = weights.iter_mut().zip(gradient.iter()).zip(self.first.iter_mut().zip(self.second.iter_mut()));
        for (((weights, gradient), (first, second)), rate) in tensors.zip(rates) {
            let rate = (rate / first_bias) as f32;
            let root_bias = (1.0 / second_bias.sqrt()) as f32;
            let numbers = weights.par_iter_mut().zip(gradient).zip(first.par_iter_mut().zip(second));
            numbers.with_min_len(1 << 14).for_each(|((weight, &slope), (first, second))| {
                *first += (1.0 - FIRST_DECAY as f32) * (slope - *first);
                *second += (1.0 - SECOND_DECAY as f32) * (slope * slope - *second);
                *weight -= rate * *first / (second.sqrt() * root_bias + EPSILON as f32);
            });
        }
    }
}
