//! Networks trained on the user's own sentences.

mod common;

use common::Lab;
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

const SMALL: &str = "train --model cnn --width 16 --seed 1 --max-steps 300";

/// A lab with a grammar, and training and test sentences in words.
fn lab() -> Lab {
    let lab = Lab::new();
    let text = "\
S -> question [0.5] | answer [0.5]
question -> NP VP [0.6] | VP NP [0.4]
answer -> NP NP VP [0.5] | VP NP [0.5]
NP -> 'DET' 'N' [0.7] | 'N' 'N' [0.3]
VP -> 'V' 'N' [0.5] | 'V' 'DET' 'N' [0.5]
";
    fs::write(lab.path("g.pcfg"), text).unwrap();
    lab.run("corpus sample g.pcfg --samples 600 --seed 1 --words -o train.parquet");
    lab.run("corpus sample g.pcfg --samples 200 --seed 2 -o test.tsv");
    lab
}

fn timeless(mut result: Value) -> Value {
    result.as_object_mut().unwrap().remove("seconds");
    result
}

#[test]
fn a_corpus_is_learned_without_a_grammar() {
    let lab = lab();
    let result = lab.json(&format!("{SMALL} --corpus train.parquet --test test.tsv --depth 2 -o run"));
    assert_eq!((&result["samples"], &result["test"]), (&json!(600), &json!(200)));
    assert_eq!((&result["vocab"], &result["depth"]), (&json!(3), &json!(2)));
    assert!(result["test_accuracy"].as_f64().unwrap() > 0.7, "{result}");
    assert_eq!((&result["bayes_loss"], &result["bayes_accuracy"]), (&Value::Null, &Value::Null));
    assert_eq!(result["corpora"]["token_names"], json!(["DET", "N", "V"]));
    assert_eq!(result["corpora"]["root_names"], json!(["answer", "question"]));
    let files = ["run.json", "result.json", "log.jsonl", "curve.svg"].map(|name| lab.path("run").join(name));
    assert!(!lab.path("run").join("grammar.pcfg").exists());
    assert!(!fs::read_to_string(&files[3]).unwrap().contains("Bayes"));
    assert!(fs::read_to_string(&files[2]).unwrap().lines().all(|line| line.contains("\"bayes_loss\":null")));
    let text = lab.run(&format!("{SMALL} --corpus train.parquet --test test.tsv --depth 2 -o run"));
    assert!(text.contains("test loss") && !text.contains("Bayes") && !text.contains("NaN"), "{text}");
    let text = lab.run(&format!("{SMALL} --corpus train.parquet --test test.tsv --depth 2"));
    assert!(text.contains("● test") && !text.contains("Bayes"), "{text}");
    assert_eq!(
        lab.refusal("probe run"),
        "run: was trained on a corpus without a grammar; probes need trees, expected a run with --grammar"
    );
}

/// Predicting tokens needs no labels.
#[test]
fn only_roots_need_labels() {
    let lab = lab();
    for (name, seed) in [("train", 1), ("test", 2)] {
        let sentences = lab.run(&format!("corpus sample g.pcfg --samples 200 --seed {seed} -o -"));
        let bare: String = sentences
            .lines()
            .map(|line| json!({"tokens": serde_json::from_str::<Value>(line).unwrap()["tokens"]}).to_string() + "\n")
            .collect();
        fs::write(lab.path(&format!("{name}.jsonl")), bare).unwrap();
    }
    let options = "train --model transformer --heads 2 --width 16 --seed 1 --max-steps 40 --learning-rate 0.01 \
                   --corpus train.jsonl --test test.jsonl";
    for task in ["next", "masked"] {
        let unknown = lab.json(&format!("{options} --task {task} --depth 2"));
        assert!(unknown["bayes_loss"].is_null() && unknown.get("floor").is_none(), "{unknown}");
        let known = lab.json(&format!("{options} --task {task} --grammar g.pcfg"));
        assert!(known["test_loss"].as_f64() > known["floor"].as_f64(), "{known}");
    }
    let refusal = lab.refusal(&format!("{options} --depth 2"));
    assert_eq!(refusal, "train.jsonl: sentence 1 has no root, expected a label for every sentence");
}

#[test]
fn numbers_of_a_grammar_give_the_run_on_the_grammar() {
    let lab = Lab::with_grammar("--vocab 6 --depth 2 --fraction 0.125 --seed 1");
    lab.run("corpus sample g.pcfg --samples 500 --seed 1 -o train.jsonl");
    lab.run("corpus sample g.pcfg --samples 100 --seed 5 -o test.parquet");
    let sampled = lab.json(&format!("{SMALL} --grammar g.pcfg --samples 300 --test 100"));
    let with =
        lab.json(&format!("{SMALL} --corpus train.jsonl --test test.parquet --grammar g.pcfg --samples 300 -o run"));
    let without = lab.json(&format!("{SMALL} --corpus train.jsonl --test test.parquet --depth 2 --samples 300"));
    // The same batches in the same order; only the test sentences differ.
    assert_eq!(with["samples"], 300);
    for key in ["test_loss", "test_accuracy", "train_loss", "best_step", "weights"] {
        assert_eq!(with[key], without[key], "{key}");
    }
    assert_eq!(sampled["weights"], with["weights"]);
    assert_eq!(sampled.get("corpora"), None);
    // The floor is that of exact parsing.
    let parsed = lab.json_lines("parse g.pcfg test.parquet");
    let numbers = gardenpath_lab::files::Whole::read(&lab.path("test.parquet")).unwrap();
    let loss = |(line, &root): (&Value, &u8)| -line["posterior"][usize::from(root)].as_f64().unwrap().ln();
    let mean = parsed.iter().zip(numbers.corpus.roots()).map(loss).sum::<f64>() / 100.0;
    assert!((with["bayes_loss"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!(with["bayes_accuracy"].as_f64().unwrap() > 0.9);
    assert!(lab.run("probe run --train 200 --held-out 100 --exchanged 50").contains("level"));
}

#[test]
fn a_killed_run_ends_with_the_same_bytes_and_a_changed_file_is_refused() {
    let lab = lab();
    let options = "--corpus train.parquet --test test.tsv --depth 2 --min-steps 300 --patience 1e9";
    let whole = timeless(lab.json(&format!("{SMALL} {options} -o whole")));
    for pause in [3, 10, 30] {
        let mut command = lab.command(&format!("{SMALL} {options} -o parts --json"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !lab.path("parts/checkpoint.safetensors").exists() && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(pause));
        let _ = child.kill();
        child.wait().unwrap();
    }
    // The file format does not matter, only the sentences.
    lab.run("corpus sample g.pcfg --samples 600 --seed 1 -o train.tsv");
    let other = options.replace("train.parquet", "train.tsv");
    assert_eq!(timeless(lab.json(&format!("{SMALL} {other} -o parts"))), whole);
    for file in ["run.json", "best.safetensors", "checkpoint.safetensors", "log.jsonl", "curve.png"] {
        let read = |run: &str| fs::read(lab.path(run).join(file)).unwrap();
        assert!(read("whole") == read("parts"), "{file}");
    }
    let refused = |change: &str| {
        let output = lab.refusal(&format!("{SMALL} {options} {change} -o parts"));
        fs::remove_file(lab.path("parts/result.json")).ok();
        output
    };
    assert!(refused("--samples 599").starts_with("parts: contains a run on other training sentences; choose"));
    let text = fs::read_to_string(lab.path("test.tsv")).unwrap();
    fs::write(lab.path("test.tsv"), text.replacen("answer", "question", 1)).unwrap();
    assert!(refused("").starts_with("parts: contains a run on other test sentences; choose"));
    fs::write(lab.path("test.tsv"), text.replace("answer", "reply")).unwrap();
    assert!(refused("").contains("parts: contains a"), "words of other names");
}

#[test]
fn words_of_both_files_count() {
    let lab = lab();
    fs::write(lab.path("a.tsv"), "yes\ta b\nno\tb a\n").unwrap();
    fs::write(lab.path("b.tsv"), "maybe\tA b a\nno\tz a\n").unwrap();
    let result = lab.json("train --model inn --width 4 --max-steps 10 --depth 1 --corpus a.tsv --test b.tsv");
    assert_eq!(result["corpora"]["token_names"], json!(["A", "a", "b", "z"]));
    assert_eq!(result["corpora"]["root_names"], json!(["maybe", "no", "yes"]));
    assert_eq!((&result["vocab"], &result["test"]), (&json!(4), &json!(2)));
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let lab = lab();
    fs::write(lab.path("short.tsv"), "a\tx y x y\n\nb\tx y\n").unwrap();
    fs::write(lab.path("bare.tsv"), "a\tx y x y\nx y x x\n").unwrap();
    fs::write(lab.path("one.tsv"), "a\tx y x y\na\tx y x x\n").unwrap();
    fs::write(lab.path("root.jsonl"), "{\"tokens\":[0,1,2,1],\"root\":2}\n").unwrap();
    lab.run("corpus sample g.pcfg --samples 5 -o numbers.jsonl");
    for (options, expected) in [
        ("--corpus train.parquet --depth 2", "expected --test with a file of test sentences for train.parquet"),
        (
            "--corpus train.parquet --test 100 --depth 2",
            "--test is 100, expected a file of test sentences for train.parquet",
        ),
        (
            "--test test.tsv --vocab 4 --depth 2 --samples 9",
            "--test is test.tsv, expected a whole number, or --corpus with a file to train on",
        ),
        ("--corpus train.parquet --test none.tsv --depth 2", "none.tsv: no such file or directory"),
        ("--corpus train.parquet --test test.tsv --depth 0", "--depth is 0, expected 1 to 10"),
        (
            "--corpus train.parquet --test test.tsv --depth 1",
            "train.parquet: sentence 1 has 7 tokens; trees of depth 1 have 2 to 3",
        ),
        (
            "--corpus one.tsv --test short.tsv --depth 2",
            "short.tsv: sentence 2 has 2 tokens; trees of depth 2 have 4 to 9",
        ),
        (
            "--corpus one.tsv --test bare.tsv --depth 2",
            "bare.tsv: sentence 2 has no root, expected a label for every sentence",
        ),
        (
            "--corpus bare.tsv --test one.tsv --depth 2",
            "bare.tsv: sentence 2 has no root, expected a label for every sentence",
        ),
        (
            "--corpus one.tsv --test one.tsv --depth 2",
            "one.tsv and one.tsv have 1 different classes, expected at least 2",
        ),
        (
            "--corpus train.parquet --test numbers.jsonl --depth 2",
            "the tokens of train.parquet are words but those of numbers.jsonl are numbers; expected one kind",
        ),
        (
            "--corpus train.parquet --test root.jsonl --grammar g.pcfg",
            "root.jsonl: sentence 1: root 2 is not one of the 2 classes of the grammar",
        ),
        (
            "--corpus one.tsv --test test.tsv --grammar g.pcfg",
            "one.tsv: sentence 1: \"x\" is not one of the 3 tokens DET N V",
        ),
        (
            "--corpus train.parquet --test test.tsv --depth 2 --samples 601",
            "--samples: train.parquet has only 600 sentences",
        ),
        ("--corpus - --test - --depth 2", "only one of --corpus, --test and --grammar can come from standard input"),
        (
            "--corpus train.parquet --test test.tsv --depth 2 --fraction 0.5",
            "the argument '--corpus <FILE>' cannot be used with '--fraction <F>'",
        ),
        (
            "--corpus train.parquet --test test.tsv --depth 2 --p-binary 0.4",
            "the argument '--corpus <FILE>' cannot be used with '--p-binary <P>'",
        ),
    ] {
        assert_eq!(lab.refusal(&format!("{SMALL} {options}")), expected);
    }
}
