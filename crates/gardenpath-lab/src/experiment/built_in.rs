//! The experiments of the report, which are compiled in: `transition` means the same in every directory.

use crate::experiment::Experiment;
use anyhow::{Context, Result};

macro_rules! experiments {
    ($($name:literal),* $(,)?) => {
        /// The experiments: name and text.
        pub const ALL: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../experiments/", $name, ".toml")))),*];
    };
}

experiments! {
    "architectures", "bifurcation", "candidates", "cnn", "cnn-ambiguous", "cnn-quarter", "floors", "inference", "inn", "learners", "levels", "masked", "next-token", "prediction", "probes", "purity", "rules", "scaling", "signal",
    "snr", "sparsity", "splits", "topologies", "transformer", "transition", "translation", "tree-numbers", "unlabelled", "vectors", "width",
}

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name)
}

/// The text of the experiment of this name.
pub fn text(name: &str) -> Result<&'static str> {
    let found = ALL.iter().find(|(other, _)| *other == name).map(|(_, text)| *text);
    found.with_context(|| format!("no experiment {name}"))
}

/// The experiment of this name.
pub fn find(name: &str) -> Result<Experiment> {
    Experiment::parse(text(name)?).with_context(|| format!("experiment {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Scale;

    #[test]
    fn all_experiments_have_all_scales() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
        let files = std::fs::read_dir(directory).unwrap().count();
        assert_eq!(files, ALL.len(), "an experiment is not part of the program");
        for (name, _) in ALL {
            let experiment = find(name).unwrap();
            assert!(!experiment.expects.is_empty(), "{name}");
            let sizes = Scale::USUAL.map(|scale| experiment.cells(&scale).unwrap().len());
            assert!(sizes[0] > 0, "{name}: {sizes:?} cells");
        }
    }
}
