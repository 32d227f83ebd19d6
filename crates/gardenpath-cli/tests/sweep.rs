//! Sweeps as a user runs them: killed at any moment, shared by several processes, with failing cells.
#![cfg(unix)]

mod common;

use common::Lab;
use gardenpath::Seed;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// A lab with an experiment of small cells, one per seed and fraction.
fn lab(fractions: &str, seeds: usize) -> Lab {
    let lab = Lab::new();
    let text = format!(
        "measure = 'entropy'\nexpects = ''\n[[grid]]\nvocab = 6\ndepth = 2\nsentences = 300\n\
         fraction = {fractions}\nseed = '1..{seeds}'\n"
    );
    std::fs::write(lab.path("e.toml"), text).unwrap();
    lab
}

/// The files of all finished cells.
fn cells(lab: &Lab, store: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(lab.path(store).join("cells")).unwrap().map(|entry| entry.unwrap().path());
    let whole = entries.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    whole.map(|path| (name(&path), std::fs::read(&path).unwrap())).collect()
}

#[test]
fn two_hundred_kills_lose_nothing() {
    let lab = lab("0.5", 500);
    lab.run("sweep run e.toml --store quiet");
    lab.run("sweep collect e.toml --store quiet -o quiet.parquet");
    let mut stream = Seed::new(1).stream(0);
    let mut reported: HashSet<String> = HashSet::new();
    let mut report = |line: &str| {
        // The last line may be cut off by the kill.
        let Ok(event) = serde_json::from_str::<Value>(line) else { return };
        if event["event"] == "measured" {
            let cell = event["cell"].as_str().unwrap().to_owned();
            assert!(reported.insert(cell), "measured twice: {line}");
        }
    };
    for _ in 0..200 {
        let mut child = lab.command("sweep run e.toml --store torn --json").stdout(Stdio::piped()).spawn().unwrap();
        // After zero to two cells and a short delay: anywhere between two of them.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        lines.by_ref().take(stream.below(3) as usize).for_each(|line| report(&line));
        std::thread::sleep(Duration::from_micros(stream.below(6000)));
        child.kill().unwrap();
        lines.for_each(|line| report(&line));
        child.wait().unwrap();
    }
    let before = cells(&lab, "torn");
    assert!(before.len() > 100, "{} cells after the kills", before.len());
    let lines = lab.run("sweep run e.toml --store torn --json");
    lines.lines().for_each(report);
    let summary: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(summary["found"], before.len(), "what was there was not measured again");
    assert_eq!(cells(&lab, "torn"), cells(&lab, "quiet"));
    lab.run("sweep collect e.toml --store torn -o torn.parquet");
    let read = |name: &str| std::fs::read(lab.path(name)).unwrap();
    assert!(read("torn.parquet") == read("quiet.parquet"), "the same Parquet");
}

#[test]
fn several_processes_share_a_store() {
    let lab = lab("0.5", 200);
    let start = |part: &str| {
        let arguments = format!("sweep run e.toml --store s {part}");
        lab.command(&arguments).stdout(Stdio::null()).spawn().unwrap()
    };
    // Two processes with a part each, and one with everything: some cells are measured by two at once.
    for mut child in ["--shard 1/2", "--shard 2/2", ""].map(start) {
        assert!(child.wait().unwrap().success());
    }
    lab.run("sweep run e.toml --store alone");
    assert_eq!(cells(&lab, "s"), cells(&lab, "alone"));
}

#[test]
fn failing_cells_are_recorded() {
    // There are not twice as many rules as tuples.
    let lab = lab("[0.5, 2]", 2);
    let output = lab.try_run("sweep run e.toml --store s");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.lines().last().unwrap().starts_with("error: 2 of 4 cells failed"), "{errors}");
    let status = lab.json("sweep status e.toml --store s");
    assert_eq!([&status["done"], &status["failed"], &status["missing"]].map(|n| n.as_u64().unwrap()), [2, 2, 0]);
    assert_eq!(status["failures"].as_array().unwrap().len(), 2, "{status}");
    assert_eq!(lab.try_run("sweep collect e.toml --store s -o r.parquet").status.code(), Some(1));
    assert_eq!(lab.json("sweep collect e.toml --store s -o r.parquet --partial")["rows"], 2);
    assert!(lab.run("sweep status e.toml --store s").contains("failed: "));
}

#[test]
fn bad_experiments_are_refused_in_one_line() {
    let lab = Lab::new();
    for (text, expected) in [
        ("measure = ", "line 1"),
        ("measure = 'x'\nexpects = ''\n[[grid]]\n", "no measure"),
        ("measure = 'entropy'\nexpects = ''", "[[grid]]"),
        ("measure = 'entropy'\nexpects = ''\n[[grid]]\nvocab = 'w + 1'", "unknown name w"),
        ("measure = 'entropy'\nexpects = ''\n[[grid]]\nseed = '1..9000000000000000000'", "seed: the range"),
        ("measure = 'entropy'\nexpects = ''\n[[grid]]\nseed = '1..1000000000'", "seed: the range"),
    ] {
        std::fs::write(lab.path("e.toml"), text).unwrap();
        let output = lab.try_run("sweep run e.toml --store s");
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(error.contains("e.toml") && error.contains(expected), "{error}");
    }
    let output = lab.try_run("sweep status nothing.toml --store s");
    assert!(String::from_utf8(output.stderr).unwrap().contains("nothing.toml"));
}

#[test]
fn processes_that_share_a_store_share_the_work() {
    let lab = lab("0.5", 300);
    let start = |_| {
        let mut command = lab.command("sweep run e.toml --store s --json");
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..3).map(start).collect();
    let mut measured = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines = String::from_utf8(output.stdout).unwrap();
        let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let own = events.filter(|event| event["event"] == "measured").map(|event| event["cell"].to_string());
        measured.extend(own);
    }
    let cells: HashSet<&String> = measured.iter().collect();
    assert_eq!((measured.len(), cells.len()), (300, 300), "each cell is measured once");
}

#[test]
fn what_killed_workers_left_is_removed() {
    let lab = Lab::new();
    let text = "measure = 'train'\nexpects = ''\n[[grid]]\nmodel = 'cnn'\nvocab = 4\ndepth = 2\nfraction = 0.5\n\
                width = 16\nsamples = 300_000\ntest = 100\nmax_steps = 1_000_000_000\nmin_steps = 1_000_000_000\nseed = 1";
    std::fs::write(lab.path("long.toml"), text).unwrap();
    let mut child = lab.command("sweep run long.toml --store s").spawn().unwrap();
    let running = || std::fs::read_dir(lab.path("s/running")).map_or(0, Iterator::count);
    while running() == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(lab.json("sweep status long.toml --store s")["running"], 1);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(running(), 1, "a killed worker cannot clean up");
    assert_eq!(lab.json("sweep status long.toml --store s")["missing"], 1, "its mark counts for nothing");
    std::fs::write(
        lab.path("e.toml"),
        "measure = 'entropy'\nexpects = ''\n[[grid]]\nvocab = 4\ndepth = 2\nfraction = 0.5\nsentences = 10\nseed = 1",
    )
    .unwrap();
    lab.run("sweep run e.toml --store s");
    assert_eq!(running(), 0);
}

#[test]
fn few_steps_are_no_reason_to_panic() {
    let lab = Lab::new();
    let text = "measure = 'train'\nexpects = ''\n[[grid]]\nmodel = 'cnn'\nvocab = 4\ndepth = 2\nfraction = 0.5\nwidth = 8\n\
                samples = 100\ntest = 100\nmax_steps = 50\nseed = [1, 2]";
    std::fs::write(lab.path("e.toml"), text).unwrap();
    lab.run("sweep run e.toml --store s --shard 1/2");
    let status = lab.json("sweep status e.toml --store s");
    assert_eq!((&status["done"], status["seconds_left"].is_number()), (&Value::from(1), true));
}
