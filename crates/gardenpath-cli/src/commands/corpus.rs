//! `gardenpath corpus`: sample and inspect corpora.

mod info;
mod sample;

use super::Answer;
use crate::cli::{SeedOption, whole_number};
use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use std::ops::Range;
use std::path::PathBuf;

/// The subcommands of `corpus`.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Sample sentences of a grammar, with their roots and optionally their trees
    #[command(after_help = "\
Sentence i depends only on (grammar, seed, i): corpora nest, and any slice can be sampled separately.

Examples:
  gardenpath corpus sample g.pcfg --samples 1e6 --seed 1 -o c.parquet
  gardenpath corpus sample g.pcfg --samples 1e6 --seed 1 --first 1e6 -o more.parquet
  gardenpath corpus sample g.pcfg --samples 10 --trees -o -")]
    Sample(Sample),
    /// Count the sentences, tokens, lengths and roots of a file, or of sentences sampled on the fly
    #[command(after_help = "\
Examples:
  gardenpath corpus info c.parquet
  gardenpath corpus info g.pcfg --samples 1e9 --seed 1")]
    Info(Info),
}

/// The arguments of `corpus sample`.
#[derive(Args, Debug)]
pub struct Sample {
    /// The grammar (.pcfg or .json), or - for standard input
    grammar: PathBuf,
    /// Number of sentences, such as 1000 or 1e6
    #[arg(long, alias = "count", value_parser = whole_number, value_name = "N")]
    samples: u64,
    #[command(flatten)]
    seed: SeedOption,
    /// Index of the first sentence
    #[arg(long, default_value = "0", value_name = "N", value_parser = whole_number)]
    first: u64,
    /// Also write the tree of each sentence
    #[arg(long)]
    trees: bool,
    /// Write the grammar's names of tokens and classes instead of numbers (.tsv always uses names)
    #[arg(long)]
    words: bool,
    /// The file to write (.parquet, .jsonl or .tsv), or - for JSON lines on standard output
    #[arg(short, long, default_value = "-", value_name = "FILE")]
    output: PathBuf,
}

/// The arguments of `corpus info`.
#[derive(Args, Debug)]
pub struct Info {
    /// A corpus (.parquet, .jsonl or .tsv, - for JSON lines on standard input), or a grammar with --samples
    file: PathBuf,
    /// Sample this many sentences from the grammar FILE instead of reading a corpus
    #[arg(long, alias = "count", value_parser = whole_number, value_name = "N")]
    samples: Option<u64>,
    #[command(flatten)]
    seed: SeedOption,
    /// Index of the first sampled sentence
    #[arg(long, default_value = "0", requires = "samples", value_name = "N", value_parser = whole_number)]
    first: u64,
}

/// Runs the subcommand.
pub fn run(command: &Command, answer: &mut Answer) -> Result<()> {
    match command {
        Command::Sample(arguments) => sample::run(arguments, answer),
        Command::Info(arguments) => info::run(arguments, answer),
    }
}

/// The indices of `count` sentences from `first` on.
fn numbers(first: u64, count: u64) -> Result<Range<u64>> {
    let end = first.checked_add(count).filter(|_| count > 0);
    let end =
        end.ok_or_else(|| anyhow!("sentences {first} + {count}: expected at least one, with indices below 2^64"))?;
    Ok(first..end)
}
