//! Training with early stopping, one step at a time, so that it can be watched, interrupted and resumed.
//!
//! Test losses are measured at steps that grow geometrically: learning takes place on all scales of time. Batches are cut
//! from an endless sequence of shuffled epochs; batch `b` is a function of the seed and `b` alone.

mod order;
mod progress;
mod questions;
mod test_set;

pub use progress::{Ending, Progress, Record};
pub use questions::Masks;
pub use test_set::evaluate;

use crate::engine::{Engine, NamedTensor};
use crate::error::{Error, Result};
use crate::network::Network;
use crate::task::{Masked, Task};
use gardenpath::interrupt::checkpoint;
use gardenpath::{Corpus, Seed, Symbol};
use order::Order;
use progress::next_measurement;
use questions::Questions;
use serde::{Deserialize, Serialize};
use test_set::TestSet;

/// Batch size, stopping rule and masking rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Sentences of a batch.
    pub batch: usize,
    /// The largest number of steps.
    pub max_steps: u64,
    /// A plateau stops training only after this many steps, and never at the loss of guessing roots: networks may stay there for long
    /// before they learn.
    pub min_steps: u64,
    /// Training stops when the number of steps has grown by this factor without a better test loss.
    pub patience: f64,
    /// The share of tokens to mask in the masked task [default: [`gardenpath::Task::MASK`]].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { batch: 128, max_steps: 100_000, min_steps: 2_000, patience: 2.0, mask: None }
    }
}

impl Settings {
    /// The masks of the test set of a run with this seed: they stay the same, and so does the floor. Those of the training set are drawn anew
    /// in every epoch.
    pub fn test_masks(&self, seed: Seed) -> Masks {
        Masks { rate: self.mask.unwrap_or(gardenpath::Task::MASK), seed: seed.child("test masks") }
    }
}

/// The result of one call of [`Trainer::advance`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A step was taken; the loss of its batch.
    Step(f64),
    /// The test loss was measured.
    Measured {
        /// What was found.
        record: Record,
        /// Whether it is the best so far.
        best: bool,
    },
    /// Training has ended.
    Ended(Ending),
}

/// A run of training.
pub struct Trainer<'a, E> {
    /// The device at work.
    pub engine: E,
    settings: Settings,
    train: &'a Corpus,
    test: &'a Corpus,
    order: Order,
    masks: Seed,
    test_masks: Masks,
    /// The test set, prepared on first use.
    asked: Option<TestSet>,
    progress: Progress,
}

/// A test loss counts as better if it is lower by this factor.
const IMPROVEMENT: f64 = 0.998;

/// A network that names roots and whose lowest test loss is above this, in units of the loss of guessing, has not begun to learn. Tokens
/// have no such plateau: their frequencies are learned at once.
const GUESSES: f64 = 0.99;

/// A test loss this much above the best, in units of the loss of guessing, is a rise.
const RISE: f64 = 0.05;

impl<'a, E: Engine> Trainer<'a, E> {
    /// Starts a run, or resumes it from `progress`, which belongs to the state of the engine.
    ///
    /// # Errors
    /// The training or test set is empty, a batch would be empty, the masking rate is out of range, or the network cannot read
    /// some sentence. Only networks that name roots need them.
    pub fn new(
        engine: E,
        settings: Settings,
        [train, test]: [&'a Corpus; 2],
        seed: Seed,
        progress: Progress,
    ) -> Result<Self> {
        for (what, value) in [
            ("number of training sentences", train.len()),
            ("number of test sentences", test.len()),
            ("batch", settings.batch),
        ] {
            if value == 0 {
                return Err(Error::TooSmall { what, value, least: 1 });
            }
        }
        for corpus in [train, test] {
            let (network, sentences) = (engine.network(), (0..corpus.len()).map(|i| corpus.sentence(i)));
            match network.task {
                Task::Root => network.check_answered(sentences, corpus.roots())?,
                // A corpus has no masks.
                Task::Next | Task::Masked => {
                    Network { task: Task::Next, ..network.clone() }.check_sentences(sentences)?
                }
            }
        }
        let test_masks = settings.test_masks(seed);
        if !(test_masks.rate > 0.0 && test_masks.rate <= 1.0) {
            return Err(Error::Mask(test_masks.rate));
        }
        let (order, masks) = (Order::new(seed, train.len()), seed.child("masks"));
        Ok(Trainer { engine, settings, train, test, order, masks, test_masks, asked: None, progress })
    }

    /// The progress of the run.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The step at which training ends if the test loss does not fall any more.
    pub fn last_step(&self) -> u64 {
        self.patient_until().min(self.settings.max_steps)
    }

    fn patient_until(&self) -> u64 {
        let mut lowest = f64::INFINITY;
        let mut improved = 0;
        for record in &self.progress.records {
            if record.test_loss < lowest * IMPROVEMENT {
                (lowest, improved) = (record.test_loss, record.step);
            }
        }
        let network = self.engine.network();
        if network.task.is_root() && lowest > GUESSES * network.guessing_loss() {
            return u64::MAX;
        }
        ((improved as f64 * self.settings.patience) as u64).max(self.settings.min_steps)
    }

    /// The state of the engine.
    pub fn state(&self) -> Vec<NamedTensor> {
        self.engine.state()
    }

    /// Takes a step, or measures the test loss if it is time to, or ends.
    pub fn advance(&mut self) -> Result<Event> {
        checkpoint();
        if let Some(ending) = self.progress.ending {
            return Ok(Event::Ended(ending));
        }
        let last = self.progress.records.last().map(|record| record.step);
        let due = last.map_or(0, next_measurement).min(self.settings.max_steps);
        if self.progress.step < due {
            return self.step();
        }
        if last != Some(self.progress.step) {
            return self.measure();
        }
        self.progress.ending = Some(Ending::Steps);
        Ok(Event::Ended(Ending::Steps))
    }

    fn step(&mut self) -> Result<Event> {
        let size = self.settings.batch.min(self.train.len());
        let numbers = self.order.batch(self.progress.step, size);
        let (network, rate, first) = (self.engine.network(), self.test_masks.rate, self.progress.step * size as u64);
        let mask = |place: usize, sentence: &[Symbol]| {
            Masked::at_least_one(network.vocab, sentence, rate, self.masks, first + place as u64)
        };
        let questions = Questions::new(network, self.train, &numbers, mask);
        let loss = self.engine.step(&questions.sentences(), &questions.answers)?;
        self.progress.step += 1;
        if !loss.is_finite() {
            return Ok(self.diverged());
        }
        self.progress.loss_sum += loss;
        self.progress.loss_count += 1;
        Ok(Event::Step(loss))
    }

    fn diverged(&mut self) -> Event {
        self.progress.ending = Some(Ending::Diverged);
        Event::Ended(Ending::Diverged)
    }

    fn measure(&mut self) -> Result<Event> {
        let asked = match self.asked.take() {
            Some(asked) => asked,
            None => TestSet::new(&mut self.engine, self.test, self.test_masks)?,
        };
        let (test_loss, test_accuracy) = self.asked.insert(asked).measure(&mut self.engine)?;
        if !test_loss.is_finite() {
            return Ok(self.diverged());
        }
        let Progress { step, loss_sum, loss_count, .. } = self.progress;
        let batch = self.settings.batch.min(self.train.len());
        let record = Record {
            step,
            epoch: step as f64 * batch as f64 / self.train.len() as f64,
            train_loss: if loss_count == 0 { test_loss } else { loss_sum / loss_count as f64 },
            test_loss,
            test_accuracy,
        };
        let best = self.progress.best().is_none_or(|best| test_loss < best.test_loss);
        self.progress.records.push(record);
        (self.progress.loss_sum, self.progress.loss_count) = (0.0, 0);
        self.progress.ending = self.ending();
        Ok(Event::Measured { record, best })
    }

    /// Whether the records so far are a reason to stop.
    fn ending(&self) -> Option<Ending> {
        let records = &self.progress.records;
        let step = self.progress.step;
        let guessing = self.engine.network().guessing_loss();
        let best = self.progress.best()?;
        let recent = &records[records.len().saturating_sub(RISE_RECORDS)..];
        let risen = |record: &Record| record.test_loss > best.test_loss + RISE * guessing;
        if recent.len() == RISE_RECORDS && recent.iter().all(risen) {
            return Some(Ending::Rise);
        }
        (step >= self.patient_until()).then_some(Ending::Plateau)
    }
}

/// Successive records that must lie above the best for a rise.
const RISE_RECORDS: usize = 4;
