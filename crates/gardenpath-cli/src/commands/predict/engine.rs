//! A grammar prepared for one task.

use super::found::{Found, Row};
use super::{Arguments, Task};
use anyhow::Result;
use gardenpath::{
    Evidence, KnownLength, Magnitude, Parser, Predictor, Reader, Seed, Symbol, SymbolPosteriors, random_mask,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// The prediction made for each sentence.
pub struct Engine<'p> {
    predictor: &'p Predictor<'p>,
    parser: Parser<'p, Magnitude>,
    question: Question<'p>,
}

enum Question<'p> {
    Next,
    NextKnown(KnownLength<'p>),
    /// Random masks at this rate.
    Masked(f64, Seed),
    /// Masks at these positions.
    MaskedAt(Vec<usize>),
    Noisy(f64),
    /// The levels to predict, and whether from the prefix only.
    Hidden(Range<usize>, bool),
}

impl<'p> Engine<'p> {
    /// Prepares the task of the arguments.
    pub fn new(predictor: &'p Predictor<'p>, arguments: &Arguments) -> Self {
        let grammar = predictor.grammar();
        let question = match (arguments.task, &arguments.mask_at) {
            (Task::Next, _) => Question::Next,
            (Task::NextKnown, _) => Question::NextKnown(KnownLength::new(predictor)),
            (Task::Masked, Some(positions)) => Question::MaskedAt(positions.clone()),
            (Task::Masked, None) => {
                Question::Masked(arguments.mask.unwrap_or(gardenpath::Task::MASK), arguments.seed.get())
            }
            (Task::Noisy, _) => Question::Noisy(arguments.noise.unwrap_or(gardenpath::Task::NOISE)),
            (Task::Hidden, _) => {
                let levels = arguments.level.map_or(0..grammar.depth(), |level| level..level + 1);
                Question::Hidden(levels, arguments.prefix)
            }
        };
        Engine { predictor, parser: Parser::new(grammar), question }
    }

    /// The reader of one thread.
    pub fn reader(&self) -> Reader<'_> {
        self.predictor.reader()
    }

    /// The answer for sentence `number`.
    pub fn answer(&self, reader: &mut Reader, number: u64, sentence: &[Symbol]) -> Result<Found> {
        let grammar = self.predictor.grammar();
        let (vocab, len) = (grammar.vocab(), sentence.len());
        match &self.question {
            Question::Next => {
                let (rows, logprob) = read(reader, sentence)?;
                Ok(Found::next(sentence, rows, finite(logprob)))
            }
            Question::NextKnown(known) => {
                let (_, logprob) = read(reader, sentence)?;
                // Impossible lengths are not worth the memory of their rows.
                let rows = if known.length_probability(len) > 0.0 {
                    known.rows(sentence)?.chunks(vocab).map(possible).collect()
                } else {
                    vec![None; len]
                };
                Ok(Found::next(sentence, rows, finite(logprob)))
            }
            Question::Masked(rate, seed) => self.masked(sentence, random_mask(len, *rate, *seed, number)),
            Question::MaskedAt(positions) => {
                self.masked(sentence, (0..len).filter(|position| positions.contains(position)).collect())
            }
            Question::Noisy(noise) => self.tokens(&Evidence::noisy(vocab, sentence, *noise)?, (0..len).collect()),
            Question::Hidden(levels, true) => {
                let mut found: BTreeMap<usize, Vec<Row>> = levels.clone().map(|level| (level, Vec::new())).collect();
                reader.restart();
                for &token in sentence {
                    reader.push(token)?;
                    found.iter_mut().for_each(|(&level, rows)| rows.push(possible(&reader.hidden(level))));
                }
                Ok(Found::Hidden { levels: found })
            }
            Question::Hidden(levels, false) => {
                let posteriors = SymbolPosteriors::with_parser(&self.parser, &Evidence::tokens(vocab, sentence)?)?;
                let rows = |level: usize| (0..len).map(|i| Some(posteriors.as_ref()?.row(level, i).to_vec())).collect();
                Ok(Found::Hidden { levels: levels.clone().map(|level| (level, rows(level))).collect() })
            }
        }
    }

    fn masked(&self, sentence: &[Symbol], positions: Vec<usize>) -> Result<Found> {
        let evidence = Evidence::with_masks(self.predictor.grammar().vocab(), sentence, positions.iter().copied())?;
        self.tokens(&evidence, positions)
    }

    fn tokens(&self, evidence: &Evidence, positions: Vec<usize>) -> Result<Found> {
        let depth = self.predictor.grammar().depth();
        let posteriors = SymbolPosteriors::with_parser(&self.parser, evidence)?;
        let row = |&position: &usize| Some(posteriors.as_ref()?.row(depth, position).to_vec());
        Ok(Found::Tokens { tokens: positions.iter().map(row).collect(), positions })
    }
}

/// The rows of a sentence, and the log of its probability.
fn read(reader: &mut Reader, sentence: &[Symbol]) -> Result<(Vec<Row>, f64)> {
    let width = reader.next().len();
    let rows = reader.rows(sentence)?;
    let outcomes = sentence.iter().map(|&token| usize::from(token)).chain([width - 1]);
    let log = rows.chunks(width).zip(outcomes).map(|(row, outcome)| row[outcome].ln()).sum();
    Ok((rows.chunks(width).map(possible).collect(), log))
}

/// The probabilities, unless all are zero.
fn possible(row: &[f64]) -> Row {
    row.iter().any(|&p| p > 0.0).then(|| row.to_vec())
}

/// The logarithm, unless it is infinite.
fn finite(log: f64) -> Option<f64> {
    Some(log).filter(|log| log.is_finite())
}
