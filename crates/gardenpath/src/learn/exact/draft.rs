//! A partial grammar: the layers learned so far.

use crate::arity::Arities;
use crate::error::Result;
use crate::grammar::{Children, Grammar, Rule, Symbol};
use crate::learn::Outline;

/// The rules of each layer, from the root down. Levels above the known ones have a single symbol each.
pub(super) struct Draft {
    sizes: Vec<usize>,
    prior: Vec<f64>,
    rules: Vec<Vec<Rule>>,
    arities: Arities,
}

impl Draft {
    /// No rules at all.
    pub fn new(outline: &Outline, tokens: usize) -> Self {
        let (depth, arities) = (outline.depth, outline.branching.arities());
        let mut sizes = vec![1; depth];
        sizes.push(tokens);
        Draft { sizes, prior: vec![1.0], rules: vec![any(0, arities); depth], arities }
    }

    /// The grammar; only the shape of layers that are not known has a meaning.
    pub fn grammar(&self) -> Result<Grammar> {
        Grammar::new(self.sizes.clone(), self.prior.clone(), self.rules.clone())
    }

    /// The grammar without the rules of the classes.
    pub fn below_root(&self) -> Result<Grammar> {
        let (mut sizes, mut rules) = (self.sizes.clone(), self.rules.clone());
        (sizes[0], rules[0]) = (1, any(0, self.arities));
        Grammar::new(sizes, vec![1.0], rules)
    }

    /// Sets the rules of a layer below the root. Its parents are numbered without gaps.
    pub fn set(&mut self, layer: usize, rules: Vec<Rule>) {
        self.rules[layer] = if rules.is_empty() { any(0, self.arities) } else { rules };
        self.sizes[layer] = 1 + self.rules[layer].iter().map(|rule| usize::from(rule.parent)).max().unwrap_or(0);
    }

    /// Sets the rules of the classes; returns how many of those that occur have none.
    pub fn set_root(&mut self, rules: Vec<Rule>, prior: &[f64]) -> usize {
        (self.sizes[0], self.prior, self.rules[0]) = (prior.len(), prior.to_vec(), rules);
        self.fill_classes()
    }

    /// Gives rules to classes that occur but have none, so that the grammar is whole; returns the number of those.
    fn fill_classes(&mut self) -> usize {
        let missing: Vec<Symbol> = (0..self.prior.len())
            .map(|class| class as Symbol)
            .filter(|&class| self.prior[usize::from(class)] > 0.0)
            .filter(|&class| self.rules[0].iter().all(|rule| rule.parent != class))
            .collect();
        missing.iter().for_each(|&class| self.rules[0].extend(any(class, self.arities)));
        missing.len()
    }

    /// Replaces all layers, with probabilities up to a factor for each parent. Symbols that have lost their rules are left out, and so are
    /// rules that use them; returns whether there are any, so that others have new numbers.
    pub fn replace(&mut self, rules: Vec<Vec<Rule>>) -> bool {
        let sizes = self.sizes.clone();
        self.rules = rules;
        self.rules.iter_mut().zip(&sizes).for_each(|(rules, &parents)| normalise(rules, parents));
        (1..self.rules.len()).rev().for_each(|layer| self.drop_empty(layer));
        self.fill_classes();
        self.sizes != sizes
    }

    /// Leaves out the symbols of a level that have no rules, and the rules above that use them.
    fn drop_empty(&mut self, level: usize) {
        let mut names = vec![None; self.sizes[level]];
        self.rules[level].iter().for_each(|rule| names[usize::from(rule.parent)] = Some(0));
        let mut size = 0;
        for name in names.iter_mut().flatten() {
            *name = size;
            size += 1;
        }
        if usize::from(size) == names.len() {
            return;
        }
        self.sizes[level] = usize::from(size);
        for rule in &mut self.rules[level] {
            rule.parent = names[usize::from(rule.parent)].expect("the parent of a rule has a rule");
        }
        let above = &mut self.rules[level - 1];
        let rename = |rule: &Rule| {
            let children: Option<Vec<Symbol>> = rule.children.iter().map(|child| names[usize::from(child)]).collect();
            Some(Rule { children: Children::from_slice(&children?)?, ..*rule })
        };
        *above = above.iter().filter_map(rename).collect();
        if above.is_empty() {
            *above = any(0, self.arities);
        }
        normalise(above, self.sizes[level - 1]);
    }
}

/// Rules of every arity for one symbol, when nothing is known about it.
fn any(parent: Symbol, arities: Arities) -> Vec<Rule> {
    let children = arities.iter().filter_map(|arity| Children::from_slice(&[0; Children::MAX][..arity]));
    let probability = 1.0 / arities.iter().count() as f64;
    children.map(|children| Rule { parent, children, probability }).collect()
}

/// Scales the probabilities of each parent to one.
pub(super) fn normalise(rules: &mut [Rule], parents: usize) {
    let mut totals = vec![0.0; parents];
    rules.iter().for_each(|rule| totals[usize::from(rule.parent)] += rule.probability);
    rules.iter_mut().for_each(|rule| rule.probability /= totals[usize::from(rule.parent)]);
}
