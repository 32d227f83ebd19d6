//! From the results of an experiment to numbers, verdicts and figures, as its file says ([`Plan`](crate::experiment::plan)).

mod claims;
mod fits;
mod panels;
mod table;

pub use claims::{Judged, judge};
pub use fits::{Fitted, Found, fit};
pub use panels::draw;
pub use table::Table;

use crate::measure::Measure;
use crate::record::Records;
use crate::store::{Found as Stored, Store};
use anyhow::Result;

/// The results of cells that a store has.
pub struct Loaded {
    /// Those that are there.
    pub records: Records,
    /// How many are not.
    pub missing: usize,
    /// What is wrong with damaged ones, which are missing too.
    pub damaged: Vec<String>,
}

/// Reads the results of cells.
pub fn load(cells: &[Measure], store: &Store) -> Result<Loaded> {
    let mut loaded = Loaded { records: Records::default(), missing: 0, damaged: Vec::new() };
    for cell in cells {
        match store.find(cell)? {
            Stored::Whole(record) => loaded.records.all.push(record),
            Stored::Nothing => loaded.missing += 1,
            Stored::Damaged(text) => {
                loaded.missing += 1;
                loaded.damaged.push(text);
            }
        }
    }
    Ok(loaded)
}
