//! `gardenpath sweep measures`: lists the measures with their parameters and results.

use crate::commands::Answer;
use anyhow::{Result, bail};
use clap::Args;
use gardenpath_lab::measure::parameter::Parameter;
use gardenpath_lab::measure::result::Output;
use gardenpath_lab::measure::{Description, NAMES, descriptions};

/// The arguments of `sweep measures`.
#[derive(Args, Debug)]
#[command(after_help = "\
Shows each parameter with its possible values, default and meaning, and each result with its meaning. \
With --json, each measure is a line.

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
        descriptions().filter(|measure| name.is_none_or(|name| name == measure.name)).collect();
    if let (Some(name), []) = (name, wanted.as_slice()) {
        bail!("unknown measure {name}, expected one of {}", NAMES.join(", "));
    }
    if answer.json {
        return wanted.iter().try_for_each(|measure| answer.json_line(measure));
    }
    answer.text(&text(&wanted))
}

/// The measures as readable Markdown. Parameters shared by all measures of random grammars are listed once.
fn text(measures: &[&Description]) -> String {
    let is_random = |measure: &&&Description| measure.parameters.iter().any(|parameter| parameter.name == "vocab");
    let random: Vec<&&Description> = measures.iter().filter(is_random).collect();
    let is_shared = |parameter: &&Parameter| random.iter().all(|measure| measure.parameters.contains(parameter));
    let first = random.first().filter(|_| random.len() > 1).map(|measure| &measure.parameters);
    let shared: Vec<&Parameter> = first.into_iter().flatten().filter(is_shared).collect();
    let mut parts = Vec::new();
    if !shared.is_empty() {
        parts.push(format!("## All measures of random grammars\n\n{}", inputs(&shared)));
    }
    for measure in measures {
        let is_own = |parameter: &&Parameter| !is_random(&measure) || !shared.contains(parameter);
        let own: Vec<&Parameter> = measure.parameters.iter().filter(is_own).collect();
        let (name, meaning) = (&measure.name, &measure.meaning);
        parts.push(format!("## {name}\n\n{meaning}.\n\n{}\n{}", inputs(&own), outputs(&measure.results)));
    }
    parts.join("\n")
}

/// A row for each parameter.
fn inputs(parameters: &[&Parameter]) -> String {
    let row = |Parameter { name, kind, default, meaning }: &&Parameter| {
        [name.to_string(), kind.expected(), default.shown(), meaning.to_string()]
    };
    table(["parameter", "values", "default", "meaning"], parameters.iter().map(row))
}

/// A row for each result.
fn outputs(results: &[Output]) -> String {
    let row = |Output { name, kind, meaning }: &Output| [name.to_string(), kind.expected(), meaning.to_string()];
    table(["result", "values", "meaning"], results.iter().map(row))
}

/// Rows with aligned columns.
fn table<const N: usize>(headings: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut rows: Vec<[String; N]> = std::iter::once(headings.map(str::to_owned)).chain(rows).collect();
    let widths: [usize; N] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
    rows.insert(1, widths.map(|width| "-".repeat(width)));
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    rows.iter().map(line).collect()
}
