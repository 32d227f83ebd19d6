//! The text format `.pcfg`: one rule per line, readable by people and by NLTK's `PCFG.fromstring`.
//!
//! ```text
//! # sizes: 2 2 2
//! S -> A0_0 [0.5]
//! S -> A0_1 [0.5]
//! A0_0 -> A1_1 A1_0 [1]
//! …
//! A1_1 -> '0' '1' '1' [0.5]
//! ```
//! The writer prints probabilities with the fewest digits that read back to the same number. The reader takes any layered
//! grammar in this syntax, with any names, and keeps them. It also takes probabilities in front (`0.5 A -> B C` or
//! `0.5: A -> B C`, where tokens need no quotes if none has them), comments at the end of a line, and `% start S`.

mod cycle;
mod levels;
mod lexer;
mod lines;
mod reader;

use super::{Grammar, Symbol};
use crate::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

impl Grammar {
    /// Writes the grammar as `.pcfg` text.
    ///
    /// ```
    /// use gardenpath::{Ensemble, Grammar, Seed};
    ///
    /// let grammar = Ensemble::new(3, 2).fraction(0.4).sample(Seed::new(1))?;
    /// let text = grammar.to_text();
    /// assert!(text.contains("S -> A0_2 [0.3333333333333333]"));
    /// assert_eq!(Grammar::from_text(&text)?, grammar);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for remark in self.remarks() {
            push_line(&mut text, format_args!("# {remark}"));
        }
        let sizes: Vec<String> = self.sizes().iter().map(usize::to_string).collect();
        push_line(&mut text, format_args!("# sizes: {}", sizes.join(" ")));
        let token = |symbol: usize| quoted(&self.name(self.depth(), symbol as Symbol));
        if self.names().is_some() {
            let tokens: Vec<String> = (0..self.vocab()).map(token).collect();
            push_line(&mut text, format_args!("# tokens: {}", tokens.join(" ")));
        }
        let start = self.start_name();
        for (class, p) in self.prior().iter().enumerate() {
            push_line(&mut text, format_args!("{start} -> {} [{p}]", self.name(0, class as Symbol)));
        }
        // Names and probabilities are made once, not for each of millions of rules.
        let nonterminals = |level: usize| -> Vec<String> {
            (0..self.sizes()[level]).map(|symbol| self.name(level, symbol as Symbol).into_owned()).collect()
        };
        let (mut last, mut bracket) = (f64::NAN, String::new());
        for (level, layer) in self.layers().iter().enumerate() {
            let lowest = level + 1 == self.depth();
            let below = if lowest { (0..self.vocab()).map(token).collect() } else { nonterminals(level + 1) };
            let parents = nonterminals(level);
            for rule in layer.rules() {
                if rule.probability.to_bits() != last.to_bits() {
                    (last, bracket) = (rule.probability, format!(" [{}]\n", rule.probability));
                }
                text.push_str(&parents[usize::from(rule.parent)]);
                text.push_str(" ->");
                for child in rule.children.iter() {
                    text.push(' ');
                    text.push_str(&below[usize::from(child)]);
                }
                text.push_str(&bracket);
            }
        }
        text
    }

    /// Reads `.pcfg` text. Whatever is wrong is refused with its line number and the reason.
    ///
    /// The probabilities of a symbol may differ from a sum of 1 by 1e-5; [`Grammar::from_text_normalized`] accepts more.
    pub fn from_text(text: &str) -> Result<Grammar> {
        reader::read(without_mark(text), false)
    }

    /// Reads `.pcfg` text like [`Grammar::from_text`], and divides the probabilities of each symbol by their sum.
    ///
    /// The sum must lie within 1% of 1: rounded probabilities are rescaled, wrong ones refused.
    ///
    /// ```
    /// use gardenpath::Grammar;
    ///
    /// let text = "S -> A [1]\nA -> 'a' 'b' [0.33] | 'b' 'a' [0.33] | 'a' 'a' [0.33]\n";
    /// assert!(Grammar::from_text(text).is_err());
    /// let grammar = Grammar::from_text_normalized(text)?;
    /// assert!((grammar.layer(0).rules()[0].probability - 1.0 / 3.0).abs() < 1e-15);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn from_text_normalized(text: &str) -> Result<Grammar> {
        reader::read(without_mark(text), true)
    }

    /// A name for the start symbol that no class or nonterminal has.
    fn start_name(&self) -> String {
        let taken = |name: &str| (0..self.depth()).any(|level| self.symbol(level, name).is_some());
        let mut name = "S".to_owned();
        while taken(&name) {
            name.push_str("TART");
        }
        name
    }
}

/// The text format: [`Grammar::to_text`].
impl std::fmt::Display for Grammar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_text())
    }
}

/// The text format: [`Grammar::from_text`].
impl std::str::FromStr for Grammar {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Grammar::from_text(text)
    }
}

/// The text without the byte order mark that some editors put at its beginning.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Rejects names of all levels, from the root to the tokens, that the text format could not write and read back.
pub(super) fn check_names(names: &[Vec<String>]) -> std::result::Result<(), String> {
    let (tokens, above) = names.split_last().expect("a grammar has tokens");
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (level, names) in above.iter().enumerate() {
        for name in names {
            if !lexer::is_nonterminal(name) {
                return Err(format!("{name:?} cannot be the name of a symbol"));
            }
            match seen.insert(name, level) {
                None => {}
                Some(other) if other == level => return Err(twice(name)),
                Some(other) => {
                    return Err(format!("symbols of level {other} and of level {level} are both named {name:?}"));
                }
            }
        }
        if reader::numbered(level, names).is_some_and(|numbers| !numbers.is_sorted()) {
            return Err(format!("the symbols of level {level} have one another's default names: {}", names.join(", ")));
        }
    }
    let mut seen = HashSet::new();
    for name in tokens {
        if name.chars().any(char::is_control) || (name.contains('"') && name.contains('\'')) {
            return Err(format!("{name:?} cannot be the name of a symbol"));
        }
        if !seen.insert(name) {
            return Err(twice(name));
        }
    }
    Ok(())
}

fn twice(name: &str) -> String {
    format!("two symbols of one level are named {name:?}")
}

/// A remark as lines that the text format reads back as they are: without line breaks, and not taken for a part of the header.
pub(super) fn remark_lines(remark: &str) -> impl Iterator<Item = String> + '_ {
    // All that some reader takes for the end of a line.
    let breaks = |c: char| matches!(c, '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let several = remark.contains(breaks);
    let lines = remark.split(breaks).map(str::trim).filter(move |line| !(several && line.is_empty()));
    lines.map(|line| if lines::is_header(line) { format!("remark: {line}") } else { line.to_owned() })
}

fn quoted(name: &str) -> String {
    if name.contains('\'') { format!("\"{name}\"") } else { format!("'{name}'") }
}

fn push_line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("writing to a string");
}
