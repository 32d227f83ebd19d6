//! How far a sweep has come.

use super::estimate::{Cost, Paces};
use crate::measure::Measure;
use crate::store::{Failure, Found, State, Store};
use rayon::prelude::*;
use serde::Serialize;

/// How far a sweep has come.
#[derive(Debug, PartialEq, Serialize)]
pub struct Status {
    /// Cells with a result.
    pub done: usize,
    /// Cells at work.
    pub running: usize,
    /// Cells that were tried without success.
    pub failed: usize,
    /// Cells yet to be done.
    pub missing: usize,
    /// How long a single thread took for those that are done.
    pub seconds_done: f64,
    /// How long a single thread needs for the others, about, if that was asked for.
    pub seconds_left: Option<f64>,
    /// What the others cost, about, if that was asked for.
    #[serde(flatten)]
    pub cost: Option<Cost>,
    /// What went wrong, for each failed cell.
    pub failures: Vec<Failure>,
    /// What is wrong with files that should hold a result, in a line for each; their cells count as if they had none.
    pub damaged: Vec<String>,
}

impl Status {
    /// Looks at all cells and reads every result that is there.
    pub fn of(cells: &[Measure], store: &Store) -> Self {
        Self::look(cells, store).0
    }

    /// The same, with an estimate of what the others cost: from those that are done, or by measuring tiny cells.
    pub fn with_estimate(cells: &[Measure], store: &Store) -> Self {
        let (mut status, mut paces, left) = Self::look(cells, store);
        paces.calibrate(left.iter().copied());
        let cost = paces.cost(left);
        status.seconds_left = Some(3600.0 * cost.core_hours);
        status.cost = Some(cost);
        status
    }

    /// How far the sweep has come, how fast it was, and the cells that are left.
    fn look<'c>(cells: &'c [Measure], store: &Store) -> (Self, Paces, Vec<&'c Measure>) {
        let mut status = Status {
            done: 0,
            running: 0,
            failed: 0,
            missing: 0,
            seconds_done: 0.0,
            seconds_left: None,
            cost: None,
            failures: Vec::new(),
            damaged: Vec::new(),
        };
        let (mut timed, mut left) = (Vec::new(), Vec::new());
        let found: Vec<_> = cells.par_iter().map(|cell| store.look(cell)).collect();
        for (cell, found) in cells.iter().zip(found) {
            match found {
                Ok(Found::Whole(())) => {
                    status.done += 1;
                    if let Some(provenance) = store.provenance(cell) {
                        status.seconds_done += provenance.seconds;
                        timed.push((cell, provenance));
                    }
                    continue;
                }
                Ok(Found::Nothing) => {}
                Ok(Found::Damaged(text)) => status.damaged.push(text),
                Err(error) => status.damaged.push(format!("{error:#}")),
            }
            match store.state_without_result(cell) {
                State::Running => status.running += 1,
                State::Failed => {
                    status.failed += 1;
                    status.failures.extend(store.failure(cell));
                    continue;
                }
                State::Missing | State::Done => status.missing += 1,
            }
            left.push(cell);
        }
        (status, Paces::of_finished(timed), left)
    }
}
