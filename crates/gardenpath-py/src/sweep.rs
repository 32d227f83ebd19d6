//! Cells and stores, with the same files and results as the program.

use crate::corpus::PyCorpus;
use crate::error::{OrFileError, OrValueError, value_error};
use crate::grammar::PyGrammar;
use crate::interrupt::{self, PATIENCE};
use crate::measures::measures;
use crate::numbers::natural;
use gardenpath::interrupt::obey;
use gardenpath_lab::measure::{Measure, Sentences};
use gardenpath_lab::message::one_line;
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

/// One cell of a sweep: a measure with all its parameters.
#[pyclass(frozen, name = "Cell", module = "gardenpath")]
pub struct PyCell {
    pub cell: Arc<Measure>,
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
        let cell = measures()?.find(&measure).and_then(|found| found.cell(values));
        Ok(PyCell { cell: Arc::new(cell.or_value_error()?) })
    }

    /// The identity of the cell: a hash of its parameters and of the version of its measure.
    #[getter]
    fn identity(&self) -> String {
        self.cell.identity()
    }

    /// All parameters, including `measure`.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json(py, &self.cell.parameters())
    }

    /// Whether Python measures it: with a user-defined function, or with PyTorch.
    #[getter]
    fn _needs_python(&self) -> bool {
        self.cell.needs_python().is_some()
    }

    /// Its sentences.
    fn _task(&self, py: Python<'_>) -> PyResult<PyTask> {
        let sentences = interrupt::run(py, || self.cell.sentences())?.or_value_error()?;
        Ok(PyTask { cell: self.cell.clone(), sentences })
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

/// A directory of results, shared with `gardenpath sweep` and any number of other processes. It is created if it does
/// not exist.
#[pyclass(frozen, name = "Store", module = "gardenpath")]
pub struct PyStore {
    pub store: Arc<Store>,
}

#[pymethods]
impl PyStore {
    #[new]
    fn new(directory: PathBuf) -> PyResult<Self> {
        Ok(PyStore { store: Arc::new(Store::open(&directory).or_file_error()?) })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().store.directory() == self.store.directory())
    }

    fn __getnewargs__(&self) -> (PathBuf,) {
        (self.store.directory().to_owned(),)
    }

    fn __repr__(&self) -> String {
        format!("<Store in {}>", self.store.directory().display())
    }

    /// The state of a cell: done, running, failed or missing.
    fn state(&self, cell: &Bound<'_, PyCell>) -> &'static str {
        match self.store.state(&cell.get().cell) {
            State::Done => "done",
            State::Running => "running",
            State::Failed => "failed",
            State::Missing => "missing",
        }
    }

    /// The parameters and result of a cell, or None if it has none yet. A damaged file is a ValueError.
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

    /// Marks a cell as being measured; returns False if another worker holds it.
    fn _claim(&self, cell: &Bound<'_, PyCell>) -> bool {
        self.store.claim(&cell.get().cell)
    }

    /// Renews the mark of a cell.
    fn _renew(&self, cell: &Bound<'_, PyCell>) {
        self.store.renew(&cell.get().cell);
    }

    /// Removes the mark of a cell.
    fn _release(&self, cell: &Bound<'_, PyCell>) {
        self.store.release(&cell.get().cell);
    }

    /// Stores a result measured by Python, given as JSON, with the values derived from it.
    fn _keep(&self, py: Python<'_>, task: &Bound<'_, PyTask>, result: &str, seconds: f64) -> PyResult<()> {
        let PyTask { cell, sentences } = task.get();
        let result: Map<String, Value> = serde_json::from_str(result).or_value_error()?;
        let complete = interrupt::run(py, || cell.complete(result, sentences))?.or_value_error()?;
        self.store.write(cell, &complete, seconds).or_file_error()
    }

    /// Stores the reason for a failure.
    fn _fail(&self, cell: &Bound<'_, PyCell>, error: &str) -> PyResult<()> {
        self.store.write_failure(&cell.get().cell, &one_line(error)).or_file_error()
    }

    /// Measures missing cells on this many threads and stores their results; failures are recorded. `report` is called
    /// with each cell and "found", "measured" or "failed". A damaged file causes a warning, and its cell is measured
    /// again.
    ///
    /// At Ctrl-C, or if `report` raises an exception, running cells are abandoned and stay missing; finished ones are
    /// stored. A second Ctrl-C does not wait for them.
    #[pyo3(signature = (cells, *, threads=1, report=None))]
    fn measure(
        &self,
        py: Python<'_>,
        cells: Vec<Bound<'_, PyCell>>,
        #[pyo3(from_py_with = natural)] threads: usize,
        report: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let cells: Vec<Arc<Measure>> = cells.iter().map(|cell| cell.get().cell.clone()).collect();
        let (store, names) = (self.store.clone(), cells.clone());
        let (sender, mut events) = mpsc::channel();
        // A leaked byte, for workers that outlive the call.
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
                // Once the call has ended, the channel is closed, and the sweep ends too.
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
                    let text = CString::new(format!("{text}; measuring it again")).or_value_error()?;
                    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)
                }
            }
        };
        let mut outcome = Ok(());
        loop {
            let heard = &mut events;
            match py.detach(move || heard.recv_timeout(PATIENCE)) {
                Ok(event) if outcome.is_ok() => outcome = pass_on(event),
                // Other cells finished meanwhile.
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if outcome.is_ok() => outcome = py.check_signals(),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return outcome,
            }
            stop.store(outcome.is_err(), Ordering::Relaxed);
        }
    }
}

/// A cell that Python measures, with its sentences.
#[pyclass(frozen, name = "_Task", module = "gardenpath._core")]
pub struct PyTask {
    cell: Arc<Measure>,
    sentences: Sentences,
}

#[pymethods]
impl PyTask {
    /// The grammar of the sentences.
    #[getter]
    fn grammar(&self) -> PyGrammar {
        self.sentences.grammar.clone().into()
    }

    /// The training sentences.
    #[getter]
    fn train(&self) -> PyCorpus {
        PyCorpus::of(self.sentences.train.clone(), &self.sentences.grammar)
    }

    /// The test sentences.
    #[getter]
    fn test(&self) -> PyCorpus {
        PyCorpus::of(self.sentences.test.clone(), &self.sentences.grammar)
    }
}

/// A message from a sweep.
enum News {
    /// A cell, and what happened to it.
    Event(usize, &'static str),
    /// What is wrong with the file of a cell, which is measured again.
    Damaged(String),
}

pub fn from_json<'py>(py: Python<'py>, values: &Map<String, Value>) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (serde_json::to_string(values).or_value_error()?,))
}
