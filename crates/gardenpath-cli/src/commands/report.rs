//! `gardenpath report`: one page with the results of experiments.

use super::Answer;
use super::sweep::say_missing;
use crate::progress;
use anyhow::{Context, Result};
use clap::Args;
use gardenpath_lab::analysis;
use gardenpath_lab::draw::table::counted;
use gardenpath_lab::experiment::{Experiment, Scale, Source};
use gardenpath_lab::files::atomic;
use gardenpath_lab::outcome::Incomplete;
use gardenpath_lab::report::entry::{Entry, Missing, Report, State, Subject};
use gardenpath_lab::report::{finding, html};
use gardenpath_lab::store::Store;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The arguments of `report`.
#[derive(Args, Debug)]
#[command(after_help = "\
Writes one HTML file with the expectation, the panels and the claims with their verdicts of each experiment, from the results in the store. \
It measures nothing, and the same results give the same bytes. The exit code is 1 if there are no results at all.

Examples:
  gardenpath report my.toml --store results -o report.html
  gardenpath report cnn inn transformer --store results --scale full -o networks.html")]
pub struct Arguments {
    /// Experiments: files (.toml) or names of built-in ones
    #[arg(required = true, value_name = "EXPERIMENT")]
    experiments: Vec<PathBuf>,
    /// Directory of the results
    #[arg(long, value_name = "DIR")]
    store: PathBuf,
    /// Scale of the experiments [default: quick, or the only one]
    #[arg(long, value_name = "NAME")]
    scale: Option<Scale>,
    /// Where to write the page (.html)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    atomic::check_name(&arguments.output, "html")?;
    let mut experiments = Vec::new();
    for argument in &arguments.experiments {
        let source = Source::find(argument)?;
        experiments.push((source.read()?, source));
    }
    // --scale applies to the experiments that have scales; if none has, it is an error.
    let any = experiments.iter().any(|(experiment, _)| !experiment.scale_names().is_empty());
    let store = Store::existing(&arguments.store)?;
    let mut entries: Vec<Entry> = Vec::new();
    for (number, (experiment, source)) in experiments.iter().enumerate() {
        let asked = arguments.scale.as_ref().filter(|_| !any || !experiment.scale_names().is_empty());
        let scale = experiment.scale(asked).with_context(|| source.name())?;
        let mut entry = entry(experiment, source, &scale, &store, &arguments.store)?;
        // Files in different directories can share a name, but anchors within the page must be unique.
        let same = experiments[..number].iter().filter(|(_, other)| other.name() == source.name()).count();
        if same > 0 {
            entry.name += &format!("-{}", same + 1);
        }
        entries.push(entry);
    }
    if entries.iter().all(|entry| entry.cells.0 == 0) {
        return Err(Incomplete("no experiment has a result; 'sweep run' measures them".into()).into());
    }
    let scale = arguments.scale.as_ref().map_or("the default of each experiment", Scale::name).to_owned();
    let report = Report {
        subject: Subject::Experiments,
        entries,
        scale,
        started_text: None,
        total_seconds: 0.0,
        version: env!("CARGO_PKG_VERSION"),
        formats: Vec::new(),
        missing: Missing::default(),
    };
    atomic::write(&arguments.output, html::html(&report).as_bytes())?;
    let claims = report.entries.iter().map(|entry| entry.findings.len()).sum::<usize>();
    if answer.json {
        let (output, experiments) = (&arguments.output, report.entries.len());
        return answer.json_line(&json!({"output": output, "experiments": experiments, "judged": claims}));
    }
    let (experiments, claims) = (counted(report.entries.len(), "experiment"), counted(claims, "claim"));
    answer.text(&format!("{experiments} with {claims} in {}\n", arguments.output.display()))
}

/// The caption of a figure whose experiment has none.
const CAPTION: &str = "Means over seeds with one standard error on each side; estimates of fits with 95% intervals.";

/// The section of one experiment.
fn entry(experiment: &Experiment, source: &Source, scale: &Scale, store: &Store, directory: &Path) -> Result<Entry> {
    let cells = experiment.cells(scale)?;
    let loaded = analysis::load(&cells, store)?;
    loaded.damaged.iter().for_each(|text| progress::note(text));
    say_missing(loaded.missing, cells.len(), &source.name());
    let option = if experiment.scale_names().is_empty() { String::new() } else { format!(" --scale {}", scale.name()) };
    let argument = match source {
        Source::File(path) => path.display().to_string(),
        Source::BuiltIn(name) => (*name).to_owned(),
    };
    let mut entry = Entry {
        name: source.name(),
        title: experiment.title.clone().unwrap_or_else(|| source.name()),
        paper: experiment.expects.trim().to_owned(),
        caption: experiment.caption.clone().unwrap_or_else(|| CAPTION.to_owned()),
        figure: None,
        findings: Vec::new(),
        seconds: cells.iter().filter_map(|cell| store.seconds(cell)).sum(),
        cells: (loaded.table.len(), 0, cells.len()),
        missing: Missing::default(),
        command: format!("gardenpath sweep run {argument} --store {}{option}", directory.display()),
        state: State::Waiting,
    };
    if loaded.table.is_empty() {
        return Ok(entry);
    }
    let outstanding = loaded.outstanding.with_larger_sizes(experiment, scale)?;
    let analysis = analysis::analyse(&experiment.plan, &loaded.table, &outstanding).with_context(|| source.name())?;
    entry.figure = (!experiment.plan.panels.is_empty()).then(|| analysis.figure.svg());
    entry.findings = finding::of_claims(&analysis.claims);
    entry.caption += &finding::cut_off(&loaded.table);
    entry.state = State::Done;
    Ok(entry)
}
