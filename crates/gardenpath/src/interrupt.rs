//! Long work that can be stopped from outside.
//!
//! Long loops of this crate pass a [`checkpoint`] now and then. On a thread that [obeys](obey) a flag, the work is left there once the
//! flag is set, by unwinding: no function has a result for being interrupted. On all other threads nothing ever happens.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static FLAG: Cell<Option<&'static AtomicBool>> = const { Cell::new(None) };
}

/// What unwinds through work that was stopped, for whoever started the work to catch.
#[derive(Debug)]
pub struct Interrupted;

/// Lets this thread leave its work at the next checkpoint once `flag` is true. For the threads of a pool, call it in their start handler.
///
/// ```
/// use gardenpath::interrupt::{Interrupted, obey};
/// use gardenpath::{Corpus, Ensemble, Seed};
/// use std::panic::{AssertUnwindSafe, catch_unwind};
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// static STOP: AtomicBool = AtomicBool::new(false);
/// let pool = rayon::ThreadPoolBuilder::new().start_handler(|_| obey(&STOP)).build().unwrap();
/// let grammar = Ensemble::new(8, 2).sample(Seed::new(1))?;
/// STOP.store(true, Ordering::Relaxed);
/// let work = || pool.install(|| Corpus::sample(&grammar, Seed::new(1), 0..1_000_000));
/// let outcome = catch_unwind(AssertUnwindSafe(work));
/// assert!(outcome.unwrap_err().is::<Interrupted>());
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn obey(flag: &'static AtomicBool) {
    FLAG.set(Some(flag));
}

/// The flag that this thread obeys, for those who start other threads on its behalf.
pub fn obeyed() -> Option<&'static AtomicBool> {
    FLAG.get()
}

/// Leaves the work if this thread obeys a flag that is set.
#[inline]
pub fn checkpoint() {
    if FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
        // Quiet, unlike a panic: it is no error.
        resume_unwind(Box::new(Interrupted));
    }
}
