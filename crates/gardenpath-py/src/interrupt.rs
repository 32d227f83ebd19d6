//! Long work that Ctrl-C stops.

use crate::threads;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often signals are looked at.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// Does work that takes no longer than it takes to press a key.
pub fn brief<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = threads::take()?;
    let outcome = py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.pool.install(work))));
    threads::give_back(pool);
    Ok(outcome.unwrap_or_else(|panic| resume_unwind(panic)))
}

/// Does the work on all threads without holding the interpreter, and looks at signals meanwhile. The work is left at the next
/// checkpoint of the core after a signal whose handler raised an exception.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = threads::take()?;
    let (outcome, interrupt) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, finished) = mpsc::channel();
            let threads = &pool.pool;
            let worker = scope.spawn(move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| threads.install(work)));
                // The other side waits until it has heard this.
                let _ = sender.send(());
                outcome
            });
            let mut interrupt = None;
            while finished.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                if interrupt.is_none() {
                    interrupt = Python::attach(|py| py.check_signals()).err();
                    pool.stop.store(interrupt.is_some(), Ordering::Relaxed);
                }
            }
            (worker.join().and_then(|outcome| outcome), interrupt)
        })
    });
    threads::give_back(pool);
    match (outcome, interrupt) {
        (_, Some(interrupt)) => Err(interrupt),
        (Ok(result), None) => Ok(result),
        (Err(panic), None) => resume_unwind(panic),
    }
}
