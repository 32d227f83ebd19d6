//! Writes Parquet in row groups of bounded size, encoding several in parallel.

use crate::files::{Names, Output, known_root};
use anyhow::{Context, Result};
use arrow_array::{ArrayRef, ListArray, RecordBatch, StringArray, UInt8Array};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use gardenpath::{Corpus, Symbol};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of sentences per row group.
const GROUP_ROWS: usize = 1 << 20;

/// Bytes of tokens and trees after which a row group ends early: it stays in memory until it is encoded.
const GROUP_BYTES: usize = 64 << 20;

/// Maximum number of row groups encoded in parallel.
const GROUPS: usize = 8;

/// A Parquet file being written.
pub struct Writer {
    path: PathBuf,
    schema: Arc<Schema>,
    file: SerializedFileWriter<Output>,
    encoders: ArrowRowGroupWriterFactory,
    names: Names,
    /// The row groups waiting to be encoded; the last one may still grow.
    groups: Vec<Group>,
}

/// The sentences of a row group.
#[derive(Default)]
struct Group {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

impl Group {
    fn fits(&self, rows: usize, bytes: usize) -> bool {
        self.rows + rows <= GROUP_ROWS && self.bytes + bytes <= GROUP_BYTES
    }
}

impl Writer {
    /// Starts a file of numbers with this metadata, optionally with a column of trees.
    pub fn create(path: &Path, origin: &[(&str, String)], trees: bool) -> Result<Self> {
        Self::create_with(path, origin, trees, Names::default())
    }

    /// Starts a file with the words of `names`, or numbers.
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
            // Dictionary pages already pack tokens into a few bits; a fast codec compresses the rest.
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_key_value_metadata(Some(origin))
            .build();
        let writer = ArrowWriter::try_new(Output::create(path)?, schema.clone(), Some(properties))?;
        let (file, encoders) = writer.into_serialized_writer()?;
        Ok(Writer { path: path.to_owned(), schema, file, encoders, names, groups: Vec::new() })
    }

    /// Writes a piece of the corpus, with trees if the file has a column for them.
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
        let bytes = piece.tokens().len() + trees.iter().flatten().map(String::len).sum::<usize>();
        columns.extend(trees.map(|trees| Arc::new(StringArray::from(trees)) as ArrayRef));
        let batch = RecordBatch::try_new(self.schema.clone(), columns)?;
        self.add(batch, bytes).with_context(|| self.failed())
    }

    /// Adds sentences to the last row group, or to a new one if it is full.
    fn add(&mut self, batch: RecordBatch, bytes: usize) -> Result<()> {
        if !self.groups.last().is_some_and(|group| group.rows == 0 || group.fits(batch.num_rows(), bytes)) {
            if self.groups.len() >= rayon::current_num_threads().min(GROUPS) {
                self.encode()?;
            }
            self.groups.push(Group::default());
        }
        let group = self.groups.last_mut().expect("a group was just made");
        group.rows += batch.num_rows();
        group.bytes += bytes;
        group.batches.push(batch);
        Ok(())
    }

    /// Encodes the row groups in parallel and writes them in order.
    fn encode(&mut self) -> Result<()> {
        let first = self.file.flushed_row_groups().len();
        let encode = |(k, group): (usize, Group)| -> Result<Vec<ArrowColumnChunk>> {
            let mut columns = self.encoders.create_column_writers(first + k)?;
            for batch in &group.batches {
                let mut writers = columns.iter_mut();
                for (field, array) in self.schema.fields().iter().zip(batch.columns()) {
                    let leaves = compute_leaves(field, array)?;
                    leaves.iter().zip(&mut writers).try_for_each(|(leaf, writer)| writer.write(leaf))?;
                }
            }
            Ok(columns.into_iter().map(ArrowColumnWriter::close).collect::<Result<_, _>>()?)
        };
        let groups = std::mem::take(&mut self.groups);
        let encoded: Vec<_> = groups.into_par_iter().enumerate().map(encode).collect::<Result<_>>()?;
        for columns in encoded {
            let mut group = self.file.next_row_group()?;
            columns.into_iter().try_for_each(|column| column.append_to_row_group(&mut group))?;
            group.close()?;
        }
        Ok(())
    }

    /// Completes and renames the file.
    pub fn finish(mut self) -> Result<()> {
        let failed = self.failed();
        self.encode().context(failed.clone())?;
        self.file.into_inner().context(failed)?.finish()
    }

    fn failed(&self) -> String {
        format!("{}: cannot write", self.path.display())
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
