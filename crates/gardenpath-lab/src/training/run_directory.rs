//! The directory of a training run.
//!
//! ```text
//! run.json                the recipe
//! grammar.pcfg            the grammar, if known
//! best.safetensors        the weights with the lowest test loss
//! checkpoint.safetensors  weights, optimizer state and all measurements, to resume from
//! log.jsonl               one line per measurement of the test loss
//! result.json             the outcome, once training has finished
//! .lock                   held by the training process
//! ```
//!
//! Every file is replaced atomically, and the checkpoint last, so a run can be killed at any moment and started again:
//! work after the checkpoint is repeated, with the same bytes. Weight files carry a checksum and the identity of their
//! run.

use super::checkpoint::{Checkpoint, RUN};
use super::{Outcome, Recipe};
use crate::files::{self, SystemError, atomic};
use anyhow::{Context, Result, anyhow, bail};
use gardenpath::Grammar;
use gardenpath_nn::engine::{self, NamedTensor};
use gardenpath_nn::train::{Progress, Record};
use gardenpath_nn::weights_file;
use gardenpath_nn::{Network, Tensors};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The directory of a run.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    recipe: Recipe,
    /// The identity of the run.
    identity: String,
    /// Held while this value lives, and at most until the process ends.
    lock: Lock,
}

const RECIPE: &str = "run.json";
const GRAMMAR: &str = "grammar.pcfg";
const BEST: &str = "best.safetensors";
const CHECKPOINT: &str = "checkpoint.safetensors";
const LOG: &str = "log.jsonl";
const LOCK: &str = ".lock";
/// The file that marks a finished run.
pub const RESULT: &str = "result.json";

impl RunDirectory {
    /// The directory of a new or resumed run. Fails if an existing run has another recipe or grammar, or another
    /// process is training in it.
    pub fn prepare(path: &Path, recipe: &Recipe, grammar: Option<&Grammar>) -> Result<Self> {
        fs::create_dir_all(path)
            .map_err(|e| SystemError::about(format!("{}: cannot create the directory", path.display()), e))?;
        // A finished run is only read.
        let lock = if path.join(RESULT).exists() { Lock::None } else { lock(path)? };
        let identity = recipe.identity(grammar)?;
        let directory = RunDirectory { path: path.to_owned(), recipe: recipe.clone(), identity, lock };
        if directory.file(RECIPE).exists() {
            let (found, found_grammar) = contents(path)?;
            let same_grammar = found_grammar.map(|found| found.fingerprint()) == grammar.map(Grammar::fingerprint);
            if &found != recipe || !same_grammar {
                let other = other_run(&found, recipe);
                bail!("{}: contains {other}; choose another directory, or remove this one", path.display());
            }
        } else {
            directory.refuse_remains(grammar)?;
            if let Some(grammar) = grammar {
                directory.write(GRAMMAR, grammar.to_text().as_bytes())?;
            }
            directory.write_json(RECIPE, recipe)?;
        }
        Ok(directory)
    }

    /// A warning for the user, if any.
    pub fn remark(&self) -> Option<&str> {
        match &self.lock {
            Lock::Impossible(remark) => Some(remark),
            Lock::None | Lock::Held(_) => None,
        }
    }

    /// Fails if the directory contains files of another run, which would be lost.
    fn refuse_remains(&self, grammar: Option<&Grammar>) -> Result<()> {
        let other = |name: &str, what: &str| anyhow!("{}: {what}; choose another directory", self.file(name).display());
        if self.checkpoint()?.is_none()
            && let Some(name) = [BEST, LOG, RESULT].into_iter().find(|name| self.file(name).exists())
        {
            return Err(other(name, "belongs to a run whose run.json is missing"));
        }
        let path = self.file(GRAMMAR);
        if path.exists() && Some(files::grammar::read(&path)?.fingerprint()) != grammar.map(Grammar::fingerprint) {
            return Err(other(GRAMMAR, "is not the grammar of this run"));
        }
        Ok(())
    }

    /// Opens the directory of an existing run for reading, with its recipe and, if known, its grammar.
    pub fn open(path: &Path) -> Result<(Self, Recipe, Option<Grammar>)> {
        if !path.join(RECIPE).is_file() {
            bail!("{}: not a run directory, expected one written by 'gardenpath train -o'", path.display());
        }
        let (recipe, grammar) = contents(path)?;
        let identity = recipe.identity(grammar.as_ref())?;
        Ok((
            RunDirectory { path: path.to_owned(), recipe: recipe.clone(), identity, lock: Lock::None },
            recipe,
            grammar,
        ))
    }

    /// The checkpoint of a run, if there is one.
    pub fn checkpoint(&self) -> Result<Option<(Vec<NamedTensor>, Progress)>> {
        let path = self.file(CHECKPOINT);
        if !path.exists() {
            return Ok(None);
        }
        let bytes = self.read(CHECKPOINT)?;
        let found = Checkpoint::from_bytes(&bytes, &self.identity, &self.recipe.settings);
        let Checkpoint { state, progress, .. } = found.map_err(|error| self.wrong_checkpoint(error))?;
        if !progress.records.is_empty() {
            self.best().map_err(|e| anyhow!("{e:#}; remove {CHECKPOINT} as well to start over"))?;
        }
        Ok(Some((state, progress)))
    }

    /// The error for a checkpoint that does not match this network and its optimizer.
    pub fn wrong_checkpoint(&self, error: impl std::fmt::Display) -> anyhow::Error {
        anyhow!("{}: {error:#}; remove it to start over", self.file(CHECKPOINT).display())
    }

    /// The best weights so far, by name.
    pub fn best(&self) -> Result<Vec<NamedTensor>> {
        self.tensors(BEST)
    }

    /// The best weights so far.
    pub fn best_weights(&self, network: &Network) -> Result<Tensors<f32>> {
        engine::weights(network, &self.best()?).with_context(|| self.file(BEST).display().to_string())
    }

    /// Stores the best weights.
    pub fn save_best(&self, weights: &[NamedTensor]) -> Result<()> {
        self.write(BEST, &weights_file::to_bytes(weights, &[("format", "pt"), (RUN, &self.identity)]))
    }

    /// All measurements so far.
    pub fn records(&self) -> Result<Vec<Record>> {
        let wrong = |error| anyhow!("{}: not the log of a run: {error}", self.file(LOG).display());
        let text = self.read(LOG)?;
        serde_json::Deserializer::from_slice(&text).into_iter().collect::<Result<_, _>>().map_err(wrong)
    }

    /// Stores a checkpoint; everything it implies must have been stored before. A run that is about to diverge resumes
    /// from the last finite state.
    pub fn save_checkpoint(&self, state: &[NamedTensor], progress: &Progress) -> Result<()> {
        match Checkpoint::to_bytes(&self.identity, state, progress, &[])? {
            Some(bytes) => self.write(CHECKPOINT, &bytes),
            None => Ok(()),
        }
    }

    /// Writes one line per measurement.
    pub fn save_log(&self, lines: &[impl Serialize]) -> Result<()> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
        }
        self.write(LOG, &text)
    }

    /// The result, if the run has finished.
    pub fn result(&self) -> Result<Option<serde_json::Value>> {
        let path = self.file(RESULT);
        if !path.exists() {
            return Ok(None);
        }
        let value: Option<serde_json::Value> = serde_json::from_slice(&self.read(RESULT)?).ok();
        let value = value.filter(|value| {
            let recipe = Recipe::deserialize(value);
            recipe.is_ok_and(|recipe| recipe == self.recipe) && Outcome::deserialize(value).is_ok()
        });
        let value =
            value.ok_or_else(|| anyhow!("{}: not the result of this run; remove it to continue", path.display()))?;
        Ok(Some(value))
    }

    /// Writes the result of a finished run.
    pub fn save_result(&self, result: &impl Serialize) -> Result<()> {
        self.write_json(RESULT, result)
    }

    /// Writes a plot or any other file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        atomic::write(&self.file(name), bytes)
    }

    /// The path of a file of this run.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(value)?;
        text.push(b'\n');
        self.write(name, &text)
    }

    fn read(&self, name: &str) -> Result<Vec<u8>> {
        read(&self.file(name))
    }

    /// The tensors of a file of this run. Files of version 0.1 do not name their run.
    fn tensors(&self, name: &str) -> Result<Vec<NamedTensor>> {
        let path = self.file(name);
        let (tensors, metadata) =
            weights_file::from_bytes(&self.read(name)?).with_context(|| path.display().to_string())?;
        if metadata.get(RUN).is_some_and(|run| *run != self.identity) {
            bail!("{}: belongs to another run", path.display());
        }
        Ok(tensors)
    }
}

/// How a run in a directory differs from the requested one.
fn other_run(found: &Recipe, wanted: &Recipe) -> &'static str {
    match (&found.corpora, &wanted.corpora) {
        (Some(found), Some(wanted)) if found.train_hash != wanted.train_hash => "a run on other training sentences",
        (Some(found), Some(wanted)) if found.test_hash != wanted.test_hash => "a run on other test sentences",
        _ => "another run",
    }
}

/// The recipe of a run and, if known, its grammar.
fn contents(path: &Path) -> Result<(Recipe, Option<Grammar>)> {
    let file = path.join(RECIPE);
    let recipe: Recipe = serde_json::from_slice(&read(&file)?)
        .map_err(|e| anyhow!("{}: not the recipe of a run: {e}", file.display()))?;
    let known = recipe.corpora.as_ref().is_none_or(|corpora| corpora.has_grammar);
    let grammar = known.then(|| files::grammar::read(&path.join(GRAMMAR))).transpose()?;
    Ok((recipe, grammar))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| SystemError::about(path.display(), e))
}

/// The lock on a directory, which keeps other processes from training in it.
#[derive(Debug)]
enum Lock {
    /// Not needed.
    None,
    /// Released when the file is closed.
    Held(#[expect(dead_code, reason = "the lock lives as long as the file is open")] File),
    /// The file system has no locks; the text is a warning.
    Impossible(String),
}

/// Locks a directory. The lock is released when the process ends in any way.
fn lock(path: &Path) -> Result<Lock> {
    let file = path.join(LOCK);
    let opened = File::options().create(true).truncate(false).write(true).open(&file);
    let opened = opened.map_err(|e| SystemError::about(format!("{}: cannot write", file.display()), e))?;
    match opened.try_lock() {
        Ok(()) => Ok(Lock::Held(opened)),
        Err(TryLockError::WouldBlock) => {
            bail!("{}: another process is training in this directory; choose another one", path.display())
        }
        // Some file systems have no locks.
        Err(TryLockError::Error(error)) => {
            let error = SystemError(error);
            Ok(Lock::Impossible(format!(
                "{}: cannot lock: {error}; make sure that no other process trains here",
                path.display()
            )))
        }
    }
}
