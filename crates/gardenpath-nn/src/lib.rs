//! nn
#![allow(missing_docs)]
pub mod activations;
pub mod attention;
pub mod checkpoint;
pub mod cnn;
pub mod engine;
pub mod error;
pub mod inn;
pub mod loss;
pub mod matmul;
pub mod model;
pub mod mup;
pub mod network;
pub mod norm;
pub mod optimizer;
pub mod rows;
pub mod scalar;
pub mod tensors;
pub mod train;
pub mod transformer;
pub mod wired;
pub mod wiring;
pub use error::{Error, Result};
pub use network::{Architecture, Network, Normalization, Parameter, Start};
pub use tensors::{Sink, Tensors};
pub use optimizer::Optimizer;
