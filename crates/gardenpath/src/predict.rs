//! Exact predictions: the next token, and what hides above the tokens, given a part of a sentence.

mod laws;
mod reader;
mod tables;
mod top;

pub use reader::{Predictor, Reader};
