//! The matrices from which covariances are made: how likely a parent has each child at one place of its rules.

use super::energy;
use crate::cluster::{dot, normalize};
use crate::error::{Counts, Error, Result};
use crate::grammar::Layer;

/// The centred transition matrix `Delta` of one place of the rules of one arity: the probability of a child, given the parent
/// and the arity, less `1 / children`.
///
/// The paper gives its squared operator norm as `1 / m` and takes its row sums as zero. The entries have variance `1 / (v m)`, so
/// the largest singular value tends to `2 / m^(1/2)`, its square to `4 / m`; columns sum to zero, and rows do not, as some
/// symbols occur in more rules than others.
///
/// ```
/// use gardenpath::proof::Transition;
/// use gardenpath::{Ensemble, Seed};
///
/// let grammar = Ensemble::new(64, 1).fraction(0.25).sample(Seed::new(1))?;
/// let delta = Transition::new(grammar.layer(0), 2, 0)?;
/// let scaled = 16.0 * delta.operator_energy();
/// assert!(scaled > 3.0 && scaled < 4.5, "{scaled}, not 1");
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    children: usize,
    /// `[parent][child]`: the transpose of the paper's matrix.
    delta: Vec<f64>,
}

impl Transition {
    /// The matrix of the `place`-th child, counted from 0, of rules with `arity` children. Every parent must have such rules.
    pub fn new(layer: &Layer, arity: usize, place: usize) -> Result<Self> {
        if place >= arity {
            return Err(Error::count("place of a child", place, Counts::Below(arity)));
        }
        let (parents, children) = (layer.parents(), layer.children());
        let mut delta = vec![0.0; parents * children];
        for rule in layer.rules().iter().filter(|rule| rule.children.len() == arity) {
            let child = usize::from(rule.children.as_slice()[place]);
            delta[usize::from(rule.parent) * children + child] += rule.probability;
        }
        for (parent, row) in delta.chunks_mut(children).enumerate() {
            let mass: f64 = row.iter().sum();
            if mass == 0.0 {
                return Err(Error::NoRulesOfArity { symbol: parent, arity });
            }
            row.iter_mut().for_each(|p| *p = *p / mass - 1.0 / children as f64);
        }
        Ok(Transition { children, delta })
    }

    /// The squared Frobenius norm; the paper's limit is `v / m`.
    pub fn frobenius_energy(&self) -> f64 {
        energy(&self.delta)
    }

    /// The sum over children of the squared sum over parents (the paper's row sums); in the limit `(1 - f) / f`.
    pub fn row_sum_energy(&self) -> f64 {
        let mut sums = vec![0.0; self.children];
        for row in self.delta.chunks(self.children) {
            sums.iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
        }
        energy(&sums)
    }

    /// The squared operator norm: the largest eigenvalue of `Delta Delta^T`, by the power method.
    pub fn operator_energy(&self) -> f64 {
        // Columns sum to zero, so a constant start would vanish; this one has a part along every eigenvector, in practice.
        let mut vector: Vec<f64> = (0..self.children).map(|child| 1.0 + (child as f64).sin()).collect();
        normalize(&mut vector);
        let mut eigenvalue = 0.0;
        for _ in 0..POWERS {
            let mut next = vec![0.0; self.children];
            for row in self.delta.chunks(self.children) {
                let factor = dot(row, &vector);
                next.iter_mut().zip(row).for_each(|(sum, p)| *sum += factor * p);
            }
            let last = std::mem::replace(&mut eigenvalue, normalize(&mut next));
            vector = next;
            if (eigenvalue - last).abs() <= 1e-13 * eigenvalue {
                break;
            }
        }
        eigenvalue
    }
}

/// Singular values at the edge of a random matrix are close to each other: the power method needs patience.
const POWERS: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Children, Ensemble, Grammar, Rule, Seed};

    /// Two parents with two equally likely rules each: the matrix is found by hand.
    #[test]
    fn a_matrix_by_hand() {
        let rule = |parent, a, b| Rule { parent, children: Children::from([a, b]), probability: 0.5 };
        let rules = vec![rule(0, 0, 0), rule(0, 0, 1), rule(1, 1, 0), rule(1, 0, 2)];
        let grammar = Grammar::new(vec![2, 3], vec![0.5, 0.5], vec![rules]).unwrap();
        let delta = Transition::new(grammar.layer(0), 2, 0).unwrap();
        let third = 1.0 / 3.0;
        let expected = [1.0 - third, -third, -third, 0.5 - third, 0.5 - third, -third];
        assert!(delta.delta.iter().zip(expected).all(|(p, e)| (p - e).abs() < 1e-15), "{delta:?}");
        // The Gram matrix of the rows has the entries x, y and z: its largest eigenvalue is a quadratic's.
        let (x, y, z) = (energy(&expected[..3]), energy(&expected[3..]), dot(&expected[..3], &expected[3..]));
        let largest = f64::midpoint(x, y) + ((x - y).powi(2) / 4.0 + z * z).sqrt();
        assert!((delta.operator_energy() - largest).abs() < 1e-12);
        assert!((delta.frobenius_energy() - (x + y)).abs() < 1e-15);
        assert!(Transition::new(grammar.layer(0), 3, 0).is_err() && Transition::new(grammar.layer(0), 2, 2).is_err());
    }

    /// Erratum 6: 4 / m and (1 - f) / f, not 1 / m and 0.
    #[test]
    fn limits_of_a_random_matrix() {
        let (vocab, rules) = (160, 40.0);
        let grammar = Ensemble::new(vocab, 1).fraction(0.25).sample(Seed::new(1)).unwrap();
        let delta = Transition::new(grammar.layer(0), 2, 1).unwrap();
        let operator = rules * delta.operator_energy();
        assert!((3.4..4.1).contains(&operator), "{operator}");
        assert!((delta.frobenius_energy() * 0.25 - 1.0).abs() < 0.05);
        assert!((delta.row_sum_energy() / 3.0 - 1.0).abs() < 0.3, "{}", delta.row_sum_energy());
    }
}
