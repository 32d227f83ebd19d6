//! Allowed values, in words, for error messages.

use crate::arity::Arities;
use std::fmt;

/// Whole numbers that are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// From the first to the second, both included.
    Between(usize, usize),
    /// This one and all above it.
    AtLeast(usize),
    /// This one and all below it.
    AtMost(u64),
    /// All below this one.
    Below(usize),
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Counts::Between(least, most) if least == most => write!(f, "{least}"),
            Counts::Between(least, most) => write!(f, "{least} to {most}"),
            Counts::AtLeast(least) => write!(f, "at least {least}"),
            Counts::AtMost(most) => write!(f, "at most {most}"),
            Counts::Below(bound) => write!(f, "below {bound}"),
        }
    }
}

/// Real numbers that are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reals {
    /// From 0 to 1, both included.
    Probability,
    /// From 0 to 1, without 0.
    PositiveProbability,
    /// From 0 to 1, without 1.
    ProperShare,
    /// Just this one.
    Exactly(f64),
    /// From the first to the second, both included.
    Between(f64, f64),
    /// Above 0, and not infinite.
    Positive,
    /// 0 and above, and not infinite.
    NotNegative,
    /// All but infinities and NaN.
    Finite,
}

impl fmt::Display for Reals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reals::Probability => f.write_str("a probability"),
            Reals::PositiveProbability => f.write_str("more than 0 and at most 1"),
            Reals::ProperShare => f.write_str("a share from 0 up to, but not including, 1"),
            Reals::Exactly(value) => write!(f, "{value}"),
            Reals::Between(least, most) => write!(f, "between {least} and {most}"),
            Reals::Positive => f.write_str("a positive number"),
            Reals::NotNegative => f.write_str("a finite number that is not negative"),
            Reals::Finite => f.write_str("finite numbers"),
        }
    }
}

/// What a table of moments counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// The number of symbols.
    pub symbols: usize,
    /// The number of roots.
    pub classes: usize,
    /// The lengths of the tuples.
    pub arities: Arities,
}

impl fmt::Display for TableSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} symbols and {} roots, {:?} at a time", self.symbols, self.classes, self.arities)
    }
}
