//! The most probable trees of a sentence.

use super::modes::root_name;
use gardenpath::{BestLog, Chart, Parser, Posterior, Symbol, Tree};
use serde::Serialize;

/// A tree with its probabilities.
#[derive(Serialize)]
pub struct ScoredTree {
    /// Its root.
    pub root: Symbol,
    /// `P(tree | sentence)`.
    pub share: f64,
    /// `ln P(tree | root)`.
    pub logprob: f64,
    /// As bracketed text.
    #[serde(rename = "tree")]
    pub text: String,
    /// The name of the root, if the grammar has names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_name: Option<String>,
    /// The tree itself.
    #[serde(skip)]
    pub tree: Tree,
}

/// The most probable trees of a chart, by decreasing share; `evidence` is `ln P(sentence)`.
pub fn ranked(parser: &Parser<'_, BestLog>, chart: &Chart<BestLog>, evidence: f64, limit: usize) -> Vec<ScoredTree> {
    let grammar = parser.grammar();
    let score = |(tree, _): (Tree, f64)| {
        let logprob = tree.log_probability(grammar)?;
        let share = (logprob + grammar.prior()[usize::from(tree.root())].ln() - evidence).exp().min(1.0);
        let (root, text) = (tree.root(), tree.to_text(grammar));
        Some(ScoredTree { root, share, logprob, text, root_name: root_name(grammar, Some(root)), tree })
    };
    let mut scored: Vec<ScoredTree> = parser.best_trees(chart, limit).into_iter().filter_map(score).collect();
    // Equal shares differ in their last bits, so they are rounded; ties are ordered by class.
    scored.sort_by_key(|tree| (std::cmp::Reverse((tree.share * 1e12).round() as u64), tree.root));
    scored
}

/// `ln P(sentence)` from a posterior under the grammar's prior; `None` if the sentence is impossible.
pub fn evidence(posterior: &Posterior, prior: &[f64]) -> Option<f64> {
    // P(sentence) = P(sentence | root) P(root) / P(root | sentence), at the most probable root, where it is most
    // accurate.
    let root = posterior.root()?;
    Some(posterior.log_likelihood(root)? + (prior[usize::from(root)] / posterior.probability(root)).ln())
}
