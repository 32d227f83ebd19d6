//! `gardenpath theory`: what is known about an ensemble without sampling.

mod curves;
mod numbers;

use super::Answer;
use crate::cli::ensemble::RuleOptions;
use crate::cli::fraction::{Fraction, plain_fraction};
use crate::cli::size;
use anyhow::Result;
use clap::{Args, Subcommand};

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// The distribution of sentence lengths
    Lengths(Lengths),
    /// The number of trees of each length
    Trees(Shapes),
    /// The fraction of all strings of each length that are grammatical
    #[command(after_help = "\
In JSON, value is the paper's form, corrected the one with the weights of the lengths restored.")]
    Fraction(Curve),
    /// The mean number of symbols a parser proposes for a span of each length
    #[command(after_help = "\
The typical length, and with it the critical fraction, depends on --p-binary; the curve itself does not.")]
    Candidates(Curve),
    /// The number of ways to cut a span of each length in two and in three
    Splits(Shapes),
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

/// The arguments of curves that depend on the shape of trees alone.
#[derive(Args, Debug)]
pub struct Shapes {
    /// Number of layers of rules
    #[arg(long, value_parser = size)]
    depth: usize,
}

/// The arguments of the length law.
#[derive(Args, Debug)]
pub struct Lengths {
    /// Number of layers of rules
    #[arg(long, value_parser = size)]
    depth: usize,
    /// Probability that a node has two children, not three
    #[arg(long, default_value_t = 0.5, value_name = "P")]
    p_binary: f64,
}

/// The arguments of curves that depend on the rules as well.
#[derive(Args, Debug)]
pub struct Curve {
    #[command(flatten)]
    lengths: Lengths,
    /// Fraction of all pairs and triples that are grammatical [default: 0.25]
    #[arg(long, value_name = "F", value_parser = plain_fraction, conflicts_with_all = ["binary_fraction", "ternary_fraction"])]
    fraction: Option<f64>,
    /// Fraction of the pairs that are grammatical
    #[arg(long, value_name = "F", value_parser = plain_fraction, requires = "ternary_fraction")]
    binary_fraction: Option<f64>,
    /// Fraction of the triples that are grammatical
    #[arg(long, value_name = "F", value_parser = plain_fraction, requires = "binary_fraction")]
    ternary_fraction: Option<f64>,
}

/// The arguments of `theory entropy`.
#[derive(Args, Debug)]
pub struct Entropy {
    /// Fraction of all pairs and triples that are grammatical; several with commas
    #[arg(long, default_value = "0.25", value_delimiter = ',', value_parser = plain_fraction, value_name = "F")]
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
        let both = self.fraction.unwrap_or(Fraction::default().value(1));
        (self.binary_fraction.unwrap_or(both), self.ternary_fraction.unwrap_or(both))
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
