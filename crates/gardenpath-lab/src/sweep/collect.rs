//! All results of a sweep as one file: a row for each cell, a column for each parameter and each result.
//!
//! Parquet, CSV and JSON lines hold the same table. Numbers, texts and truth values are columns of their own; lists of numbers are lists,
//! and all else is JSON. Parameters come first.

mod parquet;
mod text;

use crate::date;
use crate::experiment::Scale;
use crate::files::atomic;
use crate::record::Record;
use anyhow::{Result, bail};
use serde_json::Value;
use std::path::Path;

/// The formats of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Typed columns, with where they come from.
    Parquet,
    /// RFC 4180; lists are JSON texts.
    Csv,
    /// One JSON object per line.
    JsonLines,
}

impl Format {
    /// The format by the extension of a file that can be written.
    pub fn of(path: &Path) -> Result<Self> {
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("parquet") => Format::Parquet,
            Some("csv") => Format::Csv,
            Some("jsonl") => Format::JsonLines,
            _ => bail!("{}: expected a name that ends in .parquet, .csv or .jsonl", path.display()),
        };
        atomic::check(path)?;
        Ok(format)
    }
}

/// Writes the records of a sweep in the format that the name of the file says. What was swept is kept with the columns of Parquet.
pub fn write(records: &[Record], path: &Path, experiment: &str, scale: &Scale) -> Result<()> {
    let format = Format::of(path)?;
    if records.is_empty() {
        bail!("there are no results yet");
    }
    let table = Table::new(records);
    match format {
        Format::Parquet => {
            let origin = [
                ("gardenpath.version", env!("CARGO_PKG_VERSION").to_owned()),
                ("gardenpath.experiment", experiment.to_owned()),
                ("gardenpath.scale", scale.name().to_owned()),
                ("gardenpath.date", date::now()),
            ];
            parquet::write(&table, path, &origin)
        }
        Format::Csv => atomic::write(path, text::csv(&table).as_bytes()),
        Format::JsonLines => atomic::write(path, text::json_lines(&table).as_bytes()),
    }
}

/// The columns of a sweep, all of the same length.
struct Table<'a> {
    rows: usize,
    columns: Vec<Column<'a>>,
}

struct Column<'a> {
    name: String,
    kind: Kind,
    values: Vec<Option<&'a Value>>,
}

/// The narrowest type that holds all values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Boolean,
    Integer,
    Float,
    Text,
    Numbers,
    Json,
}

impl<'a> Table<'a> {
    fn new(records: &'a [Record]) -> Self {
        let column = |name: String| {
            let values: Vec<_> = records.iter().map(|record| value(record, &name)).collect();
            Column { kind: Kind::of(&values), name, values }
        };
        Table { rows: records.len(), columns: names(records).into_iter().map(column).collect() }
    }
}

impl Kind {
    fn of(values: &[Option<&Value>]) -> Self {
        let all = |fits: fn(&Value) -> bool| values.iter().flatten().all(|value| fits(value));
        match () {
            () if all(Value::is_boolean) => Kind::Boolean,
            () if all(Value::is_i64) => Kind::Integer,
            () if all(Value::is_number) => Kind::Float,
            () if all(Value::is_string) => Kind::Text,
            () if all(is_list_of_numbers) => Kind::Numbers,
            () => Kind::Json,
        }
    }
}

fn is_list_of_numbers(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(|item| item.is_number() || item.is_null()))
}

fn value<'a>(record: &'a Record, name: &str) -> Option<&'a Value> {
    let value = record.parameters.get(name).or_else(|| record.result.get(name));
    value.filter(|value| !value.is_null())
}

/// The names of all parameters, then of all results, each in the order of the alphabet.
fn names(records: &[Record]) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Every kind of value, some of which are missing, and texts that formats must quote.
    fn records() -> Vec<Record> {
        let record = |parameters: Value, result: Value| Record {
            parameters: parameters.as_object().cloned().unwrap(),
            result: result.as_object().cloned().unwrap(),
        };
        let nasty = "a \"b\",\r\nc; é";
        vec![
            record(
                json!({"vocab": 8, "model": "cnn", "seed": i64::MAX}),
                json!({"loss": 0.1, "ok": true, "list": [1, 2.5, null], "deep": [[1]], "note": nasty}),
            ),
            record(
                json!({"vocab": 16, "model": "inn", "seed": 0}),
                json!({"loss": 1, "ok": null, "list": [], "deep": {"a": "b,\"c\""}, "note": ""}),
            ),
            record(json!({"vocab": 16, "model": "x, y"}), json!({"loss": 5e-324, "list": null, "late": -0.0})),
            record(json!({"vocab": 16, "model": " "}), json!({"loss": 1.7976931348623157e308, "note": "null"})),
            record(json!({"vocab": 1, "model": ""}), json!({"loss": null, "late": 0.30000000000000004})),
        ]
    }

    fn written(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        write(&records(), &path, "trial", &Scale::FULL).unwrap();
        (directory, path)
    }

    #[test]
    fn all_formats_hold_the_same_table() {
        let records = records();
        let table = Table::new(&records);
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["model", "seed", "vocab", "deep", "late", "list", "loss", "note", "ok"]);
        let expected: Vec<Vec<Value>> = (0..records.len())
            .map(|row| table.columns.iter().map(|column| column.values[row].cloned().unwrap_or_default()).collect())
            .collect();
        let (_directory, path) = written("r.jsonl");
        let [found, from_csv] = [text::tests::read_json_lines(&path), {
            let (_directory, path) = written("r.csv");
            text::tests::read_csv(&path, &table)
        }];
        assert_eq!(found, (names.iter().map(|name| (*name).to_owned()).collect(), expected.clone()));
        assert_eq!(from_csv, found);
        let (_directory, path) = written("r.parquet");
        let (columns, rows) = parquet::tests::read(&path);
        assert_eq!(columns, found.0);
        // Whole numbers in a column of floating-point numbers have become such.
        let as_number = |value: Value| match value {
            Value::Number(number) => json!(number.as_f64()),
            Value::Array(list) => {
                list.into_iter().map(|item| if item.is_number() { json!(item.as_f64()) } else { item }).collect()
            }
            other => other,
        };
        let floats = |rows: Vec<Vec<Value>>| -> Vec<Vec<Value>> {
            rows.into_iter().map(|row| row.into_iter().map(as_number).collect()).collect()
        };
        assert_eq!(floats(rows), floats(expected));
    }

    #[test]
    fn other_names_and_empty_tables_are_refused() {
        for name in ["r", "r.txt", "r.CSV", "csv", "r.parquet.gz"] {
            let error = Format::of(Path::new(name)).unwrap_err().to_string();
            assert_eq!(error, format!("{name}: expected a name that ends in .parquet, .csv or .jsonl"));
        }
        let directory = tempfile::tempdir().unwrap();
        assert!(write(&[], &directory.path().join("r.csv"), "trial", &Scale::QUICK).is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
