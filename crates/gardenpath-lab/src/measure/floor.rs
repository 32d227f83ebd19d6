//! The lowest loss that any predictor of tokens can reach: a run of `gardenpath floor`.

use super::ensemble::Sampled;
use super::kind::texts;
use super::parameter::parameters;
use super::result::results;
use super::{Keeper, Kind};
use crate::choice::choices;
use anyhow::{Result, bail};
use gardenpath::{Corpus, Floor as Exact, Seed, Task as Question, level_floor_formula};

parameters! {
    /// The parameters.
    pub struct Floor {
        ..sampled: Sampled;
        task: Task => "What to predict";
        mask: Option<f64>, or "0.15" => "Probability that a token is masked (masked)";
        noise: Option<f64>, or "0.1" => "Probability that a token is replaced by a random one (noisy)";
        by: By = By::Position => "What the lists of losses are indexed by";
        sentences: u64 = 1000 => "Number of sentences to average over";
        seed: u64 => "Seed of the grammar, its sentences, masks and noise";
    }
}

choices! {
    /// What to predict.
    pub enum Task {
        Next = "next" => "Each token given those before it, and the end of the sentence",
        NextKnown = "next-known" => "Each token given those before it and the length",
        Masked = "masked" => "Masked tokens given all others",
        MaskedOne = "masked-one" => "One random token given all others",
        Noisy = "noisy" => "Each token given the output of a noisy channel",
        Root = "root" => "The root given the whole sentence",
    }
}

choices! {
    /// What the lists of losses are indexed by.
    pub enum By {
        Position = "position" => "The position of the prediction",
        Levels = "levels" => "The number of lowest layers of rules that the predictor knows (next)",
    }
}

texts!(Task, By);

results! {
    /// The results.
    pub struct FloorResult {
        loss: f64 => "Lowest loss in nats: per token, per masked token, or per sentence (root)";
        stderr: f64 => "Its standard error over sentences";
        root_accuracy: Option<f64> => "Expected accuracy of the best guess of the root from the same evidence (not next)";
        at: Vec<u64> => "Positions from 0, or numbers of known layers from 0";
        loss_at: Vec<f64> => "Loss at that position, or with that many known layers";
        formula_at: Vec<Option<f64>> => "Formula for large vocabularies (by levels)";
    }
}

impl Kind for Floor {
    type Output = FloorResult;

    const NAME: &'static str = "floor";
    const MEANING: &'static str = "The lowest loss that any predictor of tokens can reach, by exact inference";

    fn settle(&mut self) -> Result<()> {
        self.sampled.check()?;
        for (name, given, task) in [("mask", self.mask, Task::Masked), ("noise", self.noise, Task::Noisy)] {
            if given.is_some() && self.task != task {
                bail!("{name} has no effect here: it needs task {}", crate::choice::Choice::name(task));
            }
        }
        if self.by == By::Levels && self.task != Task::Next {
            bail!("by levels needs task next");
        }
        // Written out, so that equal cells have equal identities and the column always has a value.
        match self.task {
            Task::Masked => {
                self.mask.get_or_insert(Question::MASK);
            }
            Task::Noisy => {
                self.noise.get_or_insert(Question::NOISE);
            }
            _ => {}
        }
        Ok(())
    }

    fn run(&self, _: &dyn Keeper) -> Result<FloorResult> {
        let grammar = self.sampled.grammar(self.seed)?;
        let corpus = Corpus::try_sample(&grammar, Seed::new(self.seed), 0..self.sentences)?;
        let (floor, loss_at, formula_at) = match self.by {
            By::Position => {
                let floor = Exact::measure(&grammar, &corpus, self.question(), Seed::new(self.seed), &|_| ())?;
                let losses: Vec<f64> = floor.by_position.iter().map(|estimate| estimate.mean).collect();
                let none = vec![None; losses.len()];
                (floor, losses, none)
            }
            By::Levels => {
                let mut floors = Exact::of_lowest_levels(&grammar, 0..=grammar.depth(), &corpus, &|_| ())?;
                let losses = floors.iter().map(|floor| floor.loss.mean).collect();
                let formula = |known| Ok(Some(level_floor_formula(&grammar, known)?));
                let formulas = (0..floors.len()).map(formula).collect::<Result<_>>()?;
                (floors.swap_remove(grammar.depth()), losses, formulas)
            }
        };
        Ok(FloorResult {
            loss: floor.loss.mean,
            stderr: floor.loss.stderr,
            root_accuracy: floor.root_accuracy.map(|accuracy| accuracy.mean),
            at: (0..loss_at.len() as u64).collect(),
            loss_at,
            formula_at,
        })
    }

    fn work(&self) -> f64 {
        let (length, vocab) = (self.sampled.length(), self.sampled.vocab as f64);
        let passes = if self.by == By::Levels { self.sampled.depth as f64 + 1.0 } else { 1.0 };
        let (sparse, full) = (5e-7 * length.powf(1.5), 2e-9 * vocab.powi(2) * length.powi(3));
        let sentence = match self.task {
            Task::Next | Task::Root => 2.5e-7 * length + 1e-10 * length.powi(3),
            Task::NextKnown => 4e-8 * length.powi(3),
            // If any token can be any other, charts are full.
            Task::Noisy => full,
            Task::Masked => sparse + self.mask.unwrap_or(Question::MASK).powi(4) * full,
            Task::MaskedOne => sparse,
        };
        self.sampled.work() + self.sentences as f64 * passes * sentence
    }

    fn variety(&self) -> String {
        crate::choice::Choice::name(self.task).to_owned()
    }

    fn tiny(&self) -> Self {
        let sentences = if matches!(self.task, Task::Next | Task::Root) { 5000 } else { 100 };
        let &Floor { task, by, .. } = self;
        Floor { sampled: Sampled::tiny(8, 2, 0.25), task, mask: None, noise: None, by, sentences, seed: 1 }
    }
}

impl Floor {
    fn question(&self) -> Question {
        match self.task {
            Task::Next => Question::Next,
            Task::NextKnown => Question::NextKnown,
            Task::Masked => Question::Masked(self.mask.unwrap_or(Question::MASK)),
            Task::MaskedOne => Question::MaskedOne,
            Task::Noisy => Question::Noisy(self.noise.unwrap_or(Question::NOISE)),
            Task::Root => Question::Root,
        }
    }
}
