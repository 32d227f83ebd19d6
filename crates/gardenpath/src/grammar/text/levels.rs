//! Which level each symbol stands on, or why the grammar is not layered.

use super::lexer::Word;
use super::lines::Production;
use crate::error::{Error, Result};
use crate::shape::Shape;
use std::collections::{HashMap, HashSet, VecDeque};

/// The level of every symbol: those of `roots` have level 0, and a child is one level below its parent. A root must have rules if it
/// `occurs`.
///
/// The search goes along rules in both directions and from the tokens too, so that symbols which no sentence reaches have
/// a level.
pub(super) fn assign_levels<'t>(
    roots: &[Word<'t>],
    occurs: impl Fn(Word<'t>) -> bool,
    first_line: usize,
    rules: &[&Production<'t>],
) -> Result<HashMap<Word<'t>, usize>> {
    let mut touching: HashMap<Word, Vec<usize>> = HashMap::new();
    for (k, p) in rules.iter().enumerate() {
        for &word in std::iter::once(&p.parent).chain(&p.children) {
            touching.entry(word).or_default().push(k);
        }
    }
    let mut search = Search { rules, touching, done: vec![false; rules.len()], levels: HashMap::new() };
    search.spread(roots.iter().copied(), 0)?;
    // All tokens are on one level, so that symbols which no root reaches are placed from below.
    let mut tokens: Vec<Word> = search.touching.keys().copied().filter(|word| matches!(word, Word::Token(_))).collect();
    tokens.sort();
    if let Some(depth) = tokens.iter().find_map(|token| search.levels.get(token).copied()) {
        let unplaced: Vec<Word> = tokens.into_iter().filter(|token| !search.levels.contains_key(token)).collect();
        search.spread(unplaced.into_iter(), depth)?;
    }
    let Search { done, levels, .. } = search;
    if let Some(k) = done.iter().position(|done| !done) {
        return Err(Error::line(rules[k].line, format!("{} is not connected with the start symbol", rules[k].parent)));
    }
    let needed: Vec<Word> = roots.iter().copied().filter(|&root| occurs(root)).collect();
    check_depth(&levels, &needed, first_line, rules)?;
    Ok(levels)
}

/// A search along the rules, in both directions.
struct Search<'s, 't> {
    rules: &'s [&'s Production<'t>],
    /// The rules in which each symbol stands.
    touching: HashMap<Word<'t>, Vec<usize>>,
    done: Vec<bool>,
    levels: HashMap<Word<'t>, usize>,
}

impl<'t> Search<'_, 't> {
    /// Places `words` on `level`, and from there all that rules connect with them.
    fn spread(&mut self, words: impl Iterator<Item = Word<'t>> + Clone, level: usize) -> Result<()> {
        let mut queue: VecDeque<Word> = words.clone().collect();
        self.levels.extend(words.map(|word| (word, level)));
        while let Some(word) = queue.pop_front() {
            for &k in self.touching.get(&word).map_or(&[][..], Vec::as_slice) {
                if std::mem::replace(&mut self.done[k], true) {
                    continue;
                }
                let p = self.rules[k];
                let own = self.levels[&word];
                let above = if p.parent == word { own } else { own.checked_sub(1).ok_or_else(|| conflict(p, word))? };
                let placed = std::iter::once((p.parent, above)).chain(p.children.iter().map(|&c| (c, above + 1)));
                for (symbol, level) in placed {
                    match self.levels.get(&symbol) {
                        Some(&known) if known != level => return Err(conflict(p, symbol)),
                        Some(_) => {}
                        None => {
                            self.levels.insert(symbol, level);
                            queue.push_back(symbol);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn conflict(p: &Production, symbol: Word) -> Error {
    Error::line(p.line, format!("{symbol} stands on two levels: not a layered grammar"))
}

/// All tokens on the lowest level, all nonterminals above it and with rules.
fn check_depth(levels: &HashMap<Word, usize>, roots: &[Word], first_line: usize, rules: &[&Production]) -> Result<()> {
    let depth = levels.values().copied().max().unwrap_or(0);
    let with_rules: HashSet<Word> = rules.iter().map(|p| p.parent).collect();
    for p in rules {
        for child in &p.children {
            let reason = match child {
                Word::Token(_) if levels[child] != depth => {
                    format!("the token {child} stands on level {} of {depth}: not of uniform depth", levels[child])
                }
                Word::Name(_) if !with_rules.contains(child) => format!("{child} has no rules"),
                _ => continue,
            };
            return Err(Error::line(p.line, reason));
        }
    }
    if let Some(root) = roots.iter().find(|root| !with_rules.contains(*root)) {
        return Err(Error::line(first_line, format!("the class {root} has no rules")));
    }
    if depth > Shape::MAX_DEPTH {
        return Err(Error::line(first_line, format!("the depth is {depth}, expected at most {}", Shape::MAX_DEPTH)));
    }
    Ok(())
}
