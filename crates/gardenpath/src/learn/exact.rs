//! A learner that recovers every rule.
//!
//! It goes up from the tokens. At each level a sentence is a sequence of blocks: tuples of adjacent candidates, each of which
//! was one node above. First the tuples that are rules are found, without labels, as the lexicon that explains the sentences
//! best (`layer`). Then they are clustered by what stands around them: the label, and the clusters of their neighbours
//! (`mixture`). A cluster is a symbol of the next level, and the chart is filled one level further by the parser's own
//! recursion. At the top the labels are the symbols (`root`). Rules whose parent was not certain are then decided by the whole
//! grammar (`repair`). The result is judged by sentences that were kept back
//! (`verdict`): a grammar that cannot be trusted is called so, with the reason.

mod lattice;
mod layer;
mod mixture;
mod observe;
mod repair;
mod root;
mod segment;
mod verdict;

use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::grammar::{Children, Grammar, Rule, Symbol};
use crate::learn::uses;
use crate::seed::Seed;
use crate::shape::Shape;
pub use verdict::Verdict;

/// How often doubtful rules are decided again, at most.
const REPAIRS: usize = 3;

/// What the learner is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of symbols of each level.
    pub vocab: usize,
    /// The number of layers of rules.
    pub depth: usize,
    /// The probability that a node has two children; learned if it is not given.
    pub p_binary: Option<f64>,
    /// The seed of the starts of the clustering.
    pub seed: Seed,
}

/// What happened at one level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelReport {
    /// The level of the children, from the number of layers down to 1.
    pub level: usize,
    /// The number of binary rules that were found.
    pub binary_rules: usize,
    /// The number of ternary rules that were found.
    pub ternary_rules: usize,
    /// The probability of two children, given or learned.
    pub p_binary: f64,
    /// The number of passes of the clustering by context; none at the root, whose symbols are known.
    pub passes: usize,
    /// The share of the tuples that still changed their cluster in the last pass.
    pub restless: f64,
    /// The number of symbols for which no rule was found.
    pub empty_symbols: usize,
}

/// A learned grammar.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The grammar, of the same type as a sampled one. The symbols of inner levels are numbered arbitrarily.
    pub grammar: Grammar,
    /// Whether it can be trusted, found without knowing the truth.
    pub verdict: Verdict,
    /// One report per level, from the tokens up.
    pub levels: Vec<LevelReport>,
}

/// Learns a grammar from sentences and their root labels. `progress` is told about every step.
///
/// ```
/// use gardenpath::learn::exact::{Options, Verdict, learn};
/// use gardenpath::{Corpus, Ensemble, Seed};
///
/// let truth = Ensemble::new(8, 2).fraction(0.25).sample(Seed::new(3))?;
/// let corpus = Corpus::sample(&truth, Seed::new(4), 0..10_000);
/// let options = Options { vocab: 8, depth: 2, p_binary: Some(0.5), seed: Seed::new(0) };
/// let learned = learn(&corpus, &options, &mut |_| ())?;
/// assert_eq!(learned.verdict, Verdict::Converged);
/// assert_eq!(learned.grammar.layer(1).rules().len(), 8 * (2 + 16));
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn learn(corpus: &Corpus, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Learned> {
    check(corpus, options)?;
    let Options { vocab, depth, .. } = *options;
    let training = verdict::training(corpus);
    let mut layers: Vec<Vec<Rule>> = vec![placeholder(vocab); depth];
    let mut doubts = vec![Vec::new(); depth];
    let mut levels = Vec::new();
    for level in (2..=depth).rev() {
        let grammar = grammar_of(options, &layers)?;
        let (mut rules, doubtful, mut report) = layer::learn(&grammar, corpus, training, level, options, progress)?;
        report.empty_symbols = fill_empty_symbols(&mut rules, vocab);
        levels.push(report);
        layers[level - 1] = rules;
        doubts[level - 1] = doubtful;
    }
    let learn_root = |layers: &mut Vec<Vec<Rule>>, progress: &mut dyn FnMut(&str)| -> Result<LevelReport> {
        let (mut rules, mut report) = root::learn(&grammar_of(options, layers)?, corpus, training, progress)?;
        report.empty_symbols = fill_empty_symbols(&mut rules, vocab);
        layers[0] = rules;
        Ok(report)
    };
    let mut report = learn_root(&mut layers, progress)?;
    for round in 1..=REPAIRS {
        let doubtful: usize = doubts.iter().map(Vec::len).sum();
        if doubtful == 0 {
            break;
        }
        progress(&format!("deciding {doubtful} doubtful rules, round {round}"));
        let (decided, changed) = repair::repair(&grammar_of(options, &layers)?, &doubts, corpus, training)?;
        if !changed {
            break;
        }
        layers = decided;
        layers[1..].iter_mut().for_each(|rules| _ = fill_empty_symbols(rules, vocab));
        report = learn_root(&mut layers, progress)?;
    }
    levels.push(report);
    progress("estimating the probabilities of all rules");
    let found = grammar_of(options, &layers)?;
    let counted = uses::count_uses(&found, corpus, 0..training)?;
    let grammar = uses::reestimate(&found, &counted)?;
    let verdict = verdict::judge(&grammar, corpus, training, &counted, &levels)?;
    Ok(Learned { grammar, verdict, levels })
}

fn check(corpus: &Corpus, options: &Options) -> Result<()> {
    let Options { vocab, depth, p_binary, .. } = *options;
    if !(2..=Grammar::MAX_VOCAB).contains(&vocab) {
        return Err(Error::parameter("vocab", vocab, format!("2 to {}", Grammar::MAX_VOCAB)));
    }
    if !(1..=7).contains(&depth) {
        return Err(Error::parameter("depth", depth, "1 to 7"));
    }
    if let Some(p) = p_binary
        && !(p > 0.0 && p < 1.0)
    {
        return Err(Error::parameter("p_binary", p, "between 0 and 1: both kinds of rules are learned"));
    }
    if corpus.len() < 10 * vocab {
        return Err(Error::parameter("number of sentences", corpus.len(), format!("at least {}", 10 * vocab)));
    }
    let lengths = Shape::mixed(depth).lengths();
    for (i, (sentence, &root)) in corpus.sentences().zip(corpus.roots()).enumerate() {
        if let Some(&token) = sentence.iter().find(|&&token| usize::from(token) >= vocab) {
            let value = format!("{token} in sentence {i}");
            return Err(Error::parameter("token", value, format!("less than the vocab of {vocab}")));
        }
        if usize::from(root) >= vocab {
            let value = format!("{root} of sentence {i}");
            return Err(Error::parameter("root", value, format!("less than the vocab of {vocab}")));
        }
        if !lengths.contains(&sentence.len()) {
            let expected = format!("{} to {} tokens at depth {depth}", lengths.start(), lengths.end());
            return Err(Error::parameter("length", format!("{} of sentence {i}", sentence.len()), expected));
        }
    }
    Ok(())
}

fn grammar_of(options: &Options, layers: &[Vec<Rule>]) -> Result<Grammar> {
    let prior = vec![1.0 / options.vocab as f64; options.vocab];
    Grammar::new(vec![options.vocab; options.depth + 1], prior, layers.to_vec())
}

/// Rules of both arities for layers that are not known yet: only their shape is used.
fn placeholder(vocab: usize) -> Vec<Rule> {
    let rules = |z: usize| {
        let z = z as Symbol;
        [Children::pair(z, z), Children::triple(z, z, z)].map(|children| Rule { parent: z, children, probability: 0.5 })
    };
    (0..vocab).flat_map(rules).collect()
}

/// Gives symbols without rules some, so that the grammar is whole; returns how many there were.
fn fill_empty_symbols(rules: &mut Vec<Rule>, vocab: usize) -> usize {
    let mut filled = vec![false; vocab];
    rules.iter().for_each(|rule| filled[usize::from(rule.parent)] = true);
    let empty = filled.iter().filter(|filled| !**filled).count();
    rules.extend(placeholder(vocab).into_iter().filter(|rule| !filled[usize::from(rule.parent)]));
    empty
}
