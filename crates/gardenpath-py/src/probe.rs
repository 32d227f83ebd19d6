//! `Probe`: which hidden layer of a network encodes which level of the tree.

use crate::error::OrValueError;
use gardenpath_nn::probe::ProbeReport;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

/// The probes of a network's hidden layers: see `Run.probe`.
#[pyclass(frozen, name = "Probe", module = "gardenpath")]
pub struct PyProbe {
    report: ProbeReport,
}

impl PyProbe {
    pub fn new(report: ProbeReport) -> Self {
        PyProbe { report }
    }
}

#[pymethods]
impl PyProbe {
    /// The hidden layers, from the tokens up.
    #[getter]
    fn layers(&self) -> Vec<String> {
        self.report.layers.clone()
    }

    /// The levels of the tree, from the root (0) down to the one above the tokens.
    #[getter]
    fn levels(&self) -> Vec<usize> {
        self.report.levels.iter().map(|level| level.level).collect()
    }

    /// The accuracy of always predicting the most common symbol, by level.
    #[getter]
    fn chance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.report.levels.iter().map(|level| level.chance))
    }

    /// `[layer, level]`: the accuracy of a linear probe of the layer.
    #[getter]
    fn accuracy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        PyArray2::from_vec2(py, &self.report.accuracy).or_value_error()
    }

    /// `[layer, level]`: how far the layer moves when the synonyms of the level are exchanged, relative to an unrelated
    /// sentence: 1 is as far, 0 not at all. NaN if the layer never moves.
    #[getter]
    fn sensitivity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let row = |row: &Vec<Option<f64>>| row.iter().map(|value| value.unwrap_or(f64::NAN)).collect::<Vec<_>>();
        PyArray2::from_vec2(py, &self.report.sensitivity.iter().map(row).collect::<Vec<_>>()).or_value_error()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().report == self.report)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let maker = py.import("gardenpath._core")?.getattr("_restore_probe")?;
        Ok((maker, (serde_json::to_string(&self.report).or_value_error()?,)))
    }

    fn __repr__(&self) -> String {
        format!("<Probe of {} layers and {} levels>", self.report.layers.len(), self.report.levels.len())
    }
}

/// Unpickles a probe.
#[pyfunction]
pub fn _restore_probe(text: &str) -> PyResult<PyProbe> {
    Ok(PyProbe { report: serde_json::from_str(text).or_value_error()? })
}
