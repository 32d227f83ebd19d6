//! The steps of the paper's proof that Algorithms 1-3 find all rules, evaluated for a given grammar.
//!
//! The paper argues in the limit of large vocabularies. These functions say how far a finite grammar is from that limit: which
//! local topologies make up the covariances ([`diagrams`]), how long their rows are ([`RowNorms`]), what spurious candidates
//! add one level up ([`Spurious`]), how random the transition matrices are ([`Transition`]), and what thresholds and clusters
//! then find ([`infer_layer`]). All of this is about rules of two or three children; other grammars are refused.

mod diagrams;
mod inference;
mod rows;
mod spurious;
mod transition;

pub use diagrams::{Diagram, diagrams};
pub use inference::{Inferred, infer_layer};
pub use rows::{Asymptote, RowNorms};
pub use spurious::{Share, Spurious};
pub use transition::Transition;

use crate::cluster::dot;
use crate::grammar::{Children, Layer};

/// The right-hand sides of the rules of one arity.
fn tuples(layer: &Layer, arity: usize) -> impl Iterator<Item = Children> + '_ {
    layer.rules().iter().map(|rule| rule.children).filter(move |children| children.len() == arity)
}

/// The sum of the squares.
fn energy(vector: &[f64]) -> f64 {
    dot(vector, vector)
}

/// The mean; NaN of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / count as f64
}
