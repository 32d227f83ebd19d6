//! From the results of an experiment to numbers, verdicts and figures, as its file says ([`Plan`](crate::experiment::plan)).

mod claims;
mod fits;
mod outstanding;
mod panels;
mod table;

pub use claims::Judged;
pub use fits::{Fitted, Found, fit};
pub use outstanding::Outstanding;
pub use panels::draw;

pub use crate::table::Table;

use crate::experiment::plan::Plan;
use crate::measure::Measure;
use crate::store::{Found as Stored, Store};
use crate::sweep::estimate::Paces;
use anyhow::Result;
use gardenpath_plot::Figure;

/// What the file of an experiment makes of results.
pub struct Analysis {
    /// The figure of all panels.
    pub figure: Figure,
    /// The claims, each for every group that it is about.
    pub claims: Vec<Judged>,
}

/// Makes all fits, judges all claims and draws all panels. Claims that are undecided for want of cells say so.
pub fn analyse(plan: &Plan, table: &Table, outstanding: &Outstanding) -> Result<Analysis> {
    let fitted = fit(&plan.fits, table)?;
    Ok(Analysis { figure: draw(plan, table, &fitted)?, claims: judge(plan, &fitted, outstanding)? })
}

/// All claims, each for every group that it is about. A claim about groups that were not measured is inconclusive, and says which cells it
/// waits for.
pub fn judge(plan: &Plan, fitted: &[Fitted], outstanding: &Outstanding) -> Result<Vec<Judged>> {
    let mut judged = claims::judge(plan, fitted)?;
    outstanding.explain(plan, &mut judged);
    Ok(judged)
}

/// The results of cells that a store has.
pub struct Loaded {
    /// Those that are there.
    pub table: Table,
    /// How many are not.
    pub missing: usize,
    /// What those would cost.
    pub outstanding: Outstanding,
    /// What is wrong with damaged ones, which are missing too.
    pub damaged: Vec<String>,
}

/// Reads the results of cells.
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
    Ok(Loaded { table: Table::new(&found)?, missing, outstanding, damaged })
}
