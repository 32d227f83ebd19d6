//! `gardenpath.theory`: exact functions of the parameters of the ensemble.

use crate::arrays::whole_number;
use crate::error::{OrValueError, value_error};
use crate::interrupt;
use crate::numbers::natural;
use crate::results::named;
use gardenpath::theory::{self, ByLength, Magnitude};
use gardenpath::{Arities, PerArity};
use num_bigint::BigUint;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One value for each length that a sentence can have.
#[pyclass(frozen, eq, name = "ByLength", module = "gardenpath.theory")]
#[derive(PartialEq)]
pub struct PyByLength {
    min_len: usize,
    values: Vec<f64>,
    logs: Vec<f64>,
}

impl From<ByLength<Magnitude>> for PyByLength {
    fn from(values: ByLength<Magnitude>) -> Self {
        let (plain, logs) = values.iter().map(|(_, value)| (value.value(), value.ln())).unzip();
        PyByLength { min_len: values.min_len(), values: plain, logs }
    }
}

#[pymethods]
impl PyByLength {
    #[new]
    fn new(min_len: usize, values: Vec<f64>, logs: Vec<f64>) -> PyResult<Self> {
        if values.is_empty() || values.len() != logs.len() {
            return Err(value_error("expected as many values as logarithms, at least one"));
        }
        Ok(PyByLength { min_len, values, logs })
    }

    fn __getnewargs__(&self) -> (usize, Vec<f64>, Vec<f64>) {
        (self.min_len, self.values.clone(), self.logs.clone())
    }

    /// The lengths, from `2^depth` to `3^depth`.
    #[getter]
    fn lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, (0..self.values.len()).map(|i| (self.min_len + i) as i64))
    }

    /// The values; numbers that are too small or too large are 0 and infinity.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.values)
    }

    /// The natural logarithms of the values, also of those that are too small or too large.
    #[getter]
    fn logs<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.logs)
    }

    fn __len__(&self) -> usize {
        self.values.len()
    }

    fn __repr__(&self) -> String {
        format!("<ByLength from {} to {}>", self.min_len, self.min_len + self.values.len() - 1)
    }
}

/// The probabilities of two and three children.
fn paper(p_binary: f64) -> PyResult<PerArity<f64>> {
    if !(0.0..=1.0).contains(&p_binary) {
        return Err(value_error(format!("p_binary must lie between 0 and 1, got {p_binary}")));
    }
    Ok(PerArity::paper(p_binary))
}

/// The fractions of pairs and triples that are grammatical.
fn fractions(binary: f64, ternary: Option<f64>) -> PerArity<f64> {
    PerArity::from([(2, binary), (3, ternary.unwrap_or(binary))])
}

/// The law of the length of sentences (App. p_of_d).
///
/// >>> from gardenpath import theory
/// >>> law = theory.length_distribution(depth=2)
/// >>> dict(zip(law.lengths.tolist(), law.values.tolist()))[6]     # 3-3 with 1/8 and 2-2-2 with 1/16
/// 0.1875
#[pyfunction]
#[pyo3(signature = (depth, *, p_binary=0.5))]
pub fn length_distribution(
    py: Python<'_>,
    #[pyo3(from_py_with = natural)] depth: usize,
    p_binary: f64,
) -> PyResult<PyByLength> {
    let probabilities = paper(p_binary)?;
    let law = interrupt::run(py, || theory::lengths::length_distribution(depth, probabilities))?.or_value_error()?;
    let (values, logs) = law.iter().map(|(len, probability)| (probability, law.ln_probability(len))).unzip();
    Ok(PyByLength { min_len: law.min_len(), values, logs })
}

/// The mean number of children of a node, `<s> = 3 - p_binary`.
#[pyfunction]
#[pyo3(signature = (*, p_binary=0.5))]
pub fn mean_branching(p_binary: f64) -> PyResult<f64> {
    theory::lengths::mean_branching(paper(p_binary)?).or_value_error()
}

/// The typical length of sentences, the integer part of `<s>^depth`.
#[pyfunction]
#[pyo3(signature = (depth, *, p_binary=0.5))]
pub fn typical_length(#[pyo3(from_py_with = natural)] depth: usize, p_binary: f64) -> PyResult<usize> {
    theory::lengths::typical_length(depth, paper(p_binary)?).or_value_error()
}

/// The mean number of nodes above the tokens.
#[pyfunction]
#[pyo3(signature = (depth, *, p_binary=0.5))]
pub fn mean_internal_nodes(#[pyo3(from_py_with = natural)] depth: usize, p_binary: f64) -> PyResult<f64> {
    theory::lengths::mean_internal_nodes(depth, paper(p_binary)?).or_value_error()
}

/// The exact number of tree topologies of each length, `N_t` (App. Nt_app).
///
/// >>> from gardenpath import theory
/// >>> theory.tree_count(depth=2)
/// {4: 1, 5: 2, 6: 2, 7: 3, 8: 3, 9: 1}
#[pyfunction]
pub fn tree_count(py: Python<'_>, #[pyo3(from_py_with = natural)] depth: usize) -> PyResult<Bound<'_, PyDict>> {
    let counts: ByLength<BigUint> =
        interrupt::run(py, || theory::trees::tree_count(depth, Arities::PAPER))?.or_value_error()?;
    let dict = PyDict::new(py);
    for (len, count) in counts.iter() {
        dict.set_item(len, whole_number(py, count)?)?;
    }
    Ok(dict)
}

/// The share of all strings of each length that a typical tree can write (eq. frac_data, with the weights that it lacks).
///
/// `fraction` is that of grammatical pairs, and of triples too unless `ternary_fraction` is given.
///
/// >>> from gardenpath import theory
/// >>> share = theory.grammatical_fraction(depth=2, fraction=0.5)
/// >>> dict(zip(share.lengths.tolist(), share.values.round(6).tolist()))[6]
/// 0.104167
#[pyfunction]
#[pyo3(signature = (depth, fraction, *, ternary_fraction=None, p_binary=0.5))]
pub fn grammatical_fraction(
    py: Python<'_>,
    #[pyo3(from_py_with = natural)] depth: usize,
    fraction: f64,
    ternary_fraction: Option<f64>,
    p_binary: f64,
) -> PyResult<PyByLength> {
    let (fractions, probabilities) = (fractions(fraction, ternary_fraction), paper(p_binary)?);
    let share = interrupt::run(py, || theory::fraction::grammatical_fraction(depth, fractions, probabilities))?;
    Ok(share.or_value_error()?.into())
}

/// The same share by eq. frac_data as it is printed.
#[pyfunction]
#[pyo3(signature = (depth, fraction, *, ternary_fraction=None, p_binary=0.5))]
pub fn paper_grammatical_fraction(
    py: Python<'_>,
    #[pyo3(from_py_with = natural)] depth: usize,
    fraction: f64,
    ternary_fraction: Option<f64>,
    p_binary: f64,
) -> PyResult<PyByLength> {
    let (fractions, probabilities) = (fractions(fraction, ternary_fraction), paper(p_binary)?);
    let share = interrupt::run(py, || theory::fraction::paper_grammatical_fraction(depth, fractions, probabilities))?;
    Ok(share.or_value_error()?.into())
}

/// The expected class entropy at depth 2 of large vocabularies, in nats.
///
/// >>> from gardenpath import theory
/// >>> theory.class_entropy(0.25) > theory.paper_class_entropy(0.25)
/// True
#[pyfunction]
#[pyo3(signature = (fraction, *, ternary_fraction=None, p_binary=0.5))]
pub fn class_entropy(fraction: f64, ternary_fraction: Option<f64>, p_binary: f64) -> PyResult<f64> {
    theory::entropy::class_entropy([fractions(fraction, ternary_fraction); 2], paper(p_binary)?).or_value_error()
}

/// The class entropy at depth 2 as the paper prints it.
#[pyfunction]
pub fn paper_class_entropy(fraction: f64) -> PyResult<f64> {
    theory::entropy::paper_class_entropy(fraction).or_value_error()
}

/// The mean number of symbols that a parser proposes for a random string of each length (eq. bottom_up).
#[pyfunction]
#[pyo3(signature = (depth, fraction, *, ternary_fraction=None))]
pub fn mean_candidates(
    py: Python<'_>,
    #[pyo3(from_py_with = natural)] depth: usize,
    fraction: f64,
    ternary_fraction: Option<f64>,
) -> PyResult<PyByLength> {
    let fractions = fractions(fraction, ternary_fraction);
    let candidates = interrupt::run(py, || theory::candidates::mean_candidates(depth, Arities::PAPER, fractions))?;
    Ok(candidates.or_value_error()?.into())
}

/// The fraction at which the mean number of candidates at the typical length neither shrinks nor grows with the depth.
///
/// >>> from gardenpath import theory
/// >>> abs(theory.critical_fraction(depth=5) - 0.5) < 0.02
/// True
#[pyfunction]
#[pyo3(signature = (depth, *, p_binary=0.5))]
pub fn critical_fraction(py: Python<'_>, #[pyo3(from_py_with = natural)] depth: usize, p_binary: f64) -> PyResult<f64> {
    let probabilities = paper(p_binary)?;
    interrupt::run(py, || theory::candidates::critical_fraction(depth, probabilities))?.or_value_error()
}

/// The numbers of binary and ternary splits of a span of `len` tokens whose node stands `height` levels above them.
///
/// >>> from gardenpath import theory
/// >>> theory.splits(6, height=2)
/// Splits(binary=1, ternary=1)
#[pyfunction]
pub fn splits(
    py: Python<'_>,
    #[pyo3(from_py_with = natural)] len: usize,
    #[pyo3(from_py_with = natural)] height: usize,
) -> PyResult<Bound<'_, PyAny>> {
    let splits = theory::splits::splits(height, Arities::PAPER).or_value_error()?;
    let own = splits.get(len).copied().unwrap_or_default();
    named(py, "Splits", (own[2], own[3]))
}

/// The median numbers of binary and ternary splits of all spans of a height.
#[pyfunction]
pub fn median_splits(py: Python<'_>, #[pyo3(from_py_with = natural)] height: usize) -> PyResult<Bound<'_, PyAny>> {
    let median = interrupt::run(py, || theory::splits::median_splits(height, Arities::PAPER))?.or_value_error()?;
    named(py, "Splits", (median[2], median[3]))
}

/// The number of sentences that learning needs, up to a constant (eq. samp_comp): by the paper's factor per level, and by that of a
/// uniformly chosen token.
///
/// >>> from gardenpath import theory
/// >>> paper, size_biased = theory.sample_complexity(depth=2, vocab=16, binary_rules=1, ternary_rules=16)
/// >>> round(paper), round(size_biased)
/// (2048, 3200)
#[pyfunction]
#[pyo3(signature = (depth, vocab, binary_rules, ternary_rules, *, p_binary=0.5))]
pub fn sample_complexity(
    py: Python<'_>,
    #[pyo3(from_py_with = natural)] depth: usize,
    #[pyo3(from_py_with = natural)] vocab: u64,
    #[pyo3(from_py_with = natural)] binary_rules: u64,
    #[pyo3(from_py_with = natural)] ternary_rules: u64,
    p_binary: f64,
) -> PyResult<Bound<'_, PyAny>> {
    let rules = PerArity::from([(2, binary_rules), (3, ternary_rules)]);
    let complexity = theory::complexity::sample_complexity(depth, vocab, rules, paper(p_binary)?);
    let complexity = complexity.or_value_error()?;
    named(py, "SampleComplexity", (complexity.paper.samples(), complexity.size_biased.samples()))
}

/// The twelve tree topologies of depth 2: how many tokens each child of the root has, with their probabilities.
///
/// >>> from gardenpath import theory
/// >>> trees = theory.two_level_topologies()
/// >>> len(trees), trees[0], sum(probability for _, probability in trees)
/// (12, Topology(arities=(2, 2), probability=0.125), 1.0)
#[pyfunction]
#[pyo3(signature = (*, p_binary=0.5))]
pub fn two_level_topologies(py: Python<'_>, p_binary: f64) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let probabilities = paper(p_binary)?;
    let topology = |tree: theory::trees::Topology| {
        let arities = pyo3::types::PyTuple::new(py, tree.child_arities())?.into_any();
        named(py, "Topology", (arities, tree.probability(probabilities).or_value_error()?))
    };
    theory::trees::two_level_topologies(Arities::PAPER).map(topology).collect()
}
