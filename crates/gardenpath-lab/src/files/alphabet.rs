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

/// The tokens of a sentence that somebody wrote: names of tokens between spaces or commas, or numbers between square brackets as corpora have
/// them. The error says which word is no token.
///
/// If no token's name is a number, numbers stand for tokens without brackets, too.
///
/// ```
/// use gardenpath::{Ensemble, Seed};
/// use gardenpath_lab::files::alphabet::tokens;
///
/// let grammar = Ensemble::new(4, 2).sample(Seed::new(1))?;
/// assert_eq!(tokens(&grammar, " 0,3  1 "), Ok(vec![0, 3, 1]));
/// assert!(tokens(&grammar, "0 4").is_err());
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn tokens(grammar: &Grammar, text: &str) -> Result<Vec<Symbol>, String> {
    let trimmed = text.trim();
    let inner = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    // A comma may be the name of a token itself.
    let commas =
        inner.is_some() || (0..grammar.vocab()).all(|k| !grammar.name(grammar.depth(), k as Symbol).contains(','));
    let between = |c: char| c.is_whitespace() || (commas && c == ',');
    let words = inner.unwrap_or(trimmed).split(between).filter(|word| !word.is_empty());
    // In brackets there are numbers, whatever the names are.
    let mut lexicon = if inner.is_some() { Alphabet::numbers(grammar.vocab()) } else { Alphabet::of(grammar) }.tokens;
    words.map(|word| lexicon.text(word, 1)).collect()
}

fn level_names(grammar: &Grammar, level: usize) -> Vec<String> {
    (0..grammar.sizes()[level]).map(|symbol| grammar.name(level, symbol as Symbol).into_owned()).collect()
}
