//! What is known about a sentence: a weight for each derivation.

use super::{Derivation, Exact, Rational, exact};
use gardenpath::{Evidence, Node, Parser};
use num_traits::Zero;

/// The derivations that agree with what is known, each with the probability of both.
pub struct Belief<'d> {
    /// The probability of what is known.
    pub evidence: Rational,
    pub joint: Vec<(&'d Derivation, Rational)>,
}

impl<'d> Belief<'d> {
    fn new(joint: Vec<(&'d Derivation, Rational)>) -> Self {
        Belief { evidence: joint.iter().map(|(_, p)| p).sum(), joint }
    }

    /// The first tokens are known.
    pub fn of_prefix(all: &'d [Derivation], prefix: &[u8]) -> Self {
        let possible = all.iter().filter(|d| d.sentence.starts_with(prefix));
        Self::new(possible.map(|d| (d, d.joint.clone())).collect())
    }

    /// There is evidence about every token.
    pub fn of_evidence(all: &'d [Derivation], evidence: &Evidence) -> Self {
        let row = |i| evidence.likelihoods(i).iter().map(|&likelihood| exact(likelihood)).collect();
        let rows: Vec<Vec<Rational>> = (0..evidence.len()).map(row).collect();
        let likelihood = |sentence: &[u8]| -> Rational {
            rows.iter().zip(sentence).map(|(row, &token)| &row[usize::from(token)]).product()
        };
        let of_length = all.iter().filter(|d| d.sentence.len() == rows.len());
        let joint = of_length.map(|d| (d, &d.joint * likelihood(&d.sentence)));
        Self::new(joint.filter(|(_, p)| !p.is_zero()).collect())
    }

    /// The probability of each outcome of a question about derivations.
    fn by(&self, outcomes: usize, outcome: impl Fn(&Derivation) -> usize) -> Vec<Rational> {
        let mut sums = vec![Rational::zero(); outcomes];
        self.joint.iter().for_each(|(d, p)| sums[outcome(d)] += p);
        sums.into_iter().map(|sum| sum / &self.evidence).collect()
    }

    /// Of the token at a position, and last of the end of the sentence there.
    pub fn next(&self, vocab: usize, position: usize) -> Vec<Rational> {
        self.by(vocab + 1, |d| d.sentence.get(position).map_or(vocab, |&token| usize::from(token)))
    }

    /// Of the symbol of a level, which has `size` of them, above the token at a position.
    pub fn hidden(&self, level: usize, size: usize, position: usize) -> Vec<Rational> {
        let over = |(l, node): &&(usize, Node)| *l == level && node.span.range().contains(&position);
        self.by(size, |d| usize::from(d.nodes.iter().find(over).expect("every token has an ancestor").1.symbol))
    }
}

/// The probability of evidence, and joint with it that of each symbol of each level above each token, `[level][position][symbol]`: by
/// the library's own recursions.
pub fn inside_and_outside(parser: &Parser<Exact>, evidence: &Evidence) -> (Rational, Vec<Vec<Vec<Rational>>>) {
    let grammar = parser.grammar();
    let prior: Vec<Exact> = grammar.prior().iter().map(|&p| Exact(exact(p))).collect();
    let chart = parser.parse_evidence(evidence).unwrap();
    let outside = parser.outside(&chart, &prior);
    let total = chart.root_entries().iter().map(|(root, value)| &prior[usize::from(*root)].0 * &value.0).sum();
    let level = |(level, &size): (usize, &usize)| {
        let mut rows = vec![vec![Rational::zero(); size]; evidence.len()];
        for cell in chart.cells(level) {
            for (symbol, Exact(inside)) in cell.values {
                let node = Node { span: cell.span, symbol: *symbol };
                let joint = inside * &outside.value(&chart, level, node).unwrap().0;
                node.span.range().for_each(|i| rows[i][usize::from(*symbol)] += &joint);
            }
        }
        rows
    };
    (total, grammar.sizes().iter().enumerate().map(level).collect())
}
