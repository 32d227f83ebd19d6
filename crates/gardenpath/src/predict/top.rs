//! The top of a predictor: a root with its prior, or independent symbols if higher layers are unknown.

use super::laws::{count_law, expected_nodes};
use super::reader::Cell;
use crate::grammar::Grammar;

/// The uppermost level of a predictor.
#[derive(Clone, Debug)]
pub(super) enum Top {
    /// One root.
    Root {
        /// The probability of each root symbol.
        prior: Vec<f64>,
    },
    /// Symbols of some level, drawn one by one.
    Independent {
        level: usize,
        /// How often each symbol occurs.
        shares: Vec<f64>,
        /// The probability that a sentence has so many of them.
        law: Vec<f64>,
        /// The probability that it has more.
        more: Vec<f64>,
    },
}

impl Top {
    pub fn root(grammar: &Grammar) -> Self {
        Top::Root { prior: grammar.prior().to_vec() }
    }

    pub fn independent(grammar: &Grammar, level: usize) -> Self {
        let mut shares = expected_nodes(grammar, level);
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total);
        let law = count_law(grammar, level);
        let mut more = law.clone();
        let mut rest = 0.0;
        for p in more.iter_mut().rev() {
            (*p, rest) = (rest, rest + *p);
        }
        Top::Independent { level, shares, law, more }
    }

    pub fn is_root(&self) -> bool {
        matches!(self, Top::Root { .. })
    }

    pub fn level(&self) -> usize {
        match self {
            Top::Root { .. } => 0,
            Top::Independent { level, .. } => *level,
        }
    }

    /// Writes down how likely it is that each symbol begins at a position, given the nodes that end there; returns the probability that the
    /// sentence ends.
    pub fn begin(&self, position: usize, ending: &[Cell], counts: &mut Vec<Vec<f64>>, begins: &mut [f64]) -> f64 {
        match self {
            Top::Root { prior } if position == 0 => {
                begins.copy_from_slice(prior);
                0.0
            }
            Top::Root { prior } => ending.iter().map(|&(_, root, value)| prior[usize::from(root)] * value).sum(),
            Top::Independent { shares, law, more, .. } => {
                let mut own = vec![0.0; law.len()];
                if position == 0 {
                    own[0] = 1.0;
                }
                for &(start, symbol, value) in ending {
                    let factor = shares[usize::from(symbol)] * value;
                    own.iter_mut()
                        .skip(1)
                        .zip(&counts[start as usize])
                        .for_each(|(sum, before)| *sum += factor * before);
                }
                let goes_on: f64 = own.iter().zip(more).map(|(count, p)| count * p).sum();
                begins.iter_mut().zip(shares).for_each(|(begins, share)| *begins = goes_on * share);
                let ends = own.iter().zip(law).map(|(count, p)| count * p).sum();
                counts.push(own);
                ends
            }
        }
    }
}
