//! Convolutional, inside and transformer networks that learn to name the root of a sentence, trained at full speed on the CPU.
//!
//! A [`Network`] is generated from the [`Shape`](gardenpath::Shape) of a grammar. Its forward and backward passes are written by
//! hand over one matrix kernel; a [`Trainer`](train::Trainer) takes steps with them, measures the test loss, and
//! stops when it rises or no longer falls.
//!
//! ```
//! use gardenpath::{Corpus, Ensemble, Seed};
//! use gardenpath_nn::engine::{Cpu, initial_state};
//! use gardenpath_nn::train::{Event, Progress, Settings, Trainer};
//! use gardenpath_nn::{Architecture, Network, Optimizer};
//!
//! let grammar = Ensemble::new(8, 2).fraction(0.125).sample(Seed::new(1))?;
//! let train = Corpus::sample(&grammar, Seed::new(2), 0..1024);
//! let test = Corpus::sample(&grammar, Seed::new(3), 0..1000);
//!
//! let network = Network::new(8, 8, grammar.shape(), 64, Architecture::inn())?;
//! let engine = Cpu::new(&network, Optimizer::of_paper(&network), &initial_state(&network, Seed::new(4)))?;
//! let settings = Settings { max_steps: 100, ..Settings::default() };
//! let mut trainer = Trainer::new(engine, settings, [&train, &test], Seed::new(5), Progress::default())?;
//! while !matches!(trainer.advance()?, Event::Ended(_)) {}
//!
//! let best = trainer.progress().best().unwrap();
//! assert!(best.test_loss < 0.8 * 8f64.ln());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why it is fast
//! - The first layer of the CNN and the INN is computed once for each token of the vocabulary and looked up.
//! - Rows are packed: positions and cells that are zero, or that no tree can use, do not exist.
//! - A step of gradient descent adds products of activations and gradients to the weights in place; there is no gradient in memory.
//! - In the last layer of the transformer only the rows that are read out compute queries.
//!
//! # Reproducibility
//! Initial weights and batches are functions of a seed, on every machine. Training gives the same bytes for any number of
//! threads: every number is summed by one task, in an order that does not depend on the others. Processors with and without fused
//! multiply-adds round differently.

mod activations;
mod attention;
mod batch;
mod cells;
mod cnn;
pub mod connections;
mod dispatch;
pub mod engine;
mod error;
mod filter_network;
#[cfg(feature = "gpu")]
pub mod gpu;
mod inn;
mod loss;
mod matmul;
mod model;
pub mod mup;
mod network;
mod norm;
mod optimizer;
mod panels;
mod prepared;
pub mod probe;
mod rows;
mod scalar;
mod task;
mod tensors;
pub mod train;
mod transformer;
mod transpose;
pub mod weights_file;
mod wiring;

pub use activations::{Activations, Place};
pub use error::{Error, Result};
pub use model::Model;
pub use network::{Architecture, Network, Normalization, Parameter};
pub use optimizer::{Adam, Optimizer};
pub use prepared::Prepared;
pub use scalar::Scalar;
pub use task::{Masked, Task};
pub use tensors::{Sink, Tensors};
