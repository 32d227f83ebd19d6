//! The source of an experiment: a file, or built in.

use super::nearest::suggestion;
use super::{Experiment, Place, built_in};
use crate::files::SystemError;
use crate::measure::Measures;
use anyhow::{Context, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The source of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// The built-in experiment with this name.
    BuiltIn(&'static str),
}

impl Source {
    /// The file if it exists, else the built-in experiment with this name, with or without `.toml`.
    pub fn find(argument: &Path) -> Result<Self> {
        if argument.try_exists().unwrap_or(true) && !argument.is_dir() {
            return Ok(Source::File(argument.to_owned()));
        }
        let text = argument.to_string_lossy();
        let name = text.strip_suffix(".toml").unwrap_or(&text);
        if let Some(name) = built_in::names().find(|known| *known == name) {
            return Ok(Source::BuiltIn(name));
        }
        let stem = argument.file_stem().unwrap_or_default().to_string_lossy();
        let words = format!(
            "no file {text}, and no built-in experiment with that name{} Built-in experiments: {}",
            match suggestion(&stem, built_in::names()).as_str() {
                "" => ".",
                suggestion => suggestion,
            },
            built_in::names().collect::<Vec<_>>().join(", ")
        );
        Err(SystemError::said(ErrorKind::NotFound, words))
    }

    /// Reads the experiment.
    pub fn read(&self) -> Result<Experiment> {
        self.read_with(&Measures::default())
    }

    /// Reads the experiment, which can use these measures.
    pub fn read_with(&self, measures: &Measures) -> Result<Experiment> {
        self.read_in(measures, 0)
    }

    /// Reads an experiment that is nested this deep in `uses`.
    pub(super) fn read_in(&self, measures: &Measures, depth: usize) -> Result<Experiment> {
        match self {
            Source::File(path) => {
                let shown = path.display();
                let text = std::fs::read_to_string(path)
                    .map_err(|error| SystemError::about(format!("{shown}: cannot read"), error))?;
                let directory = path.parent().unwrap_or(Path::new(""));
                Experiment::parse_in(&text, &Place { measures, directory, depth }).with_context(|| shown.to_string())
            }
            Source::BuiltIn(name) => {
                let place = Place { measures, directory: Path::new(""), depth };
                Experiment::parse_in(built_in::text(name)?, &place).with_context(|| format!("experiment {name}"))
            }
        }
    }

    /// Its display name: the file name without extension, or the built-in name.
    pub fn name(&self) -> String {
        match self {
            Source::File(path) => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            Source::BuiltIn(name) => (*name).to_owned(),
        }
    }

    /// An argument that names the same experiment in any directory.
    pub fn argument(&self) -> Result<PathBuf> {
        match self {
            Source::File(path) => {
                std::path::absolute(path).with_context(|| format!("{}: has no absolute path", path.display()))
            }
            Source::BuiltIn(name) => Ok(PathBuf::from(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_before_names() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("transition.toml");
        std::fs::write(&file, "").unwrap();
        assert_eq!(Source::find(&file).unwrap(), Source::File(file.clone()));
        for argument in ["transition", "transition.toml"] {
            let found = Source::find(Path::new(argument)).unwrap();
            assert_eq!(found, Source::BuiltIn("transition"));
            assert_eq!((found.name(), found.argument().unwrap()), ("transition".into(), "transition".into()));
            assert!(found.read().is_ok());
        }
        assert!(Source::File(file).argument().unwrap().is_absolute());
        // A path is not a built-in name.
        for argument in ["./transition", "elsewhere/transition.toml"] {
            let error = Source::find(Path::new(argument)).unwrap_err().to_string();
            assert!(
                error.contains(&format!("no file {argument}")) && error.contains("did you mean transition?"),
                "{error}"
            );
        }
        // A directory is neither.
        assert!(Source::find(directory.path()).is_err());
        let error = Source::find(Path::new("colours")).unwrap_err().to_string();
        assert!(error.starts_with("no file colours, and no built-in experiment with that name. "), "{error}");
        assert!(error.contains("Built-in experiments: architectures, bifurcation, candidates, "), "{error}");
    }
}
