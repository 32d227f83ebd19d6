//! Checkpoints of long measurements.

/// Stores checkpoints of a long measurement, so that it can resume after it was killed.
pub trait Keeper {
    /// The last checkpoint, if any.
    fn load(&self) -> Option<Vec<u8>>;

    /// Reports that the checkpoint is unusable, in one line that follows the name of the file. The measurement starts
    /// over.
    fn reject(&self, wrong: &str);

    /// Whether it is time for a checkpoint.
    fn is_due(&self) -> bool;

    /// Replaces the last checkpoint. Errors are ignored: a lost checkpoint only costs time.
    fn save(&self, bytes: &[u8]);
}

/// Stores nothing.
impl Keeper for () {
    fn load(&self) -> Option<Vec<u8>> {
        None
    }

    fn reject(&self, _: &str) {}

    fn is_due(&self) -> bool {
        false
    }

    fn save(&self, _: &[u8]) {}
}
