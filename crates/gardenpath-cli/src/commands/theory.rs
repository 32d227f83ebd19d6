//! `gardenpath theory`: what theory predicts about an ensemble, without sampling.

mod arities;
mod curves;
mod numbers;

use super::Answer;
use crate::cli::ensemble::RuleOptions;
use crate::cli::fraction::{Fraction, plain_fraction};
use crate::cli::size;
use anyhow::Result;
use arities::{Branching, by_arity, numbers_of_children};
use clap::{Args, Subcommand};
use gardenpath::{Arities, PerArity};

/// The subcommands of `theory`.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// The distribution of sentence lengths
    Lengths(Lengths),
    /// The number of trees of each length
    Trees(Shapes),
    /// The fraction of strings of each length that are grammatical
    #[command(after_help = "\
In JSON, value is the paper's formula; corrected restores the weights of the lengths.")]
    Fraction(Curve),
    /// The mean number of symbols that a parser proposes for a span of each length
    #[command(after_help = "\
The typical length, and with it the critical fraction, depends on the probabilities of the arities; the curve itself \
does not.")]
    Candidates(Curve),
    /// The number of ways to split a span of each length into the spans of its children
    Splits(Shapes),
    /// The class entropy at depth 2
    #[command(after_help = "\
In JSON, paper is the printed formula (for equal fractions and p-binary 1/2 only), corrected the exact one. It is unknown where more than 20 \
trees have the same length.

Examples:
  gardenpath theory entropy --fraction 0.5 --json
  gardenpath theory entropy --fraction 0.1,0.25,0.5,0.75,1
  gardenpath theory entropy --arities 1:0.2,2:0.8 --fraction 0.5")]
    Entropy(Entropy),
    /// The predicted number of sentences that learning needs
    #[command(after_help = "\
Predictions hold up to a constant. In JSON, paper has the paper's factor per level, corrected that of a \
uniformly chosen token (size-biased).

Example:
  gardenpath theory complexity --vocab 16 --depth 3 --fraction 0.25")]
    Complexity(Complexity),
}

/// Arguments of curves that depend only on the shape of trees.
#[derive(Args, Debug)]
pub struct Shapes {
    /// Number of layers of rules
    #[arg(long, value_parser = size)]
    depth: usize,
    /// Numbers of children, from 1 to 8, such as 2,4; probabilities, such as 2:0.5,4:0.5, have no effect [default: 2,3]
    #[arg(long, value_name = "N,…", value_parser = numbers_of_children)]
    arities: Option<Arities>,
}

/// Arguments of the length distribution.
#[derive(Args, Debug)]
pub struct Lengths {
    /// Number of layers of rules
    #[arg(long, value_parser = size)]
    depth: usize,
    #[command(flatten)]
    branching: Branching,
}

/// Arguments of curves that also depend on the rules.
#[derive(Args, Debug)]
pub struct Curve {
    #[command(flatten)]
    lengths: Lengths,
    /// Fraction of all tuples that are grammatical [default: 0.25]
    #[arg(long, value_name = "F", value_parser = plain_fraction, conflicts_with_all = ["binary_fraction", "ternary_fraction"])]
    fraction: Option<f64>,
    /// Fraction of grammatical tuples by number of children, such as 2:0.1,4:0.01; the others use --fraction
    #[arg(long, value_name = "N:F,…", value_parser = by_arity, conflicts_with_all = ["binary_fraction", "ternary_fraction"])]
    fractions: Option<PerArity<Option<f64>>>,
    /// Fraction of pairs that are grammatical
    #[arg(long, value_name = "F", value_parser = plain_fraction, requires = "ternary_fraction", conflicts_with = "arities")]
    binary_fraction: Option<f64>,
    /// Fraction of triples that are grammatical
    #[arg(long, value_name = "F", value_parser = plain_fraction, requires = "binary_fraction")]
    ternary_fraction: Option<f64>,
}

/// The arguments of `theory entropy`.
#[derive(Args, Debug)]
pub struct Entropy {
    /// Fraction of all tuples that are grammatical; comma-separated for several
    #[arg(long, default_value = "0.25", value_delimiter = ',', value_parser = plain_fraction, value_name = "F")]
    fraction: Vec<f64>,
    /// Fraction of grammatical tuples by number of children, such as 2:0.1,4:0.01; the others use --fraction
    #[arg(long, value_name = "N:F,…", value_parser = by_arity)]
    fractions: Option<PerArity<Option<f64>>>,
    #[command(flatten)]
    branching: Branching,
}

/// The arguments of `theory complexity`.
#[derive(Args, Debug)]
pub struct Complexity {
    /// Number of layers of rules
    #[arg(long, value_parser = size)]
    depth: usize,
    /// Number of symbols per level
    #[arg(long, value_parser = size)]
    vocab: usize,
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    branching: Branching,
}

impl Curve {
    /// The fraction for each number of children.
    fn fractions(&self) -> PerArity<f64> {
        let others = self.fraction.unwrap_or(Fraction::default().value(1));
        let mut fractions = arities::fractions(self.fractions, others);
        fractions[2] = self.binary_fraction.unwrap_or(fractions[2]);
        fractions[3] = self.ternary_fraction.unwrap_or(fractions[3]);
        fractions
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
