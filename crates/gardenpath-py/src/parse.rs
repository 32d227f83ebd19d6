//! `Grammar`, continued: exact parsing of batches and single sentences.

use crate::arrays::{SpanRecord, records, whole_number};
use crate::corpus::PyCorpus;
use crate::error::{OrValueError, value_error};
use crate::grammar::{PyGrammar, check_memory};
use crate::interrupt;
use crate::numbers::natural;
use crate::results::named;
use crate::sentences::{self, read_one};
use crate::tree::PyTree;
use gardenpath::learn::score;
use gardenpath::{Chart, Count, Expectation, Inside, Magnitude, Node, Parser, Seed, Semiring};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// The best possible result on a test set, by exact parsing with the true grammar.
///
/// >>> import gardenpath
/// >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.5, seed=7)
/// >>> floor = grammar.bayes_floor(grammar.corpus(2000, seed=99))
/// >>> 0 < floor.loss < 2 and 0.5 < floor.accuracy < 1
/// True
#[pyclass(frozen, get_all, eq, name = "BayesFloor", module = "gardenpath")]
#[derive(PartialEq)]
pub struct BayesFloor {
    /// The mean of `-ln p(root | sentence)`, in nats: no network has a lower cross-entropy loss on average.
    loss: f64,
    /// The fraction of sentences whose most probable root is the true one.
    accuracy: f64,
    /// The fraction of sentences that the grammar derives; 1 for its own.
    parse_rate: f64,
    /// The loss of guessing, `ln(classes)`, by which losses are often divided.
    guessing: f64,
}

#[pymethods]
impl BayesFloor {
    #[new]
    pub fn new(loss: f64, accuracy: f64, parse_rate: f64, guessing: f64) -> Self {
        BayesFloor { loss, accuracy, parse_rate, guessing }
    }

    fn __getnewargs__(&self) -> (f64, f64, f64, f64) {
        (self.loss, self.accuracy, self.parse_rate, self.guessing)
    }

    fn __repr__(&self) -> String {
        format!("<BayesFloor: loss {:.4}, accuracy {:.4}>", self.loss, self.accuracy)
    }
}

#[pymethods]
impl PyGrammar {
    /// The inside algorithm on a batch of sentences: a corpus, a padded array (negative values are padding) or a list of lists.
    ///
    /// Returns two arrays `[sentence, root]`: the log probability of the sentence given the root (minus infinity if the
    /// root cannot derive it), and the probability of the root given the sentence (all 0 for impossible sentences).
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(vocab=3, depth=2, fraction=1.0, seed=1)
    /// >>> log_likelihood, posterior = grammar.inside([[0, 1, 2, 0, 1], [2, 2, 2, 2]])
    /// >>> posterior.shape, posterior.sum(axis=1).round(12).tolist()
    /// ((2, 3), [1.0, 1.0])
    fn inside<'py>(&self, py: Python<'py>, sentences: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let sentences = sentences::read(sentences, self.grammar.vocab())?;
        let shape = [sentences.len(), self.grammar.classes()];
        check_memory(16.0 * (shape[0] * shape[1]) as f64)?;
        // SAFETY: all rows are written below; if that fails, the arrays are dropped.
        let (logs, shares) = unsafe { (PyArray2::new(py, shape, false), PyArray2::new(py, shape, false)) };
        let (mut log_rows, mut share_rows) = (logs.readwrite(), shares.readwrite());
        let (log_rows, share_rows) = (log_rows.as_slice_mut()?, share_rows.as_slice_mut()?);
        let corpus = &*sentences;
        interrupt::run(py, || Inside::new(&self.grammar).batch_into(corpus, log_rows, share_rows, &|_| ()))?
            .or_value_error()?;
        named(py, "Inside", (logs, shares))
    }

    /// The class entropy of each sentence of a batch: the entropy of its root, in nats; 0 for impossible sentences.
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=3, fraction=0.5, seed=1)
    /// >>> entropy = grammar.entropy(grammar.corpus(1000, seed=2))
    /// >>> entropy.shape, bool(entropy.mean() > 0)
    /// ((1000,), True)
    fn entropy<'py>(&self, py: Python<'py>, sentences: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let sentences = sentences::read(sentences, self.grammar.vocab())?;
        let corpus = &*sentences;
        let entropies = interrupt::run(py, || {
            Inside::new(&self.grammar).batch_map(corpus, |posterior| posterior.entropy(), &|_| ())
        })?;
        Ok(PyArray1::from_vec(py, entropies.or_value_error()?))
    }

    /// The best possible result on a corpus with known roots: loss and accuracy of Bayes-optimal predictions, by exact
    /// parsing.
    fn bayes_floor(&self, py: Python<'_>, corpus: &Bound<'_, PyCorpus>) -> PyResult<BayesFloor> {
        let corpus = &corpus.get().corpus;
        let classes = self.grammar.classes();
        if let Some(i) = corpus.roots().iter().position(|&root| usize::from(root) >= classes) {
            let root = corpus.roots()[i];
            return Err(value_error(format!("sentence {i} has the root {root}, expected one below {classes}")));
        }
        let answers = interrupt::run(py, || score::answers(&self.grammar, corpus))?.or_value_error()?;
        Ok(BayesFloor {
            loss: answers.cross_entropy,
            accuracy: answers.accuracy,
            parse_rate: answers.parse_rate,
            guessing: (classes as f64).ln(),
        })
    }

    /// The most probable tree of a sentence, or None if it has none. See `tree.log_probability()` for its probability.
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, seed=1)
    /// >>> corpus = grammar.corpus(1, seed=2)
    /// >>> grammar.best_tree(corpus[0]) == corpus.trees()[0]
    /// True
    fn best_tree(&self, py: Python<'_>, sentence: &Bound<'_, PyAny>) -> PyResult<Option<PyTree>> {
        let sentence = read_one(sentence, &self.grammar)?;
        let best = interrupt::run(py, || self.grammar.best_tree(&sentence))?.or_value_error()?;
        Ok(best.map(|(tree, _)| PyTree::new(tree, self.grammar.clone())))
    }

    /// The `count` most probable trees of a sentence, best first; fewer if it has fewer.
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(vocab=3, depth=2, fraction=1.0, seed=1)
    /// >>> len(grammar.best_trees([0, 1, 2, 0, 1, 2, 0], 2)), len(grammar.best_trees([0, 1, 2, 0, 1, 2, 0], 10))
    /// (2, 3)
    fn best_trees(
        &self,
        py: Python<'_>,
        sentence: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = natural)] count: usize,
    ) -> PyResult<Vec<PyTree>> {
        let sentence = read_one(sentence, &self.grammar)?;
        let best = interrupt::run(py, || self.grammar.best_trees(&sentence, count))?.or_value_error()?;
        Ok(best.into_iter().map(|(tree, _)| PyTree::new(tree, self.grammar.clone())).collect())
    }

    /// A tree of the sentence sampled from the posterior, or None if it has none.
    #[pyo3(signature = (sentence, seed=0))]
    fn sample_tree(
        &self,
        py: Python<'_>,
        sentence: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = natural)] seed: u64,
    ) -> PyResult<Option<PyTree>> {
        let sentence = read_one(sentence, &self.grammar)?;
        let sampled = interrupt::run(py, || {
            let parser = Parser::<Magnitude>::new(&self.grammar);
            let chart = parser.parse(&sentence)?;
            gardenpath::Result::Ok(parser.sample_tree(&chart, &mut Seed::new(seed).child("tree").stream(0)))
        })?;
        Ok(sampled.or_value_error()?.map(|tree| PyTree::new(tree, self.grammar.clone())))
    }

    /// All trees of a sentence, up to a limit.
    #[pyo3(signature = (sentence, limit=1000))]
    fn trees(
        &self,
        py: Python<'_>,
        sentence: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = natural)] limit: usize,
    ) -> PyResult<Vec<PyTree>> {
        let sentence = read_one(sentence, &self.grammar)?;
        let trees = interrupt::run(py, || self.grammar.trees(&sentence, limit))?.or_value_error()?;
        Ok(trees.into_iter().map(|tree| PyTree::new(tree, self.grammar.clone())).collect())
    }

    /// The exact number of trees of a sentence.
    ///
    /// >>> import gardenpath
    /// >>> gardenpath.Grammar.sample(vocab=3, depth=2, fraction=1.0, seed=1).tree_count([0, 1, 2, 0, 1, 2, 0])
    /// 3
    fn tree_count<'py>(&self, py: Python<'py>, sentence: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let sentence = read_one(sentence, &self.grammar)?;
        let chart = interrupt::run(py, || Chart::<Count>::parse(&self.grammar, &sentence))?.or_value_error()?;
        whole_number(py, &chart.roots().iter().map(Count::to_big).sum())
    }

    /// The entropy of the trees of a sentence, in nats; NaN if it has none.
    fn tree_entropy(&self, py: Python<'_>, sentence: &Bound<'_, PyAny>) -> PyResult<f64> {
        let sentence = read_one(sentence, &self.grammar)?;
        let chart = interrupt::run(py, || Chart::<Expectation>::parse(&self.grammar, &sentence))?.or_value_error()?;
        let mut total = Expectation::zero();
        for (root, value) in chart.root_entries() {
            total.add(value.weighted(self.grammar.prior()[usize::from(*root)]));
        }
        Ok(if total.is_zero() { f64::NAN } else { total.tree_entropy() })
    }

    /// The posterior marginals given a sentence: for each level, records of `start`, `span`, `symbol` and the
    /// `probability` that the derivation contains this node; and for each layer, the expected number of uses of each
    /// rule of `rules(level)`.
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(vocab=3, depth=2, fraction=1.0, seed=1)
    /// >>> spans, uses = grammar.marginals([0, 1, 2, 0, 1])
    /// >>> first = spans[1][(spans[1]["start"] == 0) & (spans[1]["span"] == 2)]
    /// >>> first["probability"].sum().round(12).item()       # two trees, 2 + 3 and 3 + 2
    /// 0.5
    fn marginals<'py>(&self, py: Python<'py>, sentence: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let sentence = read_one(sentence, &self.grammar)?;
        let marginals = interrupt::run(py, || {
            let parser = Parser::<Magnitude>::new(&self.grammar);
            parser.marginals(&parser.parse(&sentence)?)
        })?;
        let marginals =
            marginals.or_value_error()?.ok_or_else(|| value_error("the grammar does not derive the sentence"))?;
        let record = |(node, probability): (Node, f64)| SpanRecord {
            start: node.span.start as i64,
            span: node.span.len as i64,
            symbol: node.symbol,
            probability,
        };
        let spans = marginals.nodes.into_iter().map(|spans| records(py, spans.into_iter().map(record).collect()));
        let spans: Vec<Bound<'py, PyArray1<SpanRecord>>> = spans.collect();
        let uses: Vec<_> = marginals.rules.into_iter().map(|uses| PyArray1::from_vec(py, uses)).collect();
        named(py, "Marginals", (spans, uses))
    }
}
