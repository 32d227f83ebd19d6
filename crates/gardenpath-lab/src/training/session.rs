//! A training run, from its start or its last checkpoint to its end, optionally stored in a directory.

use super::checkpoint::interval;
use super::run_directory::RunDirectory;
use super::{Data, Device, Recipe, weights_of};
use anyhow::Result;
use gardenpath_nn::Network;
use gardenpath_nn::engine::{Engine, NamedTensor};
use gardenpath_nn::train::{Event, Progress, Record, Trainer};
use serde::Serialize;
use std::time::Instant;

/// A run in progress.
pub type Run<'a> = Trainer<'a, Box<dyn Engine>>;

/// A network, its sentences, and where the run is stored.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    /// All settings.
    pub recipe: &'a Recipe,
    /// The network.
    pub network: &'a Network,
    /// The sentences.
    pub data: &'a Data,
    /// The device to train on.
    pub device: Device,
    /// Where to store the run, if anywhere.
    pub directory: Option<&'a RunDirectory>,
}

/// The result of a session. The run has finished unless its progress has no ending.
pub struct Trained {
    /// All measurements.
    pub progress: Progress,
    /// The weights with the lowest test loss.
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
    /// Trains until the run ends or `watch`, which sees every event, returns true. A run with a directory is saved
    /// after each measurement, periodically in between, and on return.
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

    /// The run, resumed from its checkpoint if there is one, with the best weights so far.
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

    /// Saves the run. The checkpoint is written last, since it implies that everything else is there.
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
