//! The subcommands. Each reads its input, calls the core and writes its answer.

pub mod corpus;
pub mod entropy;
pub mod floor;
pub mod grammar;
pub mod learn;
pub mod manual;
pub mod moments;
pub mod mup_check;
pub mod parse;
pub mod predict;
pub mod probe;
pub mod read;
pub mod report;
pub mod reproduce;
pub mod sentences;
pub mod snr;
pub mod sweep;
pub mod theory;
pub mod train;

use anyhow::Result;
use serde::Serialize;
use std::io::Write;

/// Where a command writes its answer, and in which form.
pub struct Answer<'o> {
    /// Standard output.
    pub out: &'o mut dyn Write,
    /// Whether `--json` was given.
    pub json: bool,
}

impl Answer<'_> {
    /// Writes one line of JSON.
    pub fn json_line(&mut self, value: &impl Serialize) -> Result<()> {
        // Serialized first, so that an error of the stream stays an I/O error: a closed pipe is recognized by its kind.
        let mut text = serde_json::to_vec(value)?;
        text.push(b'\n');
        Ok(self.out.write_all(&text)?)
    }

    /// Writes lines that are already formatted.
    pub fn bytes(&mut self, lines: &[u8]) -> Result<()> {
        Ok(self.out.write_all(lines)?)
    }

    /// Writes human-readable text.
    pub fn text(&mut self, text: &str) -> Result<()> {
        Ok(self.out.write_all(text.as_bytes())?)
    }
}
