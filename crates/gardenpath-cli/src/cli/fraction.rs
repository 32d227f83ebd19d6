//! Fractions of tuples, as users write them.

use gardenpath_lab::by_arity::{Entry, ratio};
use std::str::FromStr;

/// A fraction of tuples, which may depend on the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fraction {
    /// A number.
    Number(f64),
    /// One over the number of tokens. If all levels have the same size, each symbol then has one binary rule.
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

impl Entry for Fraction {
    const EXAMPLE: &'static str = "2:0.1,4:1/vocab";

    fn parse(text: &str) -> Option<Self> {
        if text == "1/vocab" { Some(Fraction::OneOverVocab) } else { ratio(text).map(Fraction::Number) }
    }
}

impl FromStr for Fraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Fraction::parse(text).ok_or_else(|| "expected a number, a ratio such as 1/8, or 1/vocab".into())
    }
}

/// Parses a number or a ratio such as 1/8, for commands without a vocabulary.
pub fn plain_fraction(text: &str) -> Result<f64, String> {
    ratio(text).ok_or_else(|| "expected a number or a ratio such as 1/8".into())
}
