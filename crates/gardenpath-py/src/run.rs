//! `Run`: a trained network with its learning curve.

use crate::arrays::{CurveRecord, view};
use crate::error::{OrFileError, OrValueError, value_error};
use crate::figure::PyFigure;
use crate::grammar::PyGrammar;
use crate::interrupt;
use crate::numbers::natural;
use crate::parse::BayesFloor;
use crate::probe::PyProbe;
use crate::results::Reduced;
use crate::train;
use anyhow::Context;
use gardenpath::{Grammar, Seed};
use gardenpath_lab::training::report::{figure, title};
use gardenpath_lab::training::run_directory::RunDirectory;
use gardenpath_lab::training::{Outcome, Recipe};
use gardenpath_nn::engine::{self, NamedTensor};
use gardenpath_nn::probe::Probe;
use gardenpath_nn::train::Record;
use gardenpath_nn::{Model, Network, Tensors};
use numpy::ndarray::{ArrayView1, ArrayViewD, IxDyn};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;

/// A trained network with the weights of its best test loss: see `train`.
#[pyclass(frozen, name = "Run", module = "gardenpath")]
pub struct PyRun {
    recipe: Recipe,
    /// Unknown for a run on the user's own sentences.
    grammar: Option<Arc<Grammar>>,
    pub(crate) network: Network,
    outcome: Outcome,
    records: Vec<Record>,
    curve: Vec<CurveRecord>,
    weights: Vec<NamedTensor>,
}

impl PyRun {
    pub fn new(
        recipe: Recipe,
        grammar: Option<Arc<Grammar>>,
        network: Network,
        outcome: Outcome,
        records: Vec<Record>,
        mut weights: Vec<NamedTensor>,
    ) -> Self {
        let row = |r: &Record| CurveRecord {
            step: r.step as i64,
            epoch: r.epoch,
            train_loss: r.train_loss,
            test_loss: r.test_loss,
            test_accuracy: r.test_accuracy,
        };
        let curve = records.iter().map(row).collect();
        // Files store them in alphabetical order.
        let place = |tensor: &NamedTensor| network.parameters().iter().position(|own| own.name == tensor.name);
        weights.sort_by_key(place);
        PyRun { recipe, grammar, network, outcome, records, curve, weights }
    }

    /// The run in a directory with a result.
    pub fn open(directory: &RunDirectory, recipe: Recipe, grammar: Option<Arc<Grammar>>) -> anyhow::Result<Self> {
        let network = recipe.network_of(grammar.as_deref())?;
        let result = directory.result()?.context("the run has not finished")?;
        let outcome = Outcome::deserialize(&result)?;
        let weights = directory.best()?;
        engine::weights(&network, &weights)
            .with_context(|| directory.file("best.safetensors").display().to_string())?;
        Ok(PyRun::new(recipe, grammar, network, outcome, directory.records()?, weights))
    }

    pub(crate) fn tensors(&self) -> PyResult<Tensors<f32>> {
        engine::weights(&self.network, &self.weights).or_value_error()
    }

    /// The pickled state besides grammar and weights.
    fn text(&self) -> PyResult<String> {
        serde_json::to_string(&(&self.recipe, &self.outcome, &self.records)).or_value_error()
    }
}

/// The pickled weights: name, shape and values.
type Weights<'py> = Vec<(String, Vec<usize>, Bound<'py, PyArray1<f32>>)>;

#[pymethods]
impl PyRun {
    /// Reads a finished run from the directory written by `train` or the program.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        train::open(path).or_file_error()
    }

    /// The architecture: cnn, inn or transformer.
    #[getter]
    fn model(&self) -> &'static str {
        self.recipe.architecture.name()
    }

    /// What it predicts: root, next or masked.
    #[getter]
    fn task(&self) -> &'static str {
        self.recipe.task.name()
    }

    /// The grammar, or None for a run on a corpus whose grammar is unknown.
    #[getter]
    fn grammar(&self) -> Option<PyGrammar> {
        self.grammar.clone().map(PyGrammar::new)
    }

    /// All options, by name.
    #[getter]
    fn options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (serde_json::to_string(&self.recipe).or_value_error()?,))
    }

    /// The cross-entropy on the test set in nats: per sentence, per token ("next") or per masked token.
    #[getter]
    fn test_loss(&self) -> f64 {
        self.outcome.test_loss
    }

    /// The test loss relative to guessing: divided by `ln classes`, or `ln vocab` if the task predicts tokens.
    #[getter]
    fn normalized_loss(&self) -> f64 {
        self.outcome.normalized_loss
    }

    /// The accuracy on the roots or tokens of the test set.
    #[getter]
    fn test_accuracy(&self) -> f64 {
        self.outcome.test_accuracy
    }

    /// The mean training loss before the best measurement.
    #[getter]
    fn train_loss(&self) -> f64 {
        self.outcome.train_loss
    }

    /// The step of the best measurement.
    #[getter]
    fn best_step(&self) -> u64 {
        self.outcome.best_step
    }

    /// The number of steps.
    #[getter]
    fn steps(&self) -> u64 {
        self.outcome.steps
    }

    /// The number of epochs until the last measurement.
    #[getter]
    fn epochs(&self) -> f64 {
        self.outcome.epochs
    }

    /// Why training ended: the test loss rose ("rise") or stopped falling ("plateau"), the maximum number of steps was
    /// reached ("steps"), or the loss was NaN ("diverged").
    #[getter]
    fn ending(&self) -> String {
        let ending = self.outcome.ending.map(|ending| format!("{ending:?}").to_lowercase());
        ending.unwrap_or_default()
    }

    /// The loss and accuracy of exact prediction on the same test set and masks, or None if the grammar is unknown.
    #[getter]
    fn floor(&self) -> Option<BayesFloor> {
        let (loss, accuracy) = (self.outcome.bayes_loss?, self.outcome.bayes_accuracy?);
        // Sampled sentences have a tree; for others the number was not stored.
        let parse_rate = if self.recipe.corpora.is_none() { 1.0 } else { f64::NAN };
        Some(BayesFloor::new(loss, accuracy, parse_rate, self.network.guessing_loss()))
    }

    /// The lowest expected loss on the same test set, or None if the task is root or the grammar is unknown.
    /// `floor.loss` fluctuates around it. The program calls it `floor`.
    #[getter]
    fn expected_floor(&self) -> Option<f64> {
        self.outcome.floor
    }

    /// The same for next-token predictors that know the lowest 0, 1, … layers of rules, the last one all of them; None
    /// for other tasks.
    #[getter]
    fn level_floors<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(PyArray1::from_slice(py, self.outcome.level_floors.as_deref()?))
    }

    /// All measurements (a view): records of `step`, `epoch`, `train_loss`, `test_loss` and `test_accuracy`.
    #[getter]
    fn curve<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<CurveRecord>> {
        // SAFETY: a frozen run never changes.
        unsafe { view(ArrayView1::from(this.get().curve.as_slice()), this.clone().into_any()) }
    }

    /// The best weights by name (views), with the names and shapes of the program's safetensors files. The
    /// `load_state_dict` of the same network in `gardenpath.torch` (task root) accepts them as tensors.
    #[getter]
    fn weights<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let weights = PyDict::new(this.py());
        for tensor in &this.get().weights {
            let array = ArrayViewD::from_shape(IxDyn(&tensor.shape), &tensor.values).or_value_error()?;
            // SAFETY: a frozen run never changes.
            weights.set_item(&tensor.name, unsafe { view(array, this.clone().into_any()) })?;
        }
        Ok(weights)
    }

    /// Probes which hidden layer encodes which level of the tree, like `gardenpath probe` with the same options.
    ///
    /// Linear probes are fitted to `samples` fresh sentences and tested on `test` others; synonyms are exchanged in
    /// `exchanged` sentences. With `initial`, the network at initialization is probed.
    #[pyo3(signature = (*, samples=4000, test=2000, exchanged=1000, seed=0, initial=false))]
    fn probe(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = natural)] samples: usize,
        #[pyo3(from_py_with = natural)] test: usize,
        #[pyo3(from_py_with = natural)] exchanged: usize,
        #[pyo3(from_py_with = natural)] seed: u64,
        initial: bool,
    ) -> PyResult<PyProbe> {
        let Some(grammar) = &self.grammar else {
            return Err(value_error("the run has no grammar; probes need trees"));
        };
        let weights = if initial {
            engine::weights(&self.network, &self.recipe.initial_state(&self.network)).or_value_error()?
        } else {
            self.tensors()?
        };
        let probe = Probe { train: samples, held_out: test, exchanged };
        let seed = Seed::new(seed).child("probe");
        let report = interrupt::run(py, || probe.run(&mut Model::new(&self.network), &weights, grammar, seed))?;
        Ok(PyProbe::new(report.or_value_error()?))
    }

    /// The learning curve as a figure.
    fn figure(&self) -> PyFigure {
        let title = title(self.network.vocab, self.network.shape.depth(), &self.recipe);
        let bayes = self.outcome.bayes_loss;
        PyFigure::from(&figure(&title, &self.records, self.network.guessing_loss(), bayes))
    }

    fn _repr_svg_(&self) -> String {
        self.figure().svg().to_owned()
    }

    fn __repr__(&self) -> String {
        let Outcome { test_loss, test_accuracy, steps, .. } = self.outcome;
        let bayes = self.outcome.bayes_loss.map(|loss| format!(" (Bayes {loss:.4})")).unwrap_or_default();
        let (model, ending) = (self.model(), self.ending());
        let task = if self.recipe.task.is_root() { String::new() } else { format!(" ({})", self.task()) };
        format!(
            "<Run of {model}{task}: test loss {test_loss:.4}{bayes}, accuracy {:.1}%, {steps} steps, ended by {ending}>",
            100.0 * test_accuracy
        )
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else { return false };
        let (one, other) = (self, other.get());
        let fingerprint = |run: &PyRun| run.grammar.as_deref().map(Grammar::fingerprint);
        one.recipe == other.recipe
            && one.outcome == other.outcome
            && one.records == other.records
            && one.weights == other.weights
            && fingerprint(one) == fingerprint(other)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (String, Option<PyGrammar>, Weights<'py>)> {
        let maker = py.import("gardenpath._core")?.getattr("_restore_run")?;
        let kept = |t: &NamedTensor| (t.name.clone(), t.shape.clone(), PyArray1::from_slice(py, &t.values));
        Ok((maker, (self.text()?, self.grammar(), self.weights.iter().map(kept).collect())))
    }
}

/// Unpickles a run.
#[pyfunction]
pub fn _restore_run(text: &str, grammar: Option<&Bound<'_, PyGrammar>>, weights: Weights<'_>) -> PyResult<PyRun> {
    let (recipe, outcome, records): (Recipe, Outcome, Vec<Record>) = serde_json::from_str(text).or_value_error()?;
    let grammar = grammar.map(|grammar| grammar.get().grammar.clone());
    let network = recipe.network_of(grammar.as_deref()).or_value_error()?;
    let tensor = |(name, shape, values): (String, Vec<usize>, Bound<'_, PyArray1<f32>>)| {
        Ok(NamedTensor { name, shape, values: values.readonly().as_slice()?.to_vec() })
    };
    let weights = weights.into_iter().map(tensor).collect::<PyResult<Vec<_>>>()?;
    engine::weights(&network, &weights).or_value_error()?;
    Ok(PyRun::new(recipe, grammar, network, outcome, records, weights))
}
