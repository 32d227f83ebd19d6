//! The weights of a network on the card.

use super::transfer::to_card;
use crate::network::Parameter;
use crate::tensors::Tensors;
use burn::tensor::{Device, Gradients, Tensor};

/// Named tensors, stored flat: each use says which shape it needs.
pub struct Weights {
    names: Vec<String>,
    /// In the order of the parameters.
    pub values: Vec<Tensor<1>>,
}

impl Weights {
    /// Brings the values of all parameters to the card.
    pub fn new(parameters: &[Parameter], values: &Tensors<f32>, device: &Device) -> Self {
        let names = parameters.iter().map(|parameter| parameter.name.clone()).collect();
        Weights { names, values: to_card(values, device) }
    }

    /// The tensor of this name, in a shape that suits its use.
    pub fn get<const D: usize>(&self, name: &str, shape: [usize; D]) -> Tensor<D> {
        let place = self.names.iter().position(|other| other == name).expect("a parameter of the network");
        self.values[place].clone().reshape(shape)
    }

    /// The same weights as the leaves of a new graph of gradients.
    pub fn tracked(&self) -> Self {
        let leaves = self.values.iter().map(|value| value.clone().autodiff().require_grad());
        Weights { names: self.names.clone(), values: leaves.collect() }
    }

    /// The gradient of each tracked weight, in order; zero where the loss does not depend on it.
    pub fn gradients(&self, gradients: &mut Gradients) -> Vec<Tensor<1>> {
        let gradient =
            |leaf: &Tensor<1>| leaf.grad_remove(gradients).unwrap_or_else(|| leaf.clone().inner().zeros_like());
        self.values.iter().map(gradient).collect()
    }
}
