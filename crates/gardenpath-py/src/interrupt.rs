//! Long work that Ctrl-C stops.

use crate::threads;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How often signals are looked at.
const PATIENCE: Duration = Duration::from_millis(50);

/// Whether the work should stop. Long loops ask now and then.
#[derive(Default)]
pub struct Stop(AtomicBool);

/// What unwinds through work that was stopped.
struct Stopped;

impl Stop {
    /// Leaves the work, from wherever it is and on whatever thread, if it was interrupted.
    pub fn check(&self) {
        if self.0.load(Ordering::Relaxed) {
            // Quiet, unlike a panic: it is no error.
            resume_unwind(Box::new(Stopped));
        }
    }
}

/// Does the work on the threads of this process without holding the interpreter, and looks at signals meanwhile.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce(&Stop) -> T + Send) -> PyResult<T> {
    let pool = threads::pool()?;
    let stop = Stop::default();
    let (outcome, interrupt) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, finished) = mpsc::channel();
            let stop = &stop;
            let worker = scope.spawn(move || {
                let outcome = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(stop))));
                // The other side waits until it has heard this.
                let _ = sender.send(());
                outcome
            });
            let mut interrupt = None;
            while finished.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                if interrupt.is_none() {
                    interrupt = Python::attach(|py| py.check_signals()).err();
                    stop.0.store(interrupt.is_some(), Ordering::Relaxed);
                }
            }
            (worker.join().and_then(|outcome| outcome), interrupt)
        })
    });
    match (outcome, interrupt) {
        (_, Some(interrupt)) => Err(interrupt),
        (Ok(result), None) => Ok(result),
        (Err(panic), None) => resume_unwind(panic),
    }
}
