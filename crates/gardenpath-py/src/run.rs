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
use crate::sentences;
use crate::train;
use anyhow::Context;
use gardenpath::interrupt::checkpoint;
use gardenpath::{Grammar, Seed, Symbol};
use gardenpath_lab::training::report::{figure, title};
use gardenpath_lab::training::run_directory::RunDirectory;
use gardenpath_lab::training::{Outcome, Recipe};
use gardenpath_nn::engine::{self, NamedTensor};
use gardenpath_nn::probe::Probe;
use gardenpath_nn::train::Record;
use gardenpath_nn::{Model, Network, Tensors};
use numpy::ndarray::{ArrayView1, ArrayViewD, IxDyn};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;

/// A trained network, with the weights of its best test loss: see `train`.
#[pyclass(frozen, name = "Run", module = "gardenpath")]
pub struct PyRun {
    recipe: Recipe,
    /// Unknown for a run on the user's own sentences.
    grammar: Option<Arc<Grammar>>,
    network: Network,
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
        // Files have them in the order of their names.
        let place = |tensor: &NamedTensor| network.parameters().iter().position(|own| own.name == tensor.name);
        weights.sort_by_key(place);
        PyRun { recipe, grammar, network, outcome, records, curve, weights }
    }

    /// The run of a directory that has a result.
    pub fn open(directory: &RunDirectory, recipe: Recipe, grammar: Option<Arc<Grammar>>) -> anyhow::Result<Self> {
        let network = recipe.network_of(grammar.as_deref())?;
        let result = directory.result()?.context("the run has not ended")?;
        let outcome = Outcome::deserialize(&result)?;
        let weights = directory.best()?;
        engine::weights(&network, &weights)
            .with_context(|| directory.file("best.safetensors").display().to_string())?;
        Ok(PyRun::new(recipe, grammar, network, outcome, directory.records()?, weights))
    }

    fn tensors(&self) -> PyResult<Tensors<f32>> {
        engine::weights(&self.network, &self.weights).or_value_error()
    }

    /// The logits of all questions about all sentences, `[questions][outputs]`.
    fn all_logits(&self, py: Python<'_>, sentences: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
        let sentences = sentences::read(sentences, self.network.vocab)?;
        let (corpus, weights) = (&*sentences, self.tensors()?);
        let logits = interrupt::run(py, || {
            let mut model = Model::new(&self.network);
            let mut logits = Vec::with_capacity(corpus.len() * self.network.outputs());
            let all: Vec<&[Symbol]> = corpus.sentences().collect();
            for batch in all.chunks(BATCH) {
                checkpoint();
                logits.extend_from_slice(model.logits(&weights, batch)?);
            }
            gardenpath_nn::Result::Ok(logits)
        })?;
        logits.or_value_error()
    }

    /// What `pickle` keeps besides grammar and weights.
    fn text(&self) -> PyResult<String> {
        serde_json::to_string(&(&self.recipe, &self.outcome, &self.records)).or_value_error()
    }
}

/// Sentences that are computed together.
const BATCH: usize = 512;

/// The weights as `pickle` keeps them: name, shape and values.
type Weights<'py> = Vec<(String, Vec<usize>, Bound<'py, PyArray1<f32>>)>;

#[pymethods]
impl PyRun {
    /// Reads a run that has ended from the directory in which `train` or the program kept it.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        train::open(path).or_file_error()
    }

    /// The kind of network: cnn, inn or transformer.
    #[getter]
    fn model(&self) -> &'static str {
        self.recipe.architecture.name()
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

    /// The mean cross-entropy of the test set, in nats.
    #[getter]
    fn test_loss(&self) -> f64 {
        self.outcome.test_loss
    }

    /// The same in units of guessing, `ln classes`.
    #[getter]
    fn normalized_loss(&self) -> f64 {
        self.outcome.normalized_loss
    }

    /// The share of test sentences whose root was told.
    #[getter]
    fn test_accuracy(&self) -> f64 {
        self.outcome.test_accuracy
    }

    /// The mean loss of the training batches before the best measurement.
    #[getter]
    fn train_loss(&self) -> f64 {
        self.outcome.train_loss
    }

    /// The step of the best measurement.
    #[getter]
    fn best_step(&self) -> u64 {
        self.outcome.best_step
    }

    /// All steps.
    #[getter]
    fn steps(&self) -> u64 {
        self.outcome.steps
    }

    /// Passes over the training set until the last measurement.
    #[getter]
    fn epochs(&self) -> f64 {
        self.outcome.epochs
    }

    /// Why training ended: the test loss rose ("rise") or no longer fell ("plateau"), all steps were taken ("steps"), or a loss was no number
    /// any more ("diverged").
    #[getter]
    fn ending(&self) -> String {
        let ending = self.outcome.ending.map(|ending| format!("{ending:?}").to_lowercase());
        ending.unwrap_or_default()
    }

    /// What exact parsing makes of the same test set, or None if the grammar is unknown.
    #[getter]
    fn floor(&self) -> Option<BayesFloor> {
        let (loss, accuracy) = (self.outcome.bayes_loss?, self.outcome.bayes_accuracy?);
        // Sampled sentences have a tree; of other ones it was not kept how many have.
        let parse_rate = if self.recipe.corpora.is_none() { 1.0 } else { f64::NAN };
        Some(BayesFloor::new(loss, accuracy, parse_rate, self.network.guessing_loss()))
    }

    /// All measurements (a view): records of `step`, `epoch`, `train_loss`, `test_loss` and `test_accuracy`.
    #[getter]
    fn curve<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<CurveRecord>> {
        // SAFETY: a frozen run never changes.
        unsafe { view(ArrayView1::from(this.get().curve.as_slice()), this.clone().into_any()) }
    }

    /// The best weights by name (views), with the names and shapes of the program's safetensors files; `load_state_dict` of the same
    /// network in `gardenpath.torch` takes them as tensors.
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

    /// The logits of the best network `[sentence, root]`, for a corpus, a padded array or a list of lists.
    fn logits<'py>(&self, py: Python<'py>, sentences: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let logits = self.all_logits(py, sentences)?;
        let rows = logits.len() / self.network.outputs();
        PyArray1::from_vec(py, logits).reshape([rows, self.network.outputs()])
    }

    /// The probabilities that the best network gives to the roots of each sentence `[sentence, root]`.
    fn predict_proba<'py>(
        &self,
        py: Python<'py>,
        sentences: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let classes = self.network.outputs();
        let mut shares: Vec<f64> = self.all_logits(py, sentences)?.into_iter().map(f64::from).collect();
        for row in shares.chunks_exact_mut(classes) {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|value| *value = (*value - largest).exp());
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|value| *value /= sum);
        }
        let rows = shares.len() / classes;
        PyArray1::from_vec(py, shares).reshape([rows, classes])
    }

    /// The root that the best network tells for each sentence.
    fn predict<'py>(&self, py: Python<'py>, sentences: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let logits = self.all_logits(py, sentences)?;
        // Of equal logits the last one counts, as in the measurements.
        let best = |row: &[f32]| row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(class, _)| class);
        Ok(PyArray1::from_iter(py, logits.chunks_exact(self.network.outputs()).map(|row| best(row) as u8)))
    }

    /// Which hidden layer encodes which level of the tree, as `gardenpath probe` finds with the same options.
    ///
    /// Linear probes are fitted to `samples` fresh sentences and tested on `test` others; synonyms are exchanged in `exchanged` sentences. With
    /// `initial` the network is probed as it was before training.
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
            return Err(value_error("the run has no grammar; a probe needs trees"));
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
        format!(
            "<Run of {model}: test loss {test_loss:.4}{bayes}, accuracy {:.1}%, {steps} steps, ended by {ending}>",
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

/// Makes a run from what `pickle` kept.
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
