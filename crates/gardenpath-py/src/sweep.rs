//! Experiments, their cells and stores: the same files and results as those of the program.

use crate::error::{OrFileError, OrValueError, value_error};
use crate::interrupt::PATIENCE;
use gardenpath::interrupt::obey;
use gardenpath_lab::experiment::{Experiment, Scale};
use gardenpath_lab::measure::Measure;
use gardenpath_lab::record::Record;
use gardenpath_lab::store::{State, Store};
use gardenpath_lab::sweep::{self, Event};
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

/// An experiment: a measure on a grid of parameters, as the TOML files in `experiments/` describe it.
///
/// >>> import gardenpath
/// >>> experiment = gardenpath.Experiment.parse('''
/// ... measure = "entropy"
/// ... expects = "Ambiguity grows with the fraction of grammatical tuples."
/// ... [[grid]]
/// ... vocab = 8
/// ... depth = 2
/// ... fraction = [0.25, 0.5]
/// ... sentences = 200
/// ... seed = "1..3"
/// ... ''')
/// >>> len(experiment.cells())
/// 6
#[pyclass(frozen, name = "Experiment", module = "gardenpath")]
pub struct PyExperiment {
    experiment: Experiment,
}

#[pymethods]
impl PyExperiment {
    /// Reads an experiment from a TOML file.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        Ok(PyExperiment { experiment: Experiment::read(&path).or_file_error()? })
    }

    /// Reads an experiment from the text of a TOML file.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        Ok(PyExperiment { experiment: Experiment::parse(text).or_value_error()? })
    }

    /// What the result should show.
    #[getter]
    fn expects(&self) -> &str {
        &self.experiment.expects
    }

    /// The cells of a scale; an experiment with a single grid has the same for all.
    #[pyo3(signature = (scale="quick"))]
    fn cells(&self, scale: &str) -> PyResult<Vec<PyCell>> {
        let scale: Scale = scale.parse().map_err(|error| value_error(format!("scale is {scale}: {error}")))?;
        let cells = self.experiment.cells(&scale).or_value_error()?;
        Ok(cells.into_iter().map(|cell| PyCell { cell: Arc::new(cell) }).collect())
    }

    fn __repr__(&self) -> String {
        format!("<Experiment: {}>", self.experiment.expects)
    }
}

/// One cell of a sweep: a measure with all its parameters.
#[pyclass(frozen, name = "Cell", module = "gardenpath")]
pub struct PyCell {
    cell: Arc<Measure>,
}

#[pymethods]
impl PyCell {
    /// A cell from its parameters as JSON.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let mut values: Map<String, Value> = serde_json::from_str(text).or_value_error()?;
        let Some(Value::String(measure)) = values.remove("measure") else {
            return Err(value_error("a cell has no measure"));
        };
        Ok(PyCell { cell: Arc::new(Measure::new(&measure, values).or_value_error()?) })
    }

    /// The name of the cell: a hash of its parameters and of the version of the code that the result depends on.
    #[getter]
    fn identity(&self) -> String {
        self.cell.identity()
    }

    /// All parameters, `measure` among them.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.cell.parameters())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().cell == self.cell)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let maker = py.get_type::<Self>().getattr("from_json")?;
        Ok((maker, (Value::Object(self.cell.parameters()).to_string(),)))
    }

    fn __repr__(&self) -> String {
        format!("<Cell {}>", Value::Object(self.cell.parameters()))
    }
}

/// A directory of results, shared with `gardenpath sweep` and with any number of other processes. It is made if it does not exist.
#[pyclass(frozen, name = "Store", module = "gardenpath")]
pub struct PyStore {
    store: Arc<Store>,
}

#[pymethods]
impl PyStore {
    #[new]
    fn new(directory: PathBuf) -> PyResult<Self> {
        Ok(PyStore { store: Arc::new(Store::open(&directory).or_file_error()?) })
    }

    fn __repr__(&self) -> String {
        format!("<Store in {}>", self.store.directory().display())
    }

    /// What is known of a cell: done, running, failed or missing.
    fn state(&self, cell: &Bound<'_, PyCell>) -> &'static str {
        match self.store.state(&cell.get().cell) {
            State::Done => "done",
            State::Running => "running",
            State::Failed => "failed",
            State::Missing => "missing",
        }
    }

    /// Parameters and results of a cell, or None if it has none yet. A damaged file is a ValueError.
    fn read<'py>(&self, py: Python<'py>, cell: &Bound<'_, PyCell>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let record = self.store.read(&cell.get().cell).or_file_error()?;
        let joined = |Record { mut parameters, result }: Record| {
            parameters.extend(result);
            from_json(py, &parameters)
        };
        record.map(joined).transpose()
    }

    /// Why a cell failed, or None if it did not.
    fn failure(&self, cell: &Bound<'_, PyCell>) -> Option<String> {
        self.store.failure(&cell.get().cell).map(|failure| failure.error)
    }

    /// Measures the cells that are missing, on so many threads, and stores their results; a cell that fails is recorded. `report` is
    /// called with each cell and "found", "measured" or "failed". A damaged file is named in a warning, and its cell is measured again.
    ///
    /// At Ctrl-C, or if `report` raises an exception, the cells at work are left and remain missing; what was finished is stored. A second
    /// Ctrl-C does not wait for them.
    #[pyo3(signature = (cells, *, threads=1, report=None))]
    fn measure(
        &self,
        py: Python<'_>,
        cells: Vec<Bound<'_, PyCell>>,
        threads: usize,
        report: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let cells: Vec<Arc<Measure>> = cells.iter().map(|cell| cell.get().cell.clone()).collect();
        let (store, names) = (self.store.clone(), cells.clone());
        let (sender, mut events) = mpsc::channel();
        // One byte, for workers that nobody waits for.
        let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        thread::spawn(move || {
            obey(stop);
            let borrowed: Vec<&Measure> = cells.iter().map(|cell| &**cell).collect();
            let numbers: HashMap<*const Measure, usize> =
                borrowed.iter().enumerate().map(|(number, cell)| (std::ptr::from_ref(*cell), number)).collect();
            let mut pass_on = |event: Event<'_>| {
                let number = |cell: &Measure| numbers[&std::ptr::from_ref(cell)];
                let news = match event {
                    Event::Found(cell) => News::Event(number(cell), "found"),
                    Event::Done(cell) => News::Event(number(cell), "measured"),
                    Event::Failed(cell, _) => News::Event(number(cell), "failed"),
                    Event::Damaged(_, text) => News::Damaged(text),
                };
                // Nobody listens any more once the call has ended, and the sweep ends too.
                sender.send(Ok(news)).map_err(|_| anyhow::anyhow!("interrupted"))
            };
            if let Err(error) = sweep::run(&borrowed, &store, threads.max(1), &mut pass_on) {
                let _ = sender.send(Err(error));
            }
        });
        let pass_on = |news: anyhow::Result<News>| -> PyResult<()> {
            match (news.or_value_error()?, report) {
                (News::Event(number, event), Some(report)) => {
                    report.call1((PyCell { cell: names[number].clone() }, event)).map(drop)
                }
                (News::Event(..), None) => Ok(()),
                (News::Damaged(text), _) => {
                    let text = CString::new(format!("{text}; it is measured again")).or_value_error()?;
                    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)
                }
            }
        };
        let mut outcome = Ok(());
        loop {
            let heard = &mut events;
            match py.detach(move || heard.recv_timeout(PATIENCE)) {
                Ok(event) if outcome.is_ok() => outcome = pass_on(event),
                // Other cells ended meanwhile.
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if outcome.is_ok() => outcome = py.check_signals(),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return outcome,
            }
            stop.store(outcome.is_err(), Ordering::Relaxed);
        }
    }
}

/// What a sweep says about its cells.
enum News {
    /// Which cell, and what happened to it.
    Event(usize, &'static str),
    /// What is wrong with the file of a cell, which is measured again.
    Damaged(String),
}

fn from_json<'py>(py: Python<'py>, values: &Map<String, Value>) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (serde_json::to_string(values).or_value_error()?,))
}
