//! A store of results: one immutable file per cell, named after the cell's identity.
//!
//! A file is written under a temporary name, synced and renamed. A cell is done if its file exists, is intact and
//! belongs to the cell. There are no locks: two workers on one cell write the same bytes, and the second write changes
//! nothing. The [provenance](Provenance) of a result (time, program, processor, date) is stored separately, so that results
//! do not depend on the machine.

mod cell;
mod checkpoints;
mod marks;
mod provenance;

pub use checkpoints::Checkpoints;
pub use marks::RENEWAL;
pub use provenance::Provenance;

use crate::files::{SystemError, atomic};
use crate::measure::Measure;
use crate::record::Record;
use anyhow::{Context, Result, bail};
use checkpoints::Clock;
use marks::Marks;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A directory of results.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

/// What was found in place of a cell's result.
#[derive(Clone, Debug, PartialEq)]
pub enum Found<T> {
    /// Nothing.
    Nothing,
    /// Its result.
    Whole(T),
    /// Something else; the message names the file and the problem.
    Damaged(String),
}

/// Why a cell has no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The parameters of the cell.
    pub parameters: Map<String, Value>,
    /// What went wrong, in one line.
    pub error: String,
}

/// The state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It has a result.
    Done,
    /// A worker is measuring it.
    Running,
    /// It failed.
    Failed,
    /// It has not been measured.
    Missing,
}

impl Store {
    /// Opens the store in a directory, creating it if necessary.
    pub fn open(directory: &Path) -> Result<Self> {
        let store = Store::at(directory);
        for part in [CELLS, FAILED, RUNNING, SECONDS] {
            let path = directory.join(part);
            fs::create_dir_all(&path).with_context(|| format!("{}: cannot create the directory", path.display()))?;
        }
        Ok(store)
    }

    /// Opens an existing store; fails if there is none.
    pub fn existing(directory: &Path) -> Result<Self> {
        if !directory.join(CELLS).is_dir() {
            bail!("no store {}; sweep run creates it", directory.display());
        }
        Ok(Store { directory: directory.to_owned() })
    }

    /// A store for reading only, which need not exist.
    pub fn at(directory: &Path) -> Self {
        Store { directory: directory.to_owned() }
    }

    /// The results directory.
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

    /// The state of a cell. A damaged file does not count as a result.
    pub fn state(&self, cell: &Measure) -> State {
        if matches!(self.look(cell), Ok(Found::Whole(()))) { State::Done } else { self.state_without_result(cell) }
    }

    /// The state of a cell that has no result.
    pub fn state_without_result(&self, cell: &Measure) -> State {
        match () {
            () if self.marks().is_held(&cell.identity()) => State::Running,
            () if self.failure(cell).is_some() => State::Failed,
            () => State::Missing,
        }
    }

    /// Checks whether a cell has a result, without parsing it. Errors are those of the file system.
    pub fn look(&self, cell: &Measure) -> Result<Found<()>> {
        self.examine(cell, cell::check)
    }

    /// Whether there is a file for a cell's result, intact or damaged.
    pub fn has_file(&self, cell: &Measure) -> bool {
        self.cell_path(cell).is_file()
    }

    /// The identities of all cells with a result file, intact or damaged; empty if the directory cannot be read.
    pub fn identities(&self) -> HashSet<String> {
        let files = fs::read_dir(self.directory.join(CELLS)).into_iter().flatten().flatten();
        let name = |file: fs::DirEntry| file.file_name().to_str()?.strip_suffix(".json").map(str::to_owned);
        files.filter_map(name).collect()
    }

    /// Reads the result of a cell, if any. Errors are those of the file system.
    pub fn find(&self, cell: &Measure) -> Result<Found<Record>> {
        self.examine(cell, cell::from_bytes)
    }

    /// Reads the result of a cell, if any. A damaged file is an error.
    pub fn read(&self, cell: &Measure) -> Result<Option<Record>> {
        match self.find(cell)? {
            Found::Nothing => Ok(None),
            Found::Whole(record) => Ok(Some(record)),
            Found::Damaged(text) => bail!("{text}; 'gardenpath sweep run' measures it again"),
        }
    }

    fn examine<T>(
        &self,
        cell: &Measure,
        open: impl FnOnce(&Measure, &[u8]) -> Result<T, &'static str>,
    ) -> Result<Found<T>> {
        let path = self.cell_path(cell);
        let opened = match fs::read(&path) {
            Ok(bytes) => open(cell, &bytes),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(error) if error.kind() == ErrorKind::IsADirectory => Err("is a directory, expected a file"),
            Err(error) => return Err(SystemError::about(format!("{}: cannot read", path.display()), error)),
        };
        Ok(match opened {
            Ok(contents) => Found::Whole(contents),
            Err(wrong) => Found::Damaged(format!("{}: {wrong}", path.display())),
        })
    }

    /// Stores the result of a cell and its [provenance](Provenance). Fails if the result of a foreign measure does not match its
    /// declaration. A damaged file is moved to the directory `damaged` of the store.
    pub fn write(&self, cell: &Measure, result: &Map<String, Value>, seconds: f64) -> Result<()> {
        let result = cell.checked(result)?;
        if let Found::Damaged(_) = self.look(cell)? {
            self.put_aside(&self.cell_path(cell))?;
        }
        let _ = atomic::replace(&self.path(SECONDS, cell), Provenance::now(seconds).text()?.as_bytes());
        atomic::write(&self.cell_path(cell), &cell::to_bytes(cell, &result)?)?;
        let _ = fs::remove_file(self.failure_path(cell));
        let _ = fs::remove_file(self.path(CHECKPOINTS, cell));
        Ok(())
    }

    /// The checkpoints of a running cell. `report` is called with one line if the last checkpoint is damaged.
    pub fn checkpoints<'s>(&self, cell: &Measure, report: &'s dyn Fn(String)) -> Checkpoints<'s> {
        Checkpoints::new(self.path(CHECKPOINTS, cell), Clock::of(cell), report)
    }

    /// Moves a file or directory aside under an unused name.
    fn put_aside(&self, path: &Path) -> Result<()> {
        let aside = self.directory.join(DAMAGED);
        let failed =
            |error| SystemError::about(format!("{}: cannot move to {}", path.display(), aside.display()), error);
        fs::create_dir_all(&aside).map_err(failed)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let free = (1..).map(|number| aside.join(format!("{name}.{number}"))).find(|path| !path.exists());
        match fs::rename(path, free.unwrap_or_else(|| aside.join(&*name))) {
            // Another worker was faster.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            outcome => outcome.map_err(failed),
        }
    }

    /// Stores the reason for a failure.
    pub fn write_failure(&self, cell: &Measure, error: &str) -> Result<()> {
        write_json(&self.failure_path(cell), &Failure { parameters: cell.parameters(), error: error.to_owned() })
    }

    /// Why a cell failed, if it did.
    pub fn failure(&self, cell: &Measure) -> Option<Failure> {
        let failure: Failure = serde_json::from_slice(&fs::read(self.failure_path(cell)).ok()?).ok()?;
        (failure.parameters == cell.parameters()).then_some(failure)
    }

    /// The provenance of the result of a cell, if known.
    pub fn provenance(&self, cell: &Measure) -> Option<Provenance> {
        Provenance::parse(&fs::read_to_string(self.path(SECONDS, cell)).ok()?)
    }

    /// The time that a finished cell took, if known.
    pub fn seconds(&self, cell: &Measure) -> Option<f64> {
        Some(self.provenance(cell)?.seconds)
    }

    fn marks(&self) -> Marks {
        Marks::new(self.directory.join(RUNNING))
    }

    /// Marks a cell as being measured; returns `false` if another worker holds it. A mark is not a lock: it counts only
    /// while it is renewed and its process is alive.
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

    /// Removes all marks of this process, which is about to exit.
    pub fn release_all(&self) {
        self.marks().release_all();
    }

    /// Removes marks and temporary files left by killed workers: those of dead processes on this machine, and all that
    /// are older than an hour. Checkpoints of finished cells are removed, too.
    pub fn clean(&self) {
        self.marks().clean();
        for part in [CELLS, CHECKPOINTS, FAILED, RUNNING, SECONDS] {
            marks::clean_temporary(&self.directory.join(part));
        }
        for checkpoint in fs::read_dir(self.directory.join(CHECKPOINTS)).into_iter().flatten().flatten() {
            let cell = self.directory.join(CELLS).join(checkpoint.file_name()).with_extension("json");
            if cell.exists() {
                let _ = fs::remove_file(checkpoint.path());
            }
        }
    }

    /// Fails if results cannot be written.
    pub fn check_writable(&self) -> Result<()> {
        atomic::check(&self.directory.join(CELLS).join("any"))
    }
}

const CELLS: &str = "cells";
const CHECKPOINTS: &str = "checkpoints";
const DAMAGED: &str = "damaged";
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
        Experiment::parse(text).unwrap().cells(&Scale::QUICK).unwrap()
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
        let result = cell.run(&()).unwrap();
        store.write(&cell, &result, 1.5).unwrap();
        assert_eq!(store.state(&cell), State::Done);
        assert_eq!(store.failure(&cell), None);
        let provenance = store.provenance(&cell).unwrap();
        assert_eq!((provenance.seconds, provenance.version.as_deref()), (1.5, Some(env!("CARGO_PKG_VERSION"))));
        // A store of an older version, or of somebody who left it out.
        fs::write(store.path(SECONDS, &cell), "2.500").unwrap();
        assert_eq!(store.seconds(&cell), Some(2.5));
        fs::remove_file(store.path(SECONDS, &cell)).unwrap();
        assert_eq!((store.provenance(&cell), store.state(&cell)), (None, State::Done));
        let record = store.read(&cell).unwrap().unwrap();
        assert_eq!((record.parameters, record.result), (cell.parameters(), result));
        assert_eq!(store.state(&other), State::Missing);
        assert_eq!(store.read(&other).unwrap(), None);
    }

    #[test]
    fn damaged_files_are_named_and_put_aside() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let [cell, other] = cells().try_into().unwrap();
        let result = cell.run(&()).unwrap();
        store.write(&other, &other.run(&()).unwrap(), 1.0).unwrap();
        let path = store.cell_path(&cell);
        let foreign = fs::read(store.cell_path(&other)).unwrap();
        for (number, contents) in [b"{".as_slice(), b"", &foreign].iter().enumerate() {
            fs::write(&path, contents).unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            let Found::Damaged(text) = store.look(&cell).unwrap() else { panic!("it is damaged") };
            assert!(text.contains(name) && !text.contains('\n'), "{text}");
            assert!(matches!(store.find(&cell).unwrap(), Found::Damaged(_)));
            assert!(store.read(&cell).unwrap_err().to_string().starts_with(&text));
            assert_eq!(store.state(&cell), State::Missing);
            store.write(&cell, &result, 1.0).unwrap();
            assert_eq!(store.read(&cell).unwrap().unwrap().result, result);
            let aside = directory.path().join(DAMAGED).join(format!("{name}.{}", number + 1));
            assert_eq!(fs::read(aside).unwrap(), *contents, "nothing is lost");
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(matches!(store.look(&cell).unwrap(), Found::Damaged(_)));
        store.write(&cell, &result, 1.0).unwrap();
        assert_eq!(store.state(&cell), State::Done);
        assert_eq!(fs::read_dir(directory.path().join(DAMAGED)).unwrap().count(), 4);
    }

    #[test]
    fn a_damaged_failure_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let [cell, other] = cells().try_into().unwrap();
        store.write_failure(&other, "no luck").unwrap();
        fs::copy(store.failure_path(&other), store.failure_path(&cell)).unwrap();
        assert_eq!((store.failure(&cell), store.state(&cell)), (None, State::Missing));
        fs::write(store.failure_path(&cell), "").unwrap();
        assert_eq!(store.state(&cell), State::Missing);
        fs::write(store.path(SECONDS, &cell), "inf").unwrap();
        assert_eq!(store.seconds(&cell), None);
    }
}
