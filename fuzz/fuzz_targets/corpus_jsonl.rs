//! A corpus read from JSON lines has only tokens of the vocabulary, and can be written.
#![no_main]

use gardenpath_lab::files::{Alphabet, jsonl};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for piece in jsonl::Reader::new(bytes, "input".into(), Alphabet::numbers(6)) {
        let Ok(piece) = piece else { return };
        assert!(piece.tokens().iter().all(|&token| token < 6));
        jsonl::write(&mut Vec::new(), &piece, None).unwrap();
    }
});
