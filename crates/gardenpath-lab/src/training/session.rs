//! A run of training from its beginning, or from where it was left, to its end; kept in a directory if there is one.

use super::checkpoint::interval;
use super::run_directory::RunDirectory;
use super::{Data, Device, Recipe, weights_of};
use anyhow::Result;
use gardenpath_nn::Network;
use gardenpath_nn::engine::{Engine, NamedTensor};
use gardenpath_nn::train::{Event, Progress, Record, Trainer};
use serde::Serialize;
use std::time::Instant;

/// A run at work.
pub type Run<'a> = Trainer<'a, Box<dyn Engine>>;

/// What is trained, on which sentences, and where it is kept.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    /// All choices.
    pub recipe: &'a Recipe,
    /// The network.
    pub network: &'a Network,
    /// The sentences.
    pub data: &'a Data,
    /// Where to compute.
    pub device: Device,
    /// Where the run is kept, if it is.
    pub directory: Option<&'a RunDirectory>,
}

/// What a session has come to: the run has ended, unless its progress has no ending.
pub struct Trained {
    /// All measurements.
    pub progress: Progress,
    /// The weights with the smallest test loss.
    pub best: Vec<NamedTensor>,
}

/// A line of the log.
#[derive(Serialize)]
struct LogLine {
    #[serde(flatten)]
    record: Record,
    normalized_loss: f64,
    bayes_loss: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<f64>,
}

impl<'a> Session<'a> {
    /// Trains to the end, or until `watch`, which sees every event, says so. A run with a directory is kept after each measurement, now and
    /// then between two of them, and when it is left.
    pub fn train(&self, watch: &mut dyn FnMut(&Event, &Run<'a>) -> bool) -> Result<Trained> {
        let (mut trainer, mut best) = self.begin()?;
        let mut saved = Instant::now();
        loop {
            let event = trainer.advance()?;
            let is_left = watch(&event, &trainer);
            if let Event::Measured { best: true, .. } = event {
                best = weights_of(self.network, &trainer.state()).to_vec();
            }
            let only_step = matches!(event, Event::Step(_));
            if let Some(directory) = self.directory
                && (!only_step || is_left || saved.elapsed() > interval())
            {
                self.save(directory, &trainer, &event, &best)?;
                saved = Instant::now();
            }
            if is_left || matches!(event, Event::Ended(_)) {
                return Ok(Trained { progress: trainer.progress().clone(), best });
            }
        }
    }

    /// The run from its checkpoint on, if it has one, and the best weights so far.
    fn begin(&self) -> Result<(Run<'a>, Vec<NamedTensor>)> {
        let Session { recipe, network, data, device, directory } = *self;
        if let Some(directory) = directory
            && let Some((state, progress)) = directory.checkpoint()?
        {
            let best = if progress.records.is_empty() { Vec::new() } else { directory.best()? };
            let resumed = recipe.resume(network, data, device, (&state, progress));
            return Ok((resumed.map_err(|error| directory.wrong_checkpoint(error))?, best));
        }
        let state = recipe.initial_state(network);
        Ok((recipe.trainer(network, data, device, (&state, Progress::default()))?, state))
    }

    /// Keeps the run as it stands. The checkpoint comes last: it says that all the rest is there.
    fn save(&self, directory: &RunDirectory, trainer: &Run<'a>, event: &Event, best: &[NamedTensor]) -> Result<()> {
        if let Event::Measured { best: true, .. } = event {
            directory.save_best(best)?;
        }
        let guessing = self.network.guessing_loss();
        let line = |&record: &Record| LogLine {
            record,
            normalized_loss: record.test_loss / guessing,
            bayes_loss: self.data.bayes_loss(),
            floor: self.data.expected.as_ref().map(|expected| expected.floor),
        };
        directory.save_log(&trainer.progress().records.iter().map(line).collect::<Vec<_>>())?;
        directory.save_checkpoint(&trainer.state(), trainer.progress())
    }
}
