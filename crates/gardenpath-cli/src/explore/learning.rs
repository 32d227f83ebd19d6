//! What jobs do: learners that learn a grammar back, and networks that are trained on its sentences.

use super::choice::{Chosen, GrammarChoice};
use super::jobs::{Progress, Voice};
use anyhow::{Result, anyhow, bail};
use gardenpath::learn::score::LevelScore;
use gardenpath::learn::{self, Verdict};
use gardenpath::{Grammar, PerArity};
use gardenpath_lab::choice::Choice;
use gardenpath_lab::draw::table::{grouped, short};
use gardenpath_lab::learning::{LearningCurve, Mode, News, Point, outline};
use gardenpath_lab::training::choices::{Choices, Model};
use gardenpath_lab::training::session::Session;
use gardenpath_lab::training::{Data, Device};
use gardenpath_nn::train::{Ending, Event, Settings};
use gardenpath_nn::{Network, Task};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The most sentences to learn from.
pub const SENTENCES: u64 = 1_000_000;

/// The most steps of a network.
pub const STEPS: u64 = 1_000_000;

/// The largest width of a network.
pub const WIDTH: usize = 1_024;

/// The most sentences to test on.
const TEST: u64 = 20_000;

/// The most tokens of the longest sentence that a network reads.
const NETWORK_TOKENS: usize = 243;

/// The most numbers in a layer of a batch.
const LAYER: usize = 1 << 27;

/// Sentences that learners are tested on.
const LEARNER_TEST: u64 = 2_000;

/// What is to be learned, and how.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    /// From which grammar.
    pub grammar: GrammarChoice,
    learner: Option<LearnerChoice>,
    network: Option<NetworkChoice>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LearnerChoice {
    kind: String,
    samples: u64,
    #[serde(default = "one")]
    seed: u64,
    starts: Option<usize>,
    rounds: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkChoice {
    model: String,
    task: String,
    samples: u64,
    width: usize,
    #[serde(default = "one")]
    seed: u64,
    test: Option<u64>,
    batch: Option<usize>,
    max_steps: Option<u64>,
    learning_rate: Option<f64>,
    layers: Option<usize>,
    heads: Option<usize>,
}

fn one() -> u64 {
    1
}

/// The heads of a transformer if nothing is said: the networks of a page are small.
const HEADS: usize = 4;

/// A job that was checked.
pub enum Job {
    /// A learner.
    Learner {
        /// How it learns.
        mode: Mode,
        /// From how many sentences.
        samples: u64,
        /// Of which seed.
        seed: u64,
        /// Random starts of EM.
        starts: Option<usize>,
        /// Steps of each.
        rounds: Option<usize>,
    },
    /// A network.
    Network(Box<Choices>),
}

impl JobRequest {
    /// Refuses what makes no sense or would take too much, before anything is started.
    pub fn check(&self, chosen: &Chosen) -> Result<Job> {
        match (&self.learner, &self.network) {
            (Some(learner), None) => learner.check(&chosen.grammar),
            (None, Some(network)) => network.check(&chosen.grammar),
            _ => bail!("expected one of learner and network"),
        }
    }
}

fn within<T: PartialOrd + Copy + std::fmt::Display>(name: &str, value: T, least: T, most: T) -> Result<T> {
    if !(least..=most).contains(&value) {
        bail!("{name} is {value}, expected {least} to {most}");
    }
    Ok(value)
}

/// The choice of a name.
fn named<T: Choice>(what: &str, name: &str) -> Result<T> {
    T::parse(name).ok_or_else(|| anyhow!("{what} is {name:?}, expected one of {}", T::names().join(", ")))
}

impl LearnerChoice {
    fn check(&self, grammar: &Grammar) -> Result<Job> {
        let mode: Mode = named("kind", &self.kind)?;
        let samples = within("samples", self.samples, 1, SENTENCES)?;
        for (name, value) in [("starts", self.starts), ("rounds", self.rounds)] {
            if let Some(value) = value {
                if mode != Mode::Em {
                    bail!("{name} has no effect here: it belongs to kind em");
                }
                within(name, value, 1, 1_000)?;
            }
        }
        // What no learner can do is found before it is started.
        outline(grammar, mode != Mode::Unlabelled).shape()?;
        let (seed, starts, rounds) = (self.seed, self.starts, self.rounds);
        LearningCurve { truth: grammar, mode, samples, test: LEARNER_TEST, seed, starts, rounds }.sizes()?;
        Ok(Job::Learner { mode, samples, seed, starts, rounds })
    }
}

impl NetworkChoice {
    fn check(&self, grammar: &Grammar) -> Result<Job> {
        let (model, task): (Model, Task) = (named("model", &self.model)?, named("task", &self.task)?);
        if task == Task::Masked {
            bail!("task is \"masked\", expected root or next here");
        }
        let settings = Settings {
            batch: within("batch", self.batch.unwrap_or(128), 1, 4_096)?,
            max_steps: within("max_steps", self.max_steps.unwrap_or(20_000), 1, STEPS)?,
            ..Settings::default()
        };
        let is_transformer = model == Model::Transformer;
        let choices = Choices {
            model,
            task,
            width: within("width", self.width, 1, WIDTH)?,
            samples: within("samples", self.samples, 1, SENTENCES)?,
            test: within("test", self.test.unwrap_or(2_000), 1, TEST)?,
            seed: self.seed,
            settings,
            optimizer: None,
            learning_rate: self.learning_rate,
            normalization: None,
            layers: self.layers.map(|layers| within("layers", layers, 1, 32)).transpose()?,
            heads: self.heads.or(is_transformer.then_some(HEADS)),
            mlp: None,
        };
        let longest = *grammar.shape().lengths().end();
        within("the longest sentence of the grammar", longest, 1, NETWORK_TOKENS)?;
        let layer = longest.saturating_mul(settings.batch).saturating_mul(self.width);
        if layer > LAYER {
            bail!(
                "a layer of a batch would have {} numbers, expected at most {}",
                grouped(layer as u64),
                grouped(LAYER as u64)
            );
        }
        // Whatever is wrong with the network itself.
        choices.recipe(grammar.depth(), &str::to_owned)?.network(grammar)?;
        Ok(Job::Network(Box::new(choices)))
    }
}

impl Job {
    /// Does the work.
    pub fn run(self, chosen: &Arc<Chosen>, voice: &Voice) -> Result<String> {
        let truth = &chosen.grammar;
        match self {
            Job::Learner { mode, samples, seed, starts, rounds } => {
                learn(&LearningCurve { truth, mode, samples, test: LEARNER_TEST, seed, starts, rounds }, voice)
            }
            Job::Network(choices) => train(truth, &choices, voice),
        }
    }
}

#[derive(Serialize)]
struct Floors {
    unit: &'static str,
    guessing: f64,
    bayes: f64,
    bayes_accuracy: Option<f64>,
    levels: Option<Vec<f64>>,
    weights: Option<usize>,
    truth_rules: Vec<RuleCount>,
}

#[derive(Serialize)]
struct CurvePoint {
    x: u64,
    test_loss: Option<f64>,
    test_accuracy: Option<f64>,
    train_loss: Option<f64>,
    verdict: Option<String>,
    seconds: f64,
}

#[derive(Serialize)]
struct RulesFound {
    samples: u64,
    #[serde(rename = "final")]
    is_final: bool,
    levels: Vec<RuleCount>,
}

#[derive(Clone, Serialize)]
struct RuleCount {
    level: usize,
    arity: usize,
    correct: Option<usize>,
    learned: usize,
    truth: usize,
}

/// Without labels a loss that few sentences have says nothing.
const ENOUGH_DERIVED: f64 = 0.5;

fn learn(curve: &LearningCurve, voice: &Voice) -> Result<String> {
    let truth_rules = rules_of(curve.truth, curve.mode == Mode::Unlabelled);
    let (sizes, mut last) = (curve.sizes()?, None);
    let all: u64 = sizes.iter().sum();
    curve.run(&mut |news| match news {
        News::Floors(floors) => voice.say(
            "floors",
            &Floors {
                unit: if floors.accuracy.is_some() { "sentence" } else { "token" },
                guessing: floors.guessing,
                bayes: floors.loss,
                bayes_accuracy: floors.accuracy,
                levels: None,
                weights: None,
                truth_rules: truth_rules.clone(),
            },
        ),
        News::Step(samples, step) => {
            if let Some(found) = rules_at_work(samples, step, &truth_rules) {
                voice.say("rules", &found);
            }
            let before: u64 = sizes.iter().filter(|size| **size < samples).sum();
            voice.progress(|| Progress {
                line: format!("{} sentences: {step}", grouped(samples)),
                done: Some(before as f64 / all as f64),
                step: None,
                loss: None,
            });
        }
        News::Point(point) => {
            voice.say("point", &curve_point(&point, voice));
            let levels = point.rules.iter().flat_map(rule_counts).collect();
            voice.say("rules", &RulesFound { samples: point.samples, is_final: true, levels });
            last = Some(point);
        }
    })?;
    let exact = last.is_some_and(|point| point.rules.iter().all(LevelScore::is_exact));
    let found = if exact { "all rules were found, and no others" } else { "not all rules were found" };
    Ok(format!("{} sentences: {found}", grouped(curve.samples)))
}

fn curve_point(point: &Point, voice: &Voice) -> CurvePoint {
    let is_known = point.accuracy.is_some() || point.parse_rate >= ENOUGH_DERIVED;
    let verdict = match &point.learned.verdict {
        Verdict::Converged => Some("converged".to_owned()),
        Verdict::NotConverged(reason) => Some(format!("not converged: {reason}")),
        Verdict::Unknown => None,
    };
    CurvePoint {
        x: point.samples,
        test_loss: point.loss.filter(|_| is_known),
        test_accuracy: point.accuracy,
        train_loss: None,
        verdict,
        seconds: voice.seconds(),
    }
}

/// The true rules of each level and number of children. Without labels the root has its tuples under one start symbol.
fn rules_of(truth: &Grammar, with_one_class: bool) -> Vec<RuleCount> {
    let mut counts = Vec::new();
    for (level, layer) in truth.layers().iter().enumerate() {
        let mut tuples: Vec<_> = layer.rules().iter().map(|rule| (rule.children, rule.parent)).collect();
        if with_one_class && level == 0 {
            tuples.iter_mut().for_each(|(_, parent)| *parent = 0);
        }
        tuples.sort_unstable();
        tuples.dedup();
        let mut rules = PerArity::<usize>::default();
        tuples.iter().for_each(|(children, _)| rules[children.len()] += 1);
        let count = |(arity, truth)| RuleCount { level, arity, correct: Some(0), learned: 0, truth };
        counts.extend(rules.nonzero().map(count));
    }
    counts
}

fn rule_counts(score: &LevelScore) -> Vec<RuleCount> {
    let count = |(arity, rules): (usize, learn::score::RuleScore)| RuleCount {
        level: score.level,
        arity,
        correct: Some(rules.correct),
        learned: rules.learned,
        truth: rules.truth,
    };
    score.rules.nonzero().map(count).collect()
}

/// The rules that a learner has found on the level where it is at work. It counts those of all numbers of children together (arity 0).
fn rules_at_work(samples: u64, step: &learn::Progress, truth: &[RuleCount]) -> Option<RulesFound> {
    let (level, learned) = match *step {
        // Of the children, one above which the parents stand.
        learn::Progress::Clustered { level, rules } => (level.checked_sub(1)?, rules),
        learn::Progress::Inferred { level, rules } => (level, rules),
        _ => return None,
    };
    let truth = truth.iter().filter(|count| count.level == level).map(|count| count.truth).sum();
    let levels = vec![RuleCount { level, arity: 0, correct: None, learned, truth }];
    Some(RulesFound { samples, is_final: false, levels })
}

/// The weight of a new batch in the running mean of the training loss.
const RECENT: f64 = 0.05;

fn train(grammar: &Grammar, choices: &Choices, voice: &Voice) -> Result<String> {
    voice.progress(|| Progress { line: "sampling sentences".into(), done: None, step: None, loss: None });
    let recipe = choices.recipe(grammar.depth(), &str::to_owned)?;
    let network = recipe.network(grammar)?;
    let data = recipe.data(grammar)?;
    voice.say("floors", &network_floors(&network, &data));
    let session = Session { recipe: &recipe, network: &network, data: &data, device: Device::Cpu, directory: None };
    let mut loss: Option<f64> = None;
    let trained = session.train(&mut |event, run| {
        match *event {
            Event::Step(own) => loss = Some(loss.map_or(own, |mean| mean + RECENT * (own - mean))),
            Event::Measured { record, .. } => voice.say(
                "point",
                &CurvePoint {
                    x: record.step,
                    test_loss: Some(record.test_loss),
                    test_accuracy: Some(record.test_accuracy),
                    train_loss: Some(record.train_loss),
                    verdict: None,
                    seconds: voice.seconds(),
                },
            ),
            Event::Ended(_) => {}
        }
        let step = run.progress().step;
        voice.progress(|| Progress {
            line: format!("step {} of at most {}", grouped(step), grouped(run.last_step())),
            done: Some(step as f64 / run.last_step().max(1) as f64),
            step: Some(step),
            loss,
        });
        false
    })?;
    let best = trained.progress.best().ok_or_else(|| anyhow!("the loss was NaN from the beginning"))?;
    let why = match trained.progress.ending {
        Some(Ending::Rise) => "a rise of the test loss",
        Some(Ending::Plateau) => "a plateau of the test loss",
        Some(Ending::Diverged) => "a NaN loss; try a smaller learning rate",
        _ => "the largest number of steps",
    };
    Ok(format!("best test loss {} at step {}; ended by {why}", short(best.test_loss), grouped(best.step)))
}

fn network_floors(network: &Network, data: &Data) -> Floors {
    Floors {
        unit: if network.task.is_root() { "sentence" } else { "token" },
        guessing: network.guessing_loss(),
        bayes: data.bayes_loss().unwrap_or(f64::NAN),
        bayes_accuracy: data.bayes.map(|floor| floor.accuracy),
        levels: data.expected.as_ref().and_then(|expected| expected.levels.clone()),
        weights: Some(network.parameters().iter().map(|parameter| parameter.len()).sum()),
        truth_rules: Vec::new(),
    }
}
