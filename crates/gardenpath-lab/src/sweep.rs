//! Sweeps: the cells of an experiment, measured by any number of workers on any number of machines.

pub mod collect;
pub mod estimate;
pub mod status;

use crate::measure::Measure;
use crate::message::one_line;
use crate::outcome::{Incomplete, Interrupted};
use crate::store::{Found, RENEWAL, Store};
use anyhow::{Context, Result, anyhow, bail};
use gardenpath::interrupt::{self, checkpoint, obey, obeyed};
use serde_json::{Map, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The part of a sweep measured by one process: every `count`th cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The index of the part, from 1.
    pub index: usize,
    /// The number of parts.
    pub count: usize,
}

impl Default for Shard {
    fn default() -> Self {
        Shard { index: 1, count: 1 }
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').map(|(index, count)| (index.parse::<usize>(), count.parse::<usize>()));
        match numbers {
            Some((Ok(index), Ok(count))) if (1..=count).contains(&index) => Ok(Shard { index, count }),
            _ => Err("expected a part such as 1/4, up to 4/4".into()),
        }
    }
}

impl Shard {
    /// The cells of this part.
    pub fn of(self, cells: &[Measure]) -> Vec<&Measure> {
        cells.iter().skip(self.index - 1).step_by(self.count).collect()
    }
}

/// What happened to a cell.
pub enum Event<'a> {
    /// It was already measured.
    Found(&'a Measure),
    /// Its file or checkpoint is damaged, as the message says. It is measured again, and another event follows.
    Damaged(&'a Measure, String),
    /// It was measured and is stored.
    Done(&'a Measure),
    /// It failed, and the reason is stored.
    Failed(&'a Measure, String),
}

/// Measures missing cells. Each is measured by one of `threads` workers on a single thread; with fewer cells than
/// threads, each gets several. Cells for a GPU are measured one after another by a single worker, since they would only
/// compete for its memory.
///
/// Cells held by other processes come last, and are measured only if those processes do not finish them. Files left by
/// killed workers are removed first.
///
/// A failing cell is recorded, and the others continue. Errors in storing a result or reporting an event end the sweep.
/// If the calling thread [obeys](obey) a flag, so do the workers: once it is set they abandon their cells, which stay
/// missing, and the sweep returns an error. Long cells keep checkpoints in the store and resume from them.
pub fn run<'a>(
    cells: &[&'a Measure],
    store: &Store,
    threads: usize,
    report: &mut dyn FnMut(Event<'a>) -> Result<()>,
) -> Result<()> {
    run_on(cells, store, threads, uses_gpu, report)
}

/// Whether a cell is measured on a GPU.
pub fn uses_gpu(cell: &Measure) -> bool {
    cell.is_on_gpu()
}

/// Cells that workers take in turn.
struct Queue<'a> {
    cells: Vec<&'a Measure>,
    next: AtomicUsize,
}

impl<'a> Queue<'a> {
    fn new(cells: Vec<&'a Measure>) -> Self {
        Queue { cells, next: AtomicUsize::new(0) }
    }

    fn take(&self) -> Option<&'a Measure> {
        self.cells.get(self.next.fetch_add(1, Ordering::Relaxed)).copied()
    }

    /// Empties the queue.
    fn close(&self) {
        self.next.store(self.cells.len(), Ordering::Relaxed);
    }
}

fn run_on<'a>(
    cells: &[&'a Measure],
    store: &Store,
    threads: usize,
    uses_gpu: impl Fn(&Measure) -> bool,
    report: &mut dyn FnMut(Event<'a>) -> Result<()>,
) -> Result<()> {
    if let Some(words) = cells.iter().find_map(|cell| cell.needs_python()) {
        bail!("{words}");
    }
    store.check_writable()?;
    store.clean();
    let (gpu, cpu): (Vec<_>, Vec<_>) = cells.iter().copied().partition(|cell| uses_gpu(cell));
    let workers = threads.min(cpu.len() + usize::from(!gpu.is_empty())).max(1);
    let queues = [Queue::new(gpu), Queue::new(cpu)];
    let over = AtomicBool::new(false);
    let marks = Marks::default();
    thread::scope(|scope| {
        scope.spawn(|| marks.renew(store));
        let (sender, events) = mpsc::channel();
        for number in 0..workers {
            // The first worker takes the cells for the GPU, then helps with the others.
            let queues = if number == 0 { &queues[..] } else { &queues[1..] };
            let (over, marks, events) = (&over, &marks, sender.clone());
            let worker = Worker { queues, store, over, marks, events, stop: obeyed() };
            scope.spawn(move || worker.run((threads / workers).max(1)));
        }
        drop(sender);
        let mut result = Ok(());
        for event in events {
            if result.is_ok() {
                result = event.and_then(&mut *report);
            }
            if result.is_err() {
                // The workers find no more work.
                queues.iter().for_each(Queue::close);
                over.store(true, Ordering::Relaxed);
            }
        }
        marks.close();
        result
    })
}

/// Maximum time between two checks of cells held by other processes.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

struct Worker<'s, 'a> {
    queues: &'s [Queue<'a>],
    store: &'s Store,
    /// Set after an error.
    over: &'s AtomicBool,
    marks: &'s Marks<'a>,
    events: Sender<Result<Event<'a>>>,
    stop: Option<&'static AtomicBool>,
}

impl<'a> Worker<'_, 'a> {
    fn run(self, threads: usize) {
        let stop = self.stop;
        let obey_too = move |_| {
            if let Some(stop) = stop {
                obey(stop);
            }
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).start_handler(obey_too).build();
        let pool = match pool {
            Ok(pool) => pool,
            Err(error) => return drop(self.events.send(Err(error).context("cannot start a thread"))),
        };
        let mut held = Vec::new();
        while let Some(cell) = self.queues.iter().find_map(Queue::take) {
            if !self.attempt(cell, &pool) {
                held.push(cell);
            }
        }
        let mut pause = Duration::from_millis(1);
        while !held.is_empty() && !self.over.load(Ordering::Relaxed) {
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return drop(self.events.send(Err(anyhow!("interrupted"))));
            }
            thread::sleep(pause);
            pause = (2 * pause).min(LONGEST_PAUSE);
            held.retain(|cell| !self.attempt(cell, &pool));
        }
    }

    /// Makes sure that a cell has a result; returns `false` if another process is measuring it.
    fn attempt(&self, cell: &'a Measure, pool: &rayon::ThreadPool) -> bool {
        let is_settled = |found: &Result<Found<()>>| matches!(found, Ok(Found::Whole(())) | Err(_));
        let mut found = self.store.look(cell);
        if !is_settled(&found) {
            if !self.marks.claim(self.store, cell) {
                return false;
            }
            // Its last worker may just have finished it.
            found = self.store.look(cell);
            if is_settled(&found) {
                self.marks.release(self.store, cell);
            }
        }
        let event = match found {
            Ok(Found::Whole(())) => Ok(Event::Found(cell)),
            Ok(Found::Nothing) => self.measure(cell, pool),
            Ok(Found::Damaged(text)) => {
                let _ = self.events.send(Ok(Event::Damaged(cell, text)));
                self.measure(cell, pool)
            }
            Err(error) => Err(error),
        };
        // The channel is closed only if the sweep has ended.
        let _ = self.events.send(event);
        true
    }

    /// Measures a marked cell.
    fn measure(&self, cell: &'a Measure, pool: &rayon::ThreadPool) -> Result<Event<'a>> {
        let report = |text| drop(self.events.send(Ok(Event::Damaged(cell, text))));
        let work = || {
            checkpoint();
            let checkpoints = self.store.checkpoints(cell, &report);
            let result = cell.run(&checkpoints)?;
            Ok((result, checkpoints.seconds()))
        };
        let event = match pool.install(|| catch_unwind(AssertUnwindSafe(work))) {
            Err(left) if left.is::<interrupt::Interrupted>() => Err(anyhow!("interrupted")),
            outcome => match flatten(outcome) {
                Ok((result, seconds)) => self.store.write(cell, &result, seconds).map(|()| Event::Done(cell)),
                Err(error) => self.store.write_failure(cell, &error).map(|()| Event::Failed(cell, error)),
            },
        };
        self.marks.release(self.store, cell);
        event
    }
}

/// The result of a cell with its time, or its error or panic message on one line.
fn flatten(outcome: thread::Result<Result<(Map<String, Value>, f64)>>) -> Result<(Map<String, Value>, f64), String> {
    match outcome {
        Ok(result) => result.map_err(|error| one_line(&format!("{error:#}"))),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(format!("panicked: {}", one_line(&text.unwrap_or_default())))
        }
    }
}

/// The marks of running cells.
#[derive(Default)]
struct Marks<'a> {
    at_work: Mutex<(Vec<&'a Measure>, bool)>,
    closed: Condvar,
}

impl<'a> Marks<'a> {
    fn lock(&self) -> std::sync::MutexGuard<'_, (Vec<&'a Measure>, bool)> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim(&self, store: &Store, cell: &'a Measure) -> bool {
        let claimed = store.claim(cell);
        if claimed {
            self.lock().0.push(cell);
        }
        claimed
    }

    fn release(&self, store: &Store, cell: &Measure) {
        self.lock().0.retain(|other| *other != cell);
        store.release(cell);
    }

    fn close(&self) {
        self.lock().1 = true;
        self.closed.notify_all();
    }

    /// Renews all marks periodically, until they are closed.
    fn renew(&self, store: &Store) {
        let mut at_work = self.lock();
        while !at_work.1 {
            at_work = self.closed.wait_timeout(at_work, RENEWAL).unwrap_or_else(PoisonError::into_inner).0;
            at_work.0.iter().for_each(|cell| store.renew(cell));
        }
    }
}

/// Returns an error if cells have failed.
pub fn refuse_failures(failed: usize, total: usize) -> Result<(), Incomplete> {
    if failed > 0 {
        return Err(Incomplete(format!("{failed} of {total} cells failed; see gardenpath sweep status")));
    }
    Ok(())
}

/// The message of an interrupted process: removes its marks, and counts the stored results.
pub fn interrupted(cells: &[Measure], store: &Store) -> Interrupted {
    store.release_all();
    let stored = cells.iter().filter(|cell| store.has_file(cell)).count();
    Interrupted(format!("{stored} of {} cells are stored; the same command resumes", cells.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Scale};
    use crate::store::State;
    use std::time::Duration;

    /// Six cells, two of which have more rules than there are tuples.
    fn cells() -> Vec<Measure> {
        let text = "measure = 'entropy'\nexpects = ''\n[[grid]]\nvocab = 4\ndepth = 2\nfraction = [0.5, 0.75, 1.5]\nsentences = 10\nseed = '1..2'";
        Experiment::parse(text).unwrap().cells(&Scale::QUICK).unwrap()
    }

    #[test]
    fn failing_cells_do_not_stop_the_others() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let cells = cells();
        let all: Vec<&Measure> = cells.iter().collect();
        let count = |kind: fn(&Event<'_>) -> bool| {
            let mut counted = 0;
            let mut report = |event: Event<'_>| {
                counted += usize::from(kind(&event));
                Ok(())
            };
            run(&all, &store, 2, &mut report).unwrap();
            counted
        };
        assert_eq!(count(|event| matches!(event, Event::Done(_))), 4);
        // Again: finished cells are found, failed ones are retried.
        assert_eq!(count(|event| matches!(event, Event::Found(_))), 4);
        assert_eq!(count(|event| matches!(event, Event::Failed(..))), 2);
        let states: Vec<State> = cells.iter().map(|cell| store.state(cell)).collect();
        assert_eq!(states.iter().filter(|state| **state == State::Failed).count(), 2);
    }

    #[test]
    fn cells_for_a_gpu_are_measured_one_after_the_other() {
        let text = "measure = 'entropy'\n[[grid]]\nvocab = 8\ndepth = 4\nfraction = 0.75\nsentences = [500, 501]\nseed = '1..8'";
        let cells = Experiment::parse(text).unwrap().cells(&Scale::QUICK).unwrap();
        let is_gpu = |cell: &Measure| cell.parameters()["sentences"] == 501;
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let at_work = |on_gpu: bool| {
            let wanted = |cell: &&Measure| is_gpu(cell) == on_gpu && store.state(cell) == State::Running;
            cells.iter().filter(wanted).count()
        };
        let (mut most, mut beside) = (0, false);
        let mut watch = |_: Event<'_>| {
            let on_gpu = at_work(true);
            most = most.max(on_gpu);
            beside |= on_gpu == 1 && at_work(false) > 0;
            Ok(())
        };
        run_on(&cells.iter().collect::<Vec<_>>(), &store, 4, is_gpu, &mut watch).unwrap();
        assert_eq!(most, 1, "cells for the GPU at work at once");
        assert!(beside, "the other cells are measured beside them");
    }

    #[test]
    fn cells_that_are_left_remain_missing() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let text = "measure = 'train'\nexpects = ''\n[[grid]]\nmodel = 'cnn'\nvocab = 4\ndepth = 2\nfraction = 0.5\nwidth = 16\n\
                    samples = 1_000_000\ntest = 100\nmax_steps = 1_000_000_000\nmin_steps = 1_000_000_000\nseed = [1, 2]";
        let cells = Experiment::parse(text).unwrap().cells(&Scale::QUICK).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let error = thread::scope(|scope| {
            let sweep = scope.spawn(|| {
                obey(&STOP);
                run(&cells.iter().collect::<Vec<_>>(), &store, 1, &mut |_| Ok(())).unwrap_err()
            });
            while store.state(&cells[0]) != State::Running {
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(100));
            STOP.store(true, Ordering::Relaxed);
            sweep.join().unwrap()
        });
        assert_eq!(error.to_string(), "interrupted");
        assert!(cells.iter().all(|cell| store.state(cell) == State::Missing));
    }

    #[test]
    fn shards_are_a_partition() {
        let cells = cells();
        let part = |text: &str| text.parse::<Shard>().unwrap().of(&cells);
        let mut together = [part("1/4"), part("2/4"), part("3/4"), part("4/4")].concat();
        together.sort_by_key(|cell| cell.identity());
        let mut all: Vec<&Measure> = cells.iter().collect();
        all.sort_by_key(|cell| cell.identity());
        assert_eq!(together, all);
        for text in ["0/4", "5/4", "1", "a/b", "1/0", "-1/2"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
