//! `gardenpath.theory`: exact functions of the parameters of the ensemble.

use crate::arrays::whole_number;
use crate::error::{OrValueError, value_error};
use crate::interrupt;
use crate::numbers::{natural, optional};
use crate::results::named;
use gardenpath::theory::{self, ByLength, Magnitude};
use gardenpath::{Arities, Children, PerArity, memory};
use num_bigint::BigUint;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

/// A value for some numbers of children.
type Given<T> = Option<PerArity<Option<T>>>;

/// Reads a number of children.
fn arity(object: &Bound<'_, PyAny>) -> PyResult<usize> {
    let arity: usize = natural(object)?;
    let is_possible = (1..=Children::MAX).contains(&arity);
    is_possible
        .then_some(arity)
        .ok_or_else(|| value_error(format!("a node has 1 to {} children, not {arity}", Children::MAX)))
}

/// Reads values by number of children, such as `{2: 0.5, 3: 0.5}`.
fn by_arity<'py, T>(object: &Bound<'py, PyAny>) -> PyResult<Given<T>>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr> + Copy + PartialEq,
{
    if object.is_none() {
        return Ok(None);
    }
    let mut values = PerArity::default();
    for item in object.cast::<PyMapping>()?.items()? {
        values[arity(&item.get_item(0)?)?] = Some(natural(&item.get_item(1)?)?);
    }
    Ok(Some(values))
}

/// Reads numbers of children; the values of a mapping are ignored.
fn arities(object: &Bound<'_, PyAny>) -> PyResult<Option<Arities>> {
    if object.is_none() {
        return Ok(None);
    }
    object.try_iter()?.map(|item| arity(&item?)).collect::<PyResult<_>>().map(Some)
}

/// The probability of each number of children.
fn probabilities(p_binary: f64, arities: Given<f64>) -> PyResult<PerArity<f64>> {
    match arities {
        Some(_) if p_binary != 0.5 => Err(value_error("expected p_binary or arities, not both")),
        Some(arities) => Ok(arities.map(|_, p| p.unwrap_or(0.0))),
        None => Ok(PerArity::paper(p_binary)),
    }
}

/// The fraction for each number of children: its own, or the common one.
fn fractions(
    fraction: Option<f64>,
    ternary: Option<f64>,
    own: Given<f64>,
    arities: Arities,
) -> PyResult<PerArity<f64>> {
    let mut own = own.unwrap_or_default();
    own[3] = own[3].or(ternary);
    if let Some(arity) = own.arities().iter().find(|&arity| !arities.contains(arity) && arity != 3) {
        return Err(value_error(format!("fractions has {arity} children, which no node has")));
    }
    let of_arity = |arity: usize| {
        let missing = || value_error(format!("fraction is missing, and fractions has none for {arity} children"));
        Ok((arity, own[arity].or(fraction).ok_or_else(missing)?))
    };
    arities.iter().map(of_arity).collect()
}

/// Values for pairs and triples as a named tuple, for other numbers of children as a dict.
fn named_splits<'py, T>(py: Python<'py>, splits: PerArity<T>, arities: Option<Arities>) -> PyResult<Bound<'py, PyAny>>
where
    T: IntoPyObject<'py> + Copy,
{
    let Some(arities) = arities else { return named(py, "Splits", (splits[2], splits[3])) };
    let dict = PyDict::new(py);
    arities.iter().try_for_each(|arity| dict.set_item(arity, splits[arity]))?;
    Ok(dict.into_any())
}

/// One value per possible sentence length.
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

    /// The lengths, from the shortest to the longest.
    #[getter]
    fn lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, (0..self.values.len()).map(|i| (self.min_len + i) as i64))
    }

    /// The values; those out of range are 0 or infinity.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.values)
    }

    /// The natural logarithms of the values, also of those out of range.
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

/// The distribution of sentence lengths (App. p_of_d).
///
/// >>> from gardenpath import theory
/// >>> law = theory.length_distribution(depth=2)
/// >>> dict(zip(law.lengths.tolist(), law.values.tolist()))[6]     # 3-3 with 1/8 and 2-2-2 with 1/16
/// 0.1875
/// >>> float(theory.length_distribution(depth=2, arities={1: 0.5, 4: 0.5}).values[0])     # one token
/// 0.25
#[pyfunction]
#[pyo3(signature = (depth, *, p_binary=0.5, arities=None))]
pub fn length_distribution<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = natural)] depth: usize,
    p_binary: f64,
    #[pyo3(from_py_with = by_arity)] arities: Given<f64>,
) -> PyResult<PyByLength> {
    let law = probabilities(p_binary, arities)?;
    let law = interrupt::run(py, || theory::lengths::length_distribution(depth, law))?.or_value_error()?;
    let (values, logs) = law.iter().map(|(len, probability)| (probability, law.ln_probability(len))).unzip();
    Ok(PyByLength { min_len: law.min_len(), values, logs })
}

/// The mean number of children of a node, `<s>`, which is `3 - p_binary` for two and three children.
#[pyfunction]
#[pyo3(signature = (*, p_binary=0.5, arities=None))]
pub fn mean_branching(p_binary: f64, #[pyo3(from_py_with = by_arity)] arities: Given<f64>) -> PyResult<f64> {
    theory::lengths::mean_branching(probabilities(p_binary, arities)?).or_value_error()
}

/// The typical sentence length, the integer part of `<s>^depth`; if no tree has it, the next shorter length that some
/// tree has.
#[pyfunction]
#[pyo3(signature = (depth, *, p_binary=0.5, arities=None))]
pub fn typical_length(
    #[pyo3(from_py_with = natural)] depth: usize,
    p_binary: f64,
    #[pyo3(from_py_with = by_arity)] arities: Given<f64>,
) -> PyResult<usize> {
    theory::lengths::typical_length(depth, probabilities(p_binary, arities)?).or_value_error()
}

/// The mean number of internal nodes.
#[pyfunction]
#[pyo3(signature = (depth, *, p_binary=0.5, arities=None))]
pub fn mean_internal_nodes(
    #[pyo3(from_py_with = natural)] depth: usize,
    p_binary: f64,
    #[pyo3(from_py_with = by_arity)] arities: Given<f64>,
) -> PyResult<f64> {
    theory::lengths::mean_internal_nodes(depth, probabilities(p_binary, arities)?).or_value_error()
}

/// The exact number of tree topologies of each length, `N_t` (App. Nt_app), for nodes with two or three children, or
/// any of `arities`.
///
/// >>> from gardenpath import theory
/// >>> theory.tree_count(depth=2)
/// {4: 1, 5: 2, 6: 2, 7: 3, 8: 3, 9: 1}
/// >>> theory.tree_count(depth=2, arities=[1, 3])
/// {1: 1, 3: 2, 5: 3, 7: 3, 9: 1}
#[pyfunction]
#[pyo3(signature = (depth, *, arities=None))]
pub fn tree_count<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = natural)] depth: usize,
    #[pyo3(from_py_with = arities)] arities: Option<Arities>,
) -> PyResult<Bound<'py, PyDict>> {
    let arities = arities.unwrap_or(Arities::PAPER);
    let counts: ByLength<BigUint> =
        interrupt::run(py, || theory::trees::tree_count(depth, arities))?.or_value_error()?;
    let dict = PyDict::new(py);
    for (len, count) in counts.iter().filter(|(_, count)| count.bits() > 0) {
        dict.set_item(len, whole_number(py, count)?)?;
    }
    Ok(dict)
}

/// The fraction of strings of each length that a typical tree can generate (eq. frac_data, with the missing weights).
///
/// `fraction` applies to pairs, and to all other tuples without their own: `ternary_fraction`, or an entry of
/// `fractions`.
///
/// >>> from gardenpath import theory
/// >>> share = theory.grammatical_fraction(depth=2, fraction=0.5)
/// >>> dict(zip(share.lengths.tolist(), share.values.round(6).tolist()))[6]
/// 0.104167
#[pyfunction]
#[pyo3(signature = (depth, fraction=None, *, ternary_fraction=None, p_binary=0.5, arities=None, fractions=None))]
pub fn grammatical_fraction<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = natural)] depth: usize,
    fraction: Option<f64>,
    ternary_fraction: Option<f64>,
    p_binary: f64,
    #[pyo3(from_py_with = by_arity)] arities: Given<f64>,
    #[pyo3(from_py_with = by_arity)] fractions: Given<f64>,
) -> PyResult<PyByLength> {
    let law = probabilities(p_binary, arities)?;
    let fractions = self::fractions(fraction, ternary_fraction, fractions, law.arities())?;
    let share = interrupt::run(py, || theory::fraction::grammatical_fraction(depth, fractions, law))?;
    Ok(share.or_value_error()?.into())
}

/// The same fraction by eq. frac_data as printed.
#[pyfunction]
#[pyo3(signature = (depth, fraction=None, *, ternary_fraction=None, p_binary=0.5, arities=None, fractions=None))]
pub fn paper_grammatical_fraction<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = natural)] depth: usize,
    fraction: Option<f64>,
    ternary_fraction: Option<f64>,
    p_binary: f64,
    #[pyo3(from_py_with = by_arity)] arities: Given<f64>,
    #[pyo3(from_py_with = by_arity)] fractions: Given<f64>,
) -> PyResult<PyByLength> {
    let law = probabilities(p_binary, arities)?;
    let fractions = self::fractions(fraction, ternary_fraction, fractions, law.arities())?;
    let share = interrupt::run(py, || theory::fraction::paper_grammatical_fraction(depth, fractions, law))?;
    Ok(share.or_value_error()?.into())
}

/// The expected class entropy at depth 2 for large vocabularies, in nats. It is known if at most 20 trees have the same
/// length.
///
/// >>> from gardenpath import theory
/// >>> theory.class_entropy(0.25) > theory.paper_class_entropy(0.25)
/// True
/// >>> round(theory.class_entropy(arities={1: 0.5, 2: 0.5}, fractions={1: 1, 2: 0.5}), 4)
/// 0.1627
#[pyfunction]
#[pyo3(signature = (fraction=None, *, ternary_fraction=None, p_binary=0.5, arities=None, fractions=None))]
pub fn class_entropy<'py>(
    py: Python<'py>,
    fraction: Option<f64>,
    ternary_fraction: Option<f64>,
    p_binary: f64,
    #[pyo3(from_py_with = by_arity)] arities: Given<f64>,
    #[pyo3(from_py_with = by_arity)] fractions: Given<f64>,
) -> PyResult<f64> {
    let law = probabilities(p_binary, arities)?;
    let fractions = self::fractions(fraction, ternary_fraction, fractions, law.arities())?;
    interrupt::run(py, || theory::entropy::class_entropy([fractions; 2], law))?.or_value_error()
}

/// The class entropy at depth 2 as printed in the paper, for two and three children at even odds.
#[pyfunction]
pub fn paper_class_entropy(fraction: f64) -> PyResult<f64> {
    theory::entropy::paper_class_entropy(fraction).or_value_error()
}

/// The mean number of symbols that a parser proposes for a random string of each length (eq. bottom_up), for nodes with
/// two or three children, or any of `arities`. See `grammatical_fraction` for fractions.
#[pyfunction]
#[pyo3(signature = (depth, fraction=None, *, ternary_fraction=None, arities=None, fractions=None))]
pub fn mean_candidates<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = natural)] depth: usize,
    fraction: Option<f64>,
    ternary_fraction: Option<f64>,
    #[pyo3(from_py_with = arities)] arities: Option<Arities>,
    #[pyo3(from_py_with = by_arity)] fractions: Given<f64>,
) -> PyResult<PyByLength> {
    let arities = arities.unwrap_or(Arities::PAPER);
    let fractions = self::fractions(fraction, ternary_fraction, fractions, arities)?;
    let candidates = interrupt::run(py, || theory::candidates::mean_candidates(depth, arities, fractions))?;
    Ok(candidates.or_value_error()?.into())
}

/// The fraction at which the mean number of candidates at the typical length neither shrinks nor grows with the depth.
///
/// >>> from gardenpath import theory
/// >>> abs(theory.critical_fraction(depth=5) - 0.5) < 0.02
/// True
#[pyfunction]
#[pyo3(signature = (depth, *, p_binary=0.5, arities=None))]
pub fn critical_fraction<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = natural)] depth: usize,
    p_binary: f64,
    #[pyo3(from_py_with = by_arity)] arities: Given<f64>,
) -> PyResult<f64> {
    let law = probabilities(p_binary, arities)?;
    interrupt::run(py, || theory::candidates::critical_fraction(depth, law))?.or_value_error()
}

/// The numbers of binary and ternary splits of a span of `len` tokens whose node is `height` levels above them; with
/// `arities`, the numbers of splits by number of children.
///
/// >>> from gardenpath import theory
/// >>> theory.splits(6, height=2)
/// Splits(binary=1, ternary=1)
/// >>> theory.splits(8, height=2, arities=[1, 2, 4])
/// {1: 0, 2: 1, 4: 13}
#[pyfunction]
#[pyo3(signature = (len, height, *, arities=None))]
pub fn splits<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = natural)] len: usize,
    #[pyo3(from_py_with = natural)] height: usize,
    #[pyo3(from_py_with = arities)] arities: Option<Arities>,
) -> PyResult<Bound<'py, PyAny>> {
    let own = arities.unwrap_or(Arities::PAPER);
    let splits = interrupt::run(py, || theory::splits::splits(height, own))?.or_value_error()?;
    named_splits(py, splits.get(len).copied().unwrap_or_default(), arities)
}

/// The median numbers of binary and ternary splits over all spans of a height; with `arities`, by number of children.
#[pyfunction]
#[pyo3(signature = (height, *, arities=None))]
pub fn median_splits<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = natural)] height: usize,
    #[pyo3(from_py_with = arities)] arities: Option<Arities>,
) -> PyResult<Bound<'py, PyAny>> {
    let own = arities.unwrap_or(Arities::PAPER);
    named_splits(py, interrupt::run(py, || theory::splits::median_splits(height, own))?.or_value_error()?, arities)
}

/// The number of sentences that learning needs, up to a constant (eq. samp_comp): with the paper's factor per level,
/// and with that of a uniformly chosen token. Numbers of rules are per symbol; for other numbers of children than two
/// and three, use `rules`.
///
/// >>> from gardenpath import theory
/// >>> paper, size_biased = theory.sample_complexity(depth=2, vocab=16, binary_rules=1, ternary_rules=16)
/// >>> round(paper), round(size_biased)
/// (2048, 3200)
/// >>> theory.sample_complexity(2, 16, arities={2: 0.5, 4: 0.5}, rules={2: 1, 4: 64}).paper
/// 8192.0
#[pyfunction]
#[pyo3(signature = (depth, vocab, binary_rules=None, ternary_rules=None, *, p_binary=0.5, arities=None, rules=None))]
#[allow(clippy::too_many_arguments)]
pub fn sample_complexity<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = natural)] depth: usize,
    #[pyo3(from_py_with = natural)] vocab: u64,
    #[pyo3(from_py_with = optional)] binary_rules: Option<u64>,
    #[pyo3(from_py_with = optional)] ternary_rules: Option<u64>,
    p_binary: f64,
    #[pyo3(from_py_with = by_arity)] arities: Given<f64>,
    #[pyo3(from_py_with = by_arity)] rules: Given<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let law = probabilities(p_binary, arities)?;
    let mut own = rules.unwrap_or_default();
    own[2] = own[2].or(binary_rules);
    own[3] = own[3].or(ternary_rules);
    if let Some(arity) = law.arities().iter().find(|&arity| own[arity].is_none()) {
        return Err(value_error(format!("the number of rules with {arity} children is missing")));
    }
    let rules = own.map(|_, rules| rules.unwrap_or(0));
    let complexity = theory::complexity::sample_complexity(depth, vocab, rules, law).or_value_error()?;
    named(py, "SampleComplexity", (complexity.paper.samples(), complexity.size_biased.samples()))
}

/// The tree topologies of depth 2, twelve for two and three children: the arities of the root's children, with their
/// probabilities.
///
/// >>> from gardenpath import theory
/// >>> trees = theory.two_level_topologies()
/// >>> len(trees), trees[0], sum(probability for _, probability in trees)
/// (12, Topology(arities=(2, 2), probability=0.125), 1.0)
#[pyfunction]
#[pyo3(signature = (*, p_binary=0.5, arities=None))]
pub fn two_level_topologies<'py>(
    py: Python<'py>,
    p_binary: f64,
    #[pyo3(from_py_with = by_arity)] arities: Given<f64>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let law = probabilities(p_binary, arities)?;
    let choices = law.arities().iter().count() as u128;
    let trees: u128 = law.arities().iter().map(|root| choices.pow(root as u32)).sum();
    memory::check(format_args!("a list of {trees} trees"), trees * 1024).or_value_error()?;
    let topology = |tree: theory::trees::Topology| {
        let arities = pyo3::types::PyTuple::new(py, tree.child_arities())?.into_any();
        named(py, "Topology", (arities, tree.probability(law).or_value_error()?))
    };
    theory::trees::two_level_topologies(law.arities()).map(topology).collect()
}
