//! The progress of a sweep.

use super::estimate::{Cost, Paces};
use crate::measure::Measure;
use crate::store::{Failure, Found, State, Store};
use rayon::prelude::*;
use serde::Serialize;

/// The progress of a sweep.
#[derive(Debug, PartialEq, Serialize)]
pub struct Status {
    /// Cells with a result.
    pub done: usize,
    /// Cells being measured.
    pub running: usize,
    /// Cells that failed.
    pub failed: usize,
    /// Cells not measured yet.
    pub missing: usize,
    /// The time that finished cells took on a single thread.
    pub seconds_done: f64,
    /// The estimated time for the others on a single thread, if requested.
    pub seconds_left: Option<f64>,
    /// The estimated cost of the others, if requested.
    #[serde(flatten)]
    pub cost: Option<Cost>,
    /// One entry per failed cell.
    pub failures: Vec<Failure>,
    /// One message per damaged result file; these cells count as not measured.
    pub damaged: Vec<String>,
}

impl Status {
    /// Checks all cells and reads every result.
    pub fn of(cells: &[Measure], store: &Store) -> Self {
        Self::look(cells, store).0
    }

    /// The same, with an estimate of the remaining cost from finished cells, or by timing tiny cells.
    pub fn with_estimate(cells: &[Measure], store: &Store) -> Self {
        let (mut status, mut paces, left) = Self::look(cells, store);
        paces.calibrate(left.iter().copied());
        let cost = paces.cost(left);
        status.seconds_left = Some(3600.0 * cost.core_hours);
        status.cost = Some(cost);
        status
    }

    /// The progress of the sweep, its paces, and the remaining cells.
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
