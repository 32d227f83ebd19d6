//! Covariances of tuples with the root, and the pair correction of the paper.

use crate::grammar::Symbol;

/// Root-to-pair and root-to-triple covariances (the paper's `C_2` and `C_3`).
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
    symbols: usize,
    classes: usize,
    /// `[a][b][root]`
    pairs: Vec<f64>,
    /// `[a][b][c][root]`
    triples: Vec<f64>,
}

impl Covariance {
    /// From joint counts or probabilities `[root][tuple]` of any scale.
    pub(super) fn new<T>(
        symbols: usize,
        classes: usize,
        pairs: &[T],
        triples: &[T],
        value: impl Fn(&T) -> f64,
    ) -> Self {
        let covariance = |table: &[T]| pooled_covariance(table, &root_totals(table, classes, &value), &value);
        Covariance { symbols, classes, pairs: covariance(pairs), triples: covariance(triples) }
    }

    /// From joint numbers `[root][tuple]` that are a part of a whole, of which the totals of all roots are given.
    pub(super) fn of_totals(
        symbols: usize,
        classes: usize,
        (pairs, of_pairs): (&[f64], &[f64]),
        (triples, of_triples): (&[f64], &[f64]),
    ) -> Self {
        let covariance = |part: &[f64], totals: &[f64]| pooled_covariance(part, totals, |&joint| joint);
        Covariance { symbols, classes, pairs: covariance(pairs, of_pairs), triples: covariance(triples, of_triples) }
    }

    /// The number of different symbols.
    pub fn symbols(&self) -> usize {
        self.symbols
    }

    /// The number of different roots.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The covariances of all pairs: `[a][b][root]`.
    pub fn pairs(&self) -> &[f64] {
        &self.pairs
    }

    /// The covariances of all triples: `[a][b][c][root]`.
    pub fn triples(&self) -> &[f64] {
        &self.triples
    }

    /// The covariance of a pair with each root (the paper's `u_ab`).
    pub fn pair_vector(&self, a: Symbol, b: Symbol) -> &[f64] {
        let pair = usize::from(a) * self.symbols + usize::from(b);
        &self.pairs[pair * self.classes..][..self.classes]
    }

    /// The covariance of a triple with each root.
    pub fn triple_vector(&self, a: Symbol, b: Symbol, c: Symbol) -> &[f64] {
        let triple = (usize::from(a) * self.symbols + usize::from(b)) * self.symbols + usize::from(c);
        &self.triples[triple * self.classes..][..self.classes]
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
        let share = 1.0 / self.symbols as f64;
        let (left, right) = (self.pair_vector(a, b), self.pair_vector(b, c));
        for (root, &triple) in self.triple_vector(a, b, c).iter().enumerate() {
            corrected[root] = triple - share * (left[root] + right[root]);
        }
    }

    /// The sum of the squares of all root-to-pair covariances.
    pub fn pair_energy(&self) -> f64 {
        self.pairs.iter().map(|x| x * x).sum()
    }
}

/// The total of each root in a table `[root][tuple]`.
pub(super) fn root_totals<T>(table: &[T], classes: usize, value: impl Fn(&T) -> f64) -> Vec<f64> {
    table.chunks(table.len() / classes).map(|block| block.iter().map(&value).sum()).collect()
}

/// `Cov = N(t, y) / N - N(t) / N * N(y) / N`, from `[root][tuple]` to `[tuple][root]`, with the totals `N(y)` of the roots;
/// zeros if nothing was counted.
fn pooled_covariance<T>(table: &[T], by_root: &[f64], value: impl Fn(&T) -> f64) -> Vec<f64> {
    let tuples = table.len() / by_root.len();
    let total: f64 = by_root.iter().sum();
    let mut covariance = vec![0.0; table.len()];
    // Parts of one arity have nothing of the other.
    if total == 0.0 || table.iter().all(|joint| value(joint) == 0.0) {
        return covariance;
    }
    for (tuple, row) in covariance.chunks_mut(by_root.len()).enumerate() {
        let mut of_tuple = 0.0;
        for (root, joint) in row.iter_mut().enumerate() {
            *joint = value(&table[root * tuples + tuple]);
            of_tuple += *joint;
        }
        for (joint, of_root) in row.iter_mut().zip(by_root) {
            *joint = (*joint - of_tuple * (of_root / total)) / total;
        }
    }
    covariance
}
