//! The experiments of the report, which are part of the program: `transition` means the same in every directory.

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
    "cnn", "cnn-ambiguous", "cnn-quarter", "inn", "learners", "probes", "purity", "snr", "transformer", "transition", "vectors",
}

/// Their names.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name)
}

/// The experiment of this name.
pub fn find(name: &str) -> Result<Experiment> {
    let (_, text) =
        ALL.iter().find(|(other, _)| *other == name).with_context(|| format!("there is no experiment {name}"))?;
    Experiment::parse(text).with_context(|| format!("experiment {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Scale;
    use crate::report::chapters;

    #[test]
    fn all_experiments_have_both_scales_and_a_use() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
        let files = std::fs::read_dir(directory).unwrap().count();
        assert_eq!(files, ALL.len(), "an experiment is not part of the program");
        for (name, _) in ALL {
            let experiment = find(name).unwrap();
            assert!(!experiment.expects.is_empty(), "{name}");
            let [quick, full] = [Scale::QUICK, Scale::FULL].map(|scale| experiment.cells(&scale).unwrap().len());
            assert!(quick > 0 && full >= quick, "{name}: {quick} and {full} cells");
            assert!(
                chapters().iter().any(|chapter| chapter.experiments.contains(name)),
                "{name} is used by no chapter"
            );
        }
        for chapter in chapters() {
            chapter.experiments.iter().for_each(|name| assert!(find(name).is_ok(), "{}", chapter.name));
        }
    }
}
