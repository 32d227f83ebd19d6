//! Sweeps on a real Slurm survive what happens to its jobs and nodes: all cells, and the same bytes as without it.
#![cfg(target_os = "linux")]

mod common;

#[path = "slurm/cluster.rs"]
mod cluster;
#[path = "slurm/sweep.rs"]
mod sweep;

use cluster::{Cluster, wait};
use common::Lab;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sweep::Sweep;

const EXPERIMENT: &str = "\
measure = 'entropy'
expects = ''
[[grid]]
vocab = 16
depth = 4
fraction = 0.75
sentences = 2000
seed = '1..60'
";

/// Two of four cells have more rules than there are tuples.
const HALF_OF_IT_FAILS: &str = "\
measure = 'entropy'
expects = ''
[[grid]]
vocab = 4
depth = 2
fraction = [0.5, 1.5]
sentences = 10
seed = '1..2'
";

#[test]
fn sweeps_survive_what_happens_on_a_cluster() {
    let Some(mut cluster) = Cluster::start() else {
        // Printed this way, it is visible even if the test passes.
        let _ = writeln!(io::stderr(), "skipped: Slurm is not installed (slurm-wlm and munge)");
        return;
    };
    let lab = Lab::new();
    fs::write(lab.path("sweep.toml"), EXPERIMENT).unwrap();
    lab.run("sweep run sweep.toml --store expected");
    all_nodes_work(&lab, &cluster);
    tasks_get_what_they_ask_for(&lab, &cluster);
    built_in_experiments_run_on_nodes(&lab, &cluster);
    cancelled_tasks_are_submitted_again(&lab, &cluster);
    the_array_survives_ctrl_c(&lab, &cluster);
    for orphans in [true, false] {
        lost_nodes_do_no_harm(&lab, &mut cluster, orphans);
    }
    failures_are_counted_once(&lab, &cluster);
}

fn all_nodes_work(lab: &Lab, cluster: &Cluster) {
    // Such a name must survive Slurm, the shell and the program.
    let sweep = Sweep::new(lab, cluster, "it's \"a\" store: 100%A");
    let submit = sweep.submit(&[]).output();
    assert_eq!(submit.code, 0, "{}", submit.errors);
    assert_eq!(submit.line, "60 cells: 60 done, 0 failed, 0 missing; arrays: 1\n");
    let said = sweep.said();
    assert_eq!(said.len(), 16);
    for node in cluster::NODES {
        assert!(said.values().any(|text| text.contains(&format!("on {node}\n"))), "{node} did nothing");
    }
    sweep.is_as_expected();
    // Nothing is left to do.
    assert!(sweep.submit(&[]).output().line.ends_with("0 missing; arrays: 0\n"));
}

fn tasks_get_what_they_ask_for(lab: &Lab, cluster: &Cluster) {
    let sweep = Sweep::new(lab, cluster, "resources");
    let ours = ["--array-size", "3", "--gres", "gpu:1", "--mem", "100", "--constraint", "fast", "--account", "lab"];
    let more = ["--qos", "high", "--partition", "all", "--time", "10", "--at-once", "2", "--cpus-per-task", "1"];
    let theirs = ["--", "--nice=7", "--comment", "of two words"];
    let submit = sweep.submit(&[&ours[..], &more[..], &theirs[..]].concat()).output();
    assert_eq!(submit.code, 0, "{}", submit.errors);
    let said = sweep.said();
    assert_eq!(said.len(), 3);
    for text in said.values() {
        let first = text.lines().next().unwrap();
        assert!(first.contains(" on n2 with GPU 0"), "only n2 has the feature: {first}");
    }
    let job = cluster.ask(&format!("scontrol show job {}_1", sweep.job()));
    for part in
        [" Account=lab ", "MinMemoryNode=100M", "Features=fast", " Nice=7 ", "gres:gpu:1", "Comment=of two words"]
    {
        assert!(job.contains(part), "{part}: {job}");
    }
    sweep.is_as_expected();
}

fn built_in_experiments_run_on_nodes(lab: &Lab, cluster: &Cluster) {
    let sweep = Sweep::of("vectors", lab, cluster, "built-in");
    let refused = sweep.submit(&["--scale", "quick"]).output();
    assert!(refused.code == 2 && refused.errors.contains("--scale has no effect here"), "{}", refused.errors);
    let submit = sweep.submit(&[]).output();
    assert_eq!(submit.code, 0, "{}", submit.errors);
    assert!(submit.line.ends_with(" 0 missing; arrays: 1\n"), "{}", submit.line);
    lab.run("sweep run vectors --store here");
    assert!(sweep.cells() == Sweep::of("vectors", lab, cluster, "here").cells(), "some bytes differ");
    let remembered = fs::read_to_string(lab.path("built-in/slurm/job")).unwrap();
    assert_eq!(remembered, format!("{} quick vectors\n", sweep.job()));
}

fn cancelled_tasks_are_submitted_again(lab: &Lab, cluster: &Cluster) {
    let sweep = Sweep::new(lab, cluster, "cancelled");
    let submit = sweep.submit(&[]);
    sweep.wait_for_cells(10);
    let job = sweep.job();
    cluster.ask(&format!("scancel {job}"));
    let submit = submit.output();
    assert_eq!(submit.code, 0, "{}", submit.errors);
    assert!(submit.errors.contains(&format!("array {job} has ended, and ")), "{}", submit.errors);
    assert!(submit.line.ends_with(" 0 missing; arrays: 2\n"), "{}", submit.line);
    sweep.is_as_expected();
}

fn the_array_survives_ctrl_c(lab: &Lab, cluster: &Cluster) {
    let sweep = Sweep::new(lab, cluster, "interrupted");
    let submit = sweep.submit(&[]);
    sweep.wait_for_cells(5);
    submit.interrupt();
    let interrupted = submit.output();
    let job = sweep.job();
    assert_eq!(interrupted.code, 130, "{}", interrupted.errors);
    assert!(interrupted.errors.contains(&format!("scancel {job}")), "{}", interrupted.errors);
    assert_eq!(sweep.submit(&["--detach"]).output().line, format!("{job}\n"));
    let followed = sweep.submit(&["--json"]).output();
    assert!(followed.errors.contains(&format!("array {job} is already queued")), "{}", followed.errors);
    let totals: serde_json::Value = serde_json::from_str(&followed.line).unwrap();
    assert_eq!(totals, serde_json::json!({"cells": 60, "done": 60, "failed": 0, "missing": 0, "arrays": 0}));
    assert!(sweep.said().keys().all(|name| name.starts_with(&format!("{job}_"))));
    sweep.is_as_expected();
}

fn lost_nodes_do_no_harm(lab: &Lab, cluster: &mut Cluster, orphans: bool) {
    let sweep = Sweep::new(lab, cluster, if orphans { "orphans" } else { "lost" });
    let submit = sweep.submit(&["--array-size", "4"]);
    sweep.wait_for_cells(5);
    // A stopped task cannot end before its node is lost.
    let stop_a_task =
        || cluster.processes("n1").into_iter().find(|task| task.name == "gardenpath" && task.signal("STOP"));
    let mut task = None;
    wait("a task on n1", || {
        task = stop_a_task();
        task.is_some()
    });
    cluster.lose("n1", orphans);
    let lost = Instant::now();
    let is_restarted = || sweep.said().values().any(|text| text.contains("on n1\n") && text.contains("on n2\n"));
    if let Some(orphan) = task.filter(|_| orphans) {
        // From now on, the same cells are measured twice.
        wait("the task to run again", is_restarted);
        assert!(orphan.signal("CONT"));
    }
    let submit = submit.output();
    assert_eq!(submit.code, 0, "{}", submit.errors);
    assert!(submit.line.starts_with("60 cells: 60 done"), "{}", submit.line);
    // Slurm would hold the task back for two minutes.
    assert!(lost.elapsed() < Duration::from_secs(110));
    assert!(is_restarted(), "no task was run again on another node");
    wait("the orphan", || cluster.processes("n1").is_empty());
    sweep.is_as_expected();
    cluster.revive("n1");
}

fn failures_are_counted_once(lab: &Lab, cluster: &Cluster) {
    fs::write(lab.path("sweep.toml"), HALF_OF_IT_FAILS).unwrap();
    let sweep = Sweep::new(lab, cluster, "failures");
    let submit = sweep.submit(&[]).output();
    assert_eq!(submit.code, 1);
    assert_eq!(submit.line, "4 cells: 2 done, 2 failed, 0 missing; arrays: 1\n");
    assert!(submit.errors.contains("error: 2 of 4 cells failed"), "{}", submit.errors);
    let failures = || sweep.said().values().map(|text| text.matches("failed: ").count()).sum::<usize>();
    assert_eq!(failures(), 2);
    // A new sweep tries once more.
    assert_eq!(sweep.submit(&[]).output().line, submit.line);
    assert_eq!(failures(), 4);
}

/// A directory of fake Slurm commands.
fn stand_ins(lab: &Lab, commands: &[(&str, &str)]) -> PathBuf {
    let directory = lab.path("bin");
    fs::create_dir_all(&directory).unwrap();
    for (name, text) in commands {
        fs::write(directory.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(directory.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    directory
}

#[test]
fn what_is_missing_is_named() {
    let lab = Lab::new();
    fs::write(lab.path("sweep.toml"), EXPERIMENT).unwrap();
    assert_eq!(lab.refusal("sweep submit sweep.toml --store s"), "expected --slurm, the only supported scheduler");
    let errors = |commands| {
        let path = stand_ins(&lab, commands);
        let output = lab.command("sweep submit sweep.toml --store s --slurm").env("PATH", path).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(errors(&[]), "error: --slurm needs sbatch, which is not installed\n");
    assert_eq!(errors(&[("sbatch", "exit 0")]), "error: --slurm needs squeue, which is not installed\n");
    let refused =
        errors(&[("sbatch", "[ $1 = --version ] || { echo 'sbatch: error: no' >&2; exit 1; }"), ("squeue", "")]);
    assert_eq!(refused, "error: sbatch refused: sbatch: error: no\n");
}

#[test]
fn options_that_would_break_a_sweep_are_refused() {
    let lab = Lab::new();
    fs::write(lab.path("sweep.toml"), EXPERIMENT).unwrap();
    for (options, expected) in [
        ("--array=1-3", "do not pass --array (-a) to sbatch: --array-size and --at-once set it"),
        (
            "--mail-type=END -o x",
            "do not pass --output (-o) to sbatch: the output of tasks is in the store's slurm directory",
        ),
        ("--wrap ls", "do not pass --wrap to sbatch: there is a job script already"),
        ("other.sh", "\"other.sh\" is not an option of sbatch"),
    ] {
        let refusal = lab.refusal(&format!("sweep submit sweep.toml --store s --slurm -- {options}"));
        assert!(refusal.starts_with(expected), "{refusal}");
    }
    assert_eq!(lab.files(), ["sweep.toml"]);
}

#[test]
fn it_gives_up_when_nothing_comes_of_it() {
    let lab = Lab::new();
    fs::write(lab.path("sweep.toml"), EXPERIMENT).unwrap();
    // Every array is gone at once.
    let sbatch = format!("[ $1 = --version ] || echo x >> '{0}'; wc -l < '{0}'", lab.path("count").display());
    fs::write(lab.path("count"), "").unwrap();
    let commands = stand_ins(&lab, &[("sbatch", &sbatch), ("squeue", "exit 0")]);
    let path = format!("{}:/usr/bin:/bin", commands.display());
    let mut command = lab.command("sweep submit sweep.toml --store s --slurm --array-size 4 --retries 2");
    let output = command.env("PATH", path).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, "60 cells: 0 done, 0 failed, 60 missing; arrays: 3\n");
    assert!(errors.contains("array 3: 4 tasks for 60 cells\n"), "{errors}");
    assert!(errors.ends_with("error: 60 of 60 cells are missing; the output of the tasks is in s/slurm\n"), "{errors}");
}

#[test]
fn failed_cells_can_be_left_out() {
    let lab = Lab::new();
    fs::write(lab.path("sweep.toml"), HALF_OF_IT_FAILS).unwrap();
    let run = |options| lab.try_run(&format!("sweep run sweep.toml --store s {options}"));
    assert_eq!(run("").status.code(), Some(1));
    assert_eq!(run("").status.code(), Some(1));
    assert_eq!(run("--skip-failed").stdout, b"2 cells: 2 found, 0 measured, 0 failed\n");
}
