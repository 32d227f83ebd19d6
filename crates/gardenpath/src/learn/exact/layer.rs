//! One layer of rules: which tuples are rules, and which of them have the same parent.

use super::Exact;
use super::contexts::Contexts;
use super::lexicon::{self, Lexicon};
use super::observe::{Sides, View};
use super::segment::NodeLaw;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Children, Grammar, Rule, Symbol};
use crate::learn::Progress;
use crate::tuple::TupleCode;

/// Starts of the clustering by labels.
const STARTS: usize = 20;

/// Passes of the clustering by context, at most.
const PASSES: usize = 20;

/// Alternative parents are kept if their log-likelihood is within this many nats of the best.
const DOUBT: f64 = 25.0;

/// A rule whose parent is not certain.
#[derive(Clone, Debug)]
pub(super) struct Doubt {
    pub children: Children,
    /// The parents that it may have.
    pub parents: Vec<Symbol>,
}

/// One layer to learn: the rules whose children are on `level`.
pub(super) struct Task<'a> {
    /// The layers below, which are known.
    pub grammar: &'a Grammar,
    pub corpus: &'a Corpus,
    /// The number of sentences to learn from.
    pub training: usize,
    pub level: usize,
    pub classes: usize,
    /// Whether there are labels that differ.
    pub labelled: bool,
    /// The factor per token that keeps the weights of the level's candidates near one.
    pub token_scale: f64,
}

/// What was learned about a layer.
pub(super) struct Found {
    pub rules: Vec<Rule>,
    /// The rules that may have another parent.
    pub doubts: Vec<Doubt>,
    /// The number of parents that have no rules.
    pub empty_symbols: usize,
    /// The factor per token that keeps the weights of the new symbols near one.
    pub token_scale: f64,
}

/// Learns the rules of a layer, and which of them may have another parent.
pub(super) fn learn(task: &Task, options: &Exact, progress: &mut dyn FnMut(&Progress)) -> Result<Found> {
    let &Task { grammar, corpus, training, level, classes, labelled, token_scale } = task;
    let outline = &options.outline;
    let parents = outline.size(level - 1);
    // Tokens have no weights.
    let known_scale = if level == outline.depth { 1.0 } else { token_scale };
    let law = NodeLaw::new(level - 1, outline.branching.probabilities());
    let mut view = View { grammar, corpus, level, classes, known_scale, law };
    let code = view.code();
    let enough = 12 * parents.saturating_pow(code.arities().most().max(3) as u32).max(500);
    let (lexicon, blocks_per_token) = lexicon::find(&mut view, 0..training.min(enough), outline, progress)?;
    let support: Vec<usize> = (0..lexicon.probability.len()).filter(|&t| lexicon.probability[t] > 0.0).collect();
    let mut place = vec![u32::MAX; lexicon.probability.len()];
    support.iter().enumerate().for_each(|(k, &tuple)| place[tuple] = k as u32);

    // Without labels, tuples are told apart by the symbols next to them.
    let mut contexts = Contexts::read(&view, &lexicon, 0..training, &place, support.len())?;
    let edges = || Sides::edges(support.iter().map(|&tuple| code.children(tuple)), code.symbols());
    let first = if labelled { contexts.labels() } else { contexts.observe(&edges())? };
    let mut stream = options.seed.child("exact").stream(level as u64);
    let mut clustering = first.cluster(parents, STARTS, &mut stream);
    progress(&Progress::Clustered { level, rules: support.len() });
    let (mut pass, mut moved) = (0, support.len());
    let mut doubts = Vec::new();
    while pass < PASSES && moved > 0 {
        let clusters = Sides::clusters(&clustering.cluster, parents);
        let around = contexts.observe(&clusters)?;
        let next = around.refine(clustering.cluster.clone(), parents);
        let next = around.split_and_merge(next, parents, &mut stream);
        doubts = around.doubts(&next.cluster, parents, DOUBT);
        moved = next.cluster.iter().zip(&clustering.cluster).filter(|(x, y)| x != y).count();
        clustering = next;
        pass += 1;
        progress(&Progress::Refined { level, pass, moved, likelihood: clustering.likelihood });
    }

    // Empty clusters are not symbols.
    let (symbol, symbols) = numbers(&clustering.cluster, parents);
    let mut totals = vec![0.0; symbols];
    let members = || support.iter().zip(&clustering.cluster).map(|(&tuple, &z)| (tuple, symbol[z as usize]));
    members().for_each(|(tuple, z)| totals[z] += lexicon.probability[tuple]);
    let rule = |(tuple, z): (usize, usize)| Rule {
        parent: z as Symbol,
        children: code.children(tuple),
        probability: lexicon.probability[tuple] / totals[z],
    };
    let rules: Vec<Rule> = members().map(rule).collect();
    // A rule that is also a sequence of others was seen among the neighbours of those: any parent may be right.
    let is_composite = |k: usize| is_composite(code.children(support[k]).as_slice(), &code, &lexicon);
    doubts.retain(|&(k, _)| !is_composite(k));
    let others = |own: u32| (0..parents as u32).filter(|&z| z != own && clustering.cluster.contains(&z)).collect();
    doubts.extend((0..support.len()).filter(|&k| is_composite(k)).map(|k| (k, others(clustering.cluster[k]))));
    let doubts = doubts.into_iter().map(|(k, others)| Doubt {
        children: code.children(support[k]),
        parents: others.into_iter().chain([clustering.cluster[k]]).map(|z| symbol[z as usize] as Symbol).collect(),
    });
    // Rules are drawn given their parent: each block is more likely by about the number of parents.
    let chosen = (symbols as f64).powf(-blocks_per_token);
    let token_scale = lexicon.token_scale * known_scale * chosen;
    Ok(Found { rules, doubts: doubts.collect(), empty_symbols: parents - symbols, token_scale })
}

/// Whether a tuple is a sequence of shorter rules.
fn is_composite(tuple: &[Symbol], code: &TupleCode, lexicon: &Lexicon) -> bool {
    let is_rule = |part: &[Symbol]| code.arities().contains(part.len()) && lexicon.probability[code.of(part)] > 0.0;
    (1..tuple.len()).any(|cut| {
        let (first, rest) = tuple.split_at(cut);
        is_rule(first) && (is_rule(rest) || is_composite(rest, code, lexicon))
    })
}

/// Numbers the clusters that have members, in order: the number of each cluster, and how many there are.
fn numbers(cluster: &[u32], clusters: usize) -> (Vec<usize>, usize) {
    let mut occurs = vec![false; clusters];
    cluster.iter().for_each(|&z| occurs[z as usize] = true);
    let mut next = 0;
    let number = |occurs: &bool| {
        next += usize::from(*occurs);
        next.saturating_sub(1)
    };
    (occurs.iter().map(number).collect(), next)
}
