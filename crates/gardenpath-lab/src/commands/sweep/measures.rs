//! `gardenpath sweep measures`: what can be measured, and with which parameters.

use crate::commands::Answer;
use crate::measure::parameter::Parameter;
use crate::measure::{Description, NAMES, descriptions};
use anyhow::{Result, bail};
use clap::Args;

/// The arguments of `sweep measures`.
#[derive(Args, Debug)]
#[command(after_help = "\
Each parameter is shown with the values that it takes, what it is unless an experiment says otherwise, and what it means. With \
--json each measure is a line.

Examples:
  gardenpath sweep measures
  gardenpath sweep measures train --json")]
pub struct Arguments {
    /// A measure [default: all]
    name: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    let name = arguments.name.as_deref();
    let wanted: Vec<&Description> =
        descriptions().iter().filter(|measure| name.is_none_or(|name| name == measure.name)).collect();
    if let (Some(name), []) = (name, wanted.as_slice()) {
        bail!("there is no measure {name}, expected one of {}", NAMES.join(", "));
    }
    if answer.json {
        return wanted.iter().try_for_each(|measure| answer.json_line(measure));
    }
    answer.text(&text(&wanted))
}

/// The measures as Markdown that people can read as it is. What all of them share is said once.
fn text(measures: &[&Description]) -> String {
    let is_shared = |parameter: &&Parameter| {
        measures.len() > 1 && measures.iter().all(|measure| measure.parameters.contains(parameter))
    };
    let first = measures.iter().flat_map(|measure| &measure.parameters).take(measures[0].parameters.len());
    let shared: Vec<&Parameter> = first.filter(is_shared).collect();
    let mut parts = Vec::new();
    if !shared.is_empty() {
        parts.push(format!("## All measures\n\n{}", table(&shared)));
    }
    for measure in measures {
        let own: Vec<&Parameter> = measure.parameters.iter().filter(|parameter| !shared.contains(parameter)).collect();
        parts.push(format!("## {}\n\n{}.\n\n{}", measure.name, measure.meaning, table(&own)));
    }
    parts.join("\n")
}

/// A row for each parameter, with aligned columns.
fn table(parameters: &[&Parameter]) -> String {
    let mut rows = vec![["parameter", "values", "default", "meaning"].map(str::to_owned)];
    for Parameter { name, kind, default, meaning } in parameters {
        rows.push([(*name).to_owned(), kind.expected(), default.shown(), (*meaning).to_owned()]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    rows.insert(1, widths.map(|width| "-".repeat(width)));
    let line = |row: &[String; 4]| {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    rows.iter().map(line).collect()
}
