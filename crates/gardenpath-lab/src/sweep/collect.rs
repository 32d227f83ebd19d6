//! All results of a sweep as one Parquet file: a row for each cell, a column for each parameter and each result.

use crate::files::atomic::Output;
use crate::record::Record;
use anyhow::{Result, bail};
use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use serde_json::Value;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::sync::Arc;

/// Cells have no result. The program ends with the exit code 1: nothing is wrong, but not all is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// The number of these cells.
    pub missing: usize,
    /// The number of all cells.
    pub total: usize,
}

impl Display for Incomplete {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Incomplete { missing, total } = self;
        write!(f, "{missing} of {total} cells have no result: 'sweep run' measures them, --partial collects the others")
    }
}

impl std::error::Error for Incomplete {}

/// Writes the records of a sweep.
///
/// Numbers, texts and truth values are columns of their own; lists of numbers are lists; all else is JSON. Parameters come first.
pub fn write(records: &[Record], path: &Path) -> Result<()> {
    if records.is_empty() {
        bail!("there are no results yet");
    }
    let columns = columns(records).into_iter().map(|name| {
        let values: Vec<Option<&Value>> = records.iter().map(|record| value(record, &name)).collect();
        (name, column(&values), true)
    });
    let batch = RecordBatch::try_from_iter_with_nullable(columns.collect::<Vec<_>>())?;
    let mut output = Output::create(path)?;
    let mut writer = ArrowWriter::try_new(&mut output, batch.schema(), None)?;
    writer.write(&batch)?;
    writer.close()?;
    output.finish()
}

fn value<'a>(record: &'a Record, name: &str) -> Option<&'a Value> {
    let value = record.parameters.get(name).or_else(|| record.result.get(name));
    value.filter(|value| !value.is_null())
}

/// The names of all parameters, then of all results, each in the order of the alphabet.
fn columns(records: &[Record]) -> Vec<String> {
    let mut names = Vec::new();
    for part in [|record: &Record| record.parameters.clone(), |record: &Record| record.result.clone()] {
        let mut new: Vec<String> =
            records.iter().flat_map(|record| part(record).into_iter().map(|(name, _)| name)).collect();
        new.sort();
        new.dedup();
        new.retain(|name| !names.contains(name));
        names.extend(new);
    }
    names
}

/// A column of the narrowest type that holds all values.
fn column(values: &[Option<&Value>]) -> ArrayRef {
    let all = |fits: fn(&Value) -> bool| values.iter().flatten().all(|value| fits(value));
    if all(Value::is_boolean) {
        return Arc::new(values.iter().map(|value| value.and_then(Value::as_bool)).collect::<BooleanArray>());
    }
    if all(Value::is_i64) {
        return Arc::new(values.iter().map(|value| value.and_then(Value::as_i64)).collect::<Int64Array>());
    }
    if all(Value::is_number) {
        return Arc::new(values.iter().map(|value| value.and_then(Value::as_f64)).collect::<Float64Array>());
    }
    if all(Value::is_string) {
        return Arc::new(values.iter().map(|value| value.and_then(Value::as_str)).collect::<StringArray>());
    }
    if all(is_list_of_numbers) {
        let mut lists = ListBuilder::new(Float64Builder::new());
        for value in values {
            let list = value.and_then(Value::as_array);
            lists.append_option(list.map(|list| list.iter().map(Value::as_f64)));
        }
        return Arc::new(lists.finish());
    }
    Arc::new(values.iter().map(|value| value.map(Value::to_string)).collect::<StringArray>())
}

fn is_list_of_numbers(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(|item| item.is_number() || item.is_null()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use serde_json::json;

    #[test]
    fn every_kind_of_value_has_its_column() {
        let record = |parameters: Value, result: Value| Record {
            parameters: parameters.as_object().cloned().unwrap(),
            result: result.as_object().cloned().unwrap(),
        };
        let records = [
            record(
                json!({"vocab": 8, "model": "cnn"}),
                json!({"loss": 0.5, "ok": true, "list": [1, 2.5], "deep": [[1]]}),
            ),
            record(json!({"vocab": 16, "model": "inn"}), json!({"loss": 1, "ok": null, "list": [], "deep": {"a": 1}})),
        ];
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.parquet");
        write(&records, &path).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batch = reader.next().unwrap().unwrap();
        let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["model", "vocab", "deep", "list", "loss", "ok"]);
        assert_eq!(batch.column(1).as_primitive::<Int64Type>().value(1), 16);
        assert_eq!(batch.column(2).as_string::<i32>().value(1), "{\"a\":1}");
        assert_eq!(batch.column(3).as_list::<i32>().value(0).as_primitive::<Float64Type>().values(), &[1.0, 2.5]);
        assert_eq!(batch.column(4).as_primitive::<Float64Type>().values(), &[0.5, 1.0]);
        assert!(batch.column(5).is_null(1) && batch.column(5).as_boolean().value(0));
        assert!(write(&[], &path).is_err());
    }
}
