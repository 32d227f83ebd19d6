//! Which tuples of a level are rules: the lexicon of blocks that explains the sentences best, found without labels.

use super::observe::View;
use super::segment::NodeLaw;
use crate::arity::PerArity;
use crate::error::Result;
use crate::learn::{Branching, Outline, Progress};
use crate::tuple::TupleCode;
use std::ops::Range;

/// How probable each tuple is as one block, and the factor per token, beside that of the known candidates, that keeps sums near one.
#[derive(Clone, Debug)]
pub(super) struct Lexicon {
    pub probability: Vec<f64>,
    pub token_scale: f64,
}

/// Expected counts subtracted from every tuple in each step, so that tuples which explain nothing die out.
const SPARSITY: f64 = 0.3;

/// Tuples with less than this share of a typical one's probability are not rules.
const TYPICAL_SHARE: f64 = 0.05;

/// Steps of expectation maximisation, at most.
const ROUNDS: usize = 60;

/// No number of children that is possible becomes less probable than this.
const LEAST_SHARE: f64 = 0.01;

/// Finds the lexicon of blocks and the number of blocks per token, by expectation maximisation from a uniform start.
pub(super) fn find(
    view: &mut View,
    sample: Range<usize>,
    outline: &Outline,
    progress: &mut dyn FnMut(&Progress),
) -> Result<(Lexicon, f64)> {
    let (code, level) = (view.code(), view.level);
    let mut branching = outline.branching.probabilities();
    let mut probability = vec![0.0; code.len()];
    for (arity, mass) in branching.nonzero() {
        probability[code.range(arity)].fill(mass / code.range(arity).len() as f64);
    }
    // One tuple for the tokens of a block of so many nodes.
    let arities = code.arities();
    let mean = arities.iter().sum::<usize>() as f64 / arities.iter().count() as f64;
    let block = mean.powi((outline.depth - level) as i32 + 1);
    let mut lexicon = Lexicon { probability, token_scale: (code.len() as f64).powf(1.0 / block) };
    let mut shelf = view.shelf(sample);
    let mut last = f64::NEG_INFINITY;
    for step in 1..=ROUNDS {
        let found = view.count(&lexicon, &mut shelf)?;
        let per_token = found.log_likelihood / found.tokens.max(1.0);
        progress(&Progress::Segmented { level, step, per_token });
        if let Branching::Learned(_) = outline.branching {
            branching = shares(&code, &found.counts);
            view.law = NodeLaw::new(level - 1, branching);
        }
        lexicon.maximise(&found.counts, &code, branching, SPARSITY);
        lexicon.token_scale = (-per_token).exp() / view.known_scale;
        if (per_token - last).abs() < 1e-5 {
            break;
        }
        last = per_token;
    }
    arities.iter().for_each(|arity| drop_untypical(&mut lexicon.probability[code.range(arity)]));
    let mut blocks_per_token = 0.0;
    for _ in 0..3 {
        let found = view.count(&lexicon, &mut shelf)?;
        blocks_per_token = found.counts.iter().sum::<f64>() / found.tokens.max(1.0);
        lexicon.maximise(&found.counts, &code, branching, 0.0);
    }
    Ok((lexicon, blocks_per_token))
}

/// The share of each number of children among expected counts of tuples.
fn shares(code: &TupleCode, counts: &[f64]) -> PerArity<f64> {
    let (total, others) = (counts.iter().sum::<f64>(), code.arities().iter().count() as f64 - 1.0);
    let most = 1.0 - LEAST_SHARE * others;
    let share = |arity| (counts[code.range(arity)].iter().sum::<f64>() / total).clamp(LEAST_SHARE, most);
    let mut shares: PerArity<f64> = code.arities().iter().map(|arity| (arity, share(arity))).collect();
    let last = code.arities().most();
    let shorter: f64 = shares.nonzero().filter(|(arity, _)| *arity < last).map(|(_, share)| share).sum();
    shares[last] = (1.0 - shorter).max(LEAST_SHARE);
    shares
}

impl Lexicon {
    /// New probabilities from expected counts: the tuples of each arity have a known mass.
    fn maximise(&mut self, counts: &[f64], code: &TupleCode, branching: PerArity<f64>, sparsity: f64) {
        for (arity, mass) in branching.nonzero() {
            let (own, counts) = (&mut self.probability[code.range(arity)], &counts[code.range(arity)]);
            let total: f64 = counts.iter().map(|count| (count - sparsity).max(0.0)).sum();
            for (p, count) in own.iter_mut().zip(counts) {
                *p = if total > 0.0 { mass * (count - sparsity).max(0.0) / total } else { 0.0 };
            }
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
