//! How much each local topology contributes to the covariances with the root.

use super::{energy, mean, tuples};
use crate::arity::Arities;
use crate::cluster::dot;
use crate::error::Result;
use crate::grammar::Grammar;
use crate::moments::{ExpectedMoments, Topology, check_table};

/// The part of one topology in the covariances of its pairs or triples with the root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diagram {
    /// Which topology.
    pub topology: Topology,
    /// The share of all pairs (triples) of sentences that stand in it: the paper's `p_bin`, `p_ter`, `p_cross`.
    pub probability: f64,
    /// Its share of the squared norm of the whole covariance, `<C_k, C> / <C, C>`. The shares of pairs add up to 1, and so do
    /// those of triples; a part that opposes the whole has a negative share.
    pub share: f64,
    /// The mean squared norm of its rows, over the rules with as many children as the tuple has symbols; NaN without any.
    pub on_rules: f64,
    /// The same over all tuples.
    pub on_all: f64,
}

/// The seven parts of the covariances of a level, i to vii, where `moments` are the expected pairs and triples of that level. One part
/// is in memory at a time.
///
/// ```
/// use gardenpath::proof::diagrams;
/// use gardenpath::{Ensemble, ExpectedMoments, Seed, Topology};
///
/// let grammar = Ensemble::new(16, 2).sample(Seed::new(7))?;
/// let parts = diagrams(&grammar, 2, &ExpectedMoments::new(&grammar)?)?;
/// assert_eq!(parts[0].topology, Topology::BinarySiblings);
/// assert!(parts[0].share > 0.6, "pairs are dominated by binary siblings: {}", parts[0].share);
/// assert!((parts[..4].iter().map(|part| part.share).sum::<f64>() - 1.0).abs() < 1e-9);
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn diagrams(grammar: &Grammar, level: usize, moments: &ExpectedMoments) -> Result<Vec<Diagram>> {
    // The moments and the covariance of the whole, and those of a part.
    check_table(moments.symbols(), moments.classes(), Arities::PAPER, 32)?;
    let whole = moments.covariance();
    let diagram = |topology: Topology| -> Result<Diagram> {
        let part = ExpectedMoments::of_topology(grammar, level, topology)?;
        let covariance = part.covariance_within(moments)?;
        let arity = topology.arity();
        let (own, all) = (covariance.of_arity(arity), whole.of_arity(arity));
        let rules = tuples(grammar.layer(level - 1), arity);
        Ok(Diagram {
            topology,
            probability: part.total(arity) / moments.total(arity),
            share: dot(own, all) / energy(all),
            on_rules: mean(rules.map(|tuple| energy(covariance.vector(tuple.as_slice())))),
            on_all: energy(own) / (own.len() / covariance.classes()) as f64,
        })
    };
    Topology::PAIRS.into_iter().chain(Topology::TRIPLES).map(diagram).collect()
}
