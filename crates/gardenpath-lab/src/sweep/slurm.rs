//! A sweep on a Slurm cluster: an array of workers that share the store, and again an array for what they left undone.
//!
//! The store alone says what is done. Slurm is only asked which tasks are still in its queue: when none is, whatever is
//! missing was cancelled, cut off or lost with its node, and is submitted again.

mod queue;
mod script;
mod submissions;

use crate::experiment::{Scale, Source};
use crate::files::atomic;
use crate::measure::Measure;
use crate::progress;
use crate::signals::Interrupt;
use crate::store::Store;
use crate::sweep::status::Status;
use anyhow::{Context, Result};
use clap::Args;
use queue::{Delays, Queue};
use script::Script;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};
use submissions::Submissions;

/// How a sweep is run on a cluster.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// Partition of the cluster [default: the cluster's own]
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Time limit of a task, as sbatch reads it; what it cuts off is submitted again [default: the partition's]
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// Most tasks of an array; each takes many cells
    #[arg(long, value_name = "N", default_value = "16")]
    pub array_size: NonZeroUsize,
    /// Most tasks that run at once [default: all]
    #[arg(long, value_name = "N")]
    pub at_once: Option<NonZeroUsize>,
    /// Cores of a task, which are its threads
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub cpus_per_task: u16,
    /// How many times to submit again without any progress before giving up
    #[arg(long, value_name = "N", default_value = "3")]
    pub retries: u32,
    /// Seconds between two looks at the queue
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub poll: u64,
}

/// A sweep that is to be run on a cluster.
pub struct Slurm<'a> {
    cells: &'a [Measure],
    store: &'a Store,
    settings: &'a Settings,
    /// What names the experiment on every node.
    experiment: PathBuf,
    scale: Scale,
    directory: PathBuf,
    queue: Queue,
}

/// How it ended.
pub enum Ending {
    /// Nothing is left to do, or nothing more can be done.
    Finished {
        /// What became of the cells.
        totals: Totals,
        /// How many arrays were submitted.
        arrays: usize,
    },
    /// The array was left alone as soon as it was in the queue.
    Detached(String),
    /// Ctrl-C; the array goes on.
    Interrupted(String),
}

/// What became of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Cells with a result.
    pub done: usize,
    /// Cells that were tried without success.
    pub failed: usize,
    /// Cells without either.
    pub missing: usize,
}

/// How long the controller may be silent before following is given up.
const PATIENCE: Duration = Duration::from_secs(600);

impl<'a> Slurm<'a> {
    /// A sweep of the cells of an experiment. Fails where Slurm is not installed.
    pub fn new(
        source: &Source,
        scale: Scale,
        cells: &'a [Measure],
        directory: &Path,
        store: &'a Store,
        settings: &'a Settings,
    ) -> Result<Self> {
        let directory =
            std::path::absolute(directory).with_context(|| format!("{}: has no absolute path", directory.display()))?;
        let queue = Queue::new(&source.name())?;
        Ok(Slurm { cells, store, settings, experiment: source.argument()?, scale, directory, queue })
    }

    /// Submits an array, unless there is one in the queue, and follows it until all is done.
    pub fn run(&self, detach: bool) -> Result<Ending> {
        // From here on a signal must not lose the number of an array.
        let interrupt = Interrupt::listen();
        let mut arrays = 0;
        let mut before = self.totals();
        let mut job = match self.queued()? {
            Some(job) => {
                progress::note(&format!("array {job} is in the queue already"));
                job
            }
            None if before.done == self.cells.len() => return Ok(Ending::Finished { totals: before, arrays }),
            None => {
                arrays += 1;
                // What failed in an earlier sweep is tried once more, as `sweep run` does.
                self.submit(before.missing + before.failed, false)?
            }
        };
        if detach {
            return Ok(Ending::Detached(job));
        }
        let mut retries = self.settings.retries;
        loop {
            if !self.follow(&job, &interrupt)? {
                return Ok(Ending::Interrupted(job));
            }
            let totals = self.totals();
            if totals != before {
                retries = self.settings.retries;
            }
            if totals.missing == 0 || retries == 0 {
                return Ok(Ending::Finished { totals, arrays });
            }
            progress::note(&format!("array {job} has ended, and {} cells are missing", totals.missing));
            (retries, arrays, before) = (retries - 1, arrays + 1, totals);
            job = self.submit(totals.missing, true)?;
        }
    }

    fn totals(&self) -> Totals {
        let status = Status::of(self.cells, self.store);
        // The mark of a worker that was killed looks like work for a while.
        Totals { done: status.done, failed: status.failed, missing: status.missing + status.running }
    }

    fn submissions(&self) -> Submissions {
        Submissions::of(&self.directory.join("slurm").join("job"), self.scale, &self.experiment)
    }

    /// The array that was submitted last, if it is in the queue.
    fn queued(&self) -> Result<Option<String>> {
        let Some(job) = self.submissions().last() else { return Ok(None) };
        let tasks = self.queue.tasks(&job)?;
        Ok((!tasks.is_empty()).then_some(job))
    }

    /// Submits an array for a number of cells and returns its number.
    fn submit(&self, cells: usize, skip_failed: bool) -> Result<String> {
        let place = self.directory.join("slurm");
        let tasks = cells.min(self.settings.array_size.get());
        let program = env::current_exe().context("this program does not know where it is")?;
        let script = Script {
            name: &self.queue.name,
            program: &program,
            experiment: &self.experiment,
            scale: self.scale,
            store: &self.directory,
            settings: self.settings,
            tasks,
            skip_failed,
        };
        let text = script.text()?;
        let path = place.join(format!("{}.sh", self.queue.name));
        fs::create_dir_all(&place).with_context(|| format!("{}: cannot be made", place.display()))?;
        atomic::write(&path, text.as_bytes())?;
        let job = self.queue.submit(&path, &script.options()?)?;
        self.submissions().keep(&job)?;
        progress::note(&format!("array {job}: {tasks} tasks for {cells} cells"));
        Ok(job)
    }

    /// Waits until no task of an array is left, or all cells are done. Returns whether it was not interrupted.
    fn follow(&self, job: &str, interrupt: &Interrupt) -> Result<bool> {
        let line = progress::line(&format!("array {job}"));
        let mut delays = Delays::default();
        let mut answered = Instant::now();
        let ending = loop {
            match self.queue.tasks(job) {
                Ok(tasks) => {
                    answered = Instant::now();
                    let Totals { done, failed, missing } = self.totals();
                    if tasks.is_empty() || done == self.cells.len() {
                        break Ok(true);
                    }
                    let cells = format!("{done} done, {failed} failed, {missing} missing");
                    line.set_message(format!("array {job}: {cells}; {}", queue::summary(&tasks)));
                    delays.lift(&tasks);
                }
                Err(error) if answered.elapsed() < PATIENCE => line.set_message(format!("array {job}: {error:#}")),
                Err(error) => break Err(error.context(format!("array {job} may go on, but cannot be followed"))),
            }
            if interrupt.within(Duration::from_secs(self.settings.poll)) {
                break Ok(false);
            }
        };
        line.finish_and_clear();
        ending
    }
}
