//! Chapters other than plots: sketches of the grammar, its trees and its charts, each with claims that are checked by
//! code.

mod algorithm;
mod ambiguity;
mod connectivity;
mod diagrams;
mod dilated;
mod inside_chart;
mod origins;
mod reading;
mod sketch;
mod splits;
mod topologies;

pub(super) use algorithm::ALGORITHM;
pub(super) use ambiguity::AMBIGUITY;
pub(super) use connectivity::CONNECTIVITY;
pub(super) use diagrams::DIAGRAMS;
pub(super) use dilated::DILATED;
pub(super) use inside_chart::INSIDE_CHART;
pub(super) use reading::READING;
pub(super) use splits::SPLITS;
pub(super) use topologies::TOPOLOGIES;

use super::Finding;
use anyhow::Result;
use gardenpath_plot::Figure;

/// A chapter that needs no measurements.
pub struct Picture {
    /// The label of the figure in the paper.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What the paper says or shows.
    pub paper: &'static str,
    /// Draws it, and checks its claims.
    pub draw: fn() -> Result<Page>,
}

/// A figure with its caption and findings.
pub struct Page {
    /// The figure.
    pub figure: Figure,
    /// A caption of one to three sentences for readers who have not read the paper.
    pub caption: String,
    /// The claims that were checked.
    pub findings: Vec<Finding>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Verdict;

    const ALL: [&Picture; 9] =
        [&ALGORITHM, &AMBIGUITY, &CONNECTIVITY, &DIAGRAMS, &DILATED, &INSIDE_CHART, &READING, &SPLITS, &TOPOLOGIES];

    #[test]
    fn every_drawing_draws_and_its_findings_hold() {
        for drawing in ALL {
            let page = (drawing.draw)().unwrap();
            assert!(page.figure.png(1.0).unwrap().starts_with(b"\x89PNG"), "{}", drawing.name);
            assert!(!page.caption.is_empty() && !page.findings.is_empty(), "{}", drawing.name);
            for finding in page.findings {
                assert_eq!(finding.verdict, Verdict::Agrees, "{}: {finding:?}", drawing.name);
                let measured = finding.measured.join(" ");
                let numbers = measured.contains(|c: char| c.is_ascii_digit());
                assert!(numbers && !measured.contains("NaN"), "{}: {finding:?}", drawing.name);
            }
        }
    }

    #[test]
    fn the_same_pages_every_time() {
        // The drawings that search, or count in maps.
        for drawing in [&AMBIGUITY, &INSIDE_CHART] {
            let [once, again] = [(drawing.draw)().unwrap(), (drawing.draw)().unwrap()];
            assert_eq!(once.figure.svg(), again.figure.svg());
            assert_eq!((once.caption, once.findings), (again.caption, again.findings));
        }
    }
}
