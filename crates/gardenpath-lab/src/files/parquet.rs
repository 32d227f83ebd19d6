//! Corpora as Parquet: columns `tokens` (lists of small integers or of words), `root` and optionally `tree`.

mod columns;
mod reader;
mod source;
mod thrift;
mod writer;

pub use reader::Reader;
pub use writer::Writer;

/// The metadata keys of a file's origin.
pub mod keys {
    /// The fingerprint of the grammar.
    pub const GRAMMAR: &str = "gardenpath.grammar";
    /// The seed of the corpus.
    pub const SEED: &str = "gardenpath.seed";
    /// The index of the first sentence.
    pub const FIRST: &str = "gardenpath.first";
    /// The number of sentences.
    pub const COUNT: &str = "gardenpath.count";
    /// The grammar's remarks: its parameters and seed.
    pub const REMARKS: &str = "gardenpath.remarks";
    /// The number of root symbols.
    pub const CLASSES: &str = "gardenpath.classes";
    /// The number of tokens.
    pub const VOCAB: &str = "gardenpath.vocab";
}
