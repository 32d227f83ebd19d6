//! Turns the results of an experiment into numbers, verdicts and figures, following its
//! [`Plan`](crate::experiment::plan).

mod claims;
mod curves;
mod fits;
mod outstanding;
mod panels;
mod table;

pub use claims::Judged;
pub use curves::{Family, MeanCurve, MeanPoint, families};
pub use fits::{Fitted, Found, fit};
pub use outstanding::Outstanding;
pub use panels::draw;

pub use crate::table::Table;

use crate::draw::table::core_time;
use crate::experiment::plan::Plan;
use crate::measure::Measure;
use crate::store::{Found as Stored, Store};
use crate::sweep::estimate::Paces;
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
pub fn analyse(plan: &Plan, table: &Table, outstanding: &Outstanding) -> Result<Analysis> {
    let fitted = fit(&plan.fits, table)?;
    Ok(Analysis { figure: draw(plan, table, &fitted)?, claims: judge(plan, &fitted, outstanding)? })
}

/// Judges all claims, one entry per group. Groups without measurements are inconclusive. Undecided claims list their missing cells and the cost
/// of settling them.
pub fn judge(plan: &Plan, fitted: &[Fitted], outstanding: &Outstanding) -> Result<Vec<Judged>> {
    let mut judged = claims::judge(plan, fitted)?;
    outstanding.explain(plan, &mut judged);
    // More seeds are an issue only once all cells are there.
    for judged in judged.iter_mut().filter(|judged| judged.missing_cells.is_none()) {
        if let (Some(_), Some(hours)) = (judged.needed_seeds, judged.needed_core_hours) {
            judged.because += &format!(" (about {} more)", core_time(hours));
        }
    }
    Ok(judged)
}

/// Results read from a store.
pub struct Loaded {
    /// The available results.
    pub table: Table,
    /// The number of missing cells, damaged ones included.
    pub missing: usize,
    /// The cost of the missing cells.
    pub outstanding: Outstanding,
    /// One message per damaged cell.
    pub damaged: Vec<String>,
}

/// Reads the results of cells from a store.
pub fn load(cells: &[Measure], store: &Store) -> Result<Loaded> {
    let (mut found, mut is_there, mut damaged) = (Vec::new(), Vec::new(), Vec::new());
    for cell in cells {
        let stored = store.find(cell)?;
        is_there.push(matches!(stored, Stored::Whole(_)));
        match stored {
            Stored::Whole(record) => found.push((cell, record.result)),
            Stored::Nothing => {}
            Stored::Damaged(text) => damaged.push(text),
        }
    }
    let missing = cells.len() - found.len();
    let timed = found.iter().filter(|_| missing > 0);
    let paces = Paces::of_finished(timed.filter_map(|(cell, _)| Some((*cell, store.provenance(cell)?))));
    let hours = |(cell, is_there): (&Measure, &bool)| (!is_there).then(|| paces.nominal_seconds(cell) / 3600.0);
    let outstanding = Outstanding::new(cells, cells.iter().zip(&is_there).map(hours).collect())?;
    Ok(Loaded { table: Table::declaring(&found, cells)?, missing, outstanding, damaged })
}
