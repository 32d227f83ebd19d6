//! A column of a table: an Arrow array with the name and type that a measure declares.

use crate::measure::kind::{Kind, Typed};
use anyhow::{Context, Result};
use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use serde_json::Value;
use std::sync::Arc;

/// A column. Whole numbers are 64-bit integers, other numbers 64-bit floats, strings are UTF-8; any value can be
/// `null`.
#[derive(Clone, Debug)]
pub struct Column {
    name: String,
    kind: Kind,
    is_stored: bool,
    array: ArrayRef,
}

impl Column {
    /// A column of these values, each of which must have the column's type or be missing.
    pub(super) fn new(name: &str, kind: Kind, is_stored: bool, values: &[Option<&Value>]) -> Result<Self> {
        let wrong = |value: &Value| format!("{name} is {value}, expected {}", kind.expected());
        let all = values.iter().map(|value| value.filter(|value| !value.is_null()));
        let array: ArrayRef = match kind {
            Kind::Truth => Arc::new(read(all, Value::as_bool, wrong)?.into_iter().collect::<BooleanArray>()),
            Kind::Whole => Arc::new(read(all, Value::as_i64, wrong)?.into_iter().collect::<Int64Array>()),
            Kind::Number => Arc::new(read(all, Value::as_f64, wrong)?.into_iter().collect::<Float64Array>()),
            Kind::Text | Kind::OneOf(_) => {
                Arc::new(read(all, Value::as_str, wrong)?.into_iter().collect::<StringArray>())
            }
            Kind::Numbers => {
                // A number can be a list of one.
                let list = |value| <Vec<Option<f64>>>::read(value).or_else(|| Some(vec![Some(value.as_f64()?)]));
                let mut lists = ListBuilder::new(Float64Builder::new());
                read(all, list, wrong)?.into_iter().for_each(|list| lists.append_option(list));
                Arc::new(lists.finish())
            }
        };
        Ok(Column { name: name.to_owned(), kind, is_stored, array })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its type.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whether some cell has stored it; otherwise all its values are implied or missing.
    pub fn is_stored(&self) -> bool {
        self.is_stored
    }

    /// Its values as an Arrow array.
    pub fn array(&self) -> &ArrayRef {
        &self.array
    }

    /// A value; `null` if the cell has none.
    pub fn value(&self, row: usize) -> Value {
        let array = &*self.array;
        if array.is_null(row) {
            return Value::Null;
        }
        match self.kind {
            Kind::Truth => array.as_boolean().value(row).into(),
            Kind::Whole => array.as_primitive::<Int64Type>().value(row).into(),
            Kind::Number => array.as_primitive::<Float64Type>().value(row).into(),
            Kind::Text | Kind::OneOf(_) => array.as_string::<i32>().value(row).into(),
            Kind::Numbers => array.as_list::<i32>().value(row).as_primitive::<Float64Type>().iter().collect(),
        }
    }

    /// The length of a cell's list; `None` if it has no list.
    pub(super) fn items(&self, row: usize) -> Option<usize> {
        let is_list = self.kind == Kind::Numbers && !self.array.is_null(row);
        is_list.then(|| self.array.as_list::<i32>().value_length(row) as usize)
    }

    /// An item of the list of a cell.
    pub(super) fn item(&self, row: usize, item: usize) -> Value {
        let list = self.array.as_list::<i32>();
        let (at, values) = (list.value_offsets()[row] as usize + item, list.values().as_primitive::<Float64Type>());
        if values.is_null(at) { Value::Null } else { values.value(at).into() }
    }

    /// The number in a row, if there is one; booleans are 0 or 1.
    pub fn number(&self, row: usize) -> Option<f64> {
        match self.value(row) {
            Value::Bool(truth) => Some(f64::from(u8::from(truth))),
            value => value.as_f64(),
        }
    }
}

/// Converts all values that are present.
fn read<'v, T>(
    values: impl Iterator<Item = Option<&'v Value>>,
    of: impl Fn(&'v Value) -> Option<T>,
    wrong: impl Fn(&Value) -> String,
) -> Result<Vec<Option<T>>> {
    let one = |value: Option<&'v Value>| value.map(|value| of(value).with_context(|| wrong(value))).transpose();
    values.map(one).collect()
}
