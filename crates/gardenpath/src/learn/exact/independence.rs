//! Whether a grammar's rules ignore their context, as those of a context-free grammar must.
//!
//! If a grammar is right, trees that are drawn from its posterior for real sentences and their labels are distributed like the
//! trees that made the sentences. Which rule rewrites a symbol is then independent of everything around it: the label, the nodes
//! beside it, the children of those. A symbol that merges two true ones, or trees that are cut in the wrong places, leave a
//! dependence behind. Likelihoods need not show it: a grammar fitted to a corpus expects the likelihood that it finds.

use super::contingency::Pearson;
use crate::chart::Parser;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Grammar, Layer, Symbol};
use crate::learn::shards::merge_in_order;
use crate::magnitude::Magnitude;
use crate::seed::Seed;
use crate::tree::Tree;
use rayon::prelude::*;
use std::ops::Range;

/// What a rule must not depend on.
const KINDS: [&str; 5] = [
    "the label",
    "its left neighbour",
    "its right neighbour",
    "the last child of its left neighbour",
    "the first child of its right neighbour",
];

/// The column of a node at the border of a sentence.
const BORDER: u32 = 256;

/// The deviation, in units of a normal law, above which a coincidence is out of the question: one in a thousand million. Hundreds of
/// symbols in a thousand runs raise no false alarm.
pub(super) const LIMIT: f64 = 6.0;

/// The same for single rules. There are tens of thousands, and the statistic of a few observations has a heavier tail than a gamma law: of
/// 17,000 right rules one reached 6.1.
const RULE_LIMIT: f64 = 8.0;

/// The clearest dependence of a rule on its context, and the two symbols that differ least.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    /// The deviation from independence that exceeds its limit by the largest factor: (deviation, limit, what it concerns).
    pub worst: Option<(f64, f64, String)>,
    /// The smallest deviation between two symbols of a level: (deviation, level, symbols).
    pub closest: Option<(f64, usize, [Symbol; 2])>,
}

/// Observations of one level: for each kind of context, one word per node, the rule in its high half and the column in its low half.
#[derive(Clone, Default)]
pub(super) struct Observed([Vec<u64>; 5]);

/// Draws one tree for each sentence and looks at all nodes between root and tokens, level by level.
pub(super) fn observe(
    grammar: &Grammar,
    corpus: &Corpus,
    sentences: Range<usize>,
    seed: Seed,
) -> Result<Vec<Observed>> {
    let parser = Parser::<Magnitude>::new(grammar);
    let seed = seed.child("trees");
    let levels = grammar.depth() - 1;
    let observe_shard = |shard: Range<usize>| -> Result<Vec<Observed>> {
        let mut observed = vec![Observed::default(); levels];
        let mut buffers = parser.buffers();
        for i in shard {
            let chart = parser.parse_with(&mut buffers, corpus.sentence(i))?;
            if let Some(tree) = parser.sample_tree_of(chart, corpus.roots()[i], &mut seed.stream(i as u64)) {
                observed
                    .iter_mut()
                    .zip(1..)
                    .for_each(|(observed, level)| observed.add(grammar.layer(level), &tree, level));
            }
        }
        Ok(observed)
    };
    let mut all = vec![Observed::default(); levels];
    merge_in_order(corpus, sentences, observe_shard, |shard| {
        for (all, shard) in all.iter_mut().zip(shard) {
            all.0.iter_mut().zip(shard.0).for_each(|(all, words)| all.extend(words));
        }
    })?;
    Ok(all)
}

/// Tests all symbols below the root, given the nodes of each half of the sentences.
pub(super) fn test(grammar: &Grammar, [first, second]: &[Vec<Observed>; 2]) -> Evidence {
    let mut evidence = Evidence::default();
    for (level, (first, second)) in (1..).zip(first.iter().zip(second)) {
        evidence.add_level(grammar, level, [first, second]);
    }
    evidence
}

impl Observed {
    /// The rule of each node with the symbol on its left, and with that on its right; none at the border of a sentence.
    pub fn neighbours(&self) -> [impl Iterator<Item = (usize, Option<Symbol>)> + '_; 2] {
        let [_, left, right, ..] = &self.0;
        [left, right].map(|words| words.iter().map(|word| ((word >> 32) as usize, Symbol::try_from(*word as u32).ok())))
    }

    fn add(&mut self, layer: &Layer, tree: &Tree, level: usize) {
        let nodes: Vec<_> = tree.rules(level).collect();
        for (k, &(parent, children)) in nodes.iter().enumerate() {
            let own = layer.rules_with(children).find(|&rule| layer.rules()[rule].parent == parent);
            let rule = own.expect("a tree of the grammar uses its rules") as u64;
            let left = k.checked_sub(1).map(|k| nodes[k]);
            let right = nodes.get(k + 1);
            let last = |children: crate::Children| children.as_slice()[children.len() - 1];
            let columns = [
                Some(tree.root()),
                left.map(|(symbol, _)| symbol),
                right.map(|(symbol, _)| *symbol),
                left.map(|(_, children)| last(children)),
                right.map(|(_, children)| children.as_slice()[0]),
            ];
            for (words, column) in self.0.iter_mut().zip(columns) {
                words.push(rule << 32 | u64::from(column.map_or(BORDER, u32::from)));
            }
        }
    }
}

impl Evidence {
    fn add_level(&mut self, grammar: &Grammar, level: usize, observed: [&Observed; 2]) {
        let symbols = grammar.sizes()[level];
        // How different two symbols are: the largest deviation over all kinds of context.
        let mut different = vec![f64::NEG_INFINITY; symbols * symbols];
        let tests = (0..KINDS.len()).into_par_iter().map(|kind| test_kind(grammar, level, kind, observed));
        for (evidence, deviations) in tests.collect::<Vec<_>>() {
            if let Some((deviation, limit, what)) = evidence.worst {
                self.observe(deviation, limit, || what);
            }
            different.iter_mut().zip(deviations).for_each(|(most, deviation)| *most = most.max(deviation));
        }
        for x in 0..symbols {
            for y in x + 1..symbols {
                let deviation = different[x * symbols + y];
                if self.closest.is_none_or(|(least, ..)| deviation < least) {
                    self.closest = Some((deviation, level, [x as Symbol, y as Symbol]));
                }
            }
        }
    }

    fn observe(&mut self, deviation: f64, limit: f64, what: impl FnOnce() -> String) {
        if self.worst.as_ref().is_none_or(|(worst, its_limit, _)| deviation / limit > worst / its_limit) {
            self.worst = Some((deviation, limit, what()));
        }
    }
}

/// Tests the symbols of a level for one kind of context; returns the clearest dependence, and how different any two symbols are.
fn test_kind(grammar: &Grammar, level: usize, kind: usize, observed: [&Observed; 2]) -> (Evidence, Vec<f64>) {
    let (layer, symbols, mut evidence) = (grammar.layer(level), grammar.sizes()[level], Evidence::default());
    let cells = count(observed.map(|half| half.0[kind].as_slice()), layer.rules().len());
    let kind = KINDS[kind];
    let mut pooled = Pearson::default();
    let mut profiles = Vec::with_capacity(symbols);
    let mut rest = cells.as_slice();
    for z in 0..symbols {
        let rules = layer.rules_of(z as Symbol);
        let (own, after) = rest.split_at(rest.partition_point(|cell| (cell.0 as usize) < rules.end));
        rest = after;
        let own: Vec<_> = own.iter().map(|&(rule, column, n)| (rule - rules.start as u32, column, n)).collect();
        let test = Pearson::new(&own);
        pooled = pooled.merge(test);
        let name = grammar.name(level, z as Symbol);
        evidence.observe(test.deviation(), LIMIT, || {
            format!("the rule that symbol {name} of level {level} takes depends on {kind}")
        });
        let sums = profile(&own);
        for row in own.chunk_by(|x, y| x.0 == y.0) {
            let rule = rules.start + row[0].0 as usize;
            let deviation = against_sisters(row, &sums).deviation();
            evidence.observe(deviation, RULE_LIMIT, || {
                let children = layer.rules()[rule].children;
                let names: Vec<_> = children.iter().map(|child| grammar.name(level + 1, child)).collect();
                format!("the use of the rule {name} -> {} depends on {kind}", names.join(" "))
            });
        }
        profiles.push(sums);
    }
    evidence.observe(pooled.deviation(), LIMIT, || {
        format!("the rule that a symbol of level {level} takes depends on {kind}")
    });
    let mut different = vec![f64::NEG_INFINITY; symbols * symbols];
    for x in 0..symbols {
        for y in x + 1..symbols {
            let both: Vec<_> = [x, y]
                .iter()
                .zip(0..)
                .flat_map(|(&z, row)| profiles[z].iter().map(move |&(column, n)| (row, column, n)))
                .collect();
            different[x * symbols + y] = Pearson::new(&both).deviation();
        }
    }
    (evidence, different)
}

/// How often each rule was seen in each column, as (rule, column, count), in order.
fn count(words: [&[u64]; 2], rules: usize) -> Vec<(u32, u32, u32)> {
    let columns = BORDER as usize + 1;
    let mut counts = vec![0; rules * columns];
    words.into_iter().flatten().for_each(|word| counts[(word >> 32) as usize * columns + *word as u32 as usize] += 1);
    let cell = |(place, &count): (usize, &u32)| ((place / columns) as u32, (place % columns) as u32, count);
    counts.iter().enumerate().filter(|(_, count)| **count > 0).map(cell).collect()
}

/// One row of a table against the sum of the others, given the sums of all columns.
fn against_sisters(row: &[(u32, u32, u32)], sums: &[(u32, u32)]) -> Pearson {
    let mut own = row.iter().peekable();
    let mut cells = Vec::with_capacity(2 * sums.len());
    for &(column, total) in sums {
        let count = own.next_if(|cell| cell.1 == column).map_or(0, |cell| cell.2);
        cells.extend([(0, column, count), (1, column, total - count)].into_iter().filter(|cell| cell.2 > 0));
    }
    Pearson::new(&cells)
}

/// The columns of a table, summed over its rows.
fn profile(cells: &[(u32, u32, u32)]) -> Vec<(u32, u32)> {
    let mut sums = std::collections::BTreeMap::new();
    cells.iter().for_each(|&(_, column, n)| *sums.entry(column).or_insert(0) += n);
    sums.into_iter().collect()
}
