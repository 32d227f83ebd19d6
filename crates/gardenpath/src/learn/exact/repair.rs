//! Repair: the whole grammar decides about rules whose parent is uncertain.
//!
//! A level is learned before those above it, from labels and neighbours alone. Once all levels are there, a doubtful rule is
//! offered to all the parents that it may have, and inside and outside say which of them uses it.

use super::draft::normalise;
use super::layer::Doubt;
use crate::corpus::Corpus;
use crate::error::Result;
use crate::grammar::{Children, Grammar, Layer, Rule, Symbol};
use crate::learn::census::labels_differ;
use crate::learn::uses::{Uses, count_uses, reestimate};
use std::collections::HashMap;

/// How a decision is made: the steps of expectation maximisation, and the probability of a rule that is offered to another parent, as a
/// share of what it has.
struct Procedure {
    rounds: usize,
    offer: f64,
}

const WITH_LABELS: Procedure = Procedure { rounds: 2, offer: 1.0 };

/// Without labels, symbols that resemble each other would become one if their rules were offered freely: they begin as they are, and take
/// more steps to change.
const WITHOUT_LABELS: Procedure = Procedure { rounds: 12, offer: 0.1 };

/// Unused rules become less probable at every step; drop them before their probabilities underflow.
const VANISHED: f64 = 1e-200;

/// Decides all doubts, given those of each layer. Returns the layers, and whether any rule has a new parent.
pub(super) fn repair(
    grammar: &Grammar,
    doubts: &[Vec<Doubt>],
    corpus: &Corpus,
    training: usize,
) -> Result<(Vec<Vec<Rule>>, bool)> {
    let procedure = if labels_differ(grammar.prior()) { WITH_LABELS } else { WITHOUT_LABELS };
    let offer = |(layer, doubts): (&Layer, &Vec<Doubt>)| offer(layer, doubts, procedure.offer);
    let layers: Vec<Vec<Rule>> = grammar.layers().iter().zip(doubts).map(offer).collect();
    let mut offered = Grammar::new(grammar.sizes().to_vec(), grammar.prior().to_vec(), layers)?;
    let mut uses = count_uses(&offered, corpus, 0..training)?;
    for _ in 1..procedure.rounds {
        offered = reestimate(&offered, &uses)?;
        uses = count_uses(&offered, corpus, 0..training)?;
    }
    let decided = offered.layers().iter().enumerate().map(|(level, layer)| decide(layer, &uses, level, &doubts[level]));
    let decided: Vec<Vec<Rule>> = decided.collect();
    let changed = decided.iter().zip(grammar.layers()).zip(doubts).any(|((rules, old), doubts)| {
        doubts.iter().any(|doubt| {
            let parent = rules.iter().find(|rule| rule.children == doubt.children).map(|rule| rule.parent);
            parent.is_some_and(|parent| !old.rules_with(doubt.children).any(|id| old.rules()[id].parent == parent))
        })
    });
    Ok((decided, changed))
}

/// The rules of a layer with those in doubt for all parents that they may have.
fn offer(layer: &Layer, doubts: &[Doubt], share: f64) -> Vec<Rule> {
    let mut rules = layer.rules().to_vec();
    for doubt in doubts {
        let known: Vec<Rule> = layer.rules_with(doubt.children).map(|id| layer.rules()[id]).collect();
        if let Some(&rule) = known.first() {
            let new = doubt.parents.iter().filter(|parent| known.iter().all(|rule| rule.parent != **parent));
            rules.extend(new.map(|&parent| Rule { parent, probability: share * rule.probability, ..rule }));
        }
    }
    normalise(&mut rules, layer.parents());
    rules
}

/// Keeps, of every rule in doubt, the parent that used it most.
fn decide(layer: &Layer, uses: &Uses, level: usize, doubts: &[Doubt]) -> Vec<Rule> {
    let counts = &uses.counts[level];
    let mut best: HashMap<Children, (f64, Symbol)> = HashMap::new();
    for doubt in doubts {
        for id in layer.rules_with(doubt.children) {
            let entry = best.entry(doubt.children).or_insert((f64::NEG_INFINITY, 0));
            if counts[id] > entry.0 {
                *entry = (counts[id], layer.rules()[id].parent);
            }
        }
    }
    let is_best = |rule: &&Rule| best.get(&rule.children).is_none_or(|(_, parent)| *parent == rule.parent);
    layer.rules().iter().filter(|rule| rule.probability > VANISHED).filter(is_best).copied().collect()
}
