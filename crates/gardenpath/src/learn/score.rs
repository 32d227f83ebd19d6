//! How close a learned grammar is to the true one: matched rules, level by level, and answers on fresh sentences.
//!
//! Tokens and roots have known names. The symbols between them do not, so each level's learned symbols are matched
//! one to one with the true ones by the number of rules they share, from the tokens up: the matching of a level
//! renames the children of the rules above it.
//!
//! A grammar learned without labels has one start symbol. It is compared as if the true grammar had one too: at the root only
//! the tuples count.

mod assignment;
mod next_token;
mod sentences;

pub use assignment::best_assignment;
pub use next_token::{NextTokenScore, score_next_token};
pub use sentences::{Answers, SentenceScore, answers, score_sentences};

use crate::arity::PerArity;
use crate::error::{Error, Result};
use crate::grammar::{Children, Grammar, Layer, Rule, Symbol};
use crate::learn::paper::TupleRule;
use std::collections::{BTreeMap, HashMap};

/// Correct, learned and true rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleScore {
    /// Learned rules that are true: the same children, and parents that are matched.
    pub correct: usize,
    /// All learned rules.
    pub learned: usize,
    /// All true rules.
    pub truth: usize,
}

/// The score of one layer of rules.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelScore {
    /// The level of the parents.
    pub level: usize,
    /// The rules with each number of children.
    pub rules: PerArity<RuleScore>,
    /// Mean group purity of the true rules with each number of children; NaN without any.
    pub purity: PerArity<f64>,
    /// The true symbol that each learned parent is matched with.
    pub matching: Vec<Option<Symbol>>,
}

impl RuleScore {
    /// The share of the learned rules that are true; 1 if nothing was learned.
    pub fn precision(&self) -> f64 {
        if self.learned == 0 { 1.0 } else { self.correct as f64 / self.learned as f64 }
    }

    /// The share of the true rules that were learned; 1 if there are none.
    pub fn recall(&self) -> f64 {
        if self.truth == 0 { 1.0 } else { self.correct as f64 / self.truth as f64 }
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        let all = self.learned + self.truth;
        if all == 0 { 1.0 } else { 2.0 * self.correct as f64 / all as f64 }
    }

    /// Whether every rule was found and none invented.
    pub fn is_exact(&self) -> bool {
        self.correct == self.learned && self.correct == self.truth
    }
}

impl LevelScore {
    /// Whether the layer was learned without an error.
    pub fn is_exact(&self) -> bool {
        self.rules.nonzero().all(|(_, rules)| rules.is_exact())
    }
}

/// Compares the rules of two grammars of the same depth; the scores are ordered from the root down. Levels may differ in size:
/// symbols that have no partner have no right rule. If only the learned grammar has a single class, that stands for all true ones.
///
/// ```
/// use gardenpath::learn::score::score_rules;
/// use gardenpath::{Ensemble, Seed};
///
/// let grammar = Ensemble::new(8, 3).sample(Seed::new(7))?;
/// let scores = score_rules(&grammar, &grammar)?;
/// assert!(scores.iter().all(|level| level.is_exact()));
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn score_rules(learned: &Grammar, truth: &Grammar) -> Result<Vec<LevelScore>> {
    check_comparable(learned, truth)?;
    if learned.classes() == 1 && truth.classes() > 1 {
        return score_rules(learned, &with_one_class(truth)?);
    }
    let depth = truth.depth();
    // Tokens and classes are the same if they have the same number.
    let same = |learned: usize, truth: usize| -> Vec<Option<Symbol>> {
        (0..learned).map(|symbol| (symbol < truth).then_some(symbol as Symbol)).collect()
    };
    let mut names = same(learned.vocab(), truth.vocab());
    let mut scores = Vec::with_capacity(depth);
    for level in (0..depth).rev() {
        let comparison = Comparison::new(learned.layer(level), truth.layer(level), &names);
        let matching = if level == 0 { same(learned.classes(), truth.classes()) } else { comparison.matching() };
        scores.push(comparison.score(level, &matching));
        names = matching;
    }
    scores.reverse();
    Ok(scores)
}

/// The same sentences from one start symbol, which has the rules of all classes.
fn with_one_class(grammar: &Grammar) -> Result<Grammar> {
    let mut tuples: BTreeMap<Children, f64> = BTreeMap::new();
    for rule in grammar.layer(0).rules() {
        *tuples.entry(rule.children).or_default() += grammar.prior()[usize::from(rule.parent)] * rule.probability;
    }
    let (mut sizes, mut layers) = (grammar.sizes().to_vec(), Vec::with_capacity(grammar.depth()));
    sizes[0] = 1;
    let possible = tuples.into_iter().filter(|(_, probability)| *probability > 0.0);
    layers.push(possible.map(|(children, probability)| Rule { parent: 0, children, probability }).collect());
    layers.extend(grammar.layers()[1..].iter().map(|layer| layer.rules().to_vec()));
    Grammar::new(sizes, vec![1.0], layers)
}

/// Compares the inferred rules of one layer, `parents` symbols rewritten into the true names of their children, with the true
/// layer: the scores of the rules with each number of children.
///
/// ```
/// use gardenpath::learn::paper::TupleRule;
/// use gardenpath::learn::score::score_layer;
/// use gardenpath::{Ensemble, Seed};
///
/// let grammar = Ensemble::new(8, 1).sample(Seed::new(7))?;
/// // All rules, but the parents have other names.
/// let rules = grammar.layer(0).rules().iter();
/// let mut inferred: Vec<TupleRule> =
///     rules.map(|rule| TupleRule { parent: 7 - rule.parent, children: rule.children }).collect();
/// let scores = score_layer(&inferred, 8, grammar.layer(0));
/// assert!(scores[2].is_exact() && scores[3].is_exact());
/// inferred.pop();
/// assert!(score_layer(&inferred, 8, grammar.layer(0))[3].recall() < 1.0);
/// # Ok::<(), gardenpath::Error>(())
/// ```
///
/// # Panics
///
/// If a parent is not below `parents`.
pub fn score_layer(rules: &[TupleRule], parents: usize, truth: &Layer) -> PerArity<RuleScore> {
    let is_known = |children: &Children| children.iter().all(|child| usize::from(child) < truth.children());
    let known =
        |rule: &TupleRule| (usize::from(rule.parent), rule.children.len(), Some(rule.children).filter(is_known));
    let comparison = Comparison { truth, parents, learned: rules.iter().map(known).collect() };
    comparison.score(0, &comparison.matching()).rules
}

/// Rejects grammars that cannot be compared.
fn check_comparable(learned: &Grammar, truth: &Grammar) -> Result<()> {
    if learned.depth() == truth.depth() {
        return Ok(());
    }
    Err(Error::Size {
        what: "depth of the learned grammar",
        found: learned.depth(),
        expected: truth.depth(),
        of: "that of the true one",
    })
}

/// A learned layer in the true names of its children.
struct Comparison<'g> {
    truth: &'g Layer,
    parents: usize,
    /// The learned rules: parent, and children if all of them have true names.
    learned: Vec<(usize, usize, Option<Children>)>,
}

impl<'g> Comparison<'g> {
    fn new(learned: &Layer, truth: &'g Layer, names: &[Option<Symbol>]) -> Self {
        let rename = |children: Children| {
            let symbols = children.iter().map(|child| names[usize::from(child)]).collect::<Option<Vec<Symbol>>>()?;
            Children::from_slice(&symbols)
        };
        let rules = learned.rules().iter();
        let learned_rules = rules.map(|r| (usize::from(r.parent), r.children.len(), rename(r.children))).collect();
        Comparison { truth, parents: learned.parents(), learned: learned_rules }
    }

    /// The true parents of a learned rule's children.
    fn true_parents(&self, children: Option<Children>) -> impl Iterator<Item = usize> + '_ {
        let rules = children.into_iter().flat_map(|children| self.truth.rules_with(children));
        rules.map(|rule| usize::from(self.truth.rules()[rule].parent))
    }

    /// The matching of learned with true parents under which most rules are right.
    fn matching(&self) -> Vec<Option<Symbol>> {
        let mut shared = vec![vec![0.0; self.truth.parents()]; self.parents];
        for &(parent, _, children) in &self.learned {
            self.true_parents(children).for_each(|true_parent| shared[parent][true_parent] += 1.0);
        }
        best_assignment(&shared).into_iter().map(|true_parent| true_parent.map(|symbol| symbol as Symbol)).collect()
    }

    fn score(&self, level: usize, matching: &[Option<Symbol>]) -> LevelScore {
        let mut rules = PerArity::<RuleScore>::default();
        self.truth.rules().iter().for_each(|rule| rules[rule.children.len()].truth += 1);
        for &(parent, arity, children) in &self.learned {
            let mut parents = self.true_parents(children);
            rules[arity].correct += usize::from(parents.any(|z| matching[parent].map(usize::from) == Some(z)));
            rules[arity].learned += 1;
        }
        let groups: HashMap<Children, usize> =
            self.learned.iter().filter_map(|&(parent, _, children)| Some((children?, parent))).collect();
        let purity = |arity: usize| {
            let rules = || self.truth.rules().iter().filter(|rule| rule.children.len() == arity);
            let parents: Vec<usize> = rules().map(|rule| usize::from(rule.parent)).collect();
            let found: Vec<Option<usize>> = rules().map(|rule| groups.get(&rule.children).copied()).collect();
            group_purity(&parents, &found)
        };
        let purity = (1..=Children::MAX).map(|arity| (arity, purity(arity))).collect();
        LevelScore { level, rules, purity, matching: matching.to_vec() }
    }
}

/// Mean group purity: for each true group, the share of its members in the cluster that holds most of them. Members
/// without a cluster count as astray. NaN without members.
///
/// ```
/// use gardenpath::learn::score::group_purity;
/// assert_eq!(group_purity(&[0, 0, 1, 1], &[Some(5), Some(5), Some(5), None]), 0.75);
/// ```
pub fn group_purity(groups: &[usize], clusters: &[Option<usize>]) -> f64 {
    let mut sizes: HashMap<usize, usize> = HashMap::new();
    let mut joint: HashMap<(usize, usize), usize> = HashMap::new();
    for (&group, cluster) in groups.iter().zip(clusters) {
        *sizes.entry(group).or_default() += 1;
        if let Some(cluster) = *cluster {
            *joint.entry((group, cluster)).or_default() += 1;
        }
    }
    let mut largest: HashMap<usize, usize> = HashMap::new();
    for (&(group, _), &count) in &joint {
        let most = largest.entry(group).or_default();
        *most = count.max(*most);
    }
    // In the order of the groups, so that the rounding is always the same.
    let mut shares: Vec<(usize, f64)> = sizes
        .iter()
        .map(|(&group, &size)| (group, largest.get(&group).copied().unwrap_or(0) as f64 / size as f64))
        .collect();
    shares.sort_by_key(|&(group, _)| group);
    shares.iter().map(|(_, share)| share).sum::<f64>() / shares.len() as f64
}
