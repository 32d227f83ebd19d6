//! What can go wrong.

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
    /// Bytes that are not a file of weights.
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
