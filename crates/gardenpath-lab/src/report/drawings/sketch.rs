//! Colors shared by several drawings.

/// The colors of the true tree, of other trees, and of irrelevant parts.
pub(super) const TRUE: &str = "#0072b2";
pub(super) const OTHER: &str = "#d55e00";
pub(super) const INK: &str = "#222222";
pub(super) const FAINT: &str = "#8a8a8a";
pub(super) const PALE: &str = "#d9d9d9";

/// The colors of binary and ternary nodes.
pub(super) const BINARY: &str = OTHER;
pub(super) const TERNARY: &str = "#009e73";
