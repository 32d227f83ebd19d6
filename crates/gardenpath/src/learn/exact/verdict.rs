//! The self-check of a learned grammar, which needs no ground truth.
//!
//! Four things must hold, and each catches what the others cannot see: every rule rests on several sentences; the rules ignore their
//! context and no two symbols are alike ([`independence`]); the sentences are as likely as the grammar expects ([`likelihood`]); and
//! sentences without a derivation are few and ask for no common rule ([`missing`]). Without labels, a fifth thing: one half of the
//! sentences must confirm what the other says about symbols ([`kinds`]).

use super::independence::{self, Evidence};
use super::missing::{Remedies, remedies};
use super::{Exact, kinds, likelihood};
use crate::arity::PerArity;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Grammar, Layer, Rule};
use crate::learn::Verdict;
use crate::learn::census::labels_differ;
use crate::learn::uses::{Uses, underivable};

/// One sentence out of so many is kept back to judge the result.
const KEPT_BACK: usize = 8;

/// A rule that was used less often than this, in all sentences together, is not trusted.
const FEW_USES: f64 = 4.0;

/// A rule that is expected to have been used less often than this was not used.
const NO_USE: f64 = 0.5;

/// A rule with few uses is noise if its sisters have this many times as many as [`FEW_USES`].
const NOISE_RATIO: f64 = 8.0;

/// How many times as often as any remedy the rarest rule must be used, for underivable sentences to count as noise.
const GAP: f64 = 4.0;

/// Sentences for which trees are drawn, at most.
const TREES: usize = 200_000;

/// The number of sentences that are learned from: the first ones. The others judge the result.
pub(super) fn training(corpus: &Corpus) -> usize {
    corpus.len() - corpus.len() / KEPT_BACK
}

/// The rules without those that no sentence or only typing errors use; `None` if there are none of those.
///
/// A rule with a handful of uses whose sisters have dozens explains sentences that are wrong. Where sisters have few uses as
/// well, it may be right, and the verdict is that there are too few sentences.
pub(super) fn without_noise(grammar: &Grammar, uses: &Uses) -> Option<Vec<Vec<Rule>>> {
    let mut dropped = false;
    let layers = grammar.layers().iter().zip(&uses.counts).enumerate().map(|(level, (layer, counts))| {
        // A class keeps its rules if no sentence uses any: the verdict is about them.
        let unused = |rule: &Rule| layer.rules_of(rule.parent).all(|id| counts[id] < NO_USE);
        let kept = layer.rules().iter().zip(counts).filter(|(rule, count)| {
            let noise = **count < FEW_USES && typical(layer, counts, rule) >= NOISE_RATIO * FEW_USES;
            let drop = noise || (**count < NO_USE && !(level == 0 && unused(rule)));
            dropped |= drop;
            !drop
        });
        kept.map(|(rule, _)| *rule).collect()
    });
    let layers = layers.collect();
    dropped.then_some(layers)
}

/// How often the sisters of a rule are used, those with as many children: the mean over uses, so that rare ones hardly count.
fn typical(layer: &Layer, counts: &[f64], rule: &Rule) -> f64 {
    let sisters = layer.rules_of(rule.parent).filter(|&id| layer.rules()[id].children.len() == rule.children.len());
    let (sum, squares) =
        sisters.fold((0.0, 0.0), |(sum, squares), id| (sum + counts[id], squares + counts[id].powi(2)));
    if sum > 0.0 { squares / sum } else { 0.0 }
}

/// Judges a grammar; returns the verdict and the number of sentences that the grammar does not derive from their label.
///
/// `uses` are those of the training sentences, `skipped` is the number of sentences whose length no tree has, and `empty_classes` that of
/// the classes for which no rule was found.
pub(super) fn judge(
    grammar: &Grammar,
    corpus: &Corpus,
    training: usize,
    skipped: usize,
    uses: &Uses,
    empty_classes: usize,
    options: &Exact,
) -> Result<(Verdict, usize)> {
    let kept_back = underivable(grammar, corpus, training..corpus.len())?;
    let underivable: Vec<usize> = uses.underivable.iter().copied().chain(kept_back).collect();
    let problem = match too_noisy(grammar, corpus, skipped, underivable.len(), options) {
        Some(problem) => Some(problem),
        None => problem(grammar, corpus, training, &underivable, uses, empty_classes, options)?,
    };
    Ok((problem.map_or(Verdict::Converged, Verdict::NotConverged), underivable.len()))
}

/// What is wrong with a grammar that derives nearly all sentences.
fn problem(
    grammar: &Grammar,
    corpus: &Corpus,
    training: usize,
    underivable: &[usize],
    uses: &Uses,
    empty_classes: usize,
    options: &Exact,
) -> Result<Option<String>> {
    // Wrong sizes leave rules unused: this comes first, so that the reason is the cause.
    let trees = corpus.len().min(TREES);
    let observe = |sentences| independence::observe(grammar, corpus, sentences, options.seed);
    let halves = [observe(0..trees / 2)?, observe(trees / 2..trees)?];
    let kinds = || kinds::problem(grammar, &options.outline, &halves, options.seed);
    let alike = || if labels_differ(grammar.prior()) { None } else { kinds() };
    let misfit = misfit(grammar, &independence::test(grammar, &halves)).or_else(|| unused(uses, empty_classes));
    if let Some(problem) = misfit.or_else(alike) {
        return Ok(Some(problem));
    }
    let wanted = remedies(grammar, options.outline.branching.arities(), corpus, underivable)?;
    if let Some(problem) = missing(grammar, uses, &wanted, underivable.len()) {
        return Ok(Some(problem));
    }
    let deviation = likelihood::deviation(grammar, corpus, training..corpus.len(), training, options.seed)?;
    Ok((deviation.abs() > independence::LIMIT).then(|| {
        let (direction, errors) = (if deviation > 0.0 { "more" } else { "less" }, deviation.abs());
        format!("sentences that were kept back are {direction} likely than the grammar expects, by {errors:.1} standard errors")
    }))
}

/// Classes without rules, and rules without uses.
fn unused(uses: &Uses, empty_classes: usize) -> Option<String> {
    if empty_classes > 0 {
        let have = if empty_classes == 1 { "class has" } else { "classes have" };
        return Some(format!("{empty_classes} {have} no rules: too few sentences"));
    }
    let weak = uses.counts.iter().flatten().filter(|count| **count < FEW_USES).count();
    let rules = if weak == 1 { "rule was" } else { "rules were" };
    (weak > 0).then(|| format!("{weak} {rules} used less than {FEW_USES} times: too few sentences"))
}

/// More underivable sentences than wrong labels and tokens can explain.
fn too_noisy(
    grammar: &Grammar,
    corpus: &Corpus,
    skipped: usize,
    underivable: usize,
    options: &Exact,
) -> Option<String> {
    let all = corpus.len() + skipped;
    if skipped as f64 > options.noise * all as f64 {
        return Some(format!(
            "{skipped} of {all} sentences have a length that no tree has: wrong depth or other arities"
        ));
    }
    let touched = |sentence: &[u8]| 1.0 - (1.0 - options.noise).powi(sentence.len() as i32 + 1);
    let allowed: f64 = corpus.sentences().map(touched).sum();
    (underivable as f64 > allowed).then(|| {
        let (total, percent, Wording { derived, wrong }) = (corpus.len(), 100.0 * options.noise, wording(grammar));
        format!(
            "{underivable} of {total} sentences are not {derived}, but {percent}% of wrong {wrong} explain at most {allowed:.0}"
        )
    })
}

/// How sentences should be derived, and what may be wrong with them.
struct Wording {
    derived: &'static str,
    wrong: &'static str,
}

/// Mention labels only if there are any.
fn wording(grammar: &Grammar) -> Wording {
    if labels_differ(grammar.prior()) {
        Wording { derived: "derived from their label", wrong: "labels and tokens" }
    } else {
        Wording { derived: "derived", wrong: "tokens" }
    }
}

/// A rule that underivable sentences have in common, or too few uses to tell one from noise.
fn missing(grammar: &Grammar, uses: &Uses, wanted: &Remedies, underivable: usize) -> Option<String> {
    let scale = underivable as f64 / wanted.sentences.max(1) as f64;
    let mut rarest = vec![PerArity::all(f64::INFINITY); grammar.depth()];
    for ((layer, counts), rarest) in grammar.layers().iter().zip(&uses.counts).zip(&mut rarest) {
        for (rule, count) in layer.rules().iter().zip(counts) {
            let rarest = &mut rarest[rule.children.len()];
            *rarest = rarest.min(*count);
        }
    }
    let excess = |&(&(level, _, children), &count): &(&(usize, u8, crate::Children), &u32)| {
        let rarest = rarest[level][children.len()];
        let rarest = if rarest.is_finite() { rarest } else { rarest_of_any(&uses.counts[level]) };
        f64::from(count) * scale * GAP / rarest
    };
    let worst = wanted.counts.iter().max_by(|x, y| excess(x).total_cmp(&excess(y)))?;
    if excess(&worst) <= 1.0 {
        return None;
    }
    let (&(level, parent, children), &count) = worst;
    let names: Vec<String> = children.iter().map(|child| grammar.name(level + 1, child).into_owned()).collect();
    let rule = format!("{} -> {}", grammar.name(level, parent), names.join(" "));
    let derived = wording(grammar).derived;
    Some(format!(
        "{underivable} sentences are not {derived}, and the rule {rule} would mend {:.0} of them: a rule is missing, or there are too \
         few sentences to tell",
        f64::from(count) * scale
    ))
}

fn rarest_of_any(counts: &[f64]) -> f64 {
    counts.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Rules that depend on their context, and symbols that do not differ.
fn misfit(grammar: &Grammar, evidence: &Evidence) -> Option<String> {
    if let Some((deviation, limit, what)) = &evidence.worst
        && deviation > limit
    {
        return Some(format!(
            "{what} ({deviation:.1} standard deviations): a level has more symbols than the vocab, or the trees have another shape"
        ));
    }
    let (deviation, level, symbols) = evidence.closest?;
    let [x, y] = symbols.map(|symbol| grammar.name(level, symbol));
    (deviation < independence::LIMIT).then(|| {
        format!("symbols {x} and {y} of level {level} cannot be told apart: the level has fewer symbols than the vocab, or there are too few sentences")
    })
}
