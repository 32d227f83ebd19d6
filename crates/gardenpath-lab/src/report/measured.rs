//! The chapters on what is measured without networks: ambiguity, statistics of tuples, and learners.

mod clustering;
mod learners;
mod probes;
mod snr;
mod transition;
mod triptic;

use super::Chapter;

/// The chapters, the quickest first.
pub const CHAPTERS: &[Chapter] =
    &[triptic::CHAPTER, snr::CHAPTER, transition::CHAPTER, clustering::CHAPTER, learners::CHAPTER, probes::CHAPTER];
