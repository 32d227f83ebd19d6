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

use crate::chart::Parser;
use crate::cluster::KMeans;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::grammar::{Children, Grammar, Rule, Symbol};
use crate::learn::data::Census;
use crate::moments::{Covariance, Moments, Tuples, count_candidates};
use crate::seed::Seed;
use crate::semiring::Recognition;
use crate::shape::Shape;

/// The algorithm with its parameters.
///
/// It is told the number of symbols per level, the depth and the probability of binary rules.
///
/// ```
/// use gardenpath::learn::paper::PaperLearner;
/// use gardenpath::{Corpus, Ensemble, Seed};
///
/// let grammar = Ensemble::new(8, 2).sample(Seed::new(7))?;
/// let corpus = Corpus::sample(&grammar, Seed::new(1), 0..100_000);
/// let learned = PaperLearner::new(8, 2).learn(&corpus)?;
/// assert_eq!(learned.grammar.depth(), 2);
/// assert_eq!(learned.layers[0].level, 1, "from the tokens up");
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PaperLearner {
    vocab: usize,
    depth: usize,
    p_binary: f64,
    gamma_binary: f64,
    gamma_ternary: f64,
    alignment: Alignment,
    restarts: u64,
    seed: Seed,
    tokens: usize,
    classes: usize,
}

/// What was learned, and how.
#[derive(Clone, Debug)]
pub struct PaperOutcome {
    /// The learned grammar. Its root symbols are the labels; the symbols of the other levels are in no particular
    /// order.
    pub grammar: Grammar,
    /// One entry per layer, from the tokens up.
    pub layers: Vec<LayerSummary>,
}

/// The size of one learned layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerSummary {
    /// The level of the parents.
    pub level: usize,
    /// The number of parents that have rules.
    pub parents: usize,
    /// The number of binary rules.
    pub binary: usize,
    /// The number of ternary rules.
    pub ternary: usize,
    /// Roots that got their best tuple as their only rule, since none passed the threshold; 0 above other levels.
    pub fallbacks: usize,
}

impl PaperLearner {
    /// Learns grammars with `vocab` symbols per level and `depth` layers, with the parameters that work:
    /// `gamma_binary` 0.85, `gamma_ternary` 1.5, alignment by inner product, `p_binary` 1/2.
    pub fn new(vocab: usize, depth: usize) -> Self {
        PaperLearner {
            vocab,
            depth,
            p_binary: 0.5,
            gamma_binary: 0.85,
            gamma_ternary: 1.5,
            alignment: Alignment::InnerProduct,
            restarts: 10,
            seed: Seed::new(0),
            tokens: 0,
            classes: 0,
        }
    }

    /// The least numbers of tokens and classes. There are more if the corpus has more; classes that never occur get no rules.
    pub fn sizes(mut self, tokens: usize, classes: usize) -> Self {
        (self.tokens, self.classes) = (tokens, classes);
        self
    }

    /// The total probability of the binary rules of a symbol.
    pub fn p_binary(mut self, p_binary: f64) -> Self {
        self.p_binary = p_binary;
        self
    }

    /// The factors of the thresholds `tau_2` and `tau_3`.
    pub fn gammas(mut self, binary: f64, ternary: f64) -> Self {
        (self.gamma_binary, self.gamma_ternary) = (binary, ternary);
        self
    }

    /// How triples are compared with the centroids of the pairs.
    pub fn alignment(mut self, alignment: Alignment) -> Self {
        self.alignment = alignment;
        self
    }

    /// The number of starts of k-means and their seed.
    pub fn clustering(mut self, restarts: u64, seed: Seed) -> Self {
        (self.restarts, self.seed) = (restarts, seed);
        self
    }

    /// Learns a grammar from sentences and their roots.
    ///
    /// Rules of one symbol and arity are equally likely. A symbol without rules of one arity gives its mass to the
    /// other; a symbol without any rule does not exist, except for roots: those keep their best tuple.
    pub fn learn(&self, corpus: &Corpus) -> Result<PaperOutcome> {
        self.check(corpus)?;
        let Census { tokens, prior } = Census::new(corpus, self.tokens, self.classes)?;
        let classes = prior.len();
        let mut moments = Moments::new(tokens, classes)?;
        // With a single layer, the tokens themselves are the children of the root.
        if self.depth > 1 {
            moments.add_corpus(corpus)?;
        } else {
            moments = self.observe(corpus, &[], &[tokens], classes)?;
        }
        // The layers learned so far and the sizes of their levels, from the tokens up.
        let (mut layers, mut sizes, mut summaries) = (Vec::new(), vec![tokens], Vec::new());
        for level in (1..self.depth).rev() {
            let (parents, rules) = self.infer_layer(&moments.covariance(), level)?;
            summaries.push(LayerSummary::new(level, parents, &rules, 0));
            layers.push(with_probabilities(parents, &rules, self.p_binary));
            sizes.push(parents);
            moments = self.observe(corpus, &layers, &sizes, classes)?;
        }
        let (mut rules, fallbacks) = infer_root(&moments.covariance(), self.gamma_binary, self.gamma_ternary)?;
        rules.retain(|rule| prior[usize::from(rule.parent)] > 0.0);
        summaries.push(LayerSummary::new(0, classes, &rules, fallbacks));
        layers.push(with_probabilities(classes, &rules, self.p_binary));
        sizes.push(classes);
        layers.reverse();
        sizes.reverse();
        Ok(PaperOutcome { grammar: Grammar::new(sizes, prior, layers)?, layers: summaries })
    }

    /// The rules of a layer below the root, from the covariances of its children, and the number of parents.
    fn infer_layer(&self, covariance: &Covariance, level: usize) -> Result<(usize, Vec<TupleRule>)> {
        let kmeans = KMeans::new(self.vocab).restarts(self.restarts).seed(self.seed.nth(level as u64));
        let binary = infer_binary(covariance, self.gamma_binary, &kmeans)?;
        let mut rules = binary.rules.clone();
        rules.extend(infer_ternary(covariance, &binary, self.gamma_ternary, self.alignment));
        Ok((binary.parents(), rules))
    }

    /// The moments of the candidates of the highest level that the learned layers reach.
    fn observe(&self, corpus: &Corpus, layers: &[Vec<Rule>], sizes: &[usize], classes: usize) -> Result<Moments> {
        let level = self.depth - layers.len();
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
            let found = format!("none of {} sentences has two adjacent candidates of level {level}", corpus.len());
            return Err(Error::parameter("learned layer", found, "rules that parse some of the sentences"));
        }
        Ok(moments)
    }

    fn check(&self, corpus: &Corpus) -> Result<()> {
        let expected = |name, value: String, expected: &str| Err(Error::parameter(name, value, expected));
        if !(1..=Grammar::MAX_VOCAB).contains(&self.vocab) {
            return expected("vocab", self.vocab.to_string(), "1 to 255 symbols per level");
        }
        if !(1..=Shape::MAX_DEPTH).contains(&self.depth) {
            return expected("depth", self.depth.to_string(), "1 to 10");
        }
        if !(0.0..=1.0).contains(&self.p_binary) {
            return expected("p_binary", self.p_binary.to_string(), "a probability");
        }
        if corpus.is_empty() {
            return expected("number of sentences", "0".into(), "at least 1");
        }
        let gammas = [self.gamma_binary, self.gamma_ternary];
        if gammas.iter().any(|gamma| !(gamma.is_finite() && *gamma > 0.0)) {
            return expected("factors of the thresholds", format!("{gammas:?}"), "positive numbers");
        }
        Ok(())
    }
}

impl LayerSummary {
    fn new(level: usize, parents: usize, rules: &[TupleRule], fallbacks: usize) -> Self {
        let binary = rules.iter().filter(|rule| rule.children.len() == 2).count();
        LayerSummary { level, parents, binary, ternary: rules.len() - binary, fallbacks }
    }
}

/// Equal probabilities for the rules of one symbol and arity; an arity without rules gives its mass to the other.
fn with_probabilities(parents: usize, rules: &[TupleRule], p_binary: f64) -> Vec<Rule> {
    // `[parent]`: the numbers of binary and of ternary rules.
    let mut counts = vec![[0usize; 2]; parents];
    rules.iter().for_each(|rule| counts[usize::from(rule.parent)][rule.children.len() - 2] += 1);
    let probability = |rule: &TupleRule| {
        let arity = rule.children.len() - 2;
        let count = counts[usize::from(rule.parent)];
        let mass = if count[1 - arity] == 0 { 1.0 } else { [p_binary, 1.0 - p_binary][arity] };
        mass / count[arity] as f64
    };
    let rules =
        rules.iter().map(|rule| Rule { parent: rule.parent, children: rule.children, probability: probability(rule) });
    // With p_binary 0 or 1, rules of the other arity have no mass.
    rules.filter(|rule| rule.probability > 0.0).collect()
}
