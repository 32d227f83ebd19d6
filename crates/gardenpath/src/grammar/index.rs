//! From a right-hand side to its rules, in a few instructions and a few kilobytes.

use super::{Rule, Symbol};
use std::ops::Range;

/// An index of the rules of one arity by their children.
///
/// A tuple is split into its prefix (all symbols but the last) and its last symbol. Each prefix has a bit set over the
/// last symbols; a set bit's rank is the number of the tuple. So most look-ups, those of tuples without a rule, end at one bit
/// test, and the whole index of a layer of 16 symbols is 4 kB: it stays in the fastest cache.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TupleIndex {
    words_per_prefix: usize,
    words: Vec<Word>,
    /// The entries of tuple `t` are `first[t]..first[t + 1]`: one per parent.
    first: Vec<u32>,
    /// The last symbol of each tuple.
    last: Vec<Symbol>,
    /// The parent of each entry.
    parents: Vec<Symbol>,
    /// The identifier of the rule of each entry.
    rules: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Word {
    bits: u64,
    /// The number of tuples before this word.
    rank: u32,
}

impl TupleIndex {
    /// Indexes those of `rules` that have `arity` children out of `symbols`.
    pub fn new(arity: usize, symbols: usize, rules: &[Rule]) -> Self {
        let chosen = rules.iter().enumerate().filter(|(_, rule)| rule.children.len() == arity);
        // By children, then by parent: up to four bytes, which are one number with the identifier below it.
        let key =
            |rule: &Rule| rule.children.iter().chain([rule.parent]).fold(0, |key, symbol| key << 8 | u64::from(symbol));
        let mut keys: Vec<u64> = chosen.map(|(id, rule)| key(rule) << 32 | id as u64).collect();
        keys.sort_unstable();
        let order: Vec<u32> = keys.into_iter().map(|key| key as u32).collect();
        let words_per_prefix = symbols.div_ceil(64);
        let prefixes = symbols.pow(arity as u32 - 1);
        let mut words = vec![Word::default(); if order.is_empty() { 0 } else { prefixes * words_per_prefix }];
        let (mut first, mut last) = (Vec::new(), Vec::new());
        let mut previous = None;
        for (entry, &id) in order.iter().enumerate() {
            let children = rules[id as usize].children;
            if previous != Some(children) {
                let (&end, prefix) = children.as_slice().split_last().expect("children are not empty");
                let prefix = prefix.iter().fold(0, |number, &symbol| number * symbols + usize::from(symbol));
                words[prefix * words_per_prefix + usize::from(end) / 64].bits |= 1 << (end % 64);
                first.push(entry as u32);
                last.push(end);
                previous = Some(children);
            }
        }
        first.push(order.len() as u32);
        let mut rank = 0;
        for word in &mut words {
            word.rank = rank;
            rank += word.bits.count_ones();
        }
        let parents = order.iter().map(|&id| rules[id as usize].parent).collect();
        TupleIndex { words_per_prefix, words, first, last, parents, rules: order }
    }

    /// Whether no rule has this arity.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The number of entries: of rules of this arity.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// The entries of the tuple `prefix`, `last`. The index must not be empty.
    #[inline]
    pub fn find(&self, prefix: usize, last: Symbol) -> Range<usize> {
        let Some(word) = self.words.get(prefix * self.words_per_prefix + usize::from(last >> 6)) else { return 0..0 };
        let bit = 1u64 << (last & 63);
        if word.bits & bit == 0 {
            return 0..0;
        }
        let tuple = (word.rank + (word.bits & (bit - 1)).count_ones()) as usize;
        self.first[tuple] as usize..self.first[tuple + 1] as usize
    }

    /// The last symbol and the entries of every tuple that begins with `prefix`.
    #[inline]
    pub fn with_prefix(&self, prefix: usize) -> impl Iterator<Item = (Symbol, Range<usize>)> + '_ {
        let rank = |word: usize| self.words.get(word).map_or(self.last.len(), |word| word.rank as usize);
        let tuples = rank(prefix * self.words_per_prefix)..rank((prefix + 1) * self.words_per_prefix);
        tuples.map(|tuple| (self.last[tuple], self.first[tuple] as usize..self.first[tuple + 1] as usize))
    }

    /// The parent of an entry.
    #[inline]
    pub fn parent(&self, entry: usize) -> Symbol {
        self.parents[entry]
    }

    /// The identifier, in the layer, of the rule of an entry.
    #[inline]
    pub fn rule(&self, entry: usize) -> usize {
        self.rules[entry] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Children;

    #[test]
    fn finds_every_rule_and_nothing_else() {
        for symbols in [3usize, 64, 65, 255] {
            let (top, low) = ((symbols - 1) as u8, 0);
            let tuples = [(0, Children::pair(top, low)), (1, Children::pair(top, low)), (2, Children::pair(low, top))];
            let more = [(0, Children::triple(top, top, top)), (1, Children::triple(low, top, 1))];
            let rules: Vec<Rule> = tuples
                .into_iter()
                .chain(more)
                .map(|(parent, children)| Rule { parent, children, probability: 0.5 })
                .collect();
            let (pairs, triples) = (TupleIndex::new(2, symbols, &rules), TupleIndex::new(3, symbols, &rules));
            let parents = |index: &TupleIndex, prefix, last| {
                index.find(prefix, last).map(|entry| index.parent(entry)).collect::<Vec<_>>()
            };
            assert_eq!(parents(&pairs, symbols - 1, 0), [0, 1]);
            assert_eq!(parents(&pairs, 0, top), [2]);
            assert!(parents(&pairs, 0, 0).is_empty());
            assert_eq!(parents(&triples, symbols * symbols - 1, top), [0]);
            assert_eq!(parents(&triples, symbols - 1, 1), [1]);
            let found: usize = (0..symbols).map(|prefix| pairs.with_prefix(prefix).count()).sum();
            assert_eq!(found, 2, "tuples, not rules");
        }
    }
}
