//! Numbers on their way to the card and back.

use crate::network::Parameter;
use crate::tensors::Tensors;
use burn::tensor::{Device, Int, Tensor, TensorData};

/// A vector of integers on the card.
pub fn integers(values: Vec<i32>, device: &Device) -> Tensor<1, Int> {
    let count = values.len();
    Tensor::from_data(TensorData::new(values, [count]), device)
}

/// A matrix of numbers on the card.
pub fn matrix(values: Vec<f32>, columns: usize, device: &Device) -> Tensor<2> {
    let rows = values.len() / columns;
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}

/// The numbers of a tensor, on the host.
pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.try_into_vec_as().expect("the card answers")
}

/// All tensors on the card, flat.
pub fn to_card(tensors: &Tensors<f32>, device: &Device) -> Vec<Tensor<1>> {
    let flat = |values: Vec<f32>| {
        let count = values.len();
        Tensor::from_data(TensorData::new(values, [count]), device)
    };
    (0..tensors.len()).map(|i| flat(tensors.row_major(i))).collect()
}

/// All tensors on the host.
pub fn to_host(parameters: &[Parameter], tensors: &[Tensor<1>]) -> Tensors<f32> {
    Tensors::from_row_major(parameters, tensors.iter().cloned().map(values))
}
