//! Whatever is read as weights is written as bytes that are read as the same.
#![no_main]

use gardenpath_nn::checkpoint;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok((tensors, metadata)) = checkpoint::from_bytes(bytes) else { return };
    let pairs: Vec<(&str, &str)> = metadata.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
    let written = checkpoint::to_bytes(&tensors, &pairs);
    let (again, _) = checkpoint::from_bytes(&written).unwrap();
    assert_eq!(checkpoint::to_bytes(&again, &pairs), written);
});
