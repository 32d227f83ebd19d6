//! How often each rule of a grammar is used, and the probabilities that follow: inside and outside, given the labels.

use crate::chart::{OutsideBuffers, Parser};
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Grammar, Rule};
use crate::inside::{decay, is_safe};
use crate::learn::shards::merge_in_order;
use crate::magnitude::Magnitude;
use crate::semiring::{Recognition, Semiring};
use crate::span::{Node, Span};
use std::ops::Range;

/// How often each rule is expected to have been used, given the sentences and their labels.
pub(crate) struct Uses {
    /// `[layer][rule]`
    pub counts: Vec<Vec<f64>>,
    /// The sentences that the grammar cannot derive from their label.
    pub underivable: Vec<usize>,
    /// The log-likelihood of the others given their labels.
    pub log_likelihood: f64,
}

impl Uses {
    fn none(grammar: &Grammar) -> Self {
        let counts = grammar.layers().iter().map(|layer| vec![0.0; layer.rules().len()]).collect();
        Uses { counts, underivable: Vec::new(), log_likelihood: 0.0 }
    }

    fn add(&mut self, other: &Uses) {
        self.underivable.extend(&other.underivable);
        self.log_likelihood += other.log_likelihood;
        for (sums, counts) in self.counts.iter_mut().zip(&other.counts) {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
}

/// Counts the uses of all rules in some sentences.
pub(crate) fn count_uses(grammar: &Grammar, corpus: &Corpus, sentences: Range<usize>) -> Result<Uses> {
    let longest = sentences.clone().map(|i| corpus.sentence(i).len()).max().unwrap_or(0);
    if is_safe(decay(grammar), longest) {
        count_with(&Parser::<f64>::new(grammar), corpus, sentences, |value, total| value / total, |total| total.ln())
    } else {
        let share = |value: &Magnitude, total: &Magnitude| (*value / *total).value();
        count_with(&Parser::<Magnitude>::new(grammar), corpus, sentences, share, |total| total.ln())
    }
}

fn count_with<S: Semiring>(
    parser: &Parser<S>,
    corpus: &Corpus,
    sentences: Range<usize>,
    share: impl Fn(&S, &S) -> f64 + Sync,
    ln: impl Fn(&S) -> f64 + Sync,
) -> Result<Uses> {
    let grammar = parser.grammar();
    let count_shard = |shard: Range<usize>| -> Result<Uses> {
        let (mut buffers, mut outside) = (parser.buffers(), OutsideBuffers::default());
        let mut roots = vec![S::zero(); grammar.classes()];
        let mut uses = Uses::none(grammar);
        for i in shard {
            let chart = parser.parse_with(&mut buffers, corpus.sentence(i))?;
            let root = corpus.roots()[i];
            let Some(total) = chart.value(0, Node { span: Span::new(0, chart.len()), symbol: root }) else {
                uses.underivable.push(i);
                continue;
            };
            uses.log_likelihood += ln(total);
            roots[usize::from(root)] = S::one();
            parser.check_outside(chart)?;
            let outside = parser.outside_with(&mut outside, chart, &roots);
            for (level, counts) in uses.counts.iter_mut().enumerate() {
                for (rule, value) in outside.rule_uses(level) {
                    counts[*rule as usize] += share(value, total);
                }
            }
            roots[usize::from(root)] = S::zero();
        }
        Ok(uses)
    };
    let mut total = Uses::none(grammar);
    merge_in_order(corpus, sentences, count_shard, |uses| total.add(&uses))?;
    Ok(total)
}

/// The sentences that a grammar cannot derive from their label.
pub(crate) fn underivable(grammar: &Grammar, corpus: &Corpus, sentences: Range<usize>) -> Result<Vec<usize>> {
    let parser = Parser::<Recognition>::new(grammar);
    let find = |shard: Range<usize>| -> Result<Vec<usize>> {
        let (mut buffers, mut found) = (parser.buffers(), Vec::new());
        for i in shard {
            let chart = parser.parse_with(&mut buffers, corpus.sentence(i))?;
            let root = Node { span: Span::new(0, chart.len()), symbol: corpus.roots()[i] };
            found.extend(chart.value(0, root).is_none().then_some(i));
        }
        Ok(found)
    };
    let mut all = Vec::new();
    merge_in_order(corpus, sentences, find, |found| all.extend(found))?;
    Ok(all)
}

/// The same rules with probabilities in proportion to their uses. Rules without any use are dropped, unless their symbol has
/// no other.
pub(crate) fn reestimate(grammar: &Grammar, uses: &Uses) -> Result<Grammar> {
    let layers = grammar.layers().iter().zip(&uses.counts).map(|(layer, counts)| {
        let mut totals = vec![0.0; layer.parents()];
        layer.rules().iter().zip(counts).for_each(|(rule, count)| totals[usize::from(rule.parent)] += count);
        let share = |(rule, count): (&Rule, &f64)| {
            let total = totals[usize::from(rule.parent)];
            let probability = if total > 0.0 { count / total } else { rule.probability };
            (probability > 0.0).then_some(Rule { probability, ..*rule })
        };
        layer.rules().iter().zip(counts).filter_map(share).collect()
    });
    Grammar::new(grammar.sizes().to_vec(), grammar.prior().to_vec(), layers.collect())
}
