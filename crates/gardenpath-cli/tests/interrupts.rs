//! Ctrl-C and SIGTERM of long commands: exit code 130, one line that says how to resume, and stored results are kept.
#![cfg(unix)]

mod common;

use common::Lab;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Two cells that take no time and one that takes forever.
const SWEEP: &str = "\
measure = 'train'
[parameters]
model = 'cnn'
vocab = 8
depth = 2
fraction = 0.125
width = 16
samples = 100_000
test = 100
seed = 1
[[grid]]
max_steps = [10, 11]
min_steps = 1
[[grid]]
max_steps = 1_000_000_000
min_steps = 1_000_000_000
";

const TRAIN: &str =
    "train --model cnn --vocab 8 --depth 2 --fraction 0.125 --samples 1e5 --test-samples 100 --width 16 --seed 1";

fn start(lab: &Lab, arguments: &str) -> Child {
    lab.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// The output on standard error; the exit code must be 130.
fn last_words(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{errors}");
    errors
}

fn wait(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited for {what}");
        sleep(Duration::from_millis(10));
    }
}

fn count(directory: &Path) -> usize {
    fs::read_dir(directory).map_or(0, |entries| {
        entries.filter(|entry| !entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with('.')).count()
    })
}

#[test]
fn a_sweep_says_how_to_resume() {
    let lab = Lab::new();
    fs::write(lab.path("e.toml"), SWEEP).unwrap();
    for (name, store) in [("-INT", "a"), ("-TERM", "b")] {
        let child = start(&lab, &format!("sweep run e.toml --store {store} --threads 1"));
        let place = |part: &str| lab.path(store).join(part);
        wait("the long cell", || count(&place("cells")) == 2 && count(&place("running")) == 1);
        signal(&child, name);
        assert_eq!(last_words(child), "interrupted: 2 of 3 cells are stored; the same command resumes\n", "{name}");
        assert_eq!(count(&place("running")), 0, "others may go on with its cell at once");
        assert_eq!(lab.json(&format!("sweep status e.toml --store {store}"))["done"], 2);
    }
}

#[test]
fn a_report_says_how_to_resume() {
    let lab = Lab::new();
    let child = start(&lab, "reproduce transition -o r --threads 1");
    wait("cells", || count(&lab.path("r/store/cells")) >= 2);
    signal(&child, "-INT");
    let errors = last_words(child);
    let last = errors.lines().last().unwrap();
    assert!(
        last.starts_with("interrupted: ") && last.ends_with(" cells are stored; the same command resumes"),
        "{errors}"
    );
    let stored: usize = last.split(' ').nth(1).unwrap().parse().unwrap();
    assert!((2..=count(&lab.path("r/store/cells"))).contains(&stored), "{errors}");
}

#[test]
fn a_run_is_kept_before_it_is_left() {
    let lab = Lab::new();
    let checkpoint = lab.path("run/checkpoint.safetensors");
    for name in ["-INT", "-TERM"] {
        let endless = "--max-steps 1e9 --min-steps 1e9";
        let before = fs::metadata(&checkpoint).and_then(|data| data.modified()).ok();
        let child = start(&lab, &format!("{TRAIN} {endless} -o run"));
        wait("training", || {
            fs::metadata(&checkpoint).and_then(|data| data.modified()).is_ok_and(|time| Some(time) != before)
        });
        sleep(Duration::from_millis(300));
        signal(&child, name);
        let errors = last_words(child);
        let last = errors.lines().last().unwrap();
        assert!(
            last.starts_with("interrupted: step ") && last.ends_with(" is saved; the same command resumes"),
            "{errors}"
        );
    }
    let child = start(&lab, &format!("{TRAIN} --max-steps 1e9 --min-steps 1e9"));
    sleep(Duration::from_millis(1000));
    signal(&child, "-INT");
    let errors = last_words(child);
    assert_eq!(errors, "interrupted: nothing was saved; -o DIR makes a run resumable\n");
}

#[test]
fn a_run_that_was_left_ends_as_if_it_had_not_been() {
    let lab = Lab::new();
    let arguments = |name: &str| format!("{TRAIN} --max-steps 3000 --min-steps 3000 --json -o {name}");
    lab.run(&arguments("whole"));
    let mut interrupted = 0;
    for _ in 0..200 {
        let mut child = start(&lab, &arguments("torn"));
        wait("its directory", || lab.path("torn/run.json").exists());
        sleep(Duration::from_millis(40));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        signal(&child, "-INT");
        interrupted += i32::from(child.wait().unwrap().code() == Some(130));
    }
    lab.run(&arguments("torn"));
    assert!(interrupted > 0, "too fast to be interrupted");
    for name in ["best.safetensors", "log.jsonl"] {
        let read = |run: &str| fs::read(lab.path(run).join(name)).unwrap();
        assert!(read("whole") == read("torn"), "{name}");
    }
}

#[test]
fn the_second_signal_ends_at_once() {
    let lab = Lab::new();
    fs::write(lab.path("e.toml"), SWEEP).unwrap();
    let commands = lab.path("bin");
    fs::create_dir(&commands).unwrap();
    // A queue that does not respond.
    let asked = lab.path("asked");
    let squeue = format!("[ $1 = --version ] && exit\ntouch '{}'\nexec sleep 20", asked.display());
    for (name, text) in [("sbatch", "echo 1"), ("squeue", &squeue)] {
        fs::write(commands.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(commands.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = lab.command("sweep submit e.toml --store s --slurm");
    command.env("PATH", format!("{}:/usr/bin:/bin", commands.display())).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait("the queue", || asked.exists());
    let time = Instant::now();
    signal(&child, "-INT");
    sleep(Duration::from_millis(500));
    assert_eq!(child.try_wait().unwrap(), None, "the first is heard when the queue has answered");
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(time.elapsed() < Duration::from_secs(15), "{:?}", time.elapsed());
}
