//! The output format of predictions.

use gardenpath::{Grammar, Symbol};
use gardenpath_lab::draw::table::short;
use gardenpath_lab::reading::most_probable;
use serde::Serialize;
use std::collections::BTreeMap;

/// Probabilities; `None` where nothing is possible.
pub type Row = Option<Vec<f64>>;

/// The answer for one sentence.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Found {
    /// Next-token predictions.
    Next {
        /// The number of tokens.
        len: usize,
        /// One row per position; the last number of a row may be the probability of the end.
        next: Vec<Row>,
        /// `-ln` of the probability of the actual token.
        surprisal: Vec<Option<f64>>,
        /// `ln P(sentence)`.
        logprob: Option<f64>,
    },
    /// Predictions of single tokens.
    Tokens {
        /// One row per position.
        tokens: Vec<Row>,
        /// Positions, from 0.
        positions: Vec<usize>,
    },
    /// Predictions of the symbols above the tokens.
    Hidden {
        /// By level, one row per token.
        levels: BTreeMap<usize, Vec<Row>>,
    },
}

impl Found {
    /// Next-token predictions; `next` has one row per token, or one more for the end.
    pub fn next(sentence: &[Symbol], next: Vec<Row>, logprob: Option<f64>) -> Self {
        let surprisal = |(place, row): (usize, &Row)| {
            let row = row.as_ref()?;
            let came = sentence.get(place).map_or(row.len() - 1, |&token| usize::from(token));
            Some(0.0 - row[came].ln()).filter(|surprisal| surprisal.is_finite())
        };
        let surprisal = next.iter().enumerate().map(surprisal).collect();
        Found::Next { len: sentence.len(), next, surprisal, logprob }
    }

    /// The rows that predict tokens.
    pub fn rows(&self) -> &[Row] {
        match self {
            Found::Next { next, .. } => next,
            Found::Tokens { tokens, .. } => tokens,
            Found::Hidden { .. } => &[],
        }
    }

    /// One human-readable line.
    pub fn to_text(&self, grammar: &Grammar, number: u64, sentence: &[Symbol]) -> String {
        let name = |level: usize, symbol: usize| grammar.name(level, symbol as Symbol).into_owned();
        let likely = |level: usize, row: &Row| match row.as_ref().and_then(|row| most_probable(row)) {
            Some((symbol, p)) => format!("{} {}%", name(level, symbol), short(100.0 * p)),
            None => "impossible".to_owned(),
        };
        let text = match self {
            Found::Next { surprisal, logprob, .. } => {
                let token = |place: usize| match sentence.get(place) {
                    Some(&token) => name(grammar.depth(), token.into()),
                    None => "end".to_owned(),
                };
                let places = surprisal.iter().enumerate();
                let places: Vec<String> = places
                    .map(|(place, nats)| format!("{} {}", token(place), nats.map_or("–".into(), short)))
                    .collect();
                let log = logprob.map_or("impossible".to_owned(), |log| format!("ln P {}", short(log)));
                format!("{log}; surprisals {}", places.join(", "))
            }
            Found::Tokens { tokens, positions } => {
                let rows = positions.iter().zip(tokens);
                let rows: Vec<String> =
                    rows.map(|(position, row)| format!("{position}: {}", likely(grammar.depth(), row))).collect();
                if rows.is_empty() { "nothing is masked".to_owned() } else { rows.join(", ") }
            }
            Found::Hidden { levels } => {
                let level = |(&level, rows): (&usize, &Vec<Row>)| {
                    let rows: Vec<String> = rows.iter().map(|row| likely(level, row)).collect();
                    format!("level {level}: {}", rows.join(", "))
                };
                levels.iter().map(level).collect::<Vec<_>>().join("; ")
            }
        };
        format!("{}: {text}", number + 1)
    }
}
