//! A laboratory for languages with hidden trees: the exact and statistical core.
//!
//! Data flows one way:
//! [`Ensemble`] → [`Grammar`] → [`Corpus`] → [`Chart`] and [`Inside`] → numbers.
//!
//! ```
//! use gardenpath::{Corpus, Ensemble, Inside, Seed};
//!
//! // A random grammar: 16 symbols per level, 3 layers of rules, a quarter of all tuples grammatical.
//! let grammar = Ensemble::new(16, 3).fraction(0.25).sample(Seed::new(7))?;
//! // A thousand of its sentences; sentence i depends on (grammar, seed, i) alone.
//! let corpus = Corpus::sample(&grammar, Seed::new(1), 0..1000);
//! // The exact posterior over the root of each.
//! let inside = Inside::new(&grammar);
//! let answers = inside.batch(&corpus)?;
//! let right = answers.iter().zip(corpus.roots()).filter(|(answer, root)| answer.root() == Some(**root)).count();
//! assert!(right > 980, "nearly unambiguous: {right}");
//! # Ok::<(), gardenpath::Error>(())
//! ```

mod ambiguity;
mod arity;
mod bits;
mod chart;
mod cluster;
mod corpus;
mod error;
mod grammar;
mod inside;
pub mod interrupt;
pub mod learn;
mod magnitude;
pub mod memory;
mod moments;
mod pool;
mod predict;
pub mod proof;
mod seed;
mod semiring;
mod shape;
pub mod snr;
mod span;
mod symbols;
pub mod theory;
mod tree;
mod tuple;

pub use ambiguity::{Estimate, class_entropy, fraction_for_entropy};
pub use arity::{Arities, PerArity};
pub use chart::{Buffers, Candidates, Cell, Chart, Evidence, Marginals, Outside, Parser, Part, Template};
pub use cluster::{Clustering, KMeans};
pub use corpus::{Corpus, Sampler};
pub use error::{Counts, Error, Reals, Result, TableSize};
pub use grammar::{Children, Ensemble, Grammar, Layer, Rule, RuleCount, Symbol, check_tokens};
pub use inside::{Inside, Posterior, Workspace};
pub use magnitude::Magnitude;
pub use moments::{Covariance, ExpectedMoments, Moments, PositionedTuples, Topology, TupleTable, Tuples};
pub use pool::Pool;
pub use predict::{
    Floor, KnownLength, Predictor, Reader, SymbolPosteriors, Task, level_floor_formula, mean_divergence, random_mask,
    random_noise,
};
pub use seed::{Seed, Stream};
pub use semiring::{BestLog, Count, Expectation, LogProbability, Recognition, Semiring};
pub use shape::Shape;
pub use span::{Node, Span};
pub use tree::Tree;
pub use tuple::TupleCode;

/// The Rust examples of the README and the book are tested with those of this crate.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/extend.md")]
    struct Extend;
}
