//! `gardenpath probe`: which hidden layer of a network encodes which level of the tree?

mod table;

use super::Answer;
use crate::cli::{SeedOption, size};
use crate::progress;
use anyhow::{Result, bail};
use clap::Args;
use gardenpath_lab::training::run_directory::RunDirectory;
use gardenpath_nn::probe::{Level, Probe, ProbeReport};
use gardenpath_nn::{Model, engine};
use serde::Serialize;
use std::path::PathBuf;

/// The arguments of `probe`.
#[derive(Args, Debug)]
#[command(after_help = "\
Linear probes predict the symbol of a true node from the activations of a layer over the node's span; for causal networks, the symbols above a random \
token from the activations at that token. The bound is the accuracy of the most probable symbol given the network's input: no probe can do better. The sensitivity is how far a \
layer moves when all rules of a level are replaced by synonyms, relative to an unrelated sentence with the same tree shape: 1 means \
as far, 0 not at all.

Examples:
  gardenpath train --model inn --vocab 8 --depth 2 --fraction 0.125 --samples 4096 --width 128 -o run
  gardenpath probe run
  gardenpath probe run --initial --json")]
pub struct Arguments {
    /// Run directory, written by 'gardenpath train -o'
    run: PathBuf,
    /// Probe the network at initialization
    #[arg(long)]
    initial: bool,
    /// Sentences to fit the linear probes to, with one node per level
    #[arg(long, alias = "train", default_value = "4000", value_parser = size, value_name = "N")]
    samples: usize,
    /// Sentences to test the probes on
    #[arg(long, alias = "held-out", default_value = "2000", value_parser = size, value_name = "N")]
    test_samples: usize,
    /// Sentences in which synonyms are exchanged
    #[arg(long, default_value = "1000", value_parser = size, value_name = "N")]
    exchanged: usize,
    #[command(flatten)]
    seed: SeedOption,
}

/// The JSON output.
#[derive(Serialize)]
struct Answered<'a> {
    model: &'static str,
    width: usize,
    samples: u64,
    initial: bool,
    /// From the tokens up.
    layer_names: &'a [String],
    levels: &'a [Level],
    /// Of linear probes, by layer and level.
    probe_accuracy: &'a [Vec<f64>],
    /// To exchanges of synonyms, by layer and level.
    sensitivity: &'a [Vec<Option<f64>>],
}

/// Runs the probes.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    let (directory, recipe, grammar) = RunDirectory::open(&arguments.run)?;
    let Some(grammar) = grammar else {
        bail!(
            "{}: was trained on a corpus without a grammar; probes need trees, expected a run with --grammar",
            arguments.run.display()
        );
    };
    let network = recipe.network(&grammar)?;
    let weights = if arguments.initial {
        engine::weights(&network, &recipe.initial_state(&network))?
    } else {
        directory.best_weights(&network)?
    };
    let Arguments { samples: train, test_samples: held_out, exchanged, .. } = *arguments;
    let spinner = progress::spinner("probing");
    let probe = Probe { train, held_out, exchanged };
    let report = probe.run(&mut Model::new(&network), &weights, &grammar, arguments.seed.get().child("probe"))?;
    spinner.finish_and_clear();
    if !answer.json {
        return answer.text(&table::to_text(&report));
    }
    let model = recipe.architecture.name();
    let (width, samples, initial) = (recipe.width, recipe.samples, arguments.initial);
    let ProbeReport { layers, levels, accuracy, sensitivity } = &report;
    let (layer_names, probe_accuracy) = (layers, accuracy);
    answer.json_line(&Answered { model, width, samples, initial, layer_names, levels, probe_accuracy, sensitivity })
}
