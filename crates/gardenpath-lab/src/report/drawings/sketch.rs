//! Colours that several drawings share.

/// The colours of the true tree and of any other, those of drawn trees; and of what is there but does not matter.
pub(super) const TRUE: &str = "#0072b2";
pub(super) const OTHER: &str = "#d55e00";
pub(super) const INK: &str = "#222222";
pub(super) const FAINT: &str = "#8a8a8a";
pub(super) const PALE: &str = "#d9d9d9";

/// The colours of what has two children and of what has three.
pub(super) const BINARY: &str = OTHER;
pub(super) const TERNARY: &str = "#009e73";
