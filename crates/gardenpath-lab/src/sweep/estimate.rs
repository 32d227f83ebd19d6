//! Estimates the cost of cells before they are measured.
//!
//! Every measure declares the approximate time of a cell on a reference machine. The factor for this machine comes from
//! finished cells, or from timing a tiny cell of the same variety.

use crate::draw::table::{core_time, gpu_time};
use crate::measure::Measure;
use crate::process::thread_seconds;
use crate::store::Provenance;
use serde::Serialize;
use std::collections::BTreeMap;

/// The estimated cost of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Hours of one core.
    pub core_hours: f64,
    /// Hours of a GPU, which is assumed to equal [`GPU_CORES`] cores.
    pub gpu_hours: f64,
}

/// The number of cores that equal one GPU: an assumption that was never measured.
pub const GPU_CORES: f64 = 50.0;

/// The factor by which an estimate may be off in either direction, since the number of training steps is unknown.
pub const ROUGHNESS: f64 = 3.0;

/// The cost in one line.
pub fn shown(cost: &Cost) -> String {
    let mut text = format!("about {}", core_time(cost.core_hours));
    if cost.gpu_hours > 0.0 {
        let time = gpu_time(cost.gpu_hours);
        text += &format!(" and {time}, assuming that a GPU equals {GPU_CORES} cores, which was never measured");
    }
    format!("{text}; this may be off by a factor of {ROUGHNESS}")
}

/// Finished cells of a variety determine its pace if they took at least this long in total: shorter times are mostly
/// noise.
const ENOUGH_SECONDS: f64 = 1.0;

/// How much longer than [`Measure::work`] cells take on this machine, by variety.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paces {
    factors: BTreeMap<String, f64>,
}

impl Paces {
    /// The paces of finished cells. Records without a version are ignored: they have wall times, which on a busy machine can be many
    /// times the CPU time.
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

    /// Times a tiny cell of each variety with unknown pace, which takes a few tenths of a second each. Foreign measures
    /// are not timed.
    pub fn calibrate<'c>(&mut self, cells: impl IntoIterator<Item = &'c Measure>) {
        for cell in cells.into_iter().filter(|cell| cell.description().is_built_in()) {
            self.factors.entry(cell.variety()).or_insert_with(|| pace(&cell.tiny()));
        }
    }

    /// The time of a cell in seconds on one core, if the pace of its variety is known.
    pub fn seconds(&self, cell: &Measure) -> Option<f64> {
        Some(self.factors.get(&cell.variety())? * cell.work())
    }

    /// The same, with the measure's own estimate if the pace is unknown.
    pub fn nominal_seconds(&self, cell: &Measure) -> f64 {
        self.seconds(cell).unwrap_or_else(|| cell.work())
    }

    /// The estimated cost of cells; those with unknown pace cost nothing.
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

/// The pace of a cell: the faster of two attempts, since the first one warms up.
fn pace(cell: &Measure) -> f64 {
    let fastest = [time(cell), time(cell)].into_iter().flatten().reduce(f64::min);
    fastest.map_or(1.0, |seconds| seconds / cell.work())
}

/// The CPU time of a cell in seconds on a single thread; `None` if it fails. Time taken by other processes does not
/// count where the system can tell.
pub fn time(cell: &Measure) -> Option<f64> {
    let work = || {
        let start = thread_seconds();
        let result = cell.run(&());
        result.is_ok().then(|| thread_seconds() - start)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.map_or_else(|_| work(), |pool| pool.install(work))
}
