//! Inferring the rules of one layer from covariances: Algorithms 2 and 3, and the last step of Algorithm 1.

use crate::cluster::{KMeans, dot, normalize};
use crate::error::{Error, Result};
use crate::grammar::{Children, Symbol};
use crate::moments::Covariance;
use rayon::prelude::*;

/// A rule without a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TupleRule {
    /// The symbol that is rewritten.
    pub parent: Symbol,
    /// What it is rewritten into.
    pub children: Children,
}

/// The binary rules of a layer and the direction of each of its parents.
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryRules {
    /// The rules, by their children.
    pub rules: Vec<TupleRule>,
    /// `[parent][root]`, each of norm 1.
    centroids: Vec<f64>,
    classes: usize,
}

/// How a triple is compared with a centroid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// By the inner product, as in the paper's proposition: long vectors are more certain.
    InnerProduct,
    /// By the cosine, as in its Algorithm 3.
    Cosine,
}

impl BinaryRules {
    /// The number of parents.
    pub fn parents(&self) -> usize {
        self.centroids.len() / self.classes
    }

    /// The normalised centroid of the pairs of a parent (the paper's `c_z`).
    pub fn centroid(&self, parent: Symbol) -> &[f64] {
        &self.centroids[usize::from(parent) * self.classes..][..self.classes]
    }
}

/// Algorithm 2: the pairs whose covariance vectors are longer than `tau_2 = gamma / v * (sum of squares)^(1/2)`, that
/// is `gamma` times their root mean square, clustered by direction.
///
/// ```
/// use gardenpath::learn::paper::infer_binary;
/// use gardenpath::{Ensemble, ExpectedMoments, KMeans, Seed};
///
/// let grammar = Ensemble::new(16, 2).sample(Seed::new(7))?;
/// let binary = infer_binary(&ExpectedMoments::new(&grammar)?.covariance(), 0.85, &KMeans::new(16))?;
/// assert_eq!(binary.parents(), 16);
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn infer_binary(covariance: &Covariance, gamma: f64, kmeans: &KMeans) -> Result<BinaryRules> {
    let (symbols, classes) = (covariance.symbols(), covariance.classes());
    let threshold = gamma * covariance.pair_energy().sqrt() / symbols as f64;
    let (mut kept, mut rows) = (Vec::new(), Vec::new());
    for [a, b] in pairs(symbols) {
        let mut row = covariance.pair_vector(a, b).to_vec();
        if normalize(&mut row) > threshold {
            kept.push(Children::from([a, b]));
            rows.extend(row);
        }
    }
    if kept.is_empty() {
        return Err(Error::NothingFound { what: "pairs", threshold });
    }
    let clustering = kmeans.fit(&rows, classes)?;
    let mut centroids: Vec<f64> =
        (0..clustering.clusters()).flat_map(|cluster| clustering.centroid(cluster).to_vec()).collect();
    centroids.chunks_mut(classes).for_each(|centroid| {
        normalize(centroid);
    });
    let rule = |(&children, &label): (&Children, &usize)| TupleRule { parent: label as Symbol, children };
    Ok(BinaryRules { rules: kept.iter().zip(clustering.labels()).map(rule).collect(), centroids, classes })
}

/// Algorithm 3: the triples whose corrected covariance vector aligns with some centroid by more than `tau_3`, which is
/// `gamma` times the mean over all triples of their best alignment.
///
/// ```
/// use gardenpath::learn::paper::{Alignment, infer_binary, infer_ternary};
/// use gardenpath::{Ensemble, ExpectedMoments, KMeans, Seed};
///
/// let grammar = Ensemble::new(16, 2).sample(Seed::new(7))?;
/// let covariance = ExpectedMoments::new(&grammar)?.covariance();
/// let binary = infer_binary(&covariance, 0.85, &KMeans::new(16))?;
/// let ternary = infer_ternary(&covariance, &binary, 1.5, Alignment::InnerProduct);
/// assert!(ternary.len() > 800 && ternary.len() < 1600, "{} of 1024", ternary.len());
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn infer_ternary(
    covariance: &Covariance,
    binary: &BinaryRules,
    gamma: f64,
    alignment: Alignment,
) -> Vec<TupleRule> {
    keep_aligned(align_triples(covariance, binary, alignment), gamma)
}

/// The first half of Algorithm 3: for every triple, in the order of its symbols, how well it aligns with the centroid that fits it
/// best, and the rule with that parent.
pub fn align_triples(covariance: &Covariance, binary: &BinaryRules, alignment: Alignment) -> Vec<(f64, TupleRule)> {
    let symbols = covariance.symbols();
    let best_of_first = |a: usize| {
        let mut corrected = vec![0.0; covariance.classes()];
        let mut best = Vec::with_capacity(symbols * symbols);
        for [b, c] in pairs(symbols) {
            covariance.correct_triple(a as Symbol, b, c, &mut corrected);
            if alignment == Alignment::Cosine {
                normalize(&mut corrected);
            }
            let scores = binary.centroids.chunks(binary.classes).map(|centroid| dot(&corrected, centroid));
            let (parent, score) = first_maximum(scores);
            best.push((score, TupleRule { parent, children: Children::from([a as Symbol, b, c]) }));
        }
        best
    };
    let best: Vec<Vec<(f64, TupleRule)>> = (0..symbols).into_par_iter().map(best_of_first).collect();
    best.concat()
}

/// The second half of Algorithm 3: the rules of triples that align by more than `gamma` times the mean.
pub fn keep_aligned(aligned: Vec<(f64, TupleRule)>, gamma: f64) -> Vec<TupleRule> {
    let threshold = gamma * aligned.iter().map(|(score, _)| score).sum::<f64>() / aligned.len() as f64;
    aligned.into_iter().filter(|(score, _)| *score > threshold).map(|(_, rule)| rule).collect()
}

/// The last step of Algorithm 1: the children of each root, from covariances of complete spans.
///
/// The paper asks for covariances above the noise. Here a tuple is a rule of every root with which its covariance
/// exceeds a threshold of the same form as in the other layers: `gamma_binary` times the root mean square of the
/// largest covariance of each pair, `gamma_ternary` times the mean of that of each triple. A root without such a
/// tuple keeps the one with the largest covariance; the second result is how many of those there are.
pub fn infer_root(covariance: &Covariance, gamma_binary: f64, gamma_ternary: f64) -> Result<(Vec<TupleRule>, usize)> {
    let (symbols, classes) = (covariance.symbols(), covariance.classes());
    let pairs: Vec<Children> = pairs(symbols).map(|[a, b]| Children::from([a, b])).collect();
    let triples: Vec<Children> = (0..symbols)
        .flat_map(|a| self::pairs(symbols).map(move |[b, c]| Children::from([a as Symbol, b, c])))
        .collect();
    let vector = |children: &Children| match *children.as_slice() {
        [a, b] => covariance.pair_vector(a, b),
        [a, b, c] => covariance.triple_vector(a, b, c),
        _ => unreachable!("children are pairs or triples"),
    };
    let largest = |tuple: &Children| vector(tuple).iter().fold(0.0, |most: f64, &x| most.max(x));
    let energy: f64 = pairs.iter().map(|pair| largest(pair).powi(2)).sum();
    let pair_threshold = gamma_binary * (energy / pairs.len() as f64).sqrt();
    let triple_threshold = gamma_ternary * triples.iter().map(largest).sum::<f64>() / triples.len() as f64;
    let mut rules = Vec::new();
    // The best tuple of each root, in units of the threshold of its arity.
    let mut best = vec![(f64::NEG_INFINITY, Children::from([0, 0])); classes];
    let tuples = pairs.iter().map(|pair| (pair, pair_threshold)).chain(triples.iter().map(|t| (t, triple_threshold)));
    for (&children, threshold) in tuples.filter(|&(_, threshold)| threshold > 0.0) {
        for (root, &value) in vector(&children).iter().enumerate() {
            if value > threshold {
                rules.push(TupleRule { parent: root as Symbol, children });
            }
            if value / threshold > best[root].0 {
                best[root] = (value / threshold, children);
            }
        }
    }
    if rules.is_empty() {
        return Err(Error::NothingFound { what: "root rules", threshold: pair_threshold.min(triple_threshold) });
    }
    let mut fallbacks = 0;
    for (root, &(value, children)) in best.iter().enumerate() {
        if value <= 1.0 {
            rules.push(TupleRule { parent: root as Symbol, children });
            fallbacks += 1;
        }
    }
    Ok((rules, fallbacks))
}

fn pairs(symbols: usize) -> impl Iterator<Item = [Symbol; 2]> {
    (0..symbols * symbols).map(move |pair| [(pair / symbols) as Symbol, (pair % symbols) as Symbol])
}

fn first_maximum(scores: impl Iterator<Item = f64>) -> (Symbol, f64) {
    let largest = scores.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
    largest.map_or((0, f64::NEG_INFINITY), |(index, score)| (index as Symbol, score))
}
