//! The composition of exact covariances: the seven local topologies, the norms of rows, and a transition matrix.

use super::ensemble::Sampled;
use super::parameter::parameters;
use super::result::results;
use super::{Keeper, Kind};
use anyhow::Result;
use gardenpath::ExpectedMoments;
use gardenpath::proof::{Diagram, RowNorms, Transition, diagrams};

parameters! {
    /// The parameters.
    pub struct Topologies {
        ..sampled: Sampled;
        seed: u64 => "Seed of the grammar";
    }
}

results! {
    /// The results.
    pub struct TopologiesResult {
        share_i: f64 => "Share of diagram i in the squared covariance";
        share_ii: f64 => "Share of diagram ii in the squared covariance";
        share_iii: f64 => "Share of diagram iii in the squared covariance";
        share_iv: f64 => "Share of diagram iv in the squared covariance";
        share_v: f64 => "Share of diagram v in the squared covariance";
        share_vi: f64 => "Share of diagram vi in the squared covariance";
        share_vii: f64 => "Share of diagram vii in the squared covariance";
        norm_ii: f64 => "Squared norm of diagram ii on rules, relative to siblings";
        norm_iii: f64 => "Squared norm of diagram iii on rules, relative to siblings";
        norm_iv: f64 => "Squared norm of diagram iv on rules, relative to siblings";
        norm_vi: f64 => "Squared norm of diagram vi on rules, relative to siblings";
        norm_vii: f64 => "Squared norm of diagram vii on rules, relative to siblings";
        binary: f64 => "Squared norm of rows of binary rules, relative to its limit";
        binary_paper: f64 => "The same relative to the paper's limit";
        other_pairs: f64 => "Squared norm of rows of other pairs, relative to the limit of binary rules";
        ternary: f64 => "Squared norm of rows of ternary rules, relative to its limit";
        ternary_free: f64 => "The same for rules that contain no binary rule";
        ternary_overlapping: f64 => "The same for rules that contain a binary rule";
        other_triples: f64 => "Squared norm of rows of other triples, relative to the limit of ternary rules";
        operator: Option<f64> => "Squared operator norm of a transition matrix times the number of rules per symbol";
        row_sums: Option<f64> => "Its squared row sums over its squared Frobenius norm";
    }
}

impl Kind for Topologies {
    type Output = TopologiesResult;

    const NAME: &'static str = "topologies";
    const MEANING: &'static str = "The composition of the exact covariances of tokens with the root, by local topology";

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()
    }

    fn run(&self, _: &dyn Keeper) -> Result<TopologiesResult> {
        let grammar = self.sampled.grammar(self.seed)?;
        let level = grammar.depth();
        let moments = ExpectedMoments::new(&grammar)?;
        let parts = diagrams(&grammar, level, &moments)?;
        let [i, ii, iii, iv, v, vi, vii] = &parts[..] else { unreachable!("there are seven diagrams") };
        // The interfering diagrams on the rows of rules, relative to siblings.
        let among_pairs = |part: &Diagram| part.on_rules / i.on_rules;
        let among_triples = |part: &Diagram| part.on_rules / v.on_rules;
        let rows = RowNorms::new(&grammar, level, &moments.covariance())?;
        // Relative to their limits; tuples that are not rules relative to the limit of rules.
        let (pairs, triples) = (rows.binary_limit.size_biased, rows.ternary_limit.size_biased);
        // For the first child of binary rules, relative to the paper's limits: 1 / m, and the squared Frobenius norm.
        let layer = grammar.layer(level - 1);
        let rules =
            layer.rules().iter().filter(|rule| rule.children.len() == 2).count() as f64 / layer.parents() as f64;
        let delta = Transition::new(layer, 2, 0).ok();
        Ok(TopologiesResult {
            share_i: i.share,
            share_ii: ii.share,
            share_iii: iii.share,
            share_iv: iv.share,
            share_v: v.share,
            share_vi: vi.share,
            share_vii: vii.share,
            norm_ii: among_pairs(ii),
            norm_iii: among_pairs(iii),
            norm_iv: among_pairs(iv),
            norm_vi: among_triples(vi),
            norm_vii: among_triples(vii),
            binary: rows.binary / pairs,
            binary_paper: rows.binary / rows.binary_limit.paper,
            other_pairs: rows.other_pairs / pairs,
            ternary: rows.ternary / triples,
            ternary_free: rows.free / triples,
            ternary_overlapping: rows.overlapping / triples,
            other_triples: rows.other_triples / triples,
            operator: delta.as_ref().map(|delta| rules * delta.operator_energy()),
            row_sums: delta.map(|delta| delta.row_sum_energy() / delta.frobenius_energy()),
        })
    }

    fn work(&self) -> f64 {
        // Each part has a table of all triples by root, and each rule adds to one row per root.
        let vocab = self.sampled.vocab as f64;
        self.sampled.work() + 1.5e-7 * vocab.powi(4) + 6e-9 * self.sampled.rules() * vocab * vocab
    }

    fn tiny(&self) -> Self {
        Topologies { sampled: Sampled::tiny(16, 2, 0.25), seed: 1 }
    }
}
