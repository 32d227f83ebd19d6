//! Sentences as the rows of a matrix, filled up to the longest.

use crate::error::{OrValueError, value_error};
use crate::interrupt;
use crate::sentences::{empty, unknown_token};
use gardenpath::interrupt::checkpoint;
use gardenpath::{Corpus, Symbol};
use gardenpath_lab::files::NO_ROOT;
use numpy::{PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Rows of one task.
const SHARD: usize = 4096;

/// Reads a matrix of integers; what is negative, or 255 in bytes, is padding at the end of a row.
pub fn read(array: &Bound<'_, PyUntypedArray>, vocab: usize) -> PyResult<Corpus> {
    let numpy = array.py().import("numpy")?;
    if array.cast::<PyArray2<u8>>().is_ok() {
        let bytes = numpy.call_method1("ascontiguousarray", (array,))?.cast_into::<PyArray2<u8>>()?;
        return read_rows(&bytes, vocab);
    }
    let largest = if array.len() == 0 { None } else { Some(array.call_method0("max")?) };
    if let Some(largest) = largest.filter(|largest| largest.gt(i64::MAX).unwrap_or(false)) {
        return Err(value_error(format!("a token is {largest}, expected 0 to {}", vocab - 1)));
    }
    let wide = numpy.call_method1("ascontiguousarray", (array, "int64"))?.cast_into::<PyArray2<i64>>()?;
    read_rows(&wide, vocab)
}

/// What stands in a matrix: a token, or padding.
trait Value: numpy::Element + Copy {
    fn is_padding(self) -> bool;
    fn is_token_of(self, vocab: usize) -> bool;
    fn symbol(self) -> Symbol;
    fn number(self) -> i64;
}

impl Value for u8 {
    fn is_padding(self) -> bool {
        self == NO_ROOT
    }

    fn is_token_of(self, vocab: usize) -> bool {
        // There are at most 255 tokens. Comparing bytes is quicker.
        self < vocab as u8
    }

    fn symbol(self) -> Symbol {
        self
    }

    fn number(self) -> i64 {
        i64::from(self)
    }
}

impl Value for i64 {
    fn is_padding(self) -> bool {
        self < 0
    }

    fn is_token_of(self, vocab: usize) -> bool {
        (0..vocab as i64).contains(&self)
    }

    fn symbol(self) -> Symbol {
        self as Symbol
    }

    fn number(self) -> i64 {
        self
    }
}

fn read_rows<T: Value>(array: &Bound<'_, PyArray2<T>>, vocab: usize) -> PyResult<Corpus> {
    let (count, width) = (array.shape()[0], array.shape()[1]);
    if width == 0 && count > 0 {
        return Err(value_error(empty(0)));
    }
    let held = array.readonly();
    let matrix = Matrix { values: held.as_slice()?, width, vocab };
    let read = interrupt::run(array.py(), || matrix.read())?;
    let (tokens, offsets) = read.or_value_error()?;
    Corpus::from_parts(tokens, offsets, vec![NO_ROOT; count]).or_value_error()
}

struct Matrix<'v, T> {
    values: &'v [T],
    width: usize,
    vocab: usize,
}

impl<T: Value> Matrix<'_, T> {
    /// All tokens and the offsets of the rows: first the tokens of each shard are counted, then everything has its place.
    fn read(&self) -> Result<(Vec<Symbol>, Vec<usize>), String> {
        let count = self.values.len() / self.width.max(1);
        let blocks = self.values.par_chunks((SHARD * self.width).max(1));
        let totals: Vec<usize> = blocks.clone().map(|block| self.length(block)).collect();
        let mut tokens = vec![0; totals.iter().sum()];
        let mut offsets = vec![0; count + 1];
        let (mut rest, mut base) = (tokens.as_mut_slice(), 0);
        let mut places = Vec::with_capacity(totals.len());
        for (total, ends) in totals.iter().zip(offsets[1..].chunks_mut(SHARD)) {
            let (own, others) = rest.split_at_mut(*total);
            places.push((base, own, ends));
            rest = others;
            base += total;
        }
        let shards = blocks.zip(places).enumerate();
        shards.try_for_each(|(shard, (block, (mut end, mut free, ends)))| -> Result<(), String> {
            checkpoint();
            for (i, (row, row_end)) in block.chunks(self.width).zip(ends).enumerate() {
                let (sentence, others) = free.split_at_mut(self.length(row));
                self.read_row(row, sentence).map_err(|()| self.mistake(row, shard * SHARD + i))?;
                end += sentence.len();
                *row_end = end;
                free = others;
            }
            Ok(())
        })?;
        Ok((tokens, offsets))
    }

    /// The number of tokens of rows, wherever they stand.
    fn length(&self, rows: &[T]) -> usize {
        rows.iter().filter(|value| !value.is_padding()).count()
    }

    /// Reads the tokens of a row, or finds that something is wrong with it. If as many values as there are tokens stand at its
    /// beginning, the others are padding.
    fn read_row(&self, row: &[T], sentence: &mut [Symbol]) -> Result<(), ()> {
        let mut right = !sentence.is_empty();
        for (&value, symbol) in row.iter().zip(sentence) {
            right &= value.is_token_of(self.vocab);
            *symbol = value.symbol();
        }
        if right { Ok(()) } else { Err(()) }
    }

    /// What is wrong with row `i`.
    fn mistake(&self, row: &[T], i: usize) -> String {
        let padding = row.iter().position(|value| value.is_padding()).unwrap_or(row.len());
        if let Some(position) = row[..padding].iter().position(|value| !value.is_token_of(self.vocab)) {
            return unknown_token(i, position, row[position].number(), self.vocab);
        }
        match row[padding..].iter().position(|value| !value.is_padding()) {
            Some(after) => {
                let position = padding + after;
                format!("sentence {i}: a token at position {position} follows padding at {padding}")
            }
            None => empty(i),
        }
    }
}
