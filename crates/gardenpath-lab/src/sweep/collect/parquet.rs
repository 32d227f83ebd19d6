//! A table as Parquet: typed columns, and remarks about their origin.

use super::{Column, Kind, Table};
use crate::files::atomic::Output;
use anyhow::Result;
use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Writes a table.
pub fn write(table: &Table<'_>, path: &Path, origin: &[(&str, String)]) -> Result<()> {
    let columns = table.columns.iter().map(|column| (column.name.as_str(), array(column), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
    let origin = origin.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(origin)).build();
    let mut output = Output::create(path)?;
    let mut writer = ArrowWriter::try_new(&mut output, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    output.finish()
}

fn array(column: &Column<'_>) -> ArrayRef {
    let values = column.values.iter();
    match column.kind {
        Kind::Boolean => Arc::new(values.map(|value| value.and_then(Value::as_bool)).collect::<BooleanArray>()),
        Kind::Integer => Arc::new(values.map(|value| value.and_then(Value::as_i64)).collect::<Int64Array>()),
        Kind::Float => Arc::new(values.map(|value| value.and_then(Value::as_f64)).collect::<Float64Array>()),
        Kind::Text => Arc::new(values.map(|value| value.and_then(Value::as_str)).collect::<StringArray>()),
        Kind::Numbers => {
            let mut lists = ListBuilder::new(Float64Builder::new());
            for value in values {
                let list = value.and_then(Value::as_array);
                lists.append_option(list.map(|list| list.iter().map(Value::as_f64)));
            }
            Arc::new(lists.finish())
        }
        Kind::Json => Arc::new(values.map(|value| value.map(Value::to_string)).collect::<StringArray>()),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::experiment::Scale;
    use crate::record::Record;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use arrow_schema::DataType;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use serde_json::json;

    /// The names of the columns, and the rows. Texts of the column `deep` are JSON.
    pub fn read(path: &Path) -> (Vec<String>, Vec<Vec<Value>>) {
        let file = std::fs::File::open(path).unwrap();
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batch = reader.next().unwrap().unwrap();
        assert!(reader.next().is_none());
        let names: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
        let row = |row| names.iter().zip(batch.columns()).map(|(name, column)| cell(name, column, row)).collect();
        (names.clone(), (0..batch.num_rows()).map(row).collect())
    }

    fn cell(name: &str, column: &ArrayRef, row: usize) -> Value {
        if column.is_null(row) {
            return Value::Null;
        }
        match column.data_type() {
            DataType::Boolean => json!(column.as_boolean().value(row)),
            DataType::Int64 => json!(column.as_primitive::<Int64Type>().value(row)),
            DataType::Float64 => json!(column.as_primitive::<Float64Type>().value(row)),
            DataType::Utf8 if name == "deep" => serde_json::from_str(column.as_string::<i32>().value(row)).unwrap(),
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
        let (parameters, result) = (json!({"vocab": 8}), json!({"loss": 0.5}));
        let [parameters, result] = [parameters, result].map(|value| value.as_object().cloned().unwrap());
        super::super::write(&[Record { parameters, result }], &path, "trial", &Scale::FULL).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&path).unwrap()).unwrap();
        let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let value = |key: &str| pairs.iter().find(|pair| pair.key == key).unwrap().value.clone().unwrap();
        assert_eq!(value("gardenpath.version"), env!("CARGO_PKG_VERSION"));
        assert_eq!((value("gardenpath.experiment"), value("gardenpath.scale")), ("trial".into(), "full".into()));
        let date = value("gardenpath.date");
        assert!(date.len() == 20 && date.starts_with("20") && date.ends_with('Z'), "{date}");
    }
}
