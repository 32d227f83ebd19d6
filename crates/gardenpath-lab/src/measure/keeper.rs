//! Where a long measurement keeps how far it has come.

/// Keeps how far a long measurement has come, so that it resumes there after it was killed.
pub trait Keeper {
    /// What was kept last.
    fn load(&self) -> Option<Vec<u8>>;

    /// Says that what was kept is of no use, in one line that follows the name of the file. The measurement starts again.
    fn reject(&self, wrong: &str);

    /// Whether it is time to keep something.
    fn is_due(&self) -> bool;

    /// Keeps how far the measurement has come, instead of what was kept before. That it cannot be kept does no harm.
    fn save(&self, bytes: &[u8]);
}

/// Keeps nothing.
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
