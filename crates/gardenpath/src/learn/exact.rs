//! A learner that recovers every rule.
//!
//! It goes up from the tokens. At each level a sentence is a sequence of blocks: tuples of adjacent candidates, each of which
//! was one node above. First the tuples that are rules are found, without labels, as the lexicon that explains the sentences
//! best (`lexicon`). Then they are clustered by what stands around them: the label, and the clusters of their neighbours
//! (`layer`, `mixture`). A cluster is a symbol of the next level, and the chart is filled one level further by the parser's own
//! recursion. At the top the labels are the symbols (`root`). Rules whose parent was not certain are then decided by the whole
//! grammar (`repair`). Finally the result is tested, without ground truth
//! (`verdict`): a grammar that cannot be trusted is reported as such, with the reason.

mod contexts;
mod contingency;
mod draft;
mod independence;
mod kinds;
mod lattice;
mod layer;
mod lexicon;
mod likelihood;
mod missing;
mod mixture;
mod observe;
mod repair;
mod root;
mod segment;
mod shelf;
mod verdict;

use super::census::{Census, labelled, labels_differ, shuffled};
use super::{Learned, LearnedLevel, Learner, Outline, Progress, uses};
use crate::corpus::Corpus;
use crate::error::{Counts, Error, Reals, Result};
use crate::memory;
use crate::seed::Seed;
use crate::shape::Shape;
use crate::tuple::TupleCode;
use draft::Draft;

/// The most rounds of deciding doubtful rules.
const REPAIRS: usize = 3;

/// The learner that recovers every rule, or says why not.
///
/// The result does not depend on the order of the sentences, nor on the number of threads. Time grows in proportion to the number of
/// sentences.
///
/// ```
/// use gardenpath::learn::{Exact, Learner, Outline, Verdict};
/// use gardenpath::{Corpus, Ensemble, Seed};
///
/// let truth = Ensemble::new(8, 2).fraction(0.25).sample(Seed::new(3))?;
/// let corpus = Corpus::sample(&truth, Seed::new(4), 0..10_000);
/// let learned = Exact::new(Outline::new(8, 2)).learn(&corpus, &mut |_| ())?;
/// assert_eq!(learned.verdict, Verdict::Converged);
/// assert_eq!(learned.grammar.layer(1).rules().len(), 8 * (2 + 16));
/// # Ok::<(), gardenpath::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Exact {
    /// What is known about the grammar.
    pub outline: Outline,
    /// The seed of the order of the sentences and of the starts of the clustering.
    pub seed: Seed,
    /// The share of labels and tokens that may be wrong: underivable sentences count as noise if they are no more than that
    /// explains and ask for no common rule.
    pub noise: f64,
    /// Whether a sentence whose length no tree has is an error. Otherwise it is skipped and counted.
    pub strict: bool,
}

impl Exact {
    /// The default tolerance for wrong labels and tokens.
    pub const NOISE: f64 = 0.02;

    /// Tolerates a little noise, and skips sentences of impossible length.
    pub fn new(outline: Outline) -> Self {
        Exact { outline, seed: Seed::new(0), noise: Self::NOISE, strict: false }
    }

    fn check(&self, corpus: &Corpus) -> Result<Shape> {
        let depth = self.outline.depth;
        self.outline.check(7, 4)?;
        if !(0.0..1.0).contains(&self.noise) {
            return Err(Error::real("noise", self.noise, Reals::ProperShare));
        }
        let shape = self.outline.shape()?;
        let usable = corpus.sentences().filter(|sentence| shape.has_length(sentence.len())).count();
        if let Some(i) = corpus.sentences().position(|sentence| !shape.has_length(sentence.len()))
            && (self.strict || usable == 0)
        {
            let (least, most) = shape.lengths().into_inner();
            let (len, allowed) = (corpus.sentence(i).len(), Counts::Between(least, most));
            return Err(Error::Length { len, sentence: i + 1, allowed, depth });
        }
        let least = 10 * self.outline.most_symbols();
        if usable < least {
            return Err(Error::count("number of sentences", usable, Counts::AtLeast(least)));
        }
        Ok(shape)
    }

    /// Rejects tables of tuples that do not fit into memory: each thread counts in two of its own.
    fn check_memory(&self, census: &Census) -> Result<()> {
        let (depth, arities) = (self.outline.depth, self.outline.branching.arities());
        let tables = 8 * (2 * rayon::current_num_threads() as u128 + 4);
        for (level, symbols) in self.outline.sizes(census.classes(), census.tokens).into_iter().enumerate().skip(1) {
            let tuples = TupleCode::new(symbols, arities).len() as u128;
            let rows = if level == 1 { census.classes() as u128 } else { 1 };
            let what = format!("counting {tuples} tuples of {symbols} symbols");
            memory::check(what, tables * rows * tuples)?;
        }
        let longest = arities.most().pow(depth as u32) as u128;
        let nodes = longest / arities.most() as u128;
        memory::check(
            format_args!("cutting sentences of {longest} tokens into {nodes} nodes"),
            tables * longest * nodes,
        )
    }
}

impl Learner for Exact {
    fn learn(&self, corpus: &Corpus, progress: &mut dyn FnMut(&Progress)) -> Result<Learned> {
        let shape = self.check(corpus)?;
        let corpus = &*labelled(corpus)?;
        let census = Census::new(corpus, &self.outline)?;
        self.check_memory(&census)?;
        let (corpus, skipped) = shuffled(corpus, &shape, self.seed);
        let corpus = &corpus;
        let training = verdict::training(corpus);
        let depth = self.outline.depth;
        let mut draft = Draft::new(&self.outline, census.tokens);
        let (mut doubts, mut empty_symbols) = (vec![Vec::new(); depth], vec![0; depth]);
        let mut token_scale = 1.0;
        for level in (2..=depth).rev() {
            let grammar = &draft.grammar()?;
            let (classes, labelled) = (census.classes(), labels_differ(&census.prior));
            let task = layer::Task { grammar, corpus, training, level, classes, labelled, token_scale };
            let found = layer::learn(&task, self, progress)?;
            draft.set(level - 1, found.rules);
            (doubts[level - 1], empty_symbols[level - 1]) = (found.doubts, found.empty_symbols);
            token_scale = found.token_scale;
        }
        let learn_root = |draft: &mut Draft, progress: &mut dyn FnMut(&Progress)| -> Result<usize> {
            let grammar = draft.below_root()?;
            let rules = root::learn(&grammar, corpus, training, census.classes(), token_scale, progress)?;
            Ok(draft.set_root(rules, &census.prior))
        };
        empty_symbols[0] = learn_root(&mut draft, progress)?;
        for round in 1..=REPAIRS {
            let rules: usize = doubts.iter().map(Vec::len).sum();
            if rules == 0 {
                break;
            }
            progress(&Progress::Repairing { rules, round });
            let (decided, changed) = repair::repair(&draft.grammar()?, &doubts, corpus, training)?;
            if !changed {
                break;
            }
            let renumbered = draft.replace(decided);
            empty_symbols[0] = learn_root(&mut draft, progress)?;
            if renumbered {
                break;
            }
        }
        progress(&Progress::Estimating);
        let mut found = draft.grammar()?;
        let mut counted = uses::count_uses(&found, corpus, 0..training)?;
        // Sentences that lose a wrong rule may fall back on another wrong one, so repeat.
        while let Some(rules) = verdict::without_noise(&found, &counted) {
            draft.replace(rules);
            found = draft.grammar()?;
            counted = uses::count_uses(&found, corpus, 0..training)?;
        }
        let grammar = uses::reestimate(&found, &counted)?;
        let levels = LearnedLevel::of(&grammar, &empty_symbols);
        progress(&Progress::Testing);
        let (verdict, underivable) =
            verdict::judge(&grammar, corpus, training, skipped, &counted, empty_symbols[0], self)?;
        let (skipped, underivable) = (Some(skipped), Some(underivable));
        Ok(Learned { grammar, verdict, levels, skipped, underivable, log_likelihood: None })
    }
}
