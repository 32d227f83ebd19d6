//! `gardenpath predict`: exact predictions for each sentence of a corpus.

mod compare;
mod engine;
pub(super) mod found;

use super::Answer;
use super::sentences::{Sentences, Workspaces};
use crate::cli::{SeedOption, refuse, size};
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use compare::Comparison;
use engine::Engine;
use gardenpath::{Grammar, Predictor};
use gardenpath_lab::files;
use std::path::PathBuf;

/// The arguments of `predict`.
#[derive(Args, Debug)]
#[command(after_help = "\
Tasks and their --json output, one line per sentence, in order:
  next        each token given those before it: {\"len\",\"next\":[[…] at 0, 1, …, len],\"surprisal\":[…],\"logprob\"}; the last number of a row \
is the probability that the sentence ends; logprob is ln P(sentence)
  next-known  the same for known length: one row per token, without the end; the surprisals sum to -ln P(sentence | length)
  masked      {\"tokens\":[[…], …],\"positions\":[…]}: the distribution of each masked token, given all others
  noisy       the same for all positions of sentences that passed a noisy channel: each token was replaced by a random one with probability --noise
  hidden      {\"levels\":{\"0\":[[…], …],\"1\":…}}: the symbol of each level above each token, given the sentence, or with --prefix given \
the tokens up to it
Impossible values, and those after them, are null. Positions and levels count from 0.

With --compare, each line is {\"len\",\"divergence\"}: the mean Kullback-Leibler divergence in nats of the predictions in FILE, which has the \
task's lines as above.

Examples:
  gardenpath predict g.pcfg c.parquet --task next --json
  gardenpath predict g.pcfg c.jsonl --task masked --mask-at 3,5 --json
  gardenpath predict g.pcfg c.jsonl --task hidden --level 1 --prefix --json
  gardenpath predict g.pcfg c.jsonl --task next --compare mine.jsonl")]
pub struct Arguments {
    /// The grammar (.pcfg or .json)
    grammar: PathBuf,
    /// The sentences (.jsonl, .parquet or .tsv), or - for JSON lines on standard input; words are names of tokens
    corpus: PathBuf,
    /// What to predict: next, next-known, masked, noisy or hidden (see below)
    #[arg(long, value_enum, hide_possible_values = true)]
    task: Task,
    /// Mask each token with this probability [default: 0.15]
    #[arg(long, value_name = "P", conflicts_with = "mask_at")]
    mask: Option<f64>,
    /// Mask the tokens at these positions, in sentences that are long enough; comma-separated for several
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = size)]
    mask_at: Option<Vec<usize>>,
    /// Probability that a token of the corpus was replaced by a random one [default: 0.1]
    #[arg(long, value_name = "P")]
    noise: Option<f64>,
    /// Predict only the symbols of this level
    #[arg(long, value_name = "N", value_parser = size)]
    level: Option<usize>,
    /// Predict the symbols above each token from the tokens up to it
    #[arg(long)]
    prefix: bool,
    /// Compare the predictions in this file (JSON lines) with the exact ones
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    #[command(flatten)]
    seed: SeedOption,
}

/// What to predict.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Task {
    /// The next token, or the end of the sentence
    Next,
    /// The next token of a sentence of known length
    NextKnown,
    /// Masked tokens
    Masked,
    /// Tokens observed through a noisy channel
    Noisy,
    /// Hidden symbols
    Hidden,
}

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    check(arguments)?;
    let grammar = files::grammar::read(&arguments.grammar)?;
    if let Some(level) = arguments.level.filter(|&level| level >= grammar.depth()) {
        bail!("--level is {level}, expected a hidden level: 0 to {}", grammar.depth() - 1);
    }
    let sentences = Sentences::open(&grammar, &arguments.grammar, &arguments.corpus)?;
    let predictor = Predictor::new(&grammar);
    let engine = Engine::new(&predictor, arguments);
    // A number takes about 20 bytes as text.
    let bytes = 20 * (1 + grammar.sizes().iter().sum::<usize>());
    match &arguments.compare {
        Some(path) => compare::run(sentences, &engine, Comparison::open(path)?, bytes, answer),
        None => write(&grammar, sentences, &engine, bytes, answer),
    }
}

fn write(grammar: &Grammar, all: Sentences, engine: &Engine, bytes: usize, answer: &mut Answer) -> Result<()> {
    let (json, readers) = (answer.json, Workspaces::new(|| engine.reader()));
    all.blocks("predicted", bytes, |block| {
        block.write(&readers, answer, |reader, number, sentence, text| {
            let found = engine.answer(reader, number, sentence)?;
            if json {
                serde_json::to_writer(text, &found)?;
            } else {
                text.extend_from_slice(found.to_text(grammar, number, sentence).as_bytes());
            }
            Ok(())
        })
    })
}

/// Refuses options of other tasks, and numbers out of range.
fn check(arguments: &Arguments) -> Result<()> {
    let Arguments { task, mask, mask_at, noise, level, prefix, compare, seed, .. } = arguments;
    if *task != Task::Masked {
        refuse("--mask", mask.as_ref(), "only --task masked masks tokens")?;
        refuse("--mask-at", mask_at.as_ref(), "only --task masked masks tokens")?;
    }
    if *task != Task::Masked || mask_at.is_some() {
        seed.refuse("only --task masked with --mask is random")?;
    }
    if *task != Task::Noisy {
        refuse("--noise", noise.as_ref(), "only --task noisy has a noisy channel")?;
    }
    if *task != Task::Hidden {
        refuse("--level", level.as_ref(), "only --task hidden predicts hidden symbols")?;
        refuse("--prefix", prefix.then_some(()), "only --task hidden predicts hidden symbols")?;
    } else {
        refuse("--compare", compare.as_ref(), "--task hidden does not predict tokens")?;
    }
    check_rates(*mask, *noise)
}

/// Refuses rates that are not probabilities.
pub fn check_rates(mask: Option<f64>, noise: Option<f64>) -> Result<()> {
    if let Some(rate) = mask.filter(|rate| !(*rate > 0.0 && *rate <= 1.0)) {
        bail!("--mask is {rate}, expected more than 0 and at most 1");
    }
    if let Some(noise) = noise.filter(|noise| !(0.0..=1.0).contains(noise)) {
        bail!("--noise is {noise}, expected a probability");
    }
    Ok(())
}
