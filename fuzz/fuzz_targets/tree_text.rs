//! A bracketed tree that can be read can be written and read back.
#![no_main]

use gardenpath::{Grammar, Tree};
use std::sync::LazyLock;

static GRAMMAR: LazyLock<Grammar> =
    LazyLock::new(|| Grammar::from_text(include_str!("../seeds/grammar_text/sampled.pcfg")).unwrap());

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(tree) = Tree::from_text(text, &GRAMMAR) {
        assert_eq!(Tree::from_text(&tree.to_text(&GRAMMAR), &GRAMMAR).unwrap(), tree);
    }
});
