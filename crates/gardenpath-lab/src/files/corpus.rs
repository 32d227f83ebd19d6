//! Corpora in files, whatever their format: they are read and written piece by piece, never whole in memory.

use super::{is_standard, jsonl, parquet, plain, shown};
use anyhow::{Result, anyhow, bail};
use gardenpath::Corpus;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// How a corpus is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line: `{"tokens":[3,0,1,2],"root":5}`.
    Jsonl,
    /// Columns `tokens`, `root` and, if wanted, `tree`.
    Parquet,
}

impl Format {
    /// The format by the extension of a file; standard streams carry JSON lines.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if is_standard(path) => Ok(Format::Jsonl),
            Some("jsonl" | "ndjson") => Ok(Format::Jsonl),
            Some("parquet") => Ok(Format::Parquet),
            _ => bail!("{}: expected a corpus whose name ends in .parquet or .jsonl, or - for JSON lines", shown(path)),
        }
    }
}

/// The sentences of a file, piece by piece.
pub struct Pieces {
    /// The fingerprint of the grammar that the file says it was sampled from.
    pub fingerprint: Option<String>,
    /// The numbers of different tokens and roots that the file says there are.
    pub sizes: Option<(usize, usize)>,
    pieces: Box<dyn Iterator<Item = Result<Corpus>>>,
}

impl Iterator for Pieces {
    type Item = Result<Corpus>;

    fn next(&mut self) -> Option<Self::Item> {
        self.pieces.next()
    }
}

/// Sentences of one piece.
pub(super) const PIECE_SENTENCES: usize = 1 << 14;

/// Tokens after which a piece ends early, so that long sentences do not fill the memory.
pub(super) const PIECE_TOKENS: usize = 1 << 20;

/// Reads a corpus whose tokens must be below `vocab`.
pub fn read(path: &Path, vocab: usize) -> Result<Pieces> {
    let format = Format::of(path)?;
    let name = shown(path).to_string();
    if is_standard(path) {
        let pieces = Box::new(jsonl::Reader::new(BufReader::new(io::stdin()), name, vocab));
        return Ok(Pieces { fingerprint: None, sizes: None, pieces });
    }
    let file = File::open(path).map_err(|e| anyhow!("{name}: {}", plain(&e)))?;
    match file.metadata() {
        Ok(found) if found.is_dir() => bail!("{name}: is a directory, expected a file"),
        Ok(found) if found.is_file() && found.len() == 0 => bail!("{name}: is empty, expected sentences"),
        _ => {}
    }
    Ok(match format {
        Format::Jsonl => {
            let source = BufReader::with_capacity(1 << 18, file);
            Pieces { fingerprint: None, sizes: None, pieces: Box::new(jsonl::Reader::new(source, name, vocab)) }
        }
        Format::Parquet => {
            let reader = parquet::Reader::open(file, name, vocab)?;
            Pieces { fingerprint: reader.fingerprint(), sizes: reader.sizes(), pieces: Box::new(reader) }
        }
    })
}
