//! Cost estimates of sweeps.

mod common;

use common::{Lab, keys};
use gardenpath_lab::measure::{Measure, NAMES};
use gardenpath_lab::store::Provenance;
use gardenpath_lab::sweep::estimate::{Cost, GPU_CORES, Paces, time};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Two cells of every measure, architecture and learner, different from the tiny ones and from each other.
fn cells() -> Vec<Measure> {
    let training = json!({"vocab": 8, "depth": 2, "fraction": 0.125, "samples": 2000, "test": 500});
    let short = json!({"max_steps": 60, "min_steps": 60});
    let mut cells = Vec::new();
    let mut add = |name: &str, parts: &[&Value]| {
        let mut values = serde_json::Map::new();
        if !["lengths", "trees"].contains(&name) {
            values.insert("seed".into(), 1.into());
        }
        parts.iter().for_each(|part| values.extend(part.as_object().unwrap().clone()));
        cells.push(Measure::new(name, values).unwrap());
    };
    add("entropy", &[&json!({"vocab": 16, "depth": 3, "fraction": 0.25, "sentences": 40_000})]);
    add("entropy", &[&json!({"vocab": 16, "depth": 5, "fraction": 0.6, "sentences": 40})]);
    add("lengths", &[&json!({"depth": 6})]);
    add("lengths", &[&json!({"depth": 8, "p_binary": 0.3})]);
    add("trees", &[&json!({"depth": 6})]);
    add("trees", &[&json!({"depth": 7, "fraction": 0.3})]);
    add("purity", &[&json!({"vocab": 16, "depth": 2, "fraction": 0.25, "samples": 100_000})]);
    add("purity", &[&json!({"vocab": 8, "depth": 3, "fraction": 0.25, "samples": 400_000})]);
    add("snr", &[&json!({"vocab": 8, "depth": 3, "fraction": 0.125, "first": 100, "last": 1e6})]);
    add("snr", &[&json!({"vocab": 24, "depth": 2, "fraction": 0.05, "first": 1e3, "last": 1e6})]);
    add("vectors", &[&json!({"vocab": 8, "depth": 2, "fraction": 0.25, "samples": 1_000_000})]);
    add("vectors", &[&json!({"vocab": 16, "depth": 2, "fraction": 0.25, "samples": 100_000})]);
    add("topologies", &[&json!({"vocab": 12, "depth": 3, "fraction": 0.25})]);
    add("topologies", &[&json!({"vocab": 24, "depth": 2, "fraction": 0.25})]);
    add("inference", &[&json!({"vocab": 20, "depth": 2, "fraction": 0.25})]);
    add("inference", &[&json!({"vocab": 32, "depth": 3, "fraction": 0.1, "up": 1})]);
    add("candidates", &[&json!({"vocab": 8, "depth": 3, "fraction": 0.25, "samples": 200_000})]);
    add("candidates", &[&json!({"vocab": 24, "depth": 2, "fraction": 0.25, "samples": 100_000})]);
    add("prediction", &[&json!({"vocab": 24, "depth": 2, "fraction": 0.05, "first": 1e3, "last": 1e6})]);
    add("prediction", &[&json!({"vocab": 32, "depth": 3, "fraction": 0.03, "first": 1e3, "last": 1e6})]);
    let learning = json!({"test": 2000, "vocab": 8, "depth": 2, "fraction": 0.125});
    for (mode, few, many) in
        [("exact", 1000, 16_000), ("unlabelled", 1000, 16_000), ("paper", 5000, 200_000), ("em", 30, 60)]
    {
        add("learn", &[&learning, &json!({"mode": mode, "samples": few})]);
        add("learn", &[&learning, &json!({"mode": mode, "samples": many, "vocab": 6})]);
    }
    let floor = json!({"vocab": 8, "fraction": 0.25});
    for (task, sentences) in [("next", 20_000), ("next-known", 1000), ("masked", 200), ("noisy", 200), ("root", 50_000)]
    {
        add("floor", &[&floor, &json!({"task": task, "depth": 2, "sentences": 2 * sentences})]);
        add("floor", &[&floor, &json!({"task": task, "depth": 3, "sentences": sentences / 4, "vocab": 12})]);
    }
    for (model, narrow, wide) in [("cnn", 32, 96), ("inn", 32, 128), ("transformer", 16, 32)] {
        for name in ["train", "probe"] {
            add(name, &[&training, &short, &json!({"model": model, "width": narrow})]);
            add(name, &[&training, &short, &json!({"model": model, "width": wide, "max_steps": 20})]);
        }
    }
    cells
}

#[test]
fn estimates_are_of_the_right_order() {
    let cells = cells();
    let varieties: HashSet<String> = cells.iter().map(Measure::variety).collect();
    assert_eq!(varieties.len(), 10 + 4 + 5 + 3 + 3);
    assert!(NAMES.iter().all(|name| varieties.iter().any(|variety| variety.starts_with(name))));
    let mut paces = Paces::default();
    assert_eq!(paces.seconds(&cells[0]), None);
    paces.calibrate(&cells);
    let wrong: Vec<String> = cells
        .iter()
        .filter_map(|cell| {
            let (taken, expected) = (time(cell).unwrap(), paces.seconds(cell).unwrap());
            let text = format!("{taken:.3} s, not {expected:.3} s: {:?}", cell.parameters());
            (!(0.2..=5.0).contains(&(taken / expected))).then_some(text)
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn finished_cells_tell_the_pace() {
    let cells = cells();
    let slow = |cell: &Measure| Provenance::now(1000.0 * cell.work() + 1.0);
    let paces = Paces::of_finished(cells.iter().map(|cell| (cell, slow(cell))));
    let ratio = paces.seconds(&cells[0]).unwrap() / cells[0].work();
    assert!(ratio >= 1000.0, "{ratio}");
    let mut same = paces.clone();
    same.calibrate(&cells);
    assert_eq!(paces, same, "nothing is timed that is known");
    assert_eq!(Paces::of_finished([(&cells[0], Provenance::now(0.01))]), Paces::default(), "too short to tell");
    let wall = Provenance { version: None, ..slow(&cells[0]) };
    assert_eq!(Paces::of_finished([(&cells[0], wall)]), Paces::default(), "what passed is not what a core worked");
    let mut values = cells.iter().find(|cell| cell.variety() == "train cnn").unwrap().parameters();
    values.remove("measure");
    values.insert("device".into(), "gpu".into());
    let gpu = Measure::new("train", values).unwrap();
    let Cost { core_hours, gpu_hours } = paces.cost([&gpu]);
    assert_eq!((core_hours, gpu_hours), (0.0, paces.seconds(&gpu).unwrap() / 3600.0 / GPU_CORES));
}

#[test]
fn a_status_has_an_estimate_before_anything_has_run() {
    let lab = Lab::new();
    let text = "measure = 'train'\nexpects = ''\n[[grid]]\nmodel = ['cnn', 'transformer']\nvocab = 8\ndepth = 2\nfraction = 0.125\n\
                width = 32\nsamples = 1000\nseed = 1\ndevice = ['cpu', 'gpu']\n";
    std::fs::write(lab.path("e.toml"), text).unwrap();
    let status = lab.json("sweep run e.toml --store s --dry-run");
    let expected = [
        "core_hours",
        "damaged",
        "done",
        "failed",
        "failures",
        "gpu_hours",
        "missing",
        "running",
        "seconds_done",
        "seconds_left",
    ];
    assert_eq!(keys(&status), expected);
    let number = |name: &str| status[name].as_f64().unwrap();
    assert!(number("core_hours") > 0.0 && number("gpu_hours") > 0.0);
    assert!((number("seconds_left") / 3600.0 - number("core_hours")).abs() < 1e-9);
    assert_eq!((number("missing"), number("done")), (4.0, 0.0));
    assert_eq!(lab.files(), ["e.toml"], "nothing is written");
    std::fs::create_dir_all(lab.path("s/cells")).unwrap();
    assert_eq!(keys(&lab.json("sweep status e.toml --store s")), expected);
    let text = lab.run("sweep status e.toml --store s");
    for worker in ["core", "GPU"] {
        assert!(
            ["seconds", "minutes", "hours"].iter().any(|unit| text.contains(&format!("{worker}-{unit}"))),
            "{text}"
        );
    }
    assert!(text.contains("by a factor of 3"), "{text}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let lab = Lab::new();
    let lines = lab.json_lines("reproduce --scale full --dry-run");
    let (total, figures) = lines.split_last().unwrap();
    assert!(total["figure"].is_null() && figures.len() > 10);
    assert_eq!(total["cells"], total["missing"]);
    let sum: f64 = figures.iter().map(|line| line["core_hours"].as_f64().unwrap()).sum();
    assert!((sum / total["core_hours"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert!(sum > 100.0, "{sum} core-hours");
    let text = lab.run("reproduce SNR_L_3 --dry-run");
    assert!(text.contains("SNR_L_3") && text.contains("core-hours"), "{text}");
    assert!(lab.files().is_empty(), "{:?}", lab.files());
    assert!(lab.refusal("reproduce colour --dry-run").contains("unknown figure colour"));
}
