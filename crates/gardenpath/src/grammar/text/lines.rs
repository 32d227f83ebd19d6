//! The lines of `.pcfg` text: rules, comments and the choice of the start symbol.

use super::super::SUM_TOLERANCE;
use super::lexer::{Word, words};
use super::reader::RESCALABLE;
use crate::error::{Error, Result};
use std::collections::HashSet;

/// A rule as it stands in the text.
pub(super) struct Production<'t> {
    pub line: usize,
    pub parent: Word<'t>,
    pub children: Vec<Word<'t>>,
    pub probability: f64,
    /// Whether the probability stands in front.
    front: bool,
}

impl Production<'_> {
    /// Rejects the probability, which the text says is `number`.
    pub(super) fn refuse_probability(&self, number: &str) -> Error {
        refuse_probability(self.line, number, self.front)
    }
}

/// What the comments before the first rule say.
#[derive(Default)]
pub(super) struct Header<'t> {
    pub sizes: Option<(usize, Vec<usize>)>,
    pub tokens: Option<(usize, Vec<Word<'t>>)>,
    pub remarks: Vec<String>,
}

/// What the lines say, before anything is known about levels.
#[derive(Default)]
pub(super) struct Lines<'t> {
    pub header: Header<'t>,
    pub productions: Vec<Production<'t>>,
    /// The line `% start` and the symbol that it names.
    chosen: Option<(usize, Word<'t>)>,
}

impl<'t> Lines<'t> {
    /// Reads all lines.
    pub(super) fn read(text: &'t str) -> Result<Self> {
        let mut lines = Lines::default();
        for (line, content) in text.lines().enumerate().map(|(k, content)| (k + 1, content.trim())) {
            if let Some(comment) = content.strip_prefix('#') {
                if lines.productions.is_empty() {
                    read_comment(line, comment.trim(), &mut lines.header)?;
                }
            } else if let Some(choice) = content.strip_prefix('%') {
                lines.choose_start(line, choice)?;
            } else if let Some((number, rule)) = front_weight(content) {
                lines.read_weighted(line, number, rule)?;
            } else {
                lines.read_rule(line, content)?;
            }
        }
        lines.unquoted_tokens();
        Ok(lines)
    }

    /// The start symbol: the one that is chosen; `S` where all probabilities stand in front, as the programs that write this
    /// form have it; otherwise the symbol of the first rule.
    pub(super) fn start(&self) -> Result<Word<'t>> {
        let has_rules = |word: Word| self.productions.iter().any(|p| p.parent == word);
        let Some(first) = self.productions.first() else {
            return Err(Error::line(1, "no rule found, expected lines like: S -> A0_0 [0.5]"));
        };
        match self.chosen {
            Some((_, start)) if has_rules(start) => Ok(start),
            Some((line, start)) => Err(Error::line(line, format!("the start symbol {start} has no rules"))),
            None if self.all_in_front() && has_rules(Word::Name("S")) => Ok(Word::Name("S")),
            None => Ok(first.parent),
        }
    }

    fn all_in_front(&self) -> bool {
        self.productions.iter().all(|p| p.front)
    }

    fn choose_start(&mut self, line: usize, choice: &'t str) -> Result<()> {
        let words = words(choice).map_err(|reason| Error::line(line, reason))?;
        let [Word::Name("start"), start @ Word::Name(_)] = words[..] else {
            return Err(Error::line(line, "a line that begins with % chooses the start symbol, expected: % start S"));
        };
        match self.chosen.replace((line, start)) {
            Some((before, _)) => Err(Error::line(line, format!("line {before} chooses the start symbol already"))),
            None => Ok(()),
        }
    }

    /// `A -> B C [0.5] | D E [0.5]`
    fn read_rule(&mut self, line: usize, content: &'t str) -> Result<()> {
        let words = words(content).map_err(|reason| Error::line(line, reason))?;
        if words.is_empty() {
            return Ok(());
        }
        let (parent, sides) = split_rule(line, &words)?;
        for side in sides.split(|word| *word == Word::Bar) {
            let Some((Word::Bracket(number), children)) = side.split_last() else {
                return Err(Error::line(line, "a right-hand side lacks its probability, expected [p] at its end"));
            };
            self.push(line, parent, children, number, false)?;
        }
        Ok(())
    }

    /// `0.5 A -> B C`
    fn read_weighted(&mut self, line: usize, number: &'t str, rule: &'t str) -> Result<()> {
        let words = words(rule).map_err(|reason| Error::line(line, reason))?;
        let (parent, children) = split_rule(line, &words)?;
        if children.contains(&Word::Bar) {
            let reason = "a probability in front belongs to one right-hand side, expected no | after it";
            return Err(Error::line(line, reason));
        }
        if let Some(Word::Bracket(_)) = children.last() {
            let reason = "a rule has a probability in front and another at its end, expected one of them";
            return Err(Error::line(line, reason));
        }
        self.push(line, parent, children, number, true)
    }

    fn push(&mut self, line: usize, parent: Word<'t>, children: &[Word<'t>], number: &str, front: bool) -> Result<()> {
        if let Some(word) = children.iter().find(|word| !matches!(word, Word::Name(_) | Word::Token(_))) {
            return Err(Error::line(line, format!("{word} inside a right-hand side")));
        }
        // Somewhat more than 1 can be rescaled, or is refused when the sum is known.
        let possible = 0.0..=1.0 + RESCALABLE + SUM_TOLERANCE;
        let probability = number.parse().ok().filter(|p| possible.contains(p));
        let probability = probability.ok_or_else(|| refuse_probability(line, number, front))?;
        self.productions.push(Production { line, parent, children: children.to_vec(), probability, front });
        Ok(())
    }

    /// Where all probabilities stand in front and nothing is quoted, names without rules are tokens.
    fn unquoted_tokens(&mut self) {
        let mut children = self.productions.iter().flat_map(|p| &p.children);
        if !self.all_in_front() || children.any(|word| matches!(word, Word::Token(_))) {
            return;
        }
        let parents: HashSet<Word> = self.productions.iter().map(|p| p.parent).collect();
        for word in self.productions.iter_mut().flat_map(|p| &mut p.children) {
            if let Word::Name(name) = *word
                && !parents.contains(word)
            {
                *word = Word::Token(name);
            }
        }
    }
}

/// The parent of a rule, and what stands after its arrow.
fn split_rule<'w, 't>(line: usize, words: &'w [Word<'t>]) -> Result<(Word<'t>, &'w [Word<'t>])> {
    match words {
        [parent @ Word::Name(_), Word::Arrow, sides @ ..] => Ok((*parent, sides)),
        [parent, Word::Arrow, ..] => {
            Err(Error::line(line, format!("a rule begins with {parent}, expected a nonterminal")))
        }
        _ => Err(Error::line(line, "expected a rule like: A -> B C [0.5]")),
    }
}

/// The number in front of a rule, `0.5 A -> B C` or `0.5: A -> B C`, and the rule.
fn front_weight(content: &str) -> Option<(&str, &str)> {
    let (number, rest) = content.split_at(content.find(|c: char| c.is_whitespace() || c == ':')?);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix(':').unwrap_or(rest).trim_start();
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    // "1 -> A B [1]" is a rule of a symbol that is named 1.
    let is_name = rest.starts_with("->") || rest.starts_with('→');
    (is_number && number.parse::<f64>().is_ok() && !is_name).then_some((number, rest))
}

fn refuse_probability(line: usize, number: &str, front: bool) -> Error {
    let number = if front { number.to_owned() } else { format!("[{number}]") };
    Error::line(line, format!("{number} is not a probability, expected more than 0 and at most 1"))
}

/// Whether the text of a comment says something about the grammar.
pub(super) fn is_header(comment: &str) -> bool {
    comment.starts_with("sizes:") || comment.starts_with("tokens:")
}

fn read_comment<'t>(line: usize, comment: &'t str, header: &mut Header<'t>) -> Result<()> {
    if let Some(sizes) = comment.strip_prefix("sizes:") {
        let sizes: Option<Vec<usize>> = sizes.split_whitespace().map(|size| size.parse().ok()).collect();
        let sizes = sizes.ok_or_else(|| Error::line(line, "\"sizes:\" lists something that is not a number"))?;
        header.sizes = Some((line, sizes));
    } else if let Some(tokens) = comment.strip_prefix("tokens:") {
        header.tokens = Some((line, words(tokens).map_err(|reason| Error::line(line, reason))?));
    } else {
        header.remarks.push(comment.to_owned());
    }
    Ok(())
}
