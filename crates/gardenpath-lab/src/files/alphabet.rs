//! The tokens and the roots of corpora: numbers, or words that stand for numbers.

mod lexicon;

pub use lexicon::Lexicon;

use super::NO_ROOT;
use gardenpath::{Grammar, Symbol};
use serde::{Deserialize, Serialize};

/// How the tokens and the roots of a file become symbols.
#[derive(Debug)]
pub struct Alphabet {
    /// For tokens.
    pub tokens: Lexicon,
    /// For roots.
    pub roots: Lexicon,
}

/// The words for the symbols of a corpus; `None` if they are numbers.
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
    /// Numbers alone, tokens below `vocab`.
    pub fn numbers(vocab: usize) -> Self {
        Alphabet { tokens: Lexicon::numbers("token", vocab), roots: Lexicon::numbers("root", usize::from(NO_ROOT)) }
    }

    /// Numbers, or whatever words there are. They get numbers in the order of their appearance, until
    /// [`Lexicon::settle`] sorts them.
    pub fn open() -> Self {
        let limit = usize::from(NO_ROOT);
        Alphabet { tokens: Lexicon::open("token", limit), roots: Lexicon::open("root", limit) }
    }

    /// Numbers, or the names of the tokens and classes of a grammar. A root may be any number: those who need roots check them.
    pub fn of(grammar: &Grammar) -> Self {
        let limit = usize::from(NO_ROOT);
        Alphabet {
            tokens: Lexicon::names("token", level_names(grammar, grammar.depth()), grammar.vocab()),
            roots: Lexicon::names("root", level_names(grammar, 0), limit),
        }
    }
}

impl Names {
    /// The names that a grammar gives to its tokens and classes, where these are not the default ones.
    pub fn of(grammar: &Grammar) -> Self {
        let given = |level: usize, default: fn(usize) -> String| {
            let names = level_names(grammar, level);
            let is_given = names.iter().enumerate().any(|(k, name)| *name != default(k));
            is_given.then_some(names)
        };
        Names { tokens: given(grammar.depth(), |k| k.to_string()), roots: given(0, |k| format!("A0_{k}")) }
    }

    /// All names of a grammar's tokens and classes, the default ones included.
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
