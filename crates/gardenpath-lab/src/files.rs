//! Files: grammars as text, corpora as JSON lines, Parquet or TSV, and atomic writes.

pub mod alphabet;
pub mod atomic;
pub mod corpus;
pub mod grammar;
pub mod jsonl;
mod lines;
pub mod parquet;
pub mod tsv;
pub mod whole;

pub use alphabet::{Alphabet, Names};
pub use atomic::Output;
pub use corpus::{Format, Pieces};
pub use whole::{Whole, without_labels};

use gardenpath::Symbol;
use std::fmt::{self, Display};
use std::io;
use std::path::Path;

/// The root of a sentence without one. Levels have at most 255 symbols, so no symbol has this number.
pub const NO_ROOT: Symbol = Symbol::MAX;

/// The root, if known.
pub(crate) fn known_root(root: Symbol) -> Option<Symbol> {
    Some(root).filter(|&root| root != NO_ROOT)
}

/// The name of a file in messages.
pub fn shown(path: &Path) -> impl Display + '_ {
    struct Shown<'p>(&'p Path);
    impl Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            if is_standard(self.0) { f.write_str("standard input") } else { self.0.display().fmt(f) }
        }
    }
    Shown(path)
}

/// Whether a path means standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// An error of the operating system, without its number.
#[derive(Debug)]
pub struct SystemError(pub io::Error);

impl SystemError {
    /// The error with its subject: `g.pcfg: no such file or directory`.
    pub fn about(what: impl Display, error: io::Error) -> anyhow::Error {
        anyhow::Error::new(SystemError(error)).context(what.to_string())
    }

    /// An error of this kind with another message.
    pub fn said(kind: io::ErrorKind, words: impl Into<String>) -> anyhow::Error {
        anyhow::Error::new(SystemError(io::Error::new(kind, InOtherWords(words.into()))))
    }
}

/// A message that replaces that of the operating system.
#[derive(Debug)]
struct InOtherWords(String);

impl Display for InOtherWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InOtherWords {}

impl Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind() {
            _ if self.0.get_ref().is_some_and(|error| error.is::<InOtherWords>()) => write!(f, "{}", self.0),
            io::ErrorKind::NotFound => f.write_str("no such file or directory"),
            io::ErrorKind::PermissionDenied => f.write_str("permission denied"),
            io::ErrorKind::IsADirectory => f.write_str("is a directory, expected a file"),
            io::ErrorKind::InvalidData => f.write_str("is not UTF-8 text"),
            _ => {
                let text = self.0.to_string();
                f.write_str(&text.split(" (os error").next().unwrap_or(&text).to_lowercase())
            }
        }
    }
}

impl std::error::Error for SystemError {}
