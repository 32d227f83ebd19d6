//! One clustering in progress: seeding, Lloyd's iterations and swaps.

use super::dot;
use crate::interrupt::checkpoint;
use crate::seed::Stream;

/// Rows of equal length with their squared norms.
pub(super) struct Rows<'r> {
    pub values: &'r [f64],
    pub dimension: usize,
    pub squares: Vec<f64>,
}

/// A clustering in progress.
#[derive(Clone)]
pub(super) struct State {
    pub centroids: Vec<f64>,
    pub labels: Vec<usize>,
    /// The squared distance of each row to its centroid.
    distances: Vec<f64>,
    pub inertia: f64,
}

impl Rows<'_> {
    pub fn len(&self) -> usize {
        self.squares.len()
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.dimension..][..self.dimension]
    }

    /// The squared distance of row `i` to a point with this squared norm.
    fn distance(&self, i: usize, point: &[f64], square: f64) -> f64 {
        (self.squares[i] + square - 2.0 * dot(self.row(i), point)).max(0.0)
    }
}

impl State {
    /// Greedy k-means++: of a few rows drawn by their squared distance, the one that lowers the inertia most.
    pub fn seeded(rows: &Rows, clusters: usize, stream: &mut Stream) -> Self {
        let trials = 2 + clusters.ilog2();
        let mut centroids = Vec::with_capacity(clusters * rows.dimension);
        let mut distances = vec![f64::INFINITY; rows.len()];
        for chosen in 0..clusters {
            checkpoint();
            let mut best: Option<(f64, usize, Vec<f64>)> = None;
            for _ in 0..if chosen == 0 { 1 } else { trials } {
                let i = if chosen == 0 { stream.below(rows.len() as u64) as usize } else { draw(&distances, stream) };
                let (row, square) = (rows.row(i), rows.squares[i]);
                let nearer: Vec<f64> =
                    distances.iter().enumerate().map(|(k, &d)| d.min(rows.distance(k, row, square))).collect();
                let inertia = nearer.iter().sum();
                if best.as_ref().is_none_or(|(least, ..)| inertia < *least) {
                    best = Some((inertia, i, nearer));
                }
            }
            let (_, i, nearer) = best.expect("at least one row was tried");
            centroids.extend_from_slice(rows.row(i));
            distances = nearer;
        }
        State { centroids, labels: vec![0; rows.len()], distances, inertia: f64::INFINITY }
    }

    /// Lloyd's iterations until no row changes its cluster.
    pub fn improve(&mut self, rows: &Rows, iterations: usize) {
        self.assign(rows);
        for _ in 0..iterations {
            checkpoint();
            self.update(rows);
            if !self.assign(rows) {
                break;
            }
        }
    }

    /// Assigns each row to its nearest centroid, keeping every centroid non-empty; returns whether any row moved.
    fn assign(&mut self, rows: &Rows) -> bool {
        let squares: Vec<f64> = self.centroids.chunks(rows.dimension).map(|point| dot(point, point)).collect();
        let mut sizes = vec![0; squares.len()];
        let mut moved = false;
        for i in 0..rows.len() {
            let row = rows.row(i);
            let (mut nearest, mut least) = (0, f64::INFINITY);
            for (cluster, point) in self.centroids.chunks(rows.dimension).enumerate() {
                let score = squares[cluster] - 2.0 * dot(row, point);
                if score < least {
                    (nearest, least) = (cluster, score);
                }
            }
            moved |= self.labels[i] != nearest;
            self.labels[i] = nearest;
            self.distances[i] = (rows.squares[i] + least).max(0.0);
            sizes[nearest] += 1;
        }
        for empty in (0..sizes.len()).filter(|&cluster| sizes[cluster] == 0).collect::<Vec<_>>() {
            // The farthest row that does not leave its own cluster empty.
            let worst = (0..rows.len())
                .filter(|&i| sizes[self.labels[i]] > 1)
                .reduce(|a, b| if self.distances[b] > self.distances[a] { b } else { a });
            let worst = worst.expect("there are at least as many rows as clusters");
            sizes[self.labels[worst]] -= 1;
            sizes[empty] = 1;
            (self.labels[worst], self.distances[worst]) = (empty, 0.0);
            self.centroids[empty * rows.dimension..][..rows.dimension].copy_from_slice(rows.row(worst));
            moved = true;
        }
        self.inertia = self.distances.iter().sum();
        moved
    }

    /// Moves every centroid to the mean of its rows.
    fn update(&mut self, rows: &Rows) {
        let mut sizes = vec![0.0; self.centroids.len() / rows.dimension];
        self.centroids.fill(0.0);
        for (i, &cluster) in self.labels.iter().enumerate() {
            sizes[cluster] += 1.0;
            let sums = &mut self.centroids[cluster * rows.dimension..][..rows.dimension];
            sums.iter_mut().zip(rows.row(i)).for_each(|(sum, x)| *sum += x);
        }
        for (point, size) in self.centroids.chunks_mut(rows.dimension).zip(sizes) {
            point.iter_mut().for_each(|x| *x /= f64::max(size, 1.0));
        }
    }

    /// Takes away one of the centroids that are cheapest to merge into another, and puts it on a badly served row.
    pub fn swap(&mut self, rows: &Rows, stream: &mut Stream) {
        let clusters = self.centroids.len() / rows.dimension;
        let mut sizes = vec![0.0; clusters];
        self.labels.iter().for_each(|&cluster| sizes[cluster] += 1.0);
        let cost = |i: usize| {
            let mine = &self.centroids[i * rows.dimension..][..rows.dimension];
            let others = self.centroids.chunks(rows.dimension).enumerate().filter(|&(j, _)| j != i);
            let cost = others.map(|(j, theirs)| {
                let distance: f64 = mine.iter().zip(theirs).map(|(x, y)| (x - y).powi(2)).sum();
                distance * sizes[i] * sizes[j] / (sizes[i] + sizes[j])
            });
            cost.fold(f64::INFINITY, f64::min)
        };
        let mut order: Vec<(f64, usize)> = (0..clusters).map(|i| (cost(i), i)).collect();
        order.sort_by(|x, y| x.0.total_cmp(&y.0));
        let victim = order[stream.below(clusters.min(6) as u64) as usize].1;
        let target = draw(&self.distances, stream);
        self.centroids[victim * rows.dimension..][..rows.dimension].copy_from_slice(rows.row(target));
    }
}

/// An index drawn with probability proportional to its weight; the last one if all weights are zero.
fn draw(weights: &[f64], stream: &mut Stream) -> usize {
    let mut left = stream.unit() * weights.iter().sum::<f64>();
    for (i, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return i;
        }
    }
    weights.len() - 1
}
