//! The posterior probabilities of spans and rules: inside times outside.

use super::template::check_memory;
use super::{Chart, Parser};
use crate::error::Result;
use crate::magnitude::Magnitude;
use crate::span::Node;

/// The posterior probabilities of spans and rules given the sentence.
#[derive(Clone, Debug)]
pub struct Marginals {
    /// `nodes[level]`: each node that some derivation has, with its probability.
    pub nodes: Vec<Vec<(Node, f64)>>,
    /// `rules[level][rule]`: how often the derivation is expected to use the rule.
    pub rules: Vec<Vec<f64>>,
}

impl Parser<'_, Magnitude> {
    /// The marginals of a chart under the grammar's prior, or `None` if the sentence is impossible.
    ///
    /// A chart that would not fit into memory together with its outside values and marginals is refused.
    ///
    /// ```
    /// use gardenpath::{Ensemble, Magnitude, Parser, Seed, Span};
    ///
    /// let grammar = Ensemble::new(3, 2).fraction(1.0).sample(Seed::new(1))?;
    /// let parser = Parser::<Magnitude>::new(&grammar);
    /// let marginals = parser.marginals(&parser.parse(&[0, 1, 2, 0, 1])?)?.unwrap();
    /// // Two trees, 2 + 3 and 3 + 2, are equally likely.
    /// let first: f64 = marginals.nodes[1].iter().filter(|(node, _)| node.span == Span::new(0, 2)).map(|(_, p)| p).sum();
    /// assert!((first - 0.5).abs() < 1e-12);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn marginals(&self, chart: &Chart<Magnitude>) -> Result<Option<Marginals>> {
        let entry = size_of::<Magnitude>() + size_of::<(Node, f64)>();
        check_memory(chart.len(), chart.bytes() + chart.entries() * entry as u64)?;
        let prior: Vec<Magnitude> = self.grammar().prior().iter().map(|&p| Magnitude::new(p)).collect();
        let mut total = Magnitude::ZERO;
        for &(root, value) in chart.root_entries() {
            total += value * prior[usize::from(root)];
        }
        if total.is_zero() {
            return Ok(None);
        }
        let outside = self.outside(chart, &prior);
        let expected = self.grammar().layers().iter().enumerate().map(|(level, layer)| {
            let mut counts = vec![0.0; layer.rules().len()];
            outside.rule_uses(level).iter().for_each(|&(rule, value)| counts[rule as usize] += (value / total).value());
            counts
        });
        let rules = expected.collect();
        let mut nodes = Vec::with_capacity(outside.levels.len());
        for (level, outside) in outside.levels.into_iter().enumerate() {
            let mut found = Vec::with_capacity(outside.len());
            let mut values = outside.into_iter();
            for cell in chart.cells(level) {
                for (&(symbol, inside), outside) in cell.values.iter().zip(&mut values) {
                    found.push((Node { span: cell.span, symbol }, (inside * outside / total).value()));
                }
            }
            nodes.push(found);
        }
        Ok(Some(Marginals { nodes, rules }))
    }
}
