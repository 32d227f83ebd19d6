//! How far a sweep has come.

use crate::measure::Measure;
use crate::store::{Failure, State, Store};
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
}

impl Status {
    /// Looks at all cells.
    pub fn of(cells: &[Measure], store: &Store) -> Self {
        let mut status = Status {
            done: 0,
            running: 0,
            failed: 0,
            missing: 0,
            seconds_done: 0.0,
            seconds_left: None,
            failures: Vec::new(),
        };
        let (mut work_timed, mut work_left) = (0.0, 0.0);
        for cell in cells {
            match store.state(cell) {
                State::Done => {
                    status.done += 1;
                    if let Some(seconds) = store.seconds(cell) {
                        status.seconds_done += seconds;
                        work_timed += cell.work();
                    }
                    continue;
                }
                State::Running => status.running += 1,
                State::Missing => status.missing += 1,
                State::Failed => {
                    status.failed += 1;
                    status.failures.extend(store.failure(cell));
                    continue;
                }
            }
            work_left += cell.work();
        }
        if work_timed > 0.0 {
            status.seconds_left = Some(status.seconds_done * work_left / work_timed);
        }
        status
    }
}
