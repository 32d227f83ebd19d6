//! The output of every command: names, fields and values, compared with the core.

mod common;

use common::{Lab, keys};
use gardenpath::{
    Arities, BestLog, Chart, Corpus, Count, Ensemble, Grammar, Inside, Magnitude, Parser, PerArity, Recognition,
    RuleCount, Sampler, Seed, Symbol, Tree, class_entropy, theory,
};
use serde_json::{Value, json};

const GRAMMAR: &str = "--vocab 6 --depth 3 --fraction 0.5 --seed 7";

#[test]
fn grammar_sample_writes_the_grammar_of_the_seed() {
    let lab = Lab::new();
    lab.run("grammar sample --vocab 16 --depth 3 --fraction 0.25 --seed 7 -o g.pcfg");
    let expected = Ensemble::new(16, 3).fraction(0.25).sample(Seed::new(7)).unwrap();
    let found = lab.grammar();
    assert_eq!(found.fingerprint(), expected.fingerprint());
    let remark = "gardenpath grammar: vocab 16, depth 3, binary rules 4, ternary rules 64, p_binary 0.5, seed 7";
    assert_eq!(found.remarks(), [remark]);
    // Standard output is the default, and JSON says the same.
    let text = lab.run("grammar sample --vocab 16 --depth 3 --fraction 0.25 --seed 7");
    assert_eq!(text, std::fs::read_to_string(lab.path("g.pcfg")).unwrap());
    let document = lab.json("grammar sample --vocab 16 --depth 3 --fraction 0.25 --seed 7");
    assert_eq!(document["text"], text);
    assert_eq!(document["fingerprint"], expected.fingerprint());
    assert_eq!(document["rules"], json!([1088, 1088, 1088]));
}

#[test]
fn grammar_sample_takes_all_options() {
    let lab = Lab::new();
    let sample = |options: &str| {
        let text = lab.run(&format!("grammar sample --vocab 8 --depth 2 --seed 3 {options}"));
        Grammar::from_text(&text).unwrap()
    };
    let base = || Ensemble::new(8, 2);
    let rules = |binary, ternary| base().rules(2, binary).rules(3, ternary);
    let fractions = rules(RuleCount::Fraction(0.5), RuleCount::Fraction(0.125));
    let numbers = rules(RuleCount::Number(3), RuleCount::Number(5));
    for (options, ensemble) in [
        ("", base()),
        ("--fraction 1", base().fraction(1.0)),
        ("--binary-fraction 0.5 --ternary-fraction 0.125", fractions),
        ("--binary-rules 3 --ternary-rules 5", numbers),
        ("--p-binary 0.25", base().p_binary(0.25)),
        ("--p-binary 1", base().p_binary(1.0)),
        ("--zipf 1.5", base().zipf(1.5)),
        ("--non-overlapping", base().non_overlapping(true)),
    ] {
        let expected = ensemble.sample(Seed::new(3)).unwrap();
        assert_eq!(sample(options).fingerprint(), expected.fingerprint(), "{options}");
    }
    assert!(sample("--zipf 1.5 --non-overlapping").remarks()[0].ends_with("zipf 1.5, non-overlapping, seed 3"));
    let output = lab.try_run("grammar sample --vocab 6 --depth 2 --class-entropy 0.2 --seed 3");
    assert!(output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("fraction 0."));
}

#[test]
fn grammar_info_describes() {
    let lab = Lab::with_grammar(GRAMMAR);
    let document = lab.json("grammar info g.pcfg");
    let grammar = lab.grammar();
    assert_eq!(document["depth"], 3);
    assert_eq!(document["sizes"], json!([6, 6, 6, 6]));
    assert_eq!(document["levels"][0]["binary_rules"], 18);
    assert_eq!(document["levels"][0]["ternary_rules"], 108);
    assert_eq!(document["levels"][0]["shared_tuples"], 0);
    assert_eq!(document["length"]["min"], 8);
    assert_eq!(document["length"]["max"], 27);
    assert_eq!(document["length"]["mean"], grammar.mean_length());
    assert_eq!(document["fingerprint"], grammar.fingerprint());
    let entropy = document["class_entropy"]["mean"].as_f64().unwrap();
    assert!(entropy > 0.0 && entropy < 6f64.ln());
    let text = lab.run("grammar info g.pcfg");
    for part in ["fingerprint", "8 to 27", "class entropy", "overlapping", "2 or 3"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn grammar_info_counts_shared_and_overlapping_rules() {
    let lab = Lab::new();
    // 'a' 'b' has two parents; 'a' 'b' 'a' begins with it, 'b' 'b' 'b' does not overlap.
    let text = "S -> X [0.5]\nS -> Y [0.5]\nX -> 'a' 'b' [0.5]\nX -> 'a' 'b' 'a' [0.5]\nY -> 'a' 'b' [0.5]\nY -> 'b' 'b' 'b' [0.5]\n";
    std::fs::write(lab.path("g.pcfg"), text).unwrap();
    let document = lab.json("grammar info g.pcfg");
    assert_eq!(document["levels"][0]["shared_tuples"], 1);
    assert_eq!(document["levels"][0]["overlapping_rules"], 1);
}

#[test]
fn grammar_convert_reads_published_json() {
    let lab = Lab::new();
    let published = r#"{"sizes": [1, 2], "all": [
        [{"id": 7, "name": "top", "children": [[0, 1], [1, 1, 0]]}],
        [{"id": 1, "name": "x", "children": null}, {"id": 2, "name": "y", "children": null}]]}"#;
    std::fs::write(lab.path("p.json"), published).unwrap();
    lab.run("grammar convert p.json -o g.pcfg");
    assert_eq!(lab.grammar(), Grammar::from_lano_json(published).unwrap());
    assert_eq!(lab.json("grammar info p.json")["fingerprint"], lab.grammar().fingerprint());
    assert_eq!(lab.run("grammar convert p.json"), lab.grammar().to_text());
}

#[test]
fn corpus_sample_writes_the_sentences_of_the_seed() {
    let lab = Lab::with_grammar(GRAMMAR);
    let lines = lab.json_lines("corpus sample g.pcfg --samples 50 --seed 1 --trees -o -");
    let grammar = lab.grammar();
    let expected = Corpus::sample(&grammar, Seed::new(1), 0..50);
    let sampler = Sampler::new(&grammar);
    assert_eq!(lines.len(), 50);
    for (i, line) in lines.iter().enumerate() {
        assert_eq!(keys(line), ["root", "tokens", "tree"]);
        assert_eq!(line["tokens"], json!(expected.sentence(i)));
        assert_eq!(line["root"], expected.roots()[i]);
        assert_eq!(line["tree"], sampler.tree(Seed::new(1), i as u64).to_text(&grammar));
    }
    let written = lab.json("corpus sample g.pcfg --samples 1e2 --seed 1 -o c.jsonl");
    assert_eq!(written["sentences"], 100);
    assert_eq!(keys(&lab.json_lines("corpus sample g.pcfg --samples 1")[0]), ["root", "tokens"]);
}

/// Sampled sentences, and some that no tree derives.
fn sentences(lab: &Lab) -> Vec<Vec<Symbol>> {
    let corpus = Corpus::sample(&lab.grammar(), Seed::new(1), 0..40);
    let mut sentences: Vec<Vec<Symbol>> = corpus.sentences().map(<[u8]>::to_vec).collect();
    sentences.extend([vec![], vec![0], vec![0; 28]]);
    sentences.push(vec![0, 1, 2, 3, 4, 5, 0, 1]);
    let lines: String = sentences.iter().map(|tokens| json!({"tokens": tokens}).to_string() + "\n").collect();
    std::fs::write(lab.path("c.jsonl"), lines).unwrap();
    sentences
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn parse_inside() {
    let lab = Lab::with_grammar(GRAMMAR);
    let (sentences, grammar) = (sentences(&lab), lab.grammar());
    let lines = lab.json_lines("parse g.pcfg c.jsonl --mode inside");
    assert_eq!(lines, lab.json_lines("parse g.pcfg c.jsonl"), "inside is the default");
    assert_eq!(lines.len(), sentences.len());
    let inside = Inside::new(&grammar);
    for (line, sentence) in lines.iter().zip(&sentences) {
        assert_eq!(keys(line), ["entropy", "len", "logprob", "posterior", "root"]);
        let expected = inside.posterior(sentence).unwrap();
        assert_eq!(line["len"], sentence.len());
        assert_eq!(number(&line["entropy"]), expected.entropy());
        assert_eq!(line["root"], json!(expected.root()));
        for root in 0..6u8 {
            assert_eq!(line["logprob"][usize::from(root)], json!(expected.log_likelihood(root)));
            assert_eq!(line["posterior"][usize::from(root)], json!(expected.probability(root)));
        }
    }
    assert_eq!(lines[40]["root"], Value::Null);
}

#[test]
fn parse_best_count_and_recognize() {
    let lab = Lab::with_grammar(GRAMMAR);
    let (sentences, grammar) = (sentences(&lab), lab.grammar());
    let best = lab.json_lines("parse g.pcfg c.jsonl --mode best");
    let count = lab.json_lines("parse g.pcfg c.jsonl --mode count");
    let recognize = lab.json_lines("parse g.pcfg c.jsonl --mode recognize");
    for (i, sentence) in sentences.iter().enumerate() {
        assert_eq!(keys(&best[i]), ["logprob", "root", "tree"]);
        match grammar.best_tree(sentence).unwrap() {
            Some((tree, logprob)) => {
                assert_eq!(best[i]["root"], tree.root());
                assert_eq!(number(&best[i]["logprob"]), logprob);
                assert_eq!(best[i]["tree"], tree.to_text(&grammar));
                assert!((logprob - tree.log_probability(&grammar).unwrap()).abs() < 1e-9);
            }
            None => assert_eq!(best[i], json!({"root": null, "logprob": null, "tree": null})),
        }
        let counts: Vec<String> =
            Chart::<Count>::parse(&grammar, sentence).unwrap().roots().iter().map(|n| n.to_string()).collect();
        assert_eq!(count[i], json!({"trees": counts}));
        let chart = Chart::<Recognition>::parse(&grammar, sentence).unwrap();
        let roots: Vec<Symbol> = chart.root_entries().iter().map(|(root, _)| *root).collect();
        assert_eq!(recognize[i], json!({"roots": roots}));
    }
    assert!(Parser::<BestLog>::new(&grammar).parse(&sentences[0]).is_ok());
}

#[test]
fn parse_sample_draws_from_the_posterior() {
    let lab = Lab::with_grammar(GRAMMAR);
    let grammar = lab.grammar();
    let sentence: Vec<Symbol> = (0..200)
        .map(|i| Corpus::sample(&grammar, Seed::new(1), i..i + 1).sentence(0).to_vec())
        .find(|sentence| grammar.trees(sentence, 10).unwrap().len() == 3)
        .unwrap();
    let line = json!({"tokens": sentence}).to_string() + "\n";
    std::fs::write(lab.path("many.jsonl"), line.repeat(3000)).unwrap();
    let lines = lab.json_lines("parse g.pcfg many.jsonl --mode sample --seed 5");
    let chart = Chart::<Magnitude>::parse(&grammar, &sentence).unwrap();
    let total: f64 = chart.roots().iter().map(|root| root.ln().exp() / 6.0).sum();
    for tree in grammar.trees(&sentence, 10).unwrap() {
        let share = tree.log_probability(&grammar).unwrap().exp() / 6.0 / total;
        let text = tree.to_text(&grammar);
        let found = lines.iter().filter(|line| line["tree"] == text && line["root"] == tree.root()).count();
        let spread = (3000.0 * share * (1.0 - share)).sqrt();
        assert!((found as f64 - 3000.0 * share).abs() < 5.0 * spread + 1.0, "{found} {share}");
    }
    // Tree i depends only on the seed and i: a longer file begins with the same trees.
    std::fs::write(lab.path("few.jsonl"), (json!({"tokens": sentence}).to_string() + "\n").repeat(7)).unwrap();
    assert_eq!(lab.json_lines("parse g.pcfg few.jsonl --mode sample --seed 5"), lines[..7]);
    assert_ne!(lab.json_lines("parse g.pcfg few.jsonl --mode sample --seed 6"), lines[..7]);
}

#[test]
fn parse_by_hand() {
    let lab = Lab::with_grammar("--vocab 3 --depth 2 --fraction 1 --seed 1");
    let grammar = lab.grammar();
    let document = lab.json("parse g.pcfg --sentence \"0 1 2 0,1 2 0\"");
    assert_eq!(document["tree_count"], "3");
    assert_eq!(document["len"], 7);
    let trees = document["parses"].as_array().unwrap();
    let shares: f64 = trees.iter().map(|tree| number(&tree["share"])).sum();
    assert!((shares - 1.0).abs() < 1e-9);
    let mut mass = [0.0; 3];
    for tree in trees {
        let parsed = Tree::from_text(tree["tree"].as_str().unwrap(), &grammar).unwrap();
        assert_eq!(tree["root"], parsed.root());
        mass[usize::from(parsed.root())] += number(&tree["share"]);
    }
    for (root, mass) in mass.iter().enumerate() {
        assert!((mass - number(&document["posterior"][root])).abs() < 1e-9);
    }
    let text = lab.run("parse g.pcfg --sentence \"[0,1,2,0,1,2,0]\" --limit 2 --svg t.svg");
    assert!(text.contains("P(sentence)") && text.contains("2 of 3 trees are drawn") && text.contains("┴"), "{text}");
    let svg = std::fs::read_to_string(lab.path("t.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.matches("font-weight=\"bold\"").count() == 2);
    let impossible = lab.run("parse g.pcfg --sentence \"0 1 2\"");
    assert!(impossible.contains("no root derives it") && impossible.contains("4 to 9 tokens"), "{impossible}");
}

#[test]
fn entropy_measures() {
    let lab = Lab::new();
    let document = lab.json("entropy --vocab 8 --depth 2 --fraction 0.5 --grammars 4 --samples 100 --seed 0");
    let ensemble = Ensemble::new(8, 2).fraction(0.5);
    let expected = class_entropy(&ensemble, 4, 100, Seed::new(0), &|_| ()).unwrap();
    assert_eq!(number(&document["entropy"]), expected.mean);
    assert_eq!(number(&document["stderr"]), expected.stderr);
    assert_eq!(number(&document["normalized"]), expected.mean / 8f64.ln());
    assert_eq!(
        number(&document["theory"]),
        theory::entropy::class_entropy([PerArity::all(0.5); 2], PerArity::paper(0.5)).unwrap()
    );
    let lines = lab.json_lines("entropy --vocab 4 --depth 1,2 --fraction 0.5,1 --grammars 2 --samples 10");
    let points: Vec<(u64, f64)> =
        lines.iter().map(|line| (line["depth"].as_u64().unwrap(), number(&line["fraction"]))).collect();
    assert_eq!(points, [(1, 0.5), (1, 1.0), (2, 0.5), (2, 1.0)]);
    let text = lab.run("entropy --vocab 4 --depth 1,2 --fraction 0.5,1 --grammars 2 --samples 10");
    assert!(text.contains("normalized") && text.contains("● depth 1"), "{text}");
}

#[test]
fn theory_lengths_and_trees() {
    let lab = Lab::new();
    let values = &lab.json("theory lengths --depth 3 --p-binary 0.3")["values"];
    let law = theory::lengths::length_distribution(3, PerArity::paper(0.3)).unwrap();
    assert_eq!(values.as_array().unwrap().len(), 20);
    for value in values.as_array().unwrap() {
        let len = value["len"].as_u64().unwrap() as usize;
        assert_eq!(number(&value["value"]), law.probability(len));
    }
    let values = &lab.json("theory trees --depth 4")["values"];
    let counts = theory::trees::tree_count(4, Arities::PAPER).unwrap();
    for (value, (len, count)) in values.as_array().unwrap().iter().zip(counts.iter()) {
        assert_eq!(*value, json!({"len": len, "value": count.to_string()}));
    }
    assert!(lab.run("theory trees --depth 5").contains("lengths; --json has all"));
}

#[test]
fn theory_fraction_candidates_and_splits() {
    let lab = Lab::new();
    let document = lab.json("theory fraction --depth 3 --fraction 0.5 --p-binary 0.5");
    let (half, even) = (PerArity::all(0.5), PerArity::paper(0.5));
    let paper = theory::fraction::paper_grammatical_fraction(3, half, even).unwrap();
    let corrected = theory::fraction::grammatical_fraction(3, half, even).unwrap();
    for value in document["values"].as_array().unwrap() {
        let len = value["len"].as_u64().unwrap() as usize;
        assert_eq!(number(&value["value"]), paper.value(len));
        assert_eq!(number(&value["corrected"]), corrected.value(len));
    }
    let document = lab.json("theory candidates --depth 3 --fraction 0.4");
    let mean = theory::candidates::mean_candidates(3, Arities::PAPER, PerArity::all(0.4)).unwrap();
    assert_eq!(number(&document["values"][7]["value"]), mean.value(15));
    assert_eq!(number(&document["critical_fraction"]), theory::candidates::critical_fraction(3, even).unwrap());
    let document = lab.json("theory candidates --depth 3 --p-binary 0.2");
    let critical = theory::candidates::critical_fraction(3, PerArity::paper(0.2)).unwrap();
    assert_eq!(number(&document["critical_fraction"]), critical);
    let document = lab.json("theory splits --depth 3");
    assert_eq!(document["values"][7], json!({"len": 15, "binary": 4, "ternary": 10}));
    for command in ["lengths", "trees", "fraction", "candidates", "splits"] {
        let text = lab.run(&format!("theory {command} --depth 3"));
        assert!(text.contains("length") && text.contains("┤"), "{text}");
    }
}

#[test]
fn theory_entropy_and_complexity() {
    let lab = Lab::new();
    let document = lab.json("theory entropy --fraction 0.5");
    assert_eq!(number(&document["paper"]), theory::entropy::paper_class_entropy(0.5).unwrap());
    assert_eq!(
        number(&document["corrected"]),
        theory::entropy::class_entropy([PerArity::all(0.5); 2], PerArity::paper(0.5)).unwrap()
    );
    assert_eq!(lab.json_lines("theory entropy --fraction 0.5,1").len(), 2);
    let document = lab.json("theory complexity --vocab 16 --depth 3 --fraction 0.25");
    let rules = PerArity::from([(2, 4), (3, 64)]);
    let expected = theory::complexity::sample_complexity(3, 16, rules, PerArity::paper(0.5)).unwrap();
    assert_eq!(number(&document["paper"]), expected.paper.samples());
    assert_eq!(number(&document["corrected"]), expected.size_biased.samples());
    let scales = document["scales"].as_array().unwrap();
    assert_eq!(scales.len(), 6);
    assert_eq!(keys(&scales[0]), ["arity", "corrected", "level", "paper"]);
    let text = lab.run("theory complexity --vocab 16 --depth 3 --fraction 0.25");
    assert!(text.contains("P*") && text.contains("1,048,576"), "{text}");
}

/// Any arities; those of the paper give the same values however they are specified.
#[test]
fn theory_of_any_arities() {
    let lab = Lab::new();
    let probabilities = PerArity::from([(1, 0.25), (2, 0.5), (4, 0.25)]);
    let fractions = PerArity::from([(1, 1.0), (2, 0.4), (4, 0.0)]);
    let arities = "--arities 1:1/4,2:1/2,4:0.25";
    let document = lab.json(&format!("theory lengths --depth 2 {arities}"));
    let law = theory::lengths::length_distribution(2, probabilities).unwrap();
    assert_eq!(document["branching"], json!({"1": 0.25, "2": 0.5, "4": 0.25}));
    assert_eq!(document["p_binary"], Value::Null);
    assert!(law.iter().all(|(len, value)| number(&document["values"][len - 1]["value"]) == value));
    let document = lab.json(&format!("theory fraction --depth 2 {arities} --fraction 0.4 --fractions 1:1,4:0"));
    let share = theory::fraction::grammatical_fraction(2, fractions, probabilities).unwrap();
    assert_eq!(document["fractions"], json!({"1": 1.0, "2": 0.4, "4": 0.0}));
    assert!(share.iter().all(|(len, value)| number(&document["values"][len - 1]["corrected"]) == value.value()));
    let document = lab.json(&format!("theory candidates --depth 2 {arities} --fractions 1:1,2:0.4,4:0"));
    let mean = theory::candidates::mean_candidates(2, probabilities.arities(), fractions).unwrap();
    assert!(mean.iter().all(|(len, value)| number(&document["values"][len - 1]["value"]) == value.value()));
    let entropy = theory::entropy::class_entropy([fractions; 2], probabilities).unwrap();
    let document = lab.json(&format!("theory entropy {arities} --fractions 1:1,2:0.4,4:0"));
    assert_eq!((number(&document["corrected"]), &document["paper"]), (entropy, &Value::Null));
    for arities in ["1,2,4", "4:0.5,2:0.25,1:0.25"] {
        let document = lab.json(&format!("theory splits --depth 2 --arities {arities}"));
        assert_eq!(document["values"][7], json!({"len": 8, "by_arity": {"1": 0, "2": 1, "4": 13}}));
        assert_eq!(document["median"], json!({"by_arity": {"1": 0.0, "2": 0.0, "4": 4.0}}));
        let document = lab.json(&format!("theory trees --depth 2 --arities {arities}"));
        assert_eq!((&document["arities"], &document["values"][7]["value"]), (&json!([1, 2, 4]), &json!("14")));
    }
    let text = lab.run(&format!("theory complexity --vocab 8 --depth 2 {arities} --fractions 4:0.01"));
    assert!(text.contains("rules per symbol 1:1,2:2,4:5 and probabilities 1:0.25,2:0.5,4:0.25"), "{text}");
    for command in ["lengths --depth 3", "fraction --depth 3", "candidates --depth 3", "entropy"] {
        let [short, long] =
            ["--p-binary 0.3", "--arities 2:0.3,3:0.7"].map(|law| lab.run(&format!("theory {command} {law}")));
        assert_eq!(short, long);
    }
}

#[test]
fn snr_has_no_interval_where_there_is_none() {
    let lab = Lab::new();
    let several = lab.json("snr --vocab 4 --depth 2 --grammars 5");
    let [low, high] = [0, 1].map(|k| number(&several["interval"][k]));
    let needed = number(&several["sample_complexity"]);
    assert!(low <= needed && needed <= high && low < high, "{several}");
    // One grammar gives no interval.
    let one = lab.json("snr --vocab 4 --depth 2 --grammars 1");
    assert!(one["sample_complexity"].is_number() && one["interval"].is_null(), "{one}");
    assert!(lab.run("snr --vocab 4 --depth 2 --grammars 1").contains("No interval"));
    // At depth 1 a triple determines its root as soon as it is seen: the ratio is on one side of the threshold from the
    // start.
    let flat = lab.json("snr --vocab 8 --depth 1 --fraction 1/vocab --grammars 40");
    assert!(flat["sample_complexity"].is_null() && flat["interval"].is_null(), "{flat}");
    assert!(
        lab.run("snr --vocab 8 --depth 1 --fraction 1/vocab")
            .contains("does not cross 0.5 between 100 and 5,000 sentences")
    );
}

#[test]
fn version_and_help() {
    let lab = Lab::new();
    assert_eq!(lab.run("--version"), format!("gardenpath {}\n", env!("CARGO_PKG_VERSION")));
    for command in
        ["", "grammar", "grammar sample", "corpus sample", "corpus info", "parse", "entropy", "theory lengths"]
    {
        assert!(lab.run(&format!("{command} --help")).contains("Usage:"));
    }
}
