//! The whole program: global arguments and subcommands.

use crate::commands::{self, Answer};
use anyhow::{Context, Result};
use clap::{CommandFactory, Parser, Subcommand};
use std::io::Write;

/// A laboratory for languages with hidden trees: random layered grammars, their sentences, exact parsing, learning, networks, and theory.
#[derive(Parser, Debug)]
#[command(name = "gardenpath", version, max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
    /// Write JSON to standard output instead of text.
    #[arg(long, global = true, help_heading = "Global options", display_order = 1000)]
    pub json: bool,
    /// Number of threads; results do not depend on it [default: one per core].
    #[arg(
        long,
        global = true,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024),
        help_heading = "Global options",
        display_order = 1000
    )]
    pub threads: Option<u16>,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Sample, inspect and convert grammars.
    #[command(subcommand)]
    Grammar(commands::grammar::Command),
    /// Sample and inspect corpora of sentences.
    #[command(subcommand)]
    Corpus(commands::corpus::Command),
    /// Parse sentences exactly: posteriors, best trees, numbers of trees, drawings.
    Parse(commands::parse::Arguments),
    /// Predict next, masked or noisy tokens, or the symbols above them, exactly.
    Predict(commands::predict::Arguments),
    /// Compute the lowest loss that any predictor can reach.
    Floor(commands::floor::Arguments),
    /// Read a sentence token by token: surprisals and the posterior over the root.
    Read(commands::read::Arguments),
    /// Measure the class entropy of an ensemble of random grammars.
    Entropy(commands::entropy::Arguments),
    /// Learn a grammar from sentences and their roots.
    Learn(commands::learn::Arguments),
    /// Write the covariances of adjacent tokens with the root.
    Moments(commands::moments::Arguments),
    /// Measure how many sentences the statistics of triples need.
    Snr(commands::snr::Arguments),
    /// Print what theory predicts about an ensemble, without sampling.
    #[command(subcommand)]
    Theory(commands::theory::Command),
    /// Train a network to predict roots, next tokens or masked tokens.
    Train(commands::train::Arguments),
    /// Probe which hidden layer of a trained network encodes which level of the tree.
    Probe(commands::probe::Arguments),
    /// Measure every figure of the paper and write a report.
    Reproduce(commands::reproduce::Arguments),
    /// Write one page with the results of experiments: figures, claims and verdicts.
    Report(commands::report::Arguments),
    /// Measure an experiment cell by cell, on one machine or many, and judge its claims.
    #[command(subcommand)]
    Sweep(commands::sweep::Command),
    /// Check that activations and updates of a network do not depend on its width.
    MupCheck(commands::mup_check::Arguments),
    /// Print shell completions.
    Completions(commands::manual::Completions),
    /// Print the manual page.
    Man(commands::manual::Man),
}

const EXAMPLES: &str = "\
Examples:
  gardenpath reproduce
  gardenpath grammar sample --vocab 16 --depth 3 --fraction 0.25 --seed 7 -o g.pcfg
  gardenpath corpus sample g.pcfg --samples 1e6 --seed 1 -o c.parquet
  gardenpath parse g.pcfg c.parquet --mode inside --json
  gardenpath parse g.pcfg --sentence \"0 3 1 2 5\"
  gardenpath predict g.pcfg c.parquet --task next --json
  gardenpath floor g.pcfg --task next --levels
  gardenpath read g.pcfg --sentence \"0 3 1 2 5\" --svg reading.svg
  gardenpath entropy --vocab 16 --depth 2 --fraction 0.1,0.25,0.5,1
  gardenpath learn c.parquet --vocab 16 --depth 3 -o learned.pcfg
  gardenpath train --model cnn --vocab 8 --depth 2 --fraction 0.125 --samples 4096 --width 256 -o run
  gardenpath probe run
  gardenpath theory lengths --depth 3

Results go to standard output, notes and progress to standard error. Bad input prints one line to standard error \
and exits with code 2. The same seed gives the same bytes on any machine and with any number of threads.";

/// Runs the command.
pub fn run(cli: &Cli, out: &mut dyn Write) -> Result<()> {
    if let Some(threads) = cli.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().with_context(|| format!("cannot start {threads} threads"))?;
    }
    let answer = &mut Answer { out, json: cli.json };
    match &cli.command {
        Command::Grammar(command) => commands::grammar::run(command, answer),
        Command::Corpus(command) => commands::corpus::run(command, answer),
        Command::Parse(arguments) => commands::parse::run(arguments, answer),
        Command::Entropy(arguments) => commands::entropy::run(arguments, answer),
        Command::Floor(arguments) => commands::floor::run(arguments, answer),
        Command::Learn(arguments) => commands::learn::run(arguments, answer),
        Command::Moments(arguments) => commands::moments::run(arguments, answer),
        Command::Completions(arguments) => commands::manual::completions(arguments, Cli::command(), answer),
        Command::Man(arguments) => commands::manual::man(arguments, Cli::command(), answer),
        Command::MupCheck(arguments) => commands::mup_check::run(arguments, answer),
        Command::Probe(arguments) => commands::probe::run(arguments, answer),
        Command::Predict(arguments) => commands::predict::run(arguments, answer),
        Command::Read(arguments) => commands::read::run(arguments, answer),
        Command::Report(arguments) => commands::report::run(arguments, answer),
        Command::Reproduce(arguments) => commands::reproduce::run(arguments, answer),
        Command::Snr(arguments) => commands::snr::run(arguments, answer),
        Command::Sweep(command) => commands::sweep::run(command, answer),
        Command::Theory(command) => commands::theory::run(command, answer),
        Command::Train(arguments) => commands::train::run(arguments, answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
