//! How far a sweep has come.

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
    /// How long a single thread needs for the others, if that can be told from those that are done.
    pub seconds_left: Option<f64>,
    /// What went wrong, for each failed cell.
    pub failures: Vec<Failure>,
    /// What is wrong with files that should hold a result, in a line for each; their cells count as if they had none.
    pub damaged: Vec<String>,
}

impl Status {
    /// Looks at all cells and reads every result that is there.
    pub fn of(cells: &[Measure], store: &Store) -> Self {
        let mut status = Status {
            done: 0,
            running: 0,
            failed: 0,
            missing: 0,
            seconds_done: 0.0,
            seconds_left: None,
            failures: Vec::new(),
            damaged: Vec::new(),
        };
        let (mut work_timed, mut work_left) = (0.0, 0.0);
        let found: Vec<_> = cells.par_iter().map(|cell| store.look(cell)).collect();
        for (cell, found) in cells.iter().zip(found) {
            match found {
                Ok(Found::Whole(())) => {
                    status.done += 1;
                    if let Some(seconds) = store.seconds(cell) {
                        status.seconds_done += seconds;
                        work_timed += cell.work();
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
            work_left += cell.work();
        }
        if work_timed > 0.0 {
            status.seconds_left = Some(status.seconds_done * work_left / work_timed);
        }
        status
    }
}
