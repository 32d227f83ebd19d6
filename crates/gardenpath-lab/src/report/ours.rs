//! The chapters that the paper does not have.

mod learners;
mod probes;

use super::Chapter;

/// The chapters.
pub const CHAPTERS: &[Chapter] = &[learners::CHAPTER, probes::CHAPTER];
