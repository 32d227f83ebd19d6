//! The README's tour, as written, in an empty directory.
#![cfg(unix)]

mod common;

use common::Lab;
use std::env;
use std::path::Path;
use std::process::Command;

/// What a test machine cannot do: it has no cluster.
const ELSEWHERE: [&str; 1] = ["gardenpath sweep submit"];

/// The commands of all blocks: lines after `$ `, without remarks.
fn commands(text: &str) -> Vec<&str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.map(|line| line.split_once("  #").map_or(line, |(command, _)| command).trim_end()).collect()
}

#[test]
fn the_tour_works_in_an_empty_directory() {
    let lab = Lab::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_gardenpath")).parent().unwrap();
    let path = format!("{}:{}", program.display(), env::var("PATH").unwrap());
    let commands = commands(&text);
    assert!(commands.len() >= 15, "{commands:?}");
    for command in commands {
        if ELSEWHERE.iter().any(|other| command.starts_with(other)) {
            continue;
        }
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", command]).env("PATH", &path).current_dir(lab.root()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !errors.contains("error"), "{command}: {errors}");
    }
}
