//! Cooperative cancellation of long computations.
//!
//! Long loops of this crate call [`checkpoint`] regularly. On a thread that [obeys](obey) a flag, the call unwinds once the
//! flag is set, so interruption needs no result variant and no cancellation token. On all other threads it does nothing.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static FLAG: Cell<Option<&'static AtomicBool>> = const { Cell::new(None) };
}

/// The panic payload of cancelled work. Whoever started the work catches it.
#[derive(Debug)]
pub struct Interrupted;

/// Makes this thread's work unwind at the next checkpoint once `flag` is true. For a thread pool, call it in the start handler.
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

/// The flag that this thread obeys, to pass on to threads started on its behalf.
pub fn obeyed() -> Option<&'static AtomicBool> {
    FLAG.get()
}

/// Unwinds with [`Interrupted`] if this thread obeys a flag that is set.
#[inline]
pub fn checkpoint() {
    if FLAG.get().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
        // Unlike a panic, this prints nothing: cancellation is not an error.
        resume_unwind(Box::new(Interrupted));
    }
}
