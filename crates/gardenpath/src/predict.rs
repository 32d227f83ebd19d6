//! Exact predictions: the next token, masked and noisy tokens, and hidden symbols, given part of a sentence.

mod floor;
mod formula;
mod full;
mod known_length;
mod laws;
mod posterior;
mod reader;
mod tables;
mod top;

pub use floor::{Floor, Task, mean_divergence, random_mask, random_noise};
pub use formula::level_floor_formula;
pub use known_length::KnownLength;
pub use posterior::SymbolPosteriors;
pub use reader::{Predictor, Reader};
