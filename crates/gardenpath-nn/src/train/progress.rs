//! The progress of a run: its measurements, and a check that they are consistent.

use super::Settings;
use serde::{Deserialize, Serialize};

/// The first step at which the test loss is measured.
const FIRST_MEASUREMENT: u64 = 32;

/// The factor from one measurement to the next.
const SPACING: f64 = 1.12;

/// One measurement of the test loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Steps so far.
    pub step: u64,
    /// Passes over the training set so far.
    pub epoch: f64,
    /// The mean loss of the batches since the last record.
    pub train_loss: f64,
    /// The loss of the test set, per [unit of the task](crate::Task::units).
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
    /// NaN loss: the learning rate is too large.
    Diverged,
}

/// The progress of a run, apart from the state of its engine.
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

    /// Whether a run with these settings can have reached this state; otherwise it must not be resumed.
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

/// The step of the next measurement.
pub fn next_measurement(step: u64) -> u64 {
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
