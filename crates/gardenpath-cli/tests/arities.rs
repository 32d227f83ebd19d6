//! Grammars of any arity in all commands: {1, 2}, {2, 4}, {1, 2, 3}, {4} and {1, …, 8}.

mod common;

use common::Lab;
use gardenpath::theory::entropy::class_entropy;
use gardenpath::{Ensemble, Grammar, PerArity, RuleCount, Seed, Tree};
use serde_json::{Value, json};

/// The options of a grammar, and its ensemble.
fn ensembles() -> Vec<(&'static str, Ensemble)> {
    let all: PerArity<f64> = (1..=8).map(|arity| (arity, 0.125)).collect();
    vec![
        ("--vocab 5 --depth 2 --arities 1:0.5,2:0.5", Ensemble::new(5, 2).arities([(1, 0.5), (2, 0.5)])),
        (
            "--vocab 5 --depth 2 --arities 2:1/4,4:3/4 --fraction 0.3 --rules 4:3",
            Ensemble::new(5, 2).arities([(2, 0.25), (4, 0.75)]).fraction(0.3).rules(4, RuleCount::Number(3)),
        ),
        (
            "--vocab 4 --depth 3 --classes 2 --arities 1:0.3,2:0.4,3:0.3 --fractions 2:1/2,3:1/vocab",
            Ensemble::new(4, 3)
                .sizes(&[2, 4, 4, 4])
                .arities([(1, 0.3), (2, 0.4), (3, 0.3)])
                .rules(2, RuleCount::Fraction(0.5))
                .rules(3, RuleCount::Fraction(0.25)),
        ),
        (
            "--sizes 3,5,7 --arities 4:1 --fraction 0.01 --cover",
            Ensemble::new(7, 2).sizes(&[3, 5, 7]).arities([(4, 1.0)]).fraction(0.01).cover(true),
        ),
        (
            "--vocab 3 --depth 2 --arities 1:1/8,2:1/8,3:1/8,4:1/8,5:1/8,6:1/8,7:1/8,8:1/8 --fraction 0.001 --zipf 1",
            Ensemble::new(3, 2).arities(all).fraction(0.001).zipf(1.0),
        ),
    ]
}

/// A lab for each ensemble, with a grammar and sentences.
fn labs() -> impl Iterator<Item = (&'static str, Ensemble, Lab)> {
    ensembles().into_iter().map(|(options, ensemble)| {
        let lab = Lab::with_grammar(&format!("{options} --seed 3"));
        lab.run("corpus sample g.pcfg --samples 100 --trees -o c.jsonl");
        (options, ensemble, lab)
    })
}

#[test]
fn grammars_are_those_of_the_core() {
    for (options, ensemble, lab) in labs() {
        let grammar = lab.grammar();
        assert_eq!(grammar.fingerprint(), ensemble.sample(Seed::new(3)).unwrap().fingerprint(), "{options}");
        assert_eq!(Grammar::from_text(&lab.run("grammar convert g.pcfg")).unwrap(), grammar);
        let remark = &grammar.remarks()[0];
        assert!(remark.contains(&format!("arities {}, ", ensemble.probabilities())), "{remark}");
        // The fingerprint of a paper grammar does not depend on the options that describe it.
        let same = "grammar sample --vocab 8 --depth 2 --seed 3";
        let fixed = lab.run(&format!("{same} --p-binary 1"));
        assert_eq!(lab.run(&format!("{same} --arities 2:1")), fixed);
        assert_eq!(lab.run(&format!("{same} --arities 2:1/2,3:1/2 --rules 2:2,3:16")), lab.run(same));
    }
}

#[test]
fn info_and_fractions_have_all_arities() {
    for (options, ensemble, lab) in labs() {
        let info = lab.json("grammar info g.pcfg");
        let sampled = lab.json(&format!("grammar sample {options} --seed 3"));
        let sizes = ensemble.level_sizes().unwrap();
        let arities: Vec<String> = ensemble.probabilities().arities().iter().map(|arity| arity.to_string()).collect();
        assert_eq!(common::keys(&info["by_arity"]), arities);
        assert_eq!(common::keys(&sampled["effective_fractions"]["by_arity"]), arities);
        for level in 0..ensemble.depth() {
            let (rules, fractions) =
                (ensemble.rules_per_symbol(level).unwrap(), ensemble.effective_fractions(level).unwrap());
            for (arity, rules) in rules.nonzero() {
                let own = &info["by_arity"][arity.to_string()];
                assert_eq!(own["rules"][level], sizes[level] * rules, "{options}");
                let shares =
                    [&own["fractions"][level], &sampled["effective_fractions"]["by_arity"][arity.to_string()][level]];
                let close = |share: &&Value| (share.as_f64().unwrap() - fractions[arity]).abs() < 1e-12;
                assert!(shares.iter().all(close), "{options}: {shares:?} {}", fractions[arity]);
            }
            assert_eq!(info["levels"][level]["binary_rules"], sizes[level] * rules[2]);
            let (least, most) = (rules.arities().least(), rules.arities().most());
            assert_eq!(info["levels"][level]["arities"], json!([least, most]));
        }
        let text = lab.run("grammar info g.pcfg");
        let names = ["unary", "binary", "ternary", "4-ary", "5-ary", "6-ary", "7-ary", "8-ary"];
        for (arity, name) in (1..).zip(names) {
            assert_eq!(text.contains(name), ensemble.probabilities()[arity] > 0.0, "{text}");
        }
    }
    let lab = Lab::new();
    std::fs::write(
        lab.path("g.pcfg"),
        "S -> A [1]\nA -> 'a' 'b' [0.25] | 'c' 'a' 'b' 'c' [0.25] | 'a' 'b' 'c' 'c' [0.5]\n",
    )
    .unwrap();
    assert_eq!(lab.json("grammar info g.pcfg")["levels"][0]["overlapping_rules"], 1, "inside is no overlap");
}

#[test]
fn corpora_keep_their_trees_in_all_formats() {
    for (options, _, lab) in labs() {
        let grammar = lab.grammar();
        for line in std::fs::read_to_string(lab.path("c.jsonl")).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let tree = Tree::from_text(line["tree"].as_str().unwrap(), &grammar).unwrap();
            assert_eq!((json!(tree.sentence()), json!(tree.root())), (line["tokens"].clone(), line["root"].clone()));
            assert!(tree.log_probability(&grammar).is_some());
        }
        let best = lab.run("parse g.pcfg c.jsonl --mode best");
        for name in ["c.parquet", "c.tsv"] {
            lab.run(&format!("corpus sample g.pcfg --samples 100 -o {name}"));
            assert_eq!(lab.run(&format!("parse g.pcfg {name} --mode best")), best, "{options}: {name}");
        }
        lab.run("corpus sample g.pcfg --samples 100 --trees -o c.parquet");
        assert_eq!(lab.run("corpus info c.parquet"), lab.run("corpus info c.jsonl"), "{options}");
    }
}

#[test]
fn the_best_trees_are_the_best_of_all_trees() {
    for (options, _, lab) in labs() {
        let grammar = lab.grammar();
        let corpus = gardenpath::Corpus::sample(&grammar, Seed::new(0), 0..100);
        let [one, five] =
            [1, 5].map(|limit| lab.json_lines(&format!("parse g.pcfg c.jsonl --mode kbest --limit {limit}")));
        let best = lab.json_lines("parse g.pcfg c.jsonl --mode best");
        for (i, sentence) in corpus.sentences().enumerate() {
            let all = grammar.trees(sentence, 100_000).unwrap();
            let mut scores: Vec<f64> = all
                .iter()
                .map(|tree| tree.log_probability(&grammar).unwrap() + grammar.prior()[usize::from(tree.root())].ln())
                .collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            let total: f64 = scores.iter().map(|score| score.exp()).sum();
            let parses = five[i]["parses"].as_array().unwrap();
            assert_eq!(parses.len(), scores.len().min(5), "{options}");
            for (parse, score) in parses.iter().zip(&scores) {
                assert!((parse["share"].as_f64().unwrap() - score.exp() / total).abs() < 1e-9, "{options}: {parse}");
            }
            assert_eq!(parses[0]["logprob"], one[i]["parses"][0]["logprob"]);
            assert!((parses[0]["logprob"].as_f64().unwrap() - best[i]["logprob"].as_f64().unwrap()).abs() < 1e-9);
        }
        let impossible = lab.path("odd.jsonl");
        std::fs::write(&impossible, format!("{{\"tokens\":{:?}}}\n", vec![0; 100])).unwrap();
        assert_eq!(lab.json("parse g.pcfg odd.jsonl --mode kbest"), json!({"parses": []}));
        assert_eq!(lab.run("parse g.pcfg odd.jsonl --mode kbest"), "1: impossible\n");
    }
}

#[test]
fn trees_are_drawn_in_the_terminal_and_as_pictures() {
    for (options, _, lab) in labs() {
        let grammar = lab.grammar();
        let corpus = gardenpath::Corpus::sample(&grammar, Seed::new(0), 0..20);
        for sentence in corpus.sentences() {
            let text = lab.run(&format!("parse g.pcfg --sentence \"{sentence:?}\" --svg t.svg --limit 3"));
            let tree = grammar.best_trees(sentence, 1).unwrap().remove(0).0;
            let svg = std::fs::read_to_string(lab.path("t.svg")).unwrap();
            for level in 0..grammar.depth() {
                let name = grammar.name(level, tree.level(level)[0]);
                assert!(text.contains(&*name) && svg.contains(&format!(">{name}<")), "{options}: {name}");
            }
        }
    }
}

#[test]
fn synonyms_are_exchanged() {
    for (options, _, lab) in labs() {
        let grammar = lab.grammar();
        let sampler = gardenpath::Sampler::new(&grammar);
        let mut changed = 0;
        for i in 0..50 {
            let tree = sampler.tree(Seed::new(1), i);
            for level in 0..grammar.depth() {
                let other = tree.exchange_synonyms(&grammar, level, &mut Seed::new(2).stream(i)).unwrap();
                assert!(other.log_probability(&grammar).is_some(), "{options}");
                assert_eq!(other.nodes(level), tree.nodes(level), "{options}");
                let spans =
                    |tree: &Tree, level: usize| tree.nodes(level).iter().map(|node| node.span).collect::<Vec<_>>();
                assert!((0..=grammar.depth()).all(|level| spans(&other, level) == spans(&tree, level)), "{options}");
                changed += usize::from(other != tree);
            }
        }
        let has_synonyms = grammar.layers().iter().any(|layer| {
            let of_arity =
                |rules: &[gardenpath::Rule], arity| rules.iter().filter(|r| r.children.len() == arity).count();
            (0..layer.parents()).any(|parent| {
                let own = &layer.rules()[layer.rules_of(parent as u8)];
                layer.arities().iter().any(|arity| of_arity(own, arity) > 1)
            })
        });
        assert_eq!(changed > 0, has_synonyms, "{options}");
    }
}

#[test]
fn entropies_are_those_of_the_core() {
    for (options, ensemble, lab) in labs() {
        let line = lab.json(&format!("entropy {} --grammars 2 --samples 30 --seed 5", options));
        let expected = gardenpath::class_entropy(&ensemble, 2, 30, Seed::new(5), &|_| ()).unwrap();
        assert_eq!(line["entropy"], expected.mean, "{options}");
        let guessing = (ensemble.level_sizes().unwrap()[0] as f64).ln();
        assert_eq!(line["normalized"], expected.mean / guessing);
        // Theory covers depth 2 with levels of equal size and one law of rules.
        let is_known = options.starts_with("--vocab 5 --depth 2");
        let fractions = || [0, 1].map(|level| ensemble.effective_fractions(level).unwrap());
        let theory = is_known.then(|| class_entropy(fractions(), ensemble.probabilities()).unwrap());
        assert_eq!(line["theory"], json!(theory), "{options}");
    }
}

#[test]
fn published_grammars_have_any_arity() {
    let lab = Lab::new();
    let document = json!({"sizes": [1, 2, 3], "all": [
        [{"id": 1, "name": "root", "children": [[0], [0, 1], [0, 1, 1, 0, 1, 0, 1, 1]]}],
        [{"id": 1, "name": "x", "children": [[0, 1, 2, 0], [2]]}, {"id": 2, "name": "y", "children": [[1]]}],
        [{"id": 1, "name": "1"}, {"id": 2, "name": "2"}, {"id": 3, "name": "3"}],
    ]});
    std::fs::write(lab.path("p.json"), document.to_string()).unwrap();
    lab.run("grammar convert p.json -o g.pcfg");
    let grammar = lab.grammar();
    let arities: Vec<Vec<usize>> = grammar.layers().iter().map(|layer| layer.arities().iter().collect()).collect();
    assert_eq!(arities, [vec![1, 2, 8], vec![1, 4]]);
    assert_eq!(lab.json("grammar info p.json")["fingerprint"], grammar.fingerprint());
    let parses = &lab.json("parse g.pcfg --sentence \"3 2\"")["parses"];
    assert_eq!(parses[0]["tree"], "(root (x 3) (y 2))");
}
