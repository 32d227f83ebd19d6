//! The page docs/reference/experiments.md names all measures and experiments, and job scripts ask Slurm for what it says.
//! tests/python/test_book.py runs its examples.
#![cfg(unix)]

mod common;

use common::Lab;
use gardenpath_lab::experiment::built_in;
use gardenpath_lab::measure;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const PAGE: &str = include_str!("../../../docs/reference/experiments.md");

/// A fake sbatch: runs all tasks of an array at once, and gives every job the ID 1.
const SBATCH: &str = r#"#!/bin/sh
[ "$1" = --version ] && exit
for word; do
    case "$word" in --array=1-*) tasks=${word#--array=1-} ;; esac
    script=$word
done
for task in $(seq "$tasks"); do
    SLURM_ARRAY_TASK_ID=$task SLURMD_NODENAME=n1 sh "$script" > /dev/null 2>&1
done
echo 1
"#;

/// A directory of commands that stand in for Slurm's.
fn stand_ins(lab: &Lab) -> String {
    let bin = lab.path("bin");
    fs::create_dir(&bin).unwrap();
    for (name, text) in [("sbatch", SBATCH), ("squeue", "#!/bin/sh\n")] {
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    format!("{}:/usr/bin:/bin", bin.display())
}

#[test]
fn job_scripts_ask_for_what_cells_need() {
    let lab = Lab::new();
    let path = stand_ins(&lab);
    let cells = "model = 'cnn'\nvocab = 4\ndepth = 2\nfraction = 0.5\nsamples = 100\nwidth = 8\nseed = 1";
    fs::write(lab.path("gpu.toml"), format!("measure = 'train'\n[[grid]]\n{cells}\ndevice = 'gpu'")).unwrap();
    let submit = |options: &str| {
        let output = lab.command(&format!("sweep submit {options}")).env("PATH", &path).output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8(output.stdout).unwrap().as_str()), (Some(0), "1\n"));
    };
    submit("gpu.toml --store gpu --slurm --cpus-per-task 4 --detach");
    let script = fs::read_to_string(lab.path("gpu/slurm/gardenpath-gpu.sh")).unwrap();
    assert!(script.contains("\n#SBATCH --gres=gpu:1\n") && script.contains("--threads 4 "), "{script}");
    submit("vectors --store cluster --slurm --detach -- --mail-type=END --exclude n7");
    let script = fs::read_to_string(lab.path("cluster/slurm/gardenpath-vectors.sh")).unwrap();
    assert!(script.contains("\n#SBATCH --exclude n7\n") && !script.contains("gres"), "{script}");
}

#[test]
fn the_page_names_everything() {
    for name in measure::NAMES.iter().copied().chain(built_in::names()).chain([
        "expects",
        "[parameters]",
        "[[grid]]",
        "[[fit]]",
        "[[claim]]",
        "[[panel]]",
    ]) {
        assert!(PAGE.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn cells_for_both_devices_are_not_submitted_together() {
    let lab = Lab::new();
    let cells = "model = 'cnn'\nvocab = 4\ndepth = 2\nfraction = 0.5\nsamples = 100\ntest = 100\nwidth = 8\nmax_steps = 10\nseed = 1";
    fs::write(lab.path("both.toml"), format!("measure = 'train'\n[[grid]]\n{cells}\ndevice = ['cpu', 'gpu']")).unwrap();
    let path = stand_ins(&lab);
    let submit = |options: &str| {
        let mut command = lab.command(&format!("sweep submit both.toml --store s --slurm {options}"));
        let output = command.env("PATH", &path).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap(), errors)
    };
    let (code, _, errors) = submit("");
    let expected = "error: 1 of 2 cells need a GPU and the others do not: submit them separately, with --only gpu and --only cpu\n";
    assert_eq!((code, errors.as_str()), (2, expected));
    let (code, line, _) = submit("--only cpu");
    assert_eq!((code, line.as_str()), (0, "1 cell: 1 done, 0 failed, 0 missing; arrays: 1\n"));
    let script = || fs::read_to_string(lab.path("s/slurm/gardenpath-both.sh")).unwrap();
    assert!(script().contains(" --only cpu ") && !script().contains("gres"), "{}", script());
    // Only the cell for the GPU is missing.
    let (code, line, _) = submit("--detach");
    assert_eq!((code, line.as_str()), (0, "1\n"));
    assert!(script().contains("--gres=gpu:1"), "{}", script());
}
