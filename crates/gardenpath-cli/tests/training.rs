//! `train`, `probe` and `mup-check`: names and fields, files of a run, resuming, and errors.

mod common;

use common::{Lab, keys};
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

const SMALL: &str = "--vocab 8 --depth 2 --fraction 0.125 --samples 1024 --test 2000 --width 32 --seed 1";

fn train(lab: &Lab, options: &str) -> Value {
    lab.json(&format!("train {SMALL} {options}"))
}

/// A result without times.
fn timeless(mut result: Value) -> Value {
    result.as_object_mut().unwrap().remove("seconds");
    result
}

#[test]
fn a_run_is_reported_and_kept() {
    let lab = Lab::new();
    let result = train(&lab, "--model cnn -o run");
    for key in [
        "model",
        "vocab",
        "depth",
        "fraction",
        "samples",
        "width",
        "seed",
        "test_loss",
        "normalized_loss",
        "test_accuracy",
        "bayes_loss",
        "steps",
        "seconds",
    ] {
        assert!(keys(&result).contains(&key), "{key}");
    }
    let number = |key: &str| result[key].as_f64().unwrap();
    assert_eq!(result["model"], "cnn");
    assert!((number("normalized_loss") * 8f64.ln() - number("test_loss")).abs() < 1e-12);
    assert!(number("normalized_loss") < 0.95 && number("test_loss") > number("bayes_loss"));
    assert!(number("bayes_loss") > 0.0 && number("bayes_accuracy") > 0.98);

    let log: Vec<Value> = std::fs::read_to_string(lab.path("run/log.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let lowest = log.iter().map(|record| record["test_loss"].as_f64().unwrap()).fold(f64::MAX, f64::min);
    assert_eq!(lowest, number("test_loss"));
    assert!(log.iter().all(|record| record["bayes_loss"] == result["bayes_loss"]));
    let bytes = std::fs::read(lab.path("run/best.safetensors")).unwrap();
    let (weights, _) = gardenpath_nn::weights_file::from_bytes(&bytes).unwrap();
    let names: Vec<&str> = weights.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(names, ["conv.0", "conv.1", "conv.2", "readout"]);
    assert_eq!(weights[1].shape, [4, 32, 32]);
    // A finished run is not repeated.
    assert_eq!(train(&lab, "--model cnn -o run"), result);
}

/// Token losses are reported with the floors of the same test set, which are those of the command `floor`.
#[test]
fn tokens_are_told_beside_their_floors() {
    let lab = Lab::new();
    let options = "--model transformer --heads 4 --learning-rate 0.01 --max-steps 200";
    let next = train(&lab, &format!("{options} --task next -o run"));
    let number = |result: &Value, key: &str| result[key].as_f64().unwrap();
    assert_eq!((&next["task"], next.get("mask")), (&"next".into(), None));
    assert!((number(&next, "normalized_loss") * 8f64.ln() - number(&next, "test_loss")).abs() < 1e-12);
    let levels: Vec<f64> = next["level_floors"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!(levels.len() == 3 && levels[0] > levels[1] && levels[1] > levels[2], "{levels:?}");
    assert_eq!(levels[2], number(&next, "floor"));
    // 200 steps are enough for the tokens of one block, but not for the level above.
    let (loss, bayes) = (number(&next, "test_loss"), number(&next, "bayes_loss"));
    assert!(bayes < loss && loss < levels[0] && (bayes - levels[2]).abs() < 0.02, "{next}");
    let floor = lab.json("floor run/grammar.pcfg --task next --levels --samples 4000 --seed 9");
    for (known, &level) in levels.iter().enumerate() {
        assert!((floor["levels"][known]["loss"].as_f64().unwrap() - level).abs() < 0.03, "{known}: {floor}");
    }
    let log = std::fs::read_to_string(lab.path("run/log.jsonl")).unwrap();
    assert!(log.lines().all(|line| line.contains("\"floor\":")));
    let text = lab.run(&format!("train {SMALL} {options} --task next -o run"));
    assert!(text.contains("\nfloor     ") && text.contains("levels known: "), "{text}");

    let masked = train(&lab, &format!("{options} --task masked --mask 0.3"));
    assert_eq!((&masked["mask"], masked.get("level_floors")), (&0.3.into(), None));
    let (loss, floor) = (number(&masked, "test_loss"), number(&masked, "floor"));
    assert!(loss > floor && (number(&masked, "bayes_loss") - floor).abs() < 0.1, "{masked}");
    let usual = train(&lab, &format!("{options} --task masked"));
    assert!(usual["mask"] == 0.15 && number(&usual, "floor") < floor, "{usual}");
    // Causal networks are probed at tokens, where less is known than from the whole sentence.
    let probe = lab.json("probe run --samples 200 --test-samples 300 --exchanged 20");
    let bounds: Vec<f64> = (0..2).map(|level| probe["levels"][level]["bound"].as_f64().unwrap()).collect();
    assert!(bounds.iter().all(|bound| (0.2..0.95).contains(bound)), "{probe}");
}

#[test]
fn the_grammar_and_the_sentences_are_those_of_the_other_commands() {
    let lab = Lab::with_grammar("--vocab 8 --depth 2 --fraction 0.125 --seed 1");
    train(&lab, "--model inn --max-steps 32 -o run");
    let run = std::fs::read_to_string(lab.path("run/grammar.pcfg")).unwrap();
    let rules = |text: &str| text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rules(&run), rules(&std::fs::read_to_string(lab.path("g.pcfg")).unwrap()));
    let from_file =
        lab.json("train --model inn --grammar g.pcfg --samples 1024 --test 2000 --width 32 --seed 1 --max-steps 32");
    let sampled = train(&lab, "--model inn --max-steps 32");
    assert_eq!(from_file["test_loss"], sampled["test_loss"]);
    assert!(from_file["fraction"].is_null() && sampled["fraction"] == 0.125);
}

#[test]
fn threads_do_not_matter() {
    let lab = Lab::new();
    for model in ["cnn", "inn", "transformer --heads 4", "transformer --heads 4 --task next"] {
        let run = |threads: &str| timeless(train(&lab, &format!("--model {model} --max-steps 64 --threads {threads}")));
        assert_eq!(run("1"), run("3"), "{model}");
    }
}

#[test]
fn a_killed_run_goes_on_to_the_same_bytes() {
    let lab = Lab::new();
    for (run, task) in [("root", "root"), ("masked", "masked")] {
        let options = format!("--model transformer --task {task} --heads 4 --max-steps 500 --min-steps 500");
        is_resumed(&lab, run, &options);
    }
}

fn is_resumed(lab: &Lab, run: &str, options: &str) {
    let [whole_run, killed_run] = ["whole", "killed"].map(|name| format!("{run}-{name}"));
    let whole = timeless(train(lab, &format!("{options} -o {whole_run}")));
    for delay in [100, 300, 700] {
        let mut command = lab.command(&format!("train {SMALL} {options} -o {killed_run} --json"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(timeless(train(lab, &format!("{options} -o {killed_run}"))), whole);
    for file in ["best.safetensors", "log.jsonl", "run.json", "grammar.pcfg"] {
        let read = |run: &str| std::fs::read(lab.path(run).join(file)).unwrap();
        assert!(read(&whole_run) == read(&killed_run), "{file}");
    }
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let lab = Lab::new();
    train(&lab, "--model cnn --max-steps 32 -o run");
    let text = |options: &str| lab.refusal(&format!("train {SMALL} {options}"));
    assert!(text("--model cnn --max-steps 64 -o run").contains("contains another run"));
    assert!(text("--model rnn").contains("rnn"));
    assert!(text("--model transformer --heads 5").contains("5 heads cannot share a width of 32"));
    assert!(text("--model cnn --learning-rate 0").contains("--learning-rate is 0"));
    assert!(text("--model cnn --batch 0").contains("--batch"));
    assert!(text("--model cnn --patience 1").contains("--patience"));
    assert_eq!(text("--model inn --task masked"), "--task masked needs --model transformer: inn only predicts roots");
    assert!(text("--model transformer --task masked --mask 1.5").contains("--mask is 1.5, expected more than 0"));
    assert!(text("--model transformer --task next --mask 0.5").contains("--mask has no effect here"));
    assert!(
        lab.refusal("train --model cnn --vocab 8 --depth 2 --samples 0")
            .contains("at least one training and one test sentence")
    );
    assert!(lab.refusal("train --model cnn --vocab 8 --depth 2 --samples 9 --width 0").contains("width of 0"));
    assert!(lab.refusal("train --model cnn --vocab 8 --depth 2 --samples 9 --width 9000000").contains("GB"));
    assert!(lab.refusal("train --model cnn --samples 9").contains("--vocab"));
    #[cfg(not(feature = "gpu"))]
    assert!(text("--model cnn --device gpu").contains("--features gpu"));
    std::fs::write(lab.path("run/checkpoint.safetensors"), b"nonsense").unwrap();
    std::fs::remove_file(lab.path("run/result.json")).unwrap();
    assert!(text("--model cnn --max-steps 32 -o run").contains("checkpoint.safetensors"));
}

#[test]
fn layers_of_a_run_are_probed() {
    let lab = Lab::new();
    let options = "--model inn --vocab 8 --depth 2 --fraction 0.125 --samples 4096 --test 2000 --width 64 --seed 1";
    lab.run(&format!("train {options} -o run"));
    let sizes = "--samples 1500 --test-samples 1000 --exchanged 300";
    let [trained, initial] = ["", "--initial"].map(|option| lab.json(&format!("probe run {sizes} {option}")));
    assert_eq!(trained["layer_names"], serde_json::json!(["level.1", "level.0"]));
    assert_eq!(
        (&trained["model"], &trained["initial"], &initial["initial"]),
        (&"inn".into(), &false.into(), &true.into())
    );
    // The cell of the whole sentence encodes its root, but not the synonyms of the lowest level.
    let at_root = |report: &Value, measure: &str, level: usize| report[measure][1][level].as_f64().unwrap();
    assert!(at_root(&trained, "probe_accuracy", 0) > 0.7);
    assert!(at_root(&trained, "probe_accuracy", 0) > at_root(&initial, "probe_accuracy", 0) + 0.2);
    assert!(at_root(&trained, "sensitivity", 1) < 0.5 * at_root(&initial, "sensitivity", 1));
    let text = lab.run(&format!("probe run {sizes}"));
    assert!(text.contains("accuracy of linear probes") && text.contains("level.0"));
    assert!(lab.refusal("probe nowhere").contains("not a run directory"));
    assert!(lab.refusal("probe run --train 0").contains("too small"));
}

#[test]
fn divergence_is_an_ending() {
    let lab = Lab::new();
    let result = train(&lab, "--model cnn --learning-rate 1e30 -o run");
    assert_eq!(result["ending"], "diverged");
    assert_eq!(train(&lab, "--model cnn --learning-rate 1e30 -o run"), result);
}

#[test]
fn coordinates_do_not_depend_on_the_width() {
    let lab = Lab::new();
    for model in ["cnn", "inn", "transformer"] {
        let layers = lab.json_lines(&format!("mup-check --model {model} --widths 64,128,256,512"));
        assert_eq!(layers.last().unwrap()["layer"], "logits");
        for layer in &layers {
            let exponent = |key: &str| layer[key].as_f64().unwrap();
            assert!(exponent("change_exponent").abs() < 0.2, "{model}: {layer}");
            if layer["layer"] == "logits" {
                assert!(exponent("size_exponent") < -0.2, "{model}: {layer}");
            } else {
                assert!(exponent("size_exponent").abs() < 0.12, "{model}: {layer}");
            }
        }
    }
    assert!(lab.refusal("mup-check --model cnn --widths 64").contains("two different"));
}
