//! Weights as safetensors, the format that PyTorch's users know.

use crate::engine::NamedTensor;
use crate::error::{Error, Result};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::HashMap;

/// The bytes of a safetensors file with these tensors and a text under each key of its metadata.
///
/// ```
/// use gardenpath_nn::checkpoint;
/// use gardenpath_nn::engine::NamedTensor;
///
/// let tensor = NamedTensor { name: "readout".into(), shape: vec![1, 2], values: vec![1.0, -2.5] };
/// let bytes = checkpoint::to_bytes(&[tensor.clone()], &[("note", "two numbers")]);
/// let (tensors, metadata) = checkpoint::from_bytes(&bytes)?;
/// assert_eq!(tensors, [tensor]);
/// assert_eq!(metadata["note"], "two numbers");
/// # Ok::<(), gardenpath_nn::Error>(())
/// ```
pub fn to_bytes(tensors: &[NamedTensor], metadata: &[(&str, &str)]) -> Vec<u8> {
    let bytes: Vec<Vec<u8>> =
        tensors.iter().map(|tensor| tensor.values.iter().flat_map(|value| value.to_le_bytes()).collect()).collect();
    let views = tensors.iter().zip(&bytes).map(|(tensor, bytes)| {
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes);
        (tensor.name.clone(), view.expect("values fit their shape"))
    });
    let metadata = metadata.iter().map(|&(key, text)| (key.to_owned(), text.to_owned())).collect();
    safetensors::serialize(views, Some(metadata)).expect("tensors in memory can be serialised")
}

/// The tensors and the metadata of a safetensors file of 32-bit numbers, in the order of the names.
pub fn from_bytes(bytes: &[u8]) -> Result<(Vec<NamedTensor>, HashMap<String, String>)> {
    let format = |error: safetensors::SafeTensorError| Error::Format(error.to_string());
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(format)?;
    let file = SafeTensors::deserialize(bytes).map_err(format)?;
    let mut tensors = file
        .iter()
        .map(|(name, view)| {
            if view.dtype() != Dtype::F32 {
                return Err(Error::Format(format!("tensor '{name}' holds {:?}", view.dtype())));
            }
            let values = view.data().as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
            Ok(NamedTensor { name: name.to_owned(), shape: view.shape().to_vec(), values })
        })
        .collect::<Result<Vec<NamedTensor>>>()?;
    tensors.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((tensors, header.metadata().clone().unwrap_or_default()))
}
