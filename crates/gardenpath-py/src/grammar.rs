//! `Grammar`: sampling, reading and writing grammars, and their sentences.

use crate::arrays::rule_records;
use crate::by_arity::{Fractions, by_arity, fractions};
use crate::chart::PyChart;
use crate::corpus::{Origin, PyCorpus};
use crate::error::{OrFileError, OrValueError, value_error};
use crate::html;
use crate::interrupt;
use crate::moments::PyExpectedMoments;
use crate::numbers::{natural, optional, optional_list};
use gardenpath::{Children, Corpus, ExpectedMoments, Grammar, Rule, Sampler, Seed};
use gardenpath_lab::by_arity::ByArity;
use gardenpath_lab::ensemble::Choices;
use gardenpath_lab::files;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// A layered probabilistic context-free grammar of uniform depth, with rules of one to eight children.
///
/// Level 0 contains the root symbols (the classes), level `depth` the tokens; `rules(level)` rewrite the symbols of a
/// level into those of the next.
///
/// >>> import gardenpath
/// >>> grammar = gardenpath.Grammar.sample(vocab=16, depth=3, fraction=0.25, seed=7)
/// >>> grammar
/// <Grammar of depth 3, 16 tokens, 16 classes, 3264 rules>
/// >>> corpus = grammar.corpus(1000, seed=1)
/// >>> log_likelihood, posterior = grammar.inside(corpus)
/// >>> bool((posterior.argmax(axis=1) == corpus.roots).mean() > 0.9)
/// True
#[pyclass(frozen, name = "Grammar", module = "gardenpath")]
pub struct PyGrammar {
    pub grammar: Arc<Grammar>,
    /// Created on first use: small corpora are often sampled many times.
    sampler: OnceLock<Sampler>,
}

impl PyGrammar {
    pub fn new(grammar: Arc<Grammar>) -> Self {
        PyGrammar { grammar, sampler: OnceLock::new() }
    }
}

/// Sampling fewer tokens takes less time than pressing Ctrl-C.
const FEW_TOKENS: f64 = 1e5;

impl From<Grammar> for PyGrammar {
    fn from(grammar: Grammar) -> Self {
        PyGrammar::new(Arc::new(grammar))
    }
}

#[pymethods]
impl PyGrammar {
    /// Samples a random grammar of the paper's ensemble, or a generalization of it.
    ///
    /// Every level has `vocab` symbols, and all symbols have the same number of rules: a `fraction` of all tuples is
    /// grammatical (default 1/4), or the number of `rules` per symbol is given. Both can be dicts by number of
    /// children. A node has two or three children, two with probability `p_binary`, or `arities` gives the probability
    /// of each number from 1 to 8. The k-th rule of a symbol has weight `k^-zipf`; `non_overlapping` excludes rules
    /// that begin or end with a shorter one; with `cover`, every symbol occurs in some rule.
    ///
    /// Instead of `vocab`, `sizes` can list the number of symbols of each level, from classes to tokens; `classes`
    /// changes only the number of classes. `binary_rules` and `ternary_rules` are short for `rules={2: binary_rules, 3:
    /// ternary_rules}`.
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=7)
    /// >>> len(grammar.rules(0))       # 2 binary and 16 ternary rules for each of 8 symbols
    /// 144
    /// >>> gardenpath.Grammar.sample(sizes=[3, 8, 20], arities={1: 0.2, 2: 0.4, 4: 0.4}, rules={4: 10})
    /// <Grammar of depth 2, 20 tokens, 3 classes, 240 rules>
    #[staticmethod]
    #[pyo3(signature = (vocab=None, depth=None, fraction=None, seed=0, *, arities=None, rules=None, sizes=None, classes=None,
                        binary_rules=None, ternary_rules=None, p_binary=None, zipf=0.0, non_overlapping=false, cover=false))]
    #[allow(clippy::too_many_arguments)]
    fn sample(
        #[pyo3(from_py_with = optional)] vocab: Option<usize>,
        #[pyo3(from_py_with = optional)] depth: Option<usize>,
        #[pyo3(from_py_with = fractions)] fraction: Option<Fractions>,
        #[pyo3(from_py_with = natural)] seed: u64,
        #[pyo3(from_py_with = by_arity)] arities: Option<ByArity<f64>>,
        #[pyo3(from_py_with = by_arity)] rules: Option<ByArity<usize>>,
        #[pyo3(from_py_with = optional_list)] sizes: Option<Vec<usize>>,
        #[pyo3(from_py_with = optional)] classes: Option<usize>,
        #[pyo3(from_py_with = optional)] binary_rules: Option<usize>,
        #[pyo3(from_py_with = optional)] ternary_rules: Option<usize>,
        p_binary: Option<f64>,
        zipf: f64,
        non_overlapping: bool,
        cover: bool,
    ) -> PyResult<Self> {
        let rules = match (binary_rules, ternary_rules) {
            (None, None) => rules,
            (Some(binary), Some(ternary)) if fraction.is_none() && rules.is_none() => {
                Some(ByArity::pair(binary, ternary))
            }
            _ => return Err(value_error("expected either fraction, or binary_rules and ternary_rules, or rules")),
        };
        let (fraction, fractions) = match fraction {
            Some(Fractions::Common(fraction)) => (Some(fraction), None),
            Some(Fractions::ByArity(fractions)) => (None, Some(fractions)),
            None => (None, None),
        };
        let choices = Choices {
            vocab,
            depth,
            sizes,
            classes,
            arities,
            p_binary,
            fraction,
            fractions,
            rules,
            zipf,
            non_overlapping,
            cover,
        };
        // Python uses one name for both.
        let named = |name: &str| if name == "fractions" { "fraction".to_owned() } else { name.to_owned() };
        let ensemble = choices.ensemble(&named).map_err(|error| value_error(error.to_string()))?;
        Ok(ensemble.sample(Seed::new(seed)).or_value_error()?.into())
    }

    /// Builds a grammar from one array of rules per level, with the fields of `rules`, and a prior over the roots.
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(4, 2, seed=1)
    /// >>> layers = [grammar.rules(level) for level in range(2)]
    /// >>> gardenpath.Grammar.from_rules(layers) == grammar
    /// True
    #[staticmethod]
    #[pyo3(signature = (layers, *, prior=None, vocab=None))]
    fn from_rules(
        layers: Vec<Bound<'_, PyAny>>,
        prior: Option<Vec<f64>>,
        #[pyo3(from_py_with = optional)] vocab: Option<usize>,
    ) -> PyResult<Self> {
        let layers = layers.iter().map(read_rules).collect::<PyResult<Vec<_>>>()?;
        let largest = |symbols: &mut dyn Iterator<Item = u8>| symbols.max().map_or(0, |symbol| usize::from(symbol) + 1);
        let mut sizes: Vec<usize> =
            layers.iter().map(|rules| largest(&mut rules.iter().map(|rule| rule.parent))).collect();
        let tokens = layers
            .last()
            .map_or(0, |rules| largest(&mut rules.iter().flat_map(|rule| rule.children.iter().collect::<Vec<_>>())));
        sizes.push(vocab.unwrap_or(tokens));
        let prior = prior.unwrap_or_else(|| vec![1.0 / sizes[0].max(1) as f64; sizes[0]]);
        Ok(Grammar::new(sizes, prior, layers).or_value_error()?.into())
    }

    /// Reads a grammar: `.pcfg` text, or a published JSON grammar.
    ///
    /// With `normalize`, rounded probabilities are divided by their sum, which must be within 1% of 1.
    #[staticmethod]
    #[pyo3(signature = (path, *, normalize=false))]
    fn read(path: PathBuf, normalize: bool) -> PyResult<Self> {
        let read = if normalize { files::grammar::read_normalized } else { files::grammar::read };
        Ok(read(&path).or_file_error()?.into())
    }

    /// Writes the grammar as `.pcfg` text, which NLTK's `PCFG.fromstring` can also read.
    fn write(&self, path: PathBuf) -> PyResult<()> {
        files::grammar::write(&self.grammar, &path, &mut std::io::stdout()).or_file_error()
    }

    /// Parses `.pcfg` text. Rules with a single symbol on the right give the prior over the roots, `S -> A [0.5] | B
    /// [0.5]`; without them, the symbol of the first rule is the only root, as in NLTK.
    ///
    /// With `normalize`, rounded probabilities are divided by their sum, which must be within 1% of 1.
    ///
    /// >>> import gardenpath
    /// >>> thirds = "A -> 'a' 'b' [0.33] | 'b' 'a' [0.33] | 'a' 'a' [0.33]"
    /// >>> gardenpath.Grammar.from_text(thirds, normalize=True).vocab
    /// 2
    #[staticmethod]
    #[pyo3(signature = (text, *, normalize=false))]
    fn from_text(text: &str, normalize: bool) -> PyResult<Self> {
        let read = if normalize { Grammar::from_text_normalized } else { Grammar::from_text };
        Ok(read(text).or_value_error()?.into())
    }

    /// The grammar as `.pcfg` text.
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(4, 2, seed=1)
    /// >>> gardenpath.Grammar.from_text(grammar.to_text()) == grammar
    /// True
    fn to_text(&self) -> String {
        self.grammar.to_text()
    }

    /// The number of layers of rules.
    #[getter]
    fn depth(&self) -> usize {
        self.grammar.depth()
    }

    /// The number of tokens.
    #[getter]
    fn vocab(&self) -> usize {
        self.grammar.vocab()
    }

    /// The number of root symbols.
    #[getter]
    fn classes(&self) -> usize {
        self.grammar.classes()
    }

    /// The number of symbols of each level, from the root to the tokens.
    #[getter]
    fn sizes(&self) -> Vec<usize> {
        self.grammar.sizes().to_vec()
    }

    /// The shortest and longest sentence length that trees of this shape can have.
    ///
    /// >>> import gardenpath
    /// >>> gardenpath.Grammar.sample(vocab=8, depth=3).lengths
    /// (8, 27)
    #[getter]
    fn lengths(&self) -> (usize, usize) {
        let lengths = self.grammar.shape().lengths();
        (*lengths.start(), *lengths.end())
    }

    /// The probability of each root symbol.
    #[getter]
    fn prior<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.grammar.prior())
    }

    /// The mean sentence length.
    #[getter]
    fn mean_length(&self) -> f64 {
        self.grammar.mean_length()
    }

    /// A hash of sizes, prior and rules, which is stored in corpora.
    #[getter]
    fn fingerprint(&self) -> String {
        self.grammar.fingerprint()
    }

    /// The name of a symbol of a level.
    fn name(&self, #[pyo3(from_py_with = natural)] level: usize, symbol: u8) -> PyResult<String> {
        let depth = self.grammar.depth();
        match self.grammar.sizes().get(level) {
            None => Err(value_error(format!("level is {level}, expected 0 to {depth}"))),
            Some(&size) if usize::from(symbol) >= size => {
                Err(value_error(format!("symbol is {symbol}, but level {level} has {size} symbols")))
            }
            Some(_) => Ok(self.grammar.name(level, symbol).into_owned()),
        }
    }

    /// The rules from a level to the next: records of `parent`, `arity`, `children` and `probability`, sorted by
    /// parent, then arity, then children. `children` has as many entries as the longest rule of the layer, at least
    /// three; the first `arity` are valid.
    ///
    /// >>> import gardenpath
    /// >>> rules = gardenpath.Grammar.sample(4, 2, seed=1).rules(1)
    /// >>> rules.dtype.names
    /// ('parent', 'arity', 'children', 'probability')
    /// >>> rules[rules["arity"] == 2]["probability"].sum().item()
    /// 2.0
    fn rules<'py>(&self, py: Python<'py>, #[pyo3(from_py_with = natural)] level: usize) -> PyResult<Bound<'py, PyAny>> {
        let last = self.grammar.depth() - 1;
        if level > last {
            return Err(value_error(format!("level is {level}, expected 0 to {last}")));
        }
        let layer = self.grammar.layer(level);
        rule_records(py, layer, layer.rules())
    }

    /// Samples sentences `start` to `start + count`. Sentence `i` depends only on (grammar, seed, `i`): corpora nest,
    /// and any slice can be sampled separately, on any number of threads.
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(8, 2, seed=7)
    /// >>> grammar.corpus(10, seed=1)[4:] == grammar.corpus(6, seed=1, start=4)
    /// True
    #[pyo3(signature = (count, seed=0, *, start=0))]
    fn corpus(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = natural)] count: u64,
        #[pyo3(from_py_with = natural)] seed: u64,
        #[pyo3(from_py_with = natural)] start: u64,
    ) -> PyResult<PyCorpus> {
        let grammar = &self.grammar;
        let end = start.checked_add(count).ok_or_else(|| value_error(format!("count is {count}, expected fewer")))?;
        check_memory(count as f64 * (grammar.mean_length() + 9.0))?;
        let (sampler, seed_of_data) = (self.sampler.get_or_init(|| Sampler::new(grammar)), Seed::new(seed));
        let corpus = if count as f64 * grammar.mean_length() < FEW_TOKENS {
            interrupt::brief(py, || Corpus::sample_with(sampler, seed_of_data, start..end))?
        } else {
            interrupt::run(py, || Corpus::sample_with(sampler, seed_of_data, start..end))?
        };
        let origin = Some(Origin { grammar: grammar.clone(), seed, first: start, step: 1 });
        Ok(PyCorpus { corpus, vocab: grammar.vocab(), classes: grammar.classes(), origin, names: Default::default() })
    }

    /// The expected counts of adjacent symbols of a level (by default the tokens) jointly with the root: the moments of
    /// infinitely many sentences.
    #[pyo3(signature = (level=None))]
    fn expected_moments(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = optional)] level: Option<usize>,
    ) -> PyResult<PyExpectedMoments> {
        let level = level.unwrap_or(self.grammar.depth());
        let moments = interrupt::run(py, || ExpectedMoments::of_level(&self.grammar, level))?.or_value_error()?;
        Ok(PyExpectedMoments { moments })
    }

    /// The exact parse chart of one sentence: a list of tokens, or a string of their names.
    fn chart(&self, py: Python<'_>, sentence: &Bound<'_, PyAny>) -> PyResult<PyChart> {
        let sentence = crate::sentences::read_one(sentence, &self.grammar)?;
        let grammar = self.grammar.clone();
        interrupt::run(py, || PyChart::new(grammar, sentence))?.or_value_error()
    }

    fn _repr_html_(&self) -> String {
        html::grammar(&self.grammar)
    }

    fn __repr__(&self) -> String {
        let rules: usize = self.grammar.layers().iter().map(|layer| layer.rules().len()).sum();
        let (depth, vocab, classes) = (self.grammar.depth(), self.grammar.vocab(), self.grammar.classes());
        format!("<Grammar of depth {depth}, {vocab} tokens, {classes} classes, {rules} rules>")
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().grammar == self.grammar)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.grammar.fingerprint().hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("from_text")?, (self.to_text(),)))
    }
}

/// Fails if more bytes are needed than the machine has, before allocating them.
pub fn check_memory(bytes: f64) -> PyResult<()> {
    let limit = machine_memory();
    if bytes > limit {
        let gib = |bytes: f64| bytes / f64::from(1 << 30);
        return Err(value_error(format!(
            "this needs {:.0} GiB of memory, the machine has {:.0}",
            gib(bytes),
            gib(limit)
        )));
    }
    Ok(())
}

/// The memory of the machine in bytes if it can be determined, otherwise that of a large one.
fn machine_memory() -> f64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    total.map_or((64u64 << 30) as f64, |kilobytes: f64| kilobytes * 1024.0)
}

fn read_rules(array: &Bound<'_, PyAny>) -> PyResult<Vec<Rule>> {
    let wrong = |_: PyErr| value_error("rules are an array with the fields parent, arity, children and probability");
    let field = |name: &str, dtype: &str| {
        let column = array.get_item(name).map_err(wrong)?;
        array.py().import("numpy")?.call_method1("ascontiguousarray", (column, dtype))
    };
    let (parents, arities) = (field("parent", "u1")?, field("arity", "u1")?);
    let (children, probabilities) = (field("children", "u1")?, field("probability", "f8")?);
    let parents: PyReadonlyArray1<'_, u8> = parents.extract()?;
    let arities: PyReadonlyArray1<'_, u8> = arities.extract()?;
    let children: PyReadonlyArray2<'_, u8> = children.extract()?;
    let width = children.as_array().ncols();
    let probabilities: PyReadonlyArray1<'_, f64> = probabilities.extract()?;
    let children = children.as_slice()?;
    let mut rules = Vec::with_capacity(parents.as_array().len());
    for (i, (&parent, &arity)) in parents.as_array().iter().zip(arities.as_array()).enumerate() {
        let symbols =
            Some(usize::from(arity)).filter(|arity| *arity <= width).map(|arity| &children[width * i..][..arity]);
        let most = width.min(Children::MAX);
        let wrong = || value_error(format!("rule {i} has arity {arity}, expected 1 to {most}"));
        let children = symbols.and_then(Children::from_slice).ok_or_else(wrong)?;
        rules.push(Rule { parent, children, probability: probabilities.as_slice()?[i] });
    }
    Ok(rules)
}
