//! The laboratory as a library: files, measures, sweeps, fits, verdicts and reports.
//!
//! Data flows one way. An [`experiment`] file says what to measure, for which parameters, and what is made of it. A
//! [`sweep`] runs its [`measure`] for every cell and keeps each [`record`] in a [`store`]. [`analysis`] makes [`fit`]s,
//! verdicts and figures of the records, and [`report`] a page of several experiments. Beside that, [`files`] reads and
//! writes grammars, corpora and run directories, and [`training`] runs networks.
//!
//! The program (`gardenpath-cli`) and the Python package are thin layers on top. Nothing here prints, parses arguments or
//! listens to signals.

pub mod ambiguous;
pub mod analysis;
pub mod by_arity;
pub mod choice;
pub mod crossover;
pub mod date;
pub mod draw;
pub mod ensemble;
pub mod experiment;
pub mod files;
pub mod fit;
pub mod learning;
pub mod measure;
pub mod message;
mod nearest;
pub mod outcome;
pub mod parses;
mod process;
pub mod reading;
pub mod record;
pub mod report;
pub mod store;
pub mod sweep;
pub mod table;
pub mod training;
