//! Numbers on their way to the card and back.

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
    let flat = |values: &[f32]| Tensor::from_data(TensorData::new(values.to_vec(), [values.len()]), device);
    tensors.iter().map(flat).collect()
}

/// All tensors on the host.
pub fn to_host(tensors: &[Tensor<1>]) -> Tensors<f32> {
    Tensors::from_values(tensors.iter().cloned().map(values).collect())
}
