//! `gardenpath reproduce`: every figure of the paper, measured anew, in one report.

use super::Answer;
use crate::experiment::Scale;
use crate::progress;
use crate::report::entry::State;
use crate::report::press::Press;
use crate::report::{Chapter, chapters, summary};
use crate::sweep::Event;
use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// The arguments of `reproduce`.
#[derive(Args, Debug)]
#[command(after_help = "\
Measures what is missing, and writes figures (SVG, PDF, PNG) and one HTML page: what the paper says, what was measured, and a \
verdict. Interrupted at any moment and started again, it goes on where it was; with nothing missing it takes seconds.

Examples:
  gardenpath reproduce
  gardenpath reproduce transition clustering --scale full -o full
  gardenpath reproduce --list")]
pub struct Arguments {
    /// Names of figures [default: all]
    figures: Vec<String>,
    /// How large the experiments are
    #[arg(long, value_enum, default_value = "quick")]
    scale: Scale,
    /// Directory of the report and of all results
    #[arg(short, long, alias = "out", default_value = "reproduction", value_name = "DIR")]
    output: PathBuf,
    /// Only list the names of all figures
    #[arg(long, conflicts_with_all = ["figures", "scale", "output"])]
    list: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    if arguments.list {
        return list(answer);
    }
    let mut press = Press::new(&arguments.output, selected(&arguments.figures)?, arguments.scale)?;
    progress::note(&format!("the report grows in {}", press.page().display()));
    for number in 0..press.len() {
        let bar = progress::bar(press.cells(number)?.len() as u64, press.report().entries[number].name);
        let mut watch = |event: &Event<'_>| {
            match event {
                Event::Damaged(_, text) => {
                    return bar.suspend(|| progress::note(&format!("{text}; it is measured again")));
                }
                Event::Failed(_, error) => bar.suspend(|| progress::note(&format!("a cell failed: {error}"))),
                Event::Found(_) | Event::Done(_) => {}
            }
            bar.inc(1);
        };
        let entry = press.chapter(number, &mut watch)?;
        bar.finish_and_clear();
        if answer.json {
            let (name, findings, seconds) = (entry.name, &entry.findings, entry.seconds);
            let failed = if let State::Failed(error) = &entry.state { Some(error) } else { None };
            answer.json_line(&json!({"figure": name, "findings": findings, "seconds": seconds, "error": failed}))?;
        } else {
            answer.text(&(summary::line(entry) + "\n"))?;
        }
        answer.out.flush()?;
    }
    let page = press.page();
    let report = press.finish()?;
    if !answer.json {
        answer.text(&format!("\n{}\n{}\n", summary::table(&report), page.display()))?;
    }
    let failed = report.entries.iter().filter(|entry| matches!(entry.state, State::Failed(_))).count();
    if failed > 0 {
        bail!("{failed} figures could not be made");
    }
    Ok(())
}

fn list(answer: &mut Answer) -> Result<()> {
    let all = chapters();
    if answer.json {
        let named = |chapter: &&Chapter| json!({"figure": chapter.name, "title": chapter.title});
        return all.iter().try_for_each(|chapter| answer.json_line(&named(chapter)));
    }
    let width = all.iter().map(|chapter| chapter.name.len()).max().unwrap_or(0);
    all.iter().try_for_each(|chapter| answer.text(&format!("{:width$}  {}\n", chapter.name, chapter.title)))
}

/// The chapters of these names, in the order of the report.
fn selected(names: &[String]) -> Result<Vec<&'static Chapter>> {
    let all = chapters();
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|chapter| chapter.name != name.as_str())) {
        let known: Vec<&str> = all.iter().map(|chapter| chapter.name).collect();
        bail!("there is no figure {unknown}, expected one of {}", known.join(", "));
    }
    let wanted = |chapter: &&Chapter| names.is_empty() || names.iter().any(|name| name == chapter.name);
    Ok(all.into_iter().filter(wanted).collect())
}
