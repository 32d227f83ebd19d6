//! Writes a table as Parquet: typed columns, and metadata about their origin.

use crate::files::atomic::Output;
use crate::table::Table;
use anyhow::Result;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::path::Path;

/// Writes a table.
pub fn write(table: &Table, path: &Path, origin: &[(&str, String)]) -> Result<()> {
    let batch = table.batch()?;
    let origin = origin.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(origin)).build();
    let mut output = Output::create(path)?;
    let mut writer = ArrowWriter::try_new(&mut output, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    output.finish()
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::experiment::Scale;
    use crate::measure::Measure;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use arrow_array::{Array, ArrayRef};
    use arrow_schema::DataType;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use serde_json::{Value, json};

    /// The names of the columns, and the rows.
    pub fn read(path: &Path) -> (Vec<String>, Vec<Vec<Value>>) {
        let file = std::fs::File::open(path).unwrap();
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batch = reader.next().unwrap().unwrap();
        assert!(reader.next().is_none());
        let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        let row = |row| batch.columns().iter().map(|column| cell(column, row)).collect();
        (names, (0..batch.num_rows()).map(row).collect())
    }

    fn cell(column: &ArrayRef, row: usize) -> Value {
        if column.is_null(row) {
            return Value::Null;
        }
        match column.data_type() {
            DataType::Boolean => json!(column.as_boolean().value(row)),
            DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
            DataType::Float64 => json!(column.as_primitive::<Float64Type>().value(row)),
            DataType::Utf8 => json!(column.as_string::<i32>().value(row)),
            _ => {
                let list = column.as_list::<i32>().value(row);
                json!(list.as_primitive::<Float64Type>().iter().collect::<Vec<Option<f64>>>())
            }
        }
    }

    #[test]
    fn the_file_says_where_it_comes_from() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("r.parquet");
        let values = json!({"vocab": 8, "depth": 2, "fraction": 1, "seed": 1}).as_object().cloned().unwrap();
        let cell = Measure::new("entropy", values).unwrap();
        let table = Table::new(&[(&cell, json!({"entropy": 0.5}).as_object().cloned().unwrap())]).unwrap();
        super::super::write(&table, &path, "trial", &Scale::FULL).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&path).unwrap()).unwrap();
        let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let value = |key: &str| pairs.iter().find(|pair| pair.key == key).unwrap().value.clone().unwrap();
        assert_eq!(value("gardenpath.version"), env!("CARGO_PKG_VERSION"));
        assert_eq!((value("gardenpath.experiment"), value("gardenpath.scale")), ("trial".into(), "full".into()));
        let date = value("gardenpath.date");
        assert!(date.len() == 20 && date.starts_with("20") && date.ends_with('Z'), "{date}");
    }
}
