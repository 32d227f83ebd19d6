//! `train`: trains a network on the sentences of a grammar, with the results and files of `gardenpath train`.

use crate::error::{OrFileError, OrValueError, value_error};
use crate::grammar::PyGrammar;
use crate::interrupt::{self, Caller};
use crate::numbers::{natural, optional};
use crate::run::PyRun;
use gardenpath_lab::choice::Choice;
use gardenpath_lab::training::choices::Choices;
use gardenpath_lab::training::report::Report;
use gardenpath_lab::training::run_directory::RunDirectory;
use gardenpath_lab::training::session::{Session, Trained};
use gardenpath_lab::training::{Device, Outcome, Recipe};
use gardenpath_nn::train::{Event, Record, Settings};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The time between progress reports.
const INTERVAL: Duration = Duration::from_millis(100);

/// The progress of training: the step, the step at which it ends without further improvement, and a new measurement.
struct News(u64, u64, Option<Record>);

/// Trains a network; see `gardenpath.train` for the arguments. `report` is called regularly with the step, the step at
/// which training ends without further improvement, and a new measurement or None.
#[pyfunction]
#[pyo3(signature = (grammar, model, samples, test, width, seed, batch, max_steps, min_steps, patience, optimizer, learning_rate, normalization,
                    layers, heads, mlp, task, mask, output, report))]
#[allow(clippy::too_many_arguments)]
pub fn _train(
    py: Python<'_>,
    grammar: &Bound<'_, PyGrammar>,
    model: &str,
    #[pyo3(from_py_with = natural)] samples: u64,
    #[pyo3(from_py_with = natural)] test: u64,
    #[pyo3(from_py_with = natural)] width: usize,
    #[pyo3(from_py_with = natural)] seed: u64,
    #[pyo3(from_py_with = natural)] batch: usize,
    #[pyo3(from_py_with = natural)] max_steps: u64,
    #[pyo3(from_py_with = natural)] min_steps: u64,
    patience: f64,
    optimizer: Option<&str>,
    learning_rate: Option<f64>,
    normalization: Option<&str>,
    #[pyo3(from_py_with = optional)] layers: Option<usize>,
    #[pyo3(from_py_with = optional)] heads: Option<usize>,
    #[pyo3(from_py_with = optional)] mlp: Option<usize>,
    task: &str,
    mask: Option<f64>,
    output: Option<PathBuf>,
    report: Option<Py<PyAny>>,
) -> PyResult<PyRun> {
    let choices = Choices {
        model: chosen("model", model)?,
        task: chosen("task", task)?,
        width,
        samples,
        test,
        seed,
        settings: Settings { batch, max_steps, min_steps, patience, mask },
        optimizer: optimizer.map(|name| chosen("optimizer", name)).transpose()?,
        learning_rate,
        normalization: normalization.map(|name| chosen("normalization", name)).transpose()?,
        layers,
        heads,
        mlp,
    };
    let grammar = grammar.get().grammar.clone();
    let recipe = choices.recipe(grammar.depth(), &str::to_owned).or_value_error()?;
    let network = recipe.network(&grammar).or_value_error()?;
    let prepare = |path: &PathBuf| RunDirectory::prepare(path, &recipe, Some(&grammar));
    let directory = output.as_ref().map(prepare).transpose().or_file_error()?;
    if let Some(directory) = &directory
        && directory.result().or_file_error()?.is_some()
    {
        return PyRun::open(directory, recipe, Some(grammar)).or_file_error();
    }
    let clock = Instant::now();
    let data = interrupt::run(py, || recipe.data(&grammar))?.or_value_error()?;
    let session =
        Session { recipe: &recipe, network: &network, data: &data, device: Device::Cpu, directory: directory.as_ref() };
    let trained = watch(py, &session, report)?;
    let outcome = Outcome::new(&network, &data, &trained.progress);
    if let Some(directory) = &directory {
        let report = Report::<()> {
            recipe: &recipe,
            vocab: grammar.vocab(),
            depth: grammar.depth(),
            fraction: None,
            effective_fractions: None,
            weights: network.parameters().iter().map(|parameter| parameter.len()).sum(),
            device: Device::Cpu.name(),
            outcome: outcome.clone(),
            seconds: clock.elapsed().as_secs_f64(),
        };
        let save = || report.save(directory, &trained.progress.records, &network);
        interrupt::brief(py, save)?.or_file_error()?;
    }
    Ok(PyRun::new(recipe, Some(grammar), network, outcome, trained.progress.records, trained.best))
}

/// Trains to the end. Ctrl-C, or an exception in `report`, saves the run and stops.
fn watch(py: Python<'_>, session: &Session<'_>, report: Option<Py<PyAny>>) -> PyResult<Trained> {
    let work = |caller: &Caller<'_, News>| {
        let mut shown = Instant::now();
        session.train(&mut |event, trainer| {
            let record = if let Event::Measured { record, .. } = event { Some(*record) } else { None };
            if record.is_some() || shown.elapsed() > INTERVAL {
                shown = Instant::now();
                caller.tell(News(trainer.progress().step, trainer.last_step(), record));
            }
            caller.wants_to_leave()
        })
    };
    let hear = |News(step, last, record): News| match &report {
        None => Ok(()),
        Some(report) => {
            let values = |r: Record| (r.step, r.epoch, r.train_loss, r.test_loss, r.test_accuracy);
            report.call1(py, (step, last, record.map(values))).map(drop)
        }
    };
    interrupt::watched(py, true, work, hear)?.or_file_error()
}

/// The value with this name.
fn chosen<C: Choice>(what: &str, name: &str) -> PyResult<C> {
    let unknown = || value_error(format!("{what} is {name}, expected {}", C::names().join(" or ")));
    C::parse(name).ok_or_else(unknown)
}

/// Opens the directory of a finished run.
pub fn open(path: PathBuf) -> anyhow::Result<PyRun> {
    let (directory, recipe, grammar): (_, Recipe, _) = RunDirectory::open(&path)?;
    if directory.result()?.is_none() {
        anyhow::bail!("{}: the run has not finished; train resumes it", path.display());
    }
    PyRun::open(&directory, recipe, grammar.map(Into::into))
}
