//! The test set of a run, and the losses of a network's answers about it.

use super::questions::{Masks, Questions};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::loss::{ROWS, log_sum};
use crate::network::Network;
use crate::prepared::Prepared;
use crate::task::Masked;
use gardenpath::{Corpus, Symbol};
use rayon::prelude::*;

/// Questions about all sentences of a corpus, ready for an engine.
pub struct TestSet {
    portions: Vec<Prepared>,
    /// The number of questions about each sentence.
    questions: Vec<usize>,
    answers: Vec<Symbol>,
}

impl TestSet {
    /// The questions about a corpus.
    pub fn new(engine: &mut impl Engine, corpus: &Corpus, masks: Masks) -> Result<Self> {
        if corpus.is_empty() {
            return Err(Error::TooSmall { what: "number of test sentences", value: 0, least: 1 });
        }
        let Network { task, vocab, .. } = *engine.network();
        let numbers: Vec<usize> = (0..corpus.len()).collect();
        let mask = |place, sentence: &[Symbol]| Masked::random(vocab, sentence, masks.rate, masks.seed, place as u64);
        let asked = Questions::new(engine.network(), corpus, &numbers, mask);
        let sentences = asked.sentences();
        let portions = engine.prepare(&sentences)?;
        if asked.answers.is_empty() {
            return Err(Error::TooSmall { what: "number of masked tokens", value: 0, least: 1 });
        }
        let questions = sentences.iter().map(|sentence| task.questions(vocab, sentence)).collect();
        Ok(TestSet { portions, questions, answers: asked.answers })
    }

    /// The loss, per unit of the task, and the share of questions whose answer has the largest logit. Losses are added up in the order of the
    /// sentences, however often some of them occur.
    pub fn measure(&self, engine: &mut impl Engine) -> Result<(f64, f64)> {
        let (task, outputs) = (engine.network().task, engine.network().outputs());
        let (mut loss, mut right) = (0.0, 0usize);
        let (mut questions, mut answers) = (self.questions.iter(), self.answers.iter());
        for portion in &self.portions {
            let logits = engine.prepared_logits(portion)?;
            let rows: Vec<&[f32]> = logits.chunks_exact(outputs).collect();
            // Once for all sentences that share a row.
            let scores: Vec<_> = rows.par_iter().with_min_len(ROWS).map(|row| (log_sum(row), best(row))).collect();
            for (&first, &count) in portion.rows.iter().zip(&mut questions) {
                for (row, &answer) in (first..first + count).zip(&mut answers) {
                    let (log_sum, best) = scores[row];
                    loss += log_sum - f64::from(rows[row][usize::from(answer)]);
                    right += usize::from(best == Some(usize::from(answer)));
                }
            }
        }
        let count = self.answers.len();
        Ok((loss / task.units(self.questions.len(), count), right as f64 / count as f64))
    }
}

/// The answer with the largest logit.
fn best(logits: &[f32]) -> Option<usize> {
    logits.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(answer, _)| answer)
}

/// The loss on a corpus, per [unit of the task](crate::Task::units), and the share of questions whose answer has the largest logit. `masks` are
/// those of a network that tells masked tokens.
///
/// # Errors
/// There is no sentence or no masked token, or the network cannot read some sentence.
pub fn evaluate(engine: &mut impl Engine, corpus: &Corpus, masks: Masks) -> Result<(f64, f64)> {
    TestSet::new(engine, corpus, masks)?.measure(engine)
}
