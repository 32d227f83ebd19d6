//! Fits, verdicts and figures of synthetic results, as a user gets them from an experiment file.

mod common;

use common::Lab;
use gardenpath_lab::experiment::Experiment;
use gardenpath_lab::store::Store;
use serde_json::{Map, Value, json};
use std::fs;

/// Learning curves whose middle is at 4 v^2 at depth 2, and twelve times that at depth 3.
const LAWS: &str = r#"
measure = "train"
expects = "A made-up law & its <figures>."

[parameters]
model = "cnn"
fraction = "1 / vocab"
width = 8

[[grid]]
depth = [2, 3]
vocab = [8, 16, 32]
samples = { from = 16, to = 524288, points = 16 }
seed = "1..6"

[[fit]]
name = "crossing"
kind = "threshold"
of = "normalized_loss"
along = "samples"
level = 0.5
groups = ["vocab", "depth"]

[[fit]]
name = "growth"
kind = "exponent"
of = "crossing"
in = "vocab"
groups = ["depth"]

[[fit]]
name = "collapse"
kind = "collapse"
of = "normalized_loss"
along = "samples"
by = "vocab * ternary_rules"
predicted = 1
groups = ["depth"]

[[fit]]
name = "excess"
kind = "mean"
of = "normalized_loss - bayes_normalized_loss"
groups = ["vocab", "depth"]
where = { samples = "largest" }

[[fit]]
name = "deeper"
kind = "ratio"
of = "crossing"
between = { depth = [3, 2] }

[[fit]]
name = "prefactor"
kind = "ratio"
of = "crossing"
over = "vocab^2"
groups = ["depth"]

[[fit]]
name = "relative"
kind = "ratio"
of = "normalized_loss"
over = "bayes_normalized_loss"
groups = ["depth"]
where = { samples = 16, vocab = 8 }

[[claim]]
id = "square"
statement = "The number of sentences grows as vocab^2."
fit = "growth"
expected = 2
margin = 0.3
reason = "Six seeds."
source = "paper formula"

[[claim]]
id = "linear"
statement = "It grows as vocab."
fit = "growth"
where = { depth = 2 }
expected = 1
margin = 0.3
reason = "Six seeds."
source = "paper experiment"

[[claim]]
id = "eight"
statement = "Another level costs a factor of 8."
fit = "deeper"
expected = 8
margin = 1
reason = "Six seeds."
source = "paper formula"
corrected = { expected = 12, factor = 1.5, reason = "we made it so" }

[[claim]]
id = "sharp"
statement = "The place is known to a thousandth."
fit = "crossing"
where = { vocab = 8, depth = 2 }
expected = "4 * vocab^2"
margin = "0.001 * vocab^2"
reason = "It is not."
source = "ours"

[[claim]]
id = "deep"
statement = "There is a depth of 4."
fit = "growth"
where = { depth = 4 }
at_least = 1
reason = "There is not."
source = "ours"

[[panel]]
title = "Losses"
x = "samples"
rescale_x = "samples / vocab^2"
x_scale = "log"
y = "normalized_loss"
color = "vocab"
marker = "depth"
lines = [{ y = 0.5, label = "threshold" }, { y = "bayes_normalized_loss", label = "exact parsing" }]

[[panel]]
x = "vocab"
x_scale = "log"
y = "crossing"
y_scale = "log"
color = "depth"
"#;

/// Makes some grammars slightly harder than others.
fn hardness(seed: f64) -> f64 {
    (0.1 * (seed % 7.0 - 3.5)).exp()
}

fn network(parameters: &Map<String, Value>) -> Value {
    let of = |name: &str| parameters[name].as_f64().unwrap();
    let star = 4.0 * of("vocab").powi(2) * hardness(of("seed")) * if of("depth") > 2.0 { 12.0 } else { 1.0 };
    json!({"normalized_loss": 0.98 / (1.0 + of("samples") / star) + 0.01, "bayes_normalized_loss": 0.01})
}

/// Writes an experiment, and results for the selected cells.
fn store(
    lab: &Lab,
    text: &str,
    result: fn(&Map<String, Value>) -> Value,
    wanted: impl Fn(&Map<String, Value>) -> bool,
) {
    fs::write(lab.path("e.toml"), text).unwrap();
    let store = Store::open(&lab.path("s")).unwrap();
    let experiment = Experiment::parse(text).unwrap();
    let scale = experiment.scale(None).unwrap();
    for cell in experiment.cells(&scale).unwrap() {
        let parameters = cell.parameters();
        if wanted(&parameters) {
            store.write(&cell, result(&parameters).as_object().unwrap(), 1.0).unwrap();
        }
    }
}

fn laws() -> Lab {
    let lab = Lab::new();
    store(&lab, LAWS, network, |_| true);
    lab
}

/// The lines of a fit, by group.
fn lines(all: &[Value], fit: &str) -> Vec<(Value, f64)> {
    let own = all.iter().filter(|line| line["fit"] == fit);
    own.map(|line| (line["group"].clone(), line["value"].as_f64().unwrap_or(f64::NAN))).collect()
}

#[test]
fn every_kind_of_fit_finds_what_was_put_in() {
    let lab = laws();
    let all = lab.json_lines("sweep fit e.toml --store s");
    let near = |fit: &str, expected: &[(Value, f64)], tolerance: f64| {
        let found = lines(&all, fit);
        assert_eq!(found.len(), expected.len(), "{fit}: {found:?}");
        for ((group, value), (other, number)) in found.iter().zip(expected) {
            assert_eq!(group, other, "{fit}");
            assert!((value / number - 1.0).abs() < tolerance, "{fit}, {group}: {value}, expected {number}");
        }
    };
    let crossings: Vec<(Value, f64)> = [8.0f64, 16.0, 32.0]
        .into_iter()
        .flat_map(|vocab| {
            [(2, 4.0), (3, 48.0)]
                .map(|(depth, factor)| (json!({"vocab": vocab as u64, "depth": depth}), factor * vocab.powi(2)))
        })
        .collect();
    near("crossing", &crossings, 0.05);
    near("growth", &[(json!({"depth": 2}), 2.0), (json!({"depth": 3}), 2.0)], 0.02);
    // At a fraction of 1 / vocab a symbol has one binary rule and vocab ternary ones.
    near("collapse", &[(json!({"depth": 2}), 1.0), (json!({"depth": 3}), 1.0)], 0.05);
    near("deeper", &[(json!({}), 12.0)], 0.05);
    near("prefactor", &[(json!({"depth": 2}), 4.0), (json!({"depth": 3}), 48.0)], 0.05);
    let relative = lines(&all, "relative");
    let loss =
        |depth: f64| network(json!({"vocab": 8, "seed": 3.5, "samples": 16, "depth": depth}).as_object().unwrap());
    for (found, depth) in relative.iter().zip([2.0, 3.0]) {
        let expected = loss(depth)["normalized_loss"].as_f64().unwrap() / 0.01;
        assert!((found.1 / expected - 1.0).abs() < 0.02, "{found:?}, expected {expected}");
    }
    // The largest number of samples of each group: 0.98 / (1 + 524288 / 256) at 8 symbols.
    assert!((lines(&all, "excess")[0].1 / (0.98 / 2049.0) - 1.0).abs() < 0.05);
    assert!(all.iter().all(|line| line["seeds"] == 6 && line["interval"].as_array().unwrap().len() == 2));
    let collapse = all.iter().find(|line| line["fit"] == "collapse").unwrap();
    assert!(collapse["misfit"].as_f64().unwrap() < 1.0 && collapse["predicted_misfit"].as_f64().unwrap() < 2.0);
    let text = lab.run("sweep fit e.toml --store s");
    assert!(text.contains("vocab = 8, depth = 2") && text.contains(" to "), "{text}");
}

#[test]
fn every_verdict_can_be_reached() {
    let lab = laws();
    let judged = lab.json("sweep judge e.toml --store s");
    let claims = judged["claims"].as_array().unwrap();
    let found: Vec<(&str, &Value, &str)> = claims
        .iter()
        .map(|claim| (claim["id"].as_str().unwrap(), &claim["group"], claim["verdict"].as_str().unwrap()))
        .collect();
    let (two, three, both, none) =
        (json!({"depth": 2}), json!({"depth": 3}), json!({"vocab": 8, "depth": 2}), json!({}));
    let expected = [
        ("square", &two, "agrees"),
        ("square", &three, "agrees"),
        ("linear", &two, "differs"),
        ("eight", &none, "corrected"),
        ("sharp", &both, "inconclusive"),
        ("deep", &none, "inconclusive"),
    ];
    assert_eq!(found, expected);
    let numbers = |claim: &Value, name: &str| claim[name].as_f64();
    assert_eq!((numbers(&claims[0], "expected"), numbers(&claims[0], "margin")), (Some(2.0), Some(0.3)));
    assert_eq!(claims[0]["source"], "paper formula");
    assert_eq!(
        (numbers(&claims[4], "expected"), claims[4]["allowed"].clone()),
        (Some(256.0), json!([255.936, 256.064]))
    );
    assert_eq!((claims[5]["expected"].clone(), claims[5]["allowed"].clone()), (Value::Null, json!([1.0, null])));
    assert_eq!(
        (&claims[5]["estimate"], &claims[5]["because"]),
        (&Value::Null, &json!("this scale has no cells for it"))
    );
    assert!(claims[3]["because"].as_str().unwrap().ends_with("we made it so"), "{}", claims[3]);
    let text = lab.run("sweep judge e.toml --store s");
    assert!(text.contains("square (depth = 2): agrees\n  The number of sentences grows as vocab^2.\n  2 ["), "{text}");
}

#[test]
fn figures_have_three_formats_and_the_same_bytes() {
    let lab = laws();
    for (kind, beginning) in [("svg", b"<svg".as_slice()), ("png", b"\x89PNG"), ("pdf", b"%PDF")] {
        let said = lab.run(&format!("sweep plot e.toml --store s -o one.{kind}"));
        assert_eq!(said, format!("2 panels in one.{kind}\n"));
        lab.run(&format!("sweep plot e.toml --store s --output two.{kind} --threads 1"));
        let [one, two] = ["one", "two"].map(|name| fs::read(lab.path(&format!("{name}.{kind}"))).unwrap());
        assert!(one.starts_with(beginning) && one == two, "{kind}");
    }
    let svg = fs::read_to_string(lab.path("one.svg")).unwrap();
    for text in ["Losses", "exact parsing", " = 8<", " = 32<", " = 3<", "threshold", "(b)"] {
        assert!(svg.contains(text), "{text}");
    }
    let refused = lab.refusal("sweep plot e.toml --store s -o figure.jpg");
    assert_eq!(refused, "figure.jpg: expected a name ending in .svg, .png or .pdf");
}

/// Dashed lines that share their colors with other curves get one legend entry, others one each.
#[test]
fn dashed_lines_without_company_have_names() {
    let lab = laws();
    let (rest, _) = LAWS.split_once("[[panel]]").unwrap();
    let drawn = |network: &str| {
        let panel = format!(
            r#"[[panel]]
x = "samples"
x_scale = "log"
color = "depth"
color_label = "layers"
where = {{ vocab = 8 }}
series = [
    {{ y = "bayes_normalized_loss", style = "dashed", label = "exact" }},
    {{ y = "normalized_loss", label = "network", {network} }},
]
"#
        );
        fs::write(lab.path("e.toml"), format!("{rest}{panel}")).unwrap();
        lab.run("sweep plot e.toml --store s -o figure.svg");
        fs::read_to_string(lab.path("figure.svg")).unwrap()
    };
    let (alone, together) = (drawn("grouped = false, where = { depth = 2 }"), drawn("grouped = true"));
    for name in ["exact, layers = 2<", "exact, layers = 3<"] {
        assert!(alone.contains(name) && !together.contains(name), "{name}");
    }
    for name in [">exact<", "network, layers = 2<", "network, layers = 3<"] {
        assert!(!alone.contains(name) && together.contains(name), "{name}");
    }
}

#[test]
fn the_page_has_every_claim_with_its_verdict() {
    let lab = laws();
    let said = lab.run("report e.toml --store s --output page.html");
    assert_eq!(said, "1 experiment with 5 claims in page.html\n");
    let page = fs::read_to_string(lab.path("page.html")).unwrap();
    lab.run("report e.toml --store s -o again.html --threads 1");
    assert_eq!(page, fs::read_to_string(lab.path("again.html")).unwrap());
    assert!(page.contains("A made-up law &amp; its &lt;figures&gt;.") && page.contains("data:image/svg+xml;base64,"));
    for claim in lab.json("sweep judge e.toml --store s")["claims"].as_array().unwrap() {
        let of = |name: &str| claim[name].as_str().unwrap().to_owned();
        let row = page.lines().find(|line| line.starts_with("<tr><td>") && line.contains(&of("statement")));
        let (row, because) = (row.unwrap_or_default(), of("because").replace('>', "&gt;"));
        assert!(row.contains(&because) && row.contains("class=\"badge "), "{claim}: {row}");
    }
    assert!(!page.contains("href=\"figures/") && !page.contains("The paper says") && !page.contains("? too small"));
    let both = lab.json("report e.toml e.toml --store s -o both.html");
    assert_eq!((both["experiments"].as_u64(), both["judged"].as_u64()), (Some(2), Some(10)));
    let page = fs::read_to_string(lab.path("both.html")).unwrap();
    assert!(page.contains("id=\"e\"") && page.contains("id=\"e-2\""));
}

#[test]
fn what_is_missing_is_said_and_the_rest_is_used() {
    let lab = Lab::new();
    store(&lab, LAWS, network, |parameters| parameters["depth"] == 2 && parameters["seed"].as_u64() < Some(5));
    let output = lab.try_run("sweep judge e.toml --store s --json");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("e: 384 of 576 cells have no result yet"), "{said}");
    let judged: Value = serde_json::from_slice(&output.stdout).unwrap();
    let verdicts: Vec<&str> =
        judged["claims"].as_array().unwrap().iter().map(|claim| claim["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["inconclusive"; 6], "four seeds have no interval, and depth 3 has none at all");
    assert!(judged["claims"][0]["because"].as_str().unwrap().contains("4 seeds; an interval needs at least 5"));
    for command in ["fit e.toml", "judge e.toml", "plot e.toml -o f.svg"] {
        let lab = Lab::new();
        store(&lab, LAWS, network, |_| false);
        let output = lab.try_run(&format!("sweep {command} --store s"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert_eq!(said, "error: none of 576 cells has a result: 'sweep run' measures them.\n");
        assert!(lab.refusal(&format!("sweep {command} --store absent")).contains("no store absent"));
        assert!(!lab.path("f.svg").exists());
        let output = lab.try_run("report e.toml --store s -o page.html");
        assert_eq!((output.status.code(), lab.path("page.html").exists()), (Some(1), false));
    }
}

/// A sweep that was stopped has seeds without their largest sizes. These have not failed to cross: nobody looked.
#[test]
fn curves_that_are_half_measured_do_not_count_as_flat() {
    let half = |parameters: &Map<String, Value>| parameters["seed"] != 6 || parameters["samples"].as_u64() < Some(100);
    let lab = Lab::new();
    store(&lab, LAWS, network, half);
    let all = lab.json_lines("sweep fit e.toml --store s");
    for (fit, groups) in [("crossing", 6), ("growth", 2)] {
        let own: Vec<&Value> = all.iter().filter(|line| line["fit"] == fit).collect();
        assert_eq!(own.len(), groups);
        assert!(own.iter().all(|line| line["seeds"] == 5 && line["interval"].is_array()), "{fit}: {own:?}");
    }
}

#[test]
fn experiments_that_say_nothing_have_nothing_to_show() {
    let lab = Lab::new();
    let text = LAWS.split("[[fit]]").next().unwrap();
    store(&lab, text, network, |_| true);
    assert_eq!(lab.refusal("sweep fit e.toml --store s"), "the experiment has no [[fit]]");
    assert_eq!(lab.refusal("sweep judge e.toml --store s"), "the experiment has no [[claim]]");
    assert_eq!(lab.refusal("sweep plot e.toml --store s -o f.svg"), "the experiment has no [[panel]]");
    assert_eq!(lab.run("report e.toml --store s -o page.html"), "1 experiment with 0 claims in page.html\n");
}

#[test]
fn cells_that_differ_are_not_mixed_unseen() {
    for (from, to, place) in [
        (
            "groups = [\"vocab\", \"depth\"]\n\n[[fit]]\nname = \"growth\"",
            "groups = [\"vocab\"]\n\n[[fit]]\nname = \"growth\"",
            "[[fit]] crossing: cells that differ in depth would be mixed",
        ),
        ("marker = \"depth\"\n", "", "[[panel]] number 1: cells that differ in depth would be mixed"),
        ("where = { samples = \"largest\" }\n", "", "[[fit]] excess: cells that differ in samples would be mixed"),
    ] {
        let lab = Lab::new();
        let mut text = LAWS.replacen(from, to, 1);
        assert_ne!(text, LAWS);
        if place.contains("crossing") {
            // Only the fit that mixes: others would not know its groups.
            text = text.split("[[fit]]").take(2).collect::<Vec<_>>().join("[[fit]]")
                + "\n[[panel]]\nx = \"samples\"\ny = \"vocab\"\nwhere = { vocab = 8, depth = 2 }\n";
        }
        store(&lab, &text, network, |_| true);
        let error = lab.refusal("sweep plot e.toml --store s -o f.svg");
        assert!(error.starts_with(place), "{error}");
    }
}

#[test]
fn scales_of_any_name_are_chosen_and_others_refused() {
    let lab = Lab::new();
    let scaled = LAWS.replace("[[grid]]", "[[night]]");
    store(&lab, &scaled, network, |_| true);
    let usual = lab.run("sweep fit e.toml --store s --json");
    assert_eq!(lab.run("sweep fit e.toml --store s --scale night --json"), usual);
    for command in [
        "sweep fit e.toml",
        "sweep judge e.toml",
        "sweep plot e.toml -o f.svg",
        "sweep status e.toml",
        "report e.toml -o r.html",
    ] {
        let error = lab.refusal(&format!("{command} --store s --scale full"));
        assert!(error.ends_with("unknown scale full; the experiment has night"), "{error}");
    }
    fs::write(lab.path("e.toml"), LAWS).unwrap();
    for command in [
        "sweep fit e.toml",
        "sweep run e.toml",
        "sweep judge e.toml",
        "sweep plot e.toml -o f.svg",
        "report e.toml -o r.html",
    ] {
        let error = lab.refusal(&format!("{command} --store s --scale quick"));
        assert!(error.ends_with("--scale has no effect here: the experiment has one scale, [[grid]]"), "{error}");
    }
    assert!(
        lab.refusal("reproduce --scale night").ends_with("unknown scale night; the experiment has quick, day, full")
    );
}

#[test]
fn lists_are_curves_and_means_are_over_seeds() {
    let text = "measure = 'snr'\n[[grid]]\nvocab = 8\ndepth = 2\nfraction = 0.125\nfirst = 10\nlast = 1e4\nseed = '1..5'\n\
                [[fit]]\nname = 'half'\nkind = 'threshold'\nof = 'noise / mean(signal)'\nalong = 'sizes'\nlevel = 0.5\n";
    let lab = Lab::new();
    // Noise 800 / P over a mean signal of 2: one half at 800.
    let result = |parameters: &Map<String, Value>| {
        let seed = parameters["seed"].as_f64().unwrap();
        let sizes = [100.0, 400.0, 1600.0, 6400.0];
        json!({"sizes": sizes, "noise": sizes.map(|size| 800.0 * (0.01 * (seed - 3.0)).exp() / size), "signal": 0.5 * (seed + 1.0)})
    };
    store(&lab, text, result, |_| true);
    let line = lab.json("sweep fit e.toml --store s");
    let value = line["value"].as_f64().unwrap();
    assert!((value / 800.0 - 1.0).abs() < 0.05, "{line}");
    let wrong = text.replace("along = 'sizes'", "along = 'ratio'");
    fs::write(lab.path("e.toml"), wrong).unwrap();
    let none = lab.json("sweep fit e.toml --store s");
    assert_eq!(none["because"], "no measurements", "{none}");
}
