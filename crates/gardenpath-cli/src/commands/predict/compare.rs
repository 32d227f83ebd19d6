//! `gardenpath predict --compare`: the divergence of given predictions from the exact ones.

use super::Answer;
use super::engine::Engine;
use super::found::{Found, Row};
use crate::commands::sentences::{Sentences, Workspaces};
use anyhow::{Context, Result, anyhow, bail};
use gardenpath::mean_divergence;
use gardenpath_lab::draw::table::{grouped, short};
use gardenpath_lab::files::{self, SystemError};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, Lines};
use std::path::Path;

/// A file of predictions.
pub struct Comparison<'p> {
    path: &'p Path,
    lines: Lines<BufReader<File>>,
}

/// A line of the file, for any task.
#[derive(Deserialize)]
struct Predicted {
    next: Option<Vec<Row>>,
    tokens: Option<Vec<Row>>,
    positions: Option<Vec<usize>>,
}

/// The output for one sentence.
#[derive(Serialize)]
struct Compared {
    len: usize,
    /// Infinite if a possible token was given probability 0; `None` if there is nothing to predict.
    divergence: Option<f64>,
    /// The number of predictions compared.
    #[serde(skip)]
    rows: usize,
}

impl<'p> Comparison<'p> {
    pub fn open(path: &'p Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| SystemError::about(files::shown(path), e))?;
        Ok(Comparison { path, lines: BufReader::new(file).lines() })
    }

    /// Reads the next `count` lines.
    fn take(&mut self, count: usize, first: u64) -> Result<Vec<String>> {
        let mut taken = Vec::with_capacity(count);
        for line in self.lines.by_ref().take(count) {
            taken.push(line.map_err(|e| SystemError::about(files::shown(self.path), e))?);
        }
        if taken.len() < count {
            let lines = first + taken.len() as u64;
            bail!("{}: only {lines} lines, expected one per sentence", files::shown(self.path));
        }
        Ok(taken)
    }
}

/// Compares the predictions for all sentences.
pub fn run(
    sentences: Sentences,
    engine: &Engine,
    mut given: Comparison,
    bytes: usize,
    answer: &mut Answer,
) -> Result<()> {
    let (mut sum, mut rows, mut number) = (0.0, 0, 0);
    let readers = Workspaces::new(|| engine.reader());
    sentences.blocks("compared", 2 * bytes, |block| {
        let lines = given.take(block.count(), number)?;
        let first = number;
        let compared = block.map(&readers, |reader, number, sentence| {
            let exact = engine.answer(reader, number, sentence)?;
            let at = || format!("{}: line {}", files::shown(given.path), number + 1);
            compare(&exact, sentence.len(), &lines[(number - first) as usize]).with_context(at)
        });
        for found in compared {
            let found = found?;
            number += 1;
            sum += found.divergence.unwrap_or(0.0) * found.rows as f64;
            rows += found.rows;
            if answer.json {
                let divergence = found.divergence.filter(|value| value.is_finite());
                answer.json_line(&Compared { divergence, ..found })?;
            } else {
                answer.text(&format!("{number}: {}\n", found.divergence.map_or("impossible".to_owned(), short)))?;
            }
        }
        Ok(())
    })?;
    if given.lines.next().is_some() {
        bail!("{}: more lines than sentences", files::shown(given.path));
    }
    if answer.json {
        return Ok(());
    }
    let mean = if rows == 0 { "–".to_owned() } else { short(sum / rows as f64) };
    answer.text(&format!("mean divergence {mean} nats over {} predictions\n", grouped(rows as u64)))
}

/// The divergence of one line.
fn compare(exact: &Found, len: usize, line: &str) -> Result<Compared> {
    let given: Predicted = serde_json::from_str(line).map_err(|e| anyhow!("expected predictions as JSON, {e}"))?;
    let (field, predicted) = match exact {
        Found::Next { .. } => ("next", given.next),
        _ => ("tokens", given.tokens),
    };
    let predicted =
        predicted.ok_or_else(|| anyhow!("no field {field}, expected a list of probabilities for each token"))?;
    if let (Found::Tokens { positions, .. }, Some(given)) = (exact, given.positions)
        && given != *positions
    {
        bail!("positions are {given:?}, expected {positions:?}");
    }
    let exact = exact.rows();
    if predicted.len() != exact.len() {
        bail!("{} predictions, expected {}", predicted.len(), exact.len());
    }
    let (mut ours, mut theirs, mut rows, mut width) = (Vec::new(), Vec::new(), 0, 0);
    for (place, (exact, predicted)) in exact.iter().zip(&predicted).enumerate() {
        let Some(exact) = exact else { continue };
        let Some(predicted) = predicted.as_ref().filter(|predicted| predicted.len() == exact.len()) else {
            bail!(
                "prediction {place} has {} numbers, expected {}",
                predicted.as_ref().map_or(0, Vec::len),
                exact.len()
            );
        };
        ours.extend_from_slice(exact);
        theirs.extend_from_slice(predicted);
        (rows, width) = (rows + 1, exact.len());
    }
    let divergence = if rows == 0 { None } else { Some(mean_divergence(&ours, &theirs, width)?) };
    Ok(Compared { len, divergence, rows })
}
