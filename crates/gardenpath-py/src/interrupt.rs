//! Long-running work that Ctrl-C can stop, and its progress messages.

use crate::threads;
use pyo3::prelude::*;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// How often signals are checked: short enough to feel immediate.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// Runs work that is too short to interrupt.
pub fn brief<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = threads::take()?;
    let outcome = py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.pool.install(work))));
    threads::give_back(pool);
    Ok(outcome.unwrap_or_else(|panic| resume_unwind(panic)))
}

/// Runs the work on all threads with the GIL released, while checking for signals. If a signal handler raises an
/// exception, the work stops at its next checkpoint.
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    watched(py, false, |_: &Caller<Infallible>| work(), |never| match never {})
}

/// The thread that waits for the work, as seen by the work.
pub struct Caller<'a, N> {
    messages: Sender<Message<N>>,
    wants_to_leave: &'a AtomicBool,
}

impl<N> Caller<'_, N> {
    /// Sends a message to the caller.
    pub fn tell(&self, news: N) {
        // The caller listens until it receives the end.
        let _ = self.messages.send(Message::News(news));
    }

    /// Whether the caller was interrupted.
    pub fn wants_to_leave(&self) -> bool {
        self.wants_to_leave.load(Ordering::Relaxed)
    }
}

enum Message<N> {
    News(N),
    End,
}

/// Like [`run`], but the calling thread, which holds the GIL, passes messages from the work to `hear`. An exception
/// raised there stops the work, as Ctrl-C does, and is propagated.
///
/// `polite` work checks whether the caller [wants to leave](Caller::wants_to_leave), and is stopped only by a second
/// Ctrl-C.
pub fn watched<T: Send, N: Send>(
    py: Python<'_>,
    polite: bool,
    work: impl FnOnce(&Caller<'_, N>) -> T + Send,
    mut hear: impl FnMut(N) -> PyResult<()>,
) -> PyResult<T> {
    let pool = threads::take()?;
    let (threads, wants_to_leave) = (&pool.pool, AtomicBool::new(false));
    let (outcome, interrupt) = thread::scope(|scope| {
        let (messages, mut heard) = mpsc::channel();
        let caller = Caller { messages, wants_to_leave: &wants_to_leave };
        let worker = scope.spawn(move || {
            let caller = &caller;
            let outcome = catch_unwind(AssertUnwindSafe(|| threads.install(|| work(caller))));
            // The other side waits for this message.
            let _ = caller.messages.send(Message::End);
            outcome
        });
        let mut interrupt: Option<PyErr> = None;
        loop {
            let heard = &mut heard;
            let raised = match py.detach(move || heard.recv_timeout(PATIENCE)) {
                Ok(Message::News(news)) if interrupt.is_none() => hear(news).err(),
                Ok(Message::News(_)) => None,
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => py.check_signals().err(),
            };
            if raised.is_some() {
                let again = interrupt.is_some();
                pool.stop.store(!polite || again, Ordering::Relaxed);
                wants_to_leave.store(true, Ordering::Relaxed);
                interrupt = raised;
            }
        }
        (py.detach(|| worker.join()).and_then(|outcome| outcome), interrupt)
    });
    threads::give_back(pool);
    match (outcome, interrupt) {
        (_, Some(interrupt)) => Err(interrupt),
        (Ok(result), None) => Ok(result),
        (Err(panic), None) => resume_unwind(panic),
    }
}
