//! The report: every figure of the paper, with the paper's claims and our measurements.
//!
//! Most chapters are [experiments](crate::experiment): files that define what is measured, fitted, claimed and drawn.
//! Drawings other than plots are code (`drawings`).

mod drawings;
pub mod entry;
pub mod finding;
pub mod html;
pub mod press;
pub mod summary;

pub use drawings::{Page, Picture};
pub use finding::Finding;

use crate::analysis::{self, Analysis, Outstanding};
use crate::experiment::{Experiment, Scale, built_in};
use crate::measure::Measure;
use crate::table::Table;
use anyhow::Result;

/// The chapters, quickest first: drawings, theory, then measurements.
const CONTENTS: &[Content] = &[
    Content::Picture(&drawings::AMBIGUITY),
    Content::Picture(&drawings::INSIDE_CHART),
    Content::Picture(&drawings::ALGORITHM),
    Content::Picture(&drawings::DIAGRAMS),
    Content::Picture(&drawings::DILATED),
    Content::Picture(&drawings::CONNECTIVITY),
    Content::File("translation"),
    Content::File("scaling"),
    Content::File("sparsity"),
    Content::Picture(&drawings::TOPOLOGIES),
    Content::Picture(&drawings::SPLITS),
    Content::File("splits"),
    Content::File("tree-numbers"),
    Content::File("bifurcation"),
    Content::File("topologies"),
    Content::File("inference"),
    Content::File("candidates"),
    Content::File("vectors"),
    Content::File("prediction"),
    Content::File("snr"),
    Content::File("transition"),
    Content::File("purity"),
    Content::File("cnn"),
    Content::File("signal"),
    Content::File("cnn-quarter"),
    Content::File("cnn-ambiguous"),
    Content::File("rules"),
    Content::File("architectures"),
    Content::File("levels"),
    Content::File("width"),
    Content::File("learners"),
    Content::File("probes"),
    Content::Picture(&drawings::READING),
    Content::File("floors"),
    Content::File("unlabelled"),
    Content::File("next-token"),
    Content::File("masked"),
];

#[derive(Clone, Copy)]
enum Content {
    Picture(&'static Picture),
    /// The built-in experiment with this name.
    File(&'static str),
}

/// One figure of the report.
#[derive(Clone)]
pub struct Chapter {
    /// Its name on the command line and in files: the paper's label of the figure, if it has one.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What the paper says or shows.
    pub paper: String,
    source: Source,
}

/// The source of a chapter.
#[derive(Clone)]
enum Source {
    Picture(&'static Picture),
    /// A built-in experiment and its name.
    Experiment(Box<Experiment>, &'static str),
}

/// All chapters, the quickest first.
pub fn chapters() -> Result<Vec<Chapter>> {
    CONTENTS.iter().map(Chapter::new).collect()
}

impl Chapter {
    fn new(content: &Content) -> Result<Self> {
        Ok(match content {
            Content::Picture(drawing) => Chapter {
                name: drawing.name.into(),
                title: drawing.title.into(),
                paper: drawing.paper.into(),
                source: Source::Picture(drawing),
            },
            Content::File(file) => {
                let experiment = built_in::find(file)?;
                Chapter {
                    name: experiment.figure.clone().unwrap_or_else(|| (*file).to_owned()),
                    title: experiment.title.clone().unwrap_or_else(|| (*file).to_owned()),
                    paper: experiment.expects.clone(),
                    source: Source::Experiment(Box::new(experiment), file),
                }
            }
        })
    }

    /// The name of its experiment; `None` for drawings.
    pub fn experiment(&self) -> Option<&'static str> {
        match self.source {
            Source::Picture(_) => None,
            Source::Experiment(_, name) => Some(name),
        }
    }

    /// The cells that it needs.
    pub fn cells(&self, scale: &Scale) -> Result<Vec<Measure>> {
        match &self.source {
            Source::Picture(_) => Ok(Vec::new()),
            Source::Experiment(experiment, _) => experiment.cells(scale),
        }
    }

    /// Draws it from results of a scale, and judges its claims.
    pub fn draw(&self, table: &Table, outstanding: Outstanding, scale: &Scale) -> Result<Page> {
        let experiment = match &self.source {
            Source::Picture(drawing) => return (drawing.draw)(),
            Source::Experiment(experiment, _) => experiment,
        };
        let outstanding = outstanding.with_larger_sizes(experiment, scale)?;
        let Analysis { figure, claims } = analysis::analyse(&experiment.plan, table, &outstanding)?;
        let caption = experiment.caption.clone().unwrap_or_default() + &finding::cut_off(table);
        Ok(Page { figure, caption, findings: finding::of_claims(&claims) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::Verdict;
    use std::collections::HashSet;

    /// The experiments of chapters, by name.
    fn experiments(chapters: &[Chapter]) -> Vec<(&'static str, &Experiment)> {
        fn experiment(chapter: &Chapter) -> Option<(&'static str, &Experiment)> {
            match &chapter.source {
                Source::Picture(_) => None,
                Source::Experiment(experiment, name) => Some((*name, &**experiment)),
            }
        }
        chapters.iter().filter_map(experiment).collect()
    }

    /// The report is written while results arrive, so chapters must cope with none.
    #[test]
    fn every_chapter_draws_without_results() {
        for chapter in chapters().unwrap() {
            let page = chapter.draw(&Table::default(), Outstanding::default(), &Scale::QUICK).unwrap();
            assert!(page.figure.svg().len() > 500, "{}", chapter.name);
            assert!(!page.caption.is_empty() && !page.findings.is_empty(), "{}", chapter.name);
            let judged = page.findings.iter().any(|finding| finding.verdict != Verdict::Inconclusive);
            let is_picture = matches!(chapter.source, Source::Picture(_));
            assert_eq!(judged, is_picture, "{}: nothing can be judged without results", chapter.name);
        }
    }

    #[test]
    fn names_are_distinct_and_good_for_files() {
        let chapters = chapters().unwrap();
        let names: HashSet<&str> = chapters.iter().map(|chapter| chapter.name.as_str()).collect();
        assert_eq!(names.len(), chapters.len());
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(names.iter().all(|name| name.chars().all(good)));
    }

    #[test]
    fn every_built_in_experiment_has_a_use() {
        let chapters = chapters().unwrap();
        for name in built_in::names() {
            let experiments = experiments(&chapters);
            let own = experiments.iter().any(|(own, _)| *own == name);
            let used = experiments.iter().flat_map(|(_, experiment)| experiment.used()).any(|used| used == name);
            assert!(own || used, "{name} is used by no chapter");
        }
    }

    #[test]
    fn claims_that_say_the_same_name_one_that_exists() {
        let mut claims = HashSet::new();
        let chapters = chapters().unwrap();
        for (name, experiment) in experiments(&chapters) {
            claims.extend(experiment.plan.claims.iter().map(|claim| format!("{name}/{}", claim.id)));
        }
        for (_, experiment) in experiments(&chapters) {
            for claim in &experiment.plan.claims {
                assert!(claim.same_as.as_ref().is_none_or(|other| claims.contains(other)), "{:?}", claim.same_as);
            }
        }
    }
}
