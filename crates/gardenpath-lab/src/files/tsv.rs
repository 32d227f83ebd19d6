//! Corpora as text: a label, a tab, and space-separated tokens on each line.

use super::alphabet::Alphabet;
use super::lines::{self, LineFormat, Lines};
use super::{NO_ROOT, Names, known_root};
use anyhow::{Result, anyhow, bail};
use gardenpath::{Corpus, Symbol};
use std::borrow::Cow;
use std::io::{BufRead, Write};

/// Reads pieces of a corpus from text.
pub type Reader<R> = lines::Reader<R, Text>;

/// A line with a label, a tab, and space-separated tokens.
#[derive(Default)]
pub struct Text {
    /// The tokens of the line, in a reused buffer.
    tokens: Vec<Symbol>,
}

impl LineFormat for Text {
    fn read<R: BufRead>(
        &mut self,
        lines: &Lines<R>,
        sentence: u64,
        alphabet: &mut Alphabet,
        piece: &mut Corpus,
    ) -> Result<()> {
        let text = lines.text()?;
        let (label, words) = text.split_once('\t').unwrap_or(("", text));
        if words.contains('\t') {
            let columns = text.split('\t').count();
            bail!(lines.refuse(&format!("{columns} columns, expected a label, a tab, and tokens")));
        }
        let wrong = |reason: String| anyhow!("{}: sentence {sentence}: {reason}", lines.name());
        self.tokens.clear();
        for word in words.split_ascii_whitespace() {
            self.tokens.push(alphabet.tokens.text(word, sentence).map_err(wrong)?);
        }
        let root = match label.trim_ascii() {
            "" => NO_ROOT,
            label => alphabet.roots.text(label, sentence).map_err(wrong)?,
        };
        piece.push(&self.tokens, root);
        Ok(())
    }
}

/// Refuses words that cannot be written as TSV.
pub fn check_names(names: &Names) -> Result<()> {
    let words = names.tokens.iter().chain(&names.roots).flatten();
    for word in words {
        if word.is_empty() || word.contains(|c: char| c.is_ascii_whitespace()) {
            bail!(
                "{word:?} is empty or has a space, which .tsv cannot represent; write .jsonl or .parquet with --words"
            );
        }
    }
    Ok(())
}

/// Writes a piece of a corpus as lines, with the words of `names` or numbers.
pub fn write(out: &mut dyn Write, piece: &Corpus, names: &Names) -> std::io::Result<()> {
    let mut text = String::new();
    for (sentence, &root) in piece.sentences().zip(piece.roots()) {
        if let Some(root) = known_root(root) {
            text.push_str(&shown(root, &names.roots));
        }
        for (k, &token) in sentence.iter().enumerate() {
            text.push(if k == 0 { '\t' } else { ' ' });
            text.push_str(&shown(token, &names.tokens));
        }
        text.push('\n');
    }
    out.write_all(text.as_bytes())
}

fn shown(symbol: Symbol, names: &Option<Vec<String>>) -> Cow<'_, str> {
    match names {
        Some(names) => Cow::Borrowed(&names[usize::from(symbol)]),
        None => Cow::Owned(symbol.to_string()),
    }
}
