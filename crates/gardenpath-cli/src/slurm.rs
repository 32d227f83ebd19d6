//! A sweep on a Slurm cluster: job arrays of workers that share the store, resubmitted until nothing is missing.
//!
//! The store alone determines what is done. Slurm is only asked which tasks are still queued: when none is, missing
//! cells were cancelled, timed out or lost with their node, and are resubmitted.

mod options;
mod queue;
mod script;
mod submissions;

use crate::progress;
use crate::signals::Interrupt;
use anyhow::{Context, Result, bail};
use clap::Args;
use gardenpath_lab::experiment::{Scale, Source};
use gardenpath_lab::files::atomic;
use gardenpath_lab::measure::Measure;
use gardenpath_lab::store::{State, Store};
use gardenpath_lab::sweep::status::Status;
use gardenpath_lab::sweep::uses_gpu;
use gardenpath_lab::training::Device;
use queue::{Delays, Queue};
use script::Script;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use submissions::Submissions;

/// The settings of a sweep on a cluster.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// Partition [default: the cluster's default]
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
    /// Time limit per task, as for sbatch; tasks that time out are resubmitted [default: the partition's]
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// Maximum number of tasks per array; each takes many cells
    #[arg(long, value_name = "N", default_value = "16")]
    pub array_size: NonZeroUsize,
    /// Maximum number of concurrent tasks [default: all]
    #[arg(long, value_name = "N")]
    pub at_once: Option<NonZeroUsize>,
    /// Cores, and threads, per task
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub cpus_per_task: u16,
    /// Memory per task, as for sbatch [default: the cluster's default]
    #[arg(long, value_name = "SIZE")]
    pub mem: Option<String>,
    /// Required node features
    #[arg(long, value_name = "LIST")]
    pub constraint: Option<String>,
    /// Generic resources per task [default: gpu:1 if its cells need a GPU]
    #[arg(long, value_name = "LIST")]
    pub gres: Option<String>,
    /// Account to charge
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,
    /// Quality of service
    #[arg(long, value_name = "NAME")]
    pub qos: Option<String>,
    /// Number of resubmissions without progress before giving up
    #[arg(long, value_name = "N", default_value = "3")]
    pub retries: u32,
    /// Seconds between polls of the queue
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub poll: u64,
    /// Further options for sbatch, after --
    #[arg(last = true, value_name = "OPTIONS OF SBATCH", allow_hyphen_values = true)]
    pub sbatch: Vec<String>,
}

impl Settings {
    /// Refuses sbatch options that would break a sweep.
    pub fn check(&self) -> Result<()> {
        options::check(&self.sbatch)
    }
}

/// A sweep to run on a cluster.
pub struct Slurm<'a> {
    sweep: Sweep<'a>,
    store: &'a Store,
    settings: &'a Settings,
    /// The experiment, as every node can find it.
    experiment: PathBuf,
    directory: PathBuf,
    queue: Queue,
}

/// What to measure.
#[derive(Clone, Copy)]
pub struct Sweep<'a> {
    /// The experiment.
    pub source: &'a Source,
    /// The scale to measure.
    pub scale: &'a Scale,
    /// Whether the experiment has several scales.
    pub has_scales: bool,
    /// Measure only the cells for this device.
    pub only: Option<Device>,
    /// The cells.
    pub cells: &'a [Measure],
}

/// How a sweep ended.
pub enum Ending {
    /// Nothing is left to do, or nothing more can be done.
    Finished {
        /// The state of the cells.
        totals: Totals,
        /// The number of arrays submitted.
        arrays: usize,
    },
    /// The array was submitted and not followed.
    Detached(String),
    /// Ctrl-C; the array keeps running.
    Interrupted(String),
}

/// The state of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Cells with a result.
    pub done: usize,
    /// Cells that failed.
    pub failed: usize,
    /// Cells that have neither a result nor a failure.
    pub missing: usize,
}

/// How long the controller may be unreachable before the sweep stops following.
const PATIENCE: Duration = Duration::from_secs(600);

impl<'a> Slurm<'a> {
    /// A sweep over the cells of an experiment. Fails if Slurm is not installed.
    pub fn new(sweep: Sweep<'a>, directory: &Path, store: &'a Store, settings: &'a Settings) -> Result<Self> {
        let directory =
            std::path::absolute(directory).with_context(|| format!("{}: no absolute path", directory.display()))?;
        let queue = Queue::new(&sweep.source.name())?;
        Ok(Slurm { sweep, store, settings, experiment: sweep.source.argument()?, directory, queue })
    }

    /// Submits an array, unless one is queued already, and follows it until all is done.
    pub fn run(&self, detach: bool) -> Result<Ending> {
        // From here on, a signal must not lose a job ID.
        let interrupt = Interrupt::listen();
        let mut arrays = 0;
        let mut before = self.totals();
        let mut job = match self.queued()? {
            Some(job) => {
                progress::note(&format!("array {job} is already queued"));
                job
            }
            None if before.done == self.sweep.cells.len() => return Ok(Ending::Finished { totals: before, arrays }),
            None => {
                arrays += 1;
                // Failures of an earlier sweep are retried once, as `sweep run` does.
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

    /// Whether the cells without a result need a GPU. All tasks request the same resources, so mixed cells are an
    /// error.
    fn needs_gpu(&self) -> Result<bool> {
        if !self.sweep.cells.iter().any(uses_gpu) {
            return Ok(false);
        }
        let left: Vec<&Measure> =
            self.sweep.cells.iter().filter(|cell| self.store.state(cell) != State::Done).collect();
        let (gpu, all) = (left.iter().filter(|cell| uses_gpu(cell)).count(), left.len());
        if (1..all).contains(&gpu) {
            bail!(
                "{gpu} of {all} cells need a GPU and the others do not: submit them separately, with --only gpu and --only cpu"
            );
        }
        Ok(gpu > 0)
    }

    fn totals(&self) -> Totals {
        let status = Status::of(self.sweep.cells, self.store);
        // The mark of a killed worker looks like work for a while.
        Totals { done: status.done, failed: status.failed, missing: status.missing + status.running }
    }

    fn submissions(&self) -> Submissions {
        let Sweep { scale, only, .. } = self.sweep;
        Submissions::of(&self.directory.join("slurm").join("job"), scale, only, &self.experiment)
    }

    /// The array submitted last, if it is still queued.
    fn queued(&self) -> Result<Option<String>> {
        let Some(job) = self.submissions().last() else { return Ok(None) };
        let tasks = self.queue.tasks(&job)?;
        Ok((!tasks.is_empty()).then_some(job))
    }

    /// Submits an array for this many cells and returns its job ID.
    fn submit(&self, cells: usize, skip_failed: bool) -> Result<String> {
        let place = self.directory.join("slurm");
        let tasks = cells.min(self.settings.array_size.get());
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let script = Script {
            name: &self.queue.name,
            program: &program,
            experiment: &self.experiment,
            scale: self.sweep.has_scales.then_some(self.sweep.scale),
            only: self.sweep.only,
            gpu: self.needs_gpu()?,
            store: &self.directory,
            settings: self.settings,
            tasks,
            skip_failed,
        };
        let text = script.text()?;
        let path = place.join(format!("{}.sh", self.queue.name));
        fs::create_dir_all(&place).with_context(|| format!("{}: cannot create the directory", place.display()))?;
        atomic::write(&path, text.as_bytes())?;
        let job = self.queue.submit(&path, &script.options()?)?;
        self.submissions().keep(&job)?;
        progress::note(&format!("array {job}: {tasks} tasks for {cells} cells"));
        Ok(job)
    }

    /// Waits until no task of an array is left, or all cells are done. Returns false if interrupted.
    fn follow(&self, job: &str, interrupt: &Interrupt) -> Result<bool> {
        let line = progress::line(&format!("array {job}"));
        let mut delays = Delays::default();
        let mut answered = Instant::now();
        let ending = loop {
            match self.queue.tasks(job) {
                Ok(tasks) => {
                    answered = Instant::now();
                    let Totals { done, failed, missing } = self.totals();
                    if tasks.is_empty() || done == self.sweep.cells.len() {
                        break Ok(true);
                    }
                    let cells = format!("{done} done, {failed} failed, {missing} missing");
                    line.set_message(format!("array {job}: {cells}; {}", queue::summary(&tasks)));
                    delays.lift(&tasks);
                }
                Err(error) if answered.elapsed() < PATIENCE => line.set_message(format!("array {job}: {error:#}")),
                Err(error) => {
                    break Err(error.context(format!("cannot follow array {job}, which may still be running")));
                }
            }
            if interrupt.within(Duration::from_secs(self.settings.poll)) {
                break Ok(false);
            }
        };
        line.finish_and_clear();
        ending
    }
}
