//! `gardenpath sweep`: measures an experiment cell by cell, on one machine or many.

mod analyse;
mod measures;

pub use analyse::say_missing;

use super::Answer;
use crate::cli::choice;
use crate::progress;
use crate::signals::interruptible;
use crate::slurm::{Ending, Settings, Slurm, Sweep, Totals};
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use gardenpath_lab::analysis::{self, Loaded};
use gardenpath_lab::draw::table::{Table, counted, duration, grouped};
use gardenpath_lab::experiment::{Experiment, Scale, Source};
use gardenpath_lab::measure::Measure;
use gardenpath_lab::outcome::{Incomplete, Interrupted};
use gardenpath_lab::store::{State, Store};
use gardenpath_lab::sweep::collect::Format;
use gardenpath_lab::sweep::estimate::{self, Cost};
use gardenpath_lab::sweep::status::Status;
use gardenpath_lab::sweep::{self, Event, Shard};
use gardenpath_lab::training::Device;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// The subcommands of `sweep`.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Measure missing cells.
    Run(Run),
    /// Measure missing cells on a cluster.
    Submit(Submit),
    /// Show the progress of a sweep, and failures.
    Status(Which),
    /// Write all results to one file: Parquet, CSV or JSON lines.
    Collect(Collect),
    /// Fit the results, with 95% intervals over seeds.
    Fit(analyse::Fit),
    /// Compare the fits with the experiment's claims.
    Judge(analyse::Judge),
    /// Draw the panels of the experiment.
    Plot(analyse::Plot),
    /// List the measures with their parameters.
    Measures(measures::Arguments),
}

/// Experiment, store and scale.
#[derive(Args, Debug)]
pub struct Which {
    /// The experiment: a file (.toml), or the name of a built-in one
    #[arg(value_name = "EXPERIMENT")]
    experiment: PathBuf,
    /// Directory of the results; sweeps can share one
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Scale of the experiment, if it has several [default: quick, or the only one]
    #[arg(long, value_name = "NAME")]
    scale: Option<Scale>,
}

/// The arguments of `sweep run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each result is stored in its own file, named after the parameters of its cell. A sweep that was killed \
measures only what is missing when it is started again. Any number of processes and machines can share a store; each starts with cells that no other works on. With --json, \
each cell is printed as a line once it is stored.

Examples:
  gardenpath sweep run transition --store results
  gardenpath sweep run transition --store results --shard 2/4
  gardenpath sweep run cnn --store results --scale full --dry-run")]
pub struct Run {
    #[command(flatten)]
    which: Which,
    /// Measure only part I of N of the cells
    #[arg(long, value_name = "I/N", default_value = "1/1", hide_default_value = true)]
    shard: Shard,
    /// Skip cells that failed before
    #[arg(long)]
    skip_failed: bool,
    /// Measure only the cells for this device
    #[arg(long, value_parser = choice::<Device>(), value_name = "DEVICE")]
    only: Option<Device>,
    /// Only estimate the cost of missing cells: times tiny cells and writes nothing
    #[arg(long)]
    dry_run: bool,
}

/// The arguments of `sweep submit`.
#[derive(Args, Debug)]
#[command(after_help = "\
Submits a job array of workers and follows it. Tasks that are cancelled, time out or lose their node are resubmitted \
until no cell is missing; failed cells are not retried. Ctrl-C leaves the array running, and the same command \
follows it again. The job script and the tasks' output are in DIR/slurm. A task whose cells need a GPU requests one. \
Options after -- are passed to sbatch.

Examples:
  gardenpath sweep submit transition --store results --slurm --scale full --time 4:00:00
  gardenpath sweep submit transition --store results --slurm --array-size 64 --detach
  gardenpath sweep submit gpu.toml --store results --slurm --partition gpu --account lab -- --mail-type=END")]
pub struct Submit {
    #[command(flatten)]
    which: Which,
    /// Submit to Slurm
    #[arg(long)]
    slurm: bool,
    #[command(flatten)]
    settings: Settings,
    /// Measure only the cells for this device
    #[arg(long, value_parser = choice::<Device>(), value_name = "DEVICE")]
    only: Option<Device>,
    /// Submit once, print the job ID and return
    #[arg(long)]
    detach: bool,
}

/// The arguments of `sweep collect`.
#[derive(Args, Debug)]
#[command(after_help = "\
One row per cell, one column per parameter and result; lists are JSON in CSV. \
If cells have no result, or a damaged one, nothing is written and the exit code is 1; --partial writes the others.

Examples:
  gardenpath sweep collect transition --store results -o results.parquet
  gardenpath sweep collect transition --store results -o results.csv --partial")]
pub struct Collect {
    #[command(flatten)]
    which: Which,
    /// File to write (.parquet, .csv or .jsonl)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write the available results even if some are missing
    #[arg(long)]
    partial: bool,
}

/// Runs the command.
pub fn run(command: &Command, answer: &mut Answer) -> Result<()> {
    match command {
        Command::Run(arguments) => measure(arguments, answer),
        Command::Submit(arguments) => submit(arguments, answer),
        Command::Status(which) => status(which, answer),
        Command::Collect(arguments) => collect(arguments, answer),
        Command::Fit(arguments) => analyse::fit(arguments, answer),
        Command::Judge(arguments) => analyse::judge(arguments, answer),
        Command::Plot(arguments) => analyse::plot(arguments, answer),
        Command::Measures(arguments) => measures::run(arguments, answer),
    }
}

impl Which {
    fn read(&self) -> Result<Chosen> {
        let source = Source::find(&self.experiment)?;
        let experiment = source.read()?;
        let scale = experiment.scale(self.scale.as_ref())?;
        let cells = experiment.cells(&scale)?;
        Ok(Chosen { source, experiment, scale, cells })
    }

    fn cells(&self, only: Option<Device>) -> Result<Vec<Measure>> {
        let mut cells = self.read()?.cells;
        keep(&mut cells, only);
        Ok(cells)
    }
}

/// An experiment at one scale.
struct Chosen {
    source: Source,
    experiment: Experiment,
    scale: Scale,
    cells: Vec<Measure>,
}

/// Keeps only the cells for one device.
fn keep(cells: &mut Vec<Measure>, only: Option<Device>) {
    cells.retain(|cell| only.is_none_or(|device| (device == Device::Gpu) == sweep::uses_gpu(cell)));
}

fn measure(arguments: &Run, answer: &mut Answer) -> Result<()> {
    let cells = arguments.which.cells(arguments.only)?;
    if arguments.dry_run {
        let own: Vec<Measure> = arguments.shard.of(&cells).into_iter().cloned().collect();
        return show(&Status::with_estimate(&own, &Store::at(&arguments.which.store)), answer);
    }
    let store = Store::open(&arguments.which.store)?;
    let mut own = arguments.shard.of(&cells);
    own.retain(|cell| !arguments.skip_failed || store.state(cell) != State::Failed);
    let last_word = {
        let (cells, store) = (own.iter().map(|&cell| cell.clone()).collect::<Vec<_>>(), store.clone());
        move || sweep::interrupted(&cells, &store)
    };
    let bar = progress::bar(own.len() as u64, "measuring");
    let bar = if answer.json { progress::beside_results(bar) } else { bar };
    let (mut found, mut done, mut failed) = (0, 0, 0);
    let mut report = |event: Event<'_>| {
        let (cell, event, error) = match event {
            Event::Damaged(_, text) => {
                bar.suspend(|| progress::note(&format!("{text}; measuring it again")));
                return Ok(());
            }
            Event::Found(_) => {
                bar.inc(1);
                found += 1;
                return Ok(());
            }
            Event::Done(cell) => {
                done += 1;
                (cell, "measured", None)
            }
            Event::Failed(cell, error) => {
                failed += 1;
                bar.suspend(|| progress::note(&format!("failed: {error} ({})", shown(&cell.parameters()))));
                (cell, "failed", Some(error))
            }
        };
        bar.inc(1);
        if answer.json {
            answer.json_line(&json!({"cell": cell.identity(), "event": event, "error": error}))?;
            answer.out.flush()?;
        }
        Ok(())
    };
    interruptible(last_word, || sweep::run(&own, &store, rayon::current_num_threads(), &mut report))?;
    bar.finish_and_clear();
    if answer.json {
        answer.json_line(&json!({"cells": own.len(), "found": found, "measured": done, "failed": failed}))?;
    } else {
        let cells = counted(own.len(), "cell");
        answer.text(&format!("{cells}: {found} found, {done} measured, {failed} failed\n"))?;
    }
    Ok(sweep::refuse_failures(failed, own.len())?)
}

fn submit(arguments: &Submit, answer: &mut Answer) -> Result<()> {
    let Submit { which, settings, .. } = arguments;
    if !arguments.slurm {
        bail!("expected --slurm, the only supported scheduler");
    }
    settings.check()?;
    let Chosen { source, experiment, scale, mut cells } = which.read()?;
    keep(&mut cells, arguments.only);
    let store = Store::open(&which.store)?;
    let has_scales = !experiment.scale_names().is_empty();
    let sweep = Sweep { source: &source, scale: &scale, has_scales, only: arguments.only, cells: &cells };
    let slurm = Slurm::new(sweep, &which.store, &store, settings)?;
    let (totals, arrays) = match slurm.run(arguments.detach)? {
        Ending::Finished { totals, arrays } => (totals, arrays),
        Ending::Detached(job) if answer.json => return answer.json_line(&json!({"job": job})),
        Ending::Detached(job) => return answer.text(&format!("{job}\n")),
        Ending::Interrupted(job) => {
            let resume =
                format!("array {job} keeps running; the same command follows it again, scancel {job} stops it");
            return Err(Interrupted(resume).into());
        }
    };
    let Totals { done, failed, missing } = totals;
    if answer.json {
        let all = cells.len();
        answer
            .json_line(&json!({"cells": all, "done": done, "failed": failed, "missing": missing, "arrays": arrays}))?;
    } else {
        let all = counted(cells.len(), "cell");
        answer.text(&format!("{all}: {done} done, {failed} failed, {missing} missing; arrays: {arrays}\n"))?;
    }
    if missing > 0 {
        let place = which.store.join("slurm");
        let said = format!("the output of the tasks is in {}", place.display());
        return Err(Incomplete(format!("{missing} of {} cells are missing; {said}", cells.len())).into());
    }
    Ok(sweep::refuse_failures(failed, cells.len())?)
}

fn status(which: &Which, answer: &mut Answer) -> Result<()> {
    let cells = which.cells(None)?;
    let store = Store::existing(&which.store)?;
    show(&Status::with_estimate(&cells, &store), answer)
}

fn show(status: &Status, answer: &mut Answer) -> Result<()> {
    status.damaged.iter().for_each(|text| progress::note(text));
    if answer.json {
        return answer.json_line(status);
    }
    let mut table = Table::new(["done", "running", "failed", "missing", "time left"]);
    let threads = rayon::current_num_threads();
    let left = match status.seconds_left {
        None | Some(0.0) => "–".to_owned(),
        Some(seconds) => format!("{} on {threads} threads", duration(seconds / threads as f64)),
    };
    let [done, running, failed, missing] =
        [status.done, status.running, status.failed, status.missing].map(|count| grouped(count as u64));
    table.row([done, running, failed, missing, left]);
    let mut text = table.to_string();
    if let Some(cost) = status.cost.filter(|cost| *cost != Cost::default()) {
        text += &format!("{}\n", estimate::shown(&cost));
    }
    for failure in &status.failures {
        text += &format!("failed: {} ({})\n", failure.error, shown(&failure.parameters));
    }
    answer.text(&text)
}

fn collect(arguments: &Collect, answer: &mut Answer) -> Result<()> {
    Format::of(&arguments.output)?;
    let Chosen { source, scale, cells, .. } = arguments.which.read()?;
    let store = Store::existing(&arguments.which.store)?;
    let Loaded { table, missing, damaged, .. } = analysis::load(&cells, &store)?;
    damaged.iter().for_each(|text| progress::note(text));
    if missing > 0 && (!arguments.partial || table.is_empty()) {
        let remedy = "'sweep run' measures them, --partial collects the others";
        return Err(Incomplete(format!("{missing} of {} cells have no result: {remedy}", cells.len())).into());
    }
    sweep::collect::write(&table, &arguments.output, &source.name(), &scale)?;
    if missing > 0 {
        progress::note(&format!("{missing} of {} cells have no result yet", cells.len()));
    }
    if answer.json {
        return answer.json_line(&json!({"rows": table.len(), "missing": missing}));
    }
    answer.text(&format!("{} rows in {}\n", grouped(table.len() as u64), arguments.output.display()))
}

/// Parameters on one line.
fn shown(parameters: &Map<String, Value>) -> String {
    let pair = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name} {text}"),
        other => format!("{name} {other}"),
    };
    parameters.iter().map(pair).collect::<Vec<_>>().join(", ")
}
