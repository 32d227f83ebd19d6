//! Is a rule missing, or are the sentences without a derivation just noise?
//!
//! A sentence with a typing error can be mended by many rules, and every such sentence asks for another one. Sentences that lack a
//! rule of the language all ask for the same.

use crate::arity::Arities;
use crate::chart::{Chart, Parser};
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Children, Grammar, Symbol};
use crate::semiring::Recognition;
use crate::shape::Shape;
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

/// Finds all single rules of these arities that would let the grammar derive these sentences from their labels.
pub(super) fn remedies(
    grammar: &Grammar,
    arities: Arities,
    corpus: &Corpus,
    underivable: &[usize],
) -> Result<Remedies> {
    let parser = Parser::<Recognition>::new(grammar);
    let mut buffers = parser.buffers();
    let (mut found, mut tokens) = (Remedies::default(), 0);
    let shape = grammar.shape();
    for &i in underivable {
        tokens += corpus.sentence(i).len();
        if tokens > TOKENS {
            break;
        }
        let chart = parser.parse_with(&mut buffers, corpus.sentence(i))?;
        found.sentences += 1;
        for remedy in of_sentence(grammar, &shape, arities, chart, corpus.roots()[i]) {
            *found.counts.entry(remedy).or_default() += 1;
        }
    }
    Ok(found)
}

/// The rules that would mend a sentence. An open node would complete a tree if it derived its span.
fn of_sentence(
    grammar: &Grammar,
    shape: &Shape,
    arities: Arities,
    chart: &Chart<Recognition>,
    label: Symbol,
) -> HashSet<Remedy> {
    let mut remedies = HashSet::new();
    let mut open = BTreeSet::from([Node { span: Span::new(0, chart.len()), symbol: label }]);
    for level in 0..grammar.depth() {
        let mut below = BTreeSet::new();
        let nodes: Vec<Node> = open.into_iter().collect();
        for same in nodes.chunk_by(|x, y| x.span == y.span) {
            let tuples = tuples(chart, level + 1, same[0].span, arities);
            let spans = spans(chart, level + 1, same[0].span, grammar.sizes()[level + 1]);
            for &Node { span, symbol } in same {
                remedies.extend(tuples.iter().map(|&children| (level, symbol, children)));
                let layer = grammar.layer(level);
                for children in layer.rules_of(symbol).map(|rule| layer.rules()[rule].children) {
                    let open = open_children(&children, span, &spans);
                    below.extend(open.filter(|child| shape.has_span(level + 1, child.span.len)));
                }
            }
        }
        open = below;
    }
    remedies
}

/// All tuples of symbols of `level` that derive a span together.
fn tuples(chart: &Chart<Recognition>, level: usize, span: Span, arities: Arities) -> BTreeSet<Children> {
    let (below, mut found) = (chart.level(level), BTreeSet::new());
    below.for_each_adjacent(span.start, arities.most(), |cells, end| {
        if end == span.end() && arities.contains(cells.len()) {
            below.for_each_tuple(cells, |tuple, _| found.extend(Children::from_slice(tuple)));
        }
    });
    found
}

/// The parts of a span that each symbol of `level` derives.
fn spans(chart: &Chart<Recognition>, level: usize, whole: Span, symbols: usize) -> Vec<Vec<Span>> {
    let mut spans = vec![Vec::new(); symbols];
    for cell in chart.cells(level).filter(|cell| cell.span.start >= whole.start && cell.span.end() <= whole.end()) {
        cell.values.iter().for_each(|&(symbol, _)| spans[usize::from(symbol)].push(cell.span));
    }
    spans
}

/// The children of an open node that are open themselves: all their sisters derive what they should.
fn open_children<'c>(children: &'c Children, whole: Span, spans: &[Vec<Span>]) -> impl Iterator<Item = Node> + use<'c> {
    // Where each child can begin if those before it derive what is there, and end if those after it do.
    let mut begins = vec![BTreeSet::from([whole.start])];
    for child in children.iter() {
        let own = spans[usize::from(child)].iter().filter(|span| begins[begins.len() - 1].contains(&span.start));
        let next = own.map(|span| span.end()).collect();
        begins.push(next);
    }
    let mut ends = vec![BTreeSet::from([whole.end()])];
    for &child in children.as_slice().iter().rev() {
        let own = spans[usize::from(child)].iter().filter(|span| ends[ends.len() - 1].contains(&span.end()));
        let next = own.map(|span| span.start).collect();
        ends.push(next);
    }
    children.iter().enumerate().flat_map(move |(k, symbol)| {
        let ends = &ends[children.len() - 1 - k];
        let open = |&from: &usize| ends.range(from + 1..).map(move |&to| Node { span: (from..to).into(), symbol });
        begins[k].iter().flat_map(open).collect::<Vec<Node>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ensemble, PerArity, RuleCount, Seed};

    /// Without one of its rules, the sentences that a grammar no longer derives all ask for that rule.
    #[test]
    fn a_missing_rule_is_asked_for_by_every_sentence_that_needs_it() {
        let sets = [(1, [2, 3].into()), (2, [2, 3].into()), (3, [2, 3].into()), (2, [4].into()), (2, [2, 3, 4].into())];
        for (depth, arities) in sets {
            let even = |arity| (arity, 1.0 / Arities::iter(arities).count() as f64);
            let ensemble = Ensemble::new(6, depth).arities(arities.iter().map(even).collect::<PerArity<f64>>());
            let truth = ensemble.fraction(0.3).rules(4, RuleCount::Number(30)).sample(Seed::new(5)).unwrap();
            let corpus = Corpus::sample(&truth, Seed::new(6), 0..2000);
            for level in 0..depth {
                let mut layers: Vec<Vec<_>> = truth.layers().iter().map(|layer| layer.rules().to_vec()).collect();
                let lost = layers[level].remove(3);
                super::super::draft::normalise(&mut layers[level], 6);
                let grammar = Grammar::new(truth.sizes().to_vec(), truth.prior().to_vec(), layers).unwrap();
                let parser = Parser::<Recognition>::new(&grammar);
                let root_node =
                    |i: usize| Node { span: Span::new(0, corpus.sentence(i).len()), symbol: corpus.roots()[i] };
                let derives = |i: usize| parser.parse(corpus.sentence(i)).unwrap().value(0, root_node(i)).is_some();
                let underivable: Vec<usize> = (0..corpus.len()).filter(|&i| !derives(i)).take(20).collect();
                let found = remedies(&grammar, arities, &corpus, &underivable).unwrap();
                let asked = found.counts.get(&(level, lost.parent, lost.children)).copied().unwrap_or(0);
                // A sentence may use the rule twice; then no single use mends it, except at the root.
                assert!(
                    asked as usize * 10 >= 8 * underivable.len() && underivable.len() > 5,
                    "{depth} {level}: {asked}"
                );
                // Every remedy does mend the sentence it was found for.
                let remedy = of_sentence(
                    &grammar,
                    &grammar.shape(),
                    arities,
                    &parser.parse(corpus.sentence(underivable[0])).unwrap(),
                    corpus.roots()[underivable[0]],
                );
                for &(level, parent, children) in remedy.iter().take(50) {
                    let mut layers: Vec<Vec<_>> = grammar.layers().iter().map(|layer| layer.rules().to_vec()).collect();
                    layers[level].push(crate::Rule { parent, children, probability: 0.1 });
                    super::super::draft::normalise(&mut layers[level], 6);
                    let mended = Grammar::new(truth.sizes().to_vec(), truth.prior().to_vec(), layers).unwrap();
                    let chart = Parser::<Recognition>::new(&mended).parse(corpus.sentence(underivable[0])).unwrap();
                    assert!(chart.value(0, root_node(underivable[0])).is_some());
                }
            }
        }
    }
}
