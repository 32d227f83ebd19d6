//! Reads the published JSON grammars of the same family (`cfg3*`, "Physics of Language Models, Part 1").
//!
//! There, `sizes` is the number of symbols of each level and `all[level][k].children` the right-hand sides of symbol
//! `k` as indices into the next level, all equally likely; one that is repeated is so much likelier. The tokens are numbered from 1; here their indices start
//! at 0 and the numbers become their names.

use super::{Children, Grammar, Rule, Symbol};
use crate::error::{Error, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

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
    /// Reads a published JSON grammar. The probabilities of right-hand sides that are repeated are added.
    pub fn from_lano_json(text: &str) -> Result<Grammar> {
        let text = super::text::without_mark(text);
        let document: Document = serde_json::from_str(text).map_err(|e| super::published_errors::refuse(text, &e))?;
        let found: Vec<usize> = document.all.iter().map(Vec::len).collect();
        if found != document.sizes || found.len() < 2 {
            let reason = format!("\"sizes\" is {:?}, but the levels of \"all\" have {found:?} symbols", document.sizes);
            return Err(Error::line(1, reason));
        }
        // Before names are compared with each other.
        if let Some(largest) = found.iter().find(|size| **size > Grammar::MAX_VOCAB) {
            let reason = format!("a level has {largest} symbols, expected at most {}", Grammar::MAX_VOCAB);
            return Err(Error::line(1, reason));
        }
        let depth = found.len() - 1;
        let layers = (0..depth).map(|level| layer(level, &document.all[level], found[level + 1]));
        let layers = layers.collect::<Result<Vec<_>>>()?;
        let names = |(level, nodes): (usize, &Vec<Node>)| {
            nodes.iter().map(|node| if level == depth { node.id.to_string() } else { node.name.clone() }).collect()
        };
        let names: Vec<Vec<String>> = document.all.iter().enumerate().map(names).collect();
        super::text::check_names(&names).map_err(|reason| Error::line(1, reason))?;
        let prior = vec![1.0 / found[0] as f64; found[0]];
        Grammar::new(document.sizes, prior, layers)?.with_names(names)
    }
}

/// The rules of a level, whose children are below `size`. Each right-hand side has one share; one that stands several times has
/// as many.
fn layer(level: usize, nodes: &[Node], size: usize) -> Result<Vec<Rule>> {
    let mut rules = Vec::new();
    for (parent, node) in nodes.iter().enumerate() {
        let sides = node.children.as_deref().unwrap_or_default();
        let mut shares: BTreeMap<Children, usize> = BTreeMap::new();
        for side in sides {
            if let Some(&symbol) = side.iter().find(|child| **child >= size) {
                return Err(Error::UnknownSymbol { level, symbol, at: level + 1, size });
            }
            let symbols: Vec<Symbol> = side.iter().map(|&child| child as Symbol).collect();
            let children = Children::from_slice(&symbols).ok_or_else(|| {
                let arity = side.len();
                let name = &node.name;
                Error::line(
                    1,
                    format!("{name:?} of level {level} has a rule of {arity} symbols, expected 1 to {}", Children::MAX),
                )
            })?;
            *shares.entry(children).or_default() += 1;
        }
        let parent = parent as Symbol;
        let probability = |share: usize| share as f64 / sides.len() as f64;
        rules.extend(shares.into_iter().map(|(children, n)| Rule { parent, children, probability: probability(n) }));
    }
    Ok(rules)
}
