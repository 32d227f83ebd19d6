//! The sentences of a command: a corpus read in blocks, or a single sentence from the command line.

use super::Answer;
use crate::progress;
use anyhow::{Context, Result, anyhow, bail};
use gardenpath::{Grammar, Symbol};
use gardenpath_lab::files::{self, Alphabet, Pieces};
use rayon::prelude::*;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Sentences per block; fewer if their answers are large.
const BLOCK: usize = 2048;

/// Sentences that a thread takes at a time: enough to hide the cost of scheduling, few enough to balance threads.
const RUN: usize = 64;

/// Bytes of answers held in memory at a time: 256 MB.
const BLOCK_BYTES: usize = 1 << 28;

/// A corpus of a grammar.
pub struct Sentences<'p> {
    path: &'p Path,
    pieces: Pieces,
}

/// One workspace per thread, kept from block to block.
pub struct Workspaces<M, W> {
    make: M,
    idle: Mutex<Vec<W>>,
}

impl<W, M: Fn() -> W> Workspaces<M, W> {
    /// Starts without workspaces; `make` creates one per thread.
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

/// Consecutive sentences.
pub struct Block<'p> {
    path: &'p Path,
    /// Index of the first sentence.
    first: u64,
    sentences: Vec<&'p [Symbol]>,
}

impl<'p> Sentences<'p> {
    /// Opens a corpus whose words are names of the grammar, which was read from `grammar_path`.
    pub fn open(grammar: &Grammar, grammar_path: &Path, path: &'p Path) -> Result<Self> {
        if files::is_standard(path) && files::is_standard(grammar_path) {
            bail!("the grammar and the corpus cannot both come from standard input");
        }
        let pieces = files::corpus::read_with(path, Alphabet::of(grammar))?;
        if pieces.fingerprint.as_ref().is_some_and(|fingerprint| *fingerprint != grammar.fingerprint()) {
            progress::note(&format!("note: {} was sampled from a different grammar", path.display()));
        }
        Ok(Sentences { path, pieces })
    }

    /// Passes all sentences to `answer`, in order. `doing` labels the progress bar; `bytes` is the approximate size of
    /// an answer per token.
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
            bail!("{}: no sentences", files::shown(self.path));
        }
        Ok(())
    }
}

impl Block<'_> {
    /// The number of sentences.
    pub fn count(&self) -> usize {
        self.sentences.len()
    }

    /// Maps each sentence with its index, on all threads, in order. Errors name the sentence.
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

    /// Writes the answer for each sentence with its index, on all threads, in order: `write` appends it to a buffer.
    /// Answers before an error are still written.
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

/// Parses names of tokens separated by spaces or commas, or numbers in square brackets as in corpora.
///
/// If no token's name is a number, numbers need no brackets.
pub fn read_sentence(grammar: &Grammar, text: &str) -> Result<Vec<Symbol>> {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    // A comma may itself be the name of a token.
    let commas =
        inner.is_some() || (0..grammar.vocab()).all(|k| !grammar.name(grammar.depth(), k as Symbol).contains(','));
    let between = |c: char| c.is_whitespace() || (commas && c == ',');
    let words = inner.unwrap_or(trimmed).split(between).filter(|word| !word.is_empty());
    // Brackets always contain numbers, whatever the names are.
    let mut lexicon = if inner.is_some() { Alphabet::numbers(grammar.vocab()) } else { Alphabet::of(grammar) }.tokens;
    let symbol = |word: &str| lexicon.text(word, 1).map_err(|reason| anyhow!("--sentence: {reason}"));
    let tokens = words.map(symbol).collect::<Result<Vec<Symbol>>>()?;
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
