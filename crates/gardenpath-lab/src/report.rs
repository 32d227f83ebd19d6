//! The report: every figure of the paper from recorded results, with what the paper says and what was measured.

pub mod entry;
mod exact;
pub mod html;
mod measured;
mod networks;
mod ours;
pub mod press;
pub mod summary;

use crate::figure::Figure;
use crate::record::Records;
use anyhow::Result;
use serde::Serialize;

/// All chapters, the quickest first.
pub fn chapters() -> Vec<&'static Chapter> {
    [exact::CHAPTERS, measured::CHAPTERS, networks::CHAPTERS, ours::CHAPTERS].into_iter().flatten().collect()
}

/// One figure of the report.
pub struct Chapter {
    /// Its name on the command line and in files: the label of the figure in the paper, if it has one there.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What the paper says or shows.
    pub paper: &'static str,
    /// The experiments whose results it needs, by their names.
    pub experiments: &'static [&'static str],
    /// Draws it from those results, and judges what they show.
    pub draw: fn(&Records) -> Result<Page>,
}

/// A figure with what it shows.
pub struct Page {
    /// The figure.
    pub figure: Figure,
    /// What the figure shows, for somebody who has not read the paper: one to three sentences.
    pub caption: String,
    /// The claims that were checked.
    pub findings: Vec<Finding>,
}

/// A claim, and what was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The claim, in one line.
    pub claim: String,
    /// The numbers that were measured, in one line.
    #[serde(rename = "result")]
    pub measured: String,
    /// Whether they agree.
    pub verdict: Verdict,
}

impl Finding {
    /// A finding.
    pub fn new(claim: impl Into<String>, measured: impl Into<String>, verdict: Verdict) -> Self {
        Finding { claim: claim.into(), measured: measured.into(), verdict }
    }

    /// A finding that agrees if a condition holds, and differs otherwise.
    pub fn check(claim: impl Into<String>, measured: impl Into<String>, holds: bool) -> Self {
        Finding::new(claim, measured, if holds { Verdict::Agrees } else { Verdict::Differs })
    }
}

/// How a claim and the measurement compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The measurement has what the claim says.
    Agrees,
    /// The measurement has something else.
    Differs,
    /// The paper errs here, and the measurement agrees with the corrected claim.
    Corrected,
    /// The sizes of this run are too small to tell.
    TooSmall,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// A report is made while results arrive: chapters must bear with none.
    #[test]
    fn every_chapter_draws_without_results() {
        for chapter in chapters() {
            let page = (chapter.draw)(&Records::default()).unwrap();
            assert!(page.figure.svg().len() > 500, "{}", chapter.name);
            assert!(!page.caption.is_empty() && !page.findings.is_empty(), "{}", chapter.name);
            let judged = page.findings.iter().any(|finding| finding.verdict != Verdict::TooSmall);
            assert_eq!(
                judged,
                chapter.experiments.is_empty(),
                "{}: nothing can be judged without results",
                chapter.name
            );
        }
    }

    #[test]
    fn names_are_distinct_and_good_for_files() {
        let names: HashSet<&str> = chapters().iter().map(|chapter| chapter.name).collect();
        assert_eq!(names.len(), chapters().len());
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(names.iter().all(|name| name.chars().all(good)));
    }
}
