//! The README's tour and the shell examples of docs/data.md, as written, in an empty directory.
#![cfg(unix)]

mod common;

use common::Lab;
use std::env;
use std::path::Path;
use std::process::Command;

/// What a test machine cannot run, since it has no cluster.
const ELSEWHERE: [&str; 1] = ["gardenpath sweep submit"];

/// Lines after `$ `, without comments.
fn commands(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.map(|line| line.split_once("  #").map_or(line, |(command, _)| command).trim_end().to_owned()).collect()
}

/// The blocks of shell commands.
fn blocks(text: &str) -> Vec<String> {
    let parts = text.split("```sh\n").skip(1);
    parts.map(|part| format!("set -e\n{}", part.split("```").next().unwrap_or_default())).collect()
}

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// Runs scripts one after another in one directory; all must succeed.
fn run(scripts: &[String]) {
    let lab = Lab::new();
    let program = Path::new(env!("CARGO_BIN_EXE_gardenpath")).parent().unwrap();
    let path = format!("{}:{}", program.display(), env::var("PATH").unwrap());
    for script in scripts {
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", script]).env("PATH", &path).current_dir(lab.root()).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !errors.contains("error"), "{script}: {errors}");
    }
}

#[test]
fn the_tour_works_in_an_empty_directory() {
    let mut commands = commands(&page("README.md"));
    assert!(commands.len() >= 15, "{commands:?}");
    commands.retain(|command| !ELSEWHERE.iter().any(|other| command.starts_with(other)));
    run(&commands);
}

#[test]
fn the_examples_of_data_work() {
    let blocks = blocks(&page("docs/data.md"));
    assert_eq!(blocks.len(), 4);
    run(&blocks);
}
