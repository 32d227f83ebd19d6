//! `Grammar`, continued: exact predictions of tokens, floors, and reading token by token.

use crate::corpus::PyCorpus;
use crate::error::{OrValueError, value_error};
use crate::grammar::{PyGrammar, check_memory};
use crate::interrupt;
use crate::numbers::{natural, optional};
use crate::results::named;
use crate::sentences;
use gardenpath::{
    Evidence, Floor, Grammar, KnownLength, Predictor, Reader, Seed, Symbol, SymbolPosteriors, Task,
    level_floor_formula, mean_divergence, random_mask, random_noise,
};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A sentence being read: predicts the next token, and the symbols above the last one.
///
/// >>> import gardenpath
/// >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, seed=1)
/// >>> reader = grammar.reader()
/// >>> reader.push(reader.next().argmax())
/// >>> len(reader), reader.next().shape, reader.hidden(level=1).shape
/// (1, (9,), (8,))
#[pyclass(frozen, name = "Reader", module = "gardenpath")]
pub struct PyReader {
    // Fields are dropped in this order: each borrows from the next, which an Arc keeps in place.
    reader: Mutex<Reader<'static>>,
    _predictor: Arc<Predictor<'static>>,
    grammar: Arc<Grammar>,
}

impl PyReader {
    fn new(grammar: Arc<Grammar>) -> Self {
        // SAFETY: the references point into Arcs that this object holds and drops after their borrowers; the contents
        // never change.
        let predictor = Arc::new(Predictor::new(unsafe { &*Arc::as_ptr(&grammar) }));
        let borrowed: &'static Predictor<'static> = unsafe { &*Arc::as_ptr(&predictor) };
        PyReader { reader: Mutex::new(borrowed.reader()), _predictor: predictor, grammar }
    }

    fn lock(&self) -> MutexGuard<'_, Reader<'static>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyReader {
    /// Reads one token.
    fn push(&self, #[pyo3(from_py_with = natural)] token: usize) -> PyResult<()> {
        let vocab = self.grammar.vocab();
        let symbol = Symbol::try_from(token).ok().filter(|_| token < vocab);
        let unknown = || value_error(format!("token {token} is not one of the {vocab} tokens of the grammar"));
        self.lock().push(symbol.ok_or_else(unknown)?).or_value_error()
    }

    /// The probabilities of the next token, followed by that of the end; all 0 after an impossible prefix.
    fn next<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.lock().next())
    }

    /// The posterior over the symbol of a level above the last token; all 0 before the first token.
    #[pyo3(signature = (level=0))]
    fn hidden<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = natural)] level: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if level > self.grammar.depth() {
            return Err(value_error(format!("level is {level}, expected 0 to {}", self.grammar.depth())));
        }
        Ok(PyArray1::from_vec(py, self.lock().hidden(level)))
    }

    /// The log probability that a sentence begins with the tokens read so far.
    #[getter]
    fn log_probability(&self) -> f64 {
        self.lock().log_probability()
    }

    /// Starts a new sentence.
    fn restart(&self) {
        self.lock().restart();
    }

    fn __len__(&self) -> usize {
        self.lock().len()
    }

    fn __repr__(&self) -> String {
        format!("<Reader after {} tokens>", self.lock().len())
    }
}

#[pymethods]
impl PyGrammar {
    /// A reader at the start of a sentence, for exact predictions token by token.
    fn reader(&self) -> PyReader {
        PyReader::new(self.grammar.clone())
    }

    /// The exact next-token probabilities at every position of a batch of sentences, as `rows` and `offsets`: sentence
    /// i has `rows[offsets[i]:offsets[i + 1]]`. With an unknown length there is a row after 0, 1, …, all tokens, whose
    /// last entry is the probability that the sentence ends; with a known length there is one row per token. Rows are 0
    /// after an impossible prefix.
    ///
    /// `levels` is the number of lowest layers of rules that the predictor knows; None for all.
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, seed=1)
    /// >>> rows, offsets = grammar.next_token(grammar.corpus(10, seed=2))
    /// >>> rows.shape[1], bool(abs(rows.sum(axis=1) - 1).max() < 1e-9)
    /// (9, True)
    #[pyo3(signature = (sentences, length="unknown", levels=None))]
    fn next_token<'py>(
        &self,
        py: Python<'py>,
        sentences: &Bound<'py, PyAny>,
        length: &str,
        #[pyo3(from_py_with = optional)] levels: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sentences = sentences::read(sentences, self.grammar.vocab())?;
        let (corpus, grammar) = (&*sentences, &*self.grammar);
        let known = match length {
            "unknown" => false,
            "known" if levels.is_some() => return Err(value_error("levels needs length=\"unknown\"")),
            "known" => true,
            _ => return Err(value_error(format!("length is {length:?}, expected \"unknown\" or \"known\""))),
        };
        let (width, extra) = if known { (grammar.vocab(), 0) } else { (grammar.vocab() + 1, 1) };
        let total = corpus.tokens().len() + extra * corpus.len();
        check_memory(16.0 * (total * width) as f64)?;
        let rows = interrupt::run(py, || -> gardenpath::Result<Vec<Vec<f64>>> {
            let predictor = Predictor::of_lowest_levels(grammar, levels.unwrap_or(grammar.depth()))?;
            if known {
                let known = KnownLength::new(&predictor);
                return (0..corpus.len()).into_par_iter().map(|i| known.rows(corpus.sentence(i))).collect();
            }
            let of_sentence = |i: usize| {
                gardenpath::interrupt::checkpoint();
                predictor.rows(corpus.sentence(i))
            };
            (0..corpus.len()).into_par_iter().map(of_sentence).collect()
        })?
        .or_value_error()?;
        let rows = PyArray1::from_vec(py, rows.concat()).reshape([total, width])?;
        let offsets = corpus.offsets().iter().enumerate().map(|(i, &offset)| (offset + extra * i) as i64);
        named(py, "NextToken", (rows, PyArray1::from_vec(py, offsets.collect())))
    }

    /// The posterior given evidence about a whole sentence: that of each token, `[position, token]`, and for each level
    /// from the root down that of the symbol above each token, `[position, symbol]`; or None if the evidence is
    /// impossible.
    ///
    /// Evidence is a list of tokens, where None or -1 is a masked token, or an array `[position, token]` of
    /// likelihoods.
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(vocab=4, depth=2, fraction=0.5, seed=1)
    /// >>> posterior = grammar.posterior([None] * 6)
    /// >>> posterior.tokens.shape, len(posterior.levels)
    /// ((6, 4), 2)
    fn posterior<'py>(&self, py: Python<'py>, evidence: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let evidence = read_evidence(evidence, self.grammar.vocab())?;
        let found = interrupt::run(py, || SymbolPosteriors::new(&self.grammar, &evidence))?.or_value_error()?;
        let Some(found) = found else { return Ok(None) };
        let mut levels = Vec::new();
        for (level, size) in found.levels().iter().zip(self.grammar.sizes()) {
            levels.push(PyArray1::from_slice(py, level).reshape([evidence.len(), *size])?);
        }
        let tokens = levels.pop();
        named(py, "SymbolPosterior", (tokens, levels, found.log_evidence())).map(Some)
    }

    /// The lowest loss that any predictor can reach on the sentences of a corpus, in nats: per token for the tasks
    /// "next" (each token given those before it, and the end), "next-known" (with known length) and "noisy", per masked
    /// token for "masked" and "masked-one" (one random token), per sentence for "root". `mask` and `noise` are
    /// probabilities; `levels` is the number of lowest layers that the predictor knows ("next" only).
    ///
    /// >>> import gardenpath
    /// >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.125, seed=1)
    /// >>> corpus = grammar.corpus(500, seed=2)
    /// >>> floors = [grammar.floor(corpus, levels=known).loss for known in range(3)]
    /// >>> floors == sorted(floors, reverse=True)
    /// True
    #[pyo3(signature = (corpus, task="next", *, mask=None, noise=None, levels=None, seed=0))]
    #[allow(clippy::too_many_arguments)]
    fn floor<'py>(
        &self,
        py: Python<'py>,
        corpus: &Bound<'py, PyAny>,
        task: &str,
        mask: Option<f64>,
        noise: Option<f64>,
        #[pyo3(from_py_with = optional)] levels: Option<usize>,
        #[pyo3(from_py_with = natural)] seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let corpus = sentences::read(corpus, self.grammar.vocab())?;
        let kind = match task {
            "next" => Task::Next,
            "next-known" => Task::NextKnown,
            "masked" => Task::Masked(mask.unwrap_or(Task::MASK)),
            "masked-one" => Task::MaskedOne,
            "noisy" => Task::Noisy(noise.unwrap_or(Task::NOISE)),
            "root" => Task::Root,
            _ => {
                let expected = "\"next\", \"next-known\", \"masked\", \"masked-one\", \"noisy\" or \"root\"";
                return Err(value_error(format!("task is {task:?}, expected {expected}")));
            }
        };
        for (name, given, belongs) in [
            ("mask", mask.is_some(), "masked"),
            ("noise", noise.is_some(), "noisy"),
            ("levels", levels.is_some(), "next"),
        ] {
            if given && task != belongs {
                return Err(value_error(format!("{name} has no effect here: it needs task={belongs:?}")));
            }
        }
        let (grammar, corpus) = (&*self.grammar, &*corpus);
        let floor = interrupt::run(py, || match levels {
            Some(known) => Ok(Floor::of_lowest_levels(grammar, known..=known, corpus, &|_| ())?.remove(0)),
            None => Floor::measure(grammar, corpus, kind, Seed::new(seed), &|_| ()),
        })?
        .or_value_error()?;
        let formula = match kind {
            Task::Next => Some(level_floor_formula(grammar, levels.unwrap_or(grammar.depth())).or_value_error()?),
            _ => None,
        };
        let by_position: Vec<f64> = floor.by_position.iter().map(|at| at.mean).collect();
        named(py, "Floor", (floor.loss.mean, floor.loss.stderr, PyArray1::from_vec(py, by_position), formula))
    }
}

/// Whether each token of a corpus is masked, if its first sentence has index `start`: the masks of `Grammar.floor`.
#[pyfunction]
pub fn _masks<'py>(py: Python<'py>, corpus: &PyCorpus, rate: f64, seed: u64, start: u64) -> Bound<'py, PyArray1<bool>> {
    let corpus = &corpus.corpus;
    let mut masks = vec![false; corpus.tokens().len()];
    for (i, &offset) in corpus.offsets()[..corpus.len()].iter().enumerate() {
        let masked = random_mask(corpus.sentence(i).len(), rate, Seed::new(seed), start + i as u64);
        masked.into_iter().for_each(|position| masks[offset + position] = true);
    }
    PyArray1::from_vec(py, masks)
}

/// The tokens of a corpus after a noisy channel, if its first sentence has index `start`: the noise of `Grammar.floor`.
#[pyfunction]
pub fn _noise<'py>(
    py: Python<'py>,
    corpus: &PyCorpus,
    vocab: usize,
    noise: f64,
    seed: u64,
    start: u64,
) -> Bound<'py, PyArray1<Symbol>> {
    let corpus = &corpus.corpus;
    let observe = |(i, sentence)| random_noise(sentence, vocab, noise, Seed::new(seed), start + i as u64);
    PyArray1::from_vec(py, corpus.sentences().enumerate().flat_map(observe).collect())
}

fn read_evidence(object: &Bound<'_, PyAny>, vocab: usize) -> PyResult<Evidence> {
    if let Ok(array) = object.extract::<PyReadonlyArray2<'_, f64>>() {
        let width = array.shape()[1];
        if width != vocab {
            return Err(value_error(format!("evidence has {width} columns, expected {vocab}, one per token")));
        }
        return Evidence::new(vocab, array.as_array().iter().copied().collect()).or_value_error();
    }
    let expected = || value_error("evidence is neither a list of tokens nor an array [position, token] of float64");
    let mut tokens = Vec::new();
    for item in object.try_iter().map_err(|_| expected())? {
        tokens.push(item?.extract::<Option<i64>>().map_err(|_| expected())?.filter(|&token| token != -1));
    }
    let symbol = |(position, token): (usize, &Option<i64>)| match token {
        Some(token) if !(0..vocab as i64).contains(token) => {
            Err(value_error(format!("token {token} at position {position} is not one of the {vocab} tokens")))
        }
        token => Ok(token.unwrap_or(0) as Symbol),
    };
    let symbols = tokens.iter().enumerate().map(symbol).collect::<PyResult<Vec<Symbol>>>()?;
    let masked = (0..tokens.len()).filter(|&position| tokens[position].is_none());
    Evidence::with_masks(vocab, &symbols, masked).or_value_error()
}

/// The mean Kullback-Leibler divergence of predictions from the exact ones, in nats, for arrays `[row, outcome]` of
/// probabilities. Infinite if a possible outcome was given probability 0.
///
/// >>> import gardenpath, numpy
/// >>> exact = numpy.array([[0.5, 0.5], [1.0, 0.0]])
/// >>> gardenpath.divergence(exact, exact)
/// 0.0
#[pyfunction]
pub fn divergence(exact: PyReadonlyArray2<'_, f64>, predicted: PyReadonlyArray2<'_, f64>) -> PyResult<f64> {
    if exact.shape() != predicted.shape() {
        let (found, expected) = (predicted.shape(), exact.shape());
        return Err(value_error(format!("predicted has shape {found:?}, expected {expected:?} like exact")));
    }
    let flat = |array: &PyReadonlyArray2<'_, f64>| array.as_array().iter().copied().collect::<Vec<f64>>();
    mean_divergence(&flat(&exact), &flat(&predicted), exact.shape()[1]).or_value_error()
}
