//! The errors of this crate.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A size is too small.
    #[error("a {what} of {value} is too small, at least {least} is needed")]
    TooSmall {
        /// What is too small.
        what: &'static str,
        /// Its value.
        value: usize,
        /// The smallest value.
        least: usize,
    },
    /// A size is too large.
    #[error("a {what} of {value} is too large, at most {most} is possible")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its value.
        value: usize,
        /// The largest value.
        most: usize,
    },
    /// A network that does not support a task.
    #[error("the task {task} needs a transformer: a {model} only names roots")]
    Task {
        /// The kind of network.
        model: &'static str,
        /// The task.
        task: &'static str,
    },
    /// Only the cells of inside networks have splits.
    #[error("normalization by splits needs an inside network: a cnn has none")]
    Splits,
    /// A masking rate outside (0, 1].
    #[error("masking rate is {0}, expected more than 0 and at most 1")]
    Mask(f64),
    /// The heads of a transformer must share its width evenly.
    #[error("{heads} heads cannot share a width of {width}: the width must be a multiple of the number of heads")]
    Heads {
        /// The number of heads.
        heads: usize,
        /// The width.
        width: usize,
    },
    /// An error of the core: what was asked for does not fit into memory.
    #[error(transparent)]
    Core(#[from] gardenpath::Error),
    /// A tensor is missing.
    #[error("there is no tensor '{name}'")]
    Missing {
        /// Its name.
        name: String,
    },
    /// A tensor has other sizes than the network.
    #[error("tensor '{name}' has the shape {found:?}, the network needs {expected:?}")]
    WrongShape {
        /// Its name.
        name: String,
        /// The sizes that it has.
        found: Vec<usize>,
        /// The sizes that it should have.
        expected: Vec<usize>,
    },
    /// A network is asked about sentences of a grammar that it was not made for.
    #[error("network and grammar differ in the {what}: {network} and {grammar}")]
    OtherGrammar {
        /// In what they differ.
        what: &'static str,
        /// What the network has.
        network: String,
        /// What the grammar has.
        grammar: String,
    },
    /// A sentence of a batch has a token that the network does not know.
    #[error(
        "sentence {sentence}: token {token} at position {position} is not one of the {vocab} tokens of the network"
    )]
    UnknownToken {
        /// The sentence, counted from 0.
        sentence: usize,
        /// The position, counted from 0.
        position: usize,
        /// The token.
        token: u8,
        /// The number of tokens of the network.
        vocab: usize,
    },
    /// A sentence of a batch has a length that no tree has.
    #[error("sentence {sentence}: no tree of the network has {len} tokens, they have {shortest} to {longest}")]
    Length {
        /// The sentence, counted from 0.
        sentence: usize,
        /// The number of its tokens.
        len: usize,
        /// The smallest number of tokens.
        shortest: usize,
        /// The largest number of tokens.
        longest: usize,
    },
    /// A sentence of a batch has a label that the network does not know.
    #[error("sentence {sentence}: root {root} is not one of the {classes} classes of the network")]
    UnknownRoot {
        /// The sentence, counted from 0.
        sentence: usize,
        /// The label.
        root: u8,
        /// The number of classes of the network.
        classes: usize,
    },
    /// There is not one label for each sentence.
    #[error("there are {labels} labels for {sentences} sentences")]
    Labels {
        /// The number of sentences.
        sentences: usize,
        /// The number of labels.
        labels: usize,
    },
    /// There is not one answer for each question about tokens.
    #[error("there are {answers} answers to {questions} questions about tokens")]
    Answers {
        /// The number of questions.
        questions: usize,
        /// The number of answers.
        answers: usize,
    },
    /// An answer outside the network's outputs.
    #[error("answer {number}: {answer} is not one of the {outputs} answers of the network")]
    UnknownAnswer {
        /// The answer, counted from 0.
        number: usize,
        /// What it is.
        answer: u8,
        /// The number of answers that the network can give.
        outputs: usize,
    },
    /// The bytes are not a weights file.
    #[error("not a safetensors file of 32-bit numbers: {0}")]
    Format(String),
    /// A file of weights whose checksum is not that of its contents.
    #[error("the checksum is wrong, the file is damaged")]
    Checksum,
    /// A GPU that cannot be used.
    #[error("{0}")]
    Device(String),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
