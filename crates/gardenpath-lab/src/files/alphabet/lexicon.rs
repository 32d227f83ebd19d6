//! The words of one kind, tokens or roots, and their numbers.

use super::super::NO_ROOT;
use gardenpath::{Symbol, check_tokens};
use std::collections::HashMap;

/// Maps the tokens or the roots of a file to symbols.
#[derive(Debug)]
pub struct Lexicon {
    /// The noun for a symbol in messages.
    what: &'static str,
    /// The exclusive upper bound of numbers.
    limit: usize,
    policy: Policy,
    /// The known words, by symbol.
    words: Vec<String>,
    symbols: HashMap<String, Symbol>,
    /// The sentence in which each collected word first occurred.
    first: Vec<u64>,
    found: Option<Kind>,
}

/// Which words are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// None.
    Numbers,
    /// Any.
    Collect,
    /// Those of a grammar; the flag says whether some of its names are numbers.
    Known { numeric: bool },
}

/// What a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Numbers,
    Words,
    /// Text, in which numbers and words cannot be distinguished until all of it is read.
    Text,
}

/// The symbols of a whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Numbers.
    Numbers,
    /// Text that turned out to be numbers: the number of each collected symbol.
    Renumbered(Vec<Symbol>),
    /// Sorted words, and the new number of each collected symbol.
    Words(Vec<String>, Vec<Symbol>),
}

/// Maximum number of words listed in a message.
const LISTED: usize = 12;

/// Maximum number of characters of a word quoted in a message.
const QUOTED: usize = 40;

impl Lexicon {
    pub(super) fn numbers(what: &'static str, limit: usize) -> Self {
        Lexicon::with(what, limit, Policy::Numbers, Vec::new())
    }

    pub(super) fn open(what: &'static str, limit: usize) -> Self {
        Lexicon::with(what, limit, Policy::Collect, Vec::new())
    }

    pub(super) fn names(what: &'static str, names: Vec<String>, limit: usize) -> Self {
        let numeric = names.iter().any(|name| decimal(name).is_some());
        Lexicon::with(what, limit, Policy::Known { numeric }, names)
    }

    fn with(what: &'static str, limit: usize, policy: Policy, words: Vec<String>) -> Self {
        let symbols = words.iter().enumerate().map(|(k, word)| (word.clone(), k as Symbol)).collect();
        Lexicon { what, limit, policy, words, symbols, first: Vec::new(), found: None }
    }

    /// Whether words are accepted.
    pub fn accepts_words(&self) -> bool {
        self.policy != Policy::Numbers
    }

    /// The exclusive upper bound of numbers.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Checks symbols given as numbers.
    pub fn check(&mut self, symbols: &[Symbol]) -> Result<(), String> {
        let Some(first) = symbols.first() else { return Ok(()) };
        if *self.found.get_or_insert(Kind::Numbers) != Kind::Numbers {
            return Err(format!("{} {first} is a number, but earlier ones are words; expected one kind", self.what));
        }
        check_tokens(symbols, self.limit).map_err(|error| error.to_string())
    }

    /// The symbol of a word in sentence `sentence`.
    pub fn word(&mut self, word: &str, sentence: u64) -> Result<Symbol, String> {
        if *self.found.get_or_insert(Kind::Words) == Kind::Numbers {
            let what = self.what;
            return Err(format!("{what} {} is a word, but earlier ones are numbers; expected one kind", quoted(word)));
        }
        self.lookup(word, sentence)
    }

    /// The symbol of a word of text, where numbers are not distinguished by quotes. Names of a grammar take precedence;
    /// numbers are accepted if no name is one.
    pub fn text(&mut self, word: &str, sentence: u64) -> Result<Symbol, String> {
        self.found = Some(Kind::Text);
        let by_number = || decimal(word).filter(|&number| number < self.limit).map(|number| number as Symbol);
        let known = self.symbols.get(word).copied();
        let found = match self.policy {
            Policy::Numbers => by_number(),
            Policy::Known { numeric: false } => known.or_else(by_number),
            Policy::Known { numeric: true } | Policy::Collect => known,
        };
        found.map_or_else(|| self.lookup(word, sentence), Ok)
    }

    fn lookup(&mut self, word: &str, sentence: u64) -> Result<Symbol, String> {
        if let Some(&symbol) = self.symbols.get(word) {
            return Ok(symbol);
        }
        let Lexicon { what, limit, .. } = *self;
        match self.policy {
            Policy::Collect if self.words.len() < usize::from(NO_ROOT) => {
                let symbol = self.words.len() as Symbol;
                self.words.push(word.to_owned());
                self.symbols.insert(word.to_owned(), symbol);
                self.first.push(sentence);
                Ok(symbol)
            }
            Policy::Collect => {
                Err(format!("{} is one {what} too many, expected at most {NO_ROOT} different ones", quoted(word)))
            }
            Policy::Numbers => {
                Err(format!("{what} {} is not a whole number from 0 to {}", quoted(word), limit.saturating_sub(1)))
            }
            Policy::Known { .. } => {
                let (count, more) = (self.words.len(), if self.words.len() > LISTED { " …" } else { "" });
                let listed = self.words[..count.min(LISTED)].join(" ");
                let all = if what == "root" { "classes" } else { "tokens" };
                Err(format!("{} is not one of the {count} {all} {listed}{more}", quoted(word)))
            }
        }
    }

    /// The final symbols of the whole file. Words are sorted, so that their numbers do not depend on the order of the
    /// sentences. Errors name the sentence.
    pub fn settle(&self) -> Result<Settled, String> {
        if self.policy != Policy::Collect || matches!(self.found, None | Some(Kind::Numbers)) {
            return Ok(Settled::Numbers);
        }
        // The default names of classes stand for their numbers.
        let default = |word: &String| decimal(word.strip_prefix("A0_").filter(|_| self.what == "root")?);
        if let Some(numbers) = self.words.iter().map(default).collect::<Option<Vec<usize>>>() {
            return self.renumbered(&numbers);
        }
        let numbers = self.words.iter().map(|word| decimal(word)).collect::<Option<Vec<usize>>>();
        match numbers {
            Some(numbers) if self.found == Some(Kind::Text) => self.renumbered(&numbers),
            _ => Ok(self.sorted()),
        }
    }

    fn renumbered(&self, numbers: &[usize]) -> Result<Settled, String> {
        if let Some(k) = numbers.iter().position(|&number| number >= self.limit) {
            let Lexicon { what, limit, .. } = *self;
            let (sentence, word) = (self.first[k], quoted(&self.words[k]));
            return Err(format!("sentence {sentence}: {what} {word} is not a whole number from 0 to {}", limit - 1));
        }
        Ok(Settled::Renumbered(numbers.iter().map(|&number| number as Symbol).collect()))
    }

    fn sorted(&self) -> Settled {
        let mut order: Vec<usize> = (0..self.words.len()).collect();
        order.sort_by(|&a, &b| self.words[a].cmp(&self.words[b]));
        let mut renamed = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| renamed[old] = new as Symbol);
        Settled::Words(order.iter().map(|&old| self.words[old].clone()).collect(), renamed)
    }
}

impl Settled {
    /// Replaces collected symbols by final ones.
    pub fn apply(&self, symbols: &mut [Symbol]) {
        let (Settled::Renumbered(map) | Settled::Words(_, map)) = self else { return };
        for symbol in symbols.iter_mut().filter(|symbol| **symbol != NO_ROOT) {
            *symbol = map[usize::from(*symbol)];
        }
    }

    /// The sorted words, if any.
    pub fn into_words(self) -> Option<Vec<String>> {
        match self {
            Settled::Words(words, _) => Some(words),
            _ => None,
        }
    }
}

/// A number written in decimal digits only.
fn decimal(word: &str) -> Option<usize> {
    if word.bytes().all(|byte| byte.is_ascii_digit()) { word.parse().ok() } else { None }
}

/// A word in quotes, shortened for messages.
fn quoted(word: &str) -> String {
    match word.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{:?}…", &word[..end]),
        None => format!("{word:?}"),
    }
}
