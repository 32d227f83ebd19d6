//! Whether a learned grammar can be trusted, without knowing the truth.

use super::LevelReport;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::Grammar;
use crate::learn::uses::{Uses, count_uses};

/// Whether a learned grammar can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every rule rests on several sentences, and all sentences that were kept back are explained.
    Converged,
    /// The grammar is wrong or incomplete, for this reason.
    NotConverged(String),
}

/// One sentence out of so many is kept back to judge the result.
const KEPT_BACK: usize = 8;

/// A rule that was used less often than this, in all sentences together, is not trusted.
const FEW_USES: f64 = 4.0;

/// The number of sentences that are learned from: the first ones. The others judge the result.
pub(super) fn training(corpus: &Corpus) -> usize {
    corpus.len() - corpus.len() / KEPT_BACK
}

/// Judges a grammar.
///
/// A wrong rule does harm: some sentence that needs the right one has no derivation. The sentences that were kept back use every
/// rule several times if the others do. Rules that rest on a few sentences may be mistakes, or have sisters that no sentence
/// showed.
pub(super) fn judge(
    grammar: &Grammar,
    corpus: &Corpus,
    training: usize,
    uses: &Uses,
    levels: &[LevelReport],
) -> Result<Verdict> {
    let failed = |reason: String| Ok(Verdict::NotConverged(reason));
    for LevelReport { level, restless, empty_symbols, .. } in levels {
        if *empty_symbols > 0 {
            return failed(format!("{empty_symbols} symbols above level {level} have no rules: too few sentences"));
        }
        if *restless > 0.0 {
            let percent = 100.0 * restless;
            return failed(format!("{percent:.1}% of the tuples of level {level} did not settle: too few sentences"));
        }
    }
    let weak = uses.counts.iter().flatten().filter(|count| **count < FEW_USES).count();
    if weak > 0 {
        return failed(format!("{weak} rules were used less than {FEW_USES} times: too few sentences"));
    }
    let kept_back = count_uses(grammar, corpus, training..corpus.len())?;
    if kept_back.unexplained > 0 {
        let total = corpus.len() - training;
        return failed(format!("{} of {total} sentences that were kept back are not explained", kept_back.unexplained));
    }
    Ok(Verdict::Converged)
}
