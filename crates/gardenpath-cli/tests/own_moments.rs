//! Moments of the user's own sentences.

mod common;

use common::Lab;
use safetensors::SafeTensors;
use serde_json::{Value, json};
use std::fs;

/// Name, shape and bytes of a tensor.
type Tensor = (String, Vec<usize>, Vec<u8>);

/// The tensors of a file as bytes, and its metadata.
fn read(lab: &Lab, file: &str) -> (Vec<Tensor>, Value) {
    let bytes = fs::read(lab.path(file)).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut found: Vec<_> =
        tensors.iter().map(|(name, view)| (name.to_owned(), view.shape().to_vec(), view.data().to_vec())).collect();
    found.sort();
    let header: usize = bytes[..8].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte));
    let header: Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
    let origin = header["__metadata__"]["gardenpath"].as_str().unwrap();
    (found, serde_json::from_str(origin).unwrap())
}

#[test]
fn moments_of_a_file_are_those_of_the_stream() {
    let lab = Lab::with_grammar("--vocab 5 --depth 2 --seed 3");
    lab.run("moments g.pcfg --samples 3000 --seed 4 -o stream.safetensors");
    let expected = read(&lab, "stream.safetensors").0;
    let fingerprint = lab.grammar().fingerprint();
    for file in ["c.parquet", "c.jsonl", "c.tsv"] {
        lab.run(&format!("corpus sample g.pcfg --samples 3000 --seed 4 -o {file}"));
        let written = lab.json(&format!("moments {file} -o m.safetensors"));
        assert_eq!((&written["sentences"], &written["vocab"]), (&json!(3000), &json!(5)));
        assert_eq!((&written["grammar"], &written["bayes_loss"]), (&Value::Null, &Value::Null));
        let (tensors, origin) = read(&lab, "m.safetensors");
        assert!(tensors == expected, "{file}");
        assert_eq!((&origin["sentences"], &origin["grammar"]), (&json!(3000), &Value::Null));

        let written = lab.json(&format!("moments {file} --grammar g.pcfg -o m.safetensors"));
        assert_eq!(written["grammar"], json!(fingerprint));
        assert!(read(&lab, "m.safetensors").0 == expected, "{file}");
        let parsed = lab.json_lines(&format!("parse g.pcfg {file}"));
        let numbers = gardenpath_lab::files::Whole::read(&lab.path(file)).unwrap();
        let roots = || parsed.iter().zip(numbers.corpus.roots());
        let loss = |(line, &root): (&Value, &u8)| -line["posterior"][usize::from(root)].as_f64().unwrap().ln();
        let mean = roots().map(loss).sum::<f64>() / 3000.0;
        assert!((written["bayes_loss"].as_f64().unwrap() - mean).abs() < 1e-9);
        let right = roots().filter(|(line, root)| line["root"] == json!(root)).count();
        assert_eq!(written["bayes_accuracy"], json!(right as f64 / 3000.0));
        let text = lab.run(&format!("moments {file} --grammar g.pcfg -o m.safetensors"));
        assert!(text.starts_with("Bayes "), "{text}");
    }
}

#[test]
fn words_are_listed_in_the_file() {
    let lab = Lab::new();
    let grammar = "S -> q [0.5] | a [0.5]\nq -> 'z' 'y' [1]\na -> 'y' 'y' 'z' [1]\n";
    fs::write(lab.path("g.pcfg"), grammar).unwrap();
    fs::write(lab.path("c.tsv"), "q\tz y\na\ty y z\n").unwrap();
    lab.run("moments c.tsv -o sorted.safetensors");
    lab.run("moments c.tsv --grammar g.pcfg -o named.safetensors");
    let ((sorted, of_sorted), (named, of_named)) = (read(&lab, "sorted.safetensors"), read(&lab, "named.safetensors"));
    assert_eq!((&of_sorted["token_names"], &of_sorted["root_names"]), (&json!(["y", "z"]), &json!(["a", "q"])));
    assert_eq!((&of_named["token_names"], &of_named["root_names"]), (&json!(["z", "y"]), &json!(["q", "a"])));
    let shapes = |tensors: &[Tensor]| tensors.iter().map(|t| t.1.clone()).collect::<Vec<_>>();
    assert_eq!(shapes(&sorted), [vec![2, 2, 2], vec![2, 2, 2, 2]]);
    assert_eq!(shapes(&named), shapes(&sorted));
    // Both numberings are reversed, so the numbers are in reverse order.
    for (one, other) in sorted.iter().zip(&named) {
        let reversed: Vec<u8> = other.2.chunks(8).rev().flatten().copied().collect();
        assert!(one.2 == reversed, "{}", one.0);
    }
}

#[test]
fn what_has_no_effect_or_no_label_is_refused() {
    let lab = Lab::with_grammar("--vocab 4 --depth 2 --seed 1");
    lab.run("corpus sample g.pcfg --samples 10 -o c.jsonl");
    fs::write(lab.path("bare.tsv"), "0\t1 2 3 0\n\n1 2 2 1\n").unwrap();
    fs::write(lab.path("large.tsv"), "0\t1 2 3 0\n7\t1 2 2 1\n").unwrap();
    for (arguments, expected) in [
        ("c.jsonl --samples 10", "c.jsonl: this is a corpus, and all its sentences are counted; remove --samples"),
        ("g.pcfg", "g.pcfg: not a corpus (.parquet, .jsonl or .tsv); a grammar needs --samples"),
        ("bare.tsv", "bare.tsv: sentence 2 has no root, expected a label for every sentence"),
        ("large.tsv --grammar g.pcfg", "large.tsv: sentence 2: root 7 is not one of the 4 classes of the grammar"),
        ("- --grammar -", "the grammar and the corpus cannot both come from standard input"),
    ] {
        assert_eq!(lab.refusal(&format!("moments {arguments} -o m.safetensors")), expected);
    }
    let refused = lab.refusal("moments c.jsonl --seed 1 -o m.safetensors");
    assert_eq!(refused, "--seed has no effect here: all sentences of a corpus are counted");
    let refused = lab.refusal("moments g.pcfg --samples 10 --grammar g.pcfg -o m.safetensors");
    assert!(refused.contains("cannot be used with"), "{refused}");
    assert!(!lab.path("m.safetensors").exists());
}
