//! Ours: which layer of a trained network encodes which level of the tree?

use crate::draw::table::short;
use crate::figure::{Cell, Figure, Fill, Grid, Panel};
use crate::record::Records;
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;
use serde_json::Value;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "probes",
    title: "What the layers of trained networks encode",
    paper: "This figure is not in the paper, which argues that layers build up the levels of the tree one after another, and takes the \
            insensitivity to synonyms as the sign of it.",
    experiments: &["probes"],
    draw,
};

fn draw(records: &Records) -> Result<Page> {
    let mut panels = Vec::new();
    for (model, title) in [("cnn", "CNN"), ("inn", "INN")] {
        let here = records.with_text("model", model);
        let depth = here.values("depth").first().copied().unwrap_or(2.0);
        let here = here.with("depth", depth);
        panels.push(Panel::Grid(grid(&here, "accuracy", &format!("{title}: read off by a linear probe"))));
        panels.push(Panel::Grid(grid(&here, "sensitivity", &format!("{title}: sensitivity to synonyms"))));
    }
    let caption = "Left: share of held-out nodes of a level whose symbol a linear classifier reads off a layer. Right: how far a layer moves when the \
                   synonyms of a level are exchanged, relative to an unrelated sentence. Level 0 is the root; layers go from the tokens up.";
    let findings = ["cnn", "inn"].map(|model| invariance(records, model)).into();
    Ok(Page { figure: Figure::grid(2, panels), caption: caption.into(), findings })
}

/// The mean over seeds of a table of layers and levels.
fn table(records: &Records, name: &str) -> Vec<Vec<f64>> {
    let tables: Vec<&Value> = records.all.iter().filter_map(|record| record.result.get(name)).collect();
    let Some(first) = tables.first().and_then(|table| table.as_array()) else { return Vec::new() };
    let columns = |row: &Value| row.as_array().map_or(0, Vec::len);
    let at = |i: usize, j: usize| {
        let values: Vec<f64> = tables.iter().filter_map(|table| table[i][j].as_f64()).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    first.iter().enumerate().map(|(i, row)| (0..columns(row)).map(|j| at(i, j)).collect()).collect()
}

fn grid(records: &Records, name: &str, title: &str) -> Grid {
    let values = table(records, name);
    let layers = records.all.first().and_then(|record| record.result["layers"].as_array().cloned()).unwrap_or_default();
    let mut cells = Vec::new();
    for (row, levels) in values.iter().rev().enumerate() {
        for (column, value) in levels.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            cells.push(Cell { row, column, fill: Fill::Heat(value.clamp(0.0, 1.0)), text: format!("{value:.2}") });
        }
    }
    Grid {
        title: Some(title.into()),
        rows: layers.iter().rev().filter_map(|layer| layer.as_str().map(crate::figure::plain)).collect(),
        columns: (0..values.first().map_or(0, Vec::len)).map(|level| format!("level {level}")).collect(),
        cells,
        ..Grid::default()
    }
}

/// The last layer tells the root and hardly moves with the synonyms of the lowest level.
fn invariance(records: &Records, model: &str) -> Finding {
    let here = records.with_text("model", model);
    let name = model.to_uppercase();
    let claim = format!(
        "the last layer of the {name} tells the root, and ignores synonyms of the lowest rules more than its first layer does"
    );
    let (accuracy, sensitivity) = (table(&here, "accuracy"), table(&here, "sensitivity"));
    let (Some(told), Some(first), Some(last)) = (
        accuracy.last().and_then(|row| row.first()),
        sensitivity.first().and_then(|row| row.last()),
        sensitivity.last().and_then(|row| row.last()),
    ) else {
        return Finding::new(claim, "nothing was measured", Verdict::TooSmall);
    };
    let measured = format!(
        "root read with accuracy {}, sensitivity {} at the first and {} at the last layer",
        short(*told),
        short(*first),
        short(*last)
    );
    Finding::check(claim, measured, *told > 0.8 && last < first)
}
