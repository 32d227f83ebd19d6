//! Weights as safetensors files with a checksum of tensors and metadata.

use crate::engine::NamedTensor;
use crate::error::{Error, Result};
use safetensors::tensor::{Dtype, SafeTensors};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The key of the checksum in the metadata of a file.
pub const CHECKSUM: &str = "checksum";

/// The bytes of a safetensors file with these tensors, a text under each key of its metadata, and a checksum of both. The same
/// contents give the same bytes.
///
/// # Panics
///
/// If the number of values of a tensor is not that of its shape.
///
/// ```
/// use gardenpath_nn::weights_file;
/// use gardenpath_nn::engine::NamedTensor;
///
/// let tensor = NamedTensor { name: "readout".into(), shape: vec![1, 2], values: vec![1.0, -2.5] };
/// let bytes = weights_file::to_bytes(&[tensor.clone()], &[("note", "two numbers")]);
/// let (tensors, metadata) = weights_file::from_bytes(&bytes)?;
/// assert_eq!(tensors, [tensor]);
/// assert_eq!(metadata["note"], "two numbers");
/// # Ok::<(), gardenpath_nn::Error>(())
/// ```
pub fn to_bytes(tensors: &[NamedTensor], metadata: &[(&str, &str)]) -> Vec<u8> {
    let mut tensors: Vec<&NamedTensor> = tensors.iter().collect();
    tensors.sort_by(|a, b| a.name.cmp(&b.name));
    let mut metadata: BTreeMap<String, String> =
        metadata.iter().map(|&(key, text)| (key.to_owned(), text.to_owned())).collect();
    metadata.insert(CHECKSUM.into(), checksum(&tensors, &metadata));

    // The crate would write the metadata in hash-table order, which differs from run to run.
    let mut header = Map::new();
    header.insert("__metadata__".into(), json!(metadata));
    let mut data = Vec::new();
    for tensor in tensors {
        assert_eq!(
            tensor.values.len(),
            tensor.shape.iter().product::<usize>(),
            "{}: values fit their shape",
            tensor.name
        );
        let start = data.len();
        data.extend(little_endian(tensor));
        let place = json!({"dtype": "F32", "shape": tensor.shape, "data_offsets": [start, data.len()]});
        header.insert(tensor.name.clone(), place);
    }
    let mut header = Value::Object(header).to_string().into_bytes();
    // Numbers begin at a multiple of their size.
    header.resize(header.len().next_multiple_of(8), b' ');
    [(header.len() as u64).to_le_bytes().as_slice(), &header, &data].concat()
}

/// The tensors and the metadata of a safetensors file of 32-bit numbers, in the order of the names. A checksum, if the file
/// has one, must be right; it is part of the metadata.
pub fn from_bytes(bytes: &[u8]) -> Result<(Vec<NamedTensor>, BTreeMap<String, String>)> {
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
    let metadata: BTreeMap<String, String> = header.metadata().clone().unwrap_or_default().into_iter().collect();
    if let Some(found) = metadata.get(CHECKSUM)
        && *found != checksum(&tensors.iter().collect::<Vec<_>>(), &metadata)
    {
        return Err(Error::Checksum);
    }
    Ok((tensors, metadata))
}

fn little_endian(tensor: &NamedTensor) -> impl Iterator<Item = u8> {
    tensor.values.iter().flat_map(|value| value.to_le_bytes())
}

/// A hash of tensors, in the order of their names, and of all metadata but the checksum itself.
fn checksum(tensors: &[&NamedTensor], metadata: &BTreeMap<String, String>) -> String {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for (key, text) in metadata.iter().filter(|(key, _)| *key != CHECKSUM) {
        add(key.as_bytes());
        add(text.as_bytes());
    }
    for tensor in tensors {
        add(tensor.name.as_bytes());
        add(&tensor.shape.iter().flat_map(|&size| (size as u64).to_le_bytes()).collect::<Vec<u8>>());
        add(&little_endian(tensor).collect::<Vec<u8>>());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(name: &str, shape: &[usize]) -> NamedTensor {
        let len: usize = shape.iter().product();
        NamedTensor { name: name.into(), shape: shape.into(), values: (0..len).map(|k| k as f32 - 1.5).collect() }
    }

    const METADATA: [(&str, &str); 4] = [("format", "pt"), ("b", "\"quoted\" ä"), ("a", ""), ("run", "0123")];

    /// The crate that reads these files has a hash table for metadata.
    #[test]
    fn the_same_contents_are_the_same_bytes() {
        let tensors = [tensor("w", &[2, 3]), tensor("a.b", &[4]), tensor("empty", &[0, 3])];
        let bytes = to_bytes(&tensors, &METADATA);
        for turn in 0..4 {
            let (mut tensors, mut metadata) = (tensors.clone(), METADATA);
            tensors.rotate_left(turn % 3);
            metadata.rotate_left(turn);
            assert!(to_bytes(&tensors, &metadata) == bytes, "in another order");
        }
        let (found, metadata) = from_bytes(&bytes).unwrap();
        assert_eq!(found.iter().map(|tensor| tensor.name.as_str()).collect::<Vec<_>>(), ["a.b", "empty", "w"]);
        assert_eq!((&found[0], &found[2]), (&tensors[1], &tensors[0]));
        assert!(METADATA.iter().all(|(key, text)| metadata[*key] == *text));
        assert_eq!(metadata.len(), METADATA.len() + 1);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = to_bytes(&[tensor("w", &[2, 3]), tensor("v", &[2])], &METADATA);
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                // Without the key there is no checksum to verify; callers that require one check for the key.
                let whole = from_bytes(&damaged).is_ok_and(|(_, metadata)| metadata.contains_key(CHECKSUM));
                assert!(!whole, "byte {place}, bit {bit}");
            }
        }
        assert!((0..bytes.len()).all(|end| from_bytes(&bytes[..end]).is_err()));
    }

    #[test]
    fn files_of_other_programs_have_no_checksum() {
        let values = 1f32.to_le_bytes();
        let view = safetensors::tensor::TensorView::new(Dtype::F32, vec![1], &values).unwrap();
        let bytes = safetensors::serialize([("w", view)], None).unwrap();
        let (tensors, metadata) = from_bytes(&bytes).unwrap();
        assert_eq!((tensors[0].values.as_slice(), metadata.len()), ([1.0].as_slice(), 0));
    }
}
