//! The arguments of the program: the global ones, the subcommands, and how numbers are read.

mod choice;
pub mod ensemble;
pub mod fraction;
pub mod rounding;

use crate::commands;
pub use choice::choice;
use clap::{Parser, Subcommand};
use gardenpath::Seed;

/// A laboratory for languages with hidden trees: random layered grammars, their sentences, exact parsing, learning, networks, and theory.
#[derive(Parser, Debug)]
#[command(name = "gardenpath", version, max_term_width = 110, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Write JSON to standard output instead of text for people.
    #[arg(long, global = true, help_heading = "Global options", display_order = 1000)]
    pub json: bool,
    /// Number of threads; results never depend on it [default: one per core].
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
    /// Predict the next, masked or noisy tokens of sentences, or the symbols above them, exactly.
    Predict(commands::predict::Arguments),
    /// Measure the smallest loss that any predictor can reach.
    Floor(commands::floor::Arguments),
    /// Read a sentence token by token: how surprising each is, and what is known about the root.
    Read(commands::read::Arguments),
    /// Measure the class entropy of an ensemble of random grammars.
    Entropy(commands::entropy::Arguments),
    /// Learn a grammar from sentences and their roots.
    Learn(commands::learn::Arguments),
    /// Write the covariances of adjacent tokens with the root.
    Moments(commands::moments::Arguments),
    /// Measure how many sentences the statistics of triples need.
    Snr(commands::snr::Arguments),
    /// Print what theory says about an ensemble, without sampling.
    #[command(subcommand)]
    Theory(commands::theory::Command),
    /// Train a network to tell the root of sentences.
    Train(commands::train::Arguments),
    /// Ask which hidden layer of a trained network encodes which level of the tree.
    Probe(commands::probe::Arguments),
    /// Measure every figure of the paper anew, in one report.
    Reproduce(commands::reproduce::Arguments),
    /// Make one page of the results of experiments: figures, claims and verdicts.
    Report(commands::report::Arguments),
    /// Measure an experiment cell by cell, on one machine or many, and judge what it claims.
    #[command(subcommand)]
    Sweep(commands::sweep::Command),
    /// Check that activations and updates of a network do not depend on its width.
    MupCheck(commands::mup_check::Arguments),
    /// Print the completions of a shell.
    Completions(commands::manual::Completions),
    /// Print the manual.
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

Results go to standard output, notes and progress to standard error. Bad input ends with one line on standard error \
and exit code 2. The same seed gives the same bytes, on any machine and with any number of threads.";

/// The seed of a command.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct SeedOption {
    /// Seed of everything that is random [default: 0]
    #[arg(long, value_parser = whole_number)]
    seed: Option<u64>,
}

impl SeedOption {
    /// The number that was given, or 0.
    pub fn number(self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// The seed itself.
    pub fn get(self) -> Seed {
        Seed::new(self.number())
    }

    /// Refuses a seed where nothing is random: `why` says so.
    pub fn refuse(self, why: &str) -> anyhow::Result<()> {
        refuse("--seed", self.seed, why)
    }
}

/// Refuses an option that was given but has no effect: `why` says where it has one.
pub fn refuse<T>(option: &str, given: Option<T>, why: &str) -> anyhow::Result<()> {
    if given.is_some() {
        anyhow::bail!("{option} has no effect here: {why}");
    }
    Ok(())
}

/// Reads a whole number, also as `1e6` or `1_000_000`.
pub fn whole_number(text: &str) -> Result<u64, String> {
    decimal(&text.replace('_', "")).ok_or_else(|| "expected a whole number such as 1000 or 1e6".to_owned())
}

/// The value of `digits`, `digits.digits` or either with `e` and a power of ten, if it is whole and fits: nothing is rounded.
fn decimal(text: &str) -> Option<u64> {
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let part = part.trim_end_matches('0');
    let zeros = power.parse::<u32>().ok()?.checked_sub(part.len() as u32)?;
    let digits: u64 = format!("{whole}{part}").parse().ok()?;
    digits.checked_mul(10u64.checked_pow(zeros)?)
}

/// Each of the values that were given, or a single time none.
pub fn each<T: Copy>(values: &[T]) -> Vec<Option<T>> {
    if values.is_empty() { vec![None] } else { values.iter().copied().map(Some).collect() }
}

/// Reads a whole number that counts something in memory.
pub fn size(text: &str) -> Result<usize, String> {
    whole_number(text).and_then(|number| usize::try_from(number).map_err(|e| e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn whole_numbers_in_all_notations() {
        for (text, number) in
            [("0", 0), ("1e6", 1_000_000), ("2.5e3", 2500), ("1_000", 1000), ("1E9", 1_000_000_000), ("1.0", 1)]
        {
            assert_eq!(whole_number(text), Ok(number), "{text}");
        }
        assert_eq!(whole_number("18446744073709551615"), Ok(u64::MAX));
        for text in ["", "-1", "1.5", "nan", "inf", "1e-3", "1e300", "ten", "18446744073709551616"] {
            assert!(whole_number(text).is_err(), "{text}");
        }
    }
}
