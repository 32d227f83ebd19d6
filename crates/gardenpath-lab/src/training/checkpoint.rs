//! Where a run of training stands, as the bytes of a safetensors file: weights, state of the optimiser and all measurements.

use anyhow::{Result, bail};
use gardenpath_nn::engine::NamedTensor;
use gardenpath_nn::train::{Progress, Settings};
use gardenpath_nn::weights_file::{self, CHECKSUM};
use std::sync::LazyLock;
use std::time::Duration;

/// The longest time that a killed run loses, about. The tests set it by a variable of the environment.
pub fn interval() -> Duration {
    static INTERVAL: LazyLock<Duration> = LazyLock::new(|| {
        let told = std::env::var("GARDENPATH_CHECKPOINT_SECONDS").ok().and_then(|text| text.parse().ok());
        told.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(Duration::from_secs(20))
    });
    *INTERVAL
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The state of the engine.
    pub state: Vec<NamedTensor>,
    /// What the run has come to.
    pub progress: Progress,
    /// The best weights so far, if they are kept here.
    pub best: Vec<NamedTensor>,
}

/// The key of the progress in the metadata.
const PROGRESS: &str = "progress";

/// The key of the identity of the run in the metadata of weights.
pub const RUN: &str = "run";

/// What stands before the names of the best weights.
const BEST: &str = "best.";

impl Checkpoint {
    /// The bytes, or `None` if there is nothing to resume from: a run that is about to diverge resumes from the last state that has
    /// numbers only.
    pub fn to_bytes(
        run: &str,
        state: &[NamedTensor],
        progress: &Progress,
        best: &[NamedTensor],
    ) -> Result<Option<Vec<u8>>> {
        if progress.ending.is_none() && !is_finite(state) {
            return Ok(None);
        }
        let text = serde_json::to_string(progress)?;
        let metadata = [("format", "pt"), (RUN, run), (PROGRESS, &text)];
        let mut tensors = state.to_vec();
        tensors
            .extend(best.iter().map(|tensor| NamedTensor { name: format!("{BEST}{}", tensor.name), ..tensor.clone() }));
        Ok(Some(weights_file::to_bytes(&tensors, &metadata)))
    }

    /// The contents, if they can be those of this run. A file of version 0.1 does not say whose it is.
    pub fn from_bytes(bytes: &[u8], run: &str, settings: &Settings) -> Result<Self> {
        let (tensors, metadata) = weights_file::from_bytes(bytes)?;
        if metadata.get(RUN).is_some_and(|other| other != run) {
            bail!("belongs to another run");
        }
        if !metadata.contains_key(CHECKSUM) {
            bail!("has no checksum");
        }
        let progress: Option<Progress> = metadata.get(PROGRESS).and_then(|text| serde_json::from_str(text).ok());
        let Some(progress) = progress.filter(|progress| progress.belongs_to(settings)) else {
            bail!("has no progress of this run");
        };
        if progress.ending.is_none() && !is_finite(&tensors) {
            bail!("holds values that are no numbers");
        }
        let (mut state, mut best) = (Vec::new(), Vec::new());
        for tensor in tensors {
            match tensor.name.strip_prefix(BEST) {
                Some(name) => best.push(NamedTensor { name: name.to_owned(), ..tensor }),
                None => state.push(tensor),
            }
        }
        Ok(Checkpoint { state, progress, best })
    }
}

fn is_finite(state: &[NamedTensor]) -> bool {
    state.iter().all(|tensor| tensor.values.iter().all(|value| value.is_finite()))
}
