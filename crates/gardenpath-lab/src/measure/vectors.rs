//! The directions of the root-to-tuple covariances of one grammar, projected on their principal plane: the input of
//! clustering.

use super::ensemble::Sampled;
use super::parameter::parameters;
use super::purity::counting;
use super::result::results;
use super::{Keeper, Kind};
use anyhow::Result;
use gardenpath::{Moments, Sampler, Seed, Symbol};

parameters! {
    /// The parameters.
    pub struct Vectors {
        ..sampled: Sampled;
        samples: u64 => "Number of sentences";
        parents: usize = 4 => "Number of parents whose rules are shown";
        seed: u64 => "Seed of the grammar and its sentences";
    }
}

results! {
    /// The results. Coordinates are those of the rules of the shown parents.
    pub struct VectorsResult {
        pair_parent: Vec<u64> => "Parents of the pairs";
        pair_x: Vec<f64> => "Pairs along their first principal direction";
        pair_y: Vec<f64> => "Pairs along their second principal direction";
        pair_explained: f64 => "Fraction of the variance of pairs in the plane";
        pair_nearest: f64 => "Fraction of all pairs that are nearest to the mean of the others of their own parent";
        triple_parent: Vec<u64> => "Parents of the triples";
        triple_overlaps: Vec<u64> => "1 for triples that contain a binary rule, otherwise 0";
        triple_x: Vec<f64> => "Triples along their first principal direction";
        triple_y: Vec<f64> => "Triples along their second principal direction";
        triple_explained: f64 => "Fraction of the variance of triples in the plane";
        triple_nearest: f64 => "Fraction of all triples that are nearest to the mean of the others of their own parent";
        corrected_x: Vec<f64> => "Triples after the correction for pairs, along their first principal direction";
        corrected_y: Vec<f64> => "The same along their second principal direction";
        corrected_explained: f64 => "Fraction of the variance of corrected triples in the plane";
        corrected_nearest: f64 => "Fraction of all corrected triples that are nearest to the mean of their own parent";
    }
}

impl Kind for Vectors {
    type Output = VectorsResult;

    const NAME: &'static str = "vectors";
    const MEANING: &'static str = "Covariances of rules with the root, projected on a plane";
    // 2: flat results.
    const VERSION: u32 = 2;

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()
    }

    fn run(&self, _: &dyn Keeper) -> Result<VectorsResult> {
        let grammar = self.sampled.grammar(self.seed)?;
        let mut moments = Moments::new(grammar.vocab(), grammar.classes())?;
        moments.add_sampled(&Sampler::new(&grammar), Seed::new(self.seed), 0..self.samples)?;
        let covariance = moments.covariance();
        let rules = grammar.layer(grammar.depth() - 1).rules();
        let is_pair = |a: Symbol, b: Symbol| rules.iter().any(|rule| rule.children.as_slice() == [a, b]);
        let (mut pairs, mut triples) = (Panel::default(), Panel::default());
        let (mut corrected, mut overlaps) = (Panel::default(), Vec::new());
        for rule in rules {
            match *rule.children.as_slice() {
                [a, b] => pairs.push(rule.parent, covariance.pair_vector(a, b)),
                [a, b, c] => {
                    triples.push(rule.parent, covariance.triple_vector(a, b, c));
                    corrected.push(rule.parent, &covariance.corrected_triple(a, b, c));
                    if usize::from(rule.parent) < self.parents {
                        overlaps.push(u64::from(is_pair(a, b) || is_pair(b, c)));
                    }
                }
                _ => {}
            }
        }
        let [pairs, triples, corrected] = [pairs, triples, corrected].map(|panel| panel.project(self.parents));
        Ok(VectorsResult {
            pair_parent: pairs.parents,
            pair_x: pairs.x,
            pair_y: pairs.y,
            pair_explained: pairs.explained,
            pair_nearest: pairs.nearest,
            triple_parent: triples.parents,
            triple_overlaps: overlaps,
            triple_x: triples.x,
            triple_y: triples.y,
            triple_explained: triples.explained,
            triple_nearest: triples.nearest,
            corrected_x: corrected.x,
            corrected_y: corrected.y,
            corrected_explained: corrected.explained,
            corrected_nearest: corrected.nearest,
        })
    }

    fn work(&self) -> f64 {
        // Each rule is compared with all others.
        let comparing = 6e-9 * self.sampled.rules().powi(2) * self.sampled.vocab as f64;
        self.sampled.work() + counting(&self.sampled, self.samples as f64) + comparing
    }

    fn tiny(&self) -> Self {
        Vectors { sampled: Sampled::tiny(12, 2, 0.25), samples: 300_000, parents: 4, seed: 1 }
    }
}

/// Vectors with their parents.
#[derive(Default)]
struct Panel {
    parents: Vec<Symbol>,
    rows: Vec<Vec<f64>>,
}

/// A panel as drawn: coordinates in the plane, and the explained variance.
struct Projected {
    parents: Vec<u64>,
    x: Vec<f64>,
    y: Vec<f64>,
    explained: f64,
    /// The fraction of all vectors, shown or not, that are nearest to the mean of the others of their own parent.
    nearest: f64,
}

impl Panel {
    fn push(&mut self, parent: Symbol, vector: &[f64]) {
        // Clustering compares directions.
        let length = dot(vector, vector).sqrt();
        self.parents.push(parent);
        self.rows.push(vector.iter().map(|value| value / length).collect());
    }

    /// The coordinates of the vectors of the first few parents.
    fn project(self, shown: usize) -> Projected {
        let nearest = nearest_to_own(&self.parents, &self.rows);
        let shown = self.parents.into_iter().zip(self.rows).filter(|(parent, _)| usize::from(*parent) < shown);
        let (parents, mut rows): (Vec<u64>, Vec<Vec<f64>>) =
            shown.map(|(parent, row)| (u64::from(parent), row)).unzip();
        centre(&mut rows);
        let total: f64 = rows.iter().flatten().map(|x| x * x).sum();
        let first = principal_direction(&rows);
        let x: Vec<f64> = rows.iter().map(|row| dot(row, &first)).collect();
        for (row, &x) in rows.iter_mut().zip(&x) {
            row.iter_mut().zip(&first).for_each(|(value, direction)| *value -= x * direction);
        }
        let second = principal_direction(&rows);
        let y: Vec<f64> = rows.iter().map(|row| dot(row, &second)).collect();
        let explained = x.iter().chain(&y).map(|x| x * x).sum::<f64>() / total;
        Projected { parents, x, y, explained, nearest }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn mean(rows: &[&Vec<f64>]) -> Vec<f64> {
    let dimension = rows.first().map_or(0, |row| row.len());
    (0..dimension).map(|i| rows.iter().map(|row| row[i]).sum::<f64>() / rows.len() as f64).collect()
}

fn centre(rows: &mut [Vec<f64>]) {
    let mean = mean(&rows.iter().collect::<Vec<_>>());
    rows.iter_mut().for_each(|row| row.iter_mut().zip(&mean).for_each(|(value, mean)| *value -= mean));
}

/// The fraction of rows that are nearer to the mean of the others of their group than to that of any other group.
fn nearest_to_own(parents: &[Symbol], rows: &[Vec<f64>]) -> f64 {
    let groups: std::collections::BTreeSet<Symbol> = parents.iter().copied().collect();
    let distance = |i: usize, group: Symbol| {
        let others = (0..rows.len()).filter(|&j| j != i && parents[j] == group).map(|j| &rows[j]);
        let centre = mean(&others.collect::<Vec<_>>());
        rows[i].iter().zip(&centre).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
    };
    let own =
        |&i: &usize| groups.iter().all(|&group| group == parents[i] || distance(i, parents[i]) < distance(i, group));
    (0..rows.len()).filter(own).count() as f64 / rows.len() as f64
}

/// The first principal direction of centered rows, by power iteration; its largest coordinate is positive.
fn principal_direction(rows: &[Vec<f64>]) -> Vec<f64> {
    const ROUNDS: usize = 1000;
    let longest = rows.iter().max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)));
    let mut direction = longest.cloned().unwrap_or_default();
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; direction.len()];
        for row in rows {
            let weight = dot(row, &direction);
            next.iter_mut().zip(row).for_each(|(next, value)| *next += weight * value);
        }
        let length = dot(&next, &next).sqrt();
        if length == 0.0 {
            break;
        }
        next.iter_mut().for_each(|value| *value /= length);
        direction = next;
    }
    let length = dot(&direction, &direction).sqrt().max(f64::MIN_POSITIVE);
    let largest = direction.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(1.0);
    direction.iter().map(|value| value / length * largest.signum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_plane_are_found_there() {
        // Two groups along one axis, spread along another; a constant coordinate adds no variance.
        let mut panel = Panel::default();
        for i in 0..20 {
            let group = i % 2;
            let side = if group == 0 { 10.0 } else { -10.0 };
            panel.rows.push(vec![7.0, side, f64::from(i / 2) - 4.5, 0.0]);
            panel.parents.push(group);
        }
        let projected = panel.project(2);
        assert!((projected.explained - 1.0).abs() < 1e-9);
        assert!(projected.x.iter().all(|x| (x.abs() - 10.0).abs() < 1e-6), "{:?}", projected.x);
        assert_eq!(projected.nearest, 1.0);
    }
}
