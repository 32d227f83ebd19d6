//! Makes the report: measures what is missing, draws, judges, and updates the page after each chapter.

use super::entry::{Entry, Format, Missing, Report, State, Subject};
use super::{Chapter, html};
use crate::analysis::{self, Loaded};
use crate::choice::Choice;
use crate::experiment::Scale;
use crate::files::atomic::write;
use crate::measure::Measure;
use crate::outcome::Interrupted;
use crate::store::Store;
use crate::sweep::{self, Event};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// PNG files are for high-resolution screens; papers use the PDF.
const PNG_SCALE: f64 = 2.0;

/// How a report is made.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The store that results are read from and written to.
    pub store: PathBuf,
    /// Whether missing cells are measured. If not, figures show what there is and say what is missing.
    pub measures: bool,
    /// The files of each figure beside the page.
    pub formats: Vec<Format>,
}

/// A report being made in a directory.
pub struct Press {
    directory: PathBuf,
    store: Store,
    measures: bool,
    /// The core-hours of cells that are not measured, by their identities.
    missing: BTreeMap<String, f64>,
    scale: Scale,
    chapters: Vec<Chapter>,
    report: Report,
    start: Instant,
}

impl Press {
    /// A report of these chapters in a directory.
    pub fn new(directory: &Path, chapters: Vec<Chapter>, scale: Scale, settings: Settings) -> Result<Self> {
        let Settings { store, measures, formats } = settings;
        let store = if measures { Store::open(&store)? } else { Store::existing(&store)? };
        let deepest = if formats.is_empty() { directory.to_owned() } else { directory.join("figures") };
        fs::create_dir_all(&deepest).with_context(|| format!("{}: cannot create the directory", deepest.display()))?;
        let entries = chapters.iter().map(waiting).collect();
        let missing = BTreeMap::new();
        let report = Report {
            subject: Subject::Paper,
            entries,
            scale: scale.name().to_owned(),
            started_text: None,
            total_seconds: 0.0,
            version: env!("CARGO_PKG_VERSION"),
            formats,
            missing: Missing::default(),
        };
        let (directory, start) = (directory.to_owned(), Instant::now());
        let press = Press { directory, store, measures, missing, scale, chapters, report, start };
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

    /// Measures the missing cells of a chapter if the settings say so, then draws and judges it. `progress` is called for each cell.
    pub fn chapter(&mut self, number: usize, progress: &mut dyn FnMut(&Event<'_>)) -> Result<&Entry> {
        self.report.entries[number].state = State::Running;
        self.print()?;
        let cells = self.cells(number)?;
        let mut report = |event: Event<'_>| {
            progress(&event);
            Ok(())
        };
        if self.measures {
            sweep::run(&longest_first(&cells), &self.store, rayon::current_num_threads(), &mut report)?;
        }
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
        let Loaded { table, outstanding, .. } = analysis::load(cells, &self.store)?;
        let (mut failed, mut missing) = (0, Missing::default());
        for (number, core_hours) in outstanding.cells() {
            if self.measures && self.store.failure(&cells[number]).is_some() {
                failed += 1;
                continue;
            }
            missing = Missing { cells: missing.cells + 1, core_hours: missing.core_hours + core_hours };
            self.missing.insert(cells[number].identity(), core_hours);
        }
        self.report.missing = Missing { cells: self.missing.len(), core_hours: self.missing.values().sum() };
        let entry = &mut self.report.entries[number];
        (entry.cells, entry.missing) = ((table.len(), failed, cells.len()), missing);
        if missing.cells > 0 {
            let (name, scale) = (&entry.name, self.scale.name());
            entry.command = format!("gardenpath reproduce {name} --scale {scale} --missing measure");
        }
        let page = self.chapters[number].draw(&table, outstanding, &self.scale)?;
        let svg = page.figure.svg();
        (entry.caption, entry.findings, entry.figure) = (page.caption, page.findings, Some(svg.clone()));
        // A figure that has not changed is not rendered again.
        let path = |format: Format| {
            self.directory.join("figures").join(&self.chapters[number].name).with_extension(format.name())
        };
        let formats = &self.report.formats;
        let same = fs::read(path(Format::Svg)).is_ok_and(|old| old == svg.as_bytes());
        if same && formats.iter().all(|format| path(*format).exists()) {
            return Ok(());
        }
        // The SVG comes last: if it is there, so are the others.
        for format in [Format::Png, Format::Pdf, Format::Svg].into_iter().filter(|format| formats.contains(format)) {
            let bytes = match format {
                Format::Png => page.figure.png(PNG_SCALE)?,
                Format::Pdf => page.figure.pdf()?,
                Format::Svg => svg.clone().into_bytes(),
            };
            write(&path(format), &bytes)?;
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
        missing: Missing::default(),
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
