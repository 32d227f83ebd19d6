//! Which layer of a trained network encodes which level of the tree.

use super::parameter::parameters;
use super::result::results;
use super::train::Train;
use super::{Keeper, Kind};
use anyhow::Result;
use gardenpath::Seed;
use gardenpath_nn::engine;
use gardenpath_nn::probe::{Probe as Probes, ProbeReport};

parameters! {
    /// The parameters of training.
    pub struct Probe {
        ..train: Train;
    }
}

results! {
    /// The results. Lists have one item per layer and level: layer by layer, from the root down.
    pub struct ProbeResult {
        layer: Vec<u64> => "The layer; 1 is next to the tokens";
        level: Vec<u64> => "The level of the tree; 0 is the root";
        accuracy: Vec<f64> => "Accuracy of a linear probe of the layer on held-out nodes of the level";
        chance: Vec<f64> => "Accuracy of always predicting the most common symbol";
        bound: Vec<f64> => "Expected accuracy of exact inference from the network's input";
        sensitivity: Vec<Option<f64>> => "How far the layer moves if synonyms of the level are exchanged; 1: as far as for another sentence";
        normalized_loss: f64 => "Test loss of the network relative to guessing";
    }
}

impl Kind for Probe {
    type Output = ProbeResult;

    const NAME: &'static str = "probe";
    const MEANING: &'static str = "Which layer of a trained network encodes which level of the tree";
    // 2: flat results; the names of layers had the name of a parameter.
    const VERSION: u32 = 2;

    fn settle(&mut self) -> Result<()> {
        self.train.settle()
    }

    fn run(&self, keeper: &dyn Keeper) -> Result<ProbeResult> {
        let trained = self.train.train(keeper)?;
        let weights = engine::weights(&trained.network, &trained.best)?;
        let mut model = gardenpath_nn::Model::new(&trained.network);
        let seed = Seed::new(self.train.seed).child("probe");
        let ProbeReport { layers, levels, accuracy, sensitivity } =
            Probes::default().run(&mut model, &weights, &trained.grammar, seed)?;
        let pairs = || (1..).take(layers.len()).flat_map(|layer| levels.iter().map(move |level| (layer, level)));
        Ok(ProbeResult {
            layer: pairs().map(|(layer, _)| layer).collect(),
            level: pairs().map(|(_, level)| level.level as u64).collect(),
            accuracy: accuracy.concat(),
            chance: pairs().map(|(_, level)| level.chance).collect(),
            bound: pairs().map(|(_, level)| level.bound).collect(),
            sensitivity: sensitivity.concat(),
            normalized_loss: trained.outcome.normalized_loss,
        })
    }

    fn work(&self) -> f64 {
        // The activations of all layers for a few thousand sentences, and the linear probes of all layers and levels.
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
