//! Sentences from Python: a `Corpus`, a padded array, or a list of lists.

use crate::corpus::PyCorpus;
use crate::error::value_error;
use crate::padded;
use gardenpath::{Corpus, Error, Grammar, Symbol};
use gardenpath_lab::files::NO_ROOT;
use numpy::{PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::fmt::Display;
use std::ops::Deref;

/// A batch of sentences: a corpus held by Python, or one converted from other objects.
pub enum Sentences<'py> {
    /// Used without a copy.
    Held(Bound<'py, PyCorpus>),
    /// Converted from arrays or lists; the roots are unknown.
    Read(Corpus),
}

impl Deref for Sentences<'_> {
    type Target = Corpus;

    fn deref(&self) -> &Corpus {
        match self {
            Sentences::Held(corpus) => &corpus.get().corpus,
            Sentences::Read(corpus) => corpus,
        }
    }
}

/// Reads a batch of sentences with tokens below `vocab`.
pub fn read<'py>(object: &Bound<'py, PyAny>, vocab: usize) -> PyResult<Sentences<'py>> {
    if let Ok(corpus) = object.cast::<PyCorpus>() {
        check(&corpus.get().corpus, vocab)?;
        return Ok(Sentences::Held(corpus.clone()));
    }
    if object.hasattr("__array__")? {
        let array = object.py().import("numpy")?.call_method1("asarray", (object,))?.cast_into::<PyUntypedArray>()?;
        let integers = matches!(array.dtype().getattr("kind")?.extract::<&str>()?, "i" | "u");
        match array.ndim() {
            2 if integers => return padded::read(&array, vocab).map(Sentences::Read),
            1 if integers => return Err(one_sentence()),
            1 if array.dtype().getattr("kind")?.eq("O")? => {
                return read_list(array.as_any(), vocab).map(Sentences::Read);
            }
            ndim => {
                let dtype = array.dtype();
                return Err(value_error(format!(
                    "sentences are a {ndim}-dimensional array of {dtype}, expected two dimensions of integers"
                )));
            }
        }
    }
    read_list(object, vocab).map(Sentences::Read)
}

/// Refuses sentences with unknown tokens.
fn check(corpus: &Corpus, vocab: usize) -> PyResult<()> {
    if corpus.tokens().iter().max().is_none_or(|&token| usize::from(token) < vocab) {
        return Ok(());
    }
    for (i, sentence) in corpus.sentences().enumerate() {
        gardenpath::check_tokens(sentence, vocab).map_err(|error| in_sentence(i, &error))?;
    }
    Ok(())
}

fn in_sentence(i: usize, error: &Error) -> PyErr {
    match *error {
        Error::UnknownToken { position, token, vocab } => value_error(unknown_token(i, position, token, vocab)),
        ref error => value_error(format!("sentence {i}: {error}")),
    }
}

fn one_sentence() -> PyErr {
    value_error("sentences are a single list of tokens, expected a batch; use [sentence] for one")
}

/// The message about an unknown token.
pub fn unknown_token(i: usize, position: usize, token: impl Display, vocab: usize) -> String {
    format!("sentence {i}: token {token} at position {position} is not one of the {vocab} tokens")
}

/// The message about an empty sentence.
pub fn empty(i: usize) -> String {
    format!("sentence {i} is empty, expected tokens")
}

fn read_list(object: &Bound<'_, PyAny>, vocab: usize) -> PyResult<Corpus> {
    if object.is_instance_of::<PyString>() {
        return Err(one_sentence());
    }
    let mut corpus = Corpus::default();
    for (i, sentence) in object.try_iter()?.enumerate() {
        let sentence = read_tokens(&sentence?, i, vocab)?;
        if sentence.is_empty() {
            return Err(value_error(empty(i)));
        }
        corpus.push(&sentence, NO_ROOT);
    }
    Ok(corpus)
}

/// The tokens of sentence `i`.
fn read_tokens(object: &Bound<'_, PyAny>, i: usize, vocab: usize) -> PyResult<Vec<Symbol>> {
    if let Ok(bytes) = object.extract::<PyReadonlyArray1<'_, u8>>() {
        let tokens = bytes.as_array().to_vec();
        gardenpath::check_tokens(&tokens, vocab).map_err(|error| in_sentence(i, &error))?;
        return Ok(tokens);
    }
    if object.extract::<i64>().is_ok() {
        return Err(one_sentence());
    }
    let tokens: Vec<i64> =
        object.extract().map_err(|_| value_error(format!("sentence {i} is not a list of integers")))?;
    let symbol = |(position, &token): (usize, &i64)| match token {
        _ if (0..vocab as i64).contains(&token) => Ok(token as Symbol),
        _ => Err(value_error(unknown_token(i, position, token, vocab))),
    };
    tokens.iter().enumerate().map(symbol).collect()
}

/// Reads one sentence: a list of tokens, or a string of their names.
pub fn read_one(object: &Bound<'_, PyAny>, grammar: &Grammar) -> PyResult<Vec<Symbol>> {
    if object.extract::<i64>().is_ok() {
        return Err(value_error(format!("the sentence is {object}, expected a list of tokens")));
    }
    let tokens = match object.extract::<String>() {
        Ok(text) => text.split_whitespace().map(|name| token_named(grammar, name)).collect::<PyResult<_>>()?,
        Err(_) => read_tokens(object, 0, grammar.vocab())
            .map_err(|error| value_error(error.value(object.py()).to_string().replace("sentence 0", "the sentence")))?,
    };
    if tokens.is_empty() {
        return Err(value_error("the sentence is empty, expected tokens"));
    }
    Ok(tokens)
}

fn token_named(grammar: &Grammar, name: &str) -> PyResult<Symbol> {
    let unknown = || value_error(format!("{name:?} is not one of the {} tokens of the grammar", grammar.vocab()));
    grammar.symbol(grammar.depth(), name).ok_or_else(unknown)
}
