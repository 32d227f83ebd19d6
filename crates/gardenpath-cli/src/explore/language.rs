//! A language: its rules, the lengths of its sentences, some of them, and how well they tell their class.

use super::choice::{Chosen, GrammarChoice};
use anyhow::{Result, bail};
use gardenpath::theory::lengths::LengthLaw;
use gardenpath::{Corpus, Estimate, Grammar, Inside, KnownLength, Layer, PerArity, Predictor, Seed, Symbol};
use gardenpath_lab::crossover::{self, Effort};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most sentences that are shown.
pub const SENTENCES: u64 = 200;

/// The most rules that are listed.
const LISTED: usize = 2_000;

/// The most sentences from which the class entropy is estimated.
const MEASURED: u64 = 400;

/// What is to be shown of a language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanguageRequest {
    /// Which one.
    pub grammar: GrammarChoice,
    #[serde(default = "ten")]
    sentences: u64,
    #[serde(default)]
    first: u64,
    #[serde(default = "one")]
    seed: u64,
}

fn ten() -> u64 {
    10
}

fn one() -> u64 {
    1
}

type ByArity<T> = BTreeMap<usize, T>;

/// A language.
#[derive(Serialize)]
pub struct Language {
    depth: usize,
    sizes: Vec<usize>,
    names: Vec<Vec<String>>,
    prior: Vec<f64>,
    layers: Vec<LayerSummary>,
    rules: usize,
    lengths: Vec<LengthProbability>,
    mean_length: f64,
    sentences: Vec<Sentence>,
    entropy: Option<Entropy>,
    critical_fraction: Option<f64>,
    fraction: Option<f64>,
    effective_fractions: Option<Vec<ByArity<f64>>>,
}

#[derive(Serialize)]
struct LayerSummary {
    level: usize,
    rules: ByArity<usize>,
    probability: ByArity<f64>,
}

#[derive(Serialize)]
struct LengthProbability {
    length: usize,
    probability: f64,
}

#[derive(Serialize)]
struct Sentence {
    number: u64,
    tokens: Vec<Symbol>,
    root: Symbol,
}

#[derive(Serialize)]
struct Entropy {
    mean: f64,
    stderr: f64,
    sentences: u64,
}

impl LanguageRequest {
    /// Everything about the language.
    pub fn answer(&self, chosen: &Chosen) -> Result<Language> {
        let grammar = &chosen.grammar;
        if self.sentences > SENTENCES {
            bail!("sentences is {}, expected at most {SENTENCES}", self.sentences);
        }
        let Some(end) = self.first.checked_add(self.sentences) else { bail!("first is {}: too large", self.first) };
        let corpus = Corpus::try_sample(grammar, Seed::new(self.seed), self.first..end)?;
        let sentence = |(i, number): (usize, u64)| Sentence {
            number,
            tokens: corpus.sentence(i).to_vec(),
            root: corpus.roots()[i],
        };
        let effective = |sampled: &super::choice::Sampled| {
            let of_level = |level| Ok(by_arity(&sampled.ensemble.effective_fractions(level)?));
            (0..grammar.depth()).map(of_level).collect::<Result<Vec<_>>>()
        };
        let name = |level: usize| {
            let symbols = 0..grammar.sizes()[level];
            symbols.map(|symbol| grammar.name(level, symbol as Symbol).into_owned()).collect()
        };
        Ok(Language {
            depth: grammar.depth(),
            sizes: grammar.sizes().to_vec(),
            names: (0..=grammar.depth()).map(name).collect(),
            prior: grammar.prior().to_vec(),
            layers: grammar.layers().iter().enumerate().map(summary).collect(),
            rules: grammar.layers().iter().map(|layer| layer.rules().len()).sum(),
            lengths: lengths(grammar)?,
            mean_length: grammar.mean_length(),
            sentences: (0..).zip(self.first..end).map(sentence).collect(),
            entropy: entropy(grammar, Seed::new(self.seed))?,
            critical_fraction: chosen.sampled.as_ref().and_then(|sampled| crossover::critical(&sampled.ensemble)),
            fraction: chosen.sampled.as_ref().map(|sampled| sampled.fraction),
            effective_fractions: chosen.sampled.as_ref().map(effective).transpose()?,
        })
    }
}

fn by_arity<T: Copy + Default + PartialEq>(values: &PerArity<T>) -> ByArity<T> {
    values.nonzero().collect()
}

fn summary((level, layer): (usize, &Layer)) -> LayerSummary {
    let law = mean_law(layer);
    let mut rules = PerArity::<usize>::default();
    layer.rules().iter().for_each(|rule| rules[rule.children.len()] += 1);
    LayerSummary { level, rules: by_arity(&rules), probability: by_arity(&law) }
}

/// The probability of each number of children, in the mean over parents.
fn mean_law(layer: &Layer) -> PerArity<f64> {
    let mut law = PerArity::<f64>::default();
    for rule in layer.rules() {
        law[rule.children.len()] += rule.probability / layer.parents() as f64;
    }
    law
}

/// The exact law of the lengths of sentences.
fn lengths(grammar: &Grammar) -> Result<Vec<LengthProbability>> {
    let probability = |(length, probability): (usize, f64)| LengthProbability { length, probability };
    let possible = |one: &LengthProbability| one.probability > 0.0;
    // If all symbols of a level branch alike, as those of an ensemble do, the law of one tree is that of all.
    if grammar.layers().iter().all(branches_alike) {
        let levels: Vec<PerArity<f64>> = grammar.layers().iter().map(mean_law).map(normalized).collect();
        return Ok(LengthLaw::of_levels(&levels)?.iter().map(probability).filter(possible).collect());
    }
    let predictor = Predictor::new(grammar);
    let known = KnownLength::new(&predictor);
    let all = grammar.shape().lengths().map(|length| (length, known.length_probability(length)));
    Ok(all.map(probability).filter(possible).collect())
}

fn branches_alike(layer: &Layer) -> bool {
    let mean = mean_law(layer);
    (0..layer.parents()).all(|parent| {
        let mut own = PerArity::<f64>::default();
        let rules = &layer.rules()[layer.rules_of(parent as Symbol)];
        rules.iter().for_each(|rule| own[rule.children.len()] += rule.probability);
        own.nonzero().chain(mean.nonzero()).all(|(arity, _)| (own[arity] - mean[arity]).abs() < 1e-12)
    })
}

/// Without the rounding of a sum.
fn normalized(law: PerArity<f64>) -> PerArity<f64> {
    let sum: f64 = law.nonzero().map(|(_, p)| p).sum();
    law.map(|_, p| p / sum)
}

/// About how many seconds the inside algorithm takes for one sentence, at most: the chart may be full.
pub fn seconds_of_sentence(grammar: &Grammar) -> f64 {
    let symbols = grammar.sizes().iter().max().map_or(1.0, |&size| size as f64 / 16.0);
    let density = |layer: &Layer| {
        let all = (layer.children() as f64).powi(layer.arities().most() as i32);
        layer.rules().len() as f64 / all
    };
    let density = grammar.layers().iter().map(density).fold(0.0, f64::max).clamp(0.1, 1.0);
    1e-6 + 6e-9 * grammar.mean_length().powi(3) * symbols.powi(2).max(1.0) * density.powi(2)
}

/// The class entropy of some sentences: as many as take a few hundredths of a second.
fn entropy(grammar: &Grammar, seed: Seed) -> Result<Option<Entropy>> {
    let sentences = (0.02 / seconds_of_sentence(grammar)) as u64;
    if sentences == 0 {
        return Ok(None);
    }
    let corpus = Corpus::try_sample(grammar, seed, 0..sentences.min(MEASURED))?;
    let all = Inside::new(grammar).batch_map(&corpus, |posterior| posterior.entropy(), &|_| ())?;
    let Estimate { mean, stderr } = Estimate::of(&all);
    Ok(Some(Entropy { mean, stderr, sentences: all.len() as u64 }))
}

/// Which rules are to be listed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesRequest {
    /// Of which grammar.
    pub grammar: GrammarChoice,
    level: usize,
    parent: Option<usize>,
}

/// Rules of a layer.
#[derive(Serialize)]
pub struct Rules {
    level: usize,
    total: usize,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
struct Rule {
    parent: Symbol,
    children: Vec<Symbol>,
    probability: f64,
}

impl RulesRequest {
    /// Lists the rules.
    pub fn answer(&self, chosen: &Chosen) -> Result<Rules> {
        let (grammar, level) = (&chosen.grammar, self.level);
        if level >= grammar.depth() {
            bail!("level is {level}, expected 0 to {}", grammar.depth() - 1);
        }
        let layer = grammar.layer(level);
        let all = match self.parent {
            None => 0..layer.rules().len(),
            Some(parent) if parent < layer.parents() => layer.rules_of(parent as Symbol),
            Some(parent) => bail!("parent is {parent}, expected 0 to {}", layer.parents() - 1),
        };
        let rule = |rule: &gardenpath::Rule| Rule {
            parent: rule.parent,
            children: rule.children.iter().collect(),
            probability: rule.probability,
        };
        let rules = layer.rules()[all.clone()].iter().take(LISTED).map(rule).collect();
        Ok(Rules { level, total: all.len(), rules })
    }
}

/// Which grammar is to be written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcfgRequest {
    /// This one.
    pub grammar: GrammarChoice,
}

/// How the crossover is to be drawn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntropyRequest {
    /// Of the ensemble of this grammar.
    pub grammar: GrammarChoice,
    #[serde(default)]
    effort: usize,
}

/// The crossover.
#[derive(Serialize)]
pub struct Crossover {
    points: Vec<CrossoverPoint>,
    grammars: u64,
    sentences: u64,
    guessing: f64,
    critical_fraction: Option<f64>,
    theory: Option<Vec<TheoryPoint>>,
}

#[derive(Serialize)]
struct CrossoverPoint {
    fraction: f64,
    entropy: f64,
    stderr: f64,
}

#[derive(Serialize)]
struct TheoryPoint {
    fraction: f64,
    entropy: f64,
    paper: Option<f64>,
}

/// From what is drawn while somebody drags to what is drawn in the end, with the seconds that each may take.
const EFFORTS: [(Effort, f64); 3] = [
    (Effort { points: 12, grammars: 1, sentences: 60 }, 0.05),
    (Effort { points: 20, grammars: 3, sentences: 200 }, 0.3),
    (Effort { points: 28, grammars: 10, sentences: 500 }, 3.0),
];

/// Points of the limit of many symbols.
const THEORY: usize = 50;

impl EntropyRequest {
    /// Samples the crossover.
    pub fn answer(&self) -> Result<Crossover> {
        let Some(sampled) = self.grammar.sampled()? else {
            bail!("a grammar from text belongs to no ensemble: there is no crossover");
        };
        let Some(&(effort, seconds)) = EFFORTS.get(self.effort) else {
            bail!("effort is {}, expected 0, 1 or 2", self.effort);
        };
        let sizes = sampled.ensemble.level_sizes()?;
        let effort = affordable(effort, seconds, &sampled.ensemble, &sizes)?;
        // The grammars of all fractions have the same seeds, whatever the seed of the one that is shown: the curve belongs to the ensemble.
        let points = crossover::crossover(&sampled.ensemble, effort, Seed::new(0))?;
        let point = |point: crossover::Point| CrossoverPoint {
            fraction: point.fraction,
            entropy: point.entropy.mean,
            stderr: point.entropy.stderr,
        };
        let theory = |theory: crossover::TheoryPoint| TheoryPoint {
            fraction: theory.fraction,
            entropy: theory.entropy,
            paper: theory.paper,
        };
        Ok(Crossover {
            points: points.into_iter().map(point).collect(),
            grammars: effort.grammars,
            sentences: effort.sentences,
            guessing: (sizes[0] as f64).ln(),
            critical_fraction: crossover::critical(&sampled.ensemble),
            theory: crossover::theory(&sampled.ensemble, THEORY).map(|all| all.into_iter().map(theory).collect()),
        })
    }
}

/// Less effort where one sentence takes long, in the order of what matters least: grammars, points, sentences.
fn affordable(effort: Effort, seconds: f64, ensemble: &gardenpath::Ensemble, sizes: &[usize]) -> Result<Effort> {
    let probabilities = ensemble.probabilities();
    let mean_length: f64 = (0..ensemble.depth())
        .map(|_| probabilities.nonzero().map(|(arity, p)| arity as f64 * p).sum::<f64>())
        .product();
    let most = sizes.iter().max().map_or(1.0, |&size| size as f64);
    // A full grammar has a rule for every tuple, and some of the curve is full.
    let grammar = 5e-8 * ensemble.depth() as f64 * most.powi(probabilities.arities().most() as i32);
    let sentence = 1e-6 + 6e-9 * mean_length.powi(3) * (most / 16.0).powi(2).max(1.0);
    let mut effort = effort;
    let cost = |effort: &Effort| {
        effort.points as f64 * effort.grammars as f64 * (grammar / 4.0 + effort.sentences as f64 * sentence / 3.0)
    };
    while cost(&effort) > seconds && effort != (Effort { points: 6, grammars: 1, sentences: 5 }) {
        effort = match effort {
            Effort { grammars: 2.., .. } => Effort { grammars: effort.grammars - 1, ..effort },
            Effort { points: 9.., .. } => Effort { points: effort.points - 1, ..effort },
            Effort { sentences: 6.., .. } => Effort { sentences: (effort.sentences * 3 / 4).max(5), ..effort },
            _ => Effort { points: effort.points - 1, ..effort },
        };
    }
    if cost(&effort) > 5.0 {
        bail!("the crossover of so large an ensemble takes too long");
    }
    Ok(effort)
}
