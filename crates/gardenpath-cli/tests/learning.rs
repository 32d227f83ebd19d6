//! The `learn` command: names, fields, values and errors, and the same bytes for any number of threads.

mod common;

use common::{Lab, keys};
use gardenpath::learn::score::score_rules;
use gardenpath::{Ensemble, ExpectedMoments, Grammar, RuleCount, Seed};

const GRAMMAR: &str = "--vocab 8 --depth 2 --fraction 0.25 --seed 41";

fn learned(lab: &Lab, name: &str) -> Grammar {
    Grammar::from_text(&std::fs::read_to_string(lab.path(name)).unwrap()).unwrap()
}

#[test]
fn learn_recovers_the_grammar_of_a_file() {
    let lab = Lab::with_grammar(GRAMMAR);
    lab.run("corpus sample g.pcfg --samples 1e4 --seed 1 -o c.parquet");
    lab.run("corpus sample g.pcfg --samples 2000 --seed 2 -o t.jsonl");
    let report = lab.json("learn c.parquet --vocab 8 --depth 2 --truth g.pcfg --test t.jsonl -o learned.pcfg");
    let mut fields = keys(&report);
    fields.sort();
    let mut expected = [
        "verdict",
        "reason",
        "sentences",
        "skipped",
        "underivable",
        "levels",
        "accuracy",
        "bayes_accuracy",
        "cross_entropy",
        "bayes_cross_entropy",
        "boolean_accuracy",
        "parse_rate",
        "seconds",
    ];
    expected.sort();
    assert_eq!(fields, expected);
    assert_eq!(report["verdict"], "converged");
    assert!(report["reason"].is_null());
    let levels = report["levels"].as_array().unwrap();
    assert_eq!(levels.iter().map(|level| level["level"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    for level in levels {
        for arity in ["binary", "ternary"] {
            assert_eq!((level[arity]["precision"].as_f64(), level[arity]["recall"].as_f64()), (Some(1.0), Some(1.0)));
            assert_eq!(level["purity"][arity].as_f64(), Some(1.0));
        }
    }
    let gap = report["bayes_accuracy"].as_f64().unwrap() - report["accuracy"].as_f64().unwrap();
    assert!(gap.abs() < 0.01);
    let found = learned(&lab, "learned.pcfg");
    assert!(score_rules(&found, &lab.grammar()).unwrap().iter().all(|level| level.is_exact()));
    assert_eq!(found.remarks(), ["learned from 10,000 sentences by mode exact"]);
}

/// Labels are ignored, so a file without labels gives the same grammar; the root is one start symbol.
#[test]
fn learn_needs_no_labels() {
    let lab = Lab::with_grammar(GRAMMAR);
    lab.run("corpus sample g.pcfg --samples 2e4 --seed 1 -o c.jsonl");
    let labelled = std::fs::read_to_string(lab.path("c.jsonl")).unwrap();
    let bare = labelled.lines().map(|line| {
        let mut sentence: serde_json::Value = serde_json::from_str(line).unwrap();
        sentence.as_object_mut().unwrap().remove("root");
        sentence.to_string() + "\n"
    });
    std::fs::write(lab.path("bare.jsonl"), bare.collect::<String>()).unwrap();
    let report = lab.json("learn c.jsonl --vocab 8 --depth 2 --unlabelled --truth g.pcfg -o one.pcfg");
    lab.run("learn bare.jsonl --vocab 8 --depth 2 --unlabelled -o two.pcfg");
    let found = learned(&lab, "one.pcfg");
    assert_eq!(found.fingerprint(), learned(&lab, "two.pcfg").fingerprint());
    assert_eq!(found.sizes(), [1, 8, 8]);
    assert_eq!(found.remarks(), ["learned from 20,000 sentences by mode exact without labels"]);
    assert_eq!(report["verdict"], "converged");
    for level in report["levels"].as_array().unwrap() {
        assert_eq!((&level["ternary"]["precision"], &level["ternary"]["recall"]), (&1.0.into(), &1.0.into()));
    }
    let number = |name: &str| report[name].as_f64().unwrap();
    let above = number("next_token_loss") - number("next_token_floor");
    assert!((0.0..0.02).contains(&above) && number("parse_rate") > 0.999, "{report}");
    assert!(report["accuracy"].is_null() && report["bayes_cross_entropy"].is_null());
    let text = lab.run("learn --grammar g.pcfg --samples 2e4 --seed 1 --unlabelled");
    assert!(text.contains("next-token loss ") && text.contains(" nats per token, floor "), "{text}");
    let text = lab.run("learn bare.jsonl --vocab 8 --depth 2 --unlabelled --test bare.jsonl");
    assert!(text.contains("next-token loss ") && !text.contains("floor"), "{text}");
    let strange = (0..8).map(|token| serde_json::json!({"tokens": vec![token; 9]}).to_string() + "\n");
    let with_strange = std::fs::read_to_string(lab.path("bare.jsonl")).unwrap() + &strange.collect::<String>();
    std::fs::write(lab.path("strange.jsonl"), with_strange).unwrap();
    let text = lab.run("learn strange.jsonl --vocab 8 --depth 2 --unlabelled");
    assert!(text.contains(" sentences without a derivation") && !text.contains("label"), "{text}");
    for mode in ["paper", "em"] {
        let refused = lab.refusal(&format!("learn bare.jsonl --vocab 8 --depth 2 --unlabelled --mode {mode}"));
        assert!(refused.contains("only mode exact learns without labels"), "{refused}");
    }
}

#[test]
fn sentences_are_sampled_on_the_fly_and_threads_do_not_matter() {
    let lab = Lab::with_grammar(GRAMMAR);
    lab.run("learn --grammar g.pcfg --samples 4000 --seed 3 -o one.pcfg --threads 1");
    lab.run("learn --grammar g.pcfg --samples 4000 --seed 3 -o eight.pcfg --threads 8");
    assert_eq!(std::fs::read(lab.path("one.pcfg")).unwrap(), std::fs::read(lab.path("eight.pcfg")).unwrap());
    lab.run("corpus sample g.pcfg --samples 4000 --seed 3 -o c.jsonl");
    lab.run("learn c.jsonl --vocab 8 --depth 2 --seed 3 -o file.pcfg");
    assert_eq!(learned(&lab, "file.pcfg").fingerprint(), learned(&lab, "one.pcfg").fingerprint());
}

#[test]
fn too_few_sentences_are_not_trusted() {
    let lab = Lab::with_grammar(GRAMMAR);
    let report = lab.json("learn --grammar g.pcfg --samples 500 --seed 1");
    assert_eq!(report["verdict"], "not converged");
    assert!(report["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
}

#[test]
fn other_modes_learn_too() {
    let lab = Lab::with_grammar("--vocab 6 --depth 2 --seed 41");
    let paper = lab.json("learn --grammar g.pcfg --samples 1e5 --mode paper");
    assert!(paper["verdict"].is_null() && paper["accuracy"].as_f64().unwrap() > 0.25);
    let cosine = lab.json("learn --grammar g.pcfg --samples 1e5 --mode paper --alignment cosine --gamma-ternary 1.2");
    assert_ne!(cosine["levels"], paper["levels"], "the options are used");
    let em = lab.json("learn --grammar g.pcfg --samples 300 --mode em --starts 1 --rounds 3");
    assert!(em["accuracy"].as_f64().unwrap() > 0.1 && em["levels"][0]["binary"]["count"].as_u64() == Some(216));
}

/// Other arities, and levels of different sizes: taken from the grammar, or given.
#[test]
fn other_arities_and_sizes_are_learned() {
    let lab = Lab::with_grammar(GRAMMAR);
    let four = RuleCount::Number(3);
    let ensemble = Ensemble::new(8, 3).sizes(&[5, 6, 8, 7]).arities([(2, 0.5), (4, 0.5)]);
    let truth = ensemble.rules(2, four).rules(4, four).cover(true).sample(Seed::new(2)).unwrap();
    std::fs::write(lab.path("wide.pcfg"), truth.to_text()).unwrap();
    let known = lab.json("learn --grammar wide.pcfg --samples 4000 --seed 1 -o learned.pcfg");
    assert_eq!(known["verdict"], "converged");
    assert_eq!(learned(&lab, "learned.pcfg").sizes(), [5, 6, 8, 7]);
    for level in known["levels"].as_array().unwrap() {
        assert_eq!(keys(&level["by_arity"]), ["2", "4"]);
        for (_, rules) in level["by_arity"].as_object().unwrap() {
            assert_eq!((rules["precision"].as_f64(), rules["recall"].as_f64()), (Some(1.0), Some(1.0)));
            assert!((rules["probability"].as_f64().unwrap() - 0.5).abs() < 0.05);
        }
        assert_eq!(level["ternary"]["count"], 0);
    }
    lab.run("corpus sample wide.pcfg --samples 4000 --seed 1 -o c.jsonl");
    let told = "learn c.jsonl --depth 3 --vocab 6,8 --arities 2,4 --seed 1";
    assert_eq!(lab.json(told)["verdict"], "converged");
    assert!(lab.run(told).contains("4-ary"));
    assert_eq!(lab.json("learn c.jsonl --depth 3 --vocab 6,8 --arities 2:1/2,4:1/2")["verdict"], "converged");
    assert_eq!(lab.json("learn c.jsonl --depth 3 --vocab 6 --arities 2,4")["verdict"], "not converged");
    let em = lab.json("learn c.jsonl --depth 3 --vocab 3,2 --arities 2,4 --mode em --starts 1 --rounds 1");
    assert_eq!(em["levels"][1]["by_arity"]["4"]["count"], 3 * 16);
}

#[test]
fn moments_are_those_of_the_core() {
    let lab = Lab::with_grammar("--vocab 4 --depth 2 --seed 41");
    lab.run("moments g.pcfg --samples exact -o exact.safetensors");
    lab.run("moments g.pcfg --samples 3e6 --seed 1 -o sampled.safetensors --threads 1");
    lab.run("moments g.pcfg --samples 3e6 --seed 1 -o again.safetensors --threads 8");
    let read = |name: &str| std::fs::read(lab.path(name)).unwrap();
    assert!(read("sampled.safetensors") == read("again.safetensors"), "the same bytes for any number of threads");
    let (exact, sampled) = (read("exact.safetensors"), read("sampled.safetensors"));
    let values = |file: &[u8], name: &str| -> Vec<f64> {
        let tensors = safetensors::SafeTensors::deserialize(file).unwrap();
        let tensor = tensors.tensor(name).unwrap();
        assert_eq!(tensor.shape().last(), Some(&4));
        tensor.data().chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect()
    };
    let expected = ExpectedMoments::new(&lab.grammar()).unwrap().covariance();
    assert_eq!(values(&exact, "pair_covariance")[(2 * 4 + 3) * 4..][..4], *expected.pair_vector(2, 3));
    assert_eq!(values(&exact, "triple_covariance")[((4 + 2) * 4 + 3) * 4..][..4], *expected.triple_vector(1, 2, 3));
    for name in ["pair_covariance", "triple_covariance"] {
        let (exact, sampled) = (values(&exact, name), values(&sampled, name));
        let error = exact.iter().zip(&sampled).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(error < 5e-4, "{name}: {error}");
    }
}

#[test]
fn snr_gives_one_line_per_vocabulary() {
    let lab = Lab::new();
    let lines = lab.json_lines("snr --vocab 4,8 --depth 2 --fraction 1/vocab --grammars 6");
    assert_eq!(lines.iter().map(|line| line["vocab"].as_u64().unwrap()).collect::<Vec<_>>(), [4, 8]);
    let needed = |k: usize| lines[k]["sample_complexity"].as_f64().unwrap();
    assert!(needed(1) > 2.0 * needed(0) && (1.5e3..6e3).contains(&needed(1)), "{} {}", needed(0), needed(1));
    let interval = lines[1]["interval"].as_array().unwrap();
    assert!(interval[0].as_f64().unwrap() <= needed(1) && needed(1) <= interval[1].as_f64().unwrap());
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let lab = Lab::with_grammar(GRAMMAR);
    lab.run("corpus sample g.pcfg --samples 200 --seed 1 -o c.jsonl");
    std::fs::write(lab.path("rootless.jsonl"), "{\"tokens\":[0,1,2,3]}\n").unwrap();
    for (arguments, expected) in [
        ("learn c.jsonl --vocab 8 --depth 3 --strict", "length is"),
        ("learn c.jsonl --vocab 8 --depth 5", "length is"),
        ("learn c.jsonl --vocab 8 --depth 3 --truth g.pcfg", "g.pcfg has depth 2, expected that of --depth, 3"),
        ("learn c.jsonl --vocab 8 --depth 2 --noise 1", "noise is 1, expected a share"),
        ("learn c.jsonl --vocab 8 --depth 99", "depth is 99, expected 1 to 7"),
        ("learn c.jsonl --vocab 8", "--depth"),
        (
            "learn rootless.jsonl --vocab 8 --depth 2",
            "rootless.jsonl: sentence 1 has no root, expected a label for every sentence, or --unlabelled",
        ),
        ("learn missing.jsonl --vocab 8 --depth 2", "missing.jsonl: no such file"),
        ("learn --grammar g.pcfg --samples 5", "number of sentences is 5, expected at least 80"),
        ("learn c.jsonl --vocab 8 --depth 2 --p-binary 1.5", "p_binary is 1.5"),
        ("learn c.jsonl --vocab 8 --depth 2 --mode magic", "magic"),
        ("learn c.jsonl --vocab 8,8,8 --depth 3", "number of inner sizes is 3, expected 1, or 2 for depth 3"),
        ("learn c.jsonl --vocab 8 --depth 2 --arities 2,9", "expected numbers of children such as 2,3"),
        ("learn c.jsonl --vocab 8 --depth 2 --arities 1,2", "arities is 1,2, expected one or more from 2 to 4"),
        (
            "learn c.jsonl --vocab 8 --depth 2 --arities 2,4 --mode paper",
            "arities is 2,4, expected one or more from 2 to 3",
        ),
        ("learn c.jsonl --vocab 8 --depth 2 --arities 2,3 --p-binary 0.5", "--p-binary"),
        (
            "learn c.jsonl --vocab 8 --depth 2 --arities 2:0.5,3:0.5 --mode em",
            "--arities with probabilities has no effect here: mode em learns the probabilities of all rules",
        ),
        ("moments g.pcfg --samples many -o m.safetensors", "--samples"),
        ("moments g.pcfg --samples 10 -o m.txt", "m.txt: expected a name ending in .safetensors"),
        ("snr --vocab 1 --depth 2", "--vocab is less than 2"),
    ] {
        let line = lab.refusal(arguments);
        assert!(line.contains(expected), "{arguments}: {line}");
    }
    assert!(!lab.path("m.safetensors").exists());
}

/// No corpus can have been sampled with the seed of the test sentences.
#[test]
fn the_score_is_not_measured_on_training_sentences() {
    let lab = Lab::with_grammar(GRAMMAR);
    for seed in 0..3 {
        lab.run(&format!("corpus sample g.pcfg --samples 2e4 --seed {seed} -o c{seed}.parquet"));
    }
    let accuracy = |arguments: &str| lab.json(&format!("learn {arguments} --truth g.pcfg"))["bayes_accuracy"].as_f64();
    let fresh = accuracy("c0.parquet --vocab 8 --depth 2");
    for seed in 0..3 {
        let own = accuracy(&format!("c0.parquet --vocab 8 --depth 2 --test c{seed}.parquet"));
        assert_ne!(own, fresh, "the test sentences are those of seed {seed}");
    }
    assert_ne!(accuracy("c0.parquet --vocab 8 --depth 2 --seed 1"), fresh, "the seed counts");
}

#[test]
fn a_test_corpus_of_another_language_is_noticed() {
    let lab = Lab::with_grammar("--vocab 8 --depth 2 --fraction 0.125 --seed 41");
    lab.run("grammar sample --vocab 8 --depth 2 --fraction 0.125 --seed 42 -o other.pcfg");
    lab.run("corpus sample other.pcfg --samples 500 --seed 1 -o t.jsonl");
    let output = lab.try_run("learn --grammar g.pcfg --samples 6000 --seed 1 --test t.jsonl");
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && notes.contains("% of t.jsonl: is it the same language?"), "{notes}");
}

#[test]
fn sentences_without_a_derivation_are_counted() {
    let lab = Lab::with_grammar(GRAMMAR);
    lab.run("corpus sample g.pcfg --samples 1e4 --seed 1 -o c.jsonl");
    let mut corpus = std::fs::read_to_string(lab.path("c.jsonl")).unwrap();
    corpus.push_str("{\"tokens\":[1,2],\"root\":3}\n");
    std::fs::write(lab.path("c.jsonl"), corpus).unwrap();
    let output = lab.try_run("learn c.jsonl --vocab 8 --depth 2");
    let (text, notes) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(text.contains("verdict: converged\n1 sentence skipped: impossible length"), "{text}");
    assert_eq!(notes, "warning: skipped 1 sentence whose length no tree has\n");
    let report = lab.json("learn c.jsonl --vocab 8 --depth 2");
    assert_eq!((report["skipped"].as_u64(), report["underivable"].as_u64()), (Some(1), Some(0)));
    assert!(lab.json("learn c.jsonl --vocab 8 --depth 2 --mode paper")["skipped"].is_null());
}
