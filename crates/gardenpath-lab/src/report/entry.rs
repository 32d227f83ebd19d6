//! The state of a report: what its page and its table are made of while results arrive.

use super::{Finding, finding};
use crate::choice::choices;
use crate::draw::table::{counted, short};
use crate::fit::Verdict;

/// What a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// The figures of the paper, which are files beside the page.
    #[default]
    Paper,
    /// Experiments of somebody's own: the page is one file, and is the same whenever it is made of the same results.
    Experiments,
}

choices! {
    /// The kinds of files that a figure is kept in, besides being a part of the page.
    pub enum Format {
        Svg = "svg" => "For pages",
        Pdf = "pdf" => "For papers",
        Png = "png" => "For everything else",
    }
}

/// All figures of a report, those that are not there yet included.
#[derive(Clone, Debug)]
pub struct Report {
    /// What it is about.
    pub subject: Subject,
    /// In the order of the page.
    pub entries: Vec<Entry>,
    /// The sizes of the experiments, such as `quick` or `full`.
    pub scale: String,
    /// When it was started, if the page shall say so.
    pub started_text: Option<String>,
    /// How long it took so far.
    pub total_seconds: f64,
    /// The version of the program.
    pub version: &'static str,
    /// The files of each figure beside the page.
    pub formats: Vec<Format>,
    /// Cells that are not measured. Figures share cells: those of all figures can be more.
    pub missing: Missing,
}

impl Report {
    /// How many findings of all figures have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.entries.iter().map(|entry| entry.count(verdict)).sum()
    }

    /// How claims of each kind were judged, in one line.
    pub fn headline(&self) -> String {
        finding::headline(self.entries.iter().flat_map(|entry| &entry.findings))
    }

    /// How many figures are done.
    pub fn done(&self) -> usize {
        self.entries.iter().filter(|entry| entry.state == State::Done).count()
    }

    /// Whether there are figures that wait or run.
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
        let would =
            |cells: &str| format!("{cells} not measured; about {} core-hours would do it", short(self.core_hours));
        match self.cells {
            0 => None,
            1 => Some(would("1 cell is")),
            cells => Some(would(&format!("{} are", counted(cells, "cell")))),
        }
    }
}

/// One figure of a report.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name on the command line and in files, and its address within the page.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What the paper says or shows, or what somebody expects of an experiment of their own.
    pub paper: String,
    /// What the figure shows; empty as long as there is none.
    pub caption: String,
    /// The figure as SVG, if there is one.
    pub figure: Option<String>,
    /// The claims that were checked.
    pub findings: Vec<Finding>,
    /// The computing time of its cells.
    pub seconds: f64,
    /// How many of its cells have a result, how many failed, and how many there are.
    pub cells: (usize, usize, usize),
    /// Those that have no result and did not fail.
    pub missing: Missing,
    /// The command that makes it, at full scale if it is a figure of the paper.
    pub command: String,
    /// How far it is.
    pub state: State,
}

impl Entry {
    /// How many findings have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.findings.iter().filter(|finding| finding.verdict == verdict).count()
    }

    /// How many cells are done, in words.
    pub fn progress(&self) -> String {
        let (done, failed, total) = self.cells;
        let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
        format!("{done} of {total} {}{failed}", if total == 1 { "cell" } else { "cells" })
    }
}

/// How far a figure is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing was computed for it yet.
    Waiting,
    /// Some of its cells are being computed.
    Running,
    /// It is drawn and judged.
    Done,
    /// It could not be made, and why.
    Failed(String),
}
