//! Convolutional, inside and transformer networks that learn to tell the root of a sentence, trained at full speed on the CPU.
//!
//! A [`Network`] is generated from the [`Shape`](gardenpath::Shape) of a grammar. Its forward and backward passes are written by
//! hand over one matrix kernel ([`matmul`]); a [`Trainer`](train::Trainer) takes steps with them, measures the test loss, and
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
//! # How it is fast
//! - The first layer of the CNN and the INN is computed once for each token of the vocabulary and looked up.
//! - Rows are packed: positions and cells that are zero, or that no tree can use, do not exist ([`wiring`]).
//! - A step of gradient descent adds products of activations and gradients to the weights in place; there is no gradient in memory.
//! - In the last layer of the transformer only the class token asks.
//!
//! # What is the same everywhere
//! Initial weights and batches are functions of a seed, on every machine. Training gives the same bytes for any number of
//! threads: every number is summed by one task, in an order that does not depend on the others. Processors with and without fused
//! multiply-adds round differently.

pub mod activations;
mod attention;
mod batch;
pub mod checkpoint;
mod cnn;
pub mod connections;
mod dispatch;
pub mod engine;
mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
mod inn;
pub mod loss;
pub mod matmul;
pub mod model;
pub mod mup;
mod network;
mod norm;
pub mod optimizer;
pub mod panels;
pub mod probe;
mod rows;
pub mod scalar;
mod splits;
mod tensors;
pub mod train;
mod transformer;
pub mod transpose;
mod wired;
pub mod wiring;

pub use error::{Error, Result};
pub use network::{Architecture, Network, Normalization, Parameter, Purpose, Start};
pub use optimizer::Optimizer;
pub use tensors::{Sink, Tensors};
