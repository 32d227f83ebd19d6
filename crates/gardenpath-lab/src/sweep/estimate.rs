//! What cells will cost, before they are measured.
//!
//! Every measure says about how long a cell takes on some machine. What this machine makes of it is told by cells that have been finished,
//! or by a tiny cell of the same variety, which is timed.

use crate::draw::table::short;
use crate::measure::Measure;
use crate::process::thread_seconds;
use crate::store::Provenance;
use serde::Serialize;
use std::collections::BTreeMap;

/// What cells will cost, about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Hours of one core.
    pub core_hours: f64,
    /// Hours of a graphics processor, which is taken for [`GPU_CORES`] cores.
    pub gpu_hours: f64,
}

/// So many cores do the work of a graphics processor: an assumption, which was never measured.
pub const GPU_CORES: f64 = 50.0;

/// The factor by which an estimate may be wrong in either direction. Nobody knows when training will end.
pub const ROUGHNESS: f64 = 3.0;

/// A cost in one line.
pub fn shown(cost: &Cost) -> String {
    let mut text = format!("about {} core-hours", short(cost.core_hours));
    if cost.gpu_hours > 0.0 {
        let hours = short(cost.gpu_hours);
        text +=
            &format!(" and {hours} GPU-hours, if a GPU does the work of {GPU_CORES} cores, which was never measured");
    }
    format!("{text}; this may be wrong by a factor of {ROUGHNESS}")
}

/// Finished cells of a variety tell its pace if they took at least this long together: shorter ones are mostly noise.
const ENOUGH_SECONDS: f64 = 1.0;

/// How much longer than [`Measure::work`] says cells take on this machine, for each variety.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paces {
    factors: BTreeMap<String, f64>,
}

impl Paces {
    /// The paces that finished cells show. Records without a version do not count: they have the time that passed, which on a busy machine
    /// can be many times what a core worked.
    pub fn of_finished<'c>(finished: impl IntoIterator<Item = (&'c Measure, Provenance)>) -> Self {
        let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
        for (cell, provenance) in finished {
            if cell.is_on_gpu() || provenance.version.is_none() {
                continue;
            }
            let (taken, work) = sums.entry(cell.variety()).or_default();
            (*taken, *work) = (*taken + provenance.seconds, *work + cell.work());
        }
        let known = sums.into_iter().filter(|(_, (taken, work))| *taken >= ENOUGH_SECONDS && *work > 0.0);
        Paces { factors: known.map(|(variety, (taken, work))| (variety, taken / work)).collect() }
    }

    /// Times a tiny cell for each variety of these cells whose pace is not known; foreign measures are not timed. Takes a few tenths of a second for each.
    pub fn calibrate<'c>(&mut self, cells: impl IntoIterator<Item = &'c Measure>) {
        for cell in cells.into_iter().filter(|cell| cell.description().is_built_in()) {
            self.factors.entry(cell.variety()).or_insert_with(|| pace(&cell.tiny()));
        }
    }

    /// The seconds that a cell takes on one core, if the pace of its variety is known.
    pub fn seconds(&self, cell: &Measure) -> Option<f64> {
        Some(self.factors.get(&cell.variety())? * cell.work())
    }

    /// The same, and what the measure itself says where the pace is not known: for whoever must not time anything.
    pub fn nominal_seconds(&self, cell: &Measure) -> f64 {
        self.seconds(cell).unwrap_or_else(|| cell.work())
    }

    /// What cells will cost; those whose pace is not known cost nothing.
    pub fn cost<'c>(&self, cells: impl IntoIterator<Item = &'c Measure>) -> Cost {
        let mut cost = Cost::default();
        for cell in cells {
            let hours = self.seconds(cell).unwrap_or(0.0) / 3600.0;
            if cell.is_on_gpu() {
                cost.gpu_hours += hours / GPU_CORES;
            } else {
                cost.core_hours += hours;
            }
        }
        cost
    }
}

/// How much longer a cell takes than it says. The first attempt warms up; the faster one counts.
fn pace(cell: &Measure) -> f64 {
    let fastest = [time(cell), time(cell)].into_iter().flatten().reduce(f64::min);
    fastest.map_or(1.0, |seconds| seconds / cell.work())
}

/// The seconds that a core works on a cell, measured on a single thread; `None` if the cell fails. Time that other processes take from this
/// one does not count, where the system can tell.
pub fn time(cell: &Measure) -> Option<f64> {
    let work = || {
        let start = thread_seconds();
        let result = cell.run(&());
        result.is_ok().then(|| thread_seconds() - start)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.map_or_else(|_| work(), |pool| pool.install(work))
}
