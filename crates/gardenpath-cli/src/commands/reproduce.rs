//! `gardenpath reproduce`: measures every figure of the paper and writes one report.

mod dry_run;

use super::Answer;
use crate::cli::choice;
use crate::progress;
use crate::signals::interruptible;
use anyhow::{Context, Result, bail};
use clap::Args;
use gardenpath_lab::choice::Choice;
use gardenpath_lab::experiment::{Scale, built_in};
use gardenpath_lab::outcome::Incomplete;
use gardenpath_lab::report::entry::{Entry, Format, Report, State};
use gardenpath_lab::report::press::{Press, Settings};
use gardenpath_lab::report::{Chapter, chapters, summary};
use gardenpath_lab::store::Store;
use gardenpath_lab::sweep::Event;
use serde_json::json;
use std::path::PathBuf;

/// The arguments of `reproduce`.
#[derive(Args, Debug)]
#[command(after_help = "\
Measures missing results, and writes figures (SVG, PDF, PNG) and one HTML page: what the paper says, what was measured, and a \
verdict. Interrupted and started again, it resumes where it stopped; with nothing missing it takes seconds.

Scale day takes days of training. Its results are recorded in the directory 'results' of the repository: in a clone it draws them, and says what \
is not measured yet. With --store it measures them anew.

Examples:
  gardenpath reproduce
  gardenpath reproduce --scale day
  gardenpath reproduce width rules --scale day --missing measure
  gardenpath reproduce transition clustering --scale full -o full
  gardenpath reproduce --scale full --dry-run
  gardenpath reproduce --list")]
pub struct Arguments {
    /// Names of figures [default: all]
    figures: Vec<String>,
    /// Size of the experiments: quick, day or full
    #[arg(long, value_name = "NAME", default_value = "quick")]
    scale: Scale,
    /// Directory of the report
    #[arg(short, long, alias = "out", default_value = "reproduction", value_name = "DIR")]
    output: PathBuf,
    /// Store of results [default: store in the directory of the report; results at scale day]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// What to do about missing results [default: measure; skip at scale day without --store]
    #[arg(long, value_name = "WHAT", value_parser = choice::<OnMissing>())]
    missing: Option<OnMissing>,
    /// Files of each figure beside the page
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = choice::<Format>(), default_values = ["svg", "pdf", "png"])]
    formats: Vec<Format>,
    /// Write only the page, which contains all figures
    #[arg(long, conflicts_with = "formats")]
    page_only: bool,
    /// Only estimate the cost of missing results: times tiny cells and writes nothing
    #[arg(long, conflicts_with_all = ["list", "missing", "formats", "page_only"])]
    dry_run: bool,
    /// Only list the names of all figures
    #[arg(long, conflicts_with_all = ["figures", "scale", "output", "store", "missing", "formats", "page_only"])]
    list: bool,
}

/// What to do about cells that have no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnMissing {
    Measure,
    Skip,
}

impl Choice for OnMissing {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (OnMissing::Measure, "measure", "Measure them, whatever it takes"),
        (OnMissing::Skip, "skip", "Draw what there is, and say what is missing"),
    ];
}

/// The store of recorded results, in a clone of the repository.
const RECORDED: &str = "results";

impl Arguments {
    /// The recorded results, unless another store or scale is asked for.
    fn is_recorded(&self) -> bool {
        self.store.is_none() && self.scale == Scale::DAY
    }

    fn store(&self) -> PathBuf {
        match &self.store {
            Some(store) => store.clone(),
            None if self.is_recorded() => RECORDED.into(),
            None => self.output.join("store"),
        }
    }

    fn settings(&self) -> Result<Settings> {
        let usual = if self.is_recorded() { OnMissing::Skip } else { OnMissing::Measure };
        let (store, measures) = (self.store(), self.missing.unwrap_or(usual) == OnMissing::Measure);
        if self.is_recorded() && Store::existing(&store).is_err() {
            bail!(
                "scale day is drawn from the results that the repository records, and there is no store {RECORDED} here; \
                 --store DIR measures them, --dry-run says what that costs"
            );
        }
        let formats = if self.page_only { Vec::new() } else { self.formats.clone() };
        Ok(Settings { store, measures, formats })
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    if arguments.list {
        return list(answer);
    }
    let (chapters, scale) = (selected(&arguments.figures)?, &arguments.scale);
    check_scale(&chapters, scale)?;
    if arguments.dry_run {
        return dry_run::run(&arguments.store(), &chapters, scale, answer);
    }
    let mut press = Press::new(&arguments.output, chapters, scale.clone(), arguments.settings()?)?;
    progress::note(&format!("writing the report to {}", press.page().display()));
    interruptible(press.last_word(), || measure(&mut press, answer))?;
    let page = press.page();
    let report = press.finish()?;
    if !answer.json {
        answer.text(&format!("\n{}\n{}\n", summary::table(&report), page.display()))?;
    }
    if let Some(words) = report.missing.words() {
        progress::note(&format!("{words} (--missing measure)"));
    }
    complete(&report)
}

/// Produces one figure after another.
fn measure(press: &mut Press, answer: &mut Answer) -> Result<()> {
    for number in 0..press.len() {
        let bar = progress::bar(press.cells(number)?.len() as u64, &press.report().entries[number].name);
        let mut watch = |event: &Event<'_>| {
            match event {
                Event::Damaged(_, text) => {
                    return bar.suspend(|| progress::note(&format!("{text}; measuring it again")));
                }
                Event::Failed(_, error) => bar.suspend(|| progress::note(&format!("a cell failed: {error}"))),
                Event::Found(_) | Event::Done(_) => {}
            }
            bar.inc(1);
        };
        let entry = press.chapter(number, &mut watch)?;
        bar.finish_and_clear();
        if answer.json {
            let (name, findings, seconds) = (&entry.name, &entry.findings, entry.seconds);
            let failed = if let State::Failed(error) = &entry.state { Some(error) } else { None };
            let (done, missing) = (entry.cells.0, entry.missing);
            answer.json_line(&json!({
                "figure": name, "findings": findings, "seconds": seconds, "cells": entry.cells.2, "done": done,
                "missing": missing.cells, "missing_core_hours": missing.core_hours, "error": failed,
            }))?;
        } else {
            answer.text(&(summary::line(entry) + "\n"))?;
        }
        answer.out.flush()?;
    }
    Ok(())
}

/// Returns an error if figures could not be made, because of failed cells or anything else.
fn complete(report: &Report) -> Result<()> {
    let failed: Vec<&Entry> = report.entries.iter().filter(|entry| matches!(entry.state, State::Failed(_))).collect();
    let (count, names) = (failed.len(), failed.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(", "));
    let cells: usize = failed.iter().map(|entry| entry.cells.1).sum();
    match (count, cells) {
        (0, _) => Ok(()),
        (_, 0) => bail!("{count} figures could not be made: {names}"),
        _ => Err(Incomplete(format!("{count} figures could not be made: {names}; {cells} cells failed")).into()),
    }
}

fn list(answer: &mut Answer) -> Result<()> {
    let all = chapters()?;
    if answer.json {
        let named = |chapter: &Chapter| json!({"figure": chapter.name, "title": chapter.title});
        return all.iter().try_for_each(|chapter| answer.json_line(&named(chapter)));
    }
    let width = all.iter().map(|chapter| chapter.name.len()).max().unwrap_or(0);
    all.iter().try_for_each(|chapter| answer.text(&format!("{:width$}  {}\n", chapter.name, chapter.title)))
}

/// Refuses, before writing anything, a scale that some experiment does not have.
fn check_scale(chapters: &[Chapter], scale: &Scale) -> Result<()> {
    // Figures without scales accept any, but a name that no experiment has is an error.
    built_in::find("transition")?.cells(scale)?;
    for chapter in chapters {
        chapter.cells(scale).with_context(|| chapter.name.clone())?;
    }
    Ok(())
}

/// The chapters with these names, of figures or of experiments, in report order.
fn selected(names: &[String]) -> Result<Vec<Chapter>> {
    let all = chapters()?;
    let is_named = |chapter: &Chapter, name: &String| chapter.name == *name || chapter.experiment() == Some(name);
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|chapter| is_named(chapter, name))) {
        let known: Vec<&str> = all.iter().map(|chapter| chapter.name.as_str()).collect();
        bail!("unknown figure {unknown}, expected one of {}", known.join(", "));
    }
    let is_wanted = |chapter: &Chapter| names.is_empty() || names.iter().any(|name| is_named(chapter, name));
    Ok(all.into_iter().filter(is_wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath_lab::report::entry::{Missing, Subject};

    #[test]
    fn figures_have_the_names_of_their_experiments_too() {
        let names = |asked: &[&str]| -> Result<Vec<String>> {
            let asked: Vec<String> = asked.iter().map(|name| name.to_string()).collect();
            Ok(selected(&asked)?.into_iter().map(|chapter| chapter.name).collect())
        };
        assert_eq!(names(&["bifurcation", "cnn"]).unwrap(), ["f_bifurcation", "CNN_CNN-1"]);
        assert_eq!(names(&["cnn", "CNN_CNN-1"]).unwrap(), ["CNN_CNN-1"]);
        assert!(names(&["nothing"]).unwrap_err().to_string().starts_with("unknown figure nothing, expected one of"));
    }

    #[test]
    fn figures_without_cells_are_incomplete_and_others_are_errors() {
        let entry = |name: &str, failed, missing| Entry {
            name: name.to_owned(),
            title: String::new(),
            paper: String::new(),
            caption: String::new(),
            figure: None,
            findings: Vec::new(),
            seconds: 0.0,
            cells: (1, missing, 1 + missing),
            missing: Missing::default(),
            command: String::new(),
            state: if failed { State::Failed("no".into()) } else { State::Done },
        };
        let outcome = |entries| {
            complete(&Report {
                subject: Subject::Paper,
                entries,
                scale: "quick".into(),
                started_text: None,
                total_seconds: 0.0,
                version: "0",
                formats: Vec::new(),
                missing: Missing::default(),
            })
        };
        assert!(outcome(vec![entry("a", false, 0), entry("b", false, 3)]).is_ok());
        let error = outcome(vec![entry("a", true, 2), entry("b", true, 0), entry("c", false, 0)]).unwrap_err();
        assert!(error.is::<Incomplete>(), "{error}");
        assert_eq!(error.to_string(), "2 figures could not be made: a, b; 2 cells failed");
        let error = outcome(vec![entry("a", true, 0)]).unwrap_err();
        assert!(!error.is::<Incomplete>(), "{error}");
    }
}
