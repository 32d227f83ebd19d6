//! The sentences of a command: a corpus of a grammar, block by block, or one sentence by hand.

use super::Answer;
use crate::progress;
use anyhow::{Context, Result, anyhow, bail};
use gardenpath::{Grammar, Symbol};
use gardenpath_lab::files::{self, Alphabet, Pieces};
use rayon::prelude::*;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Sentences whose answers are in memory at a time, unless these are long.
const BLOCK: usize = 2048;

/// Sentences that one thread takes at a time.
const RUN: usize = 64;

/// Bytes of answers that are in memory at a time.
const BLOCK_BYTES: usize = 1 << 28;

/// A corpus that belongs to a grammar.
pub struct Sentences<'p> {
    path: &'p Path,
    pieces: Pieces,
}

/// What threads work with, kept from block to block.
pub struct Workspaces<M, W> {
    make: M,
    idle: Mutex<Vec<W>>,
}

impl<W, M: Fn() -> W> Workspaces<M, W> {
    /// No workspaces yet; `make` makes one for each thread.
    pub fn new(make: M) -> Self {
        Workspaces { make, idle: Mutex::default() }
    }

    fn lend<T>(&self, work: impl FnOnce(&mut W) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let lent = idle().pop();
        let mut workspace = lent.unwrap_or_else(&self.make);
        let result = work(&mut workspace);
        idle().push(workspace);
        result
    }
}

/// Some sentences one after another.
pub struct Block<'p> {
    path: &'p Path,
    /// The number of the first sentence, from 0.
    first: u64,
    sentences: Vec<&'p [Symbol]>,
}

impl<'p> Sentences<'p> {
    /// Opens a corpus whose words are those of the grammar, which was read from another file.
    pub fn open(grammar: &Grammar, grammar_path: &Path, path: &'p Path) -> Result<Self> {
        if files::is_standard(path) && files::is_standard(grammar_path) {
            bail!("the grammar and the corpus cannot both come from standard input");
        }
        let pieces = files::corpus::read_with(path, Alphabet::of(grammar))?;
        if pieces.fingerprint.as_ref().is_some_and(|fingerprint| *fingerprint != grammar.fingerprint()) {
            progress::note(&format!("note: {} was sampled from another grammar", path.display()));
        }
        Ok(Sentences { path, pieces })
    }

    /// Hands all sentences over, in order. `doing` is what progress says; `bytes` is about how much the answer takes for each token.
    pub fn blocks(self, doing: &str, bytes: usize, mut answer: impl FnMut(Block) -> Result<()>) -> Result<()> {
        let spinner = progress::beside_results(progress::counter(doing));
        let mut first = 0;
        for piece in self.pieces {
            let piece = piece?;
            let mut start = 0;
            while start < piece.len() {
                let (mut end, mut tokens) = (start, 0);
                while end < piece.len() && end - start < BLOCK && tokens * bytes < BLOCK_BYTES {
                    tokens += piece.sentence(end).len();
                    end += 1;
                }
                let sentences = (start..end).map(|i| piece.sentence(i)).collect();
                answer(Block { path: self.path, first: first + start as u64, sentences })?;
                spinner.inc((end - start) as u64);
                start = end;
            }
            first += piece.len() as u64;
        }
        spinner.finish_and_clear();
        if first == 0 {
            bail!("{}: has no sentences", files::shown(self.path));
        }
        Ok(())
    }
}

impl Block<'_> {
    /// The number of sentences.
    pub fn count(&self) -> usize {
        self.sentences.len()
    }

    /// What is found for each sentence and its number, on all threads, in order. Errors say which sentence they are about.
    pub fn map<W: Send, T: Send>(
        &self,
        workspaces: &Workspaces<impl Fn() -> W + Sync, W>,
        find: impl Fn(&mut W, u64, &[Symbol]) -> Result<T> + Sync,
    ) -> Vec<Result<T>> {
        let runs = self.sentences.par_chunks(RUN).enumerate().map(|(run, sentences)| {
            workspaces.lend(|workspace| {
                let found = |(i, sentence): (usize, &&[Symbol])| {
                    let number = self.first + (run * RUN + i) as u64;
                    let found = find(workspace, number, sentence);
                    found.with_context(|| format!("{}: sentence {}", files::shown(self.path), number + 1))
                };
                sentences.iter().enumerate().map(found).collect::<Vec<_>>()
            })
        });
        runs.flatten_iter().collect()
    }

    /// Writes what is found for each sentence and its number, on all threads, in order: `write` appends it to a text. What was found
    /// before an error is written, too.
    pub fn write<W: Send>(
        &self,
        workspaces: &Workspaces<impl Fn() -> W + Sync, W>,
        answer: &mut Answer,
        write: impl Fn(&mut W, u64, &[Symbol], &mut Vec<u8>) -> Result<()> + Sync,
    ) -> Result<()> {
        let run = |(run, sentences): (usize, &[&[Symbol]])| {
            workspaces.lend(|workspace| {
                let mut text = Vec::new();
                for (number, sentence) in (self.first + (run * RUN) as u64..).zip(sentences) {
                    let before = text.len();
                    if let Err(error) = write(workspace, number, sentence, &mut text) {
                        text.truncate(before);
                        let at = format!("{}: sentence {}", files::shown(self.path), number + 1);
                        return (text, Err(error.context(at)));
                    }
                    text.push(b'\n');
                }
                (text, Ok(()))
            })
        };
        let runs: Vec<(Vec<u8>, Result<()>)> = self.sentences.par_chunks(RUN).enumerate().map(run).collect();
        for (text, result) in runs {
            answer.bytes(&text)?;
            result?;
        }
        Ok(())
    }
}

/// Reads the [tokens](files::alphabet::tokens) of an option.
pub fn read_sentence(grammar: &Grammar, text: &str) -> Result<Vec<Symbol>> {
    let tokens = files::alphabet::tokens(grammar, text).map_err(|reason| anyhow!("--sentence: {reason}"))?;
    if tokens.is_empty() {
        bail!("--sentence is empty, expected tokens such as \"0 3 1 2\"");
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::{Ensemble, Seed};

    #[test]
    fn sentences_by_name_and_by_number() {
        let grammar = Ensemble::new(3, 1).fraction(1.0).sample(Seed::new(1)).unwrap();
        assert_eq!(read_sentence(&grammar, " 0,2  1 ").unwrap(), [0, 2, 1]);
        assert_eq!(read_sentence(&grammar, "[0, 2]").unwrap(), [0, 2]);
        assert!(
            read_sentence(&grammar, "0 3").unwrap_err().to_string().contains("\"3\" is not one of the 3 tokens 0 1 2")
        );
        assert!(read_sentence(&grammar, " ").is_err());

        let upper = vec!["X".to_owned(), "Y".into(), "Z".into()];
        let shifted = vec!["1".to_owned(), "2".into(), "3".into()];
        let named = grammar.clone().with_names(vec![upper.clone(), shifted]).unwrap();
        assert_eq!(read_sentence(&named, "1 2 3").unwrap(), [0, 1, 2]);
        assert_eq!(read_sentence(&named, "[0 1 2]").unwrap(), [0, 1, 2]);
        assert!(read_sentence(&named, "0 1").is_err(), "numbers would be ambiguous");

        let letters = vec!["a".to_owned(), "b".into(), "c".into()];
        let named = grammar.with_names(vec![upper, letters]).unwrap();
        assert_eq!(read_sentence(&named, "a 1 c").unwrap(), [0, 1, 2]);
    }
}
