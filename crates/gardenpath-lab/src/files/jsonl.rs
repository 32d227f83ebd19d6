//! Corpora as JSON lines, which every language can read and write.

mod bad_line;

use super::alphabet::Alphabet;
use super::lines::{self, LineFormat, Lines};
use super::{NO_ROOT, Names, known_root};
use anyhow::{Result, anyhow};
use gardenpath::{Corpus, Symbol};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::{BufRead, Write};

/// A line of numbers as read. Other fields are ignored.
#[derive(Deserialize)]
struct Line {
    tokens: Vec<Symbol>,
    #[serde(default)]
    root: Option<Symbol>,
}

/// A line with words.
#[derive(Deserialize)]
struct WordLine<'l> {
    #[serde(borrow)]
    tokens: Vec<Item<'l>>,
    #[serde(default, borrow)]
    root: Option<Item<'l>>,
}

/// A token or a root.
#[derive(Deserialize)]
#[serde(untagged)]
enum Item<'l> {
    Number(Symbol),
    Word(#[serde(borrow)] Cow<'l, str>),
}

/// A symbol as written.
#[derive(Serialize)]
#[serde(untagged)]
enum Written<'c> {
    Number(Symbol),
    Word(&'c str),
}

/// Tokens as written.
#[derive(Serialize)]
#[serde(untagged)]
enum Tokens<'c> {
    Numbers(&'c [Symbol]),
    Words(Vec<&'c str>),
}

/// A line as written.
#[derive(Serialize)]
struct Record<'c> {
    tokens: Tokens<'c>,
    /// Omitted if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<Written<'c>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<&'c str>,
}

/// Sentences formatted by one task: enough to hide the cost of scheduling, few enough to balance threads.
const SHARD: usize = 1024;

/// Reads pieces of a corpus from lines.
pub type Reader<R> = lines::Reader<R, Json>;

/// A JSON object.
#[derive(Default)]
pub struct Json {
    /// Whether a line had words.
    words: bool,
}

impl LineFormat for Json {
    fn read<R: BufRead>(
        &mut self,
        lines: &Lines<R>,
        sentence: u64,
        alphabet: &mut Alphabet,
        piece: &mut Corpus,
    ) -> Result<()> {
        let text = lines.text()?;
        // serde would accept a list as the fields in order.
        let object = text.trim_start().starts_with('{');
        let refuse = |reason: String| lines.refuse(&reason);
        let mut error = None;
        if !self.words {
            match serde_json::from_str::<Line>(text) {
                Ok(Line { tokens, root }) if object && root != Some(NO_ROOT) => {
                    alphabet.tokens.check(&tokens).map_err(refuse)?;
                    alphabet.roots.check(root.as_slice()).map_err(refuse)?;
                    piece.push(&tokens, root.unwrap_or(NO_ROOT));
                    return Ok(());
                }
                Ok(_) => {}
                Err(found) => error = Some(found),
            }
        }
        let accepted = alphabet.tokens.accepts_words();
        match serde_json::from_str::<WordLine>(text) {
            Ok(WordLine { tokens, root }) if object && accepted && !matches!(root, Some(Item::Number(NO_ROOT))) => {
                self.words = true;
                let wrong = |reason: String| anyhow!("{}: sentence {sentence}: {reason}", lines.name());
                let mut symbols = Vec::with_capacity(tokens.len());
                for token in &tokens {
                    let symbol = match token {
                        Item::Number(number) => alphabet.tokens.check(&[*number]).map(|()| *number),
                        Item::Word(word) => alphabet.tokens.word(word, sentence),
                    };
                    symbols.push(symbol.map_err(wrong)?);
                }
                let root = match root {
                    Some(Item::Number(number)) => alphabet.roots.check(&[number]).map(|()| number),
                    Some(Item::Word(word)) if !word.is_empty() => alphabet.roots.word(&word, sentence),
                    _ => Ok(NO_ROOT),
                };
                piece.push(&symbols, root.map_err(wrong)?);
                Ok(())
            }
            found => {
                let error = error.or(found.err());
                Err(refuse(bad_line::describe(text, alphabet.tokens.limit(), accepted, error.as_ref())))
            }
        }
    }
}

/// Writes a piece of a corpus as lines of numbers, optionally with trees.
pub fn write(out: &mut dyn Write, piece: &Corpus, trees: Option<&[String]>) -> std::io::Result<()> {
    write_with(out, piece, trees, &Names::default())
}

/// Writes a piece of a corpus as lines with the words of `names`, or numbers, optionally with trees.
pub fn write_with(out: &mut dyn Write, piece: &Corpus, trees: Option<&[String]>, names: &Names) -> std::io::Result<()> {
    let tokens = |sentence| match &names.tokens {
        None => Tokens::Numbers(sentence),
        Some(names) => Tokens::Words(sentence.iter().map(|&token| names[usize::from(token)].as_str()).collect()),
    };
    let root = |root: Symbol| match &names.roots {
        None => Written::Number(root),
        Some(names) => Written::Word(&names[usize::from(root)]),
    };
    let numbers: Vec<usize> = (0..piece.len()).collect();
    let texts: Vec<Vec<u8>> = numbers
        .par_chunks(SHARD)
        .map(|shard| {
            let mut text = Vec::new();
            for &i in shard {
                let tree = trees.map(|trees| trees[i].as_str());
                let root = known_root(piece.roots()[i]).map(root);
                let record = Record { tokens: tokens(piece.sentence(i)), root, tree };
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
        Reader::new(text.as_bytes(), "c.jsonl".into(), Alphabet::numbers(4)).collect()
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
