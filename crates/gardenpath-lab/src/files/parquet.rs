//! Corpora as Parquet: columns `tokens` (lists of small integers or of words), `root` and, if wanted, `tree`.

mod columns;
mod reader;
mod source;
mod thrift;
mod writer;

pub use reader::Reader;
pub use writer::Writer;

/// The names of what a file says about its origin.
pub mod keys {
    /// The fingerprint of the grammar.
    pub const GRAMMAR: &str = "gardenpath.grammar";
    /// The number that the corpus was seeded with.
    pub const SEED: &str = "gardenpath.seed";
    /// The number of the first sentence.
    pub const FIRST: &str = "gardenpath.first";
    /// The number of sentences.
    pub const COUNT: &str = "gardenpath.count";
    /// The remarks of the grammar: its parameters and seed.
    pub const REMARKS: &str = "gardenpath.remarks";
    /// The number of root symbols.
    pub const CLASSES: &str = "gardenpath.classes";
    /// The number of tokens.
    pub const VOCAB: &str = "gardenpath.vocab";
}
