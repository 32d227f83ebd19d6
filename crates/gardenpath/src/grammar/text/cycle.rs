//! Recursion: whether some symbol derives itself, and how.

use super::lexer::Word;
use super::lines::Production;
use crate::error::{Error, Result};
use std::collections::HashMap;

/// Symbols of a cycle that a message names at most.
const SHOWN: usize = 8;

/// Rejects rules by which a symbol derives itself; the message shows how, and names the line that closes the cycle.
///
/// The search is depth-first, from `start` and then from the other symbols in the order of the text, with a stack of its
/// own: a chain may be as long as the file. Its cost is proportional to the size of the rules.
pub(super) fn refuse_recursion<'t>(start: Word<'t>, productions: &[Production<'t>]) -> Result<()> {
    let mut edges: HashMap<Word, Vec<(Word, usize)>> = HashMap::new();
    for p in productions {
        let children = p.children.iter().filter(|child| matches!(child, Word::Name(_)));
        edges.entry(p.parent).or_default().extend(children.map(|&child| (child, p.line)));
    }
    // Where on the path a symbol stands, or `None` when all below it has been searched.
    let mut found: HashMap<Word, Option<usize>> = HashMap::new();
    for root in std::iter::once(start).chain(productions.iter().map(|p| p.parent)) {
        if found.contains_key(&root) {
            continue;
        }
        found.insert(root, Some(0));
        // Each symbol of the path with the number of its edges that were followed.
        let mut path = vec![(root, 0)];
        while let Some((word, followed)) = path.last_mut() {
            let Some(&(child, line)) = edges.get(word).and_then(|edges| edges.get(*followed)) else {
                found.insert(*word, None);
                path.pop();
                continue;
            };
            *followed += 1;
            match found.get(&child) {
                Some(None) => {}
                Some(&Some(position)) => return Err(recursive(line, &path[position..])),
                None => {
                    found.insert(child, Some(path.len()));
                    path.push((child, 0));
                }
            }
        }
    }
    Ok(())
}

fn recursive(line: usize, cycle: &[(Word, usize)]) -> Error {
    let mut names: Vec<String> = cycle.iter().take(SHOWN).map(|(word, _)| word.to_string()).collect();
    if cycle.len() > SHOWN {
        names.push("…".to_owned());
    }
    names.push(cycle[0].0.to_string());
    let cycle = names.join(" -> ");
    Error::line(line, format!("the grammar is recursive: {cycle}; only layered grammars of uniform depth can be read"))
}
