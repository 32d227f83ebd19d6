//! Chapters that need no measurements: what theory and exact parsing say about the ensemble and its trees.

mod ambiguity;
mod bifurcation;
mod inside_chart;
mod lengths;
mod origins;
mod ratio;
mod sketch;
mod sparsity;
mod splits;
mod topologies;
mod tree_numbers;

use super::Chapter;
use crate::fit::Line;

/// The chapters, in the order of the paper.
pub const CHAPTERS: &[Chapter] = &[
    ambiguity::CHAPTER,
    inside_chart::CHAPTER,
    lengths::TRANSLATION,
    lengths::SCALING,
    sparsity::CHAPTER,
    topologies::CHAPTER,
    splits::SKETCH,
    splits::MEDIANS,
    tree_numbers::CHAPTER,
    bifurcation::CHAPTER,
];

/// The probability of two children, as in all numbers of the paper, and the mean number of children that follows.
const P_BINARY: f64 = 0.5;
const BRANCHING: f64 = 2.5;

/// The slope of the straight line that is closest to the points.
fn slope(points: &[(f64, f64)]) -> f64 {
    Line::through(points).map_or(f64::NAN, |line| line.slope)
}

/// Numbers in one line, with so many decimals.
fn listed(numbers: impl IntoIterator<Item = f64>, decimals: usize) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|number| format!("{number:.decimals$}")).collect();
    numbers.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Records;
    use crate::report::{Page, Verdict};

    /// The page of a chapter.
    pub(super) fn drawn(name: &str) -> Page {
        let chapter = CHAPTERS.iter().find(|chapter| chapter.name == name).unwrap();
        (chapter.draw)(&Records::default()).unwrap()
    }

    #[test]
    fn every_chapter_draws_and_its_findings_hold() {
        for chapter in CHAPTERS {
            let page = drawn(chapter.name);
            assert!(chapter.experiments.is_empty());
            assert!(page.figure.png(1.0).unwrap().starts_with(b"\x89PNG"), "{}", chapter.name);
            assert!(!page.caption.is_empty() && !page.findings.is_empty(), "{}", chapter.name);
            for finding in page.findings {
                let holds = matches!(finding.verdict, Verdict::Agrees | Verdict::Corrected);
                assert!(holds, "{}: {finding:?}", chapter.name);
                let numbers = finding.measured.contains(|c: char| c.is_ascii_digit());
                assert!(numbers && !finding.measured.contains("NaN"), "{}: {finding:?}", chapter.name);
            }
        }
    }

    #[test]
    fn the_same_pages_every_time() {
        // Those that search or count in maps.
        for name in ["ambiguity", "sketch_inside"] {
            let (once, again) = (drawn(name), drawn(name));
            assert_eq!(once.figure.svg(), again.figure.svg());
            assert_eq!((once.caption, once.findings), (again.caption, again.findings));
        }
    }

    #[test]
    fn names_are_the_labels_of_the_paper() {
        let names: Vec<&str> = CHAPTERS.iter().map(|chapter| chapter.name).collect();
        let first = ["ambiguity", "sketch_inside", "translation", "scaling_lengths", "sparsity_scaling"];
        let last = ["trees_L_2", "binary_ternary_splits", "median_splits", "Nt_depth", "f_bifurcation"];
        assert_eq!(names, [first, last].concat());
    }

    #[test]
    fn slopes_of_lines_and_of_scattered_points() {
        assert!((slope(&[(1.0, 5.0), (2.0, 3.0), (4.0, -1.0)]) + 2.0).abs() < 1e-12);
        assert_eq!(slope(&[(0.0, 0.0), (1.0, 3.0), (2.0, 0.0)]), 0.0);
        assert_eq!(listed([1.0, 0.25], 1), "1.0, 0.2");
    }
}
