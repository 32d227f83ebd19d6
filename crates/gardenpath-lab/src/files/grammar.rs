//! Reading and writing grammars.

use super::{SystemError, atomic, is_standard, shown};
use anyhow::{Context, Result, bail};
use gardenpath::Grammar;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

/// Larger files are not grammars.
const MAX_BYTES: u64 = 1 << 32;

/// Reads a grammar: `.pcfg` text or a published JSON grammar, detected by content.
pub fn read(path: &Path) -> Result<Grammar> {
    read_as(path, Grammar::from_text)
}

/// Reads a grammar and rescales rounded probabilities so that those of each symbol sum to 1.
pub fn read_normalized(path: &Path) -> Result<Grammar> {
    read_as(path, Grammar::from_text_normalized)
}

fn read_as(path: &Path, from_text: fn(&str) -> gardenpath::Result<Grammar>) -> Result<Grammar> {
    let text = read_text(path).map_err(|e| SystemError::about(shown(path), e))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let grammar = if text.trim_start().starts_with('{') {
        // The rules of a symbol are equally likely, so there is nothing to rescale.
        Grammar::from_lano_json(text)
    } else if text.trim().is_empty() {
        bail!("{}: empty file, expected a grammar (.pcfg or .json)", shown(path));
    } else {
        from_text(text)
    };
    grammar.with_context(|| format!("{}", shown(path)))
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let source: Box<dyn Read> = if is_standard(path) { Box::new(io::stdin()) } else { Box::new(fs::File::open(path)?) };
    source.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// Fails early if a grammar could not be written to this path.
pub fn check_output(path: &Path) -> Result<()> {
    if is_standard(path) { Ok(()) } else { atomic::check_name(path, "pcfg") }
}

/// Writes a grammar as `.pcfg` text, or to standard output for `-`.
pub fn write(grammar: &Grammar, path: &Path, out: &mut dyn Write) -> Result<()> {
    check_output(path)?;
    let text = grammar.to_text();
    if is_standard(path) { Ok(out.write_all(text.as_bytes())?) } else { atomic::write(path, text.as_bytes()) }
}
