//! The memory limit. Sizes are checked against it before anything is allocated.

use crate::error::{Error, Result};

/// The most bytes that one table, chart or corpus may take.
pub const LIMIT: u64 = 8 << 30;

/// Returns an error if work needs more than [`LIMIT`] bytes. `what` names it in the message.
///
/// ```
/// use gardenpath::memory;
///
/// assert!(memory::check("a small table", 1 << 20).is_ok());
/// let error = memory::check("a large table", (20 << 30) + 1).unwrap_err();
/// assert_eq!(error.to_string(), "a large table needs about 21 GB, the limit is 8 GB");
/// ```
pub fn check(what: impl ToString, bytes: u128) -> Result<()> {
    if bytes <= u128::from(LIMIT) {
        return Ok(());
    }
    // Rounded up, so that the message never shows a size below the limit.
    Err(Error::Memory { what: what.to_string(), gigabytes: bytes.div_ceil(1 << 30), limit: LIMIT >> 30 })
}

/// How many pieces of work of `bytes` bytes each fit below [`LIMIT`] together: at least one.
pub(crate) fn at_once(bytes: u128) -> usize {
    (u128::from(LIMIT) / bytes.max(1)).clamp(1, 1 << 20) as usize
}
