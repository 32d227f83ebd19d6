//! Endings of the program other than success and bad input. Each is an error with its own exit code.

use std::fmt::{self, Display, Formatter};

/// Cells failed or are missing: the request was valid, but not all of it could be measured. The exit code is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomplete(pub String);

impl Incomplete {
    /// The exit code.
    pub const CODE: u8 = 1;
}

/// Ctrl-C or SIGTERM. The text says what was saved, and the exit code is 130.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupted(pub String);

impl Interrupted {
    /// The exit code.
    pub const CODE: u8 = 130;
}

impl Display for Incomplete {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Display for Interrupted {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "interrupted: {}", self.0)
    }
}

impl std::error::Error for Incomplete {}
impl std::error::Error for Interrupted {}
