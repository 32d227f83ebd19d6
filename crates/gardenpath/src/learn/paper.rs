//! The paper's learning algorithm (Algorithms 1-3), as it stands.
//!
//! From the tokens up: covariances of adjacent symbols with the root give the rules of a layer ([`infer_binary`],
//! [`infer_ternary`]); the Boolean chart of the rules learned so far gives the candidates of the next level; and so
//! on to the root, whose rules are the tuples of candidates that cover whole sentences of one label.
//!
//! At finite vocabularies the result is close to the true grammar, not equal to it, even with exact moments.

mod infer;
mod protocol;

pub use infer::{
    Alignment, BinaryRules, TupleRule, align_triples, infer_binary, infer_root, infer_ternary, keep_aligned,
};
pub use protocol::{GroupPurity, cluster_true_rules};

use crate::arity::PerArity;
use crate::chart::Parser;
use crate::cluster::KMeans;
use crate::corpus::Corpus;
use crate::error::{Error, Reals, Result};
use crate::grammar::{Children, Grammar, Rule, Symbol};
use crate::learn::census::{Census, labelled};
use crate::learn::{Learned, Learner, Outline, Progress};
use crate::moments::{Covariance, Moments, Tuples, count_candidates};
use crate::seed::Seed;
use crate::semiring::Recognition;
use crate::shape::Shape;

/// The algorithm with its parameters.
///
/// Nodes have two or three children, each with probability 1/2 unless the outline gives others.
///
/// ```
/// use gardenpath::learn::{Learner, Outline, Paper};
/// use gardenpath::{Corpus, Ensemble, Seed};
///
/// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
/// let corpus = Corpus::sample(&grammar, Seed::new(1), 0..100_000);
/// let learned = Paper::new(Outline::new(8, 2)).learn(&corpus, &mut |_| ())?;
/// assert_eq!(learned.grammar.depth(), 2);
/// assert!(learned.levels[1].rules[2] > 10);
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Paper {
    /// What is known about the grammar.
    pub outline: Outline,
    /// The factor of the threshold `tau_2`.
    pub gamma_binary: f64,
    /// The factor of the threshold `tau_3`.
    pub gamma_ternary: f64,
    /// How triples are compared with the centroids of the pairs.
    pub alignment: Alignment,
    /// The number of starts of k-means.
    pub restarts: u64,
    /// Their seed.
    pub seed: Seed,
}

impl Paper {
    /// The parameters that work: `gamma_binary` 0.85, `gamma_ternary` 1.5, alignment by inner product, ten starts.
    pub fn new(outline: Outline) -> Self {
        let (gamma_binary, gamma_ternary) = (0.85, 1.5);
        let alignment = Alignment::InnerProduct;
        Paper { outline, gamma_binary, gamma_ternary, alignment, restarts: 10, seed: Seed::new(0) }
    }
}

impl Learner for Paper {
    /// Rules of one symbol and arity are equally likely. A symbol without rules of one arity gives its mass to the
    /// other; a symbol without any rule does not exist, except for roots: those keep their best tuple.
    fn learn(&self, corpus: &Corpus, progress: &mut dyn FnMut(&Progress)) -> Result<Learned> {
        self.outline.check(Shape::MAX_DEPTH, 3)?;
        let gammas = [self.gamma_binary, self.gamma_ternary];
        if let Some(&wrong) = gammas.iter().find(|gamma| !(gamma.is_finite() && **gamma > 0.0)) {
            return Err(Error::real("factor of a threshold", wrong, Reals::Positive));
        }
        let (depth, branching) = (self.outline.depth, self.outline.branching.probabilities());
        let corpus = &*labelled(corpus)?;
        let Census { tokens, prior } = Census::new(corpus, &self.outline)?;
        let classes = prior.len();
        let mut moments = Moments::new(tokens, classes)?;
        // With a single layer, the tokens themselves are the children of the root.
        if depth > 1 {
            moments.add_corpus(corpus)?;
        } else {
            moments = self.observe(corpus, &[], &[tokens], classes)?;
        }
        // The layers learned so far and the sizes of their levels, from the tokens up.
        let (mut layers, mut sizes) = (Vec::new(), vec![tokens]);
        for level in (1..depth).rev() {
            let (parents, rules) = self.infer_layer(&moments.covariance(), level)?;
            progress(&Progress::Inferred { level, rules: rules.len() });
            layers.push(with_probabilities(parents, &rules, branching));
            sizes.push(parents);
            moments = self.observe(corpus, &layers, &sizes, classes)?;
        }
        let (mut rules, empty_classes) = infer_root(&moments.covariance(), self.gamma_binary, self.gamma_ternary)?;
        rules.retain(|rule| prior[usize::from(rule.parent)] > 0.0);
        progress(&Progress::Inferred { level: 0, rules: rules.len() });
        layers.push(with_probabilities(classes, &rules, branching));
        sizes.push(classes);
        layers.reverse();
        sizes.reverse();
        Ok(Learned::unjudged(Grammar::new(sizes, prior, layers)?, empty_classes))
    }
}

impl Paper {
    /// The rules of a layer below the root, from the covariances of its children, and the number of parents.
    fn infer_layer(&self, covariance: &Covariance, level: usize) -> Result<(usize, Vec<TupleRule>)> {
        let kmeans = KMeans::new(self.outline.size(level)).restarts(self.restarts).seed(self.seed.nth(level as u64));
        let binary = infer_binary(covariance, self.gamma_binary, &kmeans)?;
        let mut rules = binary.rules.clone();
        rules.extend(infer_ternary(covariance, &binary, self.gamma_ternary, self.alignment));
        Ok((binary.parents(), rules))
    }

    /// The moments of the candidates of the highest level that the learned layers reach.
    fn observe(&self, corpus: &Corpus, layers: &[Vec<Rule>], sizes: &[usize], classes: usize) -> Result<Moments> {
        let level = self.outline.depth - layers.len();
        // Above it, one symbol per level that can have two or three children, so that spans are those of the true
        // depth.
        let any = |children: &[Symbol]| Rule {
            parent: 0,
            children: Children::from_slice(children).expect("two or three symbols"),
            probability: 0.5,
        };
        let mut all_sizes = vec![1; level];
        let mut all_layers = vec![vec![any(&[0, 0]), any(&[0, 0, 0])]; level];
        all_sizes.extend(sizes.iter().rev());
        all_layers.extend(layers.iter().rev().cloned());
        let grammar = Grammar::new(all_sizes, vec![1.0], all_layers)?;
        let tuples = if level == 1 { Tuples::Complete } else { Tuples::Adjacent };
        let moments = count_candidates(&Parser::<Recognition>::new(&grammar), corpus, level, classes, tuples)?;
        if moments.pair_total() + moments.triple_total() == 0 {
            return Err(Error::NothingParsed { sentences: corpus.len(), level });
        }
        Ok(moments)
    }
}

/// Equal probabilities for the rules of one symbol and arity; an arity without rules gives its mass to the other.
fn with_probabilities(parents: usize, rules: &[TupleRule], branching: PerArity<f64>) -> Vec<Rule> {
    let mut counts = vec![PerArity::<usize>::default(); parents];
    rules.iter().for_each(|rule| counts[usize::from(rule.parent)][rule.children.len()] += 1);
    let with_probability = |&TupleRule { parent, children }: &TupleRule| {
        let (arity, counts) = (children.len(), counts[usize::from(parent)]);
        let mass = if counts[5 - arity] == 0 { 1.0 } else { branching[arity] };
        Rule { parent, children, probability: mass / counts[arity] as f64 }
    };
    // Rules of an arity that never occurs have no mass.
    rules.iter().map(with_probability).filter(|rule| rule.probability > 0.0).collect()
}
