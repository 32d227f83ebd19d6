//! Seeded k-means that does not depend on threads.
//!
//! Each start is a greedy k-means++ seeding and Lloyd's iterations. The best one is improved by swaps: a centroid
//! that is cheap to merge away moves to a badly served row, and stays there if the inertia falls. Swaps leave the
//! poor local optima in which plain restarts get stuck when there are many clusters.

mod lloyd;

use crate::error::{Counts, Error, Reals, Result};
use crate::seed::Seed;
use lloyd::{Rows, State};
use rayon::prelude::*;

/// How to cluster rows of numbers.
///
/// ```
/// use gardenpath::{KMeans, Seed};
///
/// let rows = [0.0, 0.1, 5.0, 5.1, 9.0, 9.1];
/// let clustering = KMeans::new(3).seed(Seed::new(1)).fit(&rows, 1)?;
/// assert_eq!(clustering.labels()[0], clustering.labels()[1]);
/// assert!((clustering.inertia() - 3.0 * 0.005).abs() < 1e-12);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KMeans {
    clusters: usize,
    restarts: u64,
    iterations: usize,
    patience: usize,
    seed: Seed,
}

/// Rows divided into clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct Clustering {
    dimension: usize,
    labels: Vec<usize>,
    /// `[cluster][coordinate]`
    centroids: Vec<f64>,
    inertia: f64,
}

impl KMeans {
    /// k-means with this number of clusters: 10 starts, at most 100 iterations each.
    pub fn new(clusters: usize) -> Self {
        KMeans { clusters, restarts: 10, iterations: 100, patience: 32, seed: Seed::new(0) }
    }

    /// The number of starts, of which the best is kept.
    pub fn restarts(mut self, restarts: u64) -> Self {
        self.restarts = restarts;
        self
    }

    /// The largest number of Lloyd iterations in a row.
    pub fn iterations(mut self, iterations: usize) -> Self {
        self.iterations = iterations;
        self
    }

    /// How many swaps in a row may fail before the best start is final; 0 for plain restarts.
    pub fn patience(mut self, patience: usize) -> Self {
        self.patience = patience;
        self
    }

    /// The seed of the starts: the same seed gives the same clusters on any number of threads.
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Clusters the rows of a matrix `[row][coordinate]`. No cluster is empty unless there are fewer rows than
    /// clusters, in which case each row is a cluster of its own.
    pub fn fit(&self, rows: &[f64], dimension: usize) -> Result<Clustering> {
        if dimension == 0 || rows.is_empty() || !rows.len().is_multiple_of(dimension) {
            return Err(Error::Rows { numbers: rows.len(), dimension });
        }
        if self.clusters == 0 || self.restarts == 0 || self.iterations == 0 {
            return Err(Error::count("number of clusters, restarts or iterations", 0u64, Counts::AtLeast(1)));
        }
        if let Some(&wrong) = rows.iter().find(|x| !x.is_finite()) {
            return Err(Error::real("coordinate of a row", wrong, Reals::Finite));
        }
        let squares = rows.chunks(dimension).map(|row| dot(row, row)).collect();
        let rows = Rows { values: rows, dimension, squares };
        let clusters = self.clusters.min(rows.len());
        let start = |number: u64| {
            let mut state = State::seeded(&rows, clusters, &mut self.seed.child("k-means").stream(number));
            state.improve(&rows, self.iterations);
            state
        };
        let mut best = best_of((0..self.restarts).into_par_iter().map(start).collect());
        let mut failures = 0;
        for round in 0.. {
            if failures >= self.patience || clusters == 1 || best.inertia == 0.0 {
                break;
            }
            let swapped =
                best_of((0..SWAPS).into_par_iter().map(|k| self.swapped(&rows, &best, round * SWAPS + k)).collect());
            if swapped.inertia < best.inertia * (1.0 - 1e-9) {
                best = swapped;
                failures = 0;
            } else {
                failures += SWAPS as usize;
            }
        }
        let State { centroids, labels, inertia, .. } = best;
        Ok(Clustering { dimension, labels, centroids, inertia })
    }

    /// Tries one swap, followed by Lloyd's iterations; gives up early if it is still worse after a few of them.
    fn swapped(&self, rows: &Rows, state: &State, number: u64) -> State {
        let mut stream = self.seed.child("swap").stream(number);
        let mut swapped = state.clone();
        swapped.swap(rows, &mut stream);
        swapped.improve(rows, self.iterations.min(TRIAL_ITERATIONS));
        if swapped.inertia < state.inertia {
            swapped.improve(rows, self.iterations);
        }
        swapped
    }
}

/// Swaps that are tried side by side.
const SWAPS: u64 = 8;

/// Lloyd iterations after which a swap must have lowered the inertia.
const TRIAL_ITERATIONS: usize = 8;

/// The first of the best: ties do not depend on scheduling.
fn best_of(states: Vec<State>) -> State {
    let best = states.into_iter().reduce(|best, next| if next.inertia < best.inertia { next } else { best });
    best.expect("there is at least one state")
}

impl Clustering {
    /// The cluster of each row.
    pub fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The number of clusters.
    pub fn clusters(&self) -> usize {
        self.centroids.len() / self.dimension
    }

    /// The mean of the rows of a cluster.
    pub fn centroid(&self, cluster: usize) -> &[f64] {
        &self.centroids[cluster * self.dimension..][..self.dimension]
    }

    /// The sum of the squared distances of the rows to their centroids.
    pub fn inertia(&self) -> f64 {
        self.inertia
    }
}

/// The inner product, in four sums that the processor adds side by side.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (a_blocks, b_blocks) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_blocks.zip(b_blocks) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// Scales a vector to norm 1; a zero vector stays zero. Returns the norm.
pub(crate) fn normalize(vector: &mut [f64]) -> f64 {
    let norm = dot(vector, vector).sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    norm
}
