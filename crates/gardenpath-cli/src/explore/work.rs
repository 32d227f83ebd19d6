//! Threads that compute, apart from the one that talks to browsers. Work that nobody waits for is left at its next checkpoint.

use super::reply::Refusal;
use anyhow::{Context, Result};
use gardenpath::interrupt::{Interrupted, obey};
use hyper::StatusCode;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

/// Requests that are computed at a time; others wait.
const AT_A_TIME: usize = 3;

/// How long a request may take, waiting included.
const PATIENCE: Duration = Duration::from_secs(20);

/// The threads of all work.
pub struct Workers {
    slots: Arc<Semaphore>,
    idle: Arc<Mutex<Vec<Pool>>>,
}

/// Threads that leave their work when `stop` is set.
#[derive(Clone)]
struct Pool {
    threads: Arc<ThreadPool>,
    stop: &'static AtomicBool,
}

/// How work ended.
pub enum Ending<T> {
    /// It has a result.
    Done(T),
    /// It was left.
    Stopped,
    /// It panicked, with this message: a fault of ours.
    Panicked(String),
}

/// Stops work, if it is still going on.
#[derive(Clone)]
pub struct Stopper {
    /// What stops it; none once it has ended, since other work may have its threads then.
    stop: Arc<Mutex<Option<&'static AtomicBool>>>,
}

impl Stopper {
    /// Asks the work to leave, and says whether it was still going on.
    pub fn stop(&self) -> bool {
        let stop = lock(&self.stop);
        stop.inspect(|flag| flag.store(true, Ordering::Relaxed)).is_some()
    }
}

/// Stops work when it is dropped.
struct Guard(Stopper);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.stop();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workers {
    /// No threads yet.
    pub fn new() -> Self {
        Workers { slots: Arc::new(Semaphore::new(AT_A_TIME)), idle: Arc::default() }
    }

    /// Does work on threads of its own and calls `end` on one of them.
    pub fn start<T>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        end: impl FnOnce(Ending<T>) + Send + 'static,
    ) -> Result<Stopper> {
        let pool = match lock(&self.idle).pop() {
            Some(pool) => pool,
            None => make()?,
        };
        let stopper = Stopper { stop: Arc::new(Mutex::new(Some(pool.stop))) };
        let (own, idle, threads) = (stopper.clone(), self.idle.clone(), pool.threads.clone());
        let task = move || {
            let outcome = catch_unwind(AssertUnwindSafe(work));
            // From here on nobody can stop these threads by mistake.
            lock(&own.stop).take();
            pool.stop.store(false, Ordering::Relaxed);
            lock(&idle).push(pool);
            end(match outcome {
                Ok(result) => Ending::Done(result),
                Err(panic) if panic.is::<Interrupted>() => Ending::Stopped,
                Err(panic) => Ending::Panicked(message(&*panic)),
            });
        };
        threads.spawn(task);
        Ok(stopper)
    }

    /// The result of work that somebody waits for. It is left when nobody does any more, or when it takes too long.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T, Refusal> {
        let late = || {
            let line = format!("this takes longer than {} s; try something smaller", PATIENCE.as_secs());
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, line)
        };
        let waited = async {
            let slot = self.slots.clone().acquire_owned().await;
            let (sender, result) = oneshot::channel();
            let end = move |ending| {
                drop(slot);
                let _ = sender.send(ending);
            };
            let _guard = Guard(self.start(work, end)?);
            Ok::<_, anyhow::Error>(result.await)
        };
        match tokio::time::timeout(PATIENCE, waited).await.map_err(|_| late())?? {
            Ok(Ending::Done(result)) => Ok(result?),
            Ok(Ending::Panicked(message)) => {
                let line = format!("this is a fault of the program, please report it: {message}");
                Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, line))
            }
            Ok(Ending::Stopped) | Err(_) => Err(late()),
        }
    }
}

fn make() -> Result<Pool> {
    // Pools are used again and again, so that there are few of these.
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let threads = ThreadPoolBuilder::new()
        .num_threads(rayon::current_num_threads())
        .start_handler(move |_| obey(stop))
        .build()
        .context("cannot start threads")?;
    Ok(Pool { threads: Arc::new(threads), stop })
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it panicked").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::interrupt::checkpoint;
    use std::sync::mpsc;

    fn forever() -> Result<()> {
        loop {
            checkpoint();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    #[test]
    fn work_is_left_when_nobody_waits_and_its_threads_are_used_again() {
        let workers = Workers::new();
        runtime().block_on(async {
            for _ in 0..3 * AT_A_TIME {
                let waiting = workers.run(forever);
                assert!(tokio::time::timeout(Duration::from_millis(20), waiting).await.is_err());
            }
            assert_eq!(workers.run(|| Ok(42)).await.unwrap(), 42);
        });
        assert!(lock(&workers.idle).len() <= AT_A_TIME);
        assert!(lock(&workers.idle).iter().all(|pool| !pool.stop.load(Ordering::Relaxed)));
    }

    #[test]
    fn panics_and_errors_are_refusals() {
        let workers = Workers::new();
        runtime().block_on(async {
            let refusal = workers.run(|| -> Result<()> { anyhow::bail!("no\nsuch thing") }).await.unwrap_err();
            assert_eq!((refusal.status, refusal.line.contains('\n')), (StatusCode::BAD_REQUEST, false));
            let refusal = workers.run(|| -> Result<()> { panic!("oh") }).await.unwrap_err();
            assert_eq!(refusal.status, StatusCode::INTERNAL_SERVER_ERROR);
            assert!(refusal.line.ends_with("please report it: oh"));
            assert_eq!(workers.run(|| Ok(1)).await.unwrap(), 1);
        });
    }

    #[test]
    fn whoever_stops_work_stops_no_other() {
        let workers = Workers::new();
        let (sender, ended) = mpsc::channel();
        let first =
            workers.start(forever, move |ending| sender.send(matches!(ending, Ending::Stopped)).unwrap()).unwrap();
        assert!(first.stop() && ended.recv().unwrap());
        let (sender, ended) = mpsc::channel();
        let second =
            workers.start(forever, move |ending| sender.send(matches!(ending, Ending::Stopped)).unwrap()).unwrap();
        assert!(!first.stop(), "it has ended");
        assert!(ended.recv_timeout(Duration::from_millis(30)).is_err(), "the other one goes on");
        assert!(second.stop() && ended.recv().unwrap());
    }
}
