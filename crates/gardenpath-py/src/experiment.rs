//! `Experiment`: a measure on a grid of parameters, and its analysis.

use crate::analysis::PyResults;
use crate::error::{OrFileError, OrValueError, value_error};
use crate::interrupt;
use crate::measures::measures;
use crate::sweep::PyCell;
use gardenpath_lab::experiment::{Experiment, Scale, Source};
use gardenpath_lab::files::SystemError;
use gardenpath_lab::store::Store;
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

/// An experiment: a measure on a grid of parameters, in the format of the TOML files in `experiments/`.
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
#[derive(Clone)]
pub struct PyExperiment {
    pub experiment: Arc<Experiment>,
    /// The pickled state: the constructor and its argument.
    kept: (&'static str, String),
}

impl PyExperiment {
    /// An experiment created by the constructor `maker` from a text.
    fn new(experiment: Experiment, maker: &'static str, text: String) -> Self {
        PyExperiment { experiment: Arc::new(experiment), kept: (maker, text) }
    }

    /// The scale with this name, or the default.
    fn scale(&self, name: Option<&str>) -> PyResult<Scale> {
        let parse = |name: &str| name.parse().map_err(|error| value_error(format!("scale is {name}: {error}")));
        let asked: Option<Scale> = name.map(parse).transpose()?;
        match asked {
            // An experiment with a single grid accepts any scale.
            Some(scale) => Ok(scale),
            None => self
                .experiment
                .scale(None)
                .map_err(|error| value_error(format!("{error:#}").replace("--scale", "scale"))),
        }
    }
}

#[pymethods]
impl PyExperiment {
    /// Loads an experiment: a TOML file, or a built-in one by name, such as "cnn".
    ///
    /// >>> import gardenpath
    /// >>> gardenpath.Experiment.load("transition").measures
    /// ['entropy']
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let source = Source::find(&path).or_file_error()?;
        let experiment = source.read_with(&measures()?).or_file_error()?;
        match &source {
            // An experiment that uses others is pickled by its path.
            Source::File(path) if experiment.used().next().is_none() => {
                Ok(PyExperiment::new(experiment, "parse", std::fs::read_to_string(path)?))
            }
            _ => {
                let argument = source.argument().or_file_error()?;
                Ok(PyExperiment::new(experiment, "load", argument.to_string_lossy().into_owned()))
            }
        }
    }

    /// Reads an experiment from a TOML file.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        // A built-in name is not a file.
        std::fs::metadata(&path).map_err(|error| SystemError::about(path.display(), error)).or_file_error()?;
        Self::load(path)
    }

    /// Parses an experiment from TOML text.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        let experiment = Experiment::parse_with(text, &measures()?).or_value_error()?;
        Ok(PyExperiment::new(experiment, "parse", text.to_owned()))
    }

    /// The names of its measures, including those of the experiments it uses.
    #[getter]
    fn measures(&self) -> Vec<&str> {
        self.experiment.measures().into_iter().map(|measure| &*measure.name).collect()
    }

    /// The names of its scales; empty if it has a single grid.
    #[getter]
    fn scales(&self) -> Vec<&str> {
        self.experiment.scale_names()
    }

    /// What the result should show.
    #[getter]
    fn expects(&self) -> &str {
        &self.experiment.expects
    }

    /// The cells of a scale; by default quick, or the only one. An experiment with a single grid accepts any scale.
    #[pyo3(signature = (scale=None))]
    fn cells(&self, scale: Option<&str>) -> PyResult<Vec<PyCell>> {
        let cells = self.experiment.cells(&self.scale(scale)?).or_value_error()?;
        Ok(cells.into_iter().map(|cell| PyCell { cell: Arc::new(cell) }).collect())
    }

    /// Measures the cells missing in a store, like `sweep`, and returns all results.
    ///
    /// >>> import gardenpath, tempfile
    /// >>> experiment = gardenpath.Experiment.parse('''
    /// ... measure = "entropy"
    /// ... [[grid]]
    /// ... vocab = [4, 8]
    /// ... depth = 2
    /// ... fraction = [0.25, 0.5, 1.0]
    /// ... sentences = 100
    /// ... seed = "1..5"
    /// ... [[fit]]
    /// ... name = "ambiguous"
    /// ... kind = "mean"
    /// ... of = "normalized"
    /// ... groups = ["vocab"]
    /// ... where = { fraction = "largest" }
    /// ... ''')
    /// >>> results = experiment.run(tempfile.mkdtemp())
    /// >>> results.records()["fraction"][:3]
    /// array([0.25, 0.25, 0.25])
    /// >>> [(fit.group, fit.seeds) for fit in results.fit()]
    /// [({'vocab': 4}, 5), ({'vocab': 8}, 5)]
    #[pyo3(signature = (store, executor=None, *, scale=None, batch=None, progress=None), text_signature = "($self, store, executor=None, *, scale=None, batch=1, progress=None)")]
    fn run<'py>(
        this: &Bound<'py, Self>,
        store: PathBuf,
        executor: Option<&Bound<'py, PyAny>>,
        scale: Option<&str>,
        batch: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PyResults> {
        let py = this.py();
        let options = PyDict::new(py);
        options.set_item("scale", scale)?;
        if let Some(batch) = batch {
            options.set_item("batch", batch)?;
        }
        options.set_item("progress", progress)?;
        py.import("gardenpath._sweep")?.getattr("sweep")?.call((this, &store, executor), Some(&options))?;
        this.get().results(py, store, scale)
    }

    /// The results in a store; `missing` counts the others.
    #[pyo3(signature = (store, *, scale=None))]
    fn results(&self, py: Python<'_>, store: PathBuf, scale: Option<&str>) -> PyResult<PyResults> {
        let cells = self.experiment.cells(&self.scale(scale)?).or_value_error()?;
        let store = Store::existing(&store).or_file_error()?;
        let results = interrupt::run(py, || PyResults::load(self.clone(), cells, &store))?;
        let (results, damaged) = results.or_file_error()?;
        for text in damaged {
            let text = CString::new(text).or_value_error()?;
            PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1)?;
        }
        Ok(results)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().experiment == self.experiment)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&str,))> {
        Ok((py.get_type::<Self>().getattr(self.kept.0)?, (&self.kept.1,)))
    }

    fn __repr__(&self) -> String {
        format!("<Experiment: {}>", self.experiment.expects)
    }
}
