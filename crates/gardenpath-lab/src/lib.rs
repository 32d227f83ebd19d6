//! The laboratory as a library: files, measures, sweeps, fits, verdicts and reports.
//!
//! Data flows one way. An [`experiment`] file says what to measure, for which parameters, and how to analyze it. A
//! [`sweep`] runs its [`measure`] for every cell and keeps each [`record`] in a [`store`]. [`analysis`] turns the
//! records into [`fit`]s, verdicts and figures, and [`report`] writes a page about several experiments. In addition,
//! [`files`] reads and writes grammars, corpora and run directories, and [`training`] runs networks.
//!
//! The program (`gardenpath-cli`) and the Python package are thin layers on top. Nothing here prints, parses arguments
//! or handles signals.

pub mod analysis;
pub mod by_arity;
pub mod choice;
pub mod date;
pub mod draw;
pub mod ensemble;
pub mod experiment;
pub mod files;
pub mod fit;
pub mod measure;
pub mod message;
mod nearest;
pub mod outcome;
mod process;
pub mod reading;
pub mod record;
pub mod report;
pub mod store;
pub mod sweep;
pub mod table;
pub mod training;
