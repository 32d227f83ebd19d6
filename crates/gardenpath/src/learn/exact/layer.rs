//! One layer of rules: which tuples are rules, and which of them have the same parent.

use super::observe::{Lexicon, View};
use super::segment::NodeLaw;
use super::{LevelReport, Options};
use crate::arity::PerArity;
use crate::corpus::Corpus;
use crate::error::{Error, Result};
use crate::grammar::{Children, Grammar, Rule, Symbol};
use crate::theory::lengths::length_distribution;
use std::ops::Range;

/// Expected counts that every tuple loses in each step, so that those which explain nothing die out.
const SPARSITY: f64 = 0.3;

/// Tuples with less than this share of a typical one's probability are not rules.
const TYPICAL_SHARE: f64 = 0.05;

/// Steps of expectation maximisation, at most.
const ROUNDS: usize = 60;

/// Starts of the clustering by labels.
const STARTS: usize = 20;

/// Passes of the clustering by context, at most.
const PASSES: usize = 20;

/// Parents whose log-likelihood is within this many nats of the best one's are kept in mind.
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
    /// The factor per token that keeps the weights of the level's candidates near one.
    pub token_scale: f64,
}

/// What was learned about a layer.
pub(super) struct Found {
    pub rules: Vec<Rule>,
    /// The rules that may have another parent.
    pub doubts: Vec<Doubt>,
    pub report: LevelReport,
    /// The factor per token that keeps the weights of the new symbols near one.
    pub token_scale: f64,
}

/// Learns the rules of a layer, and which of them may have another parent.
pub(super) fn learn(task: &Task, options: &Options, progress: &mut dyn FnMut(&str)) -> Result<Found> {
    let vocab = options.vocab;
    let &Task { grammar, corpus, training, level, classes, token_scale } = task;
    let law = node_law(level - 1, options.p_binary.unwrap_or(0.5))?;
    // Tokens have no weights.
    let known_scale = if level == options.depth { 1.0 } else { token_scale };
    let mut view = View { grammar, corpus, level, classes, known_scale, law };
    let sample = 0..training.min(12 * vocab.pow(3).max(500));
    let (lexicon, p_binary, blocks_per_token) = find_lexicon(&mut view, sample, options, progress)?;
    let support: Vec<usize> = (0..lexicon.probability.len()).filter(|&t| lexicon.probability[t] > 0.0).collect();
    let mut place = vec![u32::MAX; lexicon.probability.len()];
    support.iter().enumerate().for_each(|(k, &tuple)| place[tuple] = k as u32);

    let labels = view.observe(&lexicon, 0..training, &place, support.len(), None)?;
    let mut stream = options.seed.child("exact").stream(level as u64);
    let mut clustering = labels.cluster(vocab, STARTS, &mut stream);
    progress(&format!("level {level}: {} rules, clustered by label", support.len()));
    let (mut passes, mut moved) = (0, support.len());
    let mut doubts = Vec::new();
    while passes < PASSES && moved > 0 {
        let known = Some((clustering.cluster.as_slice(), vocab));
        let contexts = view.observe(&lexicon, 0..training, &place, support.len(), known)?;
        let next = contexts.refine(clustering.cluster.clone(), vocab);
        let next = contexts.split_and_merge(next, vocab, &mut stream);
        doubts = contexts.doubts(&next.cluster, vocab, DOUBT);
        moved = next.cluster.iter().zip(&clustering.cluster).filter(|(x, y)| x != y).count();
        clustering = next;
        passes += 1;
        let likelihood = clustering.likelihood;
        progress(&format!("level {level}: context pass {passes}, {moved} tuples moved, likelihood {likelihood:.1}"));
    }

    // Clusters that nothing is in are no symbols.
    let (symbol, symbols) = numbers(&clustering.cluster, vocab);
    let mut totals = vec![0.0; symbols];
    let members = || support.iter().zip(&clustering.cluster).map(|(&tuple, &z)| (tuple, symbol[z as usize]));
    members().for_each(|(tuple, z)| totals[z] += lexicon.probability[tuple]);
    let rule = |(tuple, z): (usize, usize)| Rule {
        parent: z as Symbol,
        children: view.tuples().children(tuple),
        probability: lexicon.probability[tuple] / totals[z],
    };
    let rules: Vec<Rule> = members().map(rule).collect();
    let doubts = doubts.into_iter().map(|(k, others)| Doubt {
        children: view.tuples().children(support[k]),
        parents: others.into_iter().chain([clustering.cluster[k]]).map(|z| symbol[z as usize] as Symbol).collect(),
    });
    let binary_rules = support.iter().filter(|&&tuple| tuple < view.tuples().pairs()).count();
    let report = LevelReport {
        level,
        binary_rules,
        ternary_rules: support.len() - binary_rules,
        p_binary,
        passes,
        restless: moved as f64 / support.len().max(1) as f64,
        empty_symbols: vocab - symbols,
    };
    // Rules are drawn given their parent: each block is more likely by about the number of parents.
    let parents = (symbols as f64).powf(-blocks_per_token);
    let token_scale = lexicon.token_scale * known_scale * parents;
    Ok(Found { rules, doubts: doubts.collect(), report, token_scale })
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

/// The law of the number of nodes of a level.
fn node_law(level: usize, p_binary: f64) -> Result<NodeLaw> {
    let law = length_distribution(level, PerArity::paper(p_binary))
        .map_err(|e| Error::parameter("p_binary", p_binary, e.to_string()))?;
    Ok(NodeLaw((0..=law.max_len()).map(|nodes| law.probability(nodes)).collect()))
}

/// Finds the lexicon of blocks, the probability of pairs, and the number of blocks per token, by expectation maximisation from a
/// uniform start.
fn find_lexicon(
    view: &mut View,
    sample: Range<usize>,
    options: &Options,
    progress: &mut dyn FnMut(&str),
) -> Result<(Lexicon, f64, f64)> {
    let (tuples, level) = (view.tuples(), view.level);
    let pairs = tuples.pairs();
    let mut p_binary = options.p_binary.unwrap_or(0.5);
    let mut probability = vec![p_binary / pairs as f64; pairs];
    probability.resize(tuples.len(), (1.0 - p_binary) / (tuples.len() - pairs) as f64);
    // One tuple for the tokens of a block of 2.5 nodes.
    let block = 2.5f64.powi((options.depth - level) as i32 + 1);
    let mut lexicon = Lexicon { probability, token_scale: (tuples.len() as f64).powf(1.0 / block) };
    let mut last = f64::NEG_INFINITY;
    for round in 1..=ROUNDS {
        let found = view.count(&lexicon, sample.clone())?;
        let per_token = found.log_likelihood / found.tokens.max(1.0);
        progress(&format!("level {level}: segmentation step {round}, {per_token:.5} nats per token"));
        if options.p_binary.is_none() {
            p_binary = (found.counts[..pairs].iter().sum::<f64>() / found.counts.iter().sum::<f64>()).clamp(0.01, 0.99);
            view.law = node_law(level - 1, p_binary)?;
        }
        maximise(&mut lexicon.probability, &found.counts, pairs, p_binary, SPARSITY);
        lexicon.token_scale = (-per_token).exp() / view.known_scale;
        if (per_token - last).abs() < 1e-5 {
            break;
        }
        last = per_token;
    }
    for range in [0..pairs, pairs..tuples.len()] {
        drop_untypical(&mut lexicon.probability[range]);
    }
    let mut blocks_per_token = 0.0;
    for _ in 0..3 {
        let found = view.count(&lexicon, sample.clone())?;
        blocks_per_token = found.counts.iter().sum::<f64>() / found.tokens.max(1.0);
        maximise(&mut lexicon.probability, &found.counts, pairs, p_binary, 0.0);
    }
    Ok((lexicon, p_binary, blocks_per_token))
}

/// New probabilities from expected counts: pairs and triples have known masses.
fn maximise(probability: &mut [f64], counts: &[f64], pairs: usize, p_binary: f64, sparsity: f64) {
    let ranges = [(0..pairs, p_binary), (pairs..probability.len(), 1.0 - p_binary)];
    for (range, mass) in ranges {
        let total: f64 = counts[range.clone()].iter().map(|count| (count - sparsity).max(0.0)).sum();
        for (p, count) in probability[range.clone()].iter_mut().zip(&counts[range]) {
            *p = if total > 0.0 { mass * (count - sparsity).max(0.0) / total } else { 0.0 };
        }
    }
}

/// Sets probabilities to zero that are small beside that of the tuple in the middle of the mass.
pub(super) fn drop_untypical(probability: &mut [f64]) {
    let mut sorted: Vec<f64> = probability.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.iter().sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let middle = sorted.into_iter().find(|p| {
        sum += p;
        sum >= half
    });
    let least = TYPICAL_SHARE * middle.unwrap_or(0.0);
    probability.iter_mut().filter(|p| **p < least).for_each(|p| *p = 0.0);
}
