//! Columns of lists, integers and words, in all the encodings that other programs use.

use crate::files::NO_ROOT;
use anyhow::{Result, anyhow, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use gardenpath::Symbol;
use std::fmt::Display;

/// A column of lists: row `i` holds `values[offsets[i]..offsets[i + 1]]`.
pub struct Lists {
    pub offsets: Vec<usize>,
    pub values: ArrayRef,
}

/// The values of a column.
pub enum Items<'a> {
    /// Integers; nulls are replaced by a symbol if they are allowed.
    Numbers(Vec<Symbol>),
    /// The word at a position; `None` for nulls.
    Words(Box<dyn Fn(usize) -> Option<&'a str> + 'a>),
}

/// Reads a column of lists of any kind.
pub fn lists(column: &ArrayRef) -> Result<Lists> {
    let damaged = || anyhow!("the lists of tokens are damaged");
    let (offsets, values): (Option<Vec<usize>>, _) = match column.data_type() {
        DataType::List(_) => {
            let list = column.as_list::<i32>();
            (list.value_offsets().iter().map(|&offset| usize::try_from(offset).ok()).collect(), list.values().clone())
        }
        DataType::LargeList(_) => {
            let list = column.as_list::<i64>();
            (list.value_offsets().iter().map(|&offset| usize::try_from(offset).ok()).collect(), list.values().clone())
        }
        DataType::FixedSizeList(_, length) => {
            let length = usize::try_from(*length).map_err(|_| damaged())?;
            let offsets = (0..=column.len()).map(|row| row * length).collect();
            (Some(offsets), column.as_fixed_size_list().values().clone())
        }
        other => bail!("the column tokens has type {other}, expected lists of integers or words"),
    };
    let offsets = offsets.filter(|offsets| offsets.is_sorted()).ok_or_else(damaged)?;
    Ok(Lists { offsets, values })
}

/// The values of a column: integers of any width, with `missing` for nulls, or words if accepted. `place` names a
/// position in messages.
pub fn items<'a>(
    column: &str,
    array: &'a dyn Array,
    words: bool,
    missing: Option<Symbol>,
    place: &dyn Fn(usize) -> String,
) -> Result<Items<'a>> {
    match word_at(array).filter(|_| words) {
        Some(word) => Ok(Items::Words(word)),
        None => symbols(column, array, words, missing, place).map(Items::Numbers),
    }
}

/// The words of a column of strings.
fn word_at<'a>(array: &'a dyn Array) -> Option<Box<dyn Fn(usize) -> Option<&'a str> + 'a>> {
    Some(match array.data_type() {
        DataType::Utf8 => {
            let strings = array.as_string::<i32>();
            Box::new(|i| strings.is_valid(i).then(|| strings.value(i)))
        }
        DataType::LargeUtf8 => {
            let strings = array.as_string::<i64>();
            Box::new(|i| strings.is_valid(i).then(|| strings.value(i)))
        }
        DataType::Utf8View => {
            let strings = array.as_string_view();
            Box::new(|i| strings.is_valid(i).then(|| strings.value(i)))
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let word = word_at(dictionary.values().as_ref())?;
            let keys = keys(array);
            Box::new(move |i| word(keys[i]?))
        }
        _ => return None,
    })
}

/// The dictionary index of each value; `None` for nulls.
fn keys(array: &dyn Array) -> Vec<Option<usize>> {
    let dictionary = array.as_any_dictionary();
    if dictionary.values().is_empty() {
        return vec![None; array.len()];
    }
    let keys = dictionary.normalized_keys();
    (0..array.len()).map(|i| array.is_valid(i).then(|| keys[i])).collect()
}

/// Converts integers of any width to symbols, and nulls to `missing`.
fn symbols(
    column: &str,
    array: &dyn Array,
    words: bool,
    missing: Option<Symbol>,
    place: &dyn Fn(usize) -> String,
) -> Result<Vec<Symbol>> {
    let is_plain = |values: &[Symbol]| array.null_count() == 0 && !values.contains(&NO_ROOT);
    match array.data_type() {
        DataType::UInt8 if is_plain(array.as_primitive::<UInt8Type>().values()) => {
            Ok(array.as_primitive::<UInt8Type>().values().to_vec())
        }
        DataType::UInt8 => narrow::<UInt8Type>(array, missing, place),
        DataType::UInt16 => narrow::<UInt16Type>(array, missing, place),
        DataType::UInt32 => narrow::<UInt32Type>(array, missing, place),
        DataType::UInt64 => narrow::<UInt64Type>(array, missing, place),
        DataType::Int8 => narrow::<Int8Type>(array, missing, place),
        DataType::Int16 => narrow::<Int16Type>(array, missing, place),
        DataType::Int32 => narrow::<Int32Type>(array, missing, place),
        DataType::Int64 => narrow::<Int64Type>(array, missing, place),
        DataType::Null if missing.is_some() || array.is_empty() => {
            Ok(missing.map_or(Vec::new(), |missing| vec![missing; array.len()]))
        }
        DataType::Dictionary(_, value) if value.is_integer() => {
            let values = array.as_any_dictionary().values();
            let values =
                symbols(column, values.as_ref(), words, missing, &|_| format!("the column {column}: a value"))?;
            let symbol = |(i, key): (usize, Option<usize>)| {
                let symbol = key.map_or(missing, |key| Some(values[key]));
                symbol.ok_or_else(|| anyhow!("{} is null, expected 0 to {}", place(i), NO_ROOT - 1))
            };
            keys(array).into_iter().enumerate().map(symbol).collect()
        }
        other => {
            let or_words = if words { " or words" } else { "" };
            bail!("the column {column} has values of type {other}, expected integers{or_words}")
        }
    }
}

fn narrow<T: ArrowPrimitiveType>(
    array: &dyn Array,
    missing: Option<Symbol>,
    place: &dyn Fn(usize) -> String,
) -> Result<Vec<Symbol>>
where
    T::Native: TryInto<Symbol> + Display,
{
    let symbol = |(position, value): (usize, Option<T::Native>)| {
        let found = match value {
            Some(value) => value.try_into().ok().filter(|&symbol| symbol < NO_ROOT),
            None => missing,
        };
        found.ok_or_else(|| {
            let value = value.map_or("null".to_owned(), |value| value.to_string());
            anyhow!("{} is {value}, expected 0 to {}", place(position), NO_ROOT - 1)
        })
    };
    array.as_primitive::<T>().iter().enumerate().map(symbol).collect()
}
