//! Remembers the last array submitted for each sweep of a store, as lines `JOB SCALE EXPERIMENT` in a file. If only the
//! cells for a device are taken, the scale is, for example, `quick:gpu`. The experiment is an absolute path, or the
//! name of a built-in one.

use anyhow::{Context, Result};
use gardenpath_lab::experiment::Scale;
use gardenpath_lab::files::atomic;
use gardenpath_lab::training::Device;
use std::fs;
use std::path::{Path, PathBuf};

/// The submissions of one sweep.
pub struct Submissions {
    path: PathBuf,
    sweep: String,
}

impl Submissions {
    /// The submissions of a sweep, as recorded in a file.
    pub fn of(path: &Path, scale: &Scale, only: Option<Device>, experiment: &Path) -> Self {
        let only = only.map_or(String::new(), |device| format!(":{}", device));
        let sweep = format!("{}{only} {}", scale.name(), experiment.display());
        Submissions { path: path.to_owned(), sweep }
    }

    /// The array submitted last.
    pub fn last(&self) -> Option<String> {
        let lines = self.lines();
        let (job, _) = lines.iter().find_map(|line| line.split_once(' ').filter(|(_, sweep)| *sweep == self.sweep))?;
        Some(job.to_owned())
    }

    /// Records a new array in place of the last one.
    pub fn keep(&self, job: &str) -> Result<()> {
        let mut lines = self.lines();
        lines.retain(|line| line.split_once(' ').is_some_and(|(_, sweep)| sweep != self.sweep));
        lines.insert(0, format!("{job} {}", self.sweep));
        let written = atomic::write(&self.path, (lines.join("\n") + "\n").as_bytes());
        written.with_context(|| format!("array {job} was submitted, but its ID could not be saved"))
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(&self.path).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweeps_of_one_store_are_kept_apart() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("job");
        let of = |scale, experiment: &str| Submissions::of(&path, scale, None, Path::new(experiment));
        let [quick, full, other] = [(&Scale::QUICK, "/a b"), (&Scale::FULL, "/a b"), (&Scale::QUICK, "/a")];
        assert_eq!(of(quick.0, quick.1).last(), None);
        for (job, sweep) in [("1", quick), ("2", full), ("3", other), ("4", quick)] {
            of(sweep.0, sweep.1).keep(job).unwrap();
        }
        let last = [quick, full, other].map(|sweep| of(sweep.0, sweep.1).last().unwrap());
        assert_eq!(last, ["4", "2", "3"]);
        let gpu = Submissions::of(&path, &Scale::QUICK, Some(Device::Gpu), Path::new("/a b"));
        assert_eq!(gpu.last(), None);
        assert_eq!(fs::read_to_string(&path).unwrap(), "4 quick /a b\n3 quick /a\n2 full /a b\n");
        gpu.keep("5").unwrap();
        assert_eq!([of(&Scale::QUICK, "/a b").last().unwrap(), gpu.last().unwrap()], ["4", "5"]);
        // A built-in experiment is distinct from a file of the same name.
        assert_eq!(of(&Scale::QUICK, "a").last(), None);
    }
}
