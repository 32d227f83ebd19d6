//! Everything that can go wrong in the library, with the values that matter.

use thiserror::Error;

/// An error of the core library. Each message is one line that says what was found and what was expected.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A text could not be read as a grammar, corpus or tree.
    #[error("line {line}: {reason}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What was found and what was expected.
        reason: String,
    },

    /// A parameter is out of its range.
    #[error("{name} is {value}, expected {expected}")]
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The values that are allowed.
        expected: String,
    },

    /// A layer has a rule that names a symbol that does not exist.
    #[error("a rule of level {level} uses symbol {symbol}, but level {at} has {size} symbols")]
    UnknownSymbol {
        /// The level of the rule's parent.
        level: usize,
        /// The symbol that does not exist.
        symbol: usize,
        /// The level where it should be.
        at: usize,
        /// How many symbols that level has.
        size: usize,
    },

    /// A symbol above the tokens has no rule.
    #[error("symbol {symbol} of level {level} has no rules")]
    NoRules {
        /// The level of the symbol.
        level: usize,
        /// The symbol.
        symbol: usize,
    },

    /// The probabilities of a symbol's rules do not sum to one.
    #[error("the rules of symbol {symbol} of level {level} have probabilities that sum to {sum}, expected 1")]
    ProbabilitySum {
        /// The level of the symbol.
        level: usize,
        /// The symbol.
        symbol: usize,
        /// The sum that was found.
        sum: f64,
    },

    /// A rule has a probability that is not in (0, 1].
    #[error(
        "a rule of symbol {symbol} of level {level} has probability {probability}, expected more than 0 and at most 1"
    )]
    Probability {
        /// The level of the symbol.
        level: usize,
        /// The symbol.
        symbol: usize,
        /// The probability that was found.
        probability: f64,
    },

    /// The same rule stands twice.
    #[error("symbol {symbol} of level {level} has the same rule twice: {children:?}")]
    DuplicateRule {
        /// The level of the symbol.
        level: usize,
        /// The symbol.
        symbol: usize,
        /// The right-hand side.
        children: Vec<u8>,
    },

    /// More distinct right-hand sides were asked for than exist.
    #[error(
        "{wanted} distinct rules of {arity} symbols were asked for, but only {available} exist; ask for a smaller fraction"
    )]
    TooManyRules {
        /// The number of children of the rules.
        arity: usize,
        /// How many rules all symbols of a level would have.
        wanted: usize,
        /// How many tuples exist.
        available: usize,
    },

    /// Names of symbols that could not be told apart in text.
    #[error("{reason}")]
    Names {
        /// Which names, and why.
        reason: String,
    },

    /// A sentence has a token that the grammar does not know.
    #[error("token {token} at position {position} is not one of the {vocab} tokens of the grammar")]
    UnknownToken {
        /// The position, counted from 0.
        position: usize,
        /// The token.
        token: usize,
        /// The number of tokens of the grammar.
        vocab: usize,
    },

    /// The grammar cannot produce a sentence of which something is to be predicted.
    #[error("sentence {sentence} is impossible: the grammar does not derive it")]
    Impossible {
        /// The number of the sentence, counted from 1.
        sentence: usize,
    },

    /// A chart would not fit into memory.
    #[error("a chart for {len} tokens needs about {needed_mb} MB, the limit is {limit_mb} MB")]
    TooLarge {
        /// The length of the sentence.
        len: usize,
        /// An estimate of what would be needed.
        needed_mb: u64,
        /// The limit.
        limit_mb: u64,
    },

    /// A piece of work would not fit into memory.
    #[error("{what} needs about {gigabytes} GB, the limit is {limit} GB")]
    Memory {
        /// What would be held in memory.
        what: String,
        /// An estimate of what would be needed, rounded up.
        gigabytes: u128,
        /// The limit.
        limit: u64,
    },
}

impl Error {
    pub(crate) fn line(line: usize, reason: impl Into<String>) -> Self {
        Error::Line { line, reason: reason.into() }
    }

    pub(crate) fn parameter(name: &'static str, value: impl ToString, expected: impl Into<String>) -> Self {
        Error::Parameter { name, value: value.to_string(), expected: expected.into() }
    }
}

/// The result of a fallible function of this library.
pub type Result<T> = std::result::Result<T, Error>;
