//! `gardenpath sweep fit`, `judge` and `plot`: analyses the results of an experiment.

use super::{Chosen, Which};
use crate::commands::Answer;
use crate::progress;
use anyhow::{Result, bail};
use clap::Args;
use gardenpath_lab::analysis::{self, Fitted, Found, Loaded, Table};
use gardenpath_lab::draw::table::{Table as Columns, counted, short};
use gardenpath_lab::experiment::Experiment;
use gardenpath_lab::experiment::plan::{self, Kind};
use gardenpath_lab::files::atomic;
use gardenpath_lab::outcome::Incomplete;
use gardenpath_lab::store::Store;
use gardenpath_plot::Figure;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The arguments of `sweep fit`.
#[derive(Args, Debug)]
#[command(after_help = "\
Computes every [[fit]] of the experiment from the results in the store, with the seeds of a group as replicates. The exit code is 1 if there are none. \
With --json, each group of each fit is a line.

Examples:
  gardenpath sweep fit cnn --store results
  gardenpath sweep fit my.toml --store results --scale full --json")]
pub struct Fit {
    #[command(flatten)]
    which: Which,
}

/// The arguments of `sweep judge`.
#[derive(Args, Debug)]
#[command(after_help = "\
A claim agrees if the whole 95% interval of its fit lies within the margin, differs if all of it lies outside, and is inconclusive otherwise. The exit code is 0 whatever the \
verdicts are, and 1 if there are no results.

Examples:
  gardenpath sweep judge cnn --store results
  gardenpath sweep judge my.toml --store results --json")]
pub struct Judge {
    #[command(flatten)]
    which: Which,
}

/// The arguments of `sweep plot`.
#[derive(Args, Debug)]
#[command(after_help = "\
Draws every [[panel]] of the experiment from the results in the store: means over seeds with one standard error on each side, or the estimates of a fit \
with their intervals.

Examples:
  gardenpath sweep plot cnn --store results -o cnn.svg
  gardenpath sweep plot my.toml --store results --scale full -o figure.pdf")]
pub struct Plot {
    #[command(flatten)]
    which: Which,
    /// File to write (.svg, .png or .pdf)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// PNG files are for high-resolution screens.
const PNG_SCALE: f64 = 2.0;

/// Computes the fits.
pub fn fit(arguments: &Fit, answer: &mut Answer) -> Result<()> {
    let chosen = arguments.which.read()?;
    if chosen.experiment.plan.fits.is_empty() {
        bail!("the experiment has no [[fit]]");
    }
    let table = results(&chosen, &arguments.which.store)?;
    let plan = &chosen.experiment.plan;
    let fitted = analysis::fit(&plan.fits, &table)?;
    if answer.json {
        for (fit, fitted) in plan.fits.iter().zip(&fitted) {
            lines(fit, fitted).iter().try_for_each(|line| answer.json_line(line))?;
        }
        return Ok(());
    }
    answer.text(&text(&fitted))
}

/// One JSON line per group.
fn lines(fit: &plan::Fit, fitted: &Fitted) -> Vec<Value> {
    let kind = match fit.kind {
        Kind::Threshold { .. } => "threshold",
        Kind::Exponent { .. } => "exponent",
        Kind::Collapse { .. } => "collapse",
        Kind::Mean { .. } => "mean",
        Kind::Ratio { .. } => "ratio",
    };
    let line = |found: &Found| {
        let estimate = &found.estimate;
        json!({
            "fit": fitted.name, "kind": kind, "group": fitted.named(found), "value": estimate.value,
            "interval": estimate.interval.map(|(low, high)| [low, high]), "seeds": estimate.seeds,
            "misfit": found.misfits[0], "predicted_misfit": found.misfits[1], "because": estimate.because,
        })
    };
    fitted.found.iter().map(line).collect()
}

fn text(fitted: &[Fitted]) -> String {
    let mut table = Columns::new(["fit", "group", "value", "95% interval", "seeds"]);
    let mut remarks = String::new();
    for fitted in fitted {
        for found in &fitted.found {
            let (words, estimate) = (fitted.words(found), &found.estimate);
            let interval = match estimate.interval {
                Some((low, high)) => format!("{} to {}", end(low), end(high)),
                None => "–".into(),
            };
            let value = if estimate.value.is_nan() { "–".into() } else { short(estimate.value) };
            table.row([fitted.name.clone(), words.clone(), value, interval, estimate.seeds.to_string()]);
            if let Some(because) = &estimate.because {
                let place = if words.is_empty() { fitted.name.clone() } else { format!("{}, {words}", fitted.name) };
                remarks += &format!("{place}: {because}\n");
            }
        }
        if fitted.found.is_empty() {
            remarks += &format!("{}: no measurements\n", fitted.name);
        }
    }
    format!("{table}{remarks}")
}

/// Formats one end of an interval.
fn end(value: f64) -> String {
    if value.is_infinite() { "∞".into() } else { short(value) }
}

/// Judges the claims.
pub fn judge(arguments: &Judge, answer: &mut Answer) -> Result<()> {
    let chosen = arguments.which.read()?;
    let plan = &chosen.experiment.plan;
    if plan.claims.is_empty() {
        bail!("the experiment has no [[claim]]");
    }
    let Loaded { table, outstanding, .. } = loaded(&chosen, &arguments.which.store)?;
    let outstanding = outstanding.with_larger_sizes(&chosen.experiment, &chosen.scale)?;
    let judged = analysis::judge(plan, &analysis::fit(&plan.fits, &table)?, &outstanding)?;
    if answer.json {
        return answer.json_line(&json!({"claims": judged}));
    }
    for claim in &judged {
        let group = if claim.group.is_empty() { String::new() } else { format!(" ({})", claim.words()) };
        let verdict = claim.verdict.word();
        answer.text(&format!("{}{group}: {verdict}\n  {}\n  {}\n", claim.id, claim.statement, claim.because))?;
    }
    Ok(())
}

/// Draws the panels.
pub fn plot(arguments: &Plot, answer: &mut Answer) -> Result<()> {
    let path = &arguments.output;
    let render: fn(&Figure) -> Result<Vec<u8>> = match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => |figure| Ok(figure.svg().into_bytes()),
        Some("png") => |figure| figure.png(PNG_SCALE),
        Some("pdf") => Figure::pdf,
        _ => bail!("{}: expected a name ending in .svg, .png or .pdf", path.display()),
    };
    atomic::check(path)?;
    let chosen = arguments.which.read()?;
    let plan = &chosen.experiment.plan;
    if plan.panels.is_empty() {
        bail!("the experiment has no [[panel]]");
    }
    let table = results(&chosen, &arguments.which.store)?;
    let figure = analysis::draw(plan, &table, &analysis::fit(&plan.fits, &table)?)?;
    atomic::write(path, &render(&figure)?)?;
    if answer.json {
        return answer.json_line(&json!({"output": path, "panels": plan.panels.len()}));
    }
    answer.text(&format!("{} in {}\n", counted(plan.panels.len(), "panel"), path.display()))
}

/// The available results. Fails if there are none, and notes how many are missing.
fn results(chosen: &Chosen, store: &Path) -> Result<Table> {
    Ok(loaded(chosen, store)?.table)
}

/// The same, with what the others would cost; what is missing is said.
fn loaded(chosen: &Chosen, store: &Path) -> Result<Loaded> {
    let Chosen { source, experiment, cells, .. } = chosen;
    let loaded = analysis::load(cells, &Store::existing(store)?)?;
    loaded.damaged.iter().for_each(|text| progress::note(text));
    refuse_nothing(loaded.table.len(), cells.len(), experiment)?;
    say_missing(loaded.missing, cells.len(), &source.name());
    Ok(loaded)
}

/// Returns an error if there are no results at all.
fn refuse_nothing(found: usize, cells: usize, experiment: &Experiment) -> Result<()> {
    if found > 0 {
        return Ok(());
    }
    let scales = match experiment.scale_names().as_slice() {
        [] | [_] => String::new(),
        names => format!(" The scales are {}.", names.join(", ")),
    };
    let remedy = "'sweep run' measures them";
    Err(Incomplete(format!("none of {} has a result: {remedy}.{scales}", counted(cells, "cell"))).into())
}

/// Notes how many cells are missing, if any.
pub fn say_missing(missing: usize, cells: usize, name: &str) {
    if missing > 0 {
        progress::note(&format!("{name}: {missing} of {} have no result yet", counted(cells, "cell")));
    }
}
