//! Covariances of tuples with the root, and the pair correction of the paper.

use super::TupleTable;
use crate::arity::Arities;
use crate::grammar::Symbol;
use crate::tuple::TupleCode;
use std::iter::Sum;
use std::ops::{AddAssign, Range};

/// Covariances of tuples with the root: for pairs and triples the paper's `C_2` and `C_3`.
///
/// ```
/// use gardenpath::{Ensemble, ExpectedMoments, Seed};
///
/// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
/// let covariance = ExpectedMoments::new(&grammar)?.covariance();
/// // What one root has more of, the others have less of.
/// assert!(covariance.pair_vector(0, 1).iter().sum::<f64>().abs() < 1e-12);
/// assert_eq!(covariance.corrected_triple(0, 1, 2).len(), 8);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Covariance {
    code: TupleCode,
    classes: usize,
    /// `[tuple][root]`
    values: Vec<f64>,
}

impl Covariance {
    /// From joint numbers of any scale, with the totals of all roots for each arity: `Cov = N(t, y) / N - N(t) / N * N(y) / N`, and zeros
    /// if nothing was counted. Where the numbers are a part of a whole, the totals are those of the whole.
    pub(super) fn new<T: Copy + Default + Sum + AddAssign>(
        table: &TupleTable<T>,
        value: impl Fn(T) -> f64,
        totals: impl Fn(usize) -> Vec<f64>,
    ) -> Self {
        let (code, classes) = (table.code(), table.classes());
        let mut covariance = Covariance { code, classes, values: vec![0.0; code.len() * classes] };
        for arity in code.arities().iter() {
            let (joint, by_root, tuples) = (table.of_arity(arity), totals(arity), code.range(arity).len());
            let total: f64 = by_root.iter().sum();
            if total == 0.0 {
                continue;
            }
            let part = covariance.part(arity);
            for (tuple, row) in covariance.values[part].chunks_mut(classes).enumerate() {
                let mut of_tuple = 0.0;
                for (root, number) in row.iter_mut().enumerate() {
                    *number = value(joint[root * tuples + tuple]);
                    of_tuple += *number;
                }
                for (number, of_root) in row.iter_mut().zip(&by_root) {
                    *number = (*number - of_tuple * (of_root / total)) / total;
                }
            }
        }
        covariance
    }

    /// The number of different symbols.
    pub fn symbols(&self) -> usize {
        self.code.symbols()
    }

    /// The number of different roots.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The numbers of symbols of the tuples.
    pub fn arities(&self) -> Arities {
        self.code.arities()
    }

    fn part(&self, arity: usize) -> Range<usize> {
        let Range { start, end } = self.code.range(arity);
        self.classes * start..self.classes * end
    }

    /// The covariances of all tuples of one arity, `[tuple][root]`: empty if there are none.
    ///
    /// # Panics
    /// If no tuple can have this arity.
    pub fn of_arity(&self, arity: usize) -> &[f64] {
        &self.values[self.part(arity)]
    }

    /// The covariances of all pairs: `[a][b][root]`.
    pub fn pairs(&self) -> &[f64] {
        self.of_arity(2)
    }

    /// The covariances of all triples: `[a][b][c][root]`.
    pub fn triples(&self) -> &[f64] {
        self.of_arity(3)
    }

    /// The covariance of a tuple with each root.
    ///
    /// # Panics
    /// If there are no covariances of such tuples.
    pub fn vector(&self, tuple: &[Symbol]) -> &[f64] {
        assert!(self.arities().contains(tuple.len()), "there are covariances of {:?} symbols", self.arities());
        &self.values[self.code.of(tuple) * self.classes..][..self.classes]
    }

    /// The covariance of a pair with each root (the paper's `u_ab`).
    pub fn pair_vector(&self, a: Symbol, b: Symbol) -> &[f64] {
        self.vector(&[a, b])
    }

    /// The covariance of a triple with each root.
    pub fn triple_vector(&self, a: Symbol, b: Symbol, c: Symbol) -> &[f64] {
        self.vector(&[a, b, c])
    }

    /// The covariance of a triple less what its two pairs explain (the paper's `w_abc`): each pair counts with
    /// `1 / symbols`, the chance of the third symbol beside it.
    pub fn corrected_triple(&self, a: Symbol, b: Symbol, c: Symbol) -> Vec<f64> {
        let mut corrected = vec![0.0; self.classes];
        self.correct_triple(a, b, c, &mut corrected);
        corrected
    }

    /// [`Covariance::corrected_triple`] into a buffer.
    pub fn correct_triple(&self, a: Symbol, b: Symbol, c: Symbol, corrected: &mut [f64]) {
        let share = 1.0 / self.symbols() as f64;
        let (left, right) = (self.pair_vector(a, b), self.pair_vector(b, c));
        for (root, &triple) in self.triple_vector(a, b, c).iter().enumerate() {
            corrected[root] = triple - share * (left[root] + right[root]);
        }
    }

    /// The sum of the squares of all root-to-pair covariances.
    pub fn pair_energy(&self) -> f64 {
        self.pairs().iter().map(|x| x * x).sum()
    }
}
