//! `Moments` and `ExpectedMoments`: joint counts of adjacent symbols and roots.

use crate::arrays::view;
use crate::corpus::PyCorpus;
use crate::error::OrValueError;
use crate::interrupt;
use gardenpath::{Covariance, ExpectedMoments, Moments};
use numpy::ndarray::{ArrayView3, ArrayView4};
use numpy::{
    Element, PyArray1, PyArray3, PyArray4, PyArrayMethods, PyReadonlyArray3, PyReadonlyArray4, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

/// Counts of adjacent pairs and triples of tokens by the root of their sentence. Moments of parts of the data can be
/// added.
///
/// >>> import gardenpath
/// >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, seed=7)
/// >>> moments = gardenpath.Moments(grammar.corpus(500, seed=1)) + gardenpath.Moments(grammar.corpus(500, seed=1, start=500))
/// >>> moments == gardenpath.Moments(grammar.corpus(1000, seed=1))
/// True
/// >>> moments.triples.shape
/// (8, 8, 8, 8)
#[pyclass(frozen, name = "Moments", module = "gardenpath")]
pub struct PyMoments {
    moments: Moments,
}

/// The limit of `Moments` for infinitely many sentences, per sentence: see `Grammar.expected_moments`.
///
/// >>> import gardenpath
/// >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, seed=7)
/// >>> moments = grammar.expected_moments()
/// >>> round(float(moments.pairs.sum()), 9) == round(grammar.mean_length - 1, 9)
/// True
#[pyclass(frozen, name = "ExpectedMoments", module = "gardenpath")]
pub struct PyExpectedMoments {
    pub moments: ExpectedMoments,
}

#[pymethods]
impl PyMoments {
    #[new]
    fn new(py: Python<'_>, corpus: &Bound<'_, PyCorpus>) -> PyResult<Self> {
        let corpus = corpus.get();
        let moments = interrupt::run(py, || {
            let mut moments = Moments::new(corpus.vocab, corpus.classes)?;
            moments.add_corpus(&corpus.corpus)?;
            gardenpath::Result::Ok(moments)
        })?;
        Ok(PyMoments { moments: moments.or_value_error()? })
    }

    /// Counts of pairs `[root, a, b]` (a view).
    #[getter]
    fn pairs<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray3<u64>> {
        let moments = &this.get().moments;
        cube(moments.pairs(), [moments.classes(), moments.symbols()], this.clone().into_any())
    }

    /// Counts of triples `[root, a, b, c]` (a view).
    #[getter]
    fn triples<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray4<u64>> {
        let moments = &this.get().moments;
        tesseract(moments.triples(), [moments.classes(), moments.symbols()], this.clone().into_any())
    }

    /// Covariances of pairs with the root `[a, b, root]` (the paper's `C_2`).
    fn pair_covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        pair_table(py, &self.moments.covariance())
    }

    /// Covariances of triples with the root `[a, b, c, root]` (the paper's `C_3`), optionally corrected for pairs.
    #[pyo3(signature = (*, corrected=false))]
    fn triple_covariance<'py>(&self, py: Python<'py>, corrected: bool) -> PyResult<Bound<'py, PyAny>> {
        triple_table(py, &self.moments.covariance(), corrected)
    }

    fn __add__(&self, other: &Bound<'_, Self>) -> PyResult<Self> {
        let mut moments = self.moments.clone();
        moments.merge(&other.get().moments).or_value_error()?;
        Ok(PyMoments { moments })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().moments == self.moments)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Kept<'py, u64>> {
        let maker = this.py().import("gardenpath._core")?.getattr("_restore_moments")?;
        Ok((maker, (Self::pairs(this), Self::triples(this))))
    }

    fn __repr__(&self) -> String {
        let (pairs, triples) = (self.moments.pair_total(), self.moments.triple_total());
        format!("<Moments of {pairs} pairs and {triples} triples>")
    }
}

#[pymethods]
impl PyExpectedMoments {
    /// The expected number of each pair per sentence, times the probability of the root: `[root, a, b]` (a view).
    #[getter]
    fn pairs<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray3<f64>> {
        let moments = &this.get().moments;
        cube(moments.pairs(), [moments.classes(), moments.symbols()], this.clone().into_any())
    }

    /// The expected number of each triple per sentence, times the probability of the root: `[root, a, b, c]` (a view).
    #[getter]
    fn triples<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray4<f64>> {
        let moments = &this.get().moments;
        tesseract(moments.triples(), [moments.classes(), moments.symbols()], this.clone().into_any())
    }

    /// Covariances of pairs with the root `[a, b, root]` (the paper's `C_2`).
    fn pair_covariance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        pair_table(py, &self.moments.covariance())
    }

    /// Covariances of triples with the root `[a, b, c, root]` (the paper's `C_3`), optionally corrected for pairs.
    #[pyo3(signature = (*, corrected=false))]
    fn triple_covariance<'py>(&self, py: Python<'py>, corrected: bool) -> PyResult<Bound<'py, PyAny>> {
        triple_table(py, &self.moments.covariance(), corrected)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().moments == self.moments)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<Kept<'py, f64>> {
        let maker = this.py().import("gardenpath._core")?.getattr("_restore_expected")?;
        Ok((maker, (Self::pairs(this), Self::triples(this))))
    }

    fn __repr__(&self) -> String {
        let (pairs, triples) = (self.moments.pair_total(), self.moments.triple_total());
        format!("<ExpectedMoments of {pairs:.3} pairs and {triples:.3} triples per sentence>")
    }
}

/// The pickled state of moments.
type Tables<'py, T> = (Bound<'py, PyArray3<T>>, Bound<'py, PyArray4<T>>);
type Kept<'py, T> = (Bound<'py, PyAny>, Tables<'py, T>);

/// Unpickles moments.
#[pyfunction]
pub fn _restore_moments(pairs: PyReadonlyArray3<'_, u64>, triples: PyReadonlyArray4<'_, u64>) -> PyResult<PyMoments> {
    let (symbols, classes) = (pairs.shape()[1], pairs.shape()[0]);
    let (pairs, triples) = (pairs.as_slice()?.to_vec(), triples.as_slice()?.to_vec());
    Ok(PyMoments { moments: Moments::from_tables(symbols, classes, pairs, triples).or_value_error()? })
}

/// Unpickles expected moments.
#[pyfunction]
pub fn _restore_expected(
    pairs: PyReadonlyArray3<'_, f64>,
    triples: PyReadonlyArray4<'_, f64>,
) -> PyResult<PyExpectedMoments> {
    let (symbols, classes) = (pairs.shape()[1], pairs.shape()[0]);
    let (pairs, triples) = (pairs.as_slice()?.to_vec(), triples.as_slice()?.to_vec());
    Ok(PyExpectedMoments { moments: ExpectedMoments::from_tables(symbols, classes, pairs, triples).or_value_error()? })
}

/// Both kinds of moments are frozen, so views of them stay valid.
fn cube<'py, T: Element>(
    values: &[T],
    [classes, symbols]: [usize; 2],
    owner: Bound<'py, PyAny>,
) -> Bound<'py, PyArray3<T>> {
    let array = ArrayView3::from_shape([classes, symbols, symbols], values).expect("a table has this size");
    // SAFETY: the owner is frozen.
    unsafe { view(array, owner) }
}

fn tesseract<'py, T: Element>(
    values: &[T],
    [classes, symbols]: [usize; 2],
    owner: Bound<'py, PyAny>,
) -> Bound<'py, PyArray4<T>> {
    let array = ArrayView4::from_shape([classes, symbols, symbols, symbols], values).expect("a table has this size");
    // SAFETY: the owner is frozen.
    unsafe { view(array, owner) }
}

fn pair_table<'py>(py: Python<'py>, covariance: &Covariance) -> PyResult<Bound<'py, PyAny>> {
    let (symbols, classes) = (covariance.symbols(), covariance.classes());
    let flat = PyArray1::from_slice(py, covariance.pairs());
    Ok(flat.reshape([symbols, symbols, classes])?.into_any())
}

fn triple_table<'py>(py: Python<'py>, covariance: &Covariance, corrected: bool) -> PyResult<Bound<'py, PyAny>> {
    let (symbols, classes) = (covariance.symbols(), covariance.classes());
    let mut table = covariance.triples().to_vec();
    if corrected {
        for (triple, row) in table.chunks_mut(classes).enumerate() {
            let symbol = |power: u32| (triple / symbols.pow(power) % symbols) as u8;
            covariance.correct_triple(symbol(2), symbol(1), symbol(0), row);
        }
    }
    Ok(PyArray1::from_vec(py, table).reshape([symbols, symbols, symbols, classes])?.into_any())
}
