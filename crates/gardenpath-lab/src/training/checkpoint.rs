//! Checkpoints of training as safetensors bytes: weights, optimizer state and all measurements.

use anyhow::{Result, bail};
use gardenpath_nn::engine::NamedTensor;
use gardenpath_nn::train::{Progress, Settings};
use gardenpath_nn::weights_file::{self, CHECKSUM};
use std::sync::LazyLock;
use std::time::Duration;

/// The approximate time that a killed run loses at most. Tests set it with an environment variable.
pub fn interval() -> Duration {
    static INTERVAL: LazyLock<Duration> = LazyLock::new(|| {
        let told = std::env::var("GARDENPATH_CHECKPOINT_SECONDS").ok().and_then(|text| text.parse().ok());
        told.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(Duration::from_secs(20))
    });
    *INTERVAL
}

/// A checkpoint of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The state of the engine.
    pub state: Vec<NamedTensor>,
    /// The progress of the run.
    pub progress: Progress,
    /// The best weights so far, if they are stored here.
    pub best: Vec<NamedTensor>,
}

/// The key of the progress in the metadata.
const PROGRESS: &str = "progress";

/// The metadata key of the run's identity.
pub const RUN: &str = "run";

/// The name prefix of the best weights.
const BEST: &str = "best.";

impl Checkpoint {
    /// The bytes, or `None` if the state is not finite but the run has not ended: a run that is about to diverge
    /// resumes from the last finite state.
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

    /// The contents, if they belong to this run. Files of version 0.1 do not name their run.
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
            bail!("has no progress for this run");
        };
        if progress.ending.is_none() && !is_finite(&tensors) {
            bail!("contains NaN or infinite values");
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
