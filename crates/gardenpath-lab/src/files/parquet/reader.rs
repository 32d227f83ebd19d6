//! Reading Parquet that this program or any other wrote.

use super::keys;
use super::source::Source;
use crate::files::NO_ROOT;
use crate::files::corpus::PIECE_SENTENCES;
use anyhow::{Result, anyhow, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use gardenpath::{Corpus, Symbol, check_tokens};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::KeyValue;
use parquet::file::reader::ChunkReader;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Reads pieces of a corpus from a Parquet file.
pub struct Reader {
    batches: ParquetRecordBatchReader,
    name: String,
    vocab: usize,
    /// What the file says about itself.
    remarks: HashMap<String, String>,
    /// The number of sentences that were read.
    read: u64,
    failed: bool,
}

impl Reader {
    /// Opens a file (or bytes in memory), which messages call `name`; tokens must be below `vocab`.
    pub fn open(file: impl ChunkReader + 'static, name: String, vocab: usize) -> Result<Self> {
        let opened = guarded(|| {
            let builder = ParquetRecordBatchReaderBuilder::try_new(Source::new(file)?)?;
            let wanted = wanted_columns(builder.schema())?;
            let metadata = builder.metadata().file_metadata().key_value_metadata();
            let remark = |pair: &KeyValue| Some((pair.key.clone(), pair.value.clone()?));
            let remarks = metadata.into_iter().flatten().filter_map(remark).collect();
            let mask = ProjectionMask::roots(builder.parquet_schema(), wanted);
            let batches = builder.with_projection(mask).with_batch_size(PIECE_SENTENCES).build()?;
            Ok((batches, remarks))
        });
        let (batches, remarks) = opened.map_err(|e| anyhow!("{name}: {}", one_line(&e)))?;
        Ok(Reader { batches, name, vocab, remarks, read: 0, failed: false })
    }

    /// The fingerprint of the grammar that the file was sampled from, if it says so.
    pub fn fingerprint(&self) -> Option<String> {
        self.remarks.get(keys::GRAMMAR).cloned()
    }

    /// The numbers of tokens and of roots that the file says there are.
    pub fn sizes(&self) -> Option<(usize, usize)> {
        let number = |key: &str| self.remarks.get(key)?.parse().ok();
        Some((number(keys::VOCAB)?, number(keys::CLASSES)?))
    }

    fn read_piece(&mut self) -> Result<Option<Corpus>> {
        let batch = guarded(|| self.batches.next().transpose().map_err(anyhow::Error::from));
        let batch = batch.map_err(|e| anyhow!("{}: after sentence {}: {}", self.name, self.read, one_line(&e)))?;
        let Some(batch) = batch else { return Ok(None) };
        let piece = guarded(|| self.convert(&batch)).map_err(|e| anyhow!("{}: {e:#}", self.name))?;
        self.read += piece.len() as u64;
        Ok(Some(piece))
    }

    /// Makes a corpus of the columns. Sentences are numbered from 1 in messages, like lines.
    fn convert(&self, batch: &RecordBatch) -> Result<Corpus> {
        let column = batch.column_by_name("tokens").ok_or_else(|| anyhow!("there is no column tokens"))?;
        let (offsets, values) = match column.data_type() {
            DataType::List(_) => {
                let list = column.as_list::<i32>();
                (list.value_offsets().iter().map(|&offset| i64::from(offset)).collect(), list.values())
            }
            DataType::LargeList(_) => {
                let list = column.as_list::<i64>();
                (list.value_offsets().to_vec(), list.values())
            }
            other => bail!("the column tokens has the type {other}, expected lists of integers"),
        };
        if let Some(row) = (0..column.len()).find(|&row| column.is_null(row)) {
            bail!("sentence {} is null, expected tokens", self.read + row as u64 + 1);
        }
        let sentence_of = |value: usize| {
            let row = offsets.partition_point(|&offset: &i64| offset <= value as i64).saturating_sub(1);
            format!("sentence {}: a token", self.read + row as u64 + 1)
        };
        let tokens = symbols("tokens", values.as_ref(), None, sentence_of)?;
        let root_of = |row: usize| format!("sentence {}: the root", self.read + row as u64 + 1);
        let roots = match batch.column_by_name("root") {
            Some(roots) => symbols("root", roots.as_ref(), Some(NO_ROOT), root_of)?,
            None => vec![NO_ROOT; column.len()],
        };
        let mut piece = Corpus::default();
        for (row, bounds) in offsets.windows(2).enumerate() {
            let range = usize::try_from(bounds[0]).ok().zip(usize::try_from(bounds[1]).ok());
            let sentence = range.and_then(|(start, end)| tokens.get(start..end));
            let sentence = sentence.ok_or_else(|| anyhow!("the lists of tokens are damaged"))?;
            check_tokens(sentence, self.vocab).map_err(|e| anyhow!("sentence {}: {e}", self.read + row as u64 + 1))?;
            piece.push(sentence, roots[row]);
        }
        Ok(piece)
    }
}

impl Iterator for Reader {
    type Item = Result<Corpus>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let piece = self.read_piece();
        self.failed = piece.is_err();
        piece.transpose()
    }
}

/// The positions of the columns to read; a column of trees costs nothing if it is not read.
fn wanted_columns(schema: &Schema) -> Result<Vec<usize>> {
    let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    if !found.contains(&"tokens") {
        bail!("there is no column tokens, only {}", found.join(", "));
    }
    Ok((0..found.len()).filter(|&k| ["tokens", "root"].contains(&found[k])).collect())
}

/// Integers of any width as symbols, nulls as `missing`. `place` names the position of a value for messages.
fn symbols(
    column: &str,
    array: &dyn Array,
    missing: Option<Symbol>,
    place: impl Fn(usize) -> String,
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
        other => bail!("the column {column} has values of type {other}, expected integers"),
    }
}

fn narrow<T: ArrowPrimitiveType>(
    array: &dyn Array,
    missing: Option<Symbol>,
    place: impl Fn(usize) -> String,
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

const HANDS: [&str; 3] = ["Parquet argument error: ", "Parquet error: ", "External: "];

fn one_line(error: &anyhow::Error) -> String {
    let whole = format!("{error:#}");
    let mut text = whole.as_str();
    // An error passes through several hands, each of which says its name.
    while let Some(rest) = HANDS.iter().find_map(|hand| text.strip_prefix(hand)) {
        text = rest;
    }
    format!("not a readable Parquet corpus: {text}")
}

thread_local! {
    /// Whether this thread is inside [`guarded`], where a panic is not a bug of this program.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls the Parquet crate, which indexes and asserts its way through damaged files: its panics become errors, and the
/// hook that would print them is silent for this thread meanwhile.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                loud(panic);
            }
        }));
    });
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    GUARDED.set(false);
    result.unwrap_or_else(|_| Err(anyhow!("the file is damaged")))
}
