//! Which layer of a trained network encodes which level of the tree.

use super::parameter::parameters;
use super::train::Train;
use super::{Keeper, Kind};
use anyhow::Result;
use gardenpath::Seed;
use gardenpath_nn::engine;
use gardenpath_nn::model;
use gardenpath_nn::probe::{Probe as Probes, ProbeReport};
use serde_json::{Value, json};

parameters! {
    /// The parameters: those of training.
    pub struct Probe {
        ..train: Train;
    }
}

impl Kind for Probe {
    const NAME: &'static str = "probe";
    const MEANING: &'static str = "Which layer of a trained network encodes which level of the tree";
    const RESULTS: &'static [&'static str] = &["layers", "levels", "accuracy", "sensitivity", "normalized_loss"];

    fn settle(&mut self) -> Result<()> {
        self.train.settle()
    }

    fn run(&self, keeper: &dyn Keeper) -> Result<Value> {
        let trained = self.train.train(keeper)?;
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

    fn work(&self) -> f64 {
        // The rows of all layers for some thousand sentences, and the linear probes of all layers and levels.
        self.train.work() + 5000.0 * self.train.seconds_per_sentence() + 6e-3 * self.train.sampled.depth as f64
    }

    fn variety(&self) -> String {
        self.train.variety()
    }

    fn tiny(&self) -> Self {
        Probe { train: Train { max_steps: 1, min_steps: 1, width: 16, ..self.train.tiny() } }
    }

    fn is_on_gpu(&self) -> bool {
        self.train.is_on_gpu()
    }
}
