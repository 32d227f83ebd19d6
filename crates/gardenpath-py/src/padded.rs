//! Sentences as the rows of a padded matrix.

use crate::error::{OrValueError, value_error};
use crate::interrupt;
use crate::sentences::{empty, unknown_token};
use gardenpath::interrupt::checkpoint;
use gardenpath::{Corpus, Symbol};
use gardenpath_lab::files::NO_ROOT;
use numpy::{PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use std::fmt::Display;

/// Rows per task: enough to hide the cost of scheduling, few enough to balance threads.
const SHARD: usize = 4096;

/// Reads a matrix of integers; negative values, or 255 in bytes, are padding at the end of a row.
pub fn read(array: &Bound<'_, PyUntypedArray>, vocab: usize) -> PyResult<Corpus> {
    // Most arrays already have this layout and are read in place.
    let native = array.dtype().call_method1("newbyteorder", ("=",))?;
    let array = array.py().import("numpy")?.call_method1("ascontiguousarray", (array, native))?;
    macro_rules! read_first_of {
        ($($integer:ty),+) => {
            $(if let Ok(array) = array.cast::<PyArray2<$integer>>() {
                return read_rows(array, vocab);
            })+
        };
    }
    read_first_of!(u8, i64, i32, i16, i8, u16, u32, u64);
    let dtype = array.getattr("dtype")?;
    Err(value_error(format!("sentences are an array of {dtype}, expected integers")))
}

/// An entry of the matrix: a token or padding.
trait Value: numpy::Element + Copy + Display {
    fn is_padding(self) -> bool;
    fn is_token_of(self, vocab: usize) -> bool;
    fn symbol(self) -> Symbol;
}

impl Value for u8 {
    fn is_padding(self) -> bool {
        self == NO_ROOT
    }

    fn is_token_of(self, vocab: usize) -> bool {
        // There are at most 255 tokens, and comparing bytes is faster.
        self < vocab as u8
    }

    fn symbol(self) -> Symbol {
        self
    }
}

macro_rules! wider_values {
    ($($integer:ty),+) => {
        $(impl Value for $integer {
            #[allow(unused_comparisons, reason = "some of these types have no negative numbers, and so no padding")]
            fn is_padding(self) -> bool {
                self < 0
            }

            fn is_token_of(self, vocab: usize) -> bool {
                // Negative numbers wrap around to large ones.
                (self as u64) < vocab as u64
            }

            fn symbol(self) -> Symbol {
                self as Symbol
            }
        })+
    };
}

wider_values!(i8, i16, u16, i32, u32, i64, u64);

fn read_rows<T: Value>(array: &Bound<'_, PyArray2<T>>, vocab: usize) -> PyResult<Corpus> {
    let (count, width) = (array.shape()[0], array.shape()[1]);
    if width == 0 && count > 0 {
        return Err(value_error(empty(0)));
    }
    let held = array.readonly();
    let matrix = Matrix { values: held.as_slice()?, count, width: width.max(1), vocab };
    let read = interrupt::run(array.py(), || matrix.read())?;
    let (tokens, offsets) = read.map_err(value_error)?;
    Corpus::from_parts(tokens, offsets, vec![NO_ROOT; count]).or_value_error()
}

struct Matrix<'v, T> {
    values: &'v [T],
    count: usize,
    width: usize,
    vocab: usize,
}

impl<T: Value> Matrix<'_, T> {
    /// All tokens, and the offsets of the rows. Each shard first writes at its rows' position in the matrix; then the
    /// shards are moved together.
    fn read(&self) -> Result<(Vec<Symbol>, Vec<usize>), String> {
        let mut tokens = vec![0; self.values.len()];
        let mut offsets = vec![0; self.count + 1];
        let size = SHARD * self.width;
        let shards =
            self.values.par_chunks(size).zip(tokens.par_chunks_mut(size)).zip(offsets[1..].par_chunks_mut(SHARD));
        let read = |(shard, ((rows, tokens), ends))| self.read_shard(rows, tokens, ends, shard * SHARD);
        let lengths: Vec<Result<usize, String>> = shards.enumerate().map(read).collect();
        let lengths = lengths.into_iter().collect::<Result<Vec<usize>, String>>()?;
        let move_together = || {
            let mut end = 0;
            for (shard, length) in lengths.iter().enumerate() {
                tokens.copy_within(shard * size..shard * size + length, end);
                end += length;
            }
            tokens.truncate(end);
        };
        let count_on = || {
            let mut before = 0;
            for (ends, length) in offsets[1..].chunks_mut(SHARD).zip(&lengths) {
                ends.iter_mut().for_each(|end| *end += before);
                before += length;
            }
        };
        rayon::join(move_together, count_on);
        Ok((tokens, offsets))
    }

    /// Reads rows, the first of which has index `first`: their tokens, and the end of each row. Returns the number of
    /// tokens.
    fn read_shard(&self, rows: &[T], tokens: &mut [Symbol], ends: &mut [usize], first: usize) -> Result<usize, String> {
        checkpoint();
        let mut end = 0;
        for (i, (row, row_end)) in rows.chunks_exact(self.width).zip(ends).enumerate() {
            // Branch-free, since random lengths would often be mispredicted: padding is written too, and overwritten by
            // the next token.
            let (start, mut ended, mut wrong) = (end, false, false);
            for &value in row {
                let padding = value.is_padding();
                wrong |= !padding & (ended | !value.is_token_of(self.vocab));
                ended |= padding;
                tokens[end] = value.symbol();
                end += usize::from(!padding);
            }
            if wrong || end == start {
                return Err(self.mistake(row, first + i));
            }
            *row_end = end;
        }
        Ok(end)
    }

    /// Describes the error in row `i`.
    fn mistake(&self, row: &[T], i: usize) -> String {
        let padding = row.iter().position(|value| value.is_padding()).unwrap_or(row.len());
        if let Some(position) = row[..padding].iter().position(|value| !value.is_token_of(self.vocab)) {
            return unknown_token(i, position, row[position], self.vocab);
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
