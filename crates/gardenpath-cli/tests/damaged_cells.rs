//! Stores with damaged cells: each one is named, none counts as done, and none is collected.

mod common;

use common::Lab;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A lab with an experiment of six cells, all in the store `s`, and the paths of their files.
fn lab() -> (Lab, Vec<PathBuf>) {
    let lab = Lab::new();
    let text = "measure = 'entropy'\nexpects = ''\n[[grid]]\nvocab = 4\ndepth = 2\nsentences = 20\nfraction = 0.5\nseed = '1..6'\n";
    fs::write(lab.path("e.toml"), text).unwrap();
    lab.run("sweep run e.toml --store s");
    let mut files: Vec<PathBuf> =
        fs::read_dir(lab.path("s/cells")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 6);
    (lab, files)
}

/// Damages the first five files in different ways.
fn damage(files: &[PathBuf]) {
    let whole = fs::read(&files[2]).unwrap();
    fs::write(&files[0], "").unwrap();
    fs::write(&files[1], "{}").unwrap();
    fs::write(&files[2], &whole[..whole.len() / 2]).unwrap();
    fs::copy(&files[5], &files[3]).unwrap();
    fs::remove_file(&files[4]).unwrap();
    fs::create_dir(&files[4]).unwrap();
}

fn name(path: &std::path::Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn assert_named(files: &[PathBuf], errors: &str) {
    for file in files {
        let lines: Vec<&str> = errors.lines().filter(|line| line.contains(name(file))).collect();
        assert_eq!(lines.len(), 1, "{}: {errors}", name(file));
    }
}

#[test]
fn damaged_cells_are_named_and_measured_again() {
    let (lab, files) = lab();
    let before: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    damage(&files);

    let output = lab.try_run("sweep status e.toml --store s --json");
    let status: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!([&status["done"], &status["missing"]], [1, 5]);
    assert_eq!(status["damaged"].as_array().unwrap().len(), 5);
    assert_named(&files[..5], &String::from_utf8(output.stderr).unwrap());

    let output = lab.try_run("sweep run e.toml --store s --json");
    assert!(output.status.success());
    let summary = String::from_utf8(output.stdout).unwrap();
    let summary: Value = serde_json::from_str(summary.lines().last().unwrap()).unwrap();
    assert_eq!([&summary["found"], &summary["measured"], &summary["failed"]], [1, 5, 0]);
    assert_named(&files[..5], &String::from_utf8(output.stderr).unwrap());
    let after: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    assert!(after == before, "the same bytes as before the damage");
    assert_eq!(fs::read_dir(lab.path("s/damaged")).unwrap().count(), 5, "nothing is lost");
    assert_eq!(lab.json("sweep status e.toml --store s")["done"], 6);
}

#[test]
fn only_whole_results_are_collected() {
    let (lab, files) = lab();
    assert_eq!(lab.json("sweep collect e.toml --store s -o all.parquet")["rows"], 6);
    damage(&files);
    let output = lab.try_run("sweep collect e.toml --store s -o r.parquet");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.lines().last().unwrap().starts_with("error: 5 of 6 cells have no result"), "{errors}");
    assert_named(&files[..5], &errors);
    assert!(!lab.path("r.parquet").exists() && output.stdout.is_empty());

    let collected = lab.json("sweep collect e.toml --store s -o r.parquet --partial");
    assert_eq!([&collected["rows"], &collected["missing"]], [1, 5]);
    lab.run("sweep run e.toml --store s");
    lab.run("sweep collect e.toml --store s -o r.parquet");
    assert!(fs::read(lab.path("r.parquet")).unwrap() == fs::read(lab.path("all.parquet")).unwrap());

    fs::create_dir_all(lab.path("empty/cells")).unwrap();
    let output = lab.try_run("sweep collect e.toml --store empty -o r.parquet --partial");
    assert_eq!(output.status.code(), Some(1), "nothing at all is not a part");
}

/// One flipped bit can still be JSON, with a different number.
#[test]
fn a_changed_digit_is_noticed() {
    let (lab, files) = lab();
    let text = fs::read_to_string(&files[0]).unwrap();
    let place = text.find("\"entropy\":0.").unwrap() + 13;
    let digit = if &text[place..=place] == "1" { "2" } else { "1" };
    fs::write(&files[0], format!("{}{digit}{}", &text[..place], &text[place + 1..])).unwrap();
    assert_eq!(lab.json("sweep status e.toml --store s")["done"], 5);
    lab.run("sweep run e.toml --store s");
    assert_eq!(fs::read_to_string(&files[0]).unwrap(), text);
}

#[test]
fn cells_of_version_0_1_are_read() {
    let lab = Lab::new();
    let text =
        "measure = 'train'\nexpects = ''\n[[grid]]\nmodel = 'cnn'\nvocab = 4\ndepth = 2\nwidth = 256\nseed = 1\n";
    let grids = "fraction = 0.6\nsamples = 1024\n[[grid]]\nmodel = 'cnn'\nvocab = 4\ndepth = 2\nwidth = 256\nseed = 1\nfraction = 0.8\nsamples = 4096\n";
    fs::write(lab.path("e.toml"), format!("{text}{grids}")).unwrap();
    let old = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/store-0.1");
    fs::create_dir_all(lab.path("s/cells")).unwrap();
    let mut contents = Vec::new();
    for entry in fs::read_dir(old).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, lab.path("s/cells").join(name(&path))).unwrap();
        contents.push((name(&path).to_owned(), fs::read(&path).unwrap()));
    }
    assert_eq!(contents.len(), 2);
    let lines = lab.json_lines("sweep run e.toml --store s");
    assert_eq!([&lines[0]["found"], &lines[0]["measured"]], [2, 0]);
    assert_eq!(lab.json("sweep collect e.toml --store s -o r.parquet")["rows"], 2);
    for (name, bytes) in &contents {
        assert!(fs::read(lab.path("s/cells").join(name)).unwrap() == *bytes, "{name} is as it was");
    }
    // A file in the place of another is invalid.
    fs::write(lab.path("s/cells").join(&contents[0].0), &contents[1].1).unwrap();
    let status = lab.json("sweep status e.toml --store s");
    assert_eq!([&status["done"], &status["missing"]], [1, 1]);
}

#[test]
fn a_report_does_not_draw_damaged_results() {
    let lab = Lab::new();
    let cells = || {
        let mut files: Vec<PathBuf> =
            fs::read_dir(lab.path("r/store/cells")).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    };
    lab.run("reproduce triptic -o r");
    let (before, figure) = (cells(), fs::read(lab.path("r/figures/triptic.svg")).unwrap());
    fs::write(&before[0], "{}").unwrap();
    let output = lab.try_run("reproduce triptic -o r");
    assert!(output.status.success());
    assert_named(&before[..1], &String::from_utf8(output.stderr).unwrap());
    assert_eq!(cells(), before);
    assert!(fs::read(lab.path("r/figures/triptic.svg")).unwrap() == figure);
}
