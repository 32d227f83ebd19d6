//! Lines of text, one per sentence, with their numbers for messages.

use super::SystemError;
use anyhow::{Result, anyhow, bail};
use std::io::{BufRead, Read};

/// The lines of a file that are not blank.
pub struct Lines<R> {
    source: R,
    name: String,
    number: u64,
    buffer: Vec<u8>,
}

/// A longer line is not a sentence: the longest has 59,049 tokens.
const MAX_LINE: u64 = 16 << 20;

/// Some editors put it at the beginning of a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl<R: BufRead> Lines<R> {
    /// The lines of `source`, which messages call `name`.
    pub fn new(source: R, name: String) -> Self {
        Lines { source, name, number: 0, buffer: Vec::new() }
    }

    /// Reads the next line that is not blank; `false` at the end.
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
                bail!(self.refuse(&format!("is longer than {} MB, expected one sentence per line", MAX_LINE >> 20)));
            }
            if read == 0 || !self.buffer.trim_ascii().is_empty() {
                return Ok(read > 0);
            }
        }
    }

    /// The line without its end, or an early end would be said to be on the next line.
    pub fn text(&self) -> Result<&str> {
        let text = std::str::from_utf8(&self.buffer).map_err(|_| self.refuse("is not UTF-8 text"))?;
        Ok(text.trim_end_matches(['\r', '\n']))
    }

    /// The error of this line.
    pub fn refuse(&self, reason: &str) -> anyhow::Error {
        anyhow!("{}: line {}: {reason}", self.name, self.number)
    }

    /// What messages call the file.
    pub fn name(&self) -> &str {
        &self.name
    }
}
