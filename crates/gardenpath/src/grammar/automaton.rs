//! The rules of a layer as an automaton that reads their right-hand sides from left to right.
//!
//! A state is a prefix of right-hand sides, a symbol leads to the next state, and a state that is a whole right-hand side lists the
//! rules that have it. Parsers, trees, the learner and the matrix kernel all walk this one structure, for any number of children.

use super::{Children, Rule, Symbol};
use std::ops::Range;

/// A prefix of right-hand sides. States are numbered by length and then by their symbols; 0 is the empty prefix.
pub(crate) type State = u32;

/// The right-hand sides of a layer and all their prefixes.
///
/// Each state has a bit set over the symbols that may follow; the rank of a bit is the number of the next state. Most look-ups of a third
/// symbol fail and end at one bit test; those of the first two are in a table. A layer of 16 symbols takes a few kilobytes: it stays in
/// the fastest cache.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Automaton {
    words_per_state: usize,
    /// `[state][symbol / 64]`, for all states but those of the longest rules.
    words: Vec<Word>,
    /// The entries of state `s` are `first[s]..first[s + 1]`: one per rule with this right-hand side.
    first: Vec<u32>,
    /// The last symbol of each state.
    last: Vec<Symbol>,
    /// The parent of each entry.
    parents: Vec<Symbol>,
    /// The identifier of the rule of each entry.
    rules: Vec<u32>,
    /// The states of length `k` are `of_length[k]..of_length[k + 1]`.
    of_length: Vec<State>,
    /// The states of all pairs of symbols, `[first][second]`, or 0. Every walk begins here, and most pairs are found.
    pairs: Vec<State>,
    symbols: usize,
    has_unary: bool,
    /// How many of the longest rules continue a prefix, on average and rounded up.
    rules_per_prefix: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Word {
    bits: u64,
    /// The first of the states to which the symbols of this word lead.
    next: State,
}

impl Automaton {
    /// Compiles rules whose children are below `symbols`, sorted or not.
    pub fn new(symbols: usize, rules: &[Rule]) -> Self {
        let longest = rules.iter().map(|rule| rule.children.len()).max().unwrap_or(0);
        // Right-hand sides as numbers, in the order of a dictionary: a byte per symbol, and 0 where there is none.
        let side = |rule: &Rule| {
            rule.children.iter().fold((0, 64), |(key, at), s| (key | (u64::from(s) + 1) << (at - 8), at - 8)).0
        };
        let mut order: Vec<(u64, u64)> =
            rules.iter().zip(0..).map(|(rule, id)| (side(rule), u64::from(rule.parent) << 32 | id)).collect();
        order.sort_unstable();
        let byte = |side: u64, place: usize| (side >> (56 - 8 * place)) as u8;
        let words_per_state = symbols.div_ceil(64);
        let mut automaton = Automaton {
            words_per_state,
            words: Vec::new(),
            first: Vec::new(),
            last: vec![0],
            parents: Vec::with_capacity(rules.len()),
            rules: Vec::with_capacity(rules.len()),
            of_length: vec![0],
            pairs: Vec::new(),
            symbols,
            has_unary: rules.iter().any(|rule| rule.children.len() == 1),
            rules_per_prefix: 0,
        };
        // In this order the rules that share a prefix are neighbours: those of each state are a range.
        let mut states: Vec<Range<usize>> = std::iter::once(0..order.len()).collect();
        for length in 0..=longest {
            let mut next = Vec::new();
            automaton.of_length.push(automaton.last.len() as State);
            for range in states {
                automaton.first.push(automaton.rules.len() as u32);
                // The rule that ends here comes first.
                let mut start = range.start;
                let ends = |&&(side, _): &&(u64, u64)| length == Children::MAX || byte(side, length) == 0;
                for &(_, id) in order[range.clone()].iter().take_while(ends) {
                    automaton.parents.push((id >> 32) as Symbol);
                    automaton.rules.push(id as u32);
                    start += 1;
                }
                if length < longest {
                    let words = automaton.words.len();
                    automaton.words.resize(words + words_per_state, Word::default());
                    for run in order[start..range.end].chunk_by(|x, y| byte(x.0, length) == byte(y.0, length)) {
                        let symbol = byte(run[0].0, length) - 1;
                        automaton.words[words + usize::from(symbol >> 6)].bits |= 1 << (symbol & 63);
                        automaton.last.push(symbol);
                        next.push(start..start + run.len());
                        start += run.len();
                    }
                }
            }
            states = next;
        }
        automaton.first.push(automaton.rules.len() as u32);
        let mut next = 1;
        for word in &mut automaton.words {
            word.next = next;
            next += word.bits.count_ones();
        }
        let lengths: Vec<usize> = automaton.of_length.windows(2).map(|w| (w[1] - w[0]) as usize).collect();
        if longest > 0 {
            automaton.rules_per_prefix = lengths[longest].div_ceil(lengths[longest - 1]);
        }
        automaton.pairs = vec![0; symbols * symbols];
        for first in automaton.of_length(1) {
            for pair in automaton.extensions(first) {
                let [a, b] = [first, pair].map(|state| usize::from(automaton.last[state as usize]));
                automaton.pairs[a * symbols + b] = pair;
            }
        }
        automaton
    }

    /// Whether some rule has a single child.
    #[inline]
    pub fn has_unary(&self) -> bool {
        self.has_unary
    }

    /// How many of the longest rules continue a prefix of one child less, on average.
    #[inline]
    pub fn rules_per_prefix(&self) -> usize {
        self.rules_per_prefix
    }

    /// The largest number of children of a rule.
    #[inline]
    pub fn longest(&self) -> usize {
        self.of_length.len() - 2
    }

    /// The lengths of the prefixes that are summed over: from two children to one less than the longest rules have, but pairs always.
    pub fn inner_lengths(&self) -> Range<usize> {
        2..self.longest().max(3).min(self.longest() + 1)
    }

    /// The states of prefixes of this length.
    #[inline]
    pub fn of_length(&self, length: usize) -> Range<State> {
        match self.of_length.get(length..length + 2) {
            Some(&[first, end]) => first..end,
            _ => 0..0,
        }
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.last.len()
    }

    /// The number of entries: of rules.
    pub fn entries(&self) -> usize {
        self.rules.len()
    }

    /// The state after one more symbol. The state must not be one of the longest rules.
    #[inline]
    pub fn next(&self, state: State, symbol: Symbol) -> Option<State> {
        let word = self.words[state as usize * self.words_per_state + usize::from(symbol >> 6)];
        let bit = 1u64 << (symbol & 63);
        (word.bits & bit != 0).then(|| word.next + (word.bits & (bit - 1)).count_ones())
    }

    /// The state of a pair, quicker than by two steps.
    #[inline]
    pub fn pair(&self, a: Symbol, b: Symbol) -> Option<State> {
        let state = self.pairs[usize::from(a) * self.symbols + usize::from(b)];
        (state != 0).then_some(state)
    }

    /// The state of a right-hand side or of a prefix.
    pub fn find(&self, symbols: &[Symbol]) -> Option<State> {
        if symbols.len() > self.longest() {
            return None;
        }
        symbols.iter().try_fold(0, |state, &symbol| self.next(state, symbol))
    }

    /// The states after one more symbol; [`last`](Self::last) tells which.
    #[inline]
    pub fn extensions(&self, state: State) -> Range<State> {
        let next = |word: usize| self.words.get(word).map_or(self.last.len() as State, |word| word.next);
        next(state as usize * self.words_per_state)..next((state as usize + 1) * self.words_per_state)
    }

    /// The last symbol of a state that is not empty.
    #[inline]
    pub fn last(&self, state: State) -> Symbol {
        self.last[state as usize]
    }

    /// The entries of the rules whose right-hand side this state is, by parent.
    #[inline]
    pub fn entries_of(&self, state: State) -> Range<usize> {
        self.first[state as usize] as usize..self.first[state as usize + 1] as usize
    }

    /// The entries of all rules with this right-hand side.
    pub fn entries_with(&self, children: Children) -> Range<usize> {
        self.find(children.as_slice()).map_or(0..0, |state| self.entries_of(state))
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

    #[test]
    fn finds_every_rule_and_nothing_else() {
        for symbols in [3usize, 64, 65, 255] {
            let (top, low) = ((symbols - 1) as u8, 0);
            let sides: [(Symbol, &[Symbol]); 8] = [
                (0, &[top, low]),
                (1, &[top, low]),
                (2, &[low, top]),
                (0, &[top]),
                (0, &[top, top, top]),
                (1, &[low, top, 1]),
                (2, &[low, top, 1, top]),
                (2, &[1, 1, 1, 1, 1, 1, 1, top]),
            ];
            let rules: Vec<Rule> = sides
                .iter()
                .map(|&(parent, side)| Rule { parent, children: Children::from_slice(side).unwrap(), probability: 0.5 })
                .collect();
            let automaton = Automaton::new(symbols, &rules);
            assert_eq!((automaton.longest(), automaton.entries()), (8, rules.len()));
            for (parent, side) in sides {
                let entries = automaton.entries_with(Children::from_slice(side).unwrap());
                let expected: Vec<usize> = (0..sides.len()).filter(|&k| sides[k].1 == side).collect();
                assert_eq!(entries.clone().map(|entry| automaton.rule(entry)).collect::<Vec<_>>(), expected);
                assert!(entries.map(|entry| automaton.parent(entry)).any(|found| found == parent));
            }
            assert_eq!(automaton.find(&[low, low]), None);
            assert!(automaton.entries_with(Children::from([low])).is_empty(), "a prefix, not a rule");
            let after = |side: &[Symbol]| {
                let states = automaton.extensions(automaton.find(side).unwrap());
                states.map(|state| automaton.last(state)).collect::<Vec<_>>()
            };
            assert_eq!(after(&[]), [low, 1, top]);
            assert_eq!(after(&[top]), [low, top]);
            assert_eq!(after(&[low, top, 1]), [top]);
            let lengths: Vec<usize> = (0..10).map(|length| automaton.of_length(length).len()).collect();
            assert_eq!(lengths, [1, 3, 4, 3, 2, 1, 1, 1, 1, 0]);
        }
    }

    #[test]
    fn no_rules_have_one_state() {
        let automaton = Automaton::new(4, &[]);
        assert_eq!((automaton.longest(), automaton.of_length(0), automaton.of_length(1)), (0, 0..1, 0..0));
        assert_eq!(automaton.find(&[0]), None);
    }
}
