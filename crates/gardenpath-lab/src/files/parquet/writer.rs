//! Writing Parquet in row groups of bounded size.

use crate::files::{Names, Output, known_root};
use anyhow::{Context, Result};
use arrow_array::{ArrayRef, ListArray, RecordBatch, StringArray, UInt8Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use gardenpath::{Corpus, Symbol};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sentences of one row group.
const GROUP_ROWS: usize = 1 << 20;

/// Encoded bytes after which a row group ends early: it is held in memory until it is complete.
const GROUP_BYTES: usize = 64 << 20;

/// A Parquet file that is being written.
pub struct Writer {
    path: PathBuf,
    schema: Arc<Schema>,
    writer: ArrowWriter<Output>,
    names: Names,
}

impl Writer {
    /// Begins a file of numbers with these remarks about its origin, with a column of trees if wanted.
    pub fn create(path: &Path, origin: &[(&str, String)], trees: bool) -> Result<Self> {
        Self::create_with(path, origin, trees, Names::default())
    }

    /// Begins a file of the words of `names`, or of numbers.
    pub fn create_with(path: &Path, origin: &[(&str, String)], trees: bool, names: Names) -> Result<Self> {
        let mut fields = vec![
            Field::new("tokens", DataType::List(Arc::new(token_field(&names))), false),
            Field::new("root", symbol_type(&names.roots), true),
        ];
        if trees {
            fields.push(Field::new("tree", DataType::Utf8, false));
        }
        let schema = Arc::new(Schema::new(fields));
        let origin = origin.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
        let properties = WriterProperties::builder()
            // Dictionary pages already pack tokens into a few bits; a fast codec takes the rest.
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .set_key_value_metadata(Some(origin))
            .build();
        let writer = ArrowWriter::try_new(Output::create(path)?, schema.clone(), Some(properties))?;
        Ok(Writer { path: path.to_owned(), schema, writer, names })
    }

    /// Writes a piece of the corpus, with its trees if the file has a column for them.
    pub fn write(&mut self, piece: &Corpus, trees: Option<Vec<String>>) -> Result<()> {
        let lengths = piece.sentences().map(<[u8]>::len);
        let tokens: ArrayRef = match &self.names.tokens {
            None => Arc::new(UInt8Array::from(piece.tokens().to_vec())),
            Some(names) => Arc::new(StringArray::from_iter_values(piece.tokens().iter().map(|&t| word(names, t)))),
        };
        let field = Arc::new(token_field(&self.names));
        let tokens = ListArray::try_new(field, OffsetBuffer::from_lengths(lengths), tokens, None)?;
        let roots = piece.roots().iter().map(|&root| known_root(root));
        let roots: ArrayRef = match &self.names.roots {
            None => Arc::new(roots.collect::<UInt8Array>()),
            Some(names) => Arc::new(roots.map(|root| Some(word(names, root?))).collect::<StringArray>()),
        };
        let mut columns: Vec<ArrayRef> = vec![Arc::new(tokens), roots];
        columns.extend(trees.map(|trees| Arc::new(StringArray::from(trees)) as ArrayRef));
        let batch = RecordBatch::try_new(self.schema.clone(), columns)?;
        self.writer.write(&batch).with_context(|| self.failed())
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<()> {
        let failed = self.failed();
        self.writer.into_inner().context(failed)?.finish()
    }

    fn failed(&self) -> String {
        format!("{}: cannot be written", self.path.display())
    }
}

/// The Parquet standard calls the items of a list "element".
fn token_field(names: &Names) -> Field {
    Field::new("element", symbol_type(&names.tokens), false)
}

fn symbol_type(names: &Option<Vec<String>>) -> DataType {
    if names.is_some() { DataType::Utf8 } else { DataType::UInt8 }
}

fn word(names: &[String], symbol: Symbol) -> &str {
    &names[usize::from(symbol)]
}
