//! Thread pools for calls from Python.
//!
//! Rayon's global pool does not survive a fork: the child has the pool but not its threads, and would wait forever.
//! Python forks often (`multiprocessing`, workers of a PyTorch `DataLoader`), so each process has its own pools. And
//! each running call has its own pool, whose threads obey its flag, so that calls from several Python threads are
//! interrupted independently.

use crate::error::OrValueError;
use crate::numbers::natural;
use gardenpath::interrupt::obey;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The pools of one process.
struct Pools {
    process: u32,
    /// 0 for one per core.
    threads: AtomicUsize,
    idle: Mutex<Vec<Pool>>,
}

/// Threads that stop working when `stop` is set.
pub struct Pool {
    pub pool: ThreadPool,
    pub stop: &'static AtomicBool,
}

/// Never freed: a forked child must not touch the pools of its parent.
static POOLS: AtomicPtr<Pools> = AtomicPtr::new(ptr::null_mut());

fn pools() -> &'static Pools {
    // SAFETY: the pointer is null or came from `Box::leak` and is never freed.
    match unsafe { POOLS.load(Ordering::Acquire).as_ref() } {
        Some(pools) if pools.process == std::process::id() => pools,
        // The GIL is held here, so there is no race.
        found => {
            let threads = AtomicUsize::new(found.map_or(0, |parent| parent.threads.load(Ordering::Relaxed)));
            let made = Box::leak(Box::new(Pools { process: std::process::id(), threads, idle: Mutex::default() }));
            POOLS.store(made, Ordering::Release);
            made
        }
    }
}

/// A pool for one call, to be [given back](give_back).
pub fn take() -> PyResult<Pool> {
    let pools = pools();
    let threads = pools.threads.load(Ordering::Relaxed);
    let mut idle = pools.idle.lock().unwrap_or_else(PoisonError::into_inner);
    if threads != 0 {
        idle.retain(|pool| pool.pool.current_num_threads() == threads);
    }
    match idle.pop() {
        Some(pool) => Ok(pool),
        None => make(threads),
    }
}

fn make(threads: usize) -> PyResult<Pool> {
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let pool =
        ThreadPoolBuilder::new().num_threads(threads).start_handler(move |_| obey(stop)).build().or_value_error()?;
    Ok(Pool { pool, stop })
}

/// Keeps a pool for the next call.
pub fn give_back(pool: Pool) {
    pool.stop.store(false, Ordering::Relaxed);
    pools().idle.lock().unwrap_or_else(PoisonError::into_inner).push(pool);
}

/// The number of threads that calls use.
///
/// >>> import gardenpath
/// >>> gardenpath.threads() >= 1
/// True
#[pyfunction]
pub fn threads() -> PyResult<usize> {
    let pool = take()?;
    let threads = pool.pool.current_num_threads();
    give_back(pool);
    Ok(threads)
}

/// Sets the number of threads that calls of this process use. Results do not depend on it.
///
/// >>> import gardenpath
/// >>> gardenpath.set_threads(2)
/// >>> gardenpath.threads()
/// 2
#[pyfunction]
pub fn set_threads(#[pyo3(from_py_with = natural)] count: usize) -> PyResult<()> {
    if !(1..=1024).contains(&count) {
        return Err(PyValueError::new_err(format!("number of threads is {count}, expected 1 to 1024")));
    }
    pools().threads.store(count, Ordering::Relaxed);
    Ok(())
}
