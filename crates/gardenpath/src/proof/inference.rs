//! What thresholds and clusters find in the covariances of one layer, against its true rules.

use super::mean;
use crate::cluster::KMeans;
use crate::error::Result;
use crate::grammar::Layer;
use crate::learn::paper::{Alignment, align_triples, infer_binary, keep_aligned};
use crate::learn::score::{RuleScore, score_layer};
use crate::moments::{Covariance, check_paper};

/// How well Algorithms 2 and 3 infer one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inferred {
    /// Binary rules, with parents matched one to one.
    pub binary: RuleScore,
    /// Ternary rules, likewise.
    pub ternary: RuleScore,
    /// The mean best alignment of all triples over that of the rules: `tau_3` for `gamma = 1`, in units of the alignment of a
    /// rule. It is at least `f_3`, and tends to it as other triples stop to align. The paper's text has the root of `f_3`.
    pub threshold: f64,
}

/// Infers the binary and ternary rules of `truth`, the layer whose children `covariance` is about, with the factors `gammas` of
/// the two thresholds. Each layer is judged by itself: names of children are the true ones.
///
/// ```
/// use gardenpath::learn::paper::Alignment;
/// use gardenpath::proof::infer_layer;
/// use gardenpath::{Ensemble, ExpectedMoments, KMeans, Seed};
///
/// let grammar = Ensemble::new(16, 2).sample(Seed::new(7))?;
/// let covariance = ExpectedMoments::new(&grammar)?.covariance();
/// let found = infer_layer(grammar.layer(1), &covariance, [0.85, 1.5], Alignment::InnerProduct, &KMeans::new(16))?;
/// assert!(found.binary.f1() > 0.95 && found.ternary.f1() > 0.7, "{found:?}");
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn infer_layer(
    truth: &Layer,
    covariance: &Covariance,
    gammas: [f64; 2],
    alignment: Alignment,
    kmeans: &KMeans,
) -> Result<Inferred> {
    check_paper(std::slice::from_ref(truth))?;
    let binary = infer_binary(covariance, gammas[0], kmeans)?;
    let aligned = align_triples(covariance, &binary, alignment);
    let of_rules = aligned.iter().filter(|(_, rule)| truth.rules_with(rule.children).next().is_some());
    let threshold = mean(aligned.iter().map(|(score, _)| *score)) / mean(of_rules.map(|(score, _)| *score));
    let mut rules = binary.rules.clone();
    rules.extend(keep_aligned(aligned, gammas[1]));
    let scores = score_layer(&rules, binary.parents(), truth);
    Ok(Inferred { binary: scores[2], ternary: scores[3], threshold })
}
