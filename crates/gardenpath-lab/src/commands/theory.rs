//! `gardenpath theory`: what is known about an ensemble without sampling.

mod curves;
mod numbers;

use super::Answer;
use crate::cli::ensemble::RuleOptions;
use crate::cli::size;
use anyhow::Result;
use clap::{Args, Subcommand};

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// The distribution of sentence lengths (depends on --depth and --p-binary)
    Lengths(Curve),
    /// The number of trees of each length (depends on --depth)
    Trees(Curve),
    /// The fraction of all strings of each length that are grammatical (depends on all options)
    #[command(after_help = "\
In JSON, value is the paper's form, corrected the one with the weights of the lengths restored.")]
    Fraction(Curve),
    /// The mean number of symbols a parser proposes for a span of each length (depends on --depth and --fraction)
    Candidates(Curve),
    /// The number of ways to cut a span of each length in two and in three (depends on --depth)
    Splits(Curve),
    /// The class entropy at depth 2
    #[command(after_help = "\
In JSON, paper is the printed formula (it exists for equal fractions and p-binary 1/2), corrected the exact one.

Examples:
  gardenpath theory entropy --fraction 0.5 --json
  gardenpath theory entropy --fraction 0.1,0.25,0.5,0.75,1")]
    Entropy(Entropy),
    /// The predicted number of sentences that learning needs
    #[command(after_help = "\
Scales are predicted up to a constant. In JSON, paper has the paper's factor per level, corrected the one of a token \
chosen uniformly (size-biased).

Example:
  gardenpath theory complexity --vocab 16 --depth 3 --fraction 0.25")]
    Complexity(Complexity),
}

/// The arguments of all curves over the length; each takes what it depends on and ignores the others.
#[derive(Args, Debug)]
pub struct Curve {
    /// Number of layers of rules
    #[arg(long, value_parser = size)]
    depth: usize,
    /// Fraction of all pairs and triples that are grammatical
    #[arg(long, default_value_t = 0.5, value_name = "F")]
    fraction: f64,
    /// Fraction of the pairs, if it differs
    #[arg(long, value_name = "F")]
    binary_fraction: Option<f64>,
    /// Fraction of the triples, if it differs
    #[arg(long, value_name = "F")]
    ternary_fraction: Option<f64>,
    /// Probability that a node has two children, not three
    #[arg(long, default_value_t = 0.5, value_name = "P")]
    p_binary: f64,
}

/// The arguments of `theory entropy`.
#[derive(Args, Debug)]
pub struct Entropy {
    /// Fraction of all pairs and triples that are grammatical; several with commas
    #[arg(long, required = true, value_delimiter = ',', value_name = "F")]
    fraction: Vec<f64>,
    /// Probability that a node has two children, not three
    #[arg(long, default_value_t = 0.5, value_name = "P")]
    p_binary: f64,
}

/// The arguments of `theory complexity`.
#[derive(Args, Debug)]
pub struct Complexity {
    /// Number of layers of rules
    #[arg(long, value_parser = size)]
    depth: usize,
    /// Number of symbols of each level
    #[arg(long, value_parser = size)]
    vocab: usize,
    #[command(flatten)]
    rules: RuleOptions,
    /// Probability that a node has two children, not three
    #[arg(long, default_value_t = 0.5, value_name = "P")]
    p_binary: f64,
}

impl Curve {
    /// The fractions of pairs and of triples.
    fn both(&self) -> (f64, f64) {
        (self.binary_fraction.unwrap_or(self.fraction), self.ternary_fraction.unwrap_or(self.fraction))
    }
}

/// Runs the subcommand.
pub fn run(command: &Command, answer: &mut Answer) -> Result<()> {
    match command {
        Command::Lengths(arguments) => curves::lengths(arguments, answer),
        Command::Trees(arguments) => curves::trees(arguments, answer),
        Command::Fraction(arguments) => curves::fraction(arguments, answer),
        Command::Candidates(arguments) => curves::candidates(arguments, answer),
        Command::Splits(arguments) => curves::splits(arguments, answer),
        Command::Entropy(arguments) => numbers::entropy(arguments, answer),
        Command::Complexity(arguments) => numbers::complexity(arguments, answer),
    }
}
