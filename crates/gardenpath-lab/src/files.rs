//! Files: grammars as text, corpora as JSON lines, Parquet or text, and the safe way to write any of them.

pub mod alphabet;
pub mod atomic;
pub mod corpus;
pub mod grammar;
pub mod jsonl;
mod lines;
pub mod parquet;
pub mod run;
pub mod tsv;
pub mod whole;

pub use alphabet::{Alphabet, Names};
pub use atomic::Output;
pub use corpus::{Format, Pieces};
pub use whole::Whole;

use gardenpath::Symbol;
use std::fmt::Display;
use std::path::Path;

/// The root of a sentence whose file names none. Levels have at most 255 symbols, so no symbol has this number.
pub const NO_ROOT: Symbol = Symbol::MAX;

/// A root, if it is known.
pub(crate) fn known_root(root: Symbol) -> Option<Symbol> {
    Some(root).filter(|&root| root != NO_ROOT)
}

/// The name by which messages call a file.
pub fn shown(path: &Path) -> impl Display + '_ {
    struct Shown<'p>(&'p Path);
    impl Display for Shown<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            if is_standard(self.0) { f.write_str("standard input") } else { self.0.display().fmt(f) }
        }
    }
    Shown(path)
}

/// Whether a path stands for standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// An error of the operating system in plain words, without its number.
pub fn plain(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "no such file or directory".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::IsADirectory => "is a directory, expected a file".into(),
        ErrorKind::InvalidData => "is not UTF-8 text".into(),
        _ => {
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_lowercase()
        }
    }
}
