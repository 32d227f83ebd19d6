//! Measurements over many random grammars: class entropy and signal-to-noise ratio.

use crate::error::{OrValueError, value_error};
use crate::interrupt;
use crate::numbers::{natural, optional_list};
use crate::results::{Reduced, named};
use gardenpath::snr::{Average, SignalStudy, SignalToNoise, expected_range};
use gardenpath::{Ensemble, Seed};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

/// The expected class entropy of an ensemble of grammars, in nats: mean and standard error over `grammars` grammars
/// with `sentences` sentences each.
///
/// >>> import gardenpath
/// >>> mean, error = gardenpath.class_entropy(vocab=8, depth=2, fraction=0.5, grammars=4, sentences=500)
/// >>> 0 < mean < 2 and error > 0
/// True
#[pyfunction]
#[pyo3(signature = (vocab, depth, fraction, *, grammars=10, sentences=1000, seed=0))]
pub fn class_entropy(
    py: Python<'_>,
    #[pyo3(from_py_with = natural)] vocab: usize,
    #[pyo3(from_py_with = natural)] depth: usize,
    fraction: f64,
    #[pyo3(from_py_with = natural)] grammars: u64,
    #[pyo3(from_py_with = natural)] sentences: u64,
    #[pyo3(from_py_with = natural)] seed: u64,
) -> PyResult<Bound<'_, PyAny>> {
    let ensemble = Ensemble::new(vocab, depth).fraction(fraction);
    let estimate =
        interrupt::run(py, || gardenpath::class_entropy(&ensemble, grammars, sentences, Seed::new(seed), &|_| ()))?;
    let estimate = estimate.or_value_error()?;
    named(py, "Entropy", (estimate.mean, estimate.stderr))
}

/// The fraction of grammatical tuples at which an ensemble has the given class entropy, and the entropy measured there.
///
/// >>> import gardenpath
/// >>> fraction, entropy = gardenpath.fraction_for_entropy(vocab=8, depth=2, entropy=0.5, grammars=2, sentences=200)
/// >>> 0 < fraction < 1 and abs(entropy - 0.5) < 0.1
/// True
#[pyfunction]
#[pyo3(signature = (vocab, depth, entropy, *, grammars=10, sentences=1000, seed=0))]
pub fn fraction_for_entropy(
    py: Python<'_>,
    #[pyo3(from_py_with = natural)] vocab: usize,
    #[pyo3(from_py_with = natural)] depth: usize,
    entropy: f64,
    #[pyo3(from_py_with = natural)] grammars: u64,
    #[pyo3(from_py_with = natural)] sentences: u64,
    #[pyo3(from_py_with = natural)] seed: u64,
) -> PyResult<Bound<'_, PyAny>> {
    let ensemble = Ensemble::new(vocab, depth);
    let found = interrupt::run(py, || {
        gardenpath::fraction_for_entropy(&ensemble, entropy, grammars, sentences, Seed::new(seed))
    })?;
    let (fraction, estimate) = found.or_value_error()?;
    named(py, "EntropyFraction", (fraction, estimate.mean))
}

/// The signal-to-noise ratio of triples against the number of sentences, for many grammars of an ensemble: see `snr`.
#[pyclass(frozen, eq, name = "SignalStudy", module = "gardenpath")]
#[derive(PartialEq)]
pub struct PySignalStudy {
    study: SignalStudy,
    seed: u64,
}

/// Measures the signal of the root in triples at the center of sentences, and the noise of estimating it from a number
/// of sentences (App. empirical_SNR). `fraction` is 1 / vocab by default, and `samples` are chosen around the expected
/// crossing.
///
/// >>> import gardenpath
/// >>> study = gardenpath.snr(vocab=8, depth=2, grammars=8, seed=1)
/// >>> 2e3 < study.sample_complexity() < 6e3
/// True
#[pyfunction]
#[pyo3(signature = (vocab, depth, fraction=None, *, grammars=10, samples=None, seed=0))]
pub fn snr(
    py: Python<'_>,
    #[pyo3(from_py_with = natural)] vocab: usize,
    #[pyo3(from_py_with = natural)] depth: usize,
    fraction: Option<f64>,
    #[pyo3(from_py_with = natural)] grammars: u64,
    #[pyo3(from_py_with = optional_list)] samples: Option<Vec<u64>>,
    #[pyo3(from_py_with = natural)] seed: u64,
) -> PyResult<PySignalStudy> {
    let ensemble = Ensemble::new(vocab, depth).fraction(fraction.unwrap_or(1.0 / vocab.max(1) as f64));
    let samples = match samples {
        Some(samples) => samples,
        None => expected_range(&ensemble, 12).or_value_error()?,
    };
    let study = interrupt::run(py, || SignalStudy::measure(&ensemble, grammars, &samples, Seed::new(seed), &|_| ()))?;
    Ok(PySignalStudy { study: study.or_value_error()?, seed })
}

#[pymethods]
impl PySignalStudy {
    /// The numbers of sentences.
    #[getter]
    fn samples<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.study.curves[0].samples)
    }

    /// The mean signal of each grammar.
    #[getter]
    fn signal<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.study.curves.iter().map(|curve| curve.signal))
    }

    /// The mean noise `[grammar, number of sentences]`.
    #[getter]
    fn noise<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows: Vec<Vec<f64>> = self.study.curves.iter().map(|curve| curve.noise.clone()).collect();
        PyArray2::from_vec2(py, &rows).or_value_error()
    }

    /// The mean ratio of signal to noise `[grammar, number of sentences]`.
    #[getter]
    fn ratio<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows: Vec<Vec<f64>> = self.study.curves.iter().map(|curve| curve.ratio.clone()).collect();
        PyArray2::from_vec2(py, &rows).or_value_error()
    }

    /// The inverse ratio at each number of sentences over all grammars; `average` is ratio_of_means or mean_of_ratios.
    #[pyo3(signature = (average="ratio_of_means"))]
    fn inverse<'py>(&self, py: Python<'py>, average: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.study.inverse(read_average(average)?)))
    }

    /// The number of sentences at which the inverse ratio falls to `threshold`, or None if it does not within the
    /// range.
    #[pyo3(signature = (threshold=0.5, average="ratio_of_means"))]
    fn sample_complexity(&self, threshold: f64, average: &str) -> PyResult<Option<f64>> {
        Ok(self.study.sample_complexity(threshold, read_average(average)?))
    }

    /// A bootstrap interval of the sample complexity over grammars, or None if no bootstrap sample crosses the
    /// threshold. An unbounded end is 0 or infinity.
    #[pyo3(signature = (threshold=0.5, average="ratio_of_means", *, confidence=0.9))]
    fn interval(&self, threshold: f64, average: &str, confidence: f64) -> PyResult<Option<(f64, f64)>> {
        Ok(self.study.interval(threshold, read_average(average)?, confidence, Seed::new(self.seed)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, (u64, Vec<Curve>)> {
        let maker = py.import("gardenpath._core")?.getattr("_restore_study")?;
        let curve = |c: &SignalToNoise| (c.samples.clone(), c.signal, c.noise.clone(), c.ratio.clone());
        Ok((maker, (self.seed, self.study.curves.iter().map(curve).collect())))
    }

    fn __repr__(&self) -> String {
        let curves = &self.study.curves;
        format!("<SignalStudy of {} grammars at {} numbers of sentences>", curves.len(), curves[0].samples.len())
    }
}

/// The pickled state of a grammar's curve.
type Curve = (Vec<u64>, f64, Vec<f64>, Vec<f64>);

/// Unpickles a study.
#[pyfunction]
pub fn _restore_study(seed: u64, curves: Vec<Curve>) -> PyResult<PySignalStudy> {
    let curve = |(samples, signal, noise, ratio)| SignalToNoise { samples, signal, noise, ratio };
    let study = SignalStudy { curves: curves.into_iter().map(curve).collect() };
    if study.curves.is_empty() {
        return Err(value_error("expected the curve of at least one grammar"));
    }
    Ok(PySignalStudy { study, seed })
}

fn read_average(name: &str) -> PyResult<Average> {
    match name {
        "ratio_of_means" => Ok(Average::RatioOfMeans),
        "mean_of_ratios" => Ok(Average::MeanOfRatios),
        _ => Err(value_error(format!("average is {name}, expected ratio_of_means or mean_of_ratios"))),
    }
}
