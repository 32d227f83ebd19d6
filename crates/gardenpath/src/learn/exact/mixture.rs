//! Clustering of tuples by context: a hard mixture of multinomials.

use crate::interrupt::checkpoint;
use crate::seed::Stream;
use rayon::prelude::*;

/// How often each tuple was seen with each feature: `[tuple][feature]`. Features come in groups (the label, the neighbour on
/// the left, the one on the right), each a multinomial of its own.
#[derive(Clone, Debug)]
pub(super) struct Observations {
    pub counts: Vec<f64>,
    /// The number of features of each group.
    pub groups: Vec<usize>,
}

/// An assignment of tuples to clusters and its log-likelihood.
#[derive(Clone, Debug)]
pub(super) struct Clustering {
    pub cluster: Vec<u32>,
    pub likelihood: f64,
}

/// Pseudo-counts that every cluster has of the average tuple.
const SMOOTHING: f64 = 0.5;

/// Alternations between profiles and assignments, at most.
const ROUNDS: usize = 60;

/// Products that are worth a thread of their own.
const PIECE: usize = 1 << 16;

/// The most alternative clusters kept for one tuple.
const RIVALS: usize = 3;

impl Observations {
    pub fn features(&self) -> usize {
        self.groups.iter().sum()
    }

    pub fn tuples(&self) -> usize {
        self.counts.len() / self.features().max(1)
    }

    fn row(&self, tuple: usize) -> &[f64] {
        &self.counts[tuple * self.features()..][..self.features()]
    }

    /// The frequencies of all features, each group summing to one.
    fn background(&self) -> Vec<f64> {
        let mut sums = vec![1e-9; self.features()];
        for row in self.counts.chunks_exact(self.features()) {
            sums.iter_mut().zip(row).for_each(|(sum, count)| *sum += count);
        }
        self.normalise(&mut sums);
        sums
    }

    fn normalise(&self, values: &mut [f64]) {
        let mut rest = values;
        for &size in &self.groups {
            let (group, after) = rest.split_at_mut(size);
            let total: f64 = group.iter().sum();
            group.iter_mut().for_each(|value| *value /= total);
            rest = after;
        }
    }

    /// Logarithms of the features' frequencies in each cluster, relative to the background: `[feature][cluster]`.
    fn profiles(&self, cluster: &[u32], clusters: usize, background: &[f64]) -> Vec<f64> {
        let features = self.features();
        let mut sums: Vec<f64> = (0..clusters).flat_map(|_| background.iter().map(|p| SMOOTHING * p)).collect();
        for (tuple, &own) in cluster.iter().enumerate() {
            let sums = &mut sums[own as usize * features..][..features];
            sums.iter_mut().zip(self.row(tuple)).for_each(|(sum, count)| *sum += count);
        }
        let mut profiles = vec![0.0; features * clusters];
        for (z, sums) in sums.chunks_exact_mut(features).enumerate() {
            self.normalise(sums);
            for (feature, (value, p)) in sums.iter().zip(background).enumerate() {
                profiles[feature * clusters + z] = (value / p).ln();
            }
        }
        profiles
    }

    /// How well each cluster explains a tuple. Features that were not seen cost nothing.
    fn scores(&self, tuple: usize, profiles: &[f64], scores: &mut [f64]) {
        scores.fill(0.0);
        for (n, logs) in self.row(tuple).iter().zip(profiles.chunks_exact(scores.len())) {
            if *n != 0.0 {
                scores.iter_mut().zip(logs).for_each(|(score, log)| *score += n * log);
            }
        }
    }

    /// Alternates between profiles and assignments until nothing moves.
    pub fn refine(&self, mut cluster: Vec<u32>, clusters: usize) -> Clustering {
        let background = self.background();
        let mut likelihood = f64::NEG_INFINITY;
        let share = 1 + PIECE / (self.features() * clusters);
        for _ in 0..ROUNDS {
            checkpoint();
            let profiles = self.profiles(&cluster, clusters, &background);
            let best = |scores: &mut Vec<f64>, (tuple, &own): (usize, &u32)| {
                self.scores(tuple, &profiles, scores);
                let better = |best: (u32, f64), (z, &score)| if score > best.1 { (z, score) } else { best };
                (0..).zip(&*scores).fold((own, f64::NEG_INFINITY), better)
            };
            let tuples = cluster.par_iter().enumerate().with_min_len(share);
            let found: Vec<(u32, f64)> = tuples.map_init(|| vec![0.0; clusters], best).collect();
            likelihood = found.iter().fold(0.0, |sum, (_, score)| sum + score);
            let moved = found.iter().zip(&cluster).any(|((best, _), own)| best != own);
            cluster.iter_mut().zip(&found).for_each(|(own, (best, _))| *own = *best);
            if !moved {
                break;
            }
        }
        Clustering { cluster, likelihood }
    }

    /// Tuples that other clusters explain nearly as well: (tuple, the best other clusters within `margin` nats of its own).
    pub fn doubts(&self, cluster: &[u32], clusters: usize, margin: f64) -> Vec<(usize, Vec<u32>)> {
        let profiles = self.profiles(cluster, clusters, &self.background());
        let mut scores = vec![0.0; clusters];
        let mut doubts = Vec::new();
        for (tuple, &own) in cluster.iter().enumerate() {
            self.scores(tuple, &profiles, &mut scores);
            let least = scores[own as usize] - margin;
            let others = (0..clusters as u32).filter(|&z| z != own && scores[z as usize] > least);
            let mut others: Vec<u32> = others.collect();
            others.sort_by(|&x, &y| scores[y as usize].total_cmp(&scores[x as usize]));
            others.truncate(RIVALS);
            if !others.is_empty() {
                doubts.push((tuple, others));
            }
        }
        doubts
    }

    /// Rows as directions: centred on the background, in units of its noise, and normalised.
    fn directions(&self) -> Vec<f64> {
        let background = self.background();
        let groups = self.groups.len() as f64;
        let mut directions = Vec::with_capacity(self.counts.len());
        for row in self.counts.chunks_exact(self.features()) {
            let total = row.iter().sum::<f64>().max(1e-9) / groups;
            let begin = directions.len();
            directions.extend(row.iter().zip(&background).map(|(n, p)| (n / total - p) / p.sqrt()));
            let norm = directions[begin..].iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-12);
            directions[begin..].iter_mut().for_each(|x| *x /= norm);
        }
        directions
    }

    /// A start: centres far from one another, chosen among well observed tuples, and every tuple with its nearest centre.
    fn start(&self, directions: &[f64], clusters: usize, stream: &mut Stream) -> Vec<u32> {
        let features = self.features();
        let weight: Vec<f64> = (0..self.tuples()).map(|t| self.row(t).iter().sum::<f64>()).collect();
        let distance = |a: &[f64], b: &[f64]| {
            let dot: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
            (1.0 - dot).max(0.0)
        };
        let share = 1 + PIECE / features;
        let mut nearest = vec![1.0; self.tuples()];
        let mut cluster = vec![0; self.tuples()];
        for z in 0..clusters {
            let mass: Vec<f64> = nearest.iter().zip(&weight).map(|(d, w)| d * d * w).collect();
            let mut target = stream.unit() * mass.iter().sum::<f64>();
            let centre = mass.iter().position(|m| {
                target -= m;
                target <= 0.0
            });
            let centre = centre.unwrap_or(stream.below(self.tuples() as u64) as usize);
            let centre = &directions[centre * features..][..features];
            let places = nearest.par_iter_mut().zip(&mut cluster).zip(directions.par_chunks_exact(features));
            places.with_min_len(share).for_each(|((nearest, cluster), direction)| {
                let d = distance(direction, centre);
                if z == 0 || d < *nearest {
                    (*nearest, *cluster) = (d, z as u32);
                }
            });
        }
        cluster
    }

    /// The best of several starts, improved by [`Self::split_and_merge`].
    pub fn cluster(&self, clusters: usize, starts: usize, stream: &mut Stream) -> Clustering {
        let directions = self.directions();
        let mut best: Option<Clustering> = None;
        for _ in 0..starts {
            let found = self.refine(self.start(&directions, clusters, stream), clusters);
            if best.as_ref().is_none_or(|best| found.likelihood > best.likelihood) {
                best = Some(found);
            }
        }
        self.split_and_merge(best.expect("there is at least one start"), clusters, stream)
    }

    /// Splits the cluster that gains most and merges the two that lose least, as long as that helps.
    ///
    /// Alternating between profiles and assignments cannot do this: it gets stuck where one cluster holds two symbols and
    /// two others share one.
    pub fn split_and_merge(&self, mut best: Clustering, clusters: usize, stream: &mut Stream) -> Clustering {
        let background = self.background();
        for _ in 0..4 * clusters {
            let sums = self.sums(&best.cluster, clusters);
            let own: Vec<f64> = sums.iter().map(|sums| self.value(sums, &background)).collect();
            let mut merges = Vec::new();
            for x in 0..clusters {
                for y in x + 1..clusters {
                    let both: Vec<f64> = sums[x].iter().zip(&sums[y]).map(|(a, b)| a + b).collect();
                    merges.push((own[x] + own[y] - self.value(&both, &background), x, y));
                }
            }
            merges.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut splits: Vec<(f64, usize, Vec<usize>)> = (0..clusters)
                .filter_map(|z| {
                    self.best_split(&best.cluster, z, own[z], &background, stream).map(|(gain, half)| (gain, z, half))
                })
                .collect();
            splits.sort_by(|a, b| b.0.total_cmp(&a.0));
            let better = splits.iter().take(3).find_map(|(gain, z, half)| {
                let &(loss, keep, free) = merges.iter().find(|(_, x, y)| x != z && y != z)?;
                if *gain <= loss {
                    return None;
                }
                let mut trial = best.cluster.clone();
                trial.iter_mut().filter(|own| **own as usize == free).for_each(|own| *own = keep as u32);
                half.iter().for_each(|&tuple| trial[tuple] = free as u32);
                let found = self.refine(trial, clusters);
                (found.likelihood > best.likelihood + 1e-9 * best.likelihood.abs()).then_some(found)
            });
            match better {
                Some(found) => best = found,
                None => break,
            }
        }
        best
    }

    /// The counts of each cluster.
    fn sums(&self, cluster: &[u32], clusters: usize) -> Vec<Vec<f64>> {
        let mut sums = vec![vec![0.0; self.features()]; clusters];
        for (tuple, &own) in cluster.iter().enumerate() {
            sums[own as usize].iter_mut().zip(self.row(tuple)).for_each(|(sum, count)| *sum += count);
        }
        sums
    }

    /// The log-likelihood of the tuples of one cluster, relative to the background.
    fn value(&self, sums: &[f64], background: &[f64]) -> f64 {
        let (mut value, mut begin) = (0.0, 0);
        for &size in &self.groups {
            let range = begin..begin + size;
            let total: f64 = sums[range.clone()].iter().sum::<f64>() + SMOOTHING;
            for (n, p) in sums[range.clone()].iter().zip(&background[range]) {
                value += n * ((n + SMOOTHING * p) / total / p).ln();
            }
            begin += size;
        }
        value
    }

    /// The best way found to split a cluster in two: what it gains, and the members of one half.
    fn best_split(
        &self,
        cluster: &[u32],
        z: usize,
        whole: f64,
        background: &[f64],
        stream: &mut Stream,
    ) -> Option<(f64, Vec<usize>)> {
        let members: Vec<usize> = (0..cluster.len()).filter(|&tuple| cluster[tuple] as usize == z).collect();
        if members.len() < 2 {
            return None;
        }
        let counts = members.iter().flat_map(|&member| self.row(member).iter().copied()).collect();
        let part = Observations { counts, groups: self.groups.clone() };
        let directions = part.directions();
        let mut best: Option<(f64, Vec<usize>)> = None;
        for _ in 0..4 {
            let halves = part.refine(part.start(&directions, 2, stream), 2).cluster;
            let gain = part.sums(&halves, 2).iter().map(|sums| self.value(sums, background)).sum::<f64>() - whole;
            if best.as_ref().is_none_or(|best| gain > best.0) {
                let half = members.iter().zip(&halves).filter(|(_, half)| **half == 1).map(|(&member, _)| member);
                best = Some((gain, half.collect()));
            }
        }
        best
    }
}
