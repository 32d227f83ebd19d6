//! Predictions on the command line: the same numbers as in the library, in the documented format.

mod common;

use common::{Lab, keys};
use gardenpath::{Corpus, Evidence, Floor, KnownLength, Predictor, Seed, SymbolPosteriors, Task, level_floor_formula};
use serde_json::Value;
use std::fs;

fn lab() -> Lab {
    let lab = Lab::with_grammar("--vocab 5 --depth 2 --fraction 0.4 --seed 3");
    lab.run("corpus sample g.pcfg --samples 40 --seed 1 -o c.jsonl");
    lab
}

fn sentences(lab: &Lab) -> Vec<Vec<u8>> {
    let corpus = Corpus::sample(&lab.grammar(), Seed::new(1), 0..40);
    corpus.sentences().map(<[u8]>::to_vec).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn next_tokens_are_those_of_the_library() {
    let lab = lab();
    let grammar = lab.grammar();
    let predictor = Predictor::new(&grammar);
    let known = KnownLength::new(&predictor);
    let unknown_lines = lab.json_lines("predict g.pcfg c.jsonl --task next");
    let known_lines = lab.json_lines("predict g.pcfg c.jsonl --task next-known");
    for ((line, of_length), sentence) in unknown_lines.iter().zip(&known_lines).zip(sentences(&lab)) {
        assert_eq!(keys(line), ["len", "logprob", "next", "surprisal"]);
        assert_eq!(keys(of_length), keys(line));
        assert_eq!(line["len"], sentence.len());
        let mut reader = predictor.reader();
        let surprisal = numbers(&line["surprisal"]);
        assert_eq!(surprisal.len(), sentence.len() + 1);
        for place in 0..=sentence.len() {
            assert_eq!(numbers(&line["next"][place]), reader.next());
            let came = sentence.get(place).map_or(grammar.vocab(), |&token| usize::from(token));
            assert_eq!(surprisal[place], -reader.next()[came].ln());
            sentence.get(place).into_iter().for_each(|&token| reader.push(token).unwrap());
        }
        let logprob = line["logprob"].as_f64().unwrap();
        assert!((logprob + surprisal.iter().sum::<f64>()).abs() < 1e-9, "ln P(sentence) is minus all surprisals");
        let rows: Vec<f64> = of_length["next"].as_array().unwrap().iter().flat_map(numbers).collect();
        assert_eq!(rows, known.rows(&sentence).unwrap());
        assert_eq!(of_length["logprob"], line["logprob"]);
        let given_length = numbers(&of_length["surprisal"]).iter().sum::<f64>();
        assert!((logprob + given_length - known.length_probability(sentence.len()).ln()).abs() < 1e-9);
    }
}

#[test]
fn masks_and_noise_are_those_of_the_library() {
    let lab = lab();
    let grammar = lab.grammar();
    let fixed = lab.json_lines("predict g.pcfg c.jsonl --task masked --mask-at 1,3,99");
    let random = lab.json_lines("predict g.pcfg c.jsonl --task masked --mask 0.4 --seed 5");
    let noisy = lab.json_lines("predict g.pcfg c.jsonl --task noisy --noise 0.2");
    for (i, sentence) in sentences(&lab).iter().enumerate() {
        let check = |line: &Value, evidence: &Evidence, positions: &[usize]| {
            assert_eq!(keys(line), ["positions", "tokens"]);
            assert_eq!(line["positions"], serde_json::json!(positions));
            let posteriors = SymbolPosteriors::new(&grammar, evidence).unwrap().unwrap();
            for (row, &position) in line["tokens"].as_array().unwrap().iter().zip(positions) {
                assert_eq!(numbers(row), posteriors.row(grammar.depth(), position));
            }
            assert_eq!(line["tokens"].as_array().unwrap().len(), positions.len());
        };
        let masked = |positions: &[usize]| Evidence::with_masks(5, sentence, positions.iter().copied()).unwrap();
        let positions: Vec<usize> = [1, 3].into_iter().filter(|&k| k < sentence.len()).collect();
        check(&fixed[i], &masked(&positions), &positions);
        let positions = gardenpath::random_mask(sentence.len(), 0.4, Seed::new(5), i as u64);
        check(&random[i], &masked(&positions), &positions);
        let all: Vec<usize> = (0..sentence.len()).collect();
        check(&noisy[i], &Evidence::noisy(5, sentence, 0.2).unwrap(), &all);
    }
}

#[test]
fn hidden_symbols_are_those_of_the_library() {
    let lab = lab();
    let grammar = lab.grammar();
    let predictor = Predictor::new(&grammar);
    let whole = lab.json_lines("predict g.pcfg c.jsonl --task hidden");
    let so_far = lab.json_lines("predict g.pcfg c.jsonl --task hidden --prefix");
    let one = lab.json_lines("predict g.pcfg c.jsonl --task hidden --level 1");
    for (i, sentence) in sentences(&lab).iter().enumerate() {
        assert_eq!(keys(&whole[i]["levels"]), ["0", "1"]);
        assert_eq!(keys(&one[i]["levels"]), ["1"]);
        assert_eq!(one[i]["levels"]["1"], whole[i]["levels"]["1"]);
        let evidence = Evidence::tokens(5, sentence).unwrap();
        let posteriors = SymbolPosteriors::new(&grammar, &evidence).unwrap().unwrap();
        let mut reader = predictor.reader();
        for (k, &token) in sentence.iter().enumerate() {
            reader.push(token).unwrap();
            for level in 0..2 {
                let name = level.to_string();
                assert_eq!(numbers(&whole[i]["levels"][&name][k]), posteriors.row(level, k));
                assert_eq!(numbers(&so_far[i]["levels"][&name][k]), reader.hidden(level));
            }
        }
    }
}

#[test]
fn the_impossible_is_null() {
    let lab = Lab::new();
    fs::write(lab.path("g.pcfg"), "S -> A [1]\nA -> 'a' 'b' [1]\n").unwrap();
    fs::write(lab.path("c.jsonl"), "{\"tokens\":[\"b\",\"a\"]}\n{\"tokens\":[\"a\"]}\n").unwrap();
    let lines = lab.json_lines("predict g.pcfg c.jsonl --task next");
    assert_eq!(lines[0]["next"], serde_json::json!([[1.0, 0.0, 0.0], null, null]));
    assert_eq!(lines[0]["surprisal"], serde_json::json!([null, null, null]));
    assert_eq!(lines[0]["logprob"], Value::Null);
    assert_eq!(lines[1]["next"], serde_json::json!([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]));
    assert_eq!(lines[1]["surprisal"][1], Value::Null);
    let lines = lab.json_lines("predict g.pcfg c.jsonl --task next-known");
    assert_eq!(lines[0]["next"], serde_json::json!([[1.0, 0.0], null]));
    assert_eq!(lines[1]["next"], serde_json::json!([null]));
    let lines = lab.json_lines("predict g.pcfg c.jsonl --task masked --mask-at 0");
    assert_eq!(lines[0]["tokens"], serde_json::json!([null]));
    let lines = lab.json_lines("predict g.pcfg c.jsonl --task hidden --prefix");
    assert_eq!(lines[0]["levels"]["0"], serde_json::json!([null, null]));
    assert!(lab.run("predict g.pcfg c.jsonl --task next").starts_with("1: impossible"));
}

#[test]
fn floors_are_those_of_the_library() {
    let lab = lab();
    let grammar = lab.grammar();
    let corpus = Corpus::sample(&grammar, Seed::new(1), 0..40);
    for (name, task, per) in [
        ("next", Task::Next, "token"),
        ("next-known", Task::NextKnown, "token"),
        ("masked", Task::Masked(Task::MASK), "masked token"),
        ("masked-one", Task::MaskedOne, "masked token"),
        ("noisy", Task::Noisy(0.1), "token"),
        ("root", Task::Root, "sentence"),
    ] {
        let floor = Floor::measure(&grammar, &corpus, task, Seed::new(1), &|_| ()).unwrap();
        let found = lab.json(&format!("floor g.pcfg --task {name} --samples 40 --seed 1"));
        let expected: &[&str] = match floor.root_accuracy {
            Some(_) => &["by_position", "loss", "per", "root_accuracy", "stderr", "task"],
            None => &["by_position", "loss", "per", "stderr", "task"],
        };
        assert_eq!(keys(&found), expected);
        assert_eq!(found["root_accuracy"].as_f64(), floor.root_accuracy.map(|accuracy| accuracy.mean));
        assert_eq!((found["task"].as_str(), found["per"].as_str()), (Some(name), Some(per)));
        assert_eq!(found["loss"].as_f64(), Some(floor.loss.mean));
        assert_eq!(found["stderr"].as_f64(), Some(floor.loss.stderr));
        assert_eq!(found["by_position"].as_array().unwrap().len(), floor.by_position.len());
        let seed = if ["masked", "masked-one", "noisy"].contains(&name) { "--seed 1" } else { "" };
        assert_eq!(
            lab.json(&format!("floor g.pcfg --task {name} --corpus c.jsonl {seed}")),
            found,
            "the same sentences"
        );
    }
    let found = lab.json("floor g.pcfg --task next --levels --samples 40 --seed 1");
    let floors = Floor::of_lowest_levels(&grammar, 0..=2, &corpus, &|_| ()).unwrap();
    for (known, floor) in floors.iter().enumerate() {
        let level = &found["levels"][known];
        assert_eq!(keys(level), ["formula", "known", "loss", "stderr"]);
        assert_eq!((level["known"].as_u64(), level["loss"].as_f64()), (Some(known as u64), Some(floor.loss.mean)));
        assert_eq!(level["formula"].as_f64(), Some(level_floor_formula(&grammar, known).unwrap()));
    }
    let text = lab.run("floor g.pcfg --task next --levels --samples 40");
    assert!(text.contains("nats per token, on 40 sentences") && text.contains("known levels"), "{text}");
}

#[test]
fn predictions_of_others_are_compared() {
    let lab = lab();
    for task in ["next", "next-known", "masked --mask 0.5", "noisy"] {
        fs::write(lab.path("exact.jsonl"), lab.run(&format!("predict g.pcfg c.jsonl --task {task} --json"))).unwrap();
        for line in lab.json_lines(&format!("predict g.pcfg c.jsonl --task {task} --compare exact.jsonl")) {
            assert_eq!(keys(&line), ["divergence", "len"]);
            assert!(line["divergence"].is_null() || line["divergence"].as_f64().unwrap().abs() < 1e-12, "{line}");
        }
    }
    // A uniform prediction is off by ln 6 minus the entropy.
    let uniform: Vec<String> = sentences(&lab)
        .iter()
        .map(|sentence| serde_json::json!({ "next": vec![vec![1.0 / 6.0; 6]; sentence.len() + 1] }).to_string())
        .collect();
    fs::write(lab.path("uniform.jsonl"), uniform.join("\n")).unwrap();
    let exact = lab.json_lines("predict g.pcfg c.jsonl --task next");
    for (line, exact) in lab.json_lines("predict g.pcfg c.jsonl --task next --compare uniform.jsonl").iter().zip(exact)
    {
        let rows: Vec<Vec<f64>> = exact["next"].as_array().unwrap().iter().map(numbers).collect();
        let entropy = |row: &Vec<f64>| -row.iter().filter(|p| **p > 0.0).map(|p| p * p.ln()).sum::<f64>();
        let expected = rows.iter().map(|row| 6f64.ln() - entropy(row)).sum::<f64>() / rows.len() as f64;
        assert!((line["divergence"].as_f64().unwrap() - expected).abs() < 1e-9);
    }
    let text = lab.run("predict g.pcfg c.jsonl --task next --compare uniform.jsonl");
    assert!(text.lines().last().unwrap().starts_with("mean divergence "), "{text}");
    for (content, reason) in [
        (uniform[..3].join("\n"), "only 3 lines, expected one per sentence"),
        (format!("{}\n{{}}", uniform.join("\n")), "more lines than sentences"),
        (uniform.join("\n").replacen("next", "text", 1), "line 1: no field next"),
        (uniform.join("\n").replacen("0.16", "0.96", 1), "predicted probabilities sum to"),
        (uniform.join("\n").replacen("[[", "[[0.5,", 1), "prediction 0 has 7 numbers, expected 6"),
        ("nonsense\n".repeat(40), "line 1: expected predictions as JSON"),
    ] {
        fs::write(lab.path("bad.jsonl"), content).unwrap();
        let message = lab.refusal("predict g.pcfg c.jsonl --task next --compare bad.jsonl");
        assert!(message.contains(reason), "{message}");
    }
    assert!(lab.refusal("predict g.pcfg c.jsonl --task next --compare absent.jsonl").contains("no such file"));
}

#[test]
fn a_published_grammar_begins_as_recorded() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/fixtures/cfg3f.json");
    let lab = Lab::new();
    fs::copy(fixture, lab.path("cfg3f.json")).unwrap();
    fs::write(lab.path("c.jsonl"), "{\"tokens\":[0]}\n").unwrap();
    let line = lab.json("predict cfg3f.json c.jsonl --task next");
    for (found, expected) in numbers(&line["next"][0]).iter().zip([0.367863, 0.070385, 0.561753, 0.0]) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
}

#[test]
fn a_sentence_is_read_token_by_token() {
    let lab = lab();
    let grammar = lab.grammar();
    let sentence = &sentences(&lab)[0];
    let text: Vec<String> = sentence.iter().map(u8::to_string).collect();
    let reading = lab.json(&format!("read g.pcfg --sentence \"{}\" --svg reading.svg", text.join(" ")));
    assert_eq!(keys(&reading), ["len", "logprob", "prefixes", "surprisal", "tokens"]);
    let steps = reading["prefixes"].as_array().unwrap();
    assert_eq!(steps.len(), sentence.len() + 2);
    assert_eq!(numbers(&steps[0]["posterior"]), grammar.prior());
    let predictor = Predictor::new(&grammar);
    let mut reader = predictor.reader();
    for (k, &token) in sentence.iter().enumerate() {
        assert_eq!(reading["surprisal"][k].as_f64(), Some(-reader.next()[usize::from(token)].ln()));
        reader.push(token).unwrap();
        assert_eq!(numbers(&steps[k + 1]["posterior"]), reader.hidden(0));
    }
    let posterior = gardenpath::Inside::new(&grammar).posterior(sentence).unwrap();
    let last = steps.last().unwrap();
    assert_eq!(last["root"].as_u64(), posterior.root().map(u64::from));
    assert!((last["entropy"].as_f64().unwrap() - posterior.entropy()).abs() < 1e-12);
    let svg = fs::read_to_string(lab.path("reading.svg")).unwrap();
    assert!(svg.contains("surprisal of each token") && svg.contains(">end<"), "{svg}");
    assert!(lab.run(&format!("read g.pcfg --sentence \"{}\"", text.join(" "))).contains("likely root"));
    fs::write(lab.path("short.pcfg"), "S -> A [1]\nA -> 'a' 'b' [1]\n").unwrap();
    let impossible = lab.json("read short.pcfg --sentence \"b a\" --svg impossible.svg");
    assert_eq!((&impossible["logprob"], &impossible["steps"][1]["posterior"]), (&Value::Null, &Value::Null));
    assert!(lab.run("read short.pcfg --sentence \"b a\"").contains("no root derives the sentence"));
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let lab = lab();
    fs::write(lab.path("odd.jsonl"), "{\"tokens\":[0]}\n").unwrap();
    for (arguments, reason) in [
        ("predict g.pcfg c.jsonl --task masked --mask 0", "--mask is 0"),
        ("predict g.pcfg c.jsonl --task noisy --noise 2", "--noise is 2"),
        ("predict g.pcfg c.jsonl --task hidden --level 2", "--level is 2, expected a hidden level: 0 to 1"),
        ("predict g.pcfg absent.jsonl --task next", "absent.jsonl"),
        ("predict - - --task next", "standard input"),
        ("floor g.pcfg --task next --samples 0", "--samples is 0"),
        ("floor g.pcfg --task next --samples 1e15", "limit"),
        ("floor g.pcfg --task next --corpus odd.jsonl", "sentence 1 is impossible"),
        ("floor g.pcfg --task masked --samples 1 --mask 1e-9", "number of masked tokens is 0, expected at least 1"),
        ("read g.pcfg --sentence \"0 9\"", "\"9\" is not one of the 5 tokens"),
        ("read g.pcfg --sentence \"0 1\" --svg picture.gif", "picture.gif"),
    ] {
        let message = lab.refusal(arguments);
        assert!(message.contains(reason), "{arguments}: {message}");
    }
}
