//! Writes all results of a sweep to one file: one row per cell, one column per parameter and result.
//!
//! Parquet, CSV and JSON lines contain the same table: the columns that the cells have, parameters first.

mod parquet;
mod text;

use crate::date;
use crate::experiment::Scale;
use crate::files::atomic;
use crate::table::Table;
use anyhow::{Result, bail};
use std::path::Path;

/// The file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Typed columns, with metadata.
    Parquet,
    /// RFC 4180; lists are JSON strings.
    Csv,
    /// One JSON object per line.
    JsonLines,
}

impl Format {
    /// The format of a file by its extension.
    pub fn of(path: &Path) -> Result<Self> {
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("parquet") => Format::Parquet,
            Some("csv") => Format::Csv,
            Some("jsonl") => Format::JsonLines,
            _ => bail!("{}: expected a name ending in .parquet, .csv or .jsonl", path.display()),
        };
        atomic::check(path)?;
        Ok(format)
    }
}

/// Writes the results of a sweep in the format given by the file extension. Parquet metadata record the experiment and
/// scale.
pub fn write(table: &Table, path: &Path, experiment: &str, scale: &Scale) -> Result<()> {
    let format = Format::of(path)?;
    if table.is_empty() {
        bail!("no results yet");
    }
    match format {
        Format::Parquet => {
            let origin = [
                ("gardenpath.version", env!("CARGO_PKG_VERSION").to_owned()),
                ("gardenpath.experiment", experiment.to_owned()),
                ("gardenpath.scale", scale.name().to_owned()),
                ("gardenpath.date", date::now()),
            ];
            parquet::write(table, path, &origin)
        }
        Format::Csv => atomic::write(path, text::csv(table).as_bytes()),
        Format::JsonLines => atomic::write(path, text::json_lines(table).as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Measure;
    use serde_json::{Value, json};

    /// Every kind of value, some missing, and strings that need quoting.
    fn table() -> Table {
        let nasty = "a \"b\",\r\nc; é";
        let rows = [
            (json!({"seed": i64::MAX}), json!({"entropy": 0.1, "ok": true, "list": [1, 2.5, null], "note": nasty})),
            (json!({"seed": 0, "vocab": 16}), json!({"entropy": 1, "ok": null, "list": [], "note": ""})),
            (json!({"seed": 1, "zipf": 0.5}), json!({"entropy": 5e-324, "list": null, "late": -0.0})),
            (json!({"seed": 2}), json!({"entropy": 1.7976931348623157e308, "note": "null"})),
            (json!({"seed": 3}), json!({"entropy": null, "late": 0.30000000000000004, "note": " x, y"})),
        ];
        let rows = rows.map(|(own, result)| {
            let mut values = json!({"vocab": 8, "depth": 2, "fraction": 1}).as_object().cloned().unwrap();
            values.extend(own.as_object().cloned().unwrap());
            (Measure::new("entropy", values).unwrap(), result.as_object().cloned().unwrap())
        });
        Table::new(&rows.iter().map(|(cell, result)| (cell, result.clone())).collect::<Vec<_>>()).unwrap()
    }

    fn written(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        write(&table(), &path, "trial", &Scale::FULL).unwrap();
        (directory, path)
    }

    #[test]
    fn all_formats_hold_the_same_table() {
        let table = table();
        let names: Vec<String> = table.stored().map(|column| column.name().to_owned()).collect();
        let parameters = ["depth", "fraction", "measure", "seed", "sentences", "vocab", "zipf"];
        assert_eq!(names, [&parameters[..], &["entropy", "late", "list", "note", "ok"]].concat());
        let row = |row| table.stored().map(|column| column.value(row)).collect();
        let expected: Vec<Vec<Value>> = (0..table.len()).map(row).collect();
        for name in ["r.jsonl", "r.csv", "r.parquet"] {
            let (_directory, path) = written(name);
            let found = match name {
                "r.jsonl" => text::tests::read_json_lines(&path),
                "r.csv" => text::tests::read_csv(&path, &table),
                _ => parquet::tests::read(&path),
            };
            assert_eq!(found, (names.clone(), expected.clone()), "{name}");
        }
    }

    #[test]
    fn other_names_and_empty_tables_are_refused() {
        for name in ["r", "r.txt", "r.CSV", "csv", "r.parquet.gz"] {
            let error = Format::of(Path::new(name)).unwrap_err().to_string();
            assert_eq!(error, format!("{name}: expected a name ending in .parquet, .csv or .jsonl"));
        }
        let directory = tempfile::tempdir().unwrap();
        assert!(write(&Table::default(), &directory.path().join("r.csv"), "trial", &Scale::QUICK).is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
