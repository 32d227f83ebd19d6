//! Learning a grammar back from sentences and their root labels.
//!
//! | module | what it is |
//! |---|---|
//! | [`exact`] | the learner that recovers every rule, or says why not |
//! | [`em`] | inside-outside from random starts, the baseline |
//! | [`paper`] | the algorithm of the paper, as it stands |
//! | [`score`] | how close a learned grammar is to the truth |

pub(crate) mod data;
pub mod em;
pub mod exact;
pub mod paper;
pub mod score;
pub(crate) mod shards;
pub(crate) mod uses;
