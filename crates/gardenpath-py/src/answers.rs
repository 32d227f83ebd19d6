//! `Run`, continued: the predictions of its network.

use crate::error::OrValueError;
use crate::interrupt;
use crate::run::PyRun;
use crate::sentences;
use gardenpath::Symbol;
use gardenpath::interrupt::checkpoint;
use gardenpath_nn::{Model, Task};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// Sentences per forward pass, which bounds the memory of activations.
const BATCH: usize = 512;

impl PyRun {
    /// The logits of all predictions for all sentences, `[predictions][outputs]`.
    fn all_logits(&self, py: Python<'_>, sentences: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
        // The mask has a token number of its own.
        let symbols = self.network.vocab + usize::from(self.network.task == Task::Masked);
        let sentences = sentences::read(sentences, symbols)?;
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
}

#[pymethods]
impl PyRun {
    /// The logits of the best network for a corpus, a padded array or a list of lists: `[sentence, root]`.
    ///
    /// For next-token networks there is one row before each token and one at the end of each sentence, `[tokens and
    /// ends, token]`, where the number `vocab` stands for the end. For masked networks `vocab` marks masked tokens in
    /// sentences, and there is one row per mask.
    fn logits<'py>(&self, py: Python<'py>, sentences: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let logits = self.all_logits(py, sentences)?;
        let rows = logits.len() / self.network.outputs();
        PyArray1::from_vec(py, logits).reshape([rows, self.network.outputs()])
    }

    /// The probabilities that the best network assigns to roots or tokens, with the rows of `logits`.
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

    /// The most probable root of each sentence, or token of each row of `logits`, according to the best network.
    fn predict<'py>(&self, py: Python<'py>, sentences: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let logits = self.all_logits(py, sentences)?;
        // Among equal logits the last one wins, as in the measurements.
        let best = |row: &[f32]| row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(class, _)| class);
        Ok(PyArray1::from_iter(py, logits.chunks_exact(self.network.outputs()).map(|row| best(row) as u8)))
    }
}
