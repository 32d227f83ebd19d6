//! The effective fractions after numbers of rules are rounded to whole numbers.

use crate::progress;
use anyhow::Result;
use gardenpath::Ensemble;
use gardenpath_lab::by_arity::{adjective, tuples};
use gardenpath_lab::draw::table::short;
use gardenpath_lab::message::listed;
use serde::Serialize;
use std::collections::BTreeMap;

/// The fractions of tuples that correspond to whole numbers of rules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectiveFractions {
    /// Fraction of pairs, at the root.
    binary: f64,
    /// Fraction of triples, at the root.
    ternary: f64,
    /// Fractions of all layers, by number of children.
    by_arity: BTreeMap<usize, Vec<f64>>,
}

impl EffectiveFractions {
    /// The effective fractions of an ensemble.
    pub fn of(ensemble: &Ensemble) -> Result<Self> {
        let layers = (0..ensemble.depth()).map(|level| Ok(ensemble.effective_fractions(level)?));
        let layers = layers.collect::<Result<Vec<_>>>()?;
        let of_all = |arity: usize| layers.iter().map(|fractions| fractions[arity]).collect();
        let by_arity = ensemble.probabilities().arities().iter().map(|arity| (arity, of_all(arity))).collect();
        Ok(EffectiveFractions { binary: layers[0][2], ternary: layers[0][3], by_arity })
    }
}

/// Prints a note, once for each number of symbols and fraction, if rounding changes a fraction by more than 1%.
pub fn note_rounding<'e>(ensembles: impl IntoIterator<Item = &'e Ensemble>) -> Result<()> {
    let mut said = Vec::new();
    for ensemble in ensembles {
        for level in 0..ensemble.depth() {
            if let Some(note) = rounding(ensemble, level)?.filter(|note| !said.contains(note)) {
                progress::note(&note);
                said.push(note);
            }
        }
    }
    Ok(())
}

fn rounding(ensemble: &Ensemble, level: usize) -> Result<Option<String>> {
    let Some(fractions) = ensemble.rounded_fractions(level)? else { return Ok(None) };
    let rules = ensemble.rules_per_symbol(level)?;
    let part = |(arity, rules): (usize, usize)| {
        format!("{rules} {} ({} of all {})", adjective(arity), short(fractions[arity]), tuples(arity))
    };
    let parts = listed(&rules.nonzero().map(part).collect::<Vec<_>>(), "and");
    let parents = ensemble.level_sizes()?[level];
    Ok(Some(format!("note: rounded to whole numbers, each of {parents} symbols has {parts} rules")))
}
