//! A learner that recovers every rule.
//!
//! It goes up from the tokens. At each level a sentence is a sequence of blocks: tuples of adjacent candidates, each of which
//! was one node above. First the tuples that are rules are found, without labels, as the lexicon that explains the sentences
//! best (`layer`). Then they are clustered by what stands around them: the label, and the clusters of their neighbours
//! (`mixture`). A cluster is a symbol of the next level, and the chart is filled one level further by the parser's own
//! recursion. At the top the labels are the symbols (`root`). Rules whose parent was not certain are then decided by the whole
//! grammar (`repair`). The result is then tested, without knowing the truth
//! (`verdict`): a grammar that cannot be trusted is called so, with the reason.

mod contingency;
mod independence;
mod lattice;
mod layer;
mod layers;
mod likelihood;
mod missing;
mod mixture;
mod observe;
mod repair;
mod root;
mod segment;
mod verdict;

use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::grammar::Grammar;
use crate::learn::data::{Census, shuffled};
use crate::learn::uses;
use crate::seed::Seed;
use layers::{Layers, shape};
pub use verdict::Verdict;

/// How often doubtful rules are decided again, at most.
const REPAIRS: usize = 3;

/// What the learner is told.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of symbols of each level between the root and the tokens.
    pub vocab: usize,
    /// The number of layers of rules.
    pub depth: usize,
    /// The probability that a node has two children; learned if it is not given. With 1 or 0 all nodes have two or three.
    pub p_binary: Option<f64>,
    /// The seed of the order of the sentences and of the starts of the clustering.
    pub seed: Seed,
    /// The least number of tokens. There are more if the corpus has more.
    pub tokens: usize,
    /// The least number of classes. There are more if the labels say so; classes that never occur get no rules.
    pub classes: usize,
    /// The share of labels and tokens that may be wrong: underivable sentences count as noise if they are no more than that
    /// explains and ask for no common rule.
    pub noise: f64,
    /// Whether a sentence whose length no tree has is an error. Otherwise it is skipped and counted.
    pub strict: bool,
}

impl Options {
    /// The share of wrong labels and tokens that is tolerated unless said otherwise.
    pub const NOISE: f64 = 0.02;

    /// Options for grammars with `vocab` symbols between root and tokens and `depth` layers: everything else is learned.
    pub fn new(vocab: usize, depth: usize) -> Self {
        Options {
            vocab,
            depth,
            p_binary: None,
            seed: Seed::new(0),
            tokens: 0,
            classes: 0,
            noise: Self::NOISE,
            strict: false,
        }
    }
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
    /// The number of symbols for which no rule was found: of those that the learner was told of, or of the classes that occur.
    pub empty_symbols: usize,
}

/// A learned grammar.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The grammar, of the same type as a sampled one. The symbols of inner levels are numbered arbitrarily; the prior holds
    /// the frequencies of the labels.
    pub grammar: Grammar,
    /// Whether it can be trusted, found without knowing the truth.
    pub verdict: Verdict,
    /// One report per level, from the tokens up.
    pub levels: Vec<LevelReport>,
    /// The number of sentences that were skipped because no tree has their length.
    pub skipped: usize,
    /// The number of sentences that the grammar does not derive from their label, skipped ones left out.
    pub underivable: usize,
}

/// Learns a grammar from sentences and their root labels. `progress` is told about every step.
///
/// The result does not depend on the order of the sentences, nor on the number of threads. Time grows in proportion to the number of
/// sentences.
///
/// ```
/// use gardenpath::learn::exact::{Options, Verdict, learn};
/// use gardenpath::{Corpus, Ensemble, Seed};
///
/// let truth = Ensemble::new(8, 2).fraction(0.25).sample(Seed::new(3))?;
/// let corpus = Corpus::sample(&truth, Seed::new(4), 0..10_000);
/// let learned = learn(&corpus, &Options::new(8, 2), &mut |_| ())?;
/// assert_eq!(learned.verdict, Verdict::Converged);
/// assert_eq!(learned.grammar.layer(1).rules().len(), 8 * (2 + 16));
/// # Ok::<(), gardenpath::Error>(())
/// ```
pub fn learn(corpus: &Corpus, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Learned> {
    check(corpus, options)?;
    let census = Census::new(corpus, options.tokens, options.classes)?;
    let (corpus, skipped) = shuffled(corpus, &shape(options), options.seed);
    let corpus = &corpus;
    let training = verdict::training(corpus);
    let mut layers = Layers::new(options, census.tokens);
    let mut doubts = vec![Vec::new(); options.depth];
    let mut levels = Vec::new();
    let mut token_scale = 1.0;
    for level in (2..=options.depth).rev() {
        let grammar = &layers.grammar()?;
        let task = layer::Task { grammar, corpus, training, level, classes: census.classes(), token_scale };
        let found = layer::learn(&task, options, progress)?;
        levels.push(found.report);
        layers.set(level - 1, found.rules);
        doubts[level - 1] = found.doubts;
        token_scale = found.token_scale;
    }
    let learn_root = |layers: &mut Layers, progress: &mut dyn FnMut(&str)| -> Result<LevelReport> {
        let grammar = layers.below_root()?;
        let (rules, mut report) = root::learn(&grammar, corpus, training, census.classes(), token_scale, progress)?;
        report.empty_symbols = layers.set_root(rules, &census.prior);
        Ok(report)
    };
    let mut report = learn_root(&mut layers, progress)?;
    for round in 1..=REPAIRS {
        let doubtful: usize = doubts.iter().map(Vec::len).sum();
        if doubtful == 0 {
            break;
        }
        progress(&format!("deciding {doubtful} doubtful rules, round {round}"));
        let (decided, changed) = repair::repair(&layers.grammar()?, &doubts, corpus, training)?;
        if !changed {
            break;
        }
        let renumbered = layers.replace(decided);
        report = learn_root(&mut layers, progress)?;
        if renumbered {
            break;
        }
    }
    levels.push(report);
    progress("estimating the probabilities of all rules");
    let mut found = layers.grammar()?;
    let mut counted = uses::count_uses(&found, corpus, 0..training)?;
    // Sentences that lose a wrong rule may lean on another one.
    while let Some(rules) = verdict::without_noise(&found, &counted) {
        layers.replace(rules);
        found = layers.grammar()?;
        counted = uses::count_uses(&found, corpus, 0..training)?;
    }
    let grammar = uses::reestimate(&found, &counted)?;
    for report in &mut levels {
        let rules = grammar.layer(report.level - 1).rules();
        report.binary_rules = rules.iter().filter(|rule| rule.children.len() == 2).count();
        report.ternary_rules = rules.len() - report.binary_rules;
    }
    progress("testing the grammar");
    let (verdict, underivable) = verdict::judge(&grammar, corpus, training, skipped, &counted, &levels, options)?;
    Ok(Learned { grammar, verdict, levels, skipped, underivable })
}

fn check(corpus: &Corpus, options: &Options) -> Result<()> {
    let Options { vocab, depth, p_binary, noise, .. } = *options;
    if !(1..=Grammar::MAX_VOCAB).contains(&vocab) {
        return Err(Error::parameter("vocab", vocab, format!("1 to {}", Grammar::MAX_VOCAB)));
    }
    if !(1..=7).contains(&depth) {
        return Err(Error::parameter("depth", depth, "1 to 7"));
    }
    if let Some(p) = p_binary
        && !(0.0..=1.0).contains(&p)
    {
        return Err(Error::parameter("p_binary", p, "a probability"));
    }
    if !(0.0..1.0).contains(&noise) {
        return Err(Error::parameter("noise", noise, "a share from 0 up to, but not including, 1"));
    }
    let lengths = shape(options).lengths();
    let possible = |sentence: &[u8]| lengths.contains(&sentence.len());
    let usable = corpus.sentences().filter(|sentence| possible(sentence)).count();
    if let Some(i) = corpus.sentences().position(|sentence| !possible(sentence))
        && (options.strict || usable == 0)
    {
        let expected = format!("{} to {} tokens at depth {depth}", lengths.start(), lengths.end());
        let value = format!("{} in sentence {}", corpus.sentence(i).len(), i + 1);
        return Err(Error::parameter("length", value, expected));
    }
    if usable < 10 * vocab {
        return Err(Error::parameter("number of sentences", usable, format!("at least {}", 10 * vocab)));
    }
    Ok(())
}
