//! Corpora with one sentence per line: numbered lines, and a reader generic in the line format.

use super::SystemError;
use super::alphabet::Alphabet;
use super::corpus::{PIECE_SENTENCES, PIECE_TOKENS, Source};
use anyhow::{Result, anyhow, bail};
use gardenpath::Corpus;
use std::io::{BufRead, Read};

/// A format of lines. The state that a format keeps between lines is in the type.
pub trait LineFormat: Default {
    /// Appends the sentence of the current line, with this number from 1, to a piece.
    fn read<R: BufRead>(
        &mut self,
        lines: &Lines<R>,
        sentence: u64,
        alphabet: &mut Alphabet,
        piece: &mut Corpus,
    ) -> Result<()>;
}

/// Reads pieces of a corpus from lines.
pub struct Reader<R, F> {
    lines: Lines<R>,
    format: F,
    alphabet: Alphabet,
    /// The number of the sentence, from 1.
    sentence: u64,
    failed: bool,
}

impl<R: BufRead, F: LineFormat> Reader<R, F> {
    /// Reads from `source`, which messages call `name`.
    pub fn new(source: R, name: String, alphabet: Alphabet) -> Self {
        Reader { lines: Lines::new(source, name), format: F::default(), alphabet, sentence: 0, failed: false }
    }

    fn read_piece(&mut self) -> Result<Corpus> {
        let mut piece = Corpus::default();
        while piece.len() < PIECE_SENTENCES && piece.tokens().len() < PIECE_TOKENS && self.lines.advance()? {
            self.sentence += 1;
            self.format.read(&self.lines, self.sentence, &mut self.alphabet, &mut piece)?;
        }
        Ok(piece)
    }
}

impl<R: BufRead, F: LineFormat> Iterator for Reader<R, F> {
    type Item = Result<Corpus>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let piece = self.read_piece();
        self.failed = piece.is_err();
        match piece {
            Ok(piece) if piece.is_empty() => None,
            piece => Some(piece),
        }
    }
}

impl<R: BufRead, F: LineFormat> Source for Reader<R, F> {
    fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }
}

/// The non-blank lines of a file.
pub struct Lines<R> {
    source: R,
    name: String,
    number: u64,
    buffer: Vec<u8>,
}

/// Longer lines are refused: the longest possible sentence has 59,049 tokens.
const MAX_LINE: u64 = 16 << 20;

/// Some editors put it at the start of a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl<R: BufRead> Lines<R> {
    /// The lines of `source`, which messages call `name`.
    pub fn new(source: R, name: String) -> Self {
        Lines { source, name, number: 0, buffer: Vec::new() }
    }

    /// Advances to the next non-blank line; returns `false` at the end.
    pub fn advance(&mut self) -> Result<bool> {
        loop {
            self.buffer.clear();
            self.number += 1;
            let mut limited = (&mut self.source).take(MAX_LINE);
            let read = limited.read_until(b'\n', &mut self.buffer);
            let read = read.map_err(|e| SystemError::about(&self.name, e))?;
            if self.number == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.buffer.drain(..BYTE_ORDER_MARK.len());
            }
            if read as u64 == MAX_LINE {
                bail!(self.refuse(&format!("longer than {} MB, expected one sentence per line", MAX_LINE >> 20)));
            }
            if read == 0 || !self.buffer.trim_ascii().is_empty() {
                return Ok(read > 0);
            }
        }
    }

    /// The line without its line end; with it, an unexpected end would be reported on the next line.
    pub fn text(&self) -> Result<&str> {
        let text = std::str::from_utf8(&self.buffer).map_err(|_| self.refuse("is not UTF-8 text"))?;
        Ok(text.trim_end_matches(['\r', '\n']))
    }

    /// An error about this line.
    pub fn refuse(&self, reason: &str) -> anyhow::Error {
        anyhow!("{}: line {}: {reason}", self.name, self.number)
    }

    /// The name of the file in messages.
    pub fn name(&self) -> &str {
        &self.name
    }
}
