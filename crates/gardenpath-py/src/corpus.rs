//! `Corpus`: sentences with their roots.

use crate::arrays::view;
use crate::error::{OrFileError, OrValueError, value_error};
use crate::grammar::PyGrammar;
use crate::interrupt;
use crate::numbers::optional;
use crate::sentences::{self, Sentences};
use crate::tree::PyTree;
use gardenpath::interrupt::checkpoint;
use gardenpath::{Corpus, Grammar, Sampler, Seed, Symbol};
use gardenpath_lab::files::parquet::{Writer, keys};
use gardenpath_lab::files::{self, Format, NO_ROOT, Names, Output, Whole, jsonl, tsv};
use numpy::ndarray::{ArrayView1, ArrayViewMut1};
use numpy::{Element, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyType};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Sentences with their roots.
///
/// `tokens` contains all sentences one after another: sentence `i` is `tokens[offsets[i]:offsets[i + 1]]`, with root
/// `roots[i]`. The arrays are read-only views of the corpus, without copies. Unknown roots are 255.
///
/// >>> import gardenpath
/// >>> grammar = gardenpath.Grammar.sample(vocab=8, depth=2, fraction=0.25, seed=7)
/// >>> corpus = grammar.corpus(1000, seed=1)
/// >>> len(corpus), corpus.tokens.dtype, corpus.roots.shape
/// (1000, dtype('uint8'), (1000,))
/// >>> bool((corpus[40:50].tokens == grammar.corpus(10, seed=1, start=40).tokens).all())
/// True
///
/// `Corpus(sentences, roots)` accepts a padded array, a list of lists or another corpus.
///
/// >>> corpus = gardenpath.Corpus([[0, 3, 1, 2], [2, 2, 1, 0, 3]], roots=[1, 0], vocab=4)
/// >>> corpus.offsets.tolist()
/// [0, 4, 9]
/// >>> corpus.padded().tolist()
/// [[0, 3, 1, 2, -1], [2, 2, 1, 0, 3]]
#[pyclass(frozen, name = "Corpus", module = "gardenpath", sequence)]
pub struct PyCorpus {
    pub corpus: Corpus,
    pub vocab: usize,
    pub classes: usize,
    pub origin: Option<Origin>,
    /// The names of tokens and roots, if the corpus was read from a file of words.
    pub names: Names,
}

/// The origin of sampled sentences: sentence `i` has index `first + i * step` for this grammar and seed.
#[derive(Clone)]
pub struct Origin {
    pub grammar: Arc<Grammar>,
    pub seed: u64,
    pub first: u64,
    pub step: i64,
}

impl Origin {
    fn number(&self, i: usize) -> u64 {
        self.first.wrapping_add_signed(self.step * i as i64)
    }
}

#[pymethods]
impl PyCorpus {
    #[new]
    #[pyo3(signature = (sentences, roots=None, *, vocab=None))]
    fn new(
        sentences: &Bound<'_, PyAny>,
        roots: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = optional)] vocab: Option<usize>,
    ) -> PyResult<Self> {
        let limit = check_vocab(vocab)?;
        let corpus = match sentences::read(sentences, limit)? {
            Sentences::Held(held) => held.get().corpus.clone(),
            Sentences::Read(corpus) => corpus,
        };
        let corpus = match roots {
            Some(roots) => {
                let roots = read_roots(roots, corpus.len())?;
                corpus.with_roots(roots).or_value_error()?
            }
            None => corpus,
        };
        Ok(PyCorpus::foreign(corpus, vocab))
    }

    /// A corpus from flat tokens, offsets and roots.
    ///
    /// >>> import gardenpath
    /// >>> corpus = gardenpath.Corpus.from_arrays([0, 3, 1, 2, 2], offsets=[0, 2, 5], roots=[1, 0], vocab=4)
    /// >>> corpus[1]
    /// array([1, 2, 2], dtype=uint8)
    #[staticmethod]
    #[pyo3(signature = (tokens, offsets, roots, *, vocab=None))]
    fn from_arrays(
        tokens: &Bound<'_, PyAny>,
        offsets: &Bound<'_, PyAny>,
        roots: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = optional)] vocab: Option<usize>,
    ) -> PyResult<Self> {
        let limit = check_vocab(vocab)?;
        let tokens = read_bytes(tokens, "tokens")?;
        gardenpath::check_tokens(&tokens, limit).or_value_error()?;
        let offsets = read_integers(offsets, "offsets")?;
        let offsets = offsets.iter().map(|&offset| usize::try_from(offset).ok()).collect::<Option<Vec<_>>>();
        let offsets = offsets.ok_or_else(|| value_error("offsets are negative, expected increasing from 0"))?;
        if let Some(i) = offsets.windows(2).position(|pair| pair[0] == pair[1]) {
            return Err(value_error(sentences::empty(i)));
        }
        let count = offsets.len().saturating_sub(1);
        let corpus = Corpus::from_parts(tokens, offsets, read_roots(roots, count)?).or_value_error()?;
        Ok(PyCorpus::foreign(corpus, vocab))
    }

    /// Reads a corpus (.parquet, .jsonl or .tsv).
    ///
    /// Words become numbers: those of the names of `grammar`, or else in sorted order; see `token_names` and
    /// `root_names`.
    ///
    /// >>> import gardenpath, tempfile, os
    /// >>> path = os.path.join(tempfile.mkdtemp(), "words.tsv")
    /// >>> with open(path, "w") as file:
    /// ...     _ = file.write("question\tthe old man\nanswer\tman the boats\n")
    /// >>> corpus = gardenpath.Corpus.read(path)
    /// >>> corpus.token_names, corpus.root_names, corpus[0].tolist()
    /// (['boats', 'man', 'old', 'the'], ['answer', 'question'], [3, 2, 1])
    #[staticmethod]
    #[pyo3(signature = (path, *, vocab=None, grammar=None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        #[pyo3(from_py_with = optional)] vocab: Option<usize>,
        grammar: Option<&PyGrammar>,
    ) -> PyResult<Self> {
        if vocab.is_some() && grammar.is_some() {
            return Err(value_error("vocab and grammar are both given, expected one of them"));
        }
        let limit = check_vocab(vocab)?;
        let grammar = grammar.map(|grammar| grammar.grammar.clone());
        let read = || match (&grammar, vocab) {
            (Some(grammar), _) => Whole::read_of(&path, grammar),
            (None, None) => Whole::read(&path),
            (None, Some(_)) => Whole::read_numbers(&path, limit),
        };
        let Whole { corpus, names, vocab: said_vocab, classes: said_classes, .. } =
            interrupt::run(py, read)?.or_file_error()?;
        let mut corpus = PyCorpus::foreign(corpus, vocab);
        if vocab.is_none() {
            corpus.vocab = corpus.vocab.max(said_vocab);
            corpus.classes = corpus.classes.max(said_classes);
        }
        Ok(PyCorpus { names, ..corpus })
    }

    /// Writes the corpus (.parquet, .jsonl or .tsv), like the program: words if it has them, else numbers.
    ///
    /// >>> import gardenpath, tempfile, os
    /// >>> corpus = gardenpath.Grammar.sample(8, 2).corpus(100, seed=1)
    /// >>> path = os.path.join(tempfile.mkdtemp(), "corpus.parquet")
    /// >>> corpus.write(path)
    /// >>> gardenpath.Corpus.read(path) == corpus
    /// True
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        if files::is_standard(&path) {
            return Err(value_error("expected a corpus with a name ending in .parquet, .jsonl or .tsv"));
        }
        let write = || match Format::of(&path)? {
            Format::Jsonl => {
                let mut output = Output::create(&path)?;
                jsonl::write_with(&mut output, &self.corpus, None, &self.names)?;
                output.finish()
            }
            Format::Tsv => {
                tsv::check_names(&self.names)?;
                let mut output = Output::create(&path)?;
                tsv::write(&mut output, &self.corpus, &self.names)?;
                output.finish()
            }
            Format::Parquet => {
                let mut writer = Writer::create_with(&path, &self.remarks(), false, self.names.clone())?;
                writer.write(&self.corpus, None)?;
                writer.finish()
            }
        };
        interrupt::run(py, write)?.or_file_error()
    }

    /// All tokens, one sentence after another (a view).
    #[getter]
    fn tokens<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<u8>> {
        // SAFETY: a frozen corpus never changes.
        unsafe { view(ArrayView1::from(this.get().corpus.tokens()), this.clone().into_any()) }
    }

    /// The start of each sentence, and the end of the last (a view).
    #[getter]
    fn offsets<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<i64>> {
        let offsets = this.get().corpus.offsets();
        // SAFETY: offsets are below 2^63, so both types have the same bits; a frozen corpus never changes.
        unsafe {
            let offsets = std::slice::from_raw_parts(offsets.as_ptr().cast::<i64>(), offsets.len());
            view(ArrayView1::from(offsets), this.clone().into_any())
        }
    }

    /// The root of each sentence (a view); 255 if unknown.
    #[getter]
    fn roots<'py>(this: &Bound<'py, Self>) -> Bound<'py, PyArray1<u8>> {
        // SAFETY: a frozen corpus never changes.
        unsafe { view(ArrayView1::from(this.get().corpus.roots()), this.clone().into_any()) }
    }

    /// The length of each sentence.
    #[getter]
    fn lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_iter(py, self.corpus.sentences().map(|sentence| sentence.len() as i64))
    }

    /// The number of distinct tokens.
    #[getter]
    fn vocab(&self) -> usize {
        self.vocab
    }

    /// The number of distinct roots.
    #[getter]
    fn classes(&self) -> usize {
        self.classes
    }

    /// The names of the tokens, if the corpus was read from a file of words.
    #[getter]
    fn token_names(&self) -> Option<Vec<String>> {
        self.names.tokens.clone()
    }

    /// The names of the roots, if the corpus was read from a file of words.
    #[getter]
    fn root_names(&self) -> Option<Vec<String>> {
        self.names.roots.clone()
    }

    /// The sentences as rows of one array, padded to the longest with `fill`.
    ///
    /// `dtype` is int64 (for a PyTorch embedding), int32, int16 or uint8, by name or as `np.int64`; for uint8 use
    /// `fill=255`. `fill` must not be a token.
    ///
    /// >>> import gardenpath
    /// >>> corpus = gardenpath.Corpus([[0, 1, 2, 3], [3, 2, 1, 0, 1]])
    /// >>> corpus.padded(fill=255, dtype="uint8").tolist()
    /// [[0, 1, 2, 3, 255], [3, 2, 1, 0, 1]]
    #[pyo3(signature = (fill=-1, dtype=None), text_signature = "($self, fill=-1, dtype='int64')")]
    fn padded<'py>(
        &self,
        py: Python<'py>,
        fill: i64,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if (0..self.vocab as i64).contains(&fill) {
            return Err(value_error(format!(
                "fill is {fill}, which is a token; expected -1, or at least {}",
                self.vocab
            )));
        }
        let dtype = match dtype {
            Some(dtype) => py.import("numpy")?.call_method1("dtype", (dtype,))?.getattr("name")?.extract::<String>()?,
            None => "int64".into(),
        };
        match dtype.as_str() {
            "int64" => self.filled::<i64>(py, fill),
            "int32" => self.filled::<i32>(py, fill),
            "int16" => self.filled::<i16>(py, fill),
            "uint8" => self.filled::<u8>(py, fill),
            _ => Err(value_error(format!("dtype is {dtype}, expected int64, int32, int16 or uint8"))),
        }
    }

    /// The sentences one-hot encoded: `[sentence, position, token]` is 1 where the token occurs, and 0 elsewhere.
    ///
    /// >>> import gardenpath
    /// >>> gardenpath.Corpus([[0, 1, 2, 3], [3, 2, 1, 0, 1]]).one_hot().shape
    /// (2, 5, 4)
    fn one_hot<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let (width, vocab) = (self.longest(), self.vocab);
        let array = PyArray3::zeros(py, [self.corpus.len(), width, vocab], false);
        let mut rows = array.readwrite();
        let rows = rows.as_slice_mut()?;
        interrupt::run(py, || {
            rows.par_chunks_mut((width * vocab).max(1)).enumerate().for_each(|(i, row)| {
                for (position, &token) in self.corpus.sentence(i).iter().enumerate() {
                    row[position * vocab + usize::from(token)] = 1.0;
                }
            });
        })?;
        Ok(array)
    }

    /// The trees of the sampled sentences.
    ///
    /// >>> import gardenpath
    /// >>> corpus = gardenpath.Grammar.sample(4, 2, seed=1).corpus(3, seed=2)
    /// >>> print(corpus.trees()[0])
    /// (A0_1 (A1_3 3 3) (A1_1 1 0) (A1_0 1 2 0))
    fn trees(&self, py: Python<'_>) -> PyResult<Vec<PyTree>> {
        let Some(origin) = &self.origin else {
            return Err(value_error(
                "the trees of this corpus are unknown, expected a sampled corpus; grammar.best_tree(sentence) finds likely ones",
            ));
        };
        let (sampler, seed) = (Sampler::new(&origin.grammar), Seed::new(origin.seed));
        let trees = interrupt::run(py, || {
            let tree = |i: usize| {
                checkpoint();
                sampler.tree(seed, origin.number(i))
            };
            (0..self.corpus.len()).into_par_iter().map(tree).collect::<Vec<_>>()
        })?;
        Ok(trees.into_iter().map(|tree| PyTree::new(tree, origin.grammar.clone())).collect())
    }

    /// An Apache Arrow table with columns `tokens` and `root`; the tokens are not copied.
    fn to_arrow<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("gardenpath._arrow")?.call_method1("to_arrow", (this,))
    }

    /// A corpus from an Apache Arrow table with columns `tokens` and optionally `root`.
    #[classmethod]
    #[pyo3(signature = (table, *, vocab=None))]
    fn from_arrow<'py>(
        class: &Bound<'py, PyType>,
        table: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = optional)] vocab: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        class.py().import("gardenpath._arrow")?.call_method1("from_arrow", (table, vocab))
    }

    fn __len__(&self) -> usize {
        self.corpus.len()
    }

    /// The tokens of one sentence (a view), or the corpus selected by a slice, an index array or a mask.
    fn __getitem__<'py>(this: &Bound<'py, Self>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, corpus) = (this.py(), this.get());
        if let Ok(slice) = index.cast::<PySlice>() {
            let slice = slice.indices(corpus.corpus.len() as isize)?;
            let numbers = (0..slice.slicelength).map(|k| (slice.start + k as isize * slice.step) as usize);
            let origin = corpus.origin.clone().map(|origin| Origin {
                first: origin.number(slice.start.max(0) as usize),
                step: origin.step * slice.step as i64,
                ..origin
            });
            return Ok(Bound::new(py, corpus.take(numbers, origin))?.into_any());
        }
        if let Ok(number) = index.extract::<isize>() {
            let sentence = corpus.corpus.sentence(corpus.position(number)?);
            // SAFETY: a frozen corpus never changes.
            return Ok(unsafe { view(ArrayView1::from(sentence), this.clone().into_any()) }.into_any());
        }
        let refused = || PyIndexError::new_err("a corpus index is an integer, a slice, an array of integers or a mask");
        let chosen = py.import("numpy")?.call_method1("asarray", (index,))?;
        if chosen.getattr("ndim")?.ne(1)? {
            return Err(refused());
        }
        let is_mask = chosen.getattr("dtype")?.getattr("kind")?.eq("b")?;
        if is_mask && chosen.len()? != corpus.corpus.len() {
            let expected = corpus.corpus.len();
            return Err(PyIndexError::new_err(format!("the mask has {} values, expected {expected}", chosen.len()?)));
        }
        let chosen = if is_mask { chosen.call_method0("nonzero")?.get_item(0)? } else { chosen };
        let chosen: Vec<isize> = chosen.extract().map_err(|_| refused())?;
        let numbers = chosen.into_iter().map(|number| corpus.position(number)).collect::<PyResult<Vec<_>>>()?;
        Ok(Bound::new(py, corpus.take(numbers.into_iter(), None))?.into_any())
    }

    fn __iter__(this: Bound<'_, Self>) -> CorpusIterator {
        CorpusIterator { corpus: this.unbind(), next: 0 }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().corpus == self.corpus && other.get().names == self.names)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let py = this.py();
        let (maker, corpus) = (py.import("gardenpath._core")?.getattr("_restore_corpus")?, this.get());
        let origin = corpus.origin.as_ref().map(|o| (o.grammar.to_text(), o.seed, o.first, o.step));
        let bytes = (Self::tokens(this), Self::offsets(this), Self::roots(this));
        let Names { tokens, roots } = corpus.names.clone();
        Ok((maker, (bytes, corpus.vocab, corpus.classes, origin, (tokens, roots)).into_pyobject(py)?.into_any()))
    }

    fn __repr__(&self) -> String {
        let (sentences, tokens) = (self.corpus.len(), self.corpus.tokens().len());
        format!("<Corpus of {sentences} sentences, {tokens} tokens, vocab {}>", self.vocab)
    }
}

/// Unpickles a corpus.
#[pyfunction]
#[pyo3(signature = (parts, vocab, classes, origin, names=None))]
#[allow(clippy::type_complexity)]
pub fn _restore_corpus(
    parts: (PyReadonlyArray1<'_, u8>, PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, u8>),
    vocab: usize,
    classes: usize,
    origin: Option<(String, u64, u64, i64)>,
    names: Option<(Option<Vec<String>>, Option<Vec<String>>)>,
) -> PyResult<PyCorpus> {
    let (tokens, offsets, roots) = parts;
    let offsets = offsets.as_array().iter().map(|&offset| offset as usize).collect();
    let corpus = Corpus::from_parts(tokens.as_array().to_vec(), offsets, roots.as_array().to_vec()).or_value_error()?;
    let origin = match origin {
        Some((text, seed, first, step)) => {
            Some(Origin { grammar: Arc::new(Grammar::from_text(&text).or_value_error()?), seed, first, step })
        }
        None => None,
    };
    let names = names.map(|(tokens, roots)| Names { tokens, roots }).unwrap_or_default();
    Ok(PyCorpus { corpus, vocab, classes, origin, names })
}

/// Iterates over the sentences of a corpus.
#[pyclass(name = "CorpusIterator", module = "gardenpath")]
pub struct CorpusIterator {
    corpus: Py<PyCorpus>,
    next: usize,
}

#[pymethods]
impl CorpusIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyArray1<u8>>> {
        let owner = self.corpus.bind(py);
        let corpus = &owner.get().corpus;
        if self.next == corpus.len() {
            return None;
        }
        self.next += 1;
        // SAFETY: a frozen corpus never changes.
        Some(unsafe { view(ArrayView1::from(corpus.sentence(self.next - 1)), owner.clone().into_any()) })
    }
}

/// Element types of padded arrays.
trait Number: Element + Copy + From<u8> + TryFrom<i64> {}
impl Number for i64 {}
impl Number for i32 {}
impl Number for i16 {}
impl Number for u8 {}

impl PyCorpus {
    /// Sentences of a grammar.
    pub fn of(corpus: Corpus, grammar: &Grammar) -> Self {
        PyCorpus { corpus, vocab: grammar.vocab(), classes: grammar.classes(), origin: None, names: Names::default() }
    }

    /// A corpus that was not sampled here: its sizes are given, or those that occur.
    fn foreign(corpus: Corpus, vocab: Option<usize>) -> Self {
        let above = |symbols: &[Symbol]| {
            symbols.iter().filter(|&&symbol| symbol != NO_ROOT).max().map_or(1, |&symbol| usize::from(symbol) + 1)
        };
        let classes = above(corpus.roots()).max(vocab.unwrap_or(0));
        let vocab = vocab.unwrap_or_else(|| above(corpus.tokens()));
        PyCorpus { corpus, vocab, classes, origin: None, names: Names::default() }
    }

    fn take(&self, numbers: impl Iterator<Item = usize>, origin: Option<Origin>) -> Self {
        let mut taken = Corpus::default();
        numbers.for_each(|i| taken.push(self.corpus.sentence(i), self.corpus.roots()[i]));
        PyCorpus { corpus: taken, vocab: self.vocab, classes: self.classes, origin, names: self.names.clone() }
    }

    /// The position of an index, which counts from the end if negative.
    fn position(&self, number: isize) -> PyResult<usize> {
        let len = self.corpus.len();
        let position = if number < 0 { number + len as isize } else { number };
        usize::try_from(position).ok().filter(|&position| position < len).ok_or_else(|| {
            PyIndexError::new_err(format!("sentence {number} is out of range, the corpus has {len} sentences"))
        })
    }

    fn longest(&self) -> usize {
        self.corpus.sentences().map(<[Symbol]>::len).max().unwrap_or(0)
    }

    fn filled<'py, T: Number>(&self, py: Python<'py>, fill: i64) -> PyResult<Bound<'py, PyAny>> {
        let Ok(fill) = T::try_from(fill) else {
            return Err(value_error(format!("fill is {fill}, expected a value of the dtype")));
        };
        let width = self.longest();
        // SAFETY: every row is written below, before anything else sees the array.
        let array = unsafe { PyArray2::<T>::new(py, [self.corpus.len(), width], false) };
        let mut rows = array.readwrite();
        let rows = rows.as_slice_mut()?;
        interrupt::run(py, || {
            rows.par_chunks_mut(width.max(1)).enumerate().for_each(|(i, row)| {
                let sentence = self.corpus.sentence(i);
                let (tokens, padding) = row.split_at_mut(sentence.len());
                ArrayViewMut1::from(tokens).zip_mut_with(&ArrayView1::from(sentence), |to, &from| *to = T::from(from));
                padding.fill(fill);
            });
        })?;
        Ok(array.into_any())
    }

    /// The metadata of a Parquet file.
    fn remarks(&self) -> Vec<(&'static str, String)> {
        let mut remarks = vec![
            (keys::COUNT, self.corpus.len().to_string()),
            (keys::CLASSES, self.classes.to_string()),
            (keys::VOCAB, self.vocab.to_string()),
        ];
        if let Some(Origin { grammar, seed, first, step: 1 }) = &self.origin {
            remarks.extend([
                (keys::GRAMMAR, grammar.fingerprint()),
                (keys::SEED, seed.to_string()),
                (keys::FIRST, first.to_string()),
                (keys::REMARKS, grammar.remarks().join("\n")),
            ]);
        }
        remarks
    }
}

/// The given number of tokens, or the largest possible one.
fn check_vocab(vocab: Option<usize>) -> PyResult<usize> {
    match vocab.unwrap_or(Grammar::MAX_VOCAB) {
        vocab @ 1..=Grammar::MAX_VOCAB => Ok(vocab),
        vocab => Err(value_error(format!("vocab is {vocab}, expected 1 to {}", Grammar::MAX_VOCAB))),
    }
}

/// Integers below 256, of any type.
fn read_bytes(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = object.extract::<PyReadonlyArray1<'_, u8>>() {
        return Ok(bytes.as_array().to_vec());
    }
    let byte = |value: i64| {
        u8::try_from(value).map_err(|_| value_error(format!("{name} have the value {value}, expected 0 to 255")))
    };
    read_integers(object, name)?.into_iter().map(byte).collect()
}

/// A flat list of integers.
fn read_integers(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<i64>> {
    let numpy = object.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (object,))?;
    let dtype = array.getattr("dtype")?;
    let integers = matches!(dtype.getattr("kind")?.extract::<&str>()?, "i" | "u");
    if !integers && array.getattr("size")?.gt(0)? {
        return Err(value_error(format!("{name} are {dtype}, expected integers")));
    }
    let wide: PyReadonlyArray1<'_, i64> = numpy
        .call_method1("ascontiguousarray", (&array, "int64"))?
        .extract()
        .map_err(|_| value_error(format!("{name} have several dimensions, expected one")))?;
    Ok(wide.as_array().to_vec())
}

fn read_roots(object: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<Symbol>> {
    let roots = read_bytes(object, "roots")?;
    if roots.len() != count {
        return Err(value_error(format!("{} roots for {count} sentences", roots.len())));
    }
    Ok(roots)
}
