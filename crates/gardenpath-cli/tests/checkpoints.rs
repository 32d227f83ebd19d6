//! Long cells that are killed resume from their checkpoints, with the same results.
#![cfg(unix)]

mod common;

use common::Lab;
use gardenpath::Seed;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A cell trained with Adam, whose state is more than the weights, and which needs its best weights in the end.
const LONG: &str = "measure = 'probe'\nexpects = ''\n[[grid]]\nmodel = 'transformer'\nvocab = 6\ndepth = 2\nfraction = 0.25\n\
                    width = 16\nheads = 4\nbatch = 8\nsamples = 1000\ntest = 100\nseed = 1\nmax_steps = 12000\nmin_steps = 12000\n";

/// The same cell with fewer steps.
fn short(steps: &str) -> String {
    LONG.replace("12000", steps)
}

fn lab() -> Lab {
    let lab = Lab::new();
    std::fs::write(lab.path("e.toml"), LONG).unwrap();
    lab
}

fn sweep(lab: &Lab, store: &str, seconds: &str) -> Command {
    let mut command = lab.command(&format!("sweep run e.toml --store {store} --threads 1"));
    command.env("GARDENPATH_CHECKPOINT_SECONDS", seconds).stdout(Stdio::null());
    command
}

/// The only file in a part of a store, if there is one.
fn only(lab: &Lab, store: &str, part: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(lab.path(store).join(part)).ok()?;
    let is_whole = |path: &PathBuf| !path.file_name().unwrap().to_str().unwrap().starts_with('.');
    let files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(is_whole).collect();
    assert!(files.len() <= 1, "{files:?}");
    files.into_iter().next()
}

/// The result of the cell as bytes; its checkpoint must be gone.
fn result(lab: &Lab, store: &str) -> Vec<u8> {
    assert_eq!(only(lab, store, "checkpoints"), None, "a cell with a result has no checkpoint");
    std::fs::read(only(lab, store, "cells").expect("the cell has a result")).unwrap()
}

#[test]
fn fifty_kills_do_not_change_a_long_cell() {
    let lab = lab();
    assert!(sweep(&lab, "quiet", "1000").status().unwrap().success());
    let mut stream = Seed::new(1).stream(0);
    let mut kept = 0;
    let mut measured = Vec::new();
    for _ in 0..50 {
        let mut child = sweep(&lab, "torn", "0.01").stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(20_000 + stream.below(100_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        if let Some(path) = only(&lab, "torn", "checkpoints") {
            kept += 1;
            let bytes = std::fs::read(path).unwrap();
            measured.push(String::from_utf8_lossy(&bytes).matches("test_loss").count());
        }
    }
    assert!(kept > 10, "{kept} checkpoints");
    // Every attempt resumed where the previous one had stopped.
    assert!(measured.is_sorted() && measured.last() > measured.first(), "{measured:?}");
    let last = sweep(&lab, "torn", "0.01").output().unwrap();
    assert!(last.status.success() && last.stderr.is_empty(), "{}", String::from_utf8_lossy(&last.stderr));
    assert!(result(&lab, "torn") == result(&lab, "quiet"), "the same bytes");
}

#[test]
fn a_terminated_cell_keeps_where_it_was() {
    let lab = lab();
    let mut child = sweep(&lab, "s", "1000").stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while only(&lab, "s", "running").is_none() && start.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: the process is a child of this one that has not been waited for.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGTERM) }, 0);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(only(&lab, "s", "running"), None, "nobody works on it");
    assert!(only(&lab, "s", "checkpoints").is_some() && only(&lab, "s", "cells").is_none());
    assert!(sweep(&lab, "s", "1000").status().unwrap().success());
    assert!(sweep(&lab, "quiet", "1000").status().unwrap().success());
    assert!(result(&lab, "s") == result(&lab, "quiet"), "the same bytes");
}

#[test]
fn a_damaged_checkpoint_is_noted_and_the_cell_starts_again() {
    let lab = Lab::new();
    std::fs::write(lab.path("e.toml"), short("200")).unwrap();
    assert!(sweep(&lab, "quiet", "1000").status().unwrap().success());
    let cell = only(&lab, "quiet", "cells").unwrap();
    let name = cell.file_stem().unwrap();
    // A checkpoint of another cell, and incomplete ones.
    std::fs::write(lab.path("other.toml"), LONG.replace("seed = 1", "seed = 2")).unwrap();
    let mut other = lab.command("sweep run other.toml --store other --threads 1");
    let mut other = other.env("GARDENPATH_CHECKPOINT_SECONDS", "0.01").stdout(Stdio::null()).spawn().unwrap();
    while only(&lab, "other", "checkpoints").is_none() {
        assert_eq!(other.try_wait().unwrap(), None, "it ended without a checkpoint");
        std::thread::sleep(Duration::from_millis(1));
    }
    other.kill().unwrap();
    other.wait().unwrap();
    let foreign = std::fs::read(only(&lab, "other", "checkpoints").unwrap()).unwrap();
    let cut = foreign[..foreign.len() - 1].to_vec();
    for (number, (contents, wrong)) in
        [(foreign, "belongs to another run"), (cut, "is damaged"), (Vec::new(), "is damaged")].into_iter().enumerate()
    {
        let store = format!("s{number}");
        std::fs::create_dir_all(lab.path(&store).join("checkpoints")).unwrap();
        std::fs::write(lab.path(&store).join("checkpoints").join(name), contents).unwrap();
        let output = sweep(&lab, &store, "1000").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        assert!(said.contains(&format!("{}: {wrong}; measuring it again", name.to_str().unwrap())), "{said}");
        assert!(result(&lab, &store) == result(&lab, "quiet"), "the same bytes");
    }
}

#[test]
fn checkpoints_of_finished_cells_are_removed() {
    let lab = Lab::new();
    std::fs::write(lab.path("e.toml"), short("50")).unwrap();
    assert!(sweep(&lab, "s", "1000").status().unwrap().success());
    let name = only(&lab, "s", "cells").unwrap().file_stem().unwrap().to_owned();
    let checkpoints = lab.path("s/checkpoints");
    std::fs::create_dir_all(&checkpoints).unwrap();
    std::fs::write(checkpoints.join(name), "left by another worker on the same cell").unwrap();
    assert!(sweep(&lab, "s", "1000").status().unwrap().success());
    assert_eq!(only(&lab, "s", "checkpoints"), None);
}
