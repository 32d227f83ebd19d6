//! Is a rule missing, or are the sentences that have no derivation just noise?
//!
//! A sentence with a typing error can be mended by many rules, and every such sentence asks for another one. Sentences that lack a
//! rule of the language all ask for the same.

use crate::chart::{Chart, Parser};
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Children, Grammar, Symbol};
use crate::semiring::Recognition;
use crate::span::{Node, Span};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The tokens of the sentences that are looked at, at most: enough to see a rule that is missing.
const TOKENS: usize = 20_000;

/// A rule that would mend a sentence: the level of its parent, the parent and the children.
pub(super) type Remedy = (usize, Symbol, Children);

/// How many of the sentences each single rule would mend.
#[derive(Clone, Debug, Default)]
pub(super) struct Remedies {
    pub counts: BTreeMap<Remedy, u32>,
    /// The number of sentences that were looked at.
    pub sentences: usize,
}

/// Finds all single rules that would let the grammar derive these sentences from their labels.
pub(super) fn remedies(grammar: &Grammar, corpus: &Corpus, underivable: &[usize]) -> Result<Remedies> {
    let parser = Parser::<Recognition>::new(grammar);
    let mut buffers = parser.buffers();
    let (mut found, mut tokens) = (Remedies::default(), 0);
    for &i in underivable {
        tokens += corpus.sentence(i).len();
        if tokens > TOKENS {
            break;
        }
        let chart = parser.parse_with(&mut buffers, corpus.sentence(i))?;
        found.sentences += 1;
        for remedy in of_sentence(grammar, chart, corpus.roots()[i]) {
            *found.counts.entry(remedy).or_default() += 1;
        }
    }
    Ok(found)
}

/// A symbol on a span that would complete a tree if it derived the span.
type Open = (usize, usize, Symbol);

fn of_sentence(grammar: &Grammar, chart: &Chart<Recognition>, label: Symbol) -> HashSet<Remedy> {
    let mut remedies = HashSet::new();
    let mut open: BTreeSet<Open> = BTreeSet::from([(0, chart.len(), label)]);
    for level in 0..grammar.depth() {
        let mut below = BTreeSet::new();
        let mut spans: Vec<(usize, usize)> = open.iter().map(|&(start, span, _)| (start, span)).collect();
        spans.dedup();
        for (start, span) in spans {
            let tuples = tuples(chart, level + 1, start, span);
            for &(_, _, symbol) in open.range((start, span, 0)..=(start, span, Symbol::MAX)) {
                remedies.extend(tuples.iter().map(|&children| (level, symbol, children)));
                if level + 1 < grammar.depth() {
                    open_children(grammar, chart, level, (start, span, symbol), &mut below);
                }
            }
        }
        open = below;
    }
    remedies
}

/// All tuples of symbols of `level` that derive a span together.
fn tuples(chart: &Chart<Recognition>, level: usize, start: usize, span: usize) -> BTreeSet<Children> {
    let below = chart.level(level);
    let end = start + span;
    let mut tuples = BTreeSet::new();
    for one in below.filled(start) {
        let middle = start + one.span as usize;
        for two in below.filled(middle).iter().take_while(|two| middle + two.span as usize <= end) {
            let next = middle + two.span as usize;
            let third = if next < end { chart.values(level, Span::new(next, end - next)) } else { &[] };
            for &(a, _) in below.cell(one.cell) {
                for &(b, _) in below.cell(two.cell) {
                    if next == end {
                        tuples.insert(Children::from([a, b]));
                    }
                    tuples.extend(third.iter().map(|&(c, _)| Children::from([a, b, c])));
                }
            }
        }
    }
    tuples
}

/// The children of an open node that are open themselves: all their sisters derive what they should.
fn open_children(grammar: &Grammar, chart: &Chart<Recognition>, level: usize, node: Open, below: &mut BTreeSet<Open>) {
    let (start, span, symbol) = node;
    let end = start + span;
    let layer = grammar.layer(level);
    let derives =
        |symbol, from: usize, to: usize| chart.value(level + 1, Node { span: (from..to).into(), symbol }).is_some();
    let lengths = grammar.shape().spans(level + 1);
    let ends = |from: usize| {
        let (least, most) = (from + lengths.start(), from + lengths.end());
        least..=most.min(end)
    };
    for rule in layer.rules_of(symbol) {
        match *layer.rules()[rule].children.as_slice() {
            [a, b] => {
                for middle in ends(start).filter(|&middle| lengths.contains(&(end - middle))) {
                    if derives(b, middle, end) {
                        below.insert((start, middle - start, a));
                    }
                    if derives(a, start, middle) {
                        below.insert((middle, end - middle, b));
                    }
                }
            }
            [a, b, c] => {
                for middle in ends(start) {
                    let first = derives(a, start, middle);
                    for next in ends(middle).filter(|&next| lengths.contains(&(end - next))) {
                        let (second, third) = (derives(b, middle, next), derives(c, next, end));
                        if second && third {
                            below.insert((start, middle - start, a));
                        }
                        if first && third {
                            below.insert((middle, next - middle, b));
                        }
                        if first && second {
                            below.insert((next, end - next, c));
                        }
                    }
                }
            }
            _ => unreachable!("children are pairs or triples"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ensemble, Seed};

    /// Without one of its rules, the sentences that a grammar no longer derives all ask for that rule.
    #[test]
    fn a_missing_rule_is_asked_for_by_every_sentence_that_needs_it() {
        for depth in 1..=3 {
            let truth = Ensemble::new(6, depth).fraction(0.3).sample(Seed::new(5)).unwrap();
            let corpus = Corpus::sample(&truth, Seed::new(6), 0..2000);
            for level in 0..depth {
                let mut layers: Vec<Vec<_>> = truth.layers().iter().map(|layer| layer.rules().to_vec()).collect();
                let lost = layers[level].remove(3);
                super::super::layers::normalise(&mut layers[level], 6);
                let grammar = Grammar::new(truth.sizes().to_vec(), truth.prior().to_vec(), layers).unwrap();
                let parser = Parser::<Recognition>::new(&grammar);
                let root_node =
                    |i: usize| Node { span: Span::new(0, corpus.sentence(i).len()), symbol: corpus.roots()[i] };
                let derives = |i: usize| parser.parse(corpus.sentence(i)).unwrap().value(0, root_node(i)).is_some();
                let underivable: Vec<usize> = (0..corpus.len()).filter(|&i| !derives(i)).take(20).collect();
                let found = remedies(&grammar, &corpus, &underivable).unwrap();
                let asked = found.counts.get(&(level, lost.parent, lost.children)).copied().unwrap_or(0);
                // A sentence may use the rule twice; then no single use mends it, except at the root.
                assert!(
                    asked as usize * 10 >= 8 * underivable.len() && underivable.len() > 5,
                    "{depth} {level}: {asked}"
                );
                // Every remedy does mend the sentence it was found for.
                let remedy = of_sentence(
                    &grammar,
                    &parser.parse(corpus.sentence(underivable[0])).unwrap(),
                    corpus.roots()[underivable[0]],
                );
                for &(level, parent, children) in remedy.iter().take(50) {
                    let mut layers: Vec<Vec<_>> = grammar.layers().iter().map(|layer| layer.rules().to_vec()).collect();
                    layers[level].push(crate::Rule { parent, children, probability: 0.1 });
                    super::super::layers::normalise(&mut layers[level], 6);
                    let mended = Grammar::new(truth.sizes().to_vec(), truth.prior().to_vec(), layers).unwrap();
                    let chart = Parser::<Recognition>::new(&mended).parse(corpus.sentence(underivable[0])).unwrap();
                    assert!(chart.value(0, root_node(underivable[0])).is_some());
                }
            }
        }
    }
}
