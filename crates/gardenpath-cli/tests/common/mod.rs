//! Runs the program as a user does.
#![allow(dead_code)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program in a temporary directory.
pub struct Lab {
    directory: tempfile::TempDir,
}

impl Lab {
    pub fn new() -> Self {
        Lab { directory: tempfile::tempdir().unwrap() }
    }

    /// A lab with a sampled grammar `g.pcfg`.
    pub fn with_grammar(options: &str) -> Self {
        let lab = Lab::new();
        lab.run(&format!("grammar sample {options} -o g.pcfg"));
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gardenpath"));
        // Files that contain the date are the same in every run.
        command.args(words(arguments)).current_dir(self.directory.path()).env("SOURCE_DATE_EPOCH", "1700000000");
        command
    }

    /// Runs the program, whatever its exit code.
    pub fn try_run(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs the program, which must succeed, and returns its standard output.
    pub fn run(&self, arguments: &str) -> String {
        let output = self.try_run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "gardenpath {arguments}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the program with `--json` and reads the lines that it prints.
    pub fn json_lines(&self, arguments: &str) -> Vec<Value> {
        let text = self.run(&format!("{arguments} --json"));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Runs the program with `--json` and reads the one line that it prints.
    pub fn json(&self, arguments: &str) -> Value {
        let lines = self.json_lines(arguments);
        assert_eq!(lines.len(), 1, "{arguments}");
        lines.into_iter().next().unwrap()
    }

    /// Runs the program, which must refuse with exit code 2 and one line, and returns the line.
    pub fn refusal(&self, arguments: &str) -> String {
        let output = self.try_run(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "gardenpath {arguments}: {errors}");
        assert_eq!(errors.lines().count(), 1, "gardenpath {arguments}: {errors}");
        let message = errors.trim_end().strip_prefix("error: ");
        message.unwrap_or_else(|| panic!("gardenpath {arguments}: {errors}")).to_owned()
    }

    pub fn grammar(&self) -> gardenpath::Grammar {
        gardenpath_lab::files::grammar::read(&self.path("g.pcfg")).unwrap()
    }

    /// The names of all files in the directory.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn root(&self) -> &Path {
        self.directory.path()
    }
}

/// Words between spaces; double quotes keep words together.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (k, part) in text.split('"').enumerate() {
        if k % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The keys of a JSON object, sorted.
pub fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
