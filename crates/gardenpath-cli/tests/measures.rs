//! Measures agree with the corresponding commands, and are documented.

mod common;

use common::Lab;
use gardenpath_lab::measure::Measure;
use serde_json::{Map, Value, json};

/// The result of a measure on the grammar of vocabulary 6 and depth 2 with a fraction of 0.5, or other values.
fn measured(name: &str, values: &Value) -> Map<String, Value> {
    let mut all = json!({"vocab": 6, "depth": 2, "fraction": 0.5, "seed": 3}).as_object().unwrap().clone();
    all.extend(values.as_object().unwrap().clone());
    all.retain(|_, value| !value.is_null());
    Measure::new(name, all).unwrap().run(&()).unwrap()
}

#[test]
fn the_measure_learn_is_the_command_learn() {
    for (grammar, options, values) in [
        ("--fraction 0.5", "--mode exact", json!({"mode": "exact"})),
        ("--fraction 0.5", "--mode paper", json!({"mode": "paper"})),
        ("--fraction 0.5", "--mode em --starts 2 --rounds 4", json!({"mode": "em", "starts": 2, "rounds": 4})),
        (
            "--binary-rules 2 --ternary-rules 3 --p-binary 0.7 --zipf 0.5",
            "--mode exact --p-binary 0.7 --noise 0.1",
            json!({"mode": "exact", "fraction": null, "binary_rules": 2, "ternary_rules": 3, "p_binary": 0.7, "zipf": 0.5,
                "told_p_binary": 0.7, "noise": 0.1}),
        ),
        (
            "--binary-fraction 0.3 --ternary-fraction 0.2 --non-overlapping",
            "--mode paper --p-binary 0.4 --alignment cosine --gamma-binary 0.7 --gamma-ternary 1",
            json!({"mode": "paper", "fraction": null, "binary_fraction": 0.3, "ternary_fraction": 0.2,
                "non_overlapping": true, "told_p_binary": 0.4, "alignment": "cosine", "gamma_binary": 0.7, "gamma_ternary": 1}),
        ),
    ] {
        let lab = Lab::with_grammar(&format!("--vocab 6 --depth 2 --seed 3 {grammar}"));
        let command = lab.json(&format!("learn --grammar g.pcfg --samples 3000 --seed 3 {options}"));
        let mut values = values;
        values["samples"] = 3000.into();
        let result = measured("learn", &values);
        for name in ["accuracy", "bayes_accuracy", "parse_rate"] {
            assert!(result[name].is_number(), "{name}");
            assert_eq!(command[name], result[name], "{options}: {name} of {command}");
        }
    }
}

#[test]
fn the_measure_train_is_the_command_train() {
    let common = "--samples 500 --test 300 --seed 3 --vocab 6 --depth 2";
    let base = json!({"samples": 500, "test": 300, "max_steps": 200});
    for (options, values) in [
        ("--model cnn --width 16 --fraction 0.5", json!({"model": "cnn", "width": 16})),
        (
            "--model inn --width 16 --binary-rules 2 --ternary-rules 3 --zipf 1 --p-binary 0.6 --normalization width \
             --learning-rate 4 --batch 32 --min-steps 50 --patience 1.5",
            json!({"model": "inn", "width": 16, "fraction": null, "binary_rules": 2, "ternary_rules": 3, "zipf": 1, "p_binary": 0.6,
                "normalization": "width", "learning_rate": 4, "batch": 32, "min_steps": 50, "patience": 1.5}),
        ),
        (
            "--model transformer --width 24 --layers 1 --heads 4 --mlp 12 --fraction 0.2 --non-overlapping",
            json!({"model": "transformer", "width": 24, "layers": 1, "heads": 4, "mlp": 12, "fraction": 0.2,
                "non_overlapping": true}),
        ),
        (
            "--model transformer --task next --width 16 --fraction 0.5 --max-steps 40",
            json!({"model": "transformer", "task": "next", "width": 16, "max_steps": 40}),
        ),
        (
            "--model transformer --task masked --mask 0.3 --width 16 --fraction 0.5 --max-steps 40",
            json!({"model": "transformer", "task": "masked", "mask": 0.3, "width": 16, "max_steps": 40}),
        ),
        (
            "--model cnn --width 16 --binary-fraction 0.3 --ternary-fraction 0.2 --optimizer adam --learning-rate 0.05",
            json!({"model": "cnn", "width": 16, "fraction": null, "binary_fraction": 0.3, "ternary_fraction": 0.2,
                "optimizer": "adam", "learning_rate": 0.05}),
        ),
        (
            "--model cnn --width 16 --arities 1:0.25,2:0.75 --fractions 2:0.2 --rules 1:1 --classes 3 --cover",
            json!({"model": "cnn", "width": 16, "fraction": null, "arities": "1:0.25,2:0.75", "fractions": "2:0.2",
                "rules": "1:1", "classes": 3, "cover": true}),
        ),
    ] {
        let steps = if options.contains("--max-steps") { "" } else { "--max-steps 200" };
        let command = Lab::new().json(&format!("train {common} {steps} {options}"));
        let mut all = base.as_object().unwrap().clone();
        all.extend(values.as_object().unwrap().clone());
        let result = measured("train", &all.into());
        for name in ["test_loss", "test_accuracy", "bayes_loss", "train_loss", "best_step", "steps", "ending"] {
            assert_eq!(command[name], result[name], "{options}: {name}");
        }
        // A command omits missing values, a cell has nulls.
        for name in ["floor", "level_floors"] {
            assert_eq!(command.get(name).unwrap_or(&Value::Null), &result[name], "{options}: {name}");
        }
    }
}

#[test]
fn the_command_train_refuses_what_has_no_effect() {
    let lab = Lab::new();
    let refusal = |options: &str| lab.refusal(&format!("train --vocab 4 --depth 2 --samples 10 --width 16 {options}"));
    assert_eq!(refusal("--model cnn --heads 4"), "--heads has no effect here: it needs --model transformer");
    assert!(refusal("--model transformer --normalization width").starts_with("--normalization has no effect"));
    assert!(refusal("--model inn --optimizer adam").starts_with("--learning-rate is missing"));
}

#[test]
fn the_document_of_measures_is_current() {
    let printed = Lab::new().run("sweep measures");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/measures.md");
    let document = std::fs::read_to_string(path).unwrap();
    let (_, listed) = document.split_at(document.find("## All measures of random grammars").unwrap());
    assert!(
        listed == printed,
        "docs/measures.md is out of date: put what 'gardenpath sweep measures' prints below its introduction"
    );
}

#[test]
fn measures_are_listed_with_their_parameters() {
    let lab = Lab::new();
    let all = lab.json_lines("sweep measures");
    assert_eq!(all.len(), 14);
    let train = lab.json("sweep measures train");
    assert!(all.contains(&train));
    let find = |name: &str| train["inputs"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap().clone();
    assert_eq!(find("vocab")["need"], "required");
    assert_eq!((&find("batch")["need"], &find("batch")["default"]), (&json!("fixed"), &json!(128)));
    assert_eq!((&find("device")["need"], &find("device")["default"]), (&json!("late"), &json!("cpu")));
    assert_eq!(find("model")["choices"], json!(["cnn", "inn", "transformer"]));
    assert!(lab.run("sweep measures train").contains("| layers"));
    assert!(lab.refusal("sweep measures colour").starts_with("unknown measure colour, expected one of entropy"));
}
