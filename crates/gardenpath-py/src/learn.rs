//! Learning a grammar, and comparing the result with the truth.

use crate::corpus::PyCorpus;
use crate::error::{OrValueError, value_error};
use crate::grammar::PyGrammar;
use crate::interrupt::{self, Caller};
use crate::numbers::{natural, optional};
use crate::results::named;
use gardenpath::learn::paper::{Alignment, cluster_true_rules};
use gardenpath::learn::{Branching, Em, Exact, Learned, LearnedLevel, Learner, Outline, Paper, Verdict, score};
use gardenpath::{Arities, Children, KMeans, Moments, PerArity, Seed};
use gardenpath_lab::files::without_labels;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A number per number of children.
type ByArity = BTreeMap<usize, f64>;

/// A learned grammar: see `learn`.
#[pyclass(frozen, eq, name = "Learned", module = "gardenpath")]
#[derive(PartialEq)]
pub struct PyLearned(Learned);

/// The learned rules of one level.
#[pyclass(frozen, eq, name = "LearnedLevel", module = "gardenpath", from_py_object)]
#[derive(Clone, PartialEq)]
pub struct PyLevel(LearnedLevel);

#[pymethods]
impl PyLevel {
    #[new]
    fn new(
        #[pyo3(from_py_with = natural)] level: usize,
        rules: BTreeMap<usize, usize>,
        probabilities: BTreeMap<usize, f64>,
        #[pyo3(from_py_with = natural)] empty_symbols: usize,
    ) -> PyResult<Self> {
        let (rules, probabilities) = (per_arity(rules)?, per_arity(probabilities)?);
        Ok(PyLevel(LearnedLevel { level, rules, probabilities, empty_symbols }))
    }

    /// The level of the parents.
    #[getter]
    fn level(&self) -> usize {
        self.0.level
    }

    /// The number of rules by number of children.
    #[getter]
    fn rules(&self) -> BTreeMap<usize, usize> {
        self.0.rules.nonzero().collect()
    }

    /// The probability of each number of children, averaged over symbols with rules.
    #[getter]
    fn probabilities(&self) -> BTreeMap<usize, f64> {
        self.0.probabilities.nonzero().collect()
    }

    /// The number of binary rules.
    #[getter]
    fn binary_rules(&self) -> usize {
        self.0.rules[2]
    }

    /// The number of ternary rules.
    #[getter]
    fn ternary_rules(&self) -> usize {
        self.0.rules[3]
    }

    /// The probability of two children.
    #[getter]
    fn p_binary(&self) -> f64 {
        self.0.probabilities[2]
    }

    /// The number of symbols without rules.
    #[getter]
    fn empty_symbols(&self) -> usize {
        self.0.empty_symbols
    }

    fn __getnewargs__(&self) -> (usize, BTreeMap<usize, usize>, BTreeMap<usize, f64>, usize) {
        (self.level(), self.rules(), self.probabilities(), self.empty_symbols())
    }

    fn __repr__(&self) -> String {
        let count = |(arity, count): (usize, usize)| match arity {
            2 => format!("{count} binary"),
            3 => format!("{count} ternary"),
            _ => format!("{count} {arity}-ary"),
        };
        let rules: Vec<String> = self.0.rules.nonzero().map(count).collect();
        format!("<LearnedLevel {}: {} rules>", self.0.level, rules.join(" and "))
    }
}

/// Values by number of children.
fn per_arity<T: Copy + Default + PartialEq>(values: BTreeMap<usize, T>) -> PyResult<PerArity<T>> {
    match values.keys().find(|arity| !(1..=Children::MAX).contains(*arity)) {
        Some(arity) => Err(value_error(format!(
            "number of children is {arity}, expected at least 1 and at most {}",
            Children::MAX
        ))),
        None => Ok(values.into_iter().collect()),
    }
}

#[pymethods]
impl PyLearned {
    /// The learned grammar. Tokens and roots keep their numbers; the symbols between them are numbered arbitrarily.
    #[getter]
    fn grammar(&self) -> PyGrammar {
        self.0.grammar.clone().into()
    }

    /// The self-check: "converged", or the reason why the grammar cannot be trusted. Only mode exact has one.
    #[getter]
    fn verdict(&self) -> &str {
        match &self.0.verdict {
            Verdict::Converged => "converged",
            Verdict::NotConverged(reason) => reason,
            Verdict::Unknown => "unknown: only mode exact has a self-check",
        }
    }

    /// Whether the self-check passed.
    #[getter]
    fn converged(&self) -> bool {
        self.0.verdict == Verdict::Converged
    }

    /// The number of sentences skipped because no tree has their length. Only for mode exact.
    #[getter]
    fn skipped(&self) -> Option<usize> {
        self.0.skipped
    }

    /// The number of sentences that the grammar does not derive from their label. Only for mode exact.
    #[getter]
    fn underivable(&self) -> Option<usize> {
        self.0.underivable
    }

    /// The mean log-likelihood of a sentence given its label. Only for mode em, which maximizes it.
    #[getter]
    fn log_likelihood(&self) -> Option<f64> {
        self.0.log_likelihood
    }

    /// The learned rules of each level, from the root down.
    #[getter]
    fn levels(&self) -> Vec<PyLevel> {
        self.0.levels.iter().cloned().map(PyLevel).collect()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts)> {
        let maker = py.import("gardenpath._core")?.getattr("_restore_learned")?;
        let verdict = (self.0.verdict != Verdict::Unknown).then(|| (self.converged(), self.verdict().to_owned()));
        let counts = (self.0.skipped, self.0.underivable, self.0.log_likelihood);
        Ok((maker, (self.grammar(), verdict, self.levels(), counts)))
    }

    fn __repr__(&self) -> String {
        format!("<Learned grammar: {}>", self.verdict())
    }
}

/// Values of some modes only: skipped and underivable sentences, and the log-likelihood.
type Counts = (Option<usize>, Option<usize>, Option<f64>);

/// The pickled state of a learned grammar.
type Parts = (PyGrammar, Option<(bool, String)>, Vec<PyLevel>, Counts);

/// Unpickles a learned grammar.
#[pyfunction]
pub fn _restore_learned(
    grammar: &Bound<'_, PyGrammar>,
    verdict: Option<(bool, String)>,
    levels: Vec<PyLevel>,
    counts: Counts,
) -> PyLearned {
    let verdict = match verdict {
        None => Verdict::Unknown,
        Some((true, _)) => Verdict::Converged,
        Some((false, reason)) => Verdict::NotConverged(reason),
    };
    let (skipped, underivable, log_likelihood) = counts;
    let grammar = (*grammar.get().grammar).clone();
    let levels = levels.into_iter().map(|level| level.0).collect();
    PyLearned(Learned { grammar, verdict, levels, skipped, underivable, log_likelihood })
}

/// Learns a grammar from sentences and their roots.
///
/// Mode "exact" recovers every rule, or says why not; "paper" is the paper's algorithm; "em" is inside-outside from
/// random starts. `vocab` is the number of symbols of each level between root and tokens: one for all, or one per level
/// from the root down; by default that of the tokens. `arities` are the numbers of children that nodes may have, from 2
/// to 4, or a mapping from them to their probabilities; by default 2 and 3. Tokens and classes are those of the corpus,
/// and the prior is the frequency of the classes; if no sentence has a root, there is one class. With `unlabelled`,
/// mode exact ignores the roots: it recovers every rule below the root from sentences alone, and the root is one start
/// symbol. `noise` is the fraction of wrong labels and tokens that mode exact tolerates. Sentences whose length no tree
/// has are skipped, or an error if `strict`. `progress` is called with a line of text at every step.
///
/// >>> import gardenpath
/// >>> truth = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=3)
/// >>> learned = gardenpath.learn(truth.corpus(10_000, seed=4), depth=2)
/// >>> learned.verdict
/// 'converged'
/// >>> all(level.exact for level in gardenpath.score_rules(learned.grammar, truth))
/// True
#[pyfunction]
#[pyo3(signature = (corpus, depth, *, vocab=None, arities=None, mode="exact", p_binary=None, noise=0.02, strict=false, unlabelled=false,
                    seed=0, gamma_binary=0.85, gamma_ternary=1.5, alignment="inner-product", starts=3, rounds=50, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn learn(
    py: Python<'_>,
    corpus: &Bound<'_, PyCorpus>,
    #[pyo3(from_py_with = natural)] depth: usize,
    #[pyo3(from_py_with = sizes)] vocab: Option<Vec<usize>>,
    #[pyo3(from_py_with = branching)] arities: Option<Branching>,
    mode: &str,
    p_binary: Option<f64>,
    noise: f64,
    strict: bool,
    unlabelled: bool,
    #[pyo3(from_py_with = natural)] seed: u64,
    gamma_binary: f64,
    gamma_ternary: f64,
    alignment: &str,
    #[pyo3(from_py_with = natural)] starts: usize,
    #[pyo3(from_py_with = natural)] rounds: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyLearned> {
    let usual = Branching::Learned(Arities::PAPER);
    let branching = match (arities, p_binary) {
        (None, Some(p)) => Branching::binary(p),
        (Some(own), Some(p)) if own == usual => Branching::binary(p),
        (Some(own), Some(_)) => return Err(value_error(format!("arities is {own}, expected 2,3 with p_binary"))),
        (own, None) => own.unwrap_or(usual),
    };
    let tokens = corpus.get().vocab;
    let outline = Outline { depth, inner: vocab.unwrap_or(vec![tokens]), branching, tokens, classes: 0 };
    let (corpus, seed) = (&corpus.get().corpus, Seed::new(seed));
    if unlabelled && mode != "exact" {
        return Err(value_error(format!("mode is {mode}, expected exact: unlabelled needs it")));
    }
    let bare = || without_labels(corpus.clone()).or_value_error();
    let corpus = &if unlabelled { Cow::Owned(bare()?) } else { Cow::Borrowed(corpus) };
    let learner: Box<dyn Learner + Sync> = match mode {
        "exact" => Box::new(Exact { outline, seed, noise, strict }),
        "paper" => {
            let alignment = match alignment {
                "inner-product" => Alignment::InnerProduct,
                "cosine" => Alignment::Cosine,
                _ => return Err(value_error(format!("alignment is {alignment}, expected inner-product or cosine"))),
            };
            Box::new(Paper { gamma_binary, gamma_ternary, alignment, seed, ..Paper::new(outline) })
        }
        "em" => Box::new(Em { outline, starts, rounds, seed }),
        _ => return Err(value_error(format!("mode is {mode}, expected exact, paper or em"))),
    };
    let hear = |step: String| match &progress {
        Some(progress) => progress.call1(py, (step,)).map(drop),
        None => Ok(()),
    };
    let work = |caller: &Caller<'_, String>| learner.learn(corpus, &mut |step| caller.tell(step.to_string()));
    Ok(PyLearned(interrupt::watched(py, false, work, hear)?.or_value_error()?))
}

/// One number, several, or `None`.
fn sizes(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<usize>>> {
    match object.try_iter() {
        Ok(items) => items.map(|item| natural(&item?)).collect::<PyResult<_>>().map(Some),
        Err(_) => Ok(optional(object)?.map(|size| vec![size])),
    }
}

/// Numbers of children, a mapping from them to probabilities, or `None`.
fn branching(object: &Bound<'_, PyAny>) -> PyResult<Option<Branching>> {
    if object.is_none() {
        return Ok(None);
    }
    let text = match object.cast::<PyMapping>() {
        Ok(mapping) => {
            let items: Vec<(usize, f64)> = mapping.items()?.extract()?;
            items.iter().map(|(arity, probability)| format!("{arity}:{probability}")).collect::<Vec<_>>()
        }
        Err(_) => object.try_iter()?.map(|item| Ok(item?.str()?.to_string())).collect::<PyResult<_>>()?,
    };
    text.join(",").parse().map(Some).or_value_error()
}

/// How well the rules of one level were learned: see `score_rules`.
#[pyclass(frozen, eq, get_all, name = "LevelScore", module = "gardenpath")]
#[derive(PartialEq)]
pub struct PyLevelScore {
    /// The level of the parents.
    level: usize,
    /// The fraction of learned rules that are true, by number of children.
    precision: BTreeMap<usize, f64>,
    /// The fraction of true rules that were learned, by number of children.
    recall: BTreeMap<usize, f64>,
    /// The mean cluster purity of the true rules, by number of children.
    purity: BTreeMap<usize, f64>,
    /// Whether exactly the true rules were learned.
    exact: bool,
}

#[pymethods]
impl PyLevelScore {
    #[new]
    fn new(
        level: usize,
        precision: BTreeMap<usize, f64>,
        recall: BTreeMap<usize, f64>,
        purity: BTreeMap<usize, f64>,
        exact: bool,
    ) -> Self {
        PyLevelScore { level, precision, recall, purity, exact }
    }

    /// The fraction of learned binary rules that are true.
    #[getter]
    fn binary_precision(&self) -> f64 {
        self.precision.get(&2).copied().unwrap_or(1.0)
    }

    /// The fraction of true binary rules that were learned.
    #[getter]
    fn binary_recall(&self) -> f64 {
        self.recall.get(&2).copied().unwrap_or(1.0)
    }

    /// The fraction of learned ternary rules that are true.
    #[getter]
    fn ternary_precision(&self) -> f64 {
        self.precision.get(&3).copied().unwrap_or(1.0)
    }

    /// The fraction of true ternary rules that were learned.
    #[getter]
    fn ternary_recall(&self) -> f64 {
        self.recall.get(&3).copied().unwrap_or(1.0)
    }

    /// The mean cluster purity of the true binary rules.
    #[getter]
    fn binary_purity(&self) -> f64 {
        self.purity.get(&2).copied().unwrap_or(f64::NAN)
    }

    /// The mean cluster purity of the true ternary rules.
    #[getter]
    fn ternary_purity(&self) -> f64 {
        self.purity.get(&3).copied().unwrap_or(f64::NAN)
    }

    fn __getnewargs__(&self) -> (usize, ByArity, ByArity, ByArity, bool) {
        (self.level, self.precision.clone(), self.recall.clone(), self.purity.clone(), self.exact)
    }

    fn __repr__(&self) -> String {
        let list = |shares: &BTreeMap<usize, f64>| {
            let shares: Vec<String> = shares.values().map(|share| format!("{share:.4}")).collect();
            shares.join(" and ")
        };
        format!("<LevelScore {}: precision {}, recall {}>", self.level, list(&self.precision), list(&self.recall))
    }
}

/// Compares the rules of a learned grammar with the true ones, level by level from the root. Symbols of inner levels
/// are matched so that most rules agree.
#[pyfunction]
pub fn score_rules(learned: &Bound<'_, PyGrammar>, truth: &Bound<'_, PyGrammar>) -> PyResult<Vec<PyLevelScore>> {
    let scores = score::score_rules(&learned.get().grammar, &truth.get().grammar).or_value_error()?;
    let level = |score: score::LevelScore| PyLevelScore {
        level: score.level,
        precision: score.rules.nonzero().map(|(arity, rules)| (arity, rules.precision())).collect(),
        recall: score.rules.nonzero().map(|(arity, rules)| (arity, rules.recall())).collect(),
        purity: {
            let true_rules = score.rules.nonzero().filter(|(_, rules)| rules.truth > 0);
            true_rules.map(|(arity, _)| (arity, score.purity[arity])).collect()
        },
        exact: score.is_exact(),
    };
    Ok(scores.into_iter().map(level).collect())
}

/// Seeded k-means: the best of several starts, improved by moving single centroids as long as that helps. Returns
/// labels, centroids and the sum of squared distances.
///
/// >>> import gardenpath
/// >>> labels, centroids, inertia = gardenpath.kmeans([[0.0], [0.1], [5.0], [5.1]], clusters=2)
/// >>> bool(labels[0] == labels[1] != labels[2] == labels[3]), round(inertia, 9)
/// (True, 0.01)
#[pyfunction]
#[pyo3(signature = (rows, clusters, *, restarts=10, seed=0))]
pub fn kmeans<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = natural)] clusters: usize,
    #[pyo3(from_py_with = natural)] restarts: u64,
    #[pyo3(from_py_with = natural)] seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let (values, dimension) = read_matrix(rows)?;
    let kmeans = KMeans::new(clusters).restarts(restarts).seed(Seed::new(seed));
    let found = interrupt::run(py, || kmeans.fit(&values, dimension))?.or_value_error()?;
    let labels = PyArray1::from_iter(py, found.labels().iter().map(|&label| label as i64));
    let centroids: Vec<f64> = (0..found.clusters()).flat_map(|cluster| found.centroid(cluster).to_vec()).collect();
    let centroids = PyArray1::from_vec(py, centroids).reshape([found.clusters(), dimension])?;
    named(py, "Clusters", (labels, centroids, found.inertia()))
}

/// The concatenated rows of a matrix, and their length.
fn read_matrix(object: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, usize)> {
    let array = object.py().import("numpy")?.call_method1("ascontiguousarray", (object, "f8"))?;
    let array: PyReadonlyArray2<'_, f64> =
        array.extract().map_err(|_| value_error("rows are not a matrix, expected two dimensions"))?;
    Ok((array.as_slice()?.to_vec(), array.as_array().ncols()))
}

/// The paper's empirical test of clustering: the true tuples above the tokens are given, and k-means clusters their
/// covariances with the root. Returns the mean cluster purity of pairs, of triples corrected for pairs, and of
/// uncorrected triples.
#[pyfunction]
#[pyo3(signature = (grammar, corpus, *, restarts=10, seed=0))]
pub fn rule_purity<'py>(
    py: Python<'py>,
    grammar: &Bound<'py, PyGrammar>,
    corpus: &Bound<'py, PyCorpus>,
    #[pyo3(from_py_with = natural)] restarts: u64,
    #[pyo3(from_py_with = natural)] seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let (grammar, corpus) = (&grammar.get().grammar, &corpus.get().corpus);
    let purity = interrupt::run(py, || {
        let mut moments = Moments::new(grammar.vocab(), grammar.classes())?;
        moments.add_corpus(corpus)?;
        let kmeans = KMeans::new(grammar.vocab()).restarts(restarts).seed(Seed::new(seed));
        cluster_true_rules(grammar, &moments.covariance(), &kmeans)
    })?;
    let purity = purity.or_value_error()?;
    named(py, "Purity", (purity.binary, purity.ternary, purity.ternary_uncorrected))
}
