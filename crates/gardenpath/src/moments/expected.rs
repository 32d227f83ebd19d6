//! Moments of infinitely many sentences, from the grammar itself: the neighbours of one level give those of the next.

use super::windows::{Beginning, Neighbours, Windows, needed_lengths};
use super::{Covariance, Moments, Topology, TupleTable};
use crate::arity::Arities;
use crate::error::{Counts, Error, Result};
use crate::grammar::{Grammar, Layer, Symbol};
use crate::memory;
use rayon::prelude::*;
use std::iter::Sum;
use std::ops::AddAssign;

/// The expected numbers of adjacent symbols in a sentence, jointly with its root: of pairs and triples, or of tuples of other arities.
///
/// ```
/// use gardenpath::{Ensemble, ExpectedMoments, Seed};
///
/// let grammar = Ensemble::new(8, 3).sample(Seed::new(7))?;
/// let moments = ExpectedMoments::new(&grammar)?;
/// // A sentence of n tokens has n - 1 pairs.
/// assert!((moments.pair_total() - (grammar.mean_length() - 1.0)).abs() < 1e-9);
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub type ExpectedMoments = TupleTable<f64>;

impl TupleTable<f64> {
    /// The moments of pairs and triples of tokens.
    pub fn new(grammar: &Grammar) -> Result<Self> {
        Self::of_level(grammar, grammar.depth())
    }

    /// The moments of pairs and triples of the true nodes of one level, `1..=depth`.
    pub fn of_level(grammar: &Grammar, level: usize) -> Result<Self> {
        Self::with_arities(grammar, level, Arities::PAPER)
    }

    /// The moments of the true nodes of one level, `1..=depth`, for tuples of other arities. With `v` symbols and rules of at least two
    /// children, tuples of `s` symbols cost `v^(s + 1)` multiplications for each root.
    ///
    /// ```
    /// use gardenpath::{Ensemble, ExpectedMoments, Seed};
    ///
    /// let grammar = Ensemble::new(6, 2).arities([(1, 0.2), (4, 0.8)]).sample(Seed::new(7))?;
    /// let moments = ExpectedMoments::with_arities(&grammar, 2, [1, 4])?;
    /// assert!((moments.total(1) - grammar.mean_length()).abs() < 1e-12);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn with_arities(grammar: &Grammar, level: usize, arities: impl Into<Arities>) -> Result<Self> {
        Self::of_windows(grammar, level, arities.into(), |_| true)
    }

    /// The part of [`of_level`](Self::of_level) in which the symbols stand in one topology: the expected numbers of such
    /// pairs, or of such triples. All rules must have two or three children.
    ///
    /// ```
    /// use gardenpath::{Ensemble, ExpectedMoments, Seed, Topology};
    ///
    /// let grammar = Ensemble::new(8, 3).sample(Seed::new(7))?;
    /// // A sentence has 6.25 nodes above its tokens, and every second of them is binary.
    /// let siblings = ExpectedMoments::of_topology(&grammar, 3, Topology::BinarySiblings)?;
    /// assert!((siblings.pair_total() - 6.25 / 2.0).abs() < 1e-9);
    /// assert_eq!(siblings.triple_total(), 0.0);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn of_topology(grammar: &Grammar, level: usize, topology: Topology) -> Result<Self> {
        check_paper(grammar.layers())?;
        Self::of_windows(grammar, level, [topology.arity()].into(), |beginning| topology.begins_with(beginning))
    }

    /// The moments of a level, of the tuples that begin in a way that counts.
    fn of_windows(
        grammar: &Grammar,
        level: usize,
        arities: Arities,
        is_counted: impl Fn(&Beginning) -> bool,
    ) -> Result<Self> {
        if !(1..=grammar.depth()).contains(&level) {
            return Err(Error::count("level", level, Counts::Between(1, grammar.depth())));
        }
        let classes = grammar.classes();
        let mut table = Self::zeros(grammar.sizes()[level], classes, arities)?;
        let (lengths, bytes) = needed_lengths(grammar, level, arities.most())?;
        let windows = |(number, layer): (usize, &Layer)| {
            let is_last = number + 1 == level;
            Windows::new(layer, lengths[number + 1], 1, |beginning, _| {
                f64::from(u8::from(!is_last || is_counted(&beginning)))
            })
        };
        let windows: Vec<Windows> = grammar.layers()[..level].iter().enumerate().map(windows).collect();
        let of_root = |root: usize| {
            let nodes = one_root(grammar, root);
            windows.iter().fold(nodes, |nodes, windows| windows.below(&[(0, &windows.source(nodes))]))
        };
        // Fewer roots at a time if their tables are large.
        let at_once = memory::at_once(bytes);
        for first in (0..classes).step_by(at_once) {
            let roots = first..classes.min(first + at_once);
            let found: Vec<Neighbours> = roots.clone().into_par_iter().map(of_root).collect();
            for arity in arities.iter() {
                let tuples = table.code().range(arity).len();
                let blocks = table.of_arity_mut(arity).chunks_mut(tuples).skip(first);
                blocks.zip(&found).for_each(|(block, nodes)| block.copy_from_slice(&nodes[arity - 1]));
            }
        }
        Ok(table)
    }

    /// The expected number of times that the pair occurs in a sentence with this root, times the root's probability.
    pub fn pair(&self, a: Symbol, b: Symbol, root: Symbol) -> f64 {
        self.value(&[a, b], root)
    }

    /// The expected number of times that the triple occurs in a sentence with this root, times the root's probability.
    pub fn triple(&self, a: Symbol, b: Symbol, c: Symbol, root: Symbol) -> f64 {
        self.value(&[a, b, c], root)
    }

    /// The limits of the covariances of [`Moments::covariance`](super::Moments::covariance).
    pub fn covariance(&self) -> Covariance {
        Covariance::new(self, |expected| expected, |arity| self.root_totals(arity).collect())
    }

    /// What these moments, a part of `whole`, contribute to its covariances: the parts of all topologies add up to
    /// `whole.covariance()`.
    ///
    /// By the law of total covariance, a part is the probability of its topology times the covariance given the topology. That
    /// needs a topology that does not depend on the root, as in an [`Ensemble`](crate::Ensemble); in other grammars the part
    /// also has what the topology itself tells about the root.
    ///
    /// ```
    /// use gardenpath::{Ensemble, ExpectedMoments, Seed, Topology};
    ///
    /// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
    /// let whole = ExpectedMoments::new(&grammar)?;
    /// let mut sum = 0.0;
    /// for topology in Topology::PAIRS {
    ///     let part = ExpectedMoments::of_topology(&grammar, 2, topology)?;
    ///     sum += part.covariance_within(&whole)?.pair_vector(0, 1)[3];
    /// }
    /// assert!((sum - whole.covariance().pair_vector(0, 1)[3]).abs() < 1e-15);
    /// # Ok::<(), gardenpath::Error>(())
    /// ```
    pub fn covariance_within(&self, whole: &ExpectedMoments) -> Result<Covariance> {
        self.check_part_of(whole)?;
        Ok(Covariance::new(self, |expected| expected, |arity| whole.root_totals(arity).collect()))
    }

    /// What these moments of true symbols contribute to the covariances of the candidates that were counted in `sentences`
    /// sentences.
    pub(crate) fn covariance_among(&self, candidates: &Moments, sentences: u64) -> Result<Covariance> {
        self.check_part_of(candidates)?;
        let totals = |arity| candidates.root_totals(arity).map(|count: u64| count as f64 / sentences as f64).collect();
        Ok(Covariance::new(self, |expected| expected, totals))
    }

    /// Rejects a whole that does not have all tuples and roots of this part.
    fn check_part_of<T: Copy + Default + Sum + AddAssign>(&self, whole: &TupleTable<T>) -> Result<()> {
        let same = (self.symbols(), self.classes()) == (whole.symbols(), whole.classes());
        if same && self.arities().iter().all(|arity| whole.arities().contains(arity)) {
            return Ok(());
        }
        Err(Error::Tables { what: "part of the moments", found: self.size(), expected: whole.size() })
    }
}

/// The root level: one node, with the probability of the root.
pub(super) fn one_root(grammar: &Grammar, root: usize) -> Neighbours {
    let mut nodes = vec![0.0; grammar.classes()];
    nodes[root] = grammar.prior()[root];
    vec![nodes]
}

/// Rejects rules of other arities than the paper's.
pub(crate) fn check_paper(layers: &[Layer]) -> Result<()> {
    let is_other = |arity: &usize| !Arities::PAPER.contains(*arity);
    match layers.iter().flat_map(|layer| layer.arities().iter().collect::<Vec<_>>()).find(is_other) {
        Some(arity) => Err(Error::NotPaper { arity }),
        None => Ok(()),
    }
}
