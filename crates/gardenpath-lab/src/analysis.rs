//! From the results of an experiment to numbers, verdicts and figures, as its file says ([`Plan`](crate::experiment::plan)).

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

/// What the file of an experiment makes of results.
pub struct Analysis {
    /// The figure of all panels.
    pub figure: Figure,
    /// The claims, each for every group that it is about.
    pub claims: Vec<Judged>,
}

/// Makes all fits, judges all claims and draws all panels.
pub fn analyse(plan: &Plan, table: &Table) -> Result<Analysis> {
    let fitted = fit(&plan.fits, table)?;
    Ok(Analysis { figure: draw(plan, table, &fitted)?, claims: judge(plan, &fitted)? })
}

/// The results of cells that a store has.
pub struct Loaded {
    /// Those that are there.
    pub table: Table,
    /// How many are not.
    pub missing: usize,
    /// What is wrong with damaged ones, which are missing too.
    pub damaged: Vec<String>,
}

/// Reads the results of cells.
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
