//! Makes the report: measures what is missing, draws, judges, and updates the page after each chapter.

use super::entry::{Entry, Report, State, Subject};
use super::{Chapter, html};
use crate::analysis::{self, Loaded};
use crate::experiment::Scale;
use crate::files::atomic::write;
use crate::measure::Measure;
use crate::outcome::Interrupted;
use crate::store::Store;
use crate::sweep::{self, Event};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// PNG files are for high-resolution screens; papers use the PDF.
const PNG_SCALE: f64 = 2.0;

/// A report being made in a directory.
pub struct Press {
    directory: PathBuf,
    store: Store,
    scale: Scale,
    chapters: Vec<Chapter>,
    report: Report,
    start: Instant,
}

impl Press {
    /// A report of these chapters in a directory, which keeps the results of earlier runs.
    pub fn new(directory: &Path, chapters: Vec<Chapter>, scale: Scale) -> Result<Self> {
        let figures = directory.join("figures");
        fs::create_dir_all(&figures).with_context(|| format!("{}: cannot create the directory", figures.display()))?;
        let entries = chapters.iter().map(waiting).collect();
        let report = Report {
            subject: Subject::Paper,
            entries,
            scale: scale.name().to_owned(),
            started_text: None,
            total_seconds: 0.0,
            version: env!("CARGO_PKG_VERSION"),
        };
        let store = Store::open(&directory.join("store"))?;
        let press = Press { directory: directory.to_owned(), store, scale, chapters, report, start: Instant::now() };
        press.print()?;
        Ok(press)
    }

    /// The number of chapters.
    pub fn len(&self) -> usize {
        self.chapters.len()
    }

    /// Whether there are no chapters.
    pub fn is_empty(&self) -> bool {
        self.chapters.is_empty()
    }

    /// The report so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The cells of a chapter.
    pub fn cells(&self, number: usize) -> Result<Vec<Measure>> {
        self.chapters[number].cells(&self.scale)
    }

    /// The message on interruption: how much of the report is measured.
    pub fn last_word(&self) -> impl FnOnce() -> Interrupted + Send + use<> {
        let cells: Vec<Measure> =
            self.chapters.iter().flat_map(|chapter| chapter.cells(&self.scale).unwrap_or_default()).collect();
        let store = self.store.clone();
        move || sweep::interrupted(&cells, &store)
    }

    /// Measures the missing cells of a chapter, then draws and judges it. `progress` is called for each cell.
    pub fn chapter(&mut self, number: usize, progress: &mut dyn FnMut(&Event<'_>)) -> Result<&Entry> {
        self.report.entries[number].state = State::Running;
        self.print()?;
        let cells = self.cells(number)?;
        let mut report = |event: Event<'_>| {
            progress(&event);
            Ok(())
        };
        sweep::run(&longest_first(&cells), &self.store, rayon::current_num_threads(), &mut report)?;
        let drawing = Instant::now();
        let drawn = self.draw(number, &cells);
        let entry = &mut self.report.entries[number];
        entry.state = match drawn {
            Ok(()) => State::Done,
            Err(error) => State::Failed(format!("{error:#}")),
        };
        let seconds: f64 = cells.iter().filter_map(|cell| self.store.seconds(cell)).sum();
        entry.seconds = seconds + drawing.elapsed().as_secs_f64();
        self.print()?;
        Ok(&self.report.entries[number])
    }

    fn draw(&mut self, number: usize, cells: &[Measure]) -> Result<()> {
        let Loaded { table, missing, .. } = analysis::load(cells, &self.store)?;
        let entry = &mut self.report.entries[number];
        entry.cells = (table.len(), missing, cells.len());
        let page = self.chapters[number].draw(&table)?;
        let svg = page.figure.svg();
        (entry.caption, entry.findings, entry.figure) = (page.caption, page.findings, Some(svg.clone()));
        let path = |kind: &str| self.directory.join("figures").join(&self.chapters[number].name).with_extension(kind);
        // A figure that has not changed is not rendered again.
        let same = fs::read(path("svg")).is_ok_and(|old| old == svg.as_bytes());
        if !(same && path("png").exists() && path("pdf").exists()) {
            write(&path("png"), &page.figure.png(PNG_SCALE)?)?;
            write(&path("pdf"), &page.figure.pdf()?)?;
            write(&path("svg"), svg.as_bytes())?;
        }
        Ok(())
    }

    /// The path of the page.
    pub fn page(&self) -> PathBuf {
        self.directory.join("report.html")
    }

    fn print(&self) -> Result<()> {
        let report = Report { total_seconds: self.start.elapsed().as_secs_f64(), ..self.report.clone() };
        write(&self.page(), html::html(&report).as_bytes())
    }

    /// Finishes the report and records the time it took.
    pub fn finish(mut self) -> Result<Report> {
        self.report.total_seconds = self.start.elapsed().as_secs_f64();
        self.print()?;
        Ok(self.report)
    }
}

/// Long cells first: whoever finishes last has only a short one left, and no core waits long for the next chapter.
fn longest_first(cells: &[Measure]) -> Vec<&Measure> {
    let mut order: Vec<&Measure> = cells.iter().collect();
    order.sort_by(|a, b| b.work().total_cmp(&a.work()));
    order
}

fn waiting(chapter: &Chapter) -> Entry {
    Entry {
        name: chapter.name.clone(),
        title: chapter.title.clone(),
        paper: chapter.paper.clone(),
        caption: String::new(),
        figure: None,
        findings: Vec::new(),
        seconds: 0.0,
        cells: (0, 0, 0),
        command: format!("gardenpath reproduce {} --scale full", chapter.name),
        state: State::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn no_cell_takes_longer_than_the_one_before() {
        let text = "measure = 'entropy'\nexpects = ''\n[[grid]]\nvocab = 4\ndepth = [1, 3, 2]\nfraction = 1\nsentences = [10, 1000]\nseed = 1";
        let cells = Experiment::parse(text).unwrap().cells(&Scale::QUICK).unwrap();
        let order = longest_first(&cells);
        assert_eq!(order.len(), 6);
        assert!(order.is_sorted_by(|a, b| a.work() >= b.work()));
        assert!(order[0].work() > order[5].work(), "the cells differ");
        assert!(cells.iter().all(|cell| order.contains(&cell)));
    }
}
