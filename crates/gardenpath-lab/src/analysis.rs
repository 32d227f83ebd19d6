//! Turns the results of an experiment into numbers, verdicts and figures, following its
//! [`Plan`](crate::experiment::plan).

mod claims;
mod curves;
mod fits;
mod panels;
mod table;

pub use claims::{Judged, judge};
pub use curves::{Family, MeanCurve, MeanPoint, families};
pub use fits::{Fitted, Found, fit};
pub use panels::draw;

pub use crate::table::Table;

use crate::experiment::plan::Plan;
use crate::measure::Measure;
use crate::store::{Found as Stored, Store};
use anyhow::Result;
use gardenpath_plot::Figure;

/// The analysis of an experiment's results.
pub struct Analysis {
    /// The figure of all panels.
    pub figure: Figure,
    /// The claims, one entry per group.
    pub claims: Vec<Judged>,
}

/// Computes all fits, judges all claims and draws all panels. Fails if a fit or panel cannot use these results.
pub fn analyse(plan: &Plan, table: &Table) -> Result<Analysis> {
    let fitted = fit(&plan.fits, table)?;
    Ok(Analysis { figure: draw(plan, table, &fitted)?, claims: judge(plan, &fitted)? })
}

/// Results read from a store.
pub struct Loaded {
    /// The available results.
    pub table: Table,
    /// The number of missing cells, damaged ones included.
    pub missing: usize,
    /// One message per damaged cell.
    pub damaged: Vec<String>,
}

/// Reads the results of cells from a store.
pub fn load(cells: &[Measure], store: &Store) -> Result<Loaded> {
    let (mut found, mut missing, mut damaged) = (Vec::new(), 0, Vec::new());
    for cell in cells {
        match store.find(cell)? {
            Stored::Whole(record) => found.push((cell, record.result)),
            Stored::Nothing => missing += 1,
            Stored::Damaged(text) => {
                missing += 1;
                damaged.push(text);
            }
        }
    }
    Ok(Loaded { table: Table::new(&found)?, missing, damaged })
}
