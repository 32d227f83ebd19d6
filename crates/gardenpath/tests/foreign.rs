//! Grammars as other people and programs write them: probabilities in front, comments, a chosen start symbol, rounded
//! probabilities; and recursion, which is shown.

use gardenpath::Grammar;

#[test]
fn probabilities_may_stand_in_front() {
    let behind = Grammar::from_text("S -> A B [0.25] | B A [0.75]\nA -> 'a' 'b' [1]\nB -> 'b' 'b' 'a' [1]\n").unwrap();
    for text in [
        "0.25 S -> A B\n0.75 S -> B A\n1 A -> 'a' 'b'\n1.0 B -> 'b' 'b' 'a'\n",
        // With a colon, with the arrow of a printed grammar, and without quotes.
        "0.25: S -> A B\n.75 : S → B A\n1:A->a b\n1e0: B -> b b a  # the last one\n",
        // The start symbol is S wherever it stands.
        "1 A -> a b\n1 B -> b b a\n0.25 S -> A B\n0.75 S -> B A\n",
        // Both forms in one file.
        "S -> A B [0.25]\n0.75 S -> B A\nA -> 'a' 'b' [1]\n1 B -> 'b' 'b' 'a'\n",
    ] {
        assert_eq!(Grammar::from_text(text).unwrap(), behind, "{text}");
    }
    // A symbol may be named like a number.
    let named = Grammar::from_text("1 -> 2 2 [1]\n2 -> 'a' 'b' [1]\n").unwrap();
    assert_eq!((named.name(0, 0), named.name(1, 0)), ("1".into(), "2".into()));
    for (text, expected) in [
        ("0.5 S -> A B | B A", "line 1: a probability in front belongs to one right-hand side, expected no | after it"),
        (
            "0.5 S -> A B [0.5]",
            "line 1: a rule has a probability in front and another at its end, expected one of them",
        ),
        ("1 S -> A A\n-1 A -> a b", "line 2: -1 is not a probability, expected more than 0 and at most 1"),
        ("1 S -> A A\n1 A -> a b\n0 A -> a a", "line 3: 0 is not a probability, expected more than 0 and at most 1"),
        ("1 S -> A A\n2: A -> a b", "line 2: 2 is not a probability, expected more than 0 and at most 1"),
        ("1 S -> A B\n1 A -> 'a' 'b'", "line 1: B has no rules"),
        ("1 S A B", "line 1: expected a rule like: A -> B C [0.5]"),
        ("0.5 S -> A B\n0.4 S -> B A\n1 A -> a b\n1 B -> a a", "line 1: the probabilities of S sum to 0.9, expected 1"),
    ] {
        assert_eq!(Grammar::from_text(text).unwrap_err().to_string(), expected, "{text}");
    }
}

#[test]
fn comments_may_end_a_line() {
    let text = "\u{feff}# tokens: '#' 'b' \"it's # 1\" # in order
S -> A [1]# the only class
A -> '#' \"it's # 1\" [0.5]  # don't [stop] | here
  # more
A -> '#' 'b' [0.5]#
";
    let grammar = Grammar::from_text(text).unwrap();
    let names: Vec<_> = (0..3).map(|token| grammar.name(1, token).into_owned()).collect();
    assert_eq!(names, ["#", "b", "it's # 1"]);
    assert_eq!(grammar.layer(0).rules().len(), 2);
    assert_eq!(Grammar::from_text(&grammar.to_text()).unwrap(), grammar);
    let error = Grammar::from_text("S -> A [1]\nA -> B# C [1]").unwrap_err().to_string();
    assert!(error.starts_with("line 2: '#' cannot start a word"), "{error}");
    let json = format!("\u{feff}{}", include_str!("golden/small.json"));
    assert_eq!(Grammar::from_lano_json(&json).unwrap().sizes(), [1, 2, 3]);
}

#[test]
fn the_start_symbol_can_be_chosen() {
    let rules = "A -> 'a' 'b' [1]\nB -> 'b' 'b' [1]\nTOP -> A [0.5] | B [0.5]\n";
    let grammar = Grammar::from_text(&format!("% start TOP  # as in NLTK\n{rules}")).unwrap();
    assert_eq!((grammar.prior(), grammar.sizes()), (&[0.5, 0.5][..], &[2, 2][..]));
    assert_eq!(Grammar::from_text(&format!("{rules}%start TOP\n")).unwrap(), grammar);
    for (line, expected) in [
        ("% start X", "line 4: the start symbol X has no rules"),
        ("% start", "line 4: a line that begins with % chooses the start symbol, expected: % start S"),
        ("% stop TOP", "line 4: a line that begins with % chooses the start symbol, expected: % start S"),
        ("% start A B", "line 4: a line that begins with % chooses the start symbol, expected: % start S"),
        ("% start TOP\n% start TOP", "line 5: line 4 chooses the start symbol already"),
    ] {
        assert_eq!(Grammar::from_text(&format!("{rules}{line}")).unwrap_err().to_string(), expected);
    }
}

#[test]
fn rounded_probabilities_are_rescaled_on_request() {
    let grammar =
        |class: &str, p: &str| format!("S -> A [{class}]\nA -> 'a' 'b' [{p}] | 'b' 'a' [{p}] | 'a' 'a' [{p}]\n");
    let hint = "; to rescale them: gardenpath grammar convert IN -o OUT --normalize";
    let refusal = |text: &str| Grammar::from_text(text).unwrap_err().to_string();
    assert_eq!(refusal(&grammar("1", "0.33")), format!("line 2: the probabilities of A sum to 0.99, expected 1{hint}"));
    assert_eq!(
        refusal(&grammar("1.01", "0.33")),
        format!("line 1: the probabilities of S sum to 1.01, expected 1{hint}")
    );
    for text in [grammar("1", "0.33"), grammar("1.01", "0.3364"), grammar("0.99", "0.333333")] {
        let read = Grammar::from_text_normalized(&text).unwrap();
        assert_eq!(read.prior(), [1.0]);
        for rule in read.layer(0).rules() {
            assert!((rule.probability - 1.0 / 3.0).abs() < 1e-6, "{text}");
        }
        assert_eq!(Grammar::from_text_normalized(&read.to_text()).unwrap(), read, "once is enough");
        assert_eq!(Grammar::from_text(&read.to_text()).unwrap(), read);
    }
    let error = Grammar::from_text_normalized(&grammar("1", "0.329")).unwrap_err().to_string();
    assert!(error.starts_with("line 2: the probabilities of A sum to 0.98"), "{error}");
    assert!(error.ends_with("expected 1 or at most 1% more or less"), "{error}");
    assert!(!refusal(&grammar("1", "0.329")).contains("--normalize"), "what is wrong is not rescaled");
    assert!(Grammar::from_text_normalized(&grammar("1.02", "0.33")).is_err());
    // What needs no rescaling is the same bit by bit.
    let sampled = include_str!("golden/sampled.pcfg");
    assert_eq!(Grammar::from_text_normalized(sampled).unwrap(), Grammar::from_text(sampled).unwrap());
}

#[test]
fn recursion_is_shown() {
    let chain: String = (0..100_000).map(|k| format!("N{k} -> N{0} N{0} [1]\n", (k + 1) % 100_000)).collect();
    for (text, line, cycle) in [
        ("S -> A [1]\nA -> A A [1]", 2, "A -> A"),
        ("S -> A [1]\nA -> S S [1]", 2, "S -> A -> S"),
        ("S -> A [1]\nA -> 'a' 'b' [1]\nX -> Y Y [1]\nY -> X X [1]", 4, "X -> Y -> X"),
        ("S -> NP VP [1]\nNP -> 'the' 'dog' [0.5] | NP PP [0.5]\nPP -> 'in' NP [1]\nVP -> 'b' [1]", 2, "NP -> NP"),
        ("S -> NP VP [1]\nNP -> 'the' [0.5] | Det PP [0.5]\nPP -> 'in' NP [1]\nVP -> 'b' [1]", 3, "NP -> PP -> NP"),
        ("0.2: S -> S S\n0.8: S -> a", 1, "S -> S"),
        (&chain, 100_000, "N0 -> N1 -> N2 -> N3 -> N4 -> N5 -> N6 -> N7 -> … -> N0"),
    ] {
        let expected = format!(
            "line {line}: the grammar is recursive: {cycle}; only layered grammars of uniform depth can be read"
        );
        assert_eq!(Grammar::from_text(text).unwrap_err().to_string(), expected);
    }
}
