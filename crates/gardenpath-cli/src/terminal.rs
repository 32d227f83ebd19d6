//! Drawings for the terminal: plots and trees.

pub mod plot;
pub mod tree;
