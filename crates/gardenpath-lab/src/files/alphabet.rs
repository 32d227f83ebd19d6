//! The tokens and roots of corpora: numbers, or words that stand for numbers.

mod lexicon;

pub use lexicon::Lexicon;

use super::NO_ROOT;
use gardenpath::{Grammar, Symbol};
use serde::{Deserialize, Serialize};

/// Maps the tokens and roots of a file to symbols.
#[derive(Debug)]
pub struct Alphabet {
    /// For tokens.
    pub tokens: Lexicon,
    /// For roots.
    pub roots: Lexicon,
}

/// The words of a corpus's symbols; `None` if they are numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    /// One word per token.
    #[serde(rename = "token_names", skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Vec<String>>,
    /// One word per root.
    #[serde(rename = "root_names", skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<String>>,
}

impl Alphabet {
    /// Only numbers, with tokens below `vocab`.
    pub fn numbers(vocab: usize) -> Self {
        Alphabet { tokens: Lexicon::numbers("token", vocab), roots: Lexicon::numbers("root", usize::from(NO_ROOT)) }
    }

    /// Numbers or any words. Words are numbered in order of appearance until [`Lexicon::settle`] sorts them.
    pub fn open() -> Self {
        let limit = usize::from(NO_ROOT);
        Alphabet { tokens: Lexicon::open("token", limit), roots: Lexicon::open("root", limit) }
    }

    /// Numbers, or the names of a grammar's tokens and classes. Roots may be any number; callers that need roots check
    /// them.
    pub fn of(grammar: &Grammar) -> Self {
        let limit = usize::from(NO_ROOT);
        Alphabet {
            tokens: Lexicon::names("token", level_names(grammar, grammar.depth()), grammar.vocab()),
            roots: Lexicon::names("root", level_names(grammar, 0), limit),
        }
    }
}

impl Names {
    /// The names of a grammar's tokens and classes, unless they are the default ones.
    pub fn of(grammar: &Grammar) -> Self {
        let given = |level: usize, default: fn(usize) -> String| {
            let names = level_names(grammar, level);
            let is_given = names.iter().enumerate().any(|(k, name)| *name != default(k));
            is_given.then_some(names)
        };
        Names { tokens: given(grammar.depth(), |k| k.to_string()), roots: given(0, |k| format!("A0_{k}")) }
    }

    /// The names of a grammar's tokens and classes, including default ones.
    pub fn all(grammar: &Grammar) -> Self {
        Names { tokens: Some(level_names(grammar, grammar.depth())), roots: Some(level_names(grammar, 0)) }
    }

    /// Whether all symbols are numbers.
    pub fn are_numbers(&self) -> bool {
        self.tokens.is_none() && self.roots.is_none()
    }
}

fn level_names(grammar: &Grammar, level: usize) -> Vec<String> {
    (0..grammar.sizes()[level]).map(|symbol| grammar.name(level, symbol as Symbol).into_owned()).collect()
}
