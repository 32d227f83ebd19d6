//! The options that describe an ensemble of random grammars.

use super::size;
use crate::progress;
use anyhow::{Result, bail};
use clap::Args;
use gardenpath::{Ensemble, RuleCount};
use gardenpath_lab::draw::table::short;
use serde::Serialize;
use std::str::FromStr;

/// The law of random grammars: everything but their sizes and numbers of rules.
#[derive(Args, Clone, Debug)]
pub struct LawOptions {
    /// Probability that a node has two children, not three
    #[arg(long, default_value_t = 0.5, value_name = "P")]
    pub p_binary: f64,
    /// Exponent of Zipf's law for the probabilities of a symbol's rules; 0 is uniform
    #[arg(long, default_value_t = 0.0, value_name = "A")]
    pub zipf: f64,
    /// Exclude ternary rules that begin or end with the symbols of a binary rule
    #[arg(long)]
    pub non_overlapping: bool,
}

/// The names of the options of [`LawOptions`] and [`RuleOptions`], for commands that take a grammar instead.
pub const RANDOM_GRAMMAR: [&str; 8] = [
    "p_binary",
    "zipf",
    "non_overlapping",
    "fraction",
    "binary_fraction",
    "ternary_fraction",
    "binary_rules",
    "ternary_rules",
];

/// How many rules each symbol has.
#[derive(Args, Clone, Debug)]
pub struct RuleOptions {
    /// Fraction of all pairs and of all triples that are grammatical: a number, a ratio such as 1/8, or 1/vocab [default: 0.25]
    #[arg(long, value_name = "F", conflicts_with_all = ["binary_fraction", "ternary_fraction", "binary_rules", "ternary_rules"])]
    pub fraction: Option<Fraction>,
    /// Fraction of the pairs that are grammatical
    #[arg(long, value_name = "F", requires = "ternary_fraction", conflicts_with_all = ["binary_rules", "ternary_rules"])]
    pub binary_fraction: Option<Fraction>,
    /// Fraction of the triples that are grammatical
    #[arg(long, value_name = "F", requires = "binary_fraction")]
    pub ternary_fraction: Option<Fraction>,
    /// Number of binary rules of each symbol
    #[arg(long, value_name = "N", requires = "ternary_rules", value_parser = size)]
    pub binary_rules: Option<usize>,
    /// Number of ternary rules of each symbol
    #[arg(long, value_name = "N", requires = "binary_rules", value_parser = size)]
    pub ternary_rules: Option<usize>,
}

/// Larger grammars would take many gigabytes, in memory and as text.
const MAX_RULES: usize = 50_000_000;

impl LawOptions {
    /// The ensemble of these sizes, once its parameters are known to be possible.
    pub fn ensemble(&self, vocab: usize, depth: usize, [binary, ternary]: [RuleCount; 2]) -> Result<Ensemble> {
        let ensemble = Ensemble::new(vocab, depth)
            .rules(2, binary)
            .rules(3, ternary)
            .p_binary(self.p_binary)
            .zipf(self.zipf)
            .non_overlapping(self.non_overlapping);
        let rules = ensemble.rules_per_symbol(0)?;
        let rules = vocab * depth * (rules[2] + rules[3]);
        if rules > MAX_RULES {
            bail!("the grammar would have {rules} rules, expected at most {MAX_RULES}; ask for a smaller fraction");
        }
        Ok(ensemble)
    }
}

impl RuleOptions {
    /// The numbers of binary and ternary rules in the form in which they were given.
    pub fn counts(&self, vocab: usize) -> [RuleCount; 2] {
        match (self.binary_fraction, self.ternary_fraction, self.binary_rules, self.ternary_rules) {
            (Some(binary), Some(ternary), ..) => [binary, ternary].map(|part| RuleCount::Fraction(part.value(vocab))),
            (_, _, Some(binary), Some(ternary)) => [binary, ternary].map(RuleCount::Number),
            _ => same_fraction(self.fraction.unwrap_or_default().value(vocab)),
        }
    }

    /// The common fraction of pairs and triples, unless rules were asked for in another way.
    pub fn fraction(&self, vocab: usize) -> Option<f64> {
        match self.counts(vocab) {
            [RuleCount::Fraction(binary), RuleCount::Fraction(ternary)] if binary == ternary => Some(binary),
            _ => None,
        }
    }
}

/// A fraction of tuples, which can depend on the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fraction {
    /// A number.
    Number(f64),
    /// One over the number of symbols: each symbol has one binary rule.
    OneOverVocab,
}

impl Default for Fraction {
    fn default() -> Self {
        Fraction::Number(0.25)
    }
}

impl Fraction {
    /// Its value for a vocabulary.
    pub fn value(self, vocab: usize) -> f64 {
        match self {
            Fraction::Number(number) => number,
            Fraction::OneOverVocab => 1.0 / vocab as f64,
        }
    }
}

impl FromStr for Fraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "1/vocab" {
            return Ok(Fraction::OneOverVocab);
        }
        let number = match text.split_once('/') {
            Some((part, whole)) => part.parse::<f64>().and_then(|part| Ok(part / whole.parse::<f64>()?)),
            None => text.parse(),
        };
        number.map(Fraction::Number).map_err(|_| "expected a number, a ratio such as 1/8, or 1/vocab".into())
    }
}

/// Reads a number or a ratio such as 1/8, where there is no vocabulary.
pub fn plain_fraction(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(Fraction::Number(number)) => Ok(number),
        _ => Err("expected a number or a ratio such as 1/8".into()),
    }
}

/// The fractions of pairs and triples that whole numbers of rules amount to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EffectiveFractions {
    binary: f64,
    ternary: f64,
}

impl EffectiveFractions {
    /// Those of an ensemble.
    pub fn of(ensemble: &Ensemble) -> Result<Self> {
        let fractions = ensemble.effective_fractions(0)?;
        Ok(EffectiveFractions { binary: fractions[2], ternary: fractions[3] })
    }
}

/// Says on standard error, once for each vocabulary and fraction, where rounding to whole numbers of rules changes a fraction by more
/// than 1%.
pub fn note_rounding<'e>(ensembles: impl IntoIterator<Item = &'e Ensemble>) -> Result<()> {
    let mut said = Vec::new();
    for ensemble in ensembles {
        if let Some(note) = rounding(ensemble)?.filter(|note| !said.contains(note)) {
            progress::note(&note);
            said.push(note);
        }
    }
    Ok(())
}

fn rounding(ensemble: &Ensemble) -> Result<Option<String>> {
    let Some(fractions) = ensemble.rounded_fractions(0)? else { return Ok(None) };
    let rules = ensemble.rules_per_symbol(0)?;
    let part = |rules: usize, kind: &str, fraction: f64, all: &str| {
        (rules > 0).then(|| format!("{rules} {kind} ({} of all {all})", short(fraction)))
    };
    let parts = [part(rules[2], "binary", fractions[2], "pairs"), part(rules[3], "ternary", fractions[3], "triples")];
    let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    Ok(Some(format!("note: rounded to whole numbers, each of {} symbols has {parts} rules", ensemble.vocab())))
}

/// The same fraction of pairs and triples.
pub fn same_fraction(fraction: f64) -> [RuleCount; 2] {
    [RuleCount::Fraction(fraction); 2]
}
