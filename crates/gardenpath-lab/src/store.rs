//! Results of cells on disk: one immutable file for each, named by the identity of the cell.
//!
//! A file is written under a temporary name, made durable and renamed: if it exists, the cell is done. There are no locks. Two
//! workers on one cell write the same bytes, and the later one changes nothing. How long a cell took is kept beside the
//! results, which are the same wherever they are made.

mod marks;

pub use marks::RENEWAL;

use crate::files::atomic;
use crate::measure::Measure;
use crate::record::Record;
use anyhow::{Context, Result};
use marks::Marks;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};

/// A directory of results.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

/// The file of a cell.
#[derive(Serialize, Deserialize)]
struct Stored {
    parameters: Map<String, Value>,
    result: Map<String, Value>,
}

/// Why a cell has no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The parameters of the cell.
    pub parameters: Map<String, Value>,
    /// What went wrong, in one line.
    pub error: String,
}

/// What is known of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has a result.
    Done,
    /// Somebody works on it.
    Running,
    /// It was tried, without success.
    Failed,
    /// It is yet to be done.
    Missing,
}

impl Store {
    /// The store in a directory, which is made if it does not exist.
    pub fn open(directory: &Path) -> Result<Self> {
        let store = Store { directory: directory.to_owned() };
        for part in [CELLS, FAILED, RUNNING, SECONDS] {
            let path = directory.join(part);
            fs::create_dir_all(&path).with_context(|| format!("{}: cannot be made", path.display()))?;
        }
        Ok(store)
    }

    /// Where the results are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn path(&self, part: &str, cell: &Measure) -> PathBuf {
        self.directory.join(part).join(cell.identity())
    }

    fn cell_path(&self, cell: &Measure) -> PathBuf {
        self.path(CELLS, cell).with_extension("json")
    }

    fn failure_path(&self, cell: &Measure) -> PathBuf {
        self.path(FAILED, cell).with_extension("json")
    }

    /// What is known of a cell.
    pub fn state(&self, cell: &Measure) -> State {
        match () {
            () if self.is_done(cell) => State::Done,
            () if self.marks().is_held(&cell.identity()) => State::Running,
            () if self.failure_path(cell).exists() => State::Failed,
            () => State::Missing,
        }
    }

    /// Whether a cell has a result.
    pub fn is_done(&self, cell: &Measure) -> bool {
        self.cell_path(cell).exists()
    }

    /// The result of a cell, if there is one.
    pub fn read(&self, cell: &Measure) -> Result<Option<Record>> {
        let path = self.cell_path(cell);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("{}: cannot be read", path.display())),
        };
        let stored: Stored = serde_json::from_slice(&text)
            .with_context(|| format!("{}: is damaged; remove it and run the sweep again", path.display()))?;
        Ok(Some(Record { parameters: stored.parameters, result: stored.result }))
    }

    /// Keeps the result of a cell, and how long it took.
    pub fn write(&self, cell: &Measure, result: Map<String, Value>, seconds: f64) -> Result<()> {
        let _ = atomic::replace(&self.path(SECONDS, cell), format!("{seconds:.3}").as_bytes());
        write_json(&self.cell_path(cell), &Stored { parameters: cell.parameters(), result })?;
        let _ = fs::remove_file(self.failure_path(cell));
        Ok(())
    }

    /// Keeps the reason why a cell failed.
    pub fn write_failure(&self, cell: &Measure, error: &str) -> Result<()> {
        write_json(&self.failure_path(cell), &Failure { parameters: cell.parameters(), error: error.to_owned() })
    }

    /// Why a cell failed, if it did.
    pub fn failure(&self, cell: &Measure) -> Option<Failure> {
        serde_json::from_slice(&fs::read(self.failure_path(cell)).ok()?).ok()
    }

    /// How long a finished cell took, if that is known.
    pub fn seconds(&self, cell: &Measure) -> Option<f64> {
        fs::read_to_string(self.path(SECONDS, cell)).ok()?.parse().ok()
    }

    fn marks(&self) -> Marks {
        Marks::new(self.directory.join(RUNNING))
    }

    /// Marks a cell as being worked on, unless somebody else works on it: then the answer is `false`. A mark is no promise: it is
    /// believed while it is renewed and its process lives.
    pub fn claim(&self, cell: &Measure) -> bool {
        self.marks().claim(&cell.identity())
    }

    /// Renews the mark of a cell.
    pub fn renew(&self, cell: &Measure) {
        self.marks().renew(&cell.identity());
    }

    /// Removes the mark of a cell, if this process has set it.
    pub fn release(&self, cell: &Measure) {
        self.marks().release(&cell.identity());
    }

    /// Removes the marks and temporary files that killed workers have left: those of processes of this machine that have ended, and
    /// whatever is older than an hour.
    pub fn clean(&self) {
        self.marks().clean();
        for part in [CELLS, FAILED, RUNNING, SECONDS] {
            marks::clean_temporary(&self.directory.join(part));
        }
    }

    /// Refuses a directory into which no result can be written.
    pub fn check_writable(&self) -> Result<()> {
        atomic::check(&self.directory.join(CELLS).join("any"))
    }
}

const CELLS: &str = "cells";
const FAILED: &str = "failed";
const RUNNING: &str = "running";
const SECONDS: &str = "seconds";

fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    atomic::write(path, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Scale};

    fn cells() -> Vec<Measure> {
        let text = "measure = 'entropy'\nexpects = ''\n[[grid]]\nvocab = 4\ndepth = 2\nfraction = 0.5\nsentences = 10\nseed = '1..2'";
        Experiment::parse(text).unwrap().cells(Scale::Quick).unwrap()
    }

    #[test]
    fn a_cell_is_missing_running_failed_or_done() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let [cell, other] = cells().try_into().unwrap();
        assert_eq!(store.state(&cell), State::Missing);
        assert!(store.claim(&cell));
        assert_eq!(store.state(&cell), State::Running);
        assert!(!store.claim(&cell));
        store.release(&cell);
        store.write_failure(&cell, "no luck").unwrap();
        assert_eq!(store.state(&cell), State::Failed);
        assert_eq!(store.failure(&cell).unwrap().error, "no luck");
        let result = cell.run().unwrap();
        store.write(&cell, result.clone(), 1.5).unwrap();
        assert_eq!(store.state(&cell), State::Done);
        assert_eq!(store.failure(&cell), None);
        assert_eq!(store.seconds(&cell), Some(1.5));
        let record = store.read(&cell).unwrap().unwrap();
        assert_eq!((record.parameters, record.result), (cell.parameters(), result));
        assert_eq!(store.state(&other), State::Missing);
        assert_eq!(store.read(&other).unwrap(), None);
    }

    #[test]
    fn damaged_files_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let cell = &cells()[0];
        fs::write(store.cell_path(cell), "{").unwrap();
        assert!(format!("{:#}", store.read(cell).unwrap_err()).contains("is damaged"));
    }
}
