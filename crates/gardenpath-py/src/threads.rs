//! The threads on which calls from Python work.
//!
//! Rayon's own global pool does not survive a fork: the child has the pool, but not its threads, and would wait for ever. Python
//! forks often (`multiprocessing`, workers of a PyTorch `DataLoader`), so each process makes a pool of its own when it first needs one.

use crate::error::OrValueError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

struct ProcessPool {
    process: u32,
    pool: ThreadPool,
}

/// Pools are never freed: some call may still be working on one, and a forked child must not touch its parent's.
static CURRENT: AtomicPtr<ProcessPool> = AtomicPtr::new(ptr::null_mut());

/// The pool of this process.
pub fn pool() -> PyResult<&'static ThreadPool> {
    // SAFETY: the pointer is null or came from `Box::into_raw` and is never freed.
    match unsafe { CURRENT.load(Ordering::Acquire).as_ref() } {
        Some(current) if current.process == std::process::id() => Ok(&current.pool),
        _ => make(0),
    }
}

/// Makes a pool and uses it from now on; 0 threads are as many as there are cores.
fn make(threads: usize) -> PyResult<&'static ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().or_value_error()?;
    let made = Box::leak(Box::new(ProcessPool { process: std::process::id(), pool }));
    CURRENT.store(made, Ordering::Release);
    Ok(&made.pool)
}

/// The number of threads on which calls work.
///
/// >>> import gardenpath
/// >>> gardenpath.threads() >= 1
/// True
#[pyfunction]
pub fn threads() -> PyResult<usize> {
    Ok(pool()?.current_num_threads())
}

/// Sets the number of threads on which calls of this process work. Results do not depend on it.
///
/// >>> import gardenpath
/// >>> gardenpath.set_threads(2)
/// >>> gardenpath.threads()
/// 2
#[pyfunction]
pub fn set_threads(count: usize) -> PyResult<()> {
    if !(1..=1024).contains(&count) {
        return Err(PyValueError::new_err(format!("number of threads is {count}, expected 1 to 1024")));
    }
    if pool()?.current_num_threads() != count {
        make(count)?;
    }
    Ok(())
}
