//! A corpus read from Parquet has only tokens of the vocabulary, and invalid files are refused quickly.
#![no_main]

use gardenpath_lab::files::{Alphabet, parquet};
use std::io::Write;
use std::time::{Duration, Instant};

/// Far more than any input of the fuzzer needs. Endless reads are caught by its option `-timeout`.
const LIMIT: Duration = Duration::from_secs(5);

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let begin = Instant::now();
    if let Ok(reader) = parquet::Reader::open(file, "input".into(), Alphabet::numbers(6)) {
        for piece in reader.map_while(Result::ok) {
            assert!(piece.tokens().iter().all(|&token| token < 6));
        }
    }
    assert!(begin.elapsed() < LIMIT, "it took {:?}", begin.elapsed());
});
