//! Reads the published JSON grammars of the same family (`cfg3*`, "Physics of Language Models, Part 1").
//!
//! There, `sizes` is the number of symbols of each level and `all[level][k].children` the right-hand sides of symbol
//! `k` as indices into the next level, all equally likely. The tokens are numbered from 1; here their indices start
//! at 0 and the numbers become their names.

use super::{Children, Grammar, Rule, Symbol};
use crate::error::{Error, Result};
use serde::Deserialize;

#[derive(Deserialize)]
struct Document {
    sizes: Vec<usize>,
    all: Vec<Vec<Node>>,
}

#[derive(Deserialize)]
struct Node {
    id: u64,
    name: String,
    children: Option<Vec<Vec<usize>>>,
}

impl Grammar {
    /// Reads a published JSON grammar.
    pub fn from_lano_json(text: &str) -> Result<Grammar> {
        let document: Document = serde_json::from_str(text).map_err(|e| {
            let reason = e.to_string();
            let reason = reason.split(" at line").next().unwrap_or(&reason).to_owned();
            Error::line(e.line().max(1), format!("not a JSON grammar: {reason}"))
        })?;
        let found: Vec<usize> = document.all.iter().map(Vec::len).collect();
        if found != document.sizes || found.len() < 2 {
            let reason = format!("\"sizes\" is {:?}, but the levels of \"all\" have {found:?} symbols", document.sizes);
            return Err(Error::line(1, reason));
        }
        let depth = found.len() - 1;
        let layers = (0..depth).map(|level| layer(level, &document.all[level])).collect::<Result<Vec<_>>>()?;
        let names = |(level, nodes): (usize, &Vec<Node>)| {
            nodes.iter().map(|node| if level == depth { node.id.to_string() } else { node.name.clone() }).collect()
        };
        let names: Vec<Vec<String>> = document.all.iter().enumerate().map(names).collect();
        super::text::check_names(&names).map_err(|reason| Error::line(1, reason))?;
        let prior = vec![1.0 / found[0] as f64; found[0]];
        Grammar::new(document.sizes, prior, layers)?.with_names(names)
    }
}

fn layer(level: usize, nodes: &[Node]) -> Result<Vec<Rule>> {
    let mut rules = Vec::new();
    for (parent, node) in nodes.iter().enumerate() {
        let sides = node.children.as_deref().unwrap_or_default();
        for side in sides {
            let symbols: Vec<Symbol> =
                side.iter().map(|&child| Symbol::try_from(child).unwrap_or(Symbol::MAX)).collect();
            let children = Children::from_slice(&symbols).ok_or_else(|| {
                let arity = side.len();
                Error::line(
                    1,
                    format!("{:?} of level {level} has a rule of {arity} symbols, expected 2 or 3", node.name),
                )
            })?;
            rules.push(Rule { parent: parent as Symbol, children, probability: 1.0 / sides.len() as f64 });
        }
    }
    Ok(rules)
}
