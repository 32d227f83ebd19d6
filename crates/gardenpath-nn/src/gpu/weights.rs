//! The weights of a network on the card.

use crate::engine::{self, NamedTensor};
use crate::error::Result;
use crate::network::Parameter;
use burn::tensor::{Device, Gradients, Tensor, TensorData};

/// The tensors of all parameters, stored flat: each use says which shape it needs.
pub(super) struct Weights {
    parameters: Vec<Parameter>,
    /// In the order of the parameters.
    pub values: Vec<Tensor<1>>,
}

impl Weights {
    /// Brings the tensors of the parameters, with `prefix` before each name, to the card.
    pub fn read(parameters: &[Parameter], prefix: &str, state: &[NamedTensor], device: &Device) -> Result<Self> {
        let tensors = engine::find(parameters, state, prefix)?;
        let values =
            tensors.iter().map(|values| Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), device));
        Ok(Self { parameters: parameters.to_vec(), values: values.collect() })
    }

    /// Zeros of these shapes.
    pub fn zeros(parameters: &[Parameter], device: &Device) -> Self {
        let values = parameters.iter().map(|parameter| Tensor::zeros([parameter.len()], device));
        Self { parameters: parameters.to_vec(), values: values.collect() }
    }

    /// Copies to the host, with `prefix` before each name.
    pub fn write(&self, prefix: &str) -> impl Iterator<Item = NamedTensor> {
        self.parameters.iter().zip(&self.values).map(move |(parameter, tensor)| NamedTensor {
            name: format!("{prefix}{}", parameter.name),
            shape: parameter.shape.clone(),
            values: values(tensor.clone()),
        })
    }

    /// The tensor of this name, in a shape that suits its use.
    pub fn get<const D: usize>(&self, name: &str, shape: [usize; D]) -> Tensor<D> {
        let place =
            self.parameters.iter().position(|parameter| parameter.name == name).expect("a weight of the network");
        self.values[place].clone().reshape(shape)
    }

    /// The same weights as the leaves of a new graph of gradients.
    pub fn tracked(&self) -> Self {
        let leaves = self.values.iter().map(|value| value.clone().autodiff().require_grad());
        Self { parameters: self.parameters.clone(), values: leaves.collect() }
    }

    /// The gradient of each tracked weight, in order; zero where the loss does not depend on it.
    pub fn gradients(&self, gradients: &mut Gradients) -> Vec<Tensor<1>> {
        let leaves = self.values.iter();
        leaves.map(|leaf| leaf.grad_remove(gradients).unwrap_or_else(|| leaf.clone().inner().zeros_like())).collect()
    }
}

/// The numbers of a tensor, on the host.
pub(super) fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as().expect("the card answers")
}
