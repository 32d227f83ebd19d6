//! Corpora in files, whatever their format: they are read and written piece by piece, never whole in memory.

use super::alphabet::Alphabet;
use super::{SystemError, is_standard, jsonl, parquet, shown, tsv};
use anyhow::{Result, bail};
use gardenpath::Corpus;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// How a corpus is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line: `{"tokens":[3,0,1,2],"root":5}`, or with words instead of numbers.
    Jsonl,
    /// Columns `tokens`, `root` and, if wanted, `tree`.
    Parquet,
    /// A label, a tab, and tokens between spaces on each line.
    Tsv,
}

impl Format {
    /// The format by the extension of a file; standard streams carry JSON lines.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if is_standard(path) => Ok(Format::Jsonl),
            Some("jsonl" | "ndjson") => Ok(Format::Jsonl),
            Some("parquet") => Ok(Format::Parquet),
            Some("tsv") => Ok(Format::Tsv),
            _ => bail!(
                "{}: expected a corpus whose name ends in .parquet, .jsonl or .tsv, or - for JSON lines",
                shown(path)
            ),
        }
    }
}

/// The sentences of a file, piece by piece.
pub struct Pieces {
    /// The fingerprint of the grammar that the file says it was sampled from.
    pub fingerprint: Option<String>,
    /// The numbers of different tokens and roots that the file says there are.
    pub sizes: Option<(usize, usize)>,
    source: Box<dyn Source>,
}

/// A reader of one format.
pub(super) trait Source: Iterator<Item = Result<Corpus>> {
    /// The words that were found so far.
    fn alphabet(&self) -> &Alphabet;
}

impl Pieces {
    /// The words that were found so far.
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

/// Sentences of one piece.
pub(super) const PIECE_SENTENCES: usize = 1 << 14;

/// Tokens after which a piece ends early, so that long sentences do not fill the memory.
pub(super) const PIECE_TOKENS: usize = 1 << 20;

/// Reads a corpus of numbers, whose tokens must be below `vocab`.
pub fn read(path: &Path, vocab: usize) -> Result<Pieces> {
    read_with(path, Alphabet::numbers(vocab))
}

/// Reads a corpus whose tokens and roots are those of an alphabet.
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
        Ok(found) if found.is_file() && found.len() == 0 => bail!("{name}: is empty, expected sentences"),
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
