//! Theory of trees of one depth at the typical sentence length: numbers of trees, grammatical strings, candidates and
//! splits. Exact: there is no seed.

use super::parameter::parameters;
use super::result::results;
use super::{Keeper, Kind};
use anyhow::{Result, bail};
use gardenpath::theory::candidates::{critical_fraction, mean_candidates};
use gardenpath::theory::fraction::{grammatical_fraction, paper_grammatical_fraction};
use gardenpath::theory::lengths::{mean_internal_nodes, typical_length};
use gardenpath::theory::splits::median_splits;
use gardenpath::theory::trees::tree_count;
use gardenpath::theory::{ByLength, Magnitude};
use gardenpath::{Arities, PerArity};

parameters! {
    /// The parameters.
    pub struct Trees {
        depth: usize => "Layers of rules";
        fraction: f64 = 0.5 => "Fraction of all pairs and of all triples that are grammatical";
        p_binary: f64 = 0.5 => "Probability that a node has two children, not three";
    }
}

results! {
    /// The results, at the typical length.
    pub struct TreesResult {
        typical_length: u64 => "The typical sentence length";
        internal_nodes: f64 => "Mean number of internal nodes";
        log10_trees: f64 => "log10 of the number of trees";
        log10_candidates: f64 => "log10 of the mean number of candidates for a whole sentence";
        log10_all_candidates: f64 => "The same if every tuple is grammatical";
        candidates_gap: f64 => "Largest relative difference of the latter from the number of trees, over all lengths";
        fraction_nodes: f64 => "Log of the grammatical fraction, to the base of the fraction of rules";
        paper_fraction_nodes: f64 => "The same by the recursion printed in the paper";
        fraction_gap: f64 => "Largest relative difference of the two recursions, over all lengths";
        binary_splits: f64 => "Median number of binary splits of a span";
        ternary_splits: f64 => "Median number of ternary splits of a span";
        critical_fraction: Option<f64> => "Fraction at which this depth and the one before have equally many candidates";
    }
}

/// Computing the numbers for deeper trees takes minutes.
const DEEPEST: usize = 8;

impl Kind for Trees {
    type Output = TreesResult;

    const NAME: &'static str = "trees";
    const MEANING: &'static str = "Exact numbers of trees, candidates and splits at the typical sentence length";

    fn settle(&mut self) -> Result<()> {
        if !(1..=DEEPEST).contains(&self.depth) {
            bail!("depth is {}, expected 1 to {DEEPEST}", self.depth);
        }
        if !(self.fraction > 0.0 && self.fraction < 1.0) {
            bail!("fraction is {}, expected a number between 0 and 1", self.fraction);
        }
        if !(self.p_binary > 0.0 && self.p_binary < 1.0) {
            bail!("p_binary is {}, expected a number between 0 and 1", self.p_binary);
        }
        Ok(())
    }

    fn run(&self, _: &dyn Keeper) -> Result<TreesResult> {
        let &Trees { depth, fraction, p_binary } = self;
        let (probabilities, fractions) = (PerArity::paper(p_binary), PerArity::all(fraction));
        let length = typical_length(depth, probabilities)?;
        let trees = tree_count(depth, Arities::PAPER)?;
        let candidates = |fractions| mean_candidates(depth, Arities::PAPER, fractions);
        let (all, some) = (candidates(PerArity::all(1.0))?, candidates(fractions)?);
        let weighted = grammatical_fraction(depth, fractions, probabilities)?;
        let printed = paper_grammatical_fraction(depth, fractions, probabilities)?;
        let splits = median_splits(depth, Arities::PAPER)?;
        let counted = |len: usize| trees.get(len).map_or(Magnitude::new(0.0), Magnitude::from).ln();
        let difference = |(len, _): (usize, &Magnitude)| (all.ln(len) - counted(len)).exp_m1().abs();
        let log10 = |ln: f64| ln / std::f64::consts::LN_10;
        Ok(TreesResult {
            typical_length: length as u64,
            internal_nodes: mean_internal_nodes(depth, probabilities)?,
            log10_trees: log10(counted(length)),
            log10_candidates: log10(some.ln(length)),
            log10_all_candidates: log10(all.ln(length)),
            candidates_gap: all.iter().map(difference).fold(0.0, f64::max),
            // As the number of nodes with one factor each.
            fraction_nodes: weighted.ln(length) / fraction.ln(),
            paper_fraction_nodes: printed.ln(length) / fraction.ln(),
            fraction_gap: gap(&printed, &weighted),
            binary_splits: splits[2],
            ternary_splits: splits[3],
            // Where the curves of this depth and the previous one cross; depth 1 has no previous one.
            critical_fraction: if depth > 1 { Some(critical_fraction(depth, probabilities)?) } else { None },
        })
    }

    fn work(&self) -> f64 {
        1.5e-7 * 9f64.powi(i32::try_from(self.depth).unwrap_or(i32::MAX).min(20))
    }

    fn tiny(&self) -> Self {
        Trees { depth: 6, fraction: 0.5, p_binary: 0.5 }
    }
}

/// The largest relative difference over all lengths.
fn gap(values: &ByLength<Magnitude>, references: &ByLength<Magnitude>) -> f64 {
    let difference = |(len, _): (usize, &Magnitude)| (values.ln(len) - references.ln(len)).exp_m1().abs();
    values.iter().map(difference).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::result::Results;

    fn number(depth: usize, fraction: f64, name: &str) -> f64 {
        Trees { depth, fraction, p_binary: 0.5 }.run(&()).unwrap().write()[name].as_f64().unwrap()
    }

    #[test]
    fn shallow_depths_have_closed_forms() {
        // One node; at six tokens 3-3 (three nodes) twice as often as 2-2-2 (four nodes).
        assert!((number(1, 0.5, "fraction_nodes") - 1.0).abs() < 1e-12);
        let six: f64 = (2.0 * 0.5f64.powi(3) + 0.5f64.powi(4)) / 3.0;
        assert!((number(2, 0.5, "fraction_nodes") - six.ln() / 0.5f64.ln()).abs() < 1e-12);
        assert!((number(2, 0.5, "internal_nodes") - 3.5).abs() < 1e-12);
        assert!((number(3, 0.5, "fraction_gap") - 0.168).abs() < 5e-4);
        // Two trees with six tokens; with 15, by the recursion of the lengths at depth 2 (1, 2, 2, 3, 3, 1 for 4 to 9).
        assert!((number(2, 0.5, "log10_trees") - 2f64.log10()).abs() < 1e-12);
        assert!((number(3, 0.5, "log10_trees") - (2.0 + 2.0 * 20.0 + 3.0 * 7.0f64).log10()).abs() < 1e-12);
        for f in [0.3f64, 0.9] {
            assert!((number(2, f, "log10_candidates") - (f.powi(3) + f.powi(4)).log10()).abs() < 1e-12);
        }
        let critical = number(2, 0.5, "critical_fraction");
        assert!((critical.powi(2) + critical.powi(3) - 1.0).abs() < 1e-10);
    }

    #[test]
    fn the_last_level_decides_where_candidates_explode() {
        for depth in 5..=6 {
            let above = number(depth, 0.5, "critical_fraction") - 0.5;
            let predicted = 2.5f64.ln() / 2.0 / 2.5f64.powi(depth as i32 - 1);
            assert!((above / predicted - 1.0).abs() < 0.03, "{depth}: {above}");
        }
    }
}
