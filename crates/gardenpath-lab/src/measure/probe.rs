//! Which layer of a trained network encodes which level of the tree.

use super::train::{self, Train};
use anyhow::Result;
use gardenpath::Seed;
use gardenpath_nn::engine;
use gardenpath_nn::model;
use gardenpath_nn::probe::{Probe as Probes, ProbeReport};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The parameters: those of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Probe {
    train: Train,
}

pub(super) const PARAMETERS: &[&str] = train::PARAMETERS;

impl Probe {
    pub(super) fn run(&self) -> Result<Value> {
        let trained = self.train.train()?;
        let weights = engine::weights(&trained.network, &trained.best)?;
        let mut model = model::Model::new(&trained.network);
        let seed = Seed::new(self.train.seed).child("probe");
        let ProbeReport { layers, levels, accuracy, sensitivity } =
            Probes::default().run(&mut model, &weights, &trained.grammar, seed)?;
        Ok(json!({
            "layers": layers,
            "levels": levels,
            "accuracy": accuracy,
            "sensitivity": sensitivity,
            "normalized_loss": trained.outcome.normalized_loss,
        }))
    }

    pub(super) fn work(&self) -> f64 {
        self.train.work()
    }
}
