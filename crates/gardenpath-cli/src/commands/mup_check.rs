//! `gardenpath mup-check`: do activations and updates stay of order one at any width?

use super::Answer;
use crate::cli::{SeedOption, choice, size, whole_number};
use crate::progress;
use anyhow::{Result, bail};
use clap::Args;
use gardenpath::{Corpus, Ensemble};
use gardenpath_lab::draw::table::{Table, short};
use gardenpath_lab::training::choices::Model;
use gardenpath_nn::mup::{Coordinates, coordinates, exponent};
use gardenpath_nn::{Architecture, Network};
use serde::Serialize;

/// The arguments of `mup-check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Takes a few steps on one batch at each width and prints the root mean square of each layer's coordinates at \
initialization, and of their change. With the right scaling neither depends on the width: the exponents are near 0. The logits of a \
new network shrink as width^-1/2, their change does not.

Examples:
  gardenpath mup-check --model cnn
  gardenpath mup-check --model transformer --widths 64,128,256 --json")]
pub struct Arguments {
    /// Network architecture
    #[arg(long, value_parser = choice::<Model>())]
    model: Model,
    /// Widths to compare
    #[arg(long, value_delimiter = ',', value_parser = size, default_value = "64,128,256,512,1024,2048")]
    widths: Vec<usize>,
    /// Number of symbols per level
    #[arg(long, default_value = "8", value_parser = size)]
    vocab: usize,
    /// Number of layers of rules
    #[arg(long, default_value = "2", value_parser = size)]
    depth: usize,
    /// Steps before the change is measured
    #[arg(long, default_value = "4", value_parser = size, value_name = "N")]
    steps: usize,
    /// Sentences per batch
    #[arg(long, default_value = "32", value_parser = whole_number, value_name = "N")]
    batch: u64,
    #[command(flatten)]
    seed: SeedOption,
}

/// One layer at all widths.
#[derive(Serialize)]
struct Layer {
    layer: String,
    widths: Vec<usize>,
    size: Vec<f64>,
    change: Vec<f64>,
    size_exponent: f64,
    change_exponent: f64,
}

/// Runs the check.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    let mut widths = arguments.widths.clone();
    widths.sort_unstable();
    widths.dedup();
    if widths.len() < 2 || arguments.steps == 0 || arguments.batch == 0 {
        bail!("expected at least two different --widths, one step and one sentence");
    }
    let seed = arguments.seed.get();
    let ensemble = Ensemble::new(arguments.vocab, arguments.depth).fraction(1.0 / arguments.vocab as f64);
    let grammar = ensemble.sample(seed)?;
    let networks = widths.iter().map(|&width| {
        let architecture = match arguments.model {
            Model::Cnn => Architecture::cnn(),
            Model::Inn => Architecture::inn(),
            Model::Transformer => Architecture::transformer(arguments.depth, width),
        };
        Network::new(grammar.vocab(), grammar.classes(), grammar.shape(), width, architecture)
    });
    let networks = networks.collect::<Result<Vec<_>, _>>()?;
    for network in &networks {
        network.check_batch(usize::try_from(arguments.batch)?)?;
    }
    let batch = Corpus::try_sample(&grammar, seed, 0..arguments.batch)?;
    // Work grows with the square of the width.
    let bar = progress::bar(widths.iter().map(|&width| (width * width) as u64).sum(), "training");
    let mut measured = Vec::new();
    for network in &networks {
        measured.push(coordinates(network, &batch, arguments.steps, seed.child("weights"))?);
        bar.inc((network.width * network.width) as u64);
    }
    bar.finish_and_clear();
    let layers: Vec<Layer> = (0..measured[0].len()).map(|layer| Layer::new(&widths, &measured, layer)).collect();
    if answer.json {
        return layers.iter().try_for_each(|layer| answer.json_line(layer));
    }
    answer.text(&format!(
        "RMS of the coordinates at initialization, by width\n{}\nRMS change after {} steps, by width\n{}",
        table(&layers, |layer| (&layer.size, layer.size_exponent)),
        arguments.steps,
        table(&layers, |layer| (&layer.change, layer.change_exponent)),
    ))
}

impl Layer {
    fn new(widths: &[usize], measured: &[Vec<Coordinates>], layer: usize) -> Self {
        let column = |of: fn(&Coordinates) -> f64| measured.iter().map(|layers| of(&layers[layer])).collect::<Vec<_>>();
        let (size, change) = (column(|found| found.size), column(|found| found.change));
        let slope = |values: &[f64]| exponent(&widths.iter().copied().zip(values.iter().copied()).collect::<Vec<_>>());
        Layer {
            layer: measured[0][layer].layer.clone(),
            widths: widths.to_vec(),
            size_exponent: slope(&size),
            change_exponent: slope(&change),
            size,
            change,
        }
    }
}

fn table(layers: &[Layer], of: fn(&Layer) -> (&Vec<f64>, f64)) -> String {
    let widths = layers[0].widths.iter().map(usize::to_string);
    let headings = std::iter::once("layer".to_owned()).chain(widths).chain(["exponent".to_owned()]);
    let mut table = Table::new(headings);
    for layer in layers {
        let (values, exponent) = of(layer);
        let cells = values.iter().map(|&value| short(value)).chain([format!("{exponent:+.2}")]);
        table.row(std::iter::once(layer.layer.clone()).chain(cells));
    }
    table.to_string()
}
