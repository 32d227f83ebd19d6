//! The chapters on what is measured without learning: ambiguity, and the statistics of tuples.

mod clustering;
mod snr;
mod transition;
mod triptic;

use super::Chapter;

/// The chapters, the quickest first.
pub const CHAPTERS: &[Chapter] = &[triptic::CHAPTER, snr::CHAPTER, transition::CHAPTER, clustering::CHAPTER];
