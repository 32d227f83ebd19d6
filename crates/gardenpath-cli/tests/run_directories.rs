//! Run directories: killed at any moment, with damaged files, used by two processes at once.
#![cfg(unix)]

mod common;

use common::Lab;
use gardenpath::Seed;
use gardenpath_nn::engine::NamedTensor;
use gardenpath_nn::weights_file::{self, CHECKSUM};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SMALL: &str = "--vocab 6 --depth 2 --fraction 0.125 --test 100 --width 16 --seed 1";
const CNN: &str = "--model cnn --samples 300 --max-steps 1500 --min-steps 1500 --patience 1e9";
const TRANSFORMER: &str = "--model transformer --samples 300 --heads 2 --max-steps 300 --min-steps 300 --patience 1e9";
const CHECKPOINT: &str = "checkpoint.safetensors";

/// The files of a run that depend only on its recipe.
const FILES: [&str; 7] =
    ["run.json", "grammar.pcfg", "best.safetensors", CHECKPOINT, "log.jsonl", "curve.svg", "curve.png"];

fn train(lab: &Lab, options: &str, directory: &str) -> Value {
    let mut result = lab.json(&format!("train {SMALL} {options} -o {directory}"));
    result.as_object_mut().unwrap().remove("seconds");
    result
}

/// A run in the background, which is killed when the test ends.
struct Background(Child);

fn start(lab: &Lab, options: &str, directory: &str) -> Background {
    let mut command = lab.command(&format!("train {SMALL} {options} -o {directory} --json"));
    Background(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

impl Background {
    fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// Waits until a file is replaced, or the run has ended.
    fn wait_for_change(&mut self, path: &Path) {
        let inode = || fs::metadata(path).map_or(0, |data| data.ino());
        let before = inode();
        while inode() == before && self.is_running() {
            sleep(Duration::from_micros(20));
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Options of a run that does not end: with fewer sentences, the network overfits, and the rising loss ends the run.
fn endless(model: &str) -> String {
    format!("{model} --samples 1e6 --max-steps 1000000000 --min-steps 1000000000")
}

fn refusal(lab: &Lab, options: &str, directory: &str) -> String {
    lab.refusal(&format!("train {SMALL} {options} -o {directory}"))
}

fn assert_same(lab: &Lab, one: &str, other: &str) {
    for file in FILES {
        let read = |run: &str| fs::read(lab.path(run).join(file)).unwrap();
        assert!(read(one) == read(other), "{file} of {one} and of {other}");
    }
}

#[test]
fn equal_runs_leave_equal_files() {
    let lab = Lab::new();
    for (name, options) in
        [("cnn", CNN), ("transformer", TRANSFORMER), ("diverging", "--model cnn --samples 300 --learning-rate 1e30")]
    {
        let [one, two] = ["one", "two"].map(|run| train(&lab, options, &format!("{name}-{run}")));
        assert_eq!(one, two);
        assert_same(&lab, &format!("{name}-one"), &format!("{name}-two"));
    }
}

#[test]
fn kills_leave_no_trace() {
    let lab = Lab::new();
    let mut stream = Seed::new(4).stream(0);
    let mut kills = 0;
    for (name, options) in [("cnn", CNN), ("transformer", TRANSFORMER)] {
        let whole = train(&lab, options, name);
        for turn in 0..3 {
            let directory = format!("{name}-{turn}");
            while !lab.path(&directory).join("result.json").exists() {
                let mut child = start(&lab, options, &directory);
                // At random moments, and as soon as one of the files appears: the others may be older.
                match stream.below(5) {
                    0 => sleep(Duration::from_micros(stream.below(60_000))),
                    1 => child.wait_for_change(&lab.path(&directory).join("best.safetensors")),
                    2 => child.wait_for_change(&lab.path(&directory).join("log.jsonl")),
                    _ => child.wait_for_change(&lab.path(&directory).join(CHECKPOINT)),
                }
                sleep(Duration::from_micros(stream.below(3) * stream.below(500)));
                kills += usize::from(child.is_running());
            }
            assert_eq!(train(&lab, options, &directory), whole);
            assert_same(&lab, &directory, name);
        }
    }
    assert!(kills > 25, "{kills} kills");
}

/// Killed after the last checkpoint, a run lacks only its last files.
#[test]
fn the_last_files_are_written_again() {
    let lab = Lab::new();
    let whole = train(&lab, CNN, "whole");
    train(&lab, CNN, "torn");
    let path = lab.path("torn/log.jsonl");
    let log = fs::read_to_string(&path).unwrap();
    fs::write(&path, &log[..log.trim_end().rfind('\n').unwrap() + 1]).unwrap();
    for file in ["result.json", "curve.png"] {
        fs::remove_file(lab.path("torn").join(file)).unwrap();
    }
    assert_eq!(train(&lab, CNN, "torn"), whole);
    assert_same(&lab, "torn", "whole");
}

#[test]
fn a_directory_is_for_one_process() {
    let lab = Lab::new();
    let long = &endless("--model cnn");
    let child = start(&lab, long, "run");
    let begin = Instant::now();
    while !lab.path("run/log.jsonl").exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it does not begin");
        sleep(Duration::from_millis(5));
    }
    assert!(refusal(&lab, long, "run").contains("another process"));
    assert!(refusal(&lab, CNN, "run").contains("another process"));
    drop(child);
    // The lock was released with the process.
    let mut again = start(&lab, long, "run");
    again.wait_for_change(&lab.path("run").join(CHECKPOINT));
    assert!(again.is_running(), "it goes on");
}

#[test]
fn a_checkpoint_knows_its_run() {
    let lab = Lab::new();
    let whole = train(&lab, CNN, "run");
    let directory = lab.path("run");
    fs::remove_file(directory.join("result.json")).unwrap();
    fs::remove_file(directory.join("run.json")).unwrap();
    for other in [CNN.replace("1500", "1600"), format!("{CNN} --batch 32")] {
        let error = refusal(&lab, &other, "run");
        assert!(error.contains(CHECKPOINT) && error.contains("another run"), "{error}");
    }
    let error = lab.refusal(&format!("train {} {CNN} -o run", SMALL.replace("--seed 1", "--seed 2")));
    assert!(error.contains(CHECKPOINT) && error.contains("another run"), "{error}");
    assert!(!directory.join("run.json").exists(), "nothing was written");
    assert_eq!(train(&lab, CNN, "run"), whole, "its own run goes on");

    // Files without a checkpoint cannot be attributed to a run.
    for name in ["result.json", "run.json", CHECKPOINT] {
        fs::remove_file(directory.join(name)).unwrap();
    }
    assert!(refusal(&lab, CNN, "run").contains("best.safetensors: belongs to a run whose run.json is missing"));
    // Another grammar is not overwritten.
    fs::create_dir(lab.path("other")).unwrap();
    lab.run("grammar sample --vocab 5 --depth 2 --seed 9 -o other/grammar.pcfg");
    let before = fs::read(lab.path("other/grammar.pcfg")).unwrap();
    assert!(refusal(&lab, CNN, "other").contains("grammar.pcfg: is not the grammar of this run"));
    assert!(fs::read(lab.path("other/grammar.pcfg")).unwrap() == before);
}

/// Changes tensors and metadata of a file; the checksum is that of the changed file.
fn change(path: &Path, edit: impl FnOnce(&mut Vec<NamedTensor>, &mut Vec<(String, String)>)) {
    let (mut tensors, metadata) = weights_file::from_bytes(&fs::read(path).unwrap()).unwrap();
    let mut metadata: Vec<(String, String)> = metadata.into_iter().filter(|(key, _)| key != CHECKSUM).collect();
    edit(&mut tensors, &mut metadata);
    let metadata: Vec<(&str, &str)> = metadata.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
    fs::write(path, weights_file::to_bytes(&tensors, &metadata)).unwrap();
}

/// Changes the progress of a run in the metadata of its checkpoint.
fn change_progress(metadata: &mut [(String, String)], edit: impl FnOnce(&mut Value)) {
    let (_, text) = metadata.iter_mut().find(|(key, _)| key == "progress").unwrap();
    let mut progress: Value = serde_json::from_str(text).unwrap();
    edit(&mut progress);
    *text = progress.to_string();
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let lab = Lab::new();
    let long = &endless("--model transformer --heads 2");
    let mut child = start(&lab, long, "run");
    let path = lab.path("run").join(CHECKPOINT);
    (0..4).for_each(|_| child.wait_for_change(&path));
    drop(child);
    let whole = fs::read(&path).unwrap();
    let refused = |expected: &str| {
        let error = refusal(&lab, long, "run");
        assert!(error.contains(CHECKPOINT) && error.contains(expected), "{error}");
        assert!(fs::read(&path).unwrap() != whole, "it is left as it is");
        fs::write(&path, &whole).unwrap();
    };
    for place in [3, 20, 200, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[place] ^= 4;
        fs::write(&path, damaged).unwrap();
        refused("");
    }
    fs::write(&path, &whole[..whole.len() - 100]).unwrap();
    refused("");
    fs::write(&path, b"").unwrap();
    refused("");
    change(&path, |tensors, _| tensors[0].values[0] = f32::NAN);
    refused("NaN or infinite values");
    change(&path, |_, metadata| change_progress(metadata, |progress| progress["step"] = json!(1u64 << 63)));
    refused("no progress for this run");
    change(&path, |_, metadata| {
        change_progress(metadata, |progress| progress["records"][0]["test_loss"] = json!(null))
    });
    refused("no progress for this run");
    change(&path, |tensors, _| tensors.retain(|tensor| tensor.name != "readout"));
    refused("there is no tensor 'readout'");
    change(&path, |tensors, _| tensors.retain(|tensor| !tensor.name.starts_with("adam")));
    refused("does not have the tensors");
    change(&path, |_, metadata| metadata.iter_mut().filter(|(key, _)| key == "run").for_each(|(_, run)| run.push('0')));
    refused("another run");
    // As version 0.1 wrote it.
    let views: Vec<(String, Vec<u8>, Vec<usize>)> = weights_file::from_bytes(&whole)
        .unwrap()
        .0
        .into_iter()
        .map(|tensor| (tensor.name, tensor.values.iter().flat_map(|value| value.to_le_bytes()).collect(), tensor.shape))
        .collect();
    let views = views.iter().map(|(name, bytes, shape)| {
        (name, safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape.clone(), bytes).unwrap())
    });
    fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
    refused("no checksum");

    // The best weights belong to the checkpoint.
    let best = lab.path("run/best.safetensors");
    let bytes = fs::read(&best).unwrap();
    let mut damaged = bytes.clone();
    damaged[bytes.len() - 5] ^= 1;
    fs::write(&best, damaged).unwrap();
    assert!(refusal(&lab, long, "run").contains("best.safetensors: the checksum is wrong"));
    assert!(lab.refusal("probe run").contains("best.safetensors: the checksum is wrong"));
    fs::write(&best, &bytes).unwrap();
    change(&best, |tensors, _| drop(tensors.remove(0)));
    assert!(lab.refusal("probe run").contains("best.safetensors: there is no tensor"));
    fs::remove_file(&best).unwrap();
    assert!(refusal(&lab, long, "run").contains("best.safetensors: no such file"));
    fs::write(&best, &bytes).unwrap();
    let mut again = start(&lab, long, "run");
    again.wait_for_change(&path);
    assert!(again.is_running(), "it goes on");
}

#[test]
fn a_result_is_that_of_its_run() {
    let lab = Lab::new();
    let whole = train(&lab, CNN, "run");
    train(&lab, "--model cnn --samples 300 --max-steps 32", "other");
    let path = lab.path("run/result.json");
    let result = fs::read(&path).unwrap();
    for wrong in ["", "{}", "null", &fs::read_to_string(lab.path("other/result.json")).unwrap()] {
        fs::write(&path, wrong).unwrap();
        assert!(refusal(&lab, CNN, "run").contains("result.json: not the result of this run"), "{wrong}");
    }
    fs::write(&path, result).unwrap();
    assert_eq!(train(&lab, CNN, "run"), whole);
}
