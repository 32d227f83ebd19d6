//! Numbers of rules are rounded: every command that takes a fraction reports the effective one.

mod common;

use common::Lab;
use serde_json::json;

const NOTE: &str = "note: rounded to whole numbers, each of 16 symbols has 2 binary (0.125 of all pairs) and 26 ternary \
                    (0.1016 of all triples) rules\n";

/// Commands with a fraction of a tenth, and with a quarter, which needs no rounding.
fn commands(fraction: &str) -> [String; 5] {
    let ensemble = format!("--vocab 16 --depth 2 --fraction {fraction}");
    [
        format!("grammar sample {ensemble} -o g.pcfg"),
        format!("entropy {ensemble} --grammars 1 --samples 10"),
        format!("train --model cnn {ensemble} --samples 10 --test 10 --width 4 --max-steps 2"),
        format!("snr {ensemble} --grammars 1"),
        format!("theory complexity {ensemble}"),
    ]
}

#[test]
fn a_fraction_that_is_rounded_is_told() {
    let lab = Lab::new();
    for (fraction, note) in [("0.1", NOTE), ("0.25", "")] {
        for command in commands(fraction) {
            let output = lab.try_run(&command);
            assert!(output.status.success(), "{command}");
            assert_eq!(String::from_utf8(output.stderr).unwrap(), note, "{command}");
            let found = &lab.json(&command)["effective_fractions"];
            let expected = if note.is_empty() { (0.25, 0.25) } else { (0.125, 26.0 / 256.0) };
            let by_arity = json!({"2": [expected.0, expected.0], "3": [expected.1, expected.1]});
            let expected = json!({"binary": expected.0, "ternary": expected.1, "by_arity": by_arity});
            assert_eq!(*found, expected, "{command}");
        }
        let layers = &lab.json("grammar info g.pcfg")["levels"];
        let expected = if note.is_empty() { (0.25, 0.25) } else { (0.125, 26.0 / 256.0) };
        assert_eq!(
            (&layers[1]["binary_fraction"], &layers[1]["ternary_fraction"]),
            (&json!(expected.0), &json!(expected.1))
        );
    }
}

#[test]
fn a_note_is_said_once_and_only_about_rules_that_exist() {
    let lab = Lab::new();
    let errors = |command: &str| String::from_utf8(lab.try_run(command).stderr).unwrap();
    let notes = errors("entropy --vocab 16 --depth 1,2 --fraction 0.1,0.25 --grammars 1 --samples 10");
    assert_eq!(notes, NOTE);
    let notes = errors("grammar sample --vocab 16 --depth 2 --fraction 0.1 --p-binary 0 -o g.pcfg");
    assert_eq!(
        notes,
        "note: rounded to whole numbers, each of 16 symbols has 26 ternary (0.1016 of all triples) rules\n"
    );
    let notes = errors("grammar sample --sizes 3,7,7 --arities 1:0.2,2:0.4,4:0.4 --fraction 0.2 --rules 4:5 -o g.pcfg");
    assert_eq!(
        notes,
        "note: rounded to whole numbers, each of 3 symbols has 1 unary (0.4286 of all symbols), 3 binary (0.1837 of all \
         pairs) and 5 4-ary (0.006247 of all 4-tuples) rules\n\
         note: rounded to whole numbers, each of 7 symbols has 1 unary (1 of all symbols), 1 binary (0.1429 of all pairs) \
         and 5 4-ary (0.01458 of all 4-tuples) rules\n"
    );
    assert_eq!(errors("grammar sample --vocab 16 --depth 2 --binary-rules 2 --ternary-rules 5 -o g.pcfg"), "");
    lab.refusal("grammar sample --vocab 10 --depth 2 --fraction 0.92 --non-overlapping -o g.pcfg");
}

/// Some of three grammars are below the threshold from the start, so the interval has no lower bound.
#[test]
fn an_end_that_is_not_bounded_is_null() {
    let lab = Lab::new();
    let command = "snr --vocab 2 --depth 2 --fraction 0.6 --grammars 3 --seed 1";
    let result = lab.json(command);
    let high = result["interval"][1].as_f64().unwrap();
    assert!(result["interval"][0].is_null() && result["sample_complexity"].as_f64().unwrap() < high, "{result}");
    assert!(lab.run(command).contains(" or less"));
}
