//! `sweep submit` on a cluster, and the contents of its store.

use crate::cluster::{Cluster, wait};
use crate::common::Lab;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// A sweep with its own store.
pub struct Sweep<'a> {
    lab: &'a Lab,
    cluster: &'a Cluster,
    experiment: &'a str,
    store: PathBuf,
}

/// A running `sweep submit`, which ends with the test.
pub struct Submit {
    child: Child,
    line: PathBuf,
    errors: PathBuf,
}

/// The outcome.
pub struct Ended {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub line: String,
    /// Standard error.
    pub errors: String,
}

impl<'a> Sweep<'a> {
    /// A sweep of `sweep.toml`.
    pub fn new(lab: &'a Lab, cluster: &'a Cluster, store: &str) -> Self {
        Self::of("sweep.toml", lab, cluster, store)
    }

    /// A sweep of any experiment.
    pub fn of(experiment: &'a str, lab: &'a Lab, cluster: &'a Cluster, store: &str) -> Self {
        Sweep { lab, cluster, experiment, store: lab.path(store) }
    }

    /// Submits it.
    pub fn submit(&self, options: &[&str]) -> Submit {
        let mut command = self.lab.command(&format!("sweep submit {} --slurm --poll 1", self.experiment));
        self.cluster.attach(&mut command);
        let [line, errors] = ["line", "errors"].map(|name| self.lab.path(name));
        command.stdout(File::create(&line).unwrap()).stderr(File::create(&errors).unwrap());
        Submit { child: command.arg("--store").arg(&self.store).args(options).spawn().unwrap(), line, errors }
    }

    /// The ID of the last array submitted.
    pub fn job(&self) -> String {
        let text = fs::read_to_string(self.store.join("slurm/job")).unwrap();
        text.split(' ').next().unwrap().to_owned()
    }

    /// The bytes of all results.
    pub fn cells(&self) -> BTreeMap<String, Vec<u8>> {
        files(&self.store.join("cells"))
    }

    /// Waits until some results are there, but not nearly all.
    pub fn wait_for_cells(&self, count: usize) {
        wait("cells", || self.store.join("cells").exists() && self.cells().len() >= count);
        assert!(self.cells().len() < 50, "too late to disturb it");
    }

    /// The output of the tasks.
    pub fn said(&self) -> BTreeMap<String, String> {
        let all = files(&self.store.join("slurm")).into_iter().filter(|(name, _)| name.ends_with(".out"));
        all.map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap())).collect()
    }

    /// Compares the results with those in the store `expected`.
    pub fn is_as_expected(&self) {
        let (cells, expected) = (self.cells(), files(&self.lab.path("expected/cells")));
        assert_eq!(cells.keys().collect::<BTreeSet<_>>(), expected.keys().collect::<BTreeSet<_>>());
        assert!(cells == expected, "some bytes differ");
    }
}

impl Submit {
    /// Sends Ctrl-C.
    pub fn interrupt(&self) {
        let number = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &number]).status().unwrap().success());
    }

    /// Waits for its end.
    pub fn output(mut self) -> Ended {
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        let [line, errors] = [&self.line, &self.errors].map(|path| fs::read_to_string(path).unwrap());
        Ended { code, line, errors }
    }
}

impl Drop for Submit {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The contents of the files of a directory, except temporary ones.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    named.filter(|(name, _)| !name.starts_with('.')).map(|(name, path)| (name, fs::read(path).unwrap())).collect()
}
