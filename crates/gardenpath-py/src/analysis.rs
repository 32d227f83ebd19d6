//! `Results`: the analysis of an experiment's results.

use crate::error::{OrValueError, value_error};
use crate::experiment::PyExperiment;
use crate::figure::PyFigure;
use crate::results::named;
use crate::sweep::{PyCell, from_json};
use gardenpath_lab::analysis::{self, Outstanding, Table};
use gardenpath_lab::fit::Estimate;
use gardenpath_lab::measure::Measure;
use gardenpath_lab::measure::kind::Kind;
use gardenpath_lab::store::{Found, Store};
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::sync::Arc;

/// The results of an experiment: records, fits, verdicts and a figure. See `Experiment.run`.
#[pyclass(frozen, name = "Results", module = "gardenpath")]
pub struct PyResults {
    experiment: PyExperiment,
    found: Vec<(Measure, Map<String, Value>)>,
    missing: usize,
    table: Table,
}

impl PyResults {
    fn new(
        experiment: PyExperiment,
        found: Vec<(Measure, Map<String, Value>)>,
        missing: usize,
    ) -> anyhow::Result<Self> {
        let rows: Vec<(&Measure, Map<String, Value>)> = found.iter().map(|(cell, row)| (cell, row.clone())).collect();
        let table = Table::new(&rows)?;
        Ok(PyResults { experiment, found, missing, table })
    }

    /// The results that a store has for these cells, and messages about damaged ones.
    pub fn load(experiment: PyExperiment, cells: Vec<Measure>, store: &Store) -> anyhow::Result<(Self, Vec<String>)> {
        let (mut found, mut missing, mut damaged) = (Vec::new(), 0, Vec::new());
        for cell in cells {
            match store.find(&cell)? {
                Found::Whole(record) => found.push((cell, record.result)),
                Found::Nothing => missing += 1,
                Found::Damaged(text) => {
                    missing += 1;
                    damaged.push(text);
                }
            }
        }
        Ok((PyResults::new(experiment, found, missing)?, damaged))
    }

    fn fitted(&self) -> PyResult<Vec<analysis::Fitted<'_>>> {
        if self.found.is_empty() {
            return Err(value_error("no results, expected some; run measures them"));
        }
        analysis::fit(&self.experiment.experiment.plan.fits, &self.table).or_value_error()
    }
}

#[pymethods]
impl PyResults {
    /// The number of cells without a result.
    #[getter]
    fn missing(&self) -> usize {
        self.missing
    }

    fn __len__(&self) -> usize {
        self.found.len()
    }

    /// All results as columns: parameters, values derived from them such as `learner`, and measurements. `to_pandas`,
    /// `to_polars` and `to_arrow` convert them to tables.
    fn records<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let kind = |kind: &Kind| match kind {
            Kind::Whole => "int",
            Kind::Number => "float",
            Kind::Truth => "bool",
            Kind::Text | Kind::OneOf(_) => "str",
            Kind::Numbers => "list",
        };
        let mut columns = Vec::new();
        for column in self.table.columns() {
            let values: Vec<Value> = (0..self.table.len()).map(|row| column.value(row)).collect();
            if values.iter().all(Value::is_null) {
                continue;
            }
            columns.push((column.name(), kind(column.kind()), serde_json::to_string(&values).or_value_error()?));
        }
        py.import("gardenpath._records")?.getattr("Records")?.call_method1("_of", (columns,))
    }

    /// The estimates of all fits, one per group. `fit` and `group` identify it; the rest is as in
    /// `gardenpath.fit.Estimate`.
    fn fit<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut estimates = Vec::new();
        for fitted in self.fitted()? {
            for found in &fitted.found {
                let Estimate { value, interval, seeds, because, .. } = &found.estimate;
                let value = (!value.is_nan()).then_some(*value);
                let group = from_json(py, &fitted.named(found))?;
                let parts = (&fitted.name, group, value, *interval, *seeds, because, found.misfits[0]);
                estimates.push(named(py, "Fit", parts)?);
            }
        }
        Ok(estimates)
    }

    /// The verdicts on all claims, one per group: agrees, differs, corrected or inconclusive, with the reason.
    fn judge<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let plan = &self.experiment.experiment.plan;
        let judged = analysis::judge(plan, &self.fitted()?, &Outstanding::default()).or_value_error()?;
        let verdict = |claim: &analysis::Judged| -> PyResult<Bound<'py, PyAny>> {
            let word = serde_json::to_value(claim.verdict).or_value_error()?;
            let group = from_json(py, &claim.group)?;
            let parts = (&claim.id, &claim.statement, group, word.as_str(), claim.estimate, claim.interval.map(open));
            let judged =
                named(py, "Judgement", (parts.0, parts.1, parts.2, parts.3, parts.4, parts.5, &claim.because))?;
            Ok(judged)
        };
        judged.iter().map(verdict).collect()
    }

    /// The figure with all panels, which notebooks display.
    fn figure(&self) -> PyResult<PyFigure> {
        let plan = &self.experiment.experiment.plan;
        if plan.panels.is_empty() {
            return Err(value_error("the experiment has no [[panel]], expected one to draw"));
        }
        Ok(PyFigure::from(&analysis::draw(plan, &self.table, &self.fitted()?).or_value_error()?))
    }

    fn _repr_svg_(&self) -> Option<String> {
        self.figure().ok().map(|figure| figure.svg().to_owned())
    }

    fn __repr__(&self) -> String {
        let missing = if self.missing > 0 { format!(", {} are missing", self.missing) } else { String::new() };
        format!("<Results of {} cells{missing}>", self.found.len())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        let (one, other) = (self, other.get());
        one.experiment.experiment == other.experiment.experiment
            && one.found == other.found
            && one.missing == other.missing
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Kept)> {
        let results = this.get();
        let maker = this.py().import("gardenpath._core")?.getattr("_restore_results")?;
        let kept = |(cell, result): &(Measure, Map<String, Value>)| -> PyResult<(PyCell, String)> {
            Ok((PyCell { cell: Arc::new(cell.clone()) }, serde_json::to_string(result).or_value_error()?))
        };
        let found = results.found.iter().map(kept).collect::<PyResult<_>>()?;
        Ok((maker, (results.experiment.clone(), found, results.missing)))
    }
}

/// The pickled state of results.
type Kept = (PyExperiment, Vec<(PyCell, String)>, usize);

/// The interval of a claim, with infinite open ends.
fn open([low, high]: [Option<f64>; 2]) -> (f64, f64) {
    (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY))
}

/// Unpickles results.
#[pyfunction]
pub fn _restore_results(
    experiment: &Bound<'_, PyExperiment>,
    found: Vec<(Bound<'_, PyCell>, String)>,
    missing: usize,
) -> PyResult<PyResults> {
    let kept = |(cell, text): (Bound<'_, PyCell>, String)| -> PyResult<(Measure, Map<String, Value>)> {
        Ok(((*cell.get().cell).clone(), serde_json::from_str(&text).or_value_error()?))
    };
    let found = found.into_iter().map(kept).collect::<PyResult<_>>()?;
    PyResults::new(experiment.get().clone(), found, missing).or_value_error()
}
