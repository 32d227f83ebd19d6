//! Whatever is read as Parquet has tokens of the vocabulary only.
#![no_main]

use gardenpath_lab::files::parquet;
use std::io::Write;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let Ok(reader) = parquet::Reader::open(file, "input".into(), 6) else { return };
    for piece in reader {
        let Ok(piece) = piece else { return };
        assert!(piece.tokens().iter().all(|&token| token < 6));
    }
});
