//! The directory of a training run.
//!
//! ```text
//! run.json                the recipe
//! grammar.pcfg            the grammar
//! best.safetensors        the weights with the smallest test loss
//! checkpoint.safetensors  where to go on: weights, state of the optimiser, all measurements
//! log.jsonl               one line for each measurement of the test loss
//! result.json             the outcome, once training has ended
//! ```
//!
//! Every file is replaced as a whole, so that a run can be killed at any moment and started again.

use super::{atomic, plain};
use crate::training::Recipe;
use anyhow::{Context, Result, anyhow, bail};
use gardenpath::Grammar;
use gardenpath_nn::checkpoint;
use gardenpath_nn::engine::NamedTensor;
use gardenpath_nn::train::Progress;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory of a run.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    path: PathBuf,
}

const RECIPE: &str = "run.json";
const GRAMMAR: &str = "grammar.pcfg";
const BEST: &str = "best.safetensors";
const CHECKPOINT: &str = "checkpoint.safetensors";
const LOG: &str = "log.jsonl";
/// The file that says that a run has ended.
pub const RESULT: &str = "result.json";

/// The key of the progress in the metadata of a checkpoint.
const PROGRESS: &str = "progress";

impl RunDirectory {
    /// The directory of a new run, or of one that goes on: then recipe and grammar must be the same.
    pub fn prepare(path: &Path, recipe: &Recipe, grammar: &Grammar) -> Result<Self> {
        let directory = RunDirectory { path: path.to_owned() };
        fs::create_dir_all(path).map_err(|e| anyhow!("{}: cannot be made: {}", path.display(), plain(&e)))?;
        if directory.file(RECIPE).exists() {
            let (found, found_grammar) = directory.contents()?;
            if &found != recipe || found_grammar.fingerprint() != grammar.fingerprint() {
                bail!("{}: holds another run; choose another directory, or remove this one", path.display());
            }
        } else {
            directory.write(GRAMMAR, grammar.to_text().as_bytes())?;
            directory.write_json(RECIPE, recipe)?;
        }
        Ok(directory)
    }

    /// The directory of an existing run.
    pub fn open(path: &Path) -> Result<Self> {
        let directory = RunDirectory { path: path.to_owned() };
        if !directory.file(RECIPE).is_file() {
            bail!("{}: is not the directory of a run, expected one that 'gardenpath train -o' made", path.display());
        }
        Ok(directory)
    }

    /// The recipe and the grammar.
    pub fn contents(&self) -> Result<(Recipe, Grammar)> {
        let path = self.file(RECIPE);
        let recipe = serde_json::from_slice(&self.read(RECIPE)?)
            .map_err(|e| anyhow!("{}: is not the recipe of a run: {e}", path.display()))?;
        Ok((recipe, super::grammar::read(&self.file(GRAMMAR))?))
    }

    /// Where a run that was begun before stands.
    pub fn checkpoint(&self) -> Result<Option<(Vec<NamedTensor>, Progress)>> {
        if !self.file(CHECKPOINT).exists() {
            return Ok(None);
        }
        let (tensors, metadata) = self.tensors(CHECKPOINT)?;
        let progress = metadata.get(PROGRESS).and_then(|text| serde_json::from_str(text).ok());
        let progress = progress.with_context(|| {
            format!("{}: has no progress of a run; remove it to begin anew", self.file(CHECKPOINT).display())
        })?;
        Ok(Some((tensors, progress)))
    }

    /// The best weights so far.
    pub fn best(&self) -> Result<Vec<NamedTensor>> {
        Ok(self.tensors(BEST)?.0)
    }

    /// Keeps the best weights.
    pub fn save_best(&self, weights: &[NamedTensor]) -> Result<()> {
        self.write(BEST, &checkpoint::to_bytes(weights, &[("format", "pt")]))
    }

    /// Keeps where the run stands.
    pub fn save_checkpoint(&self, state: &[NamedTensor], progress: &Progress) -> Result<()> {
        let text = serde_json::to_string(progress)?;
        self.write(CHECKPOINT, &checkpoint::to_bytes(state, &[("format", "pt"), (PROGRESS, &text)]))
    }

    /// Writes one line for each measurement.
    pub fn save_log(&self, lines: &[impl Serialize]) -> Result<()> {
        let mut text = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
        }
        self.write(LOG, &text)
    }

    /// The result, if the run has ended.
    pub fn result(&self) -> Result<Option<serde_json::Value>> {
        let path = self.file(RESULT);
        if !path.exists() {
            return Ok(None);
        }
        let value = serde_json::from_slice(&self.read(RESULT)?)
            .map_err(|e| anyhow!("{}: is not a result: {e}; remove it to go on", path.display()))?;
        Ok(Some(value))
    }

    /// Writes the result of a run that has ended.
    pub fn save_result(&self, result: &impl Serialize) -> Result<()> {
        self.write_json(RESULT, result)
    }

    /// Writes a picture or any other file.
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
        let path = self.file(name);
        fs::read(&path).map_err(|e| anyhow!("{}: {}", path.display(), plain(&e)))
    }

    fn tensors(&self, name: &str) -> Result<(Vec<NamedTensor>, std::collections::HashMap<String, String>)> {
        checkpoint::from_bytes(&self.read(name)?).with_context(|| self.file(name).display().to_string())
    }
}
