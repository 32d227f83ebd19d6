//! `gardenpath reproduce --dry-run`: estimates the cost of a report without measuring its cells or writing anything.

use crate::commands::Answer;
use crate::progress;
use anyhow::Result;
use gardenpath_lab::draw::table::{Table, grouped, short};
use gardenpath_lab::experiment::Scale;
use gardenpath_lab::measure::Measure;
use gardenpath_lab::report::Chapter;
use gardenpath_lab::store::{Found, Store};
use gardenpath_lab::sweep::estimate::{Cost, Paces, shown};
use serde::Serialize;
use std::collections::HashSet;
use std::path::Path;

/// The cost of a chapter, or of all.
#[derive(Clone, Default, Serialize)]
struct Line {
    /// `null` for the total.
    figure: Option<String>,
    cells: usize,
    /// Cells without a result.
    missing: usize,
    #[serde(flatten)]
    cost: Cost,
}

/// Runs the command.
pub fn run(store: &Path, chapters: &[Chapter], scale: &Scale, answer: &mut Answer) -> Result<()> {
    let store = Store::at(store);
    // Shared cells are charged to the first chapter.
    let mut seen = HashSet::new();
    let (mut finished, mut plans) = (Vec::new(), Vec::new());
    for chapter in chapters {
        let mut cells = chapter.cells(scale)?;
        cells.retain(|cell| seen.insert(cell.identity()));
        let count = cells.len();
        let mut missing: Vec<Measure> = Vec::new();
        for cell in cells {
            match (store.look(&cell)?, store.provenance(&cell)) {
                (Found::Whole(()), Some(provenance)) => finished.push((cell, provenance)),
                (Found::Whole(()), None) => {}
                _ => missing.push(cell),
            }
        }
        plans.push((chapter.name.clone(), count, missing));
    }
    let mut paces = Paces::of_finished(finished.iter().map(|(cell, provenance)| (cell, provenance.clone())));
    let spinner = progress::spinner("timing tiny cells");
    paces.calibrate(plans.iter().flat_map(|(_, _, missing)| missing));
    spinner.finish_and_clear();
    let mut lines: Vec<Line> = plans
        .iter()
        .map(|(name, cells, missing)| Line {
            figure: Some(name.clone()),
            cells: *cells,
            missing: missing.len(),
            cost: paces.cost(missing),
        })
        .collect();
    let total = Line {
        figure: None,
        cells: lines.iter().map(|line| line.cells).sum(),
        missing: lines.iter().map(|line| line.missing).sum(),
        cost: paces.cost(plans.iter().flat_map(|(_, _, missing)| missing)),
    };
    lines.push(total.clone());
    if answer.json {
        return lines.iter().try_for_each(|line| answer.json_line(line));
    }
    let mut table = Table::new(["figure", "cells", "missing", "core-hours", "GPU-hours"]);
    for Line { figure, cells, missing, cost } in &lines {
        let [cells, missing] = [*cells, *missing].map(|count| grouped(count as u64));
        table.row([
            figure.as_deref().unwrap_or("all").to_owned(),
            cells,
            missing,
            short(cost.core_hours),
            short(cost.gpu_hours),
        ]);
    }
    answer.text(&format!("{table}{}\n", shown(&total.cost)))
}
