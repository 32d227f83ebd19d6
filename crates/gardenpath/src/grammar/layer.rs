//! The rules between two levels.

use super::automaton::Automaton;
use super::{Children, Rule, SUM_TOLERANCE, Symbol};
use crate::arity::Arities;
use crate::error::{Error, Result};
use std::ops::Range;

/// The rules from one level to the next, sorted by parent and right-hand side, with the automaton that reads right-hand sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    children: usize,
    rules: Vec<Rule>,
    /// The rules of parent `z` are `first[z]..first[z + 1]`.
    first: Vec<u32>,
    automaton: Automaton,
}

impl Layer {
    /// `needs_rules` says which parents must have rules: all but classes that never occur.
    pub(super) fn new(
        level: usize,
        parents: usize,
        children: usize,
        mut rules: Vec<Rule>,
        needs_rules: impl Fn(usize) -> bool,
    ) -> Result<Self> {
        let unknown = |symbol, at, size| Error::UnknownSymbol { level, symbol, at, size };
        for rule in &rules {
            let symbol = usize::from(rule.parent);
            if symbol >= parents {
                return Err(unknown(symbol, level, parents));
            }
            if let Some(child) = rule.children.iter().map(usize::from).find(|&child| child >= children) {
                return Err(unknown(child, level + 1, children));
            }
            if !(rule.probability > 0.0 && rule.probability <= 1.0 + SUM_TOLERANCE) {
                return Err(Error::Probability { level, symbol, probability: rule.probability });
            }
        }
        // Rules are different, or refused next.
        rules.sort_unstable_by_key(|rule| (rule.parent, rule.children));
        if let Some(twice) = rules.windows(2).find(|w| w[0].parent == w[1].parent && w[0].children == w[1].children) {
            let Rule { parent, children, .. } = twice[0];
            let children = children.as_slice().to_vec();
            return Err(Error::DuplicateRule { level, symbol: usize::from(parent), children });
        }
        let first: Vec<u32> =
            (0..=parents).map(|z| rules.partition_point(|rule| usize::from(rule.parent) < z) as u32).collect();
        for symbol in 0..parents {
            let own = &rules[first[symbol] as usize..first[symbol + 1] as usize];
            if own.is_empty() && !needs_rules(symbol) {
                continue;
            }
            if own.is_empty() {
                return Err(Error::NoRules { level, symbol });
            }
            let sum: f64 = own.iter().map(|rule| rule.probability).sum();
            if (sum - 1.0).abs() > SUM_TOLERANCE {
                return Err(Error::ProbabilitySum { level, symbol, sum });
            }
        }
        let automaton = Automaton::new(children, &rules);
        Ok(Layer { children, rules, first, automaton })
    }

    /// The number of symbols above.
    pub fn parents(&self) -> usize {
        self.first.len() - 1
    }

    /// The number of symbols below.
    pub fn children(&self) -> usize {
        self.children
    }

    /// All rules, sorted by parent, then by their number of children, then by symbols. A rule's position is its identifier.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The identifiers of the rules of one parent.
    pub fn rules_of(&self, parent: Symbol) -> Range<usize> {
        let parent = usize::from(parent);
        self.first[parent] as usize..self.first[parent + 1] as usize
    }

    /// The identifiers of the rules with these children, one per parent that has such a rule.
    ///
    /// ```
    /// use gardenpath::{Children, Ensemble, Seed};
    ///
    /// let grammar = Ensemble::new(4, 1).fraction(0.5).sample(Seed::new(1))?;
    /// let layer = grammar.layer(0);
    /// let rule = layer.rules()[3];
    /// assert_eq!(layer.rules_with(rule.children).collect::<Vec<_>>(), [3]);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn rules_with(&self, children: Children) -> impl Iterator<Item = usize> + '_ {
        self.automaton.entries_with(children).map(|entry| self.automaton.rule(entry))
    }

    /// The numbers of children of the rules.
    pub fn arities(&self) -> Arities {
        self.rules.iter().map(|rule| rule.children.len()).collect()
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        &self.automaton
    }
}
