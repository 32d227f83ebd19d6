//! What is answered about languages and sentences, next to the core's own numbers.

use crate::client::Explorer;
use crate::common::Lab;
use gardenpath::{
    Chart, Corpus, Count, Ensemble, Evidence, Grammar, Inside, Magnitude, Parser, Predictor, Sampler, Seed, Symbol,
    SymbolPosteriors, Tree,
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn symbols(value: &Value) -> Vec<Symbol> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as Symbol).collect()
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9 * (1.0 + other.abs())
}

/// Text in which symbols of a level branch differently.
const TEXT: &str =
    "%start S\nS -> A B [0.7] | B B A [0.3]\nA -> 'x' 'y' [1.0]\nB -> 'x' 'x' [0.25] | 'y' 'x' 'y' [0.75]\n";

#[test]
fn a_language_is_that_of_the_core() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let choice = json!({"vocab": 8, "depth": 3, "fraction": 0.25, "seed": 7});
    let grammar = Ensemble::new(8, 3).fraction(0.25).sample(Seed::new(7)).unwrap();
    let language = explorer.posted("/api/language", &json!({"grammar": choice, "sentences": 5, "first": 3, "seed": 2}));
    assert_eq!((&language["depth"], &language["sizes"]), (&json!(3), &json!([8, 8, 8, 8])));
    assert_eq!(language["names"][0][7], "A0_7");
    let corpus = Corpus::sample(&grammar, Seed::new(2), 3..8);
    for (i, sentence) in language["sentences"].as_array().unwrap().iter().enumerate() {
        assert_eq!(symbols(&sentence["tokens"]), corpus.sentence(i));
        assert_eq!((&sentence["root"], &sentence["number"]), (&json!(corpus.roots()[i]), &json!(i + 3)));
    }
    assert_eq!(language["sentences"].as_array().unwrap().len(), 5);
    assert_eq!(
        language["layers"][1],
        json!({"level": 1, "rules": {"2": 16, "3": 128}, "probability": {"2": 0.5, "3": 0.5}})
    );
    assert_eq!((&language["rules"], &language["fraction"]), (&json!(3 * 144), &json!(0.25)));
    assert_eq!(language["effective_fractions"][0], json!({"2": 0.25, "3": 0.25}));
    assert!(near(language["critical_fraction"].as_f64().unwrap(), critical(3)));

    let measured = language["entropy"]["sentences"].as_u64().unwrap();
    let corpus = Corpus::sample(&grammar, Seed::new(2), 0..measured);
    let posteriors = Inside::new(&grammar).batch(&corpus).unwrap();
    let mean = posteriors.iter().map(|posterior| posterior.entropy()).sum::<f64>() / measured as f64;
    assert!(measured > 100 && near(language["entropy"]["mean"].as_f64().unwrap(), mean));

    for (choice, grammar) in [(choice, grammar), (json!({"text": TEXT}), Grammar::from_text(TEXT).unwrap())] {
        let language = explorer.posted("/api/language", &json!({"grammar": choice}));
        let lengths = language["lengths"].as_array().unwrap();
        let law: Vec<(f64, f64)> =
            lengths.iter().map(|one| (one["length"].as_f64().unwrap(), one["probability"].as_f64().unwrap())).collect();
        assert!(near(law.iter().map(|(_, p)| p).sum(), 1.0), "{law:?}");
        assert!(near(law.iter().map(|(length, p)| length * p).sum(), grammar.mean_length()), "{law:?}");
        assert!(near(language["mean_length"].as_f64().unwrap(), grammar.mean_length()));

        let text = explorer.posted("/api/pcfg", &json!({"grammar": choice}))["text"].as_str().unwrap().to_owned();
        assert_eq!(Grammar::from_text(&text).unwrap(), grammar);
        let rules = explorer.posted("/api/rules", &json!({"grammar": choice, "level": 1, "parent": 1}));
        let own = &grammar.layer(1).rules()[grammar.layer(1).rules_of(1)];
        assert_eq!(rules["total"], own.len());
        for (rule, own) in rules["rules"].as_array().unwrap().iter().zip(own) {
            assert_eq!(symbols(&rule["children"]), own.children.iter().collect::<Vec<_>>());
            assert_eq!((&rule["parent"], rule["probability"].as_f64()), (&json!(1), Some(own.probability)));
        }
        assert_eq!(
            explorer.posted("/api/rules", &json!({"grammar": choice, "level": 0}))["total"],
            grammar.layer(0).rules().len()
        );
    }
}

fn critical(depth: usize) -> f64 {
    gardenpath::theory::candidates::critical_fraction(depth, gardenpath::PerArity::paper(0.5)).unwrap()
}

#[test]
fn the_crossover_goes_from_certain_to_uncertain_classes() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let mut last = 0;
    for effort in 0..3 {
        let ask = json!({"grammar": {"vocab": 16, "depth": 2, "fraction": 0.1}, "effort": effort});
        let found = explorer.posted("/api/entropy", &ask);
        let points = found["points"].as_array().unwrap();
        let entropy = |k: usize| points[k]["entropy"].as_f64().unwrap();
        assert!(points.len() >= 8 && points.len() > last / 2, "{found}");
        assert!(entropy(0) < 0.01 && entropy(points.len() - 1) > 0.5, "{found}");
        assert!(near(found["guessing"].as_f64().unwrap(), 16f64.ln()));
        let theory = found["theory"].as_array().unwrap().last().unwrap();
        assert!((theory["entropy"].as_f64().unwrap() - entropy(points.len() - 1)).abs() < 0.15, "{found}");
        last = points.len();
    }
    let deep = explorer.posted("/api/entropy", &json!({"grammar": {"vocab": 8, "depth": 3}}));
    assert_eq!(deep["theory"], Value::Null);
    let refused = explorer.post("/api/entropy", &json!({"grammar": {"text": TEXT}})).refusal(400);
    assert!(refused.contains("no crossover"));
    explorer.post("/api/entropy", &json!({"grammar": {"vocab": 8, "depth": 3}, "effort": 3})).refusal(400);
}

#[test]
fn a_reading_is_that_of_the_core() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let choice = json!({"vocab": 6, "depth": 3, "fraction": 0.5, "seed": 3});
    let grammar = Ensemble::new(6, 3).fraction(0.5).sample(Seed::new(3)).unwrap();
    let sample = json!({"grammar": choice, "sample": {"seed": 4, "number": 17}, "trees": 5});
    let reading = explorer.posted("/api/reading", &sample);
    let tree = Sampler::new(&grammar).tree(Seed::new(4), 17);
    let tokens = tree.sentence();
    assert_eq!(symbols(&reading["tokens"]), tokens);
    assert_eq!(reading["truth"], json!({"root": tree.root(), "tree": tree.to_text(&grammar)}));

    let posterior = Inside::new(&grammar).posterior(tokens).unwrap();
    let classes: Vec<f64> = (0..6).map(|root| posterior.probability(root)).collect();
    assert!(numbers(&reading["posterior"]).iter().zip(&classes).all(|(one, other)| near(*one, *other)));
    assert!(near(reading["entropy"].as_f64().unwrap(), posterior.entropy()));

    // Trees: as many as there are, the best ones first, each of the sentence.
    let counts = Chart::<Count>::parse(&grammar, tokens).unwrap().roots();
    let count: num::Sum = counts.iter().map(|count| count.to_string()).collect();
    assert_eq!(reading["tree_count"].as_str().unwrap(), count.0);
    let trees = reading["trees"].as_array().unwrap();
    let logprob = reading["logprob"].as_f64().unwrap();
    assert_eq!(trees.len(), 5.min(count.0.parse::<usize>().unwrap()));
    for (found, after) in trees.iter().zip(trees.iter().skip(1)) {
        assert!(found["share"].as_f64() >= after["share"].as_f64());
    }
    for found in trees {
        let tree = Tree::from_text(found["tree"].as_str().unwrap(), &grammar).unwrap();
        assert_eq!((tree.sentence(), &json!(tree.root())), (tokens, &found["root"]));
        let own = tree.log_probability(&grammar).unwrap();
        assert!(near(found["logprob"].as_f64().unwrap(), own));
        assert!(near(found["share"].as_f64().unwrap(), (own + (1f64 / 6.0).ln() - logprob).exp()));
        assert_eq!((&found["nodes"]["symbol"], &found["nodes"]["span"]), (&json!(tree.root()), &json!(tokens.len())));
        assert_eq!(leaves(&found["nodes"]), tokens);
    }

    // Reading from left to right.
    let rows = Predictor::new(&grammar).rows(tokens).unwrap();
    let steps = reading["steps"].as_array().unwrap();
    assert_eq!(steps.len(), tokens.len() + 2);
    for (step, row) in steps.iter().zip(rows.chunks(7)) {
        let next = numbers(&step["next"]);
        assert!(near(next.iter().sum(), 1.0) && next.iter().zip(row).all(|(one, other)| near(*one, *other)));
    }
    let surprisal = numbers(&reading["surprisal"]);
    assert!(near(-surprisal.iter().sum::<f64>(), logprob), "{surprisal:?} {logprob}");
    for step in &steps[1..=tokens.len()] {
        assert!(near(numbers(&step["posterior"]).iter().sum(), 1.0));
        assert_eq!(step["hidden"].as_array().unwrap().len(), 3);
        assert!(step["hidden"].as_array().unwrap().iter().all(|level| near(numbers(level).iter().sum(), 1.0)));
    }
    assert_eq!((&steps[0]["hidden"], &steps[tokens.len() + 1]["next"]), (&Value::Null, &Value::Null));

    // The whole sentence: symbols above each token, and the chart.
    let evidence = Evidence::tokens(6, tokens).unwrap();
    let hidden = SymbolPosteriors::new(&grammar, &evidence).unwrap().unwrap();
    for level in 0..3 {
        for position in 0..tokens.len() {
            let row = hidden.row(level, position);
            let pairs = reading["hidden"][level][position].as_array().unwrap();
            assert!(near(pairs.iter().map(|pair| pair[1].as_f64().unwrap()).sum(), 1.0));
            for pair in pairs {
                assert!(near(pair[1].as_f64().unwrap(), row[pair[0].as_u64().unwrap() as usize]));
            }
        }
    }
    let chart = Parser::<Magnitude>::new(&grammar).parse(tokens).unwrap();
    for (level, found) in reading["chart"].as_array().unwrap().iter().enumerate() {
        let all: usize = chart.cells(level).map(|cell| cell.values.len()).sum();
        let [of_trees, spurious] = ["true_count", "spurious_count"].map(|name| found[name].as_u64().unwrap() as usize);
        assert_eq!(of_trees + spurious, all);
        let cells = found["cells"].as_array().unwrap();
        assert_eq!(cells.len(), all.min(1000));
        assert_eq!(cells.iter().filter(|cell| cell["probability"] != 0.0).count(), of_trees.min(1000));
        let covered: f64 =
            cells.iter().map(|cell| cell["probability"].as_f64().unwrap() * cell["span"].as_f64().unwrap()).sum();
        assert!(near(covered, tokens.len() as f64), "level {level}: {covered}");
    }

    // The same by numbers and by names.
    for ask in [
        json!({"grammar": choice, "tokens": tokens, "trees": 5}),
        json!({"grammar": choice, "sentence": tokens.iter().map(u8::to_string).collect::<Vec<_>>().join(" "), "trees": 5}),
    ] {
        let mut same = explorer.posted("/api/reading", &ask);
        assert_eq!(same["truth"], Value::Null);
        same["truth"] = reading["truth"].clone();
        assert_eq!(same, reading);
    }
}

fn leaves(node: &Value) -> Vec<Symbol> {
    match node["children"].as_array() {
        None => vec![node["symbol"].as_u64().unwrap() as Symbol],
        Some(children) => children.iter().flat_map(leaves).collect(),
    }
}

/// Numbers of trees, added up in decimal.
mod num {
    pub struct Sum(pub String);

    impl FromIterator<String> for Sum {
        fn from_iter<I: IntoIterator<Item = String>>(numbers: I) -> Self {
            Sum(numbers.into_iter().map(|number| number.parse::<u128>().unwrap()).sum::<u128>().to_string())
        }
    }
}

#[test]
fn impossible_sentences_are_read_as_far_as_they_go() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let read =
        |sentence: &str| explorer.posted("/api/reading", &json!({"grammar": {"text": TEXT}, "sentence": sentence}));
    let possible = read("x y x x");
    assert_eq!((&possible["tree_count"], &possible["why"]), (&json!("1"), &Value::Null));
    for (sentence, why) in [
        ("x", "sentences have 4 to 9 tokens, this one has 1"),
        ("y y x x", "no sentence begins with the first 2 tokens"),
        ("x y x x x", "no sentence begins with the first 5 tokens"),
        ("x x y x", "none ends here"),
    ] {
        let reading = read(sentence);
        assert!(reading["why"].as_str().unwrap().contains(why), "{sentence}: {}", reading["why"]);
        assert_eq!((&reading["logprob"], &reading["tree_count"]), (&Value::Null, &json!("0")));
        assert_eq!([&reading["trees"], &reading["posterior"], &reading["hidden"]], [&json!([]); 3]);
        assert_eq!(reading["steps"].as_array().unwrap().len(), sentence.split(' ').count() + 2);
        assert_eq!(reading["steps"].as_array().unwrap().last().unwrap()["posterior"], Value::Null);
    }
    let refuse = |ask: Value| explorer.post("/api/reading", &ask).refusal(400);
    let grammar = json!({"text": TEXT});
    assert!(refuse(json!({"grammar": grammar, "sentence": "x z"})).contains("\"z\""));
    assert!(refuse(json!({"grammar": grammar, "tokens": [0, 2]})).contains("token 2"));
    assert!(refuse(json!({"grammar": grammar, "tokens": []})).contains("empty"));
    assert!(refuse(json!({"grammar": grammar})).contains("expected one of tokens, sentence and sample"));
    assert!(refuse(json!({"grammar": grammar, "tokens": [0], "sentence": "x"})).contains("expected one of"));
    assert!(refuse(json!({"grammar": grammar, "tokens": vec![0; 257]})).contains("more than 256"));
    assert!(refuse(json!({"grammar": grammar, "tokens": [0], "trees": 101})).contains("at most 100"));
}

#[test]
fn an_ambiguous_sentence_is_found() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let choice = json!({"vocab": 8, "depth": 2, "fraction": 0.5, "seed": 1});
    for seed in [1, 2] {
        let answer = explorer.posted("/api/ambiguous", &json!({"grammar": choice, "seed": seed}));
        let found = &answer["found"];
        let sample = json!({"seed": answer["seed"], "number": found["number"]});
        let reading = explorer.posted("/api/reading", &json!({"grammar": choice, "sample": sample}));
        assert_eq!((&reading["tokens"], &reading["tree_count"]), (&found["tokens"], &found["tree_count"]));
        assert!(reading["entropy"].as_f64().unwrap() > 0.3 && found["classes"].as_u64().unwrap() > 1);
    }
    let binary = json!({"vocab": 8, "depth": 2, "arities": "2:1"});
    assert_eq!(explorer.posted("/api/ambiguous", &json!({"grammar": binary}))["found"], Value::Null);
}

#[test]
fn work_that_nobody_waits_for_is_left() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let heavy = json!({"grammar": {"vocab": 16, "depth": 5, "fraction": 1.0}, "effort": 2}).to_string();
    // Each takes seconds of all cores: if they were not left, the next would wait for a minute.
    for _ in 0..40 {
        use std::io::Write;
        let mut stream = explorer.connect();
        let mut head = format!("POST /api/entropy HTTP/1.1\r\nContent-Length: {}\r\n", heavy.len());
        explorer.headers().iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        head += "Content-Type: application/json\r\n\r\n";
        stream.write_all((head + &heavy).as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    let start = Instant::now();
    explorer.posted("/api/language", &json!({"grammar": {"vocab": 8, "depth": 2}}));
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}
