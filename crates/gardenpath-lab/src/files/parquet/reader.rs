//! Reads Parquet files written by this or any other program.

use super::columns::{Items, Lists, items, lists};
use super::keys;
use super::source::Source;
use crate::files::NO_ROOT;
use crate::files::alphabet::Alphabet;
use crate::files::corpus::{self, PIECE_SENTENCES};
use anyhow::{Result, anyhow, bail};
use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use gardenpath::{Corpus, Symbol};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::KeyValue;
use parquet::file::reader::ChunkReader;
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Reads pieces of a corpus from a Parquet file.
pub struct Reader {
    batches: ParquetRecordBatchReader,
    name: String,
    alphabet: Alphabet,
    /// The metadata of the file.
    remarks: HashMap<String, String>,
    /// The number of sentences read so far.
    read: u64,
    failed: bool,
}

impl Reader {
    /// Opens a file (or bytes in memory), which messages call `name`.
    pub fn open(file: impl ChunkReader + 'static, name: String, alphabet: Alphabet) -> Result<Self> {
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
        Ok(Reader { batches, name, alphabet, remarks, read: 0, failed: false })
    }

    /// The fingerprint of the grammar that the file was sampled from, if recorded.
    pub fn fingerprint(&self) -> Option<String> {
        self.remarks.get(keys::GRAMMAR).cloned()
    }

    /// The numbers of tokens and roots, if recorded.
    pub fn sizes(&self) -> Option<(usize, usize)> {
        let number = |key: &str| self.remarks.get(key)?.parse().ok();
        Some((number(keys::VOCAB)?, number(keys::CLASSES)?))
    }

    fn read_piece(&mut self) -> Result<Option<Corpus>> {
        let batch = guarded(|| self.batches.next().transpose().map_err(anyhow::Error::from));
        let batch = batch.map_err(|e| anyhow!("{}: after sentence {}: {}", self.name, self.read, one_line(&e)))?;
        let Some(batch) = batch else { return Ok(None) };
        let Reader { name, alphabet, read, .. } = self;
        let piece = guarded(|| convert(&batch, alphabet, *read)).map_err(|e| anyhow!("{name}: {e:#}"))?;
        self.read += piece.len() as u64;
        Ok(Some(piece))
    }
}

/// Converts columns to a corpus, after `read` sentences. Messages number sentences from 1, like lines.
fn convert(batch: &RecordBatch, alphabet: &mut Alphabet, read: u64) -> Result<Corpus> {
    let column = batch.column_by_name("tokens").ok_or_else(|| anyhow!("no column tokens"))?;
    let number = |row: usize| read + row as u64 + 1;
    let Lists { offsets, values } = lists(column)?;
    if let Some(row) = (0..column.len()).find(|&row| column.is_null(row)) {
        bail!("sentence {} is null, expected tokens", number(row));
    }
    let sentence_of = |value: usize| {
        let row = offsets.partition_point(|&offset| offset <= value).saturating_sub(1);
        format!("sentence {}: a token", number(row))
    };
    let words = alphabet.tokens.accepts_words();
    let tokens = items("tokens", values.as_ref(), words, None, &sentence_of)?;
    let root_of = |row: usize| format!("sentence {}: the root", number(row));
    let roots = match batch.column_by_name("root") {
        Some(roots) => items("root", roots.as_ref(), words, Some(NO_ROOT), &root_of)?,
        None => Items::Numbers(vec![NO_ROOT; column.len()]),
    };
    let mut piece = Corpus::default();
    let mut symbols: Vec<Symbol> = Vec::new();
    for (row, bounds) in offsets.windows(2).enumerate() {
        let sentence = number(row);
        let wrong = |reason: String| anyhow!("sentence {sentence}: {reason}");
        let root = match &roots {
            Items::Numbers(roots) => {
                let root = [roots[row]];
                alphabet.roots.check(if root == [NO_ROOT] { &[] } else { &root }).map_err(wrong)?;
                roots[row]
            }
            Items::Words(word) => match word(row) {
                Some(word) if !word.is_empty() => alphabet.roots.word(word, sentence).map_err(wrong)?,
                _ => NO_ROOT,
            },
        };
        match &tokens {
            Items::Numbers(tokens) => {
                let tokens = tokens.get(bounds[0]..bounds[1]);
                let tokens = tokens.ok_or_else(|| anyhow!("the lists of tokens are damaged"))?;
                alphabet.tokens.check(tokens).map_err(wrong)?;
                piece.push(tokens, root);
            }
            Items::Words(word) => {
                symbols.clear();
                for value in bounds[0]..bounds[1].min(values.len()) {
                    let word = word(value).ok_or_else(|| wrong("a token is null, expected a word".into()))?;
                    symbols.push(alphabet.tokens.word(word, sentence).map_err(wrong)?);
                }
                piece.push(&symbols, root);
            }
        }
    }
    Ok(piece)
}

impl corpus::Source for Reader {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
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

/// The columns to read; skipping the trees saves time.
fn wanted_columns(schema: &Schema) -> Result<Vec<usize>> {
    let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    if !found.contains(&"tokens") {
        bail!("no column tokens, only {}", found.join(", "));
    }
    Ok((0..found.len()).filter(|&k| ["tokens", "root"].contains(&found[k])).collect())
}

const HANDS: [&str; 3] = ["Parquet argument error: ", "Parquet error: ", "External: "];

fn one_line(error: &anyhow::Error) -> String {
    let whole = format!("{error:#}");
    let mut text = whole.as_str();
    // Each layer of the Parquet crate adds a prefix to an error.
    while let Some(rest) = HANDS.iter().find_map(|hand| text.strip_prefix(hand)) {
        text = rest;
    }
    format!("not a readable Parquet corpus: {text}")
}

thread_local! {
    /// Whether this thread is inside [`guarded`], where a panic is not a bug of this program.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls the Parquet crate, which panics on some damaged files. Panics become errors, and the panic hook is silenced
/// for this thread meanwhile.
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
