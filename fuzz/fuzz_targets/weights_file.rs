//! Weights that can be read round-trip through bytes.
#![no_main]

use gardenpath_nn::weights_file;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok((tensors, metadata)) = weights_file::from_bytes(bytes) else { return };
    let pairs: Vec<(&str, &str)> = metadata.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
    let written = weights_file::to_bytes(&tensors, &pairs);
    let (again, _) = weights_file::from_bytes(&written).unwrap();
    assert_eq!(weights_file::to_bytes(&again, &pairs), written);
});
