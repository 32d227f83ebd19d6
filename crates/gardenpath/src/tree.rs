//! Derivation trees of uniform depth.

mod exchange;

use crate::error::{Error, Result};
use crate::grammar::{Children, Grammar, Symbol};
use crate::span::{Node, Span};

/// A derivation tree: the symbols of every level from left to right, and how many children each has.
///
/// ```
/// use gardenpath::{Ensemble, Sampler, Seed, Tree};
///
/// let grammar = Ensemble::new(4, 2).sample(Seed::new(1))?;
/// let tree = Sampler::new(&grammar).tree(Seed::new(2), 0);
/// let text = tree.to_text(&grammar);
/// assert!(text.starts_with("(A0_"));
/// assert_eq!(Tree::from_text(&text, &grammar)?, tree);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tree {
    /// `levels[level]`: the symbols of the nodes.
    levels: Vec<Vec<Symbol>>,
    /// `arities[level]`: the number of children of the nodes, for all levels but the last.
    arities: Vec<Vec<u8>>,
}

impl Tree {
    /// A tree from its levels; the numbers of children must match the numbers of nodes.
    pub(crate) fn new(levels: Vec<Vec<Symbol>>, arities: Vec<Vec<u8>>) -> Self {
        debug_assert_eq!(levels.len(), arities.len() + 1);
        debug_assert!(arities.iter().enumerate().all(|(l, below)| {
            below.len() == levels[l].len()
                && below.iter().map(|&n| usize::from(n)).sum::<usize>() == levels[l + 1].len()
        }));
        Tree { levels, arities }
    }

    /// The number of layers.
    pub fn depth(&self) -> usize {
        self.arities.len()
    }

    /// The root symbol.
    pub fn root(&self) -> Symbol {
        self.levels[0][0]
    }

    /// The tokens.
    pub fn sentence(&self) -> &[Symbol] {
        &self.levels[self.depth()]
    }

    /// The symbols of a level, from left to right.
    pub fn level(&self, level: usize) -> &[Symbol] {
        &self.levels[level]
    }

    /// The nodes of a level, from left to right.
    pub fn nodes(&self, level: usize) -> Vec<Node> {
        let mut spans = vec![1; self.sentence().len()];
        for arities in self.arities[level..].iter().rev() {
            let mut below = spans.iter();
            spans = arities.iter().map(|&n| below.by_ref().take(usize::from(n)).sum()).collect();
        }
        let mut start = 0;
        spans
            .into_iter()
            .zip(&self.levels[level])
            .map(|(len, &symbol)| {
                start += len;
                Node { span: Span::new(start - len, len), symbol }
            })
            .collect()
    }

    /// The rules applied at the nodes of a level, as (parent, children).
    pub fn rules(&self, level: usize) -> impl Iterator<Item = (Symbol, Children)> + '_ {
        let mut below = self.levels[level + 1].as_slice();
        self.levels[level].iter().zip(&self.arities[level]).map(move |(&parent, &arity)| {
            let (own, rest) = below.split_at(usize::from(arity));
            below = rest;
            (parent, Children::from_slice(own).expect("nodes have up to eight children"))
        })
    }

    /// The logarithm of the probability of the tree given its root, or `None` if it uses a rule that does not exist.
    pub fn log_probability(&self, grammar: &Grammar) -> Option<f64> {
        let mut total = 0.0;
        for level in 0..self.depth() {
            let layer = grammar.layer(level);
            for (parent, children) in self.rules(level) {
                let rule = layer.rules_with(children).find(|&rule| layer.rules()[rule].parent == parent)?;
                total += layer.rules()[rule].probability.ln();
            }
        }
        Some(total)
    }

    /// The bracketed text that NLTK's `Tree.fromstring` reads: `(A0_1 (A1_3 0 2) (A1_0 1 1 3))`.
    pub fn to_text(&self, grammar: &Grammar) -> String {
        let mut next = vec![0; self.depth() + 1];
        let mut text = String::new();
        self.write_node(grammar, 0, &mut next, &mut text);
        text
    }

    fn write_node(&self, grammar: &Grammar, level: usize, next: &mut [usize], text: &mut String) {
        let node = next[level];
        next[level] += 1;
        let name = grammar.name(level, self.levels[level][node]);
        if level == self.depth() {
            text.push_str(&name);
            return;
        }
        text.push('(');
        text.push_str(&name);
        for _ in 0..self.arities[level][node] {
            text.push(' ');
            self.write_node(grammar, level + 1, next, text);
        }
        text.push(')');
    }

    /// Reads bracketed text with the names of `grammar`.
    pub fn from_text(text: &str, grammar: &Grammar) -> Result<Tree> {
        let depth = grammar.depth();
        let mut tree = Tree { levels: vec![Vec::new(); depth + 1], arities: vec![Vec::new(); depth] };
        let refuse = |reason: String| Err(Error::line(1, reason));
        let spaced = text.replace('(', " ( ").replace(')', " ) ");
        let mut words = spaced.split_whitespace();
        let mut level = 0;
        while let Some(word) = words.next() {
            match word {
                ")" if level == 0 => return refuse("a bracket is closed that was not opened".into()),
                ")" => {
                    level -= 1;
                    let children = tree.arities[level].last().copied().map_or(0, usize::from);
                    if !(1..=Children::MAX).contains(&children) {
                        return refuse(format!("a node has {children} children, expected 1 to {}", Children::MAX));
                    }
                }
                _ => {
                    let opens = word == "(";
                    let name = if opens { words.next().unwrap_or("") } else { word };
                    if level == 0 && !tree.levels[0].is_empty() {
                        return refuse("there is more than one root".into());
                    }
                    if opens != (level < depth) {
                        return refuse(format!("{name} stands on level {level}, but tokens stand on level {depth}"));
                    }
                    let Some(symbol) = grammar.symbol(level, name) else {
                        return refuse(format!("{name:?} is not a symbol of level {level}"));
                    };
                    tree.levels[level].push(symbol);
                    if let Some(count) = level.checked_sub(1).and_then(|above| tree.arities[above].last_mut()) {
                        *count = count.saturating_add(1);
                    }
                    if opens {
                        tree.arities[level].push(0);
                        level += 1;
                    }
                }
            }
        }
        if level != 0 || tree.levels[0].is_empty() {
            return refuse("the tree ends before its last bracket is closed".into());
        }
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ensemble, Sampler, Seed};

    #[test]
    fn nodes_cover_the_sentence() {
        let grammar = Ensemble::new(5, 3).sample(Seed::new(1)).unwrap();
        let sampler = Sampler::new(&grammar);
        for i in 0..50 {
            let tree = sampler.tree(Seed::new(3), i);
            for level in 0..=3 {
                let nodes = tree.nodes(level);
                assert_eq!(nodes.last().unwrap().span.end(), tree.sentence().len());
                assert!(nodes.windows(2).all(|w| w[0].span.end() == w[1].span.start));
                assert!(nodes.iter().all(|node| grammar.shape().has_span(level, node.span.len)));
            }
            assert!(tree.log_probability(&grammar).unwrap() < 0.0);
        }
    }

    #[test]
    fn bad_trees_are_refused() {
        let grammar = Ensemble::new(3, 2).sample(Seed::new(1)).unwrap();
        for text in [
            "",
            "(",
            ")",
            "(A0_0",
            "(A0_0)",
            "0 1",
            "(A0_0 (A1_0 1 2) (A1_7 0 0))",
            "(A0_0 0 1)",
            "(A0_0 (A1_0 1 2) (A1_1 0 0)) (A0_1 (A1_0 1 2) (A1_1 0 0))",
            "(A0_0 (A1_0) (A1_1 0 0))",
            "(A0_0 (A1_0 0 0 0 0 0 0 0 0 0) (A1_1 0 0))",
        ] {
            assert!(Tree::from_text(text, &grammar).is_err(), "{text}");
        }
    }
}
