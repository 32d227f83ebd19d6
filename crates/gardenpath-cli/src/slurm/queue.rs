//! Slurm's queue, through sbatch, squeue and scontrol. Not sacct, since a cluster may run without accounting.

use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::env;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The jobs of a sweep.
pub struct Queue {
    /// The name of its jobs.
    pub name: String,
}

/// A task of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its name, such as `12_3`.
    id: String,
    /// Whether it has not started.
    pending: bool,
    /// Why it has not started.
    reason: String,
    /// Whether it was requeued and is held back until the lost node is cleaned up, for about two minutes.
    delayed: bool,
}

/// The columns requested from squeue. Only this form of the option has the restart count.
const COLUMNS: &str = "JobArrayID:|,State:|,Reason:|,RestartCnt:|";

impl Queue {
    /// The jobs of an experiment. Fails if Slurm is not installed.
    pub fn new(experiment: &str) -> Result<Self> {
        for program in ["sbatch", "squeue"] {
            call(program, [OsStr::new("--version")])?;
        }
        let known = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        Ok(Queue { name: format!("gardenpath-{}", experiment.chars().map(known).collect::<String>()) })
    }

    /// Submits a job script with these options and returns the job ID.
    pub fn submit(&self, script: &Path, options: &[String]) -> Result<String> {
        let first = ["--parsable".as_ref()].into_iter().chain(options.iter().map(OsStr::new));
        let output = call("sbatch", first.chain([script.as_os_str()]))?;
        if !output.status.success() {
            bail!("sbatch refused: {}", words(&output.stderr));
        }
        job(&String::from_utf8_lossy(&output.stdout))
            .with_context(|| format!("unexpected output of sbatch: {}", words(&output.stdout)))
    }

    /// The queued tasks of a job. Jobs with another name are ignored, since job IDs can be reused.
    pub fn tasks(&self, job: &str) -> Result<Vec<Task>> {
        let name = format!("--name={}", self.name);
        let arguments = ["--noheader", "--array", "--all", "--jobs", job, &name, "--Format", COLUMNS];
        let output = call("squeue", arguments.map(OsStr::new))?;
        if output.status.success() {
            return parse(&String::from_utf8_lossy(&output.stdout));
        }
        let error = words(&output.stderr);
        // Slurm forgets jobs some minutes after they end.
        if error.contains("Invalid job id") {
            return Ok(Vec::new());
        }
        bail!("squeue failed: {error}")
    }
}

/// The job ID in the output of `sbatch --parsable`: a number, optionally followed by the name of a cluster.
fn job(text: &str) -> Option<String> {
    let job = text.trim().split(';').next()?;
    job.parse::<u64>().is_ok().then(|| job.to_owned())
}

/// Parses the output of squeue.
fn parse(text: &str) -> Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[id, state, ref reason @ .., restarts, _] = columns.as_slice() else {
            bail!("unexpected output of squeue: {line:?}")
        };
        let pending = match state {
            "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => true,
            "BOOT_FAIL" | "CANCELLED" | "COMPLETED" | "DEADLINE" | "FAILED" | "NODE_FAIL" | "OUT_OF_MEMORY"
            | "PREEMPTED" | "REVOKED" | "TIMEOUT" => continue,
            _ => false,
        };
        let reason = reason.join("|");
        let delayed = pending && reason == "BeginTime" && restarts != "0";
        tasks.push(Task { id: id.to_owned(), pending, reason, delayed });
    }
    Ok(tasks)
}

/// A one-line summary of tasks.
pub fn summary(tasks: &[Task]) -> String {
    let pending: Vec<&Task> = tasks.iter().filter(|task| task.pending).collect();
    let mut reasons: Vec<&str> =
        pending.iter().map(|task| task.reason.as_str()).filter(|text| *text != "None").collect();
    reasons.sort_unstable();
    reasons.dedup();
    let why = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    format!("tasks: {} running, {} pending{why}", tasks.len() - pending.len(), pending.len())
}

/// Requeued tasks that are held back, and when each was first seen.
#[derive(Default)]
pub struct Delays {
    seen: HashMap<String, Instant>,
}

/// How long a requeued task is left alone: Slurm must first be done with the lost node.
const GRACE: Duration = Duration::from_secs(3);

impl Delays {
    /// Starts the tasks that have waited long enough.
    pub fn lift(&mut self, tasks: &[Task]) {
        let delayed: Vec<&Task> = tasks.iter().filter(|task| task.delayed).collect();
        self.seen.retain(|id, _| delayed.iter().any(|task| task.id == *id));
        for task in delayed {
            let since = self.seen.entry(task.id.clone()).or_insert_with(Instant::now);
            if since.elapsed() >= GRACE {
                *since = Instant::now();
                // Without permission for this, the task starts after two minutes.
                let _ = call("scontrol", ["update", &format!("JobId={}", task.id), "StartTime=now"].map(OsStr::new));
            }
        }
    }
}

/// Runs a Slurm command.
fn call<'a>(program: &str, arguments: impl IntoIterator<Item = &'a OsStr>) -> Result<Output> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    // The user's own squeue filters would hide tasks.
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SQUEUE_")) {
        command.env_remove(name);
    }
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // Ctrl-C must not reach sbatch: its job ID would be lost.
        command.process_group(0);
    }
    command.output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow::anyhow!("--slurm needs {program}, which is not installed"),
        _ => anyhow::Error::new(error).context(format!("cannot run {program}")),
    })
}

/// The output on one line.
fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_pending_running_or_gone() {
        let text = "\
7_1|PENDING|BeginTime|1|
7_2|PENDING|BeginTime|0|
7_3|PENDING|ReqNodeNotAvail, UnavailableNodes:n1|0|
7_4|RUNNING|None|0|
7_5|COMPLETING|None|2|
7_6|CANCELLED|None|0|
7_7|REQUEUE_HOLD|job requeued in held state|1|

";
        let tasks = parse(text).unwrap();
        let ids = |wanted: fn(&Task) -> bool| -> Vec<&str> {
            tasks.iter().filter(|task| wanted(task)).map(|task| task.id.as_str()).collect()
        };
        assert_eq!(ids(|task| task.pending), ["7_1", "7_2", "7_3", "7_7"]);
        assert_eq!(ids(|task| !task.pending), ["7_4", "7_5"]);
        // A task with a start time set by the user was not restarted.
        assert_eq!(ids(|task| task.delayed), ["7_1"]);
        let reasons = "BeginTime, ReqNodeNotAvail, UnavailableNodes:n1, job requeued in held state";
        assert_eq!(summary(&tasks), format!("tasks: 2 running, 4 pending ({reasons})"));
        assert_eq!(summary(&tasks[3..4]), "tasks: 1 running, 0 pending");
        assert_eq!(parse("\n").unwrap(), []);
        assert_eq!(parse("7_1|PENDING|a|b|0|").unwrap()[0].reason, "a|b");
        for text in ["slurm_load_jobs error", "7_1|PENDING|"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sbatch_names_the_job() {
        assert_eq!(job("12\n").as_deref(), Some("12"));
        assert_eq!(job("12;west\n").as_deref(), Some("12"));
        for text in ["", "\n", "Submitted batch job 12", ";west"] {
            assert_eq!(job(text), None, "{text}");
        }
    }
}
