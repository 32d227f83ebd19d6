//! The state of a report while results arrive.

use super::{Finding, finding};
use crate::choice::choices;
use crate::draw::table::{core_time, counted};
use crate::fit::Verdict;

/// The subject of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// The figures of the paper, stored as files next to the page.
    #[default]
    Paper,
    /// The user's own experiments: one file, reproducible from the same results.
    Experiments,
}

choices! {
    /// The formats in which figures are written beside the page.
    pub enum Format {
        Svg = "svg" => "For pages",
        Pdf = "pdf" => "For papers",
        Png = "png" => "For everything else",
    }
}

/// All figures of a report, including those still missing.
#[derive(Clone, Debug)]
pub struct Report {
    /// What it is about.
    pub subject: Subject,
    /// In page order.
    pub entries: Vec<Entry>,
    /// The scale of the experiments, such as `quick` or `full`.
    pub scale: String,
    /// When it was started, if the page should say so.
    pub started_text: Option<String>,
    /// The time taken so far.
    pub total_seconds: f64,
    /// The version of the program.
    pub version: &'static str,
    /// The files of each figure beside the page.
    pub formats: Vec<Format>,
    /// Cells that are not measured. Figures share cells: those of all figures can be more.
    pub missing: Missing,
}

impl Report {
    /// The number of findings with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.entries.iter().map(|entry| entry.count(verdict)).sum()
    }

    /// The verdicts by kind of claim, in one line.
    pub fn headline(&self) -> String {
        finding::headline(self.entries.iter().flat_map(|entry| &entry.findings))
    }

    /// The number of finished figures.
    pub fn done(&self) -> usize {
        self.entries.iter().filter(|entry| entry.state == State::Done).count()
    }

    /// Whether some figures are waiting or running.
    pub fn is_growing(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.state, State::Waiting | State::Running))
    }
}

/// Cells that are not measured, and what they would cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Missing {
    /// How many.
    pub cells: usize,
    /// About how many core-hours they take.
    pub core_hours: f64,
}

impl Missing {
    /// The same in words; none if nothing is missing.
    pub fn words(&self) -> Option<String> {
        let work = core_time(self.core_hours);
        match self.cells {
            0 => None,
            1 => Some(format!("1 cell is missing; measuring it takes about {work}")),
            cells => Some(format!("{} are missing; measuring them takes about {work}", counted(cells, "cell"))),
        }
    }
}

/// One figure of a report.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name on the command line and in files, and its anchor within the page.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What the paper says or shows, or what the user's experiment should show.
    pub paper: String,
    /// The caption; empty while there is no figure.
    pub caption: String,
    /// The figure as SVG, if there is one.
    pub figure: Option<String>,
    /// The claims that were checked.
    pub findings: Vec<Finding>,
    /// The compute time of its cells.
    pub seconds: f64,
    /// The numbers of cells with a result, of failed cells, and of all cells.
    pub cells: (usize, usize, usize),
    /// Cells without a result that did not fail.
    pub missing: Missing,
    /// The command that produces it, at full scale for figures of the paper.
    pub command: String,
    /// Its state.
    pub state: State,
}

impl Entry {
    /// The number of findings with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.findings.iter().filter(|finding| finding.verdict == verdict).count()
    }

    /// The number of finished cells, in words.
    pub fn progress(&self) -> String {
        let (done, failed, total) = self.cells;
        let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        format!("{done} of {total} {}{failed}", if total == 1 { "cell" } else { "cells" })
    }
}

/// The state of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing has been computed for it yet.
    Waiting,
    /// Some of its cells are being computed.
    Running,
    /// It is drawn and judged.
    Done,
    /// It could not be made, with the reason.
    Failed(String),
}
