//! Corpora as JSON lines, the format that every language can read and write.

mod bad_line;

use super::corpus::{PIECE_SENTENCES, PIECE_TOKENS};
use super::{NO_ROOT, known_root};
use anyhow::{Result, anyhow, bail};
use gardenpath::{Corpus, Symbol, check_tokens};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read, Write};

/// A line as it is read. Other fields are ignored.
#[derive(Deserialize)]
struct Line {
    tokens: Vec<Symbol>,
    #[serde(default)]
    root: Option<Symbol>,
}

/// A line as it is written.
#[derive(Serialize)]
struct Record<'c> {
    tokens: &'c [Symbol],
    /// Left out if it is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<Symbol>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<&'c str>,
}

/// A longer line is not a sentence: the longest has 59,049 tokens.
const MAX_LINE: u64 = 16 << 20;

/// Some editors put it at the beginning of a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Sentences that one task formats.
const SHARD: usize = 1024;

/// Reads pieces of a corpus from lines.
pub struct Reader<R> {
    source: R,
    name: String,
    vocab: usize,
    line: u64,
    buffer: Vec<u8>,
    failed: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads from `source`, which messages call `name`; tokens must be below `vocab`.
    pub fn new(source: R, name: String, vocab: usize) -> Self {
        Reader { source, name, vocab, line: 0, buffer: Vec::new(), failed: false }
    }

    fn read_piece(&mut self) -> Result<Corpus> {
        let mut piece = Corpus::default();
        while piece.len() < PIECE_SENTENCES && piece.tokens().len() < PIECE_TOKENS && self.read_line()? {
            let Line { tokens, root } = parse(&self.buffer, self.vocab).map_err(|reason| self.refuse(&reason))?;
            check_tokens(&tokens, self.vocab).map_err(|e| self.refuse(&e.to_string()))?;
            piece.push(&tokens, root.unwrap_or(NO_ROOT));
        }
        Ok(piece)
    }

    /// Reads the next line that is not blank; `false` at the end.
    fn read_line(&mut self) -> Result<bool> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let mut limited = (&mut self.source).take(MAX_LINE);
            let read = limited.read_until(b'\n', &mut self.buffer);
            let read = read.map_err(|e| anyhow!("{}: {}", self.name, super::plain(&e)))?;
            if self.line == 1 && self.buffer.starts_with(BYTE_ORDER_MARK) {
                self.buffer.drain(..BYTE_ORDER_MARK.len());
            }
            if read as u64 == MAX_LINE {
                bail!(self.refuse(&format!("is longer than {} MB, expected one sentence per line", MAX_LINE >> 20)));
            }
            if read == 0 || !self.buffer.trim_ascii().is_empty() {
                return Ok(read > 0);
            }
        }
    }

    fn refuse(&self, reason: &str) -> anyhow::Error {
        anyhow!("{}: line {}: {reason}", self.name, self.line)
    }
}

fn parse(bytes: &[u8], vocab: usize) -> Result<Line, String> {
    // Without the line break, or an early end would be said to be on the next line.
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?.trim_end();
    // A list would be taken for the fields in their order.
    let object = text.trim_start().starts_with('{');
    match serde_json::from_str::<Line>(text) {
        Ok(line) if object && line.root != Some(NO_ROOT) => Ok(line),
        Ok(_) => Err(bad_line::describe(text, vocab, None)),
        Err(error) => Err(bad_line::describe(text, vocab, Some(&error))),
    }
}

impl<R: BufRead> Iterator for Reader<R> {
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

/// Writes a piece of a corpus as lines, with its trees if there are any.
pub fn write(out: &mut dyn Write, piece: &Corpus, trees: Option<&[String]>) -> std::io::Result<()> {
    let numbers: Vec<usize> = (0..piece.len()).collect();
    let texts: Vec<Vec<u8>> = numbers
        .par_chunks(SHARD)
        .map(|shard| {
            let mut text = Vec::new();
            for &i in shard {
                let tree = trees.map(|trees| trees[i].as_str());
                let record = Record { tokens: piece.sentence(i), root: known_root(piece.roots()[i]), tree };
                serde_json::to_writer(&mut text, &record).expect("records are JSON");
                text.push(b'\n');
            }
            text
        })
        .collect();
    texts.iter().try_for_each(|text| out.write_all(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Corpus>> {
        Reader::new(text.as_bytes(), "c.jsonl".into(), 4).collect()
    }

    #[test]
    fn reads_what_it_writes() {
        let mut corpus = Corpus::default();
        corpus.push(&[0, 1, 2, 3], 2);
        corpus.push(&[3, 3], 0);
        corpus.push(&[1, 0], NO_ROOT);
        let mut text = Vec::new();
        write(&mut text, &corpus, None).unwrap();
        assert_eq!(text, b"{\"tokens\":[0,1,2,3],\"root\":2}\n{\"tokens\":[3,3],\"root\":0}\n{\"tokens\":[1,0]}\n");
        assert_eq!(read(std::str::from_utf8(&text).unwrap()).unwrap(), [corpus]);
    }

    #[test]
    fn roots_are_optional_and_other_fields_ignored() {
        let found = read("\n{\"tokens\":[1],\"x\":{}}\r\n\n{\"root\":null,\"tokens\":[]}").unwrap();
        assert_eq!(found[0].roots(), [NO_ROOT, NO_ROOT]);
    }

    #[test]
    fn a_byte_order_mark_is_ignored() {
        let found = read("\u{feff}{\"tokens\":[1]}\n{\"tokens\":[2]}").unwrap();
        assert_eq!(found[0].tokens(), [1, 2]);
        assert!(read("{\"tokens\":[1]}\n\u{feff}{\"tokens\":[2]}").is_err(), "only at the beginning");
        assert_eq!(read("\u{feff}").unwrap(), []);
    }
}
