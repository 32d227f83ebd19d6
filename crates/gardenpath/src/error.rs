//! The errors of the library, with the offending values.

mod allowed;

pub use allowed::{Counts, Reals, TableSize};

use crate::arity::Arities;
use crate::shape::Shape;
use thiserror::Error;

/// An error of the core library. Each message is one line that says what was found and what was expected.
///
/// ```
/// use gardenpath::{Counts, Ensemble, Error, Seed};
///
/// let error = Ensemble::new(16, 0).sample(Seed::new(1)).unwrap_err();
/// assert!(matches!(error, Error::Count { what: "depth", found: 0, allowed: Counts::Between(1, _) }));
/// assert_eq!(error.to_string(), "depth is 0, expected 1 to 10");
/// ```
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

    /// A whole number is out of its range.
    #[error("{what} is {found}, expected {allowed}")]
    Count {
        /// What is counted.
        what: &'static str,
        /// The number that was given or found.
        found: u64,
        /// The numbers that are allowed.
        allowed: Counts,
    },

    /// A real number is out of its range.
    #[error("{what} is {found}, expected {allowed}")]
    Real {
        /// What the number is.
        what: &'static str,
        /// The number that was given or found.
        found: f64,
        /// The numbers that are allowed.
        allowed: Reals,
    },

    /// A list does not have as many entries as something that it belongs to.
    #[error("{what} is {found}, expected {expected}, {of}")]
    Size {
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
        /// Where that number comes from.
        of: &'static str,
    },

    /// Tables of moments do not fit together.
    #[error("size of the {what} is {found}, expected {expected}")]
    Tables {
        /// Which tables.
        what: &'static str,
        /// The size that was given.
        found: TableSize,
        /// The size that is needed.
        expected: TableSize,
    },

    /// A text is not what it should be.
    #[error("{what} is {text}, expected {expected}")]
    Text {
        /// What the text stands for.
        what: &'static str,
        /// The text.
        text: String,
        /// What can be read.
        expected: &'static str,
    },

    /// Some tree of the grammar has more tokens than charts can have.
    #[error("longest sentence is {longest}, expected at most {} tokens", Shape::MAX_LEN)]
    LongestSentence {
        /// The number of tokens.
        longest: usize,
    },

    /// The sizes of the levels do not fit the depth.
    #[error("number of levels is {found}, expected {} for depth {depth}", depth + 1)]
    Levels {
        /// For how many levels a size was given.
        found: usize,
        /// The depth.
        depth: usize,
    },

    /// A learner was given inner sizes that do not fit the depth.
    #[error("number of inner sizes is {found}, expected 1, or {} for depth {depth}", depth - 1)]
    InnerSizes {
        /// How many sizes were given.
        found: usize,
        /// The depth.
        depth: usize,
    },

    /// A learner does not learn rules with so many children.
    #[error("arities is {found}, expected one or more from 2 to {most} for this learner")]
    Arities {
        /// The numbers of children.
        found: Arities,
        /// The most that it learns.
        most: usize,
    },

    /// A computation is defined for the paper's numbers of children alone.
    #[error("number of children is {arity}, expected 2 or 3: the paper defines topologies for these only")]
    NotPaper {
        /// The other number of children.
        arity: usize,
    },

    /// There are too many tuples to list those that do not overlap.
    #[error("non_overlapping would have to list {tuples} tuples of {arity} symbols, expected at most {most}")]
    TooManyTuples {
        /// How many tuples there are.
        tuples: usize,
        /// How many symbols each has.
        arity: usize,
        /// How many can be listed.
        most: usize,
    },

    /// The rules of a layer have too few children to use every symbol.
    #[error("cover needs at least {symbols} children in the rules of each layer, one per symbol, found {places}")]
    Cover {
        /// The number of children of all rules.
        places: usize,
        /// The number of symbols.
        symbols: usize,
    },

    /// Root probabilities that are no distribution.
    #[error("prior is {prior:?}, expected probabilities that sum to 1")]
    Prior {
        /// The numbers that were given.
        prior: Vec<f64>,
    },

    /// A root that does not exist.
    #[error("root is {root}, expected below {classes}, the number of roots")]
    UnknownRoot {
        /// The root.
        root: usize,
        /// The number of roots.
        classes: usize,
    },

    /// Some sentences have a label and others have none.
    #[error("root is unknown in sentence {sentence}, expected a label for every sentence, or for none")]
    PartlyLabelled {
        /// The first sentence without a label, counted from 1.
        sentence: usize,
    },

    /// No tree of this depth has as many tokens as a sentence.
    #[error("length is {len} in sentence {sentence}, expected {allowed} tokens at depth {depth}")]
    Length {
        /// The number of tokens.
        len: usize,
        /// The sentence, counted from 1.
        sentence: usize,
        /// The lengths that trees have.
        allowed: Counts,
        /// The depth.
        depth: usize,
    },

    /// The sentences of a corpus do not divide its tokens.
    #[error("offsets run from {first} to {last}, expected increasing from 0 to {tokens}, the number of tokens")]
    Offsets {
        /// The first offset.
        first: usize,
        /// The last offset.
        last: usize,
        /// The number of tokens.
        tokens: usize,
    },

    /// Numbers of sentences that do not increase from one to the next.
    #[error("sample sizes are {found:?}, expected positive and increasing")]
    NotIncreasing {
        /// The numbers.
        found: Vec<u64>,
    },

    /// Numbers that do not make whole rows.
    #[error("rows to cluster have {numbers} numbers in rows of {dimension}, expected at least one whole row")]
    Rows {
        /// How many numbers there are.
        numbers: usize,
        /// How many make a row.
        dimension: usize,
    },

    /// Predictions that are no distribution.
    #[error("predicted probabilities sum to {sum} in row {row}, expected numbers from 0 to 1 that sum to 1")]
    Prediction {
        /// The row, counted from 0.
        row: usize,
        /// The sum of its numbers.
        sum: f64,
    },

    /// Likelihoods that are not as many for each position as there are tokens.
    #[error("number of likelihoods is {found}, expected a multiple of {vocab}, the number of tokens")]
    Likelihoods {
        /// How many there are.
        found: usize,
        /// The number of tokens.
        vocab: usize,
    },

    /// Evidence that no token agrees with.
    #[error("likelihood is 0 for all tokens at position {position}, expected more than 0 for some token")]
    NoLikelihood {
        /// The position, counted from 0.
        position: usize,
    },

    /// A symbol has no rule with so many children.
    #[error("symbol {symbol} has no rule with {arity} children, expected at least one")]
    NoRulesOfArity {
        /// The symbol.
        symbol: usize,
        /// The number of children.
        arity: usize,
    },

    /// Expectation maximisation would have too many parameters.
    #[error("number of symbols per level is {sizes:?}, expected at most {most} possible rules per layer for this mode")]
    TooManyParameters {
        /// The sizes of the levels.
        sizes: Vec<usize>,
        /// The largest number of possible rules of a layer.
        most: usize,
    },

    /// The paper's learner found nothing above its threshold.
    #[error("no {what} above the threshold {threshold:e}; use more sentences")]
    NothingFound {
        /// What it looked for.
        what: &'static str,
        /// The threshold.
        threshold: f64,
    },

    /// The rules that the paper's learner found parse no sentence.
    #[error(
        "none of {sentences} sentences has two adjacent candidates of level {level}: \
         the learned rules parse no sentence; use more sentences"
    )]
    NothingParsed {
        /// The number of sentences.
        sentences: usize,
        /// The level of the candidates.
        level: usize,
    },

    /// The names of symbols are not as many as the symbols.
    #[error("number of names per level is {found:?}, expected {expected:?}")]
    NameCounts {
        /// How many names each level has.
        found: Vec<usize>,
        /// How many symbols each level has.
        expected: Vec<usize>,
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

    pub(crate) fn count(what: &'static str, found: impl TryInto<u64>, allowed: Counts) -> Self {
        Error::Count { what, found: found.try_into().unwrap_or(u64::MAX), allowed }
    }

    pub(crate) fn real(what: &'static str, found: f64, allowed: Reals) -> Self {
        Error::Real { what, found, allowed }
    }
}

/// The result of a fallible function of this library.
pub type Result<T> = std::result::Result<T, Error>;
