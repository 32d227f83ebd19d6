//! Corpus files of any format, read and written in pieces rather than whole.

use super::alphabet::Alphabet;
use super::{SystemError, is_standard, jsonl, parquet, shown, tsv};
use anyhow::{Result, bail};
use gardenpath::Corpus;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// The format of a corpus file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line: `{"tokens":[3,0,1,2],"root":5}`, or with words instead of numbers.
    Jsonl,
    /// Columns `tokens`, `root` and optionally `tree`.
    Parquet,
    /// A label, a tab, and space-separated tokens on each line.
    Tsv,
}

impl Format {
    /// The format of a file by its extension; standard streams are JSON lines.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if is_standard(path) => Ok(Format::Jsonl),
            Some("jsonl" | "ndjson") => Ok(Format::Jsonl),
            Some("parquet") => Ok(Format::Parquet),
            Some("tsv") => Ok(Format::Tsv),
            _ => bail!(
                "{}: expected a corpus with a name ending in .parquet, .jsonl or .tsv, or - for JSON lines",
                shown(path)
            ),
        }
    }
}

/// The sentences of a file, in pieces.
pub struct Pieces {
    /// The fingerprint of the grammar that the file records.
    pub fingerprint: Option<String>,
    /// The numbers of distinct tokens and roots that the file records.
    pub sizes: Option<(usize, usize)>,
    source: Box<dyn Source>,
}

/// A reader of one format.
pub(super) trait Source: Iterator<Item = Result<Corpus>> {
    /// The words found so far.
    fn alphabet(&self) -> &Alphabet;
}

impl Pieces {
    /// The words found so far.
    pub fn alphabet(&self) -> &Alphabet {
        self.source.alphabet()
    }
}

impl Iterator for Pieces {
    type Item = Result<Corpus>;

    fn next(&mut self) -> Option<Self::Item> {
        self.source.next()
    }
}

/// Sentences per piece.
pub(super) const PIECE_SENTENCES: usize = 1 << 14;

/// Tokens after which a piece ends early, to bound the memory for long sentences.
pub(super) const PIECE_TOKENS: usize = 1 << 20;

/// Reads a corpus of numbers, with tokens below `vocab`.
pub fn read(path: &Path, vocab: usize) -> Result<Pieces> {
    read_with(path, Alphabet::numbers(vocab))
}

/// Reads a corpus with the tokens and roots of an alphabet.
pub fn read_with(path: &Path, alphabet: Alphabet) -> Result<Pieces> {
    let format = Format::of(path)?;
    let name = shown(path).to_string();
    if is_standard(path) {
        let source = Box::new(jsonl::Reader::new(BufReader::new(io::stdin()), name, alphabet));
        return Ok(Pieces { fingerprint: None, sizes: None, source });
    }
    let file = File::open(path).map_err(|e| SystemError::about(&name, e))?;
    match file.metadata() {
        Ok(found) if found.is_dir() => bail!("{name}: is a directory, expected a file"),
        Ok(found) if found.is_file() && found.len() == 0 => bail!("{name}: empty file, expected sentences"),
        _ => {}
    }
    let lines = |file| BufReader::with_capacity(1 << 18, file);
    Ok(match format {
        Format::Jsonl => {
            let source = Box::new(jsonl::Reader::new(lines(file), name, alphabet));
            Pieces { fingerprint: None, sizes: None, source }
        }
        Format::Tsv => {
            let source = Box::new(tsv::Reader::new(lines(file), name, alphabet));
            Pieces { fingerprint: None, sizes: None, source }
        }
        Format::Parquet => {
            let reader = parquet::Reader::open(file, name, alphabet)?;
            Pieces { fingerprint: reader.fingerprint(), sizes: reader.sizes(), source: Box::new(reader) }
        }
    })
}
