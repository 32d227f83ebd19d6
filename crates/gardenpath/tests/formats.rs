//! The readers and writers of grammars: golden files, round trips, one line for everything that is wrong, and mutations.

mod oracle;

use gardenpath::{Children, Ensemble, Grammar, Inside, Sampler, Seed, Stream, Tree};
use oracle::{assert_close, random_grammar};
use proptest::prelude::*;

#[test]
fn a_sampled_grammar_is_the_same_for_ever() {
    let ensemble = Ensemble::new(3, 2).fraction(0.4);
    let remarks = vec!["vocab 3, depth 2, fraction 0.4, seed 7".to_owned()];
    let grammar = ensemble.sample(Seed::new(7)).unwrap().with_remarks(remarks);
    // Written once; what is sampled from a seed must not change between versions and machines.
    assert_eq!(grammar.to_text(), include_str!("golden/sampled.pcfg"));
    assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar);
    assert_eq!(grammar.fingerprint(), "ed1f4bf2157c1fe2889844ee2e90a08d");
}

#[test]
fn published_json_grammars_are_read() {
    let grammar = Grammar::from_lano_json(include_str!("golden/small.json")).unwrap();
    assert_eq!(grammar.sizes(), [1, 2, 3]);
    assert_eq!((grammar.name(0, 0), grammar.name(1, 1), grammar.name(2, 0)), ("AF".into(), "AE".into(), "1".into()));
    assert_eq!(grammar.symbol(2, "3"), Some(2), "token ids start at 1, indices at 0");
    let rule = grammar.layer(1).rules()[1];
    assert_eq!((rule.parent, rule.children, rule.probability), (0, Children::from([2, 1, 0]), 0.5));
    let text = grammar.to_text();
    assert_eq!(text, include_str!("golden/small.pcfg"));
    assert_eq!(Grammar::from_text(&text).unwrap(), grammar);
    // AF -> AD AE -> 1 1 2 3: 1/3 * 1/2 * 1
    let posterior = Inside::new(&grammar).posterior(&[0, 0, 1, 2]).unwrap();
    assert_close(posterior.log_likelihood(0).unwrap().exp(), 1.0 / 6.0, "probability");
}

/// The nine published grammars, where they are at hand.
#[test]
fn the_published_grammars_are_parsed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/grammars");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: the published grammars are not beside the repository");
        return;
    };
    let mut read = 0;
    for file in files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "json")) {
        let grammar = Grammar::from_lano_json(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert!((6..=7).contains(&grammar.depth()) && grammar.classes() == 1);
        assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar);
        let sampler = gardenpath::Sampler::new(&grammar);
        for i in 0..5 {
            let tree = sampler.tree(Seed::new(1), i);
            let posterior = Inside::new(&grammar).posterior(tree.sentence()).unwrap();
            let trees = gardenpath::Chart::<gardenpath::Count>::parse(&grammar, tree.sentence()).unwrap().roots();
            let best = grammar.best_tree(tree.sentence()).unwrap().unwrap().1;
            let all = posterior.log_likelihood(0).unwrap();
            assert!(tree.log_probability(&grammar).unwrap() <= best + 1e-9 && best <= all + 1e-9);
            if trees[0].to_string() == "1" {
                assert!((best - all).abs() < 1e-9, "the only tree is the whole probability");
            }
        }
        read += 1;
    }
    assert_eq!(read, 9);
}

#[test]
fn foreign_grammars_keep_their_names() {
    let text = "
# written by hand
S -> NP VP [0.25] | VP NP [0.75]   
NP -> 'the' 'dog' [0.5] | \"dog's\" 'the' 'dog' [0.5]
VP->'barks' 'the'[1.0]
";
    let grammar = Grammar::from_text(text).unwrap();
    assert_eq!((grammar.sizes(), grammar.prior()), (&[1, 2, 4][..], &[1.0][..]));
    let names: Vec<_> = (0..4).map(|token| grammar.name(2, token).into_owned()).collect();
    assert_eq!(names, ["the", "dog", "dog's", "barks"]);
    assert_eq!(grammar.remarks(), ["written by hand"]);
    let again = grammar.to_text();
    assert!(again.contains("START -> S [1]"), "{again}");
    assert_eq!(Grammar::from_text(&again).unwrap(), grammar);
}

#[test]
fn classes_stand_in_the_order_of_the_start_symbol() {
    let text = "S -> N [0.25] | V [0] | P [0.75]\nP -> 'a' 'b' [1]\nV -> 'b' 'b' [1]\nN -> 'b' 'a' [1]\n";
    let grammar = Grammar::from_text(text).unwrap();
    assert_eq!(grammar.prior(), [0.25, 0.0, 0.75]);
    assert_eq!((grammar.name(0, 0), grammar.name(0, 1), grammar.name(0, 2)), ("N".into(), "V".into(), "P".into()));
    assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar);
    let posterior = Inside::new(&grammar).posterior(&[1, 1]).unwrap();
    assert_eq!((posterior.root(), posterior.probability(1), posterior.log_likelihood(1)), (None, 0.0, Some(0.0)));
}

#[test]
fn symbols_that_nothing_derives_are_kept() {
    let text = "S -> A [1]\nA -> B B [1]\nB -> '0' '1' [1]\nC -> '0' '1' '1' [1]\nD -> '7' '8' [1]\n";
    let grammar = Grammar::from_text(text).unwrap();
    assert_eq!(grammar.sizes(), [1, 3, 4]);
    assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let cases = [
        ("", "line 1: no rule found, expected lines like: S -> A0_0 [0.5]"),
        ("S -> A [1]\nA -> B [1]\n", "line 2: B has no rules"),
        (
            "S -> A [1]\nA -> 'a' 'b' 'c' 'd' 'e' 'f' 'g' 'h' 'i' [1]",
            "line 2: A has a rule of 9 symbols, expected 1 to 8",
        ),
        ("S -> A [1]\nA -> 'a' 'b' [0.5]\nA -> 'b' 'b' [0.4]", "line 2: the probabilities of A sum to 0.9, expected 1"),
        ("S -> A [0.5]\nA -> 'a' 'b' [1]", "line 1: the probabilities of S sum to 0.5, expected 1"),
        (
            "S -> A [1]\nA -> 'a' B [1]\nB -> 'a' 'a' [1]",
            "line 2: tokens and nonterminals are mixed in one rule: not a layered grammar",
        ),
        ("S -> A [0]", "line 1: no class has rules"),
        (
            "S -> A [1]\nA -> B B [1]\nB -> 'a' 'a' [1]\nX -> A B [1]",
            "line 4: A stands on two levels: not a layered grammar",
        ),
        (
            "S -> A [1]\nA -> B C [1]\nB -> 'a' 'a' [1]\nC -> D D [1]\nD -> 'b' 'b' [1]",
            "line 3: the token 'a' stands on level 2 of 3: not of uniform depth",
        ),
        ("S -> A [1]\nA -> B B [1]", "line 2: B has no rules"),
        ("S -> A [1]", "line 1: the class A has no rules"),
        ("S -> A [1]\nA -> 'a' 'b' [1]\nX -> Y Y [1]", "line 3: X is not connected with the start symbol"),
        ("S -> A [1]\nA -> 'a' 'b'", "line 2: a right-hand side lacks its probability, expected [p] at its end"),
        ("S -> A [1]\nA -> 'a' 'b' [x]", "line 2: [x] is not a probability, expected more than 0 and at most 1"),
        (
            "S -> A [1]\nA -> 'a' 'b' [0] | 'a' 'a' [1]",
            "line 2: [0] is not a probability, expected more than 0 and at most 1",
        ),
        ("S -> A [1]\nA -> 'a' 'b' [-1]", "line 2: [-1] is not a probability, expected more than 0 and at most 1"),
        ("S -> A [1]\nA -> 'a' 'b' [nan]", "line 2: [nan] is not a probability, expected more than 0 and at most 1"),
        ("S -> A [1]\n\nA 'a' 'b' [1]", "line 3: expected a rule like: A -> B C [0.5]"),
        ("S -> A [1]\nA -> 'a' 'b [1]", "line 2: a token lacks its closing '"),
        ("S -> A [1]\nA -> 'a' 'b' [0.5] | 'a' 'b' [0.5]", "line 2: this rule of A stands twice"),
        ("S -> A [0.5] | A [0.5]\nA -> 'a' 'b' [1]", "line 1: the class A stands twice"),
        (
            "S -> A [0.5] | B B [0.5]\nA -> B [1]\nB -> 'a' 'a' [1]",
            "line 2: B stands on two levels: not a layered grammar",
        ),
        (
            "# sizes: 2 2\nS -> A [1]\nA -> '0' '1' [1]",
            "line 1: \"sizes:\" says [2, 2], but the rules have [1, 2] symbols per level",
        ),
        (
            "# sizes: 1 1\nS -> A [1]\nA -> '0' '1' [1]",
            "line 1: \"sizes:\" says 1 tokens, but the rules have token '1'",
        ),
        ("# sizes: 1 x\nS -> A [1]\nA -> '0' '1' [1]", "line 1: \"sizes:\" lists something that is not a number"),
        ("# tokens: 'a'\nS -> A [1]\nA -> 'a' 'b' [1]", "line 1: \"tokens:\" does not list 'b'"),
        ("S -> A [1]\nA -> 'a' 'b' [1]\nX -> S S [1]", "line 3: the start symbol S is a child: not a layered grammar"),
        ("'a' -> 'b' 'c' [1]", "line 1: a rule begins with 'a', expected a nonterminal"),
        ("S -> (A) [1]", "line 1: '(' cannot start a word, expected a name, a quoted token, ->, | or [p]"),
    ];
    for (text, expected) in cases {
        assert_eq!(Grammar::from_text(text).unwrap_err().to_string(), expected, "{text}");
    }
    let deep: String = (0..12).map(|k| format!("A{k} -> A{0} A{0} [1]\n", k + 1)).collect();
    let deep = format!("S -> A0 [1]\n{deep}A12 -> 'a' 'a' [1]");
    assert_eq!(Grammar::from_text(&deep).unwrap_err().to_string(), "line 1: the depth is 13, expected at most 10");
    let wide: String = (0..300).map(|k| format!("A -> 't{k}' 't{k}' [0.00333333]\n")).collect();
    let error = Grammar::from_text(&format!("S -> A [1]\n{wide}")).unwrap_err().to_string();
    assert_eq!(error, "line 2: a level has 300 symbols, expected at most 255");
}

#[test]
fn bad_json_grammars_are_refused() {
    let good = include_str!("golden/small.json");
    let change = |from: &str, to: &str| {
        assert!(good.contains(from));
        Grammar::from_lano_json(&good.replace(from, to)).unwrap_err().to_string()
    };
    assert_eq!(
        change("\"sizes\": [1, 2, 3]", "\"sizes\": [1, 2, 4]"),
        "line 1: \"sizes\" is [1, 2, 4], but the levels of \"all\" have [1, 2, 3] symbols"
    );
    assert_eq!(change("[1, 2]]}],", "[]]}],"), "line 1: \"AE\" of level 1 has a rule of 0 symbols, expected 1 to 8");
    assert_eq!(change("[1, 2]]}],", "[1, 7]]}],"), "a rule of level 1 uses symbol 7, but level 2 has 3 symbols");
    assert_eq!(change("[1, 2]]}],", "[1, 300]]}],"), "a rule of level 1 uses symbol 300, but level 2 has 3 symbols");
    assert_eq!(change("[[1, 2]]}],", "null}],"), "symbol 1 of level 1 has no rules");
    for (from, to, expected) in [
        (
            "\"name\": \"AF\"",
            "\"name\": 5",
            "line 3: not a JSON grammar: \"name\" of symbol 0 of level 0 is 5, expected a text",
        ),
        (
            "\"id\": 4, ",
            "",
            "line 4: not a JSON grammar: \"id\" of symbol 0 of level 1 is missing or null, expected a whole number",
        ),
        (
            "[1, 2]]}],",
            "[1, -2]]}],",
            "line 5: not a JSON grammar: \"children\" of symbol 1 of level 1 is a list with something else in it, \
             expected lists of whole numbers, or null",
        ),
        (
            "[1, 2, 3], \"idx\"",
            "\"1 2 3\", \"idx\"",
            "line 1: not a JSON grammar: \"sizes\" is \"1 2 3\", expected a list of whole numbers",
        ),
        (
            "\"count\": 6",
            "\"sizes\": []",
            "line 8: not a JSON grammar: a field stands twice, or values are nested too deep",
        ),
        ("\"count\": 6}", "\"count\": 6", "line 9: not a JSON grammar: the text ends too early"),
        ("\"count\": 6", "\"count\": six", "line 8: not a JSON grammar: expected a value"),
    ] {
        assert_eq!(change(from, to), expected);
    }
    let number = Grammar::from_lano_json("5").unwrap_err().to_string();
    assert_eq!(number, "line 1: not a JSON grammar: found 5, expected an object with \"sizes\" and \"all\"");
    assert!(change("\"AD\"", "\"A D\"").contains("\"A D\" cannot be the name of a symbol"));
}

#[test]
fn repeated_rules_of_json_grammars_are_added() {
    let good = include_str!("golden/small.json");
    let repeated = good.replace("[[2, 1, 0], [0, 0]]", "[[0, 0], [2, 1, 0], [0, 0], [0, 0]]");
    assert_ne!(repeated, good);
    let grammar = Grammar::from_lano_json(&repeated).unwrap();
    let rules = &grammar.layer(1).rules()[..2];
    assert_eq!((rules[0].children, rules[0].probability), (Children::from([0, 0]), 0.75));
    assert_eq!((rules[1].children, rules[1].probability), (Children::from([2, 1, 0]), 0.25));
    assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn text_round_trips_exactly(seed in 0u64..1_000_000, depth in 1usize..4, size in 1usize..12, rules in 1usize..12) {
        let grammar = random_grammar(seed, depth, size, rules, &[2, 3]);
        let read = Grammar::from_text(&grammar.to_text()).unwrap();
        prop_assert_eq!(&read, &grammar);
        prop_assert_eq!(read.fingerprint(), grammar.fingerprint());
    }

    #[test]
    fn sampled_grammars_round_trip(seed in 0u64..1_000_000, vocab in 1usize..20, depth in 1usize..4,
        fraction in 0.01f64..1.0, p_binary in 0.0f64..=1.0, zipf in 0.0f64..3.0) {
        let ensemble = Ensemble::new(vocab, depth).fraction(fraction).p_binary(p_binary).zipf(zipf);
        let grammar = ensemble.sample(Seed::new(seed)).unwrap();
        prop_assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar);
    }
}

/// A million mutated inputs: each is read or refused, without a panic and without running away.
#[test]
fn mutated_grammars_do_no_harm() {
    let foreign = "# x\nS -> NP VP [0.25] | VP NP [0.75]\nNP -> 'the' 'dog' [1]\nVP -> \"b\" 'the' 'dog' [1]\n";
    let front = "\u{feff}1: A -> a b # x\n0.25 T -> A B\n.75 T -> B A\n1 B -> b a\n% start T\n";
    let seeds = [include_str!("golden/sampled.pcfg"), include_str!("golden/small.pcfg"), foreign, front];
    let json = include_str!("golden/small.json");
    let mut stream = Seed::new(1).child("mutations").stream(0);
    let (mut read, mut refused) = (0, 0);
    for round in 0..1_000_000 {
        let result = if round % 4 == 3 {
            Grammar::from_lano_json(&mutate(json, json, &mut stream))
        } else {
            let base = seeds[stream.below(seeds.len() as u64) as usize];
            Grammar::from_text(&mutate(base, seeds[stream.below(seeds.len() as u64) as usize], &mut stream))
        };
        match result {
            Ok(grammar) => {
                read += 1;
                if read % 64 == 0 {
                    assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar, "what is read can be written");
                }
            }
            Err(error) => {
                refused += 1;
                assert_eq!(error.to_string().lines().count(), 1);
            }
        }
    }
    assert!(read > 10_000 && refused > 100_000, "{read} read, {refused} refused");
}

/// Cuts, repeats, swaps and splices pieces of text, and puts odd characters and numbers into it.
fn mutate(text: &str, other: &str, stream: &mut Stream) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=stream.below(3) {
        if bytes.is_empty() {
            break;
        }
        let at = stream.below(bytes.len() as u64) as usize;
        let end = (at + 1 + stream.below(24) as usize).min(bytes.len());
        match stream.below(7) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = stream.below(bytes.len() as u64) as usize;
                bytes.splice(to..to, piece);
            }
            3 => bytes[at] = stream.bits() as u8,
            4 => bytes[at] = b"[]|'\"->#\n 019.eS_A\\"[stream.below(19) as usize],
            5 => {
                let odd = [
                    "-1",
                    "1e999",
                    "99999999999999999999",
                    "nan",
                    "0",
                    "\u{fffd}",
                    "->",
                    "| |",
                    "[]",
                    "null",
                    "[1]",
                    "é",
                ];
                let word = odd[stream.below(odd.len() as u64) as usize];
                bytes.splice(at..end, word.bytes());
            }
            _ => {
                let other = other.as_bytes();
                let from = stream.below(other.len() as u64) as usize;
                bytes.splice(at..at, other[from..(from + 40).min(other.len())].iter().copied());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whatever is said about a grammar, its text is the same grammar.
#[test]
fn remarks_cannot_become_rules() {
    let plain = Ensemble::new(3, 2).sample(Seed::new(1)).unwrap();
    let remarks = [
        "first\nA0_0 -> A1_0 A1_0 [1]",
        "carriage\r\nreturn\rand\u{2028}more\u{85}",
        "sizes: 1 2 3",
        "tokens: 'x'",
        "  sizes: nonsense ",
        "",
        " spaces ",
    ];
    let grammar = plain.clone().with_remarks(remarks.map(str::to_owned).to_vec());
    let again = Grammar::from_text(&grammar.to_text()).unwrap();
    assert_eq!(again, grammar);
    assert_eq!((again.layers(), again.names()), (plain.layers(), None));
    let expected = [
        "first",
        "A0_0 -> A1_0 A1_0 [1]",
        "carriage",
        "return",
        "and",
        "more",
        "remark: sizes: 1 2 3",
        "remark: tokens: 'x'",
        "remark: sizes: nonsense",
        "",
        "spaces",
    ];
    assert_eq!(again.remarks(), expected);
}

#[test]
fn names_that_cannot_be_written_are_refused() {
    let grammar = Ensemble::new(2, 2).sample(Seed::new(1)).unwrap();
    let level = |names: [&str; 2]| names.map(str::to_owned).to_vec();
    let named = |root, middle, tokens| grammar.clone().with_names(vec![level(root), level(middle), level(tokens)]);
    let refused = |root, middle, tokens, reason: &str| {
        let error = named(root, middle, tokens).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    };
    refused(["A", "A"], ["C", "D"], ["0", "1"], "two symbols of one level are named \"A\"");
    refused(["A", "B"], ["B", "D"], ["0", "1"], "symbols of level 0 and of level 1 are both named \"B\"");
    refused(["A B", "B"], ["C", "D"], ["0", "1"], "\"A B\" cannot be the name of a symbol");
    refused(["A->B", "B"], ["C", "D"], ["0", "1"], "\"A->B\" cannot be");
    refused(["", "B"], ["C", "D"], ["0", "1"], "\"\" cannot be");
    refused(["A", "B"], ["C", "D\nS -> A [1]"], ["0", "1"], "cannot be the name");
    refused(["A", "B"], ["C", "D"], ["x", "x"], "two symbols of one level are named \"x\"");
    refused(["A", "B"], ["C", "D"], ["x", "line\nbreak"], "cannot be the name");
    refused(["A", "B"], ["C", "D"], ["x", "'\""], "cannot be the name");
    refused(["A", "B"], ["A1_1", "A1_0"], ["x", "y"], "level 1 have one another's default names: A1_1, A1_0");
    for tokens in [["1", "0"], ["", "#"], ["'", "\""], ["A", "a -> b"], ["S", " "]] {
        for (root, middle) in [(["A", "S"], ["START", "D-1"]), (["A1_1", "A1_0"], ["A0_1", "A0_0"])] {
            let grammar = named(root, middle, tokens).unwrap();
            assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar, "{tokens:?}");
        }
    }
}

/// Rules of one to eight children, a start symbol that is itself the only class, and one that names several.
#[test]
fn rules_of_any_length_survive_text() {
    let text = "S -> A [0.25] | A B [0.75]\nA -> 'a' [0.5] | 'a' 'b' 'a' 'b' 'a' 'b' 'a' 'b' [0.5]\nB -> 'b' 'a' 'a' 'a' [1]\n";
    let grammar = Grammar::from_text(text).unwrap();
    assert_eq!((grammar.sizes(), grammar.shape().lengths()), (&[1, 2, 2][..], 1..=16));
    assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar);
    let probabilities = [(1, 0.1), (2, 0.2), (4, 0.3), (8, 0.4)];
    let sampled = Ensemble::new(5, 2).arities(probabilities).fraction(1e-3).sample(Seed::new(1)).unwrap();
    assert_eq!(sampled.to_string().parse::<Grammar>().unwrap(), sampled);
    let tree = Sampler::new(&sampled).tree(Seed::new(2), 3);
    assert_eq!(Tree::from_text(&tree.to_text(&sampled), &sampled).unwrap(), tree);
}
