use super::Content;
use crate::experiment::{Experiment, Scale, built_in};

const EXAMPLE: &str = r#"
measure = "train"
[[grid]]
model = "cnn"
depth = [2, 3]
vocab = [8, 16, 32]
fraction = 0.25
samples = [100, 1000]
width = 8
seed = "1..5"

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
name = "factor"
kind = "ratio"
of = "crossing"
between = { depth = [3, 2] }

[[fit]]
name = "share"
kind = "ratio"
of = "normalized_loss"
over = "bayes_normalized_loss"
groups = ["samples", "vocab", "depth"]

[[fit]]
name = "one"
kind = "collapse"
of = "normalized_loss"
along = "samples"
by = "vocab"
groups = ["depth"]

[[claim]]
id = "v2"
statement = "It grows."
fit = "growth"
where = { depth = 2 }
expected = "depth"
margin = 0.25
reason = "Finite sizes."
source = "paper formula"

[[panel]]
title = "Losses"
x = "samples"
y = "normalized_loss"
color = "vocab"
marker = "depth"
lines = [{ y = 0.5, label = "half" }, { x = 3 }, { y = "bayes_normalized_loss" }]

[[panel]]
x = "vocab"
y = "crossing"
color = "depth"
"#;

#[test]
fn everything_is_read() {
    let plan = Experiment::parse(EXAMPLE).unwrap().plan;
    assert_eq!((plan.fits.len(), plan.claims.len(), plan.panels.len()), (5, 1, 2));
    assert_eq!(plan.fits[0].group_names(), ["vocab", "depth"]);
    let Content::Chart { series, guides, .. } = &plan.panels[0].content else { panic!("a chart") };
    assert_eq!((series.len(), guides.len()), (2, 2));
}

#[test]
fn what_is_wrong_is_named_with_what_there_is() {
    for (from, to, expected) in [
        (
            "of = \"normalized_loss\"",
            "of = \"normalised_loss\"",
            "[[fit]] crossing: of: unknown name normalised_loss; did you mean normalized_loss? Available: vocab, depth, fraction, ",
        ),
        (
            "along = \"samples\"",
            "along = \"sentence\"",
            "[[fit]] crossing: along: unknown name sentence. Available: vocab, ",
        ),
        (
            "groups = [\"vocab\", \"depth\"]",
            "groups = [\"vocab\", \"layer\"]",
            "[[fit]] crossing: groups: unknown name layer; did you mean layers? Available: ",
        ),
        ("groups = [\"vocab\", \"depth\"]", "groups = \"vocab\"", "[[fit]] crossing: groups: expected a list of names"),
        ("groups = [\"vocab\", \"depth\"]", "groups = [\"vocab\", \"vocab\"]", "groups: vocab occurs twice"),
        (
            "of = \"crossing\"\nin",
            "of = \"crosing\"\nin",
            "[[fit]] growth: of: unknown name crosing; did you mean crossing? Available: vocab, ",
        ),
        (
            "of = \"crossing\"\nin",
            "of = \"2 * crossing\"\nin",
            "[[fit]] growth: of: 2 * crossing: fits cannot be part of an expression",
        ),
        ("in = \"vocab\"", "in = \"width\"", "[[fit]] growth: in: unknown name width. Available: vocab, depth"),
        (
            "in = \"vocab\"\ngroups = [\"depth\"]",
            "in = \"vocab\"",
            "[[fit]] growth: crossing has groups by depth: add depth to groups or to where",
        ),
        ("name = \"growth\"", "name = \"crossing\"", "duplicate fit name"),
        ("name = \"growth\"", "name = \"vocab\"", "a column already has this name"),
        ("name = \"growth\"", "name = \"v^2\"", "expected letters, digits"),
        (
            "name = \"growth\"",
            "title = \"growth\"",
            "[[fit]] number 2: title: unknown key, expected one of name, kind, groups, where, of, in",
        ),
        (
            "kind = \"exponent\"",
            "kind = \"exponential\"",
            "kind is \"exponential\", expected one of threshold, exponent, collapse, mean, ratio",
        ),
        ("level = 0.5\n", "", "[[fit]] crossing: level is missing"),
        ("level = 0.5\n", "level = \"half\"\n", "level is \"half\", expected a number"),
        ("level = 0.5\n", "level = 0.5\ndirection = \"down\"\n", "direction is \"down\", expected one of falls, rises"),
        ("between = { depth = [3, 2] }", "between = { depth = 3 }", "between: expected a column and two of its values"),
        (
            "between = { depth = [3, 2] }",
            "between = { width = [3, 2] }",
            "between: unknown name width. Available: vocab, depth",
        ),
        ("between = { depth = [3, 2] }", "", "expected either over or between"),
        ("of = \"crossing\"\nbetween", "of = \"growth\"\nbetween", "growth has one number for all seeds"),
        ("by = \"vocab\"", "by = \"crossing\"", "by: crossing is a fit, expected a column"),
        ("by = \"vocab\"", "by = \"mean(vocab)\"", "by: mean(vocab): mean(…) needs a group of cells"),
        ("by = \"vocab\"", "by = \"vocab^\"", "by: vocab^: expected a number or a name"),
        (
            "fit = \"growth\"",
            "fit = \"growht\"",
            "[[claim]] v2: fit: unknown name growht; did you mean growth? Available: crossing, growth, factor, share, one",
        ),
        ("where = { depth = 2 }", "where = { vocab = 2 }", "[[claim]] v2: where: unknown name vocab. Available: depth"),
        (
            "expected = \"depth\"",
            "expected = \"vocab\"",
            "[[claim]] v2: expected: unknown name vocab. Available: depth",
        ),
        ("margin = 0.25\n", "", "[[claim]] v2: expected either expected and margin, or expected and factor"),
        ("reason = \"Finite sizes.\"\n", "", "[[claim]] v2: reason is missing"),
        (
            "source = \"paper formula\"",
            "source = \"gossip\"",
            "source is \"gossip\", expected one of ours, paper formula, paper experiment, identity",
        ),
        (
            "source = \"paper formula\"",
            "source = \"ours\"\ncorrected = { expected = 3 }",
            "[[claim]] v2: corrected: expected either",
        ),
        (
            "[[panel]]\ntitle",
            "[[claim]]\nid = \"v2\"\nstatement = \"a\"\nfit = \"growth\"\nat_most = 1\nreason = \"b\"\nsource = \"ours\"\n[[panel]]\ntitle",
            "duplicate claim id",
        ),
        (
            "color = \"vocab\"",
            "colour = \"vocab\"",
            "[[panel]] Losses: colour: unknown key, expected one of title, kind, x, y, ",
        ),
        (
            "color = \"vocab\"",
            "color = \"vocap\"",
            "[[panel]] Losses: color: unknown name vocap; did you mean vocab? Available",
        ),
        (
            "y = \"crossing\"",
            "y = \"crossings\"",
            "[[panel]] number 2: y: unknown name crossings; did you mean crossing? Available",
        ),
        (
            "color = \"depth\"",
            "color = \"width\"",
            "[[panel]] number 2: color: unknown name width. Available: vocab, depth",
        ),
        (
            "lines = [",
            "x_scale = \"logarithmic\"\nlines = [",
            "x_scale is \"logarithmic\", expected one of linear, log",
        ),
        ("{ x = 3 }", "{ z = 3 }", "lines: z: unknown key, expected one of x, y, label"),
        ("[[panel]]\ntitle", "[panel]\ntitle", "write [[panel]] with double brackets"),
    ] {
        let text = EXAMPLE.replacen(from, to, 1);
        assert_ne!(text, EXAMPLE, "{from}");
        // With one panel fewer, so that a table of the same name can stand alone.
        let text = if to.starts_with("[panel]") { text.split("\n[[panel]]").next().unwrap().to_owned() } else { text };
        let error = format!("{:#}", Experiment::parse(&text).unwrap_err());
        assert!(error.contains(expected) && !error.contains('\n'), "{to}: {error}");
    }
}

#[test]
fn a_claim_can_be_short() {
    let statement = "statement = \"It grows.\"\n";
    let short = EXAMPLE.replace(statement, "").replace("source = \"paper formula\"", "source = \"paper\"");
    let [long, short] = [EXAMPLE, &short].map(|text| Experiment::parse(text).unwrap().plan.claims[0].clone());
    assert_eq!((short.statement.as_str(), short.source), ("The claim v2.", long.source));
}

#[test]
fn numbers_of_tables_are_limited() {
    let panel = "[[panel]]\nx = \"samples\"\ny = \"normalized_loss\"\n";
    let error = Experiment::parse(&(EXAMPLE.to_owned() + &panel.repeat(100))).unwrap_err().to_string();
    assert_eq!(error, "102 [[panel]], expected at most 100");
}

#[test]
fn fits_in_files_of_the_program_are_about_their_columns() {
    for name in built_in::names() {
        let experiment = built_in::find(name).unwrap();
        assert!(!experiment.plan.fits.is_empty() && !experiment.plan.panels.is_empty(), "{name}");
        assert_eq!(experiment.title.is_some(), !experiment.plan.claims.is_empty(), "{name}: chapters have claims");
        assert!(experiment.plan.claims.iter().all(|claim| claim.reason.len() > 20), "{name}");
    }
}

#[test]
fn scales_have_any_name_and_one_is_meant() {
    let with = |grids: &str| {
        let grids: String = grids
            .split(' ')
            .map(|name| format!("[[{name}]]\nvocab = 4\ndepth = 2\nfraction = 0.5\nseed = 1\n"))
            .collect();
        Experiment::parse(&format!("measure = 'entropy'\n{grids}")).unwrap()
    };
    let error = |experiment: &Experiment, asked: Option<&str>| {
        let asked: Option<Scale> = asked.map(|name| name.parse().unwrap());
        experiment.scale(asked.as_ref()).unwrap_err().to_string()
    };
    let several = with("full my-laptop quick day");
    assert_eq!(several.scale_names(), ["quick", "day", "full", "my-laptop"]);
    assert_eq!(several.scale(None).unwrap(), Scale::QUICK);
    assert_eq!(several.scale(Some(&Scale::DAY)).unwrap(), Scale::DAY);
    assert_eq!(error(&several, Some("night")), "unknown scale night; the experiment has quick, day, full, my-laptop");
    assert_eq!(with("night").scale(None).unwrap().name(), "night");
    assert_eq!(error(&with("night day"), None), "--scale is missing: the experiment has the scales day, night");
    let one = with("grid");
    assert!(one.scale(None).is_ok() && one.cells(&Scale::FULL).unwrap().len() == 1);
    assert_eq!(error(&one, Some("quick")), "--scale has no effect here: the experiment has one scale, [[grid]]");
}
