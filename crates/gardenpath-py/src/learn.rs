//! Learning a grammar back, and how close the result is to the truth.

use crate::corpus::PyCorpus;
use crate::error::{OrValueError, value_error};
use crate::grammar::PyGrammar;
use crate::interrupt::{self, Caller};
use crate::numbers::{natural, optional};
use crate::results::named;
use gardenpath::learn::exact::{self, LevelReport, Verdict};
use gardenpath::learn::paper::{Alignment, PaperLearner, cluster_true_rules};
use gardenpath::learn::{em, score};
use gardenpath::{Grammar, KMeans, Moments, Seed};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

/// A learned grammar: see `learn`.
#[pyclass(frozen, eq, name = "Learned", module = "gardenpath")]
#[derive(PartialEq)]
pub struct PyLearned {
    grammar: Grammar,
    verdict: Option<Verdict>,
    levels: Vec<PyLevel>,
    /// What mode exact counts: sentences that were skipped, and those without a derivation from their label.
    uncounted: Option<(usize, usize)>,
}

/// What was learned about one level.
#[pyclass(frozen, eq, get_all, name = "LearnedLevel", module = "gardenpath", from_py_object)]
#[derive(Clone, PartialEq)]
pub struct PyLevel {
    /// The level of the parents.
    level: usize,
    /// The number of binary rules.
    binary_rules: usize,
    /// The number of ternary rules.
    ternary_rules: usize,
    /// The probability of two children, given or learned.
    p_binary: f64,
    /// The number of symbols for which no rule was found.
    empty_symbols: usize,
}

#[pymethods]
impl PyLevel {
    #[new]
    fn new(
        #[pyo3(from_py_with = natural)] level: usize,
        #[pyo3(from_py_with = natural)] binary_rules: usize,
        #[pyo3(from_py_with = natural)] ternary_rules: usize,
        p_binary: f64,
        #[pyo3(from_py_with = natural)] empty_symbols: usize,
    ) -> Self {
        PyLevel { level, binary_rules, ternary_rules, p_binary, empty_symbols }
    }

    fn __getnewargs__(&self) -> (usize, usize, usize, f64, usize) {
        (self.level, self.binary_rules, self.ternary_rules, self.p_binary, self.empty_symbols)
    }

    fn __repr__(&self) -> String {
        let PyLevel { level, binary_rules, ternary_rules, .. } = self;
        format!("<LearnedLevel {level}: {binary_rules} binary and {ternary_rules} ternary rules>")
    }
}

#[pymethods]
impl PyLearned {
    /// The learned grammar. Tokens and roots keep their numbers; the symbols between them are numbered arbitrarily.
    #[getter]
    fn grammar(&self) -> PyGrammar {
        self.grammar.clone().into()
    }

    /// Whether the grammar can be trusted: "converged", or why not. Only mode exact can tell.
    #[getter]
    fn verdict(&self) -> &str {
        match &self.verdict {
            Some(Verdict::Converged) => "converged",
            Some(Verdict::NotConverged(reason)) => reason,
            None => "unknown: only mode exact judges itself",
        }
    }

    /// Whether the verdict is that the grammar can be trusted.
    #[getter]
    fn converged(&self) -> bool {
        self.verdict == Some(Verdict::Converged)
    }

    /// The number of sentences that were skipped because no tree has their length. Only mode exact counts them.
    #[getter]
    fn skipped(&self) -> Option<usize> {
        self.uncounted.map(|(skipped, _)| skipped)
    }

    /// The number of sentences that the grammar does not derive from their label. Only mode exact counts them.
    #[getter]
    fn underivable(&self) -> Option<usize> {
        self.uncounted.map(|(_, underivable)| underivable)
    }

    /// What was learned about each level, from the root down.
    #[getter]
    fn levels(&self) -> Vec<PyLevel> {
        self.levels.clone()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts)> {
        let maker = py.import("gardenpath._core")?.getattr("_restore_learned")?;
        let verdict = self.verdict.as_ref().map(|_| (self.converged(), self.verdict().to_owned()));
        Ok((maker, (self.grammar(), verdict, self.levels.clone(), self.uncounted)))
    }

    fn __repr__(&self) -> String {
        format!("<Learned grammar: {}>", self.verdict())
    }
}

/// What `pickle` keeps of a learned grammar.
type Parts = (PyGrammar, Option<(bool, String)>, Vec<PyLevel>, Option<(usize, usize)>);

/// Makes a learned grammar from what `pickle` kept.
#[pyfunction]
pub fn _restore_learned(
    grammar: &Bound<'_, PyGrammar>,
    verdict: Option<(bool, String)>,
    levels: Vec<PyLevel>,
    uncounted: Option<(usize, usize)>,
) -> PyLearned {
    let judge = |(converged, reason)| if converged { Verdict::Converged } else { Verdict::NotConverged(reason) };
    PyLearned { grammar: (*grammar.get().grammar).clone(), verdict: verdict.map(judge), levels, uncounted }
}

/// Learns a grammar from sentences and their roots.
///
/// Mode "exact" recovers every rule, or says why not; "paper" is the algorithm of the paper; "em" is inside-outside from random starts.
/// `vocab` is the number of symbols of each level between root and tokens, that of the tokens if it is None; tokens and classes are those of
/// the corpus, and the prior is how often the classes occurred. `noise` is the share of labels and tokens that may be wrong before mode exact
/// distrusts sentences without a derivation. Sentences whose length no tree has are skipped, or refused if `strict`. `progress` is called
/// with a line of text at every step.
///
/// >>> import gardenpath
/// >>> truth = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=3)
/// >>> learned = gardenpath.learn(truth.corpus(10_000, seed=4), depth=2)
/// >>> learned.verdict
/// 'converged'
/// >>> all(level.exact for level in gardenpath.score_rules(learned.grammar, truth))
/// True
#[pyfunction]
#[pyo3(signature = (corpus, depth, *, vocab=None, mode="exact", p_binary=None, noise=0.02, strict=false, seed=0, gamma_binary=0.85, gamma_ternary=1.5,
                    alignment="inner-product", starts=3, rounds=50, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn learn(
    py: Python<'_>,
    corpus: &Bound<'_, PyCorpus>,
    #[pyo3(from_py_with = natural)] depth: usize,
    #[pyo3(from_py_with = optional)] vocab: Option<usize>,
    mode: &str,
    p_binary: Option<f64>,
    noise: f64,
    strict: bool,
    #[pyo3(from_py_with = natural)] seed: u64,
    gamma_binary: f64,
    gamma_ternary: f64,
    alignment: &str,
    #[pyo3(from_py_with = natural)] starts: usize,
    #[pyo3(from_py_with = natural)] rounds: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyLearned> {
    let tokens = corpus.get().vocab;
    let (vocab, classes) = (vocab.unwrap_or(tokens), 0);
    let corpus = &corpus.get().corpus;
    let seed = Seed::new(seed);
    let hear = |step: String| match &progress {
        Some(progress) => progress.call1(py, (step,)).map(drop),
        None => Ok(()),
    };
    match mode {
        "exact" => {
            let options = exact::Options { vocab, depth, p_binary, seed, tokens, classes, noise, strict };
            let learn =
                |caller: &Caller<'_, String>| exact::learn(corpus, &options, &mut |step| caller.tell(step.into()));
            let learned = interrupt::watched(py, false, learn, hear)?.or_value_error()?;
            let mut levels: Vec<PyLevel> = learned.levels.iter().map(level_of).collect();
            levels.reverse();
            let uncounted = Some((learned.skipped, learned.underivable));
            Ok(PyLearned { grammar: learned.grammar, verdict: Some(learned.verdict), levels, uncounted })
        }
        "paper" => {
            let alignment = match alignment {
                "inner-product" => Alignment::InnerProduct,
                "cosine" => Alignment::Cosine,
                _ => return Err(value_error(format!("alignment is {alignment}, expected inner-product or cosine"))),
            };
            let learner = PaperLearner::new(vocab, depth)
                .p_binary(p_binary.unwrap_or(0.5))
                .gammas(gamma_binary, gamma_ternary)
                .alignment(alignment)
                .sizes(tokens, classes)
                .clustering(10, seed);
            let outcome = interrupt::run(py, || learner.learn(corpus))?.or_value_error()?;
            Ok(PyLearned {
                levels: levels_of(&outcome.grammar),
                grammar: outcome.grammar,
                verdict: None,
                uncounted: None,
            })
        }
        "em" => {
            let options = em::Options { vocab, depth, starts, rounds, seed, tokens, classes };
            let learn = |caller: &Caller<'_, String>| {
                em::learn(corpus, &options, &mut |start, round, likelihood| {
                    let (start, round) = (start + 1, round + 1);
                    caller.tell(format!("start {start}, step {round}, likelihood {likelihood:.4}"));
                })
            };
            let grammar = interrupt::watched(py, false, learn, hear)?.or_value_error()?.grammar;
            Ok(PyLearned { levels: levels_of(&grammar), grammar, verdict: None, uncounted: None })
        }
        _ => Err(value_error(format!("mode is {mode}, expected exact, paper or em"))),
    }
}

fn level_of(report: &LevelReport) -> PyLevel {
    PyLevel {
        level: report.level - 1,
        binary_rules: report.binary_rules,
        ternary_rules: report.ternary_rules,
        p_binary: report.p_binary,
        empty_symbols: report.empty_symbols,
    }
}

fn levels_of(grammar: &Grammar) -> Vec<PyLevel> {
    let of_layer = |(level, layer): (usize, &gardenpath::Layer)| {
        let pairs = layer.rules().iter().filter(|rule| rule.children.len() == 2);
        let binary_rules = pairs.clone().count();
        PyLevel {
            level,
            binary_rules,
            ternary_rules: layer.rules().len() - binary_rules,
            p_binary: pairs.map(|rule| rule.probability).sum::<f64>() / layer.parents() as f64,
            empty_symbols: 0,
        }
    };
    grammar.layers().iter().enumerate().map(of_layer).collect()
}

/// How well the rules of one level were learned: see `score_rules`.
#[pyclass(frozen, eq, get_all, name = "LevelScore", module = "gardenpath")]
#[derive(PartialEq)]
pub struct PyLevelScore {
    /// The level of the parents.
    level: usize,
    /// The share of the learned binary rules that are true.
    binary_precision: f64,
    /// The share of the true binary rules that were learned.
    binary_recall: f64,
    /// The share of the learned ternary rules that are true.
    ternary_precision: f64,
    /// The share of the true ternary rules that were learned.
    ternary_recall: f64,
    /// Mean group purity of the true binary rules.
    binary_purity: f64,
    /// Mean group purity of the true ternary rules.
    ternary_purity: f64,
    /// Whether every rule was found and none invented.
    exact: bool,
}

#[pymethods]
impl PyLevelScore {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        level: usize,
        binary_precision: f64,
        binary_recall: f64,
        ternary_precision: f64,
        ternary_recall: f64,
        binary_purity: f64,
        ternary_purity: f64,
        exact: bool,
    ) -> Self {
        PyLevelScore {
            level,
            binary_precision,
            binary_recall,
            ternary_precision,
            ternary_recall,
            binary_purity,
            ternary_purity,
            exact,
        }
    }

    fn __getnewargs__(&self) -> (usize, f64, f64, f64, f64, f64, f64, bool) {
        (
            self.level,
            self.binary_precision,
            self.binary_recall,
            self.ternary_precision,
            self.ternary_recall,
            self.binary_purity,
            self.ternary_purity,
            self.exact,
        )
    }

    fn __repr__(&self) -> String {
        let PyLevelScore { level, binary_precision, binary_recall, ternary_precision, ternary_recall, .. } = self;
        format!(
            "<LevelScore {level}: precision {binary_precision:.4} and {ternary_precision:.4}, \
             recall {binary_recall:.4} and {ternary_recall:.4}>"
        )
    }
}

/// Compares the rules of a learned grammar with the true ones, level by level from the root; symbols of inner levels are matched so
/// that most rules are right.
#[pyfunction]
pub fn score_rules(learned: &Bound<'_, PyGrammar>, truth: &Bound<'_, PyGrammar>) -> PyResult<Vec<PyLevelScore>> {
    let scores = score::score_rules(&learned.get().grammar, &truth.get().grammar).or_value_error()?;
    let level = |score: score::LevelScore| PyLevelScore {
        level: score.level,
        binary_precision: score.binary.precision(),
        binary_recall: score.binary.recall(),
        ternary_precision: score.ternary.precision(),
        ternary_recall: score.ternary.recall(),
        binary_purity: score.binary_purity,
        ternary_purity: score.ternary_purity,
        exact: score.is_exact(),
    };
    Ok(scores.into_iter().map(level).collect())
}

/// Seeded k-means, the best of several starts, improved by moving single centroids as long as that helps: labels, centroids and the sum of
/// squared distances.
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

/// The rows of a matrix one after another, and their length.
fn read_matrix(object: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, usize)> {
    let array = object.py().import("numpy")?.call_method1("ascontiguousarray", (object, "f8"))?;
    let array: PyReadonlyArray2<'_, f64> =
        array.extract().map_err(|_| value_error("rows are not a matrix, expected two dimensions"))?;
    Ok((array.as_slice()?.to_vec(), array.as_array().ncols()))
}

/// The paper's empirical test of clustering: the true tuples above the tokens are given, and k-means groups their covariances with the
/// root. Mean group purity of pairs, of triples less what their pairs explain, and of plain triples.
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
