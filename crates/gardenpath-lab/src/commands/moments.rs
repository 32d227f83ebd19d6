//! `gardenpath moments`: the statistics of adjacent tokens and the root, as tensors.

use super::Answer;
use crate::cli::{SeedOption, whole_number};
use crate::draw::table::grouped;
use crate::files::{self, Output, atomic};
use crate::progress;
use anyhow::{Result, bail};
use clap::Args;
use gardenpath::{Covariance, ExpectedMoments, Grammar, Moments, Sampler, Seed, Symbol};
use safetensors::tensor::{Dtype, TensorView};
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The arguments of `moments`.
#[derive(Args, Debug)]
#[command(after_help = "\
Tensors of the file: pair_covariance [v, v, classes] and triple_covariance [v, v, v, classes] (float64), the covariances \
of adjacent tokens with the root, pooled over positions. With --samples exact they are those of infinitely many sentences.

Examples:
  gardenpath moments g.pcfg --samples 1e6 --seed 1 -o moments.safetensors
  gardenpath moments g.pcfg --samples exact -o population.safetensors")]
pub struct Arguments {
    /// The grammar (.pcfg or .json)
    grammar: PathBuf,
    /// Number of sentences to sample, or exact
    #[arg(long, value_parser = samples, value_name = "N|exact")]
    samples: Samples,
    #[command(flatten)]
    seed: SeedOption,
    /// The .safetensors file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// How many sentences.
#[derive(Clone, Copy, Debug)]
enum Samples {
    Number(u64),
    Exact,
}

fn samples(text: &str) -> Result<Samples, String> {
    if text == "exact" { Ok(Samples::Exact) } else { whole_number(text).map(Samples::Number) }
}

/// What `--json` says about the file.
#[derive(Serialize)]
struct Written<'a> {
    output: &'a Path,
    sentences: Option<u64>,
    vocab: usize,
    classes: usize,
    grammar: String,
}

/// What the file says about itself, as JSON; `null` sentences are infinitely many.
#[derive(Serialize)]
struct Origin {
    grammar: String,
    sentences: Option<u64>,
    seed: u64,
}

/// Sentences between two steps of the progress bar.
const PIECE: u64 = 1 << 20;

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    let output = &arguments.output;
    atomic::check_name(output, "safetensors")?;
    let grammar = files::grammar::read(&arguments.grammar)?;
    let (covariance, sentences) = match arguments.samples {
        Samples::Exact => {
            arguments.seed.refuse("exact moments are not sampled")?;
            (ExpectedMoments::new(&grammar)?.covariance(), None)
        }
        Samples::Number(0) => bail!("--samples is 0, expected at least 1"),
        Samples::Number(count) => (count_sampled(&grammar, count, arguments.seed.get())?, Some(count)),
    };
    write(&covariance, &grammar, sentences, arguments)?;
    if answer.json {
        return answer.json_line(&Written {
            output,
            sentences,
            vocab: grammar.vocab(),
            classes: grammar.classes(),
            grammar: grammar.fingerprint(),
        });
    }
    let source = sentences.map_or("exact moments".to_owned(), |n| format!("moments of {} sentences", grouped(n)));
    progress::note(&format!("wrote the {source} to {}", output.display()));
    Ok(())
}

fn count_sampled(grammar: &Grammar, count: u64, seed: Seed) -> Result<Covariance> {
    let mut moments = Moments::new(grammar.vocab(), grammar.classes())?;
    let sampler = Sampler::new(grammar);
    let bar = progress::bar(count, "counting");
    for first in (0..count).step_by(PIECE as usize) {
        let numbers = first..count.min(first + PIECE);
        bar.inc(numbers.end - numbers.start);
        moments.add_sampled(&sampler, seed, numbers)?;
    }
    bar.finish_and_clear();
    Ok(moments.covariance())
}

fn write(covariance: &Covariance, grammar: &Grammar, sentences: Option<u64>, arguments: &Arguments) -> Result<()> {
    let (vocab, classes) = (grammar.vocab(), grammar.classes());
    let symbols = || (0..vocab).map(|symbol| symbol as Symbol);
    let (mut pairs, mut triples) = (Vec::new(), Vec::new());
    let bytes = |vector: &[f64], to: &mut Vec<u8>| to.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
    for a in symbols() {
        for b in symbols() {
            bytes(covariance.pair_vector(a, b), &mut pairs);
            symbols().for_each(|c| bytes(covariance.triple_vector(a, b, c), &mut triples));
        }
    }
    let views = [
        ("pair_covariance", TensorView::new(Dtype::F64, vec![vocab, vocab, classes], &pairs)?),
        ("triple_covariance", TensorView::new(Dtype::F64, vec![vocab, vocab, vocab, classes], &triples)?),
    ];
    // One entry: the order of several would be that of a hash table, different in every run.
    let origin = Origin { grammar: grammar.fingerprint(), sentences, seed: arguments.seed.number() };
    let metadata = HashMap::from([("gardenpath".to_owned(), serde_json::to_string(&origin)?)]);
    let file = safetensors::serialize(views, Some(metadata))?;
    let mut output = Output::create(&arguments.output)?;
    output.write_all(&file)?;
    output.finish()
}
