//! Training with early stopping, one step at a time, so that it can be watched, interrupted and resumed.
//!
//! Test losses are measured at steps that grow geometrically: learning takes place on all scales of time. Batches are cut
//! from an endless sequence of shuffled epochs; batch `b` is a function of the seed and `b` alone.

mod order;
mod questions;

pub use questions::{Masks, evaluate};

use crate::engine::{Engine, NamedTensor};
use crate::error::{Error, Result};
use crate::network::Network;
use crate::task::{Masked, Task};
use gardenpath::interrupt::checkpoint;
use gardenpath::{Corpus, Seed, Symbol};
use order::Order;
use questions::Questions;
use serde::{Deserialize, Serialize};

/// How long to train, and in which portions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Sentences of a batch.
    pub batch: usize,
    /// The largest number of steps.
    pub max_steps: u64,
    /// Steps before which a plateau is no reason to stop: networks may rest at the loss of guessing for long.
    pub min_steps: u64,
    /// Training stops when the number of steps has grown by this factor without a better test loss.
    pub patience: f64,
    /// The share of tokens that are masked if those are to be told; [`gardenpath::Task::MASK`] if nothing is said.
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

/// One measurement of the test loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Steps so far.
    pub step: u64,
    /// Passes over the training set so far.
    pub epoch: f64,
    /// The mean loss of the batches since the last record.
    pub train_loss: f64,
    /// The loss of the test set, per [unit of the task](Task::units).
    pub test_loss: f64,
    /// The share of questions about the test set whose answer has the largest logit.
    pub test_accuracy: f64,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The test loss rose.
    Rise,
    /// The test loss did not improve any more.
    Plateau,
    /// The largest number of steps was reached.
    Steps,
    /// A loss was no longer a number: the learning rate is too large.
    Diverged,
}

/// All that a run has come to besides the state of its engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Steps so far.
    pub step: u64,
    /// The sum of the losses of the batches since the last record.
    pub loss_sum: f64,
    /// The number of these batches.
    pub loss_count: u64,
    /// All measurements.
    pub records: Vec<Record>,
    /// Why training ended, if it has.
    pub ending: Option<Ending>,
}

impl Progress {
    /// The record with the smallest test loss.
    pub fn best(&self) -> Option<&Record> {
        self.records.iter().min_by(|a, b| a.test_loss.total_cmp(&b.test_loss))
    }

    /// Whether a run with these settings can have come to this: a run must not go on from anything else.
    pub fn belongs_to(&self, settings: &Settings) -> bool {
        let due = |last: Option<u64>| last.map_or(0, next_measurement).min(settings.max_steps);
        let mut last = None;
        for record in &self.records {
            let numbers = [record.epoch, record.train_loss, record.test_loss, record.test_accuracy];
            if record.step != due(last) || last == Some(record.step) || !numbers.iter().all(|x| x.is_finite()) {
                return false;
            }
            last = Some(record.step);
        }
        let since = self.step.checked_sub(last.unwrap_or(0));
        // The batch with which a run diverges has no loss to count.
        let counted = since == Some(self.loss_count)
            || self.ending == Some(Ending::Diverged) && since == self.loss_count.checked_add(1);
        counted && self.loss_sum.is_finite() && self.step <= due(last)
    }
}

/// What happened in one call of [`Trainer::advance`].
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
    progress: Progress,
}

/// The first step at which the test loss is measured.
const FIRST_MEASUREMENT: u64 = 32;

/// The factor from one measurement to the next.
const SPACING: f64 = 1.12;

/// A test loss counts as better if it is lower by this factor.
const IMPROVEMENT: f64 = 0.998;

/// A test loss this much above the best, in units of the loss of guessing, is a rise.
const RISE: f64 = 0.05;

impl<'a, E: Engine> Trainer<'a, E> {
    /// A run that begins, or goes on from `progress`, which belongs to the state of the engine.
    ///
    /// # Errors
    /// There is nothing to learn from or to test on, a batch would be empty, the share of masked tokens is none, or the network cannot read
    /// some sentence. Roots are needed only by networks that tell them.
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
        Ok(Trainer { engine, settings, train, test, order, masks, test_masks, progress })
    }

    /// What the run has come to.
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
        let (test_loss, test_accuracy) = evaluate(&mut self.engine, self.test, self.test_masks)?;
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

/// The step of the next measurement.
fn next_measurement(step: u64) -> u64 {
    ((step as f64 * SPACING) as u64).max(step + FIRST_MEASUREMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_does_not_go_on_from_the_progress_of_no_run() {
        let settings = Settings { max_steps: 100, ..Settings::default() };
        let record = |step| Record { step, epoch: 0.5, train_loss: 2.0, test_loss: 2.0, test_accuracy: 0.5 };
        let records = [0, 32, 64, 96, 100].map(record);
        let at = |step, measured: usize, loss_count| Progress {
            step,
            loss_sum: 1.0,
            loss_count,
            records: records[..measured].to_vec(),
            ending: None,
        };
        let diverged = |progress: Progress| Progress { ending: Some(Ending::Diverged), ..progress };
        for good in [Progress::default(), at(0, 1, 0), at(20, 1, 20), at(32, 1, 32), at(99, 4, 3), at(100, 5, 0)] {
            assert!(good.belongs_to(&settings), "{good:?}");
        }
        assert!(diverged(at(40, 2, 7)).belongs_to(&settings) && !at(40, 2, 7).belongs_to(&settings));
        let spoiled = |spoil: fn(&mut Progress)| {
            let mut progress = at(70, 3, 6);
            spoil(&mut progress);
            progress
        };
        for bad in [
            at(1 << 63, 1, 1 << 63),
            at(101, 5, 1),
            at(33, 1, 33),
            at(20, 2, 0),
            at(70, 3, u64::MAX),
            spoiled(|progress| progress.loss_sum = f64::NAN),
            spoiled(|progress| progress.records[1].test_loss = f64::INFINITY),
            spoiled(|progress| progress.records[1].step = 31),
            spoiled(|progress| progress.records.rotate_left(1)),
            spoiled(|progress| progress.records[1].step = u64::MAX),
        ] {
            assert!(!bad.belongs_to(&settings), "{bad:?}");
        }
    }
}
