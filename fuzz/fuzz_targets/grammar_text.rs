//! `.pcfg` text that can be read can be written and read back.
#![no_main]

use gardenpath::Grammar;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(grammar) = Grammar::from_text(text) {
        assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar);
    }
});
