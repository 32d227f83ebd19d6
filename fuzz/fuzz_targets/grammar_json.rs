//! A published JSON grammar that can be read can be written as text and read back.
#![no_main]

use gardenpath::Grammar;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(grammar) = Grammar::from_lano_json(text) {
        assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar);
    }
});
