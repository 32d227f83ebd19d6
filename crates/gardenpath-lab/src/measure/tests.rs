//! Tests of all measures.

use super::parameter::Default;
use super::*;
use serde_json::json;

/// A small cell of each measure.
fn small(name: &str) -> Measure {
    let mut values = match name {
        "lengths" | "trees" => json!({"depth": 2}),
        _ => json!({"vocab": 4, "depth": 2, "fraction": 0.5, "seed": 1}),
    };
    let more = match name {
        "lengths" | "trees" => json!({}),
        "entropy" => json!({"fraction": 1.0, "sentences": 20}),
        "floor" => json!({"task": "next", "sentences": 20}),
        "learn" => json!({"mode": "paper", "samples": 500, "test": 100}),
        "purity" | "vectors" | "candidates" => json!({"samples": 500}),
        "topologies" | "inference" => json!({}),
        "snr" | "prediction" => json!({"first": 50, "last": 500, "points": 3}),
        _ => json!({"model": "cnn", "samples": 100, "width": 8, "test": 100, "max_steps": 50, "min_steps": 50}),
    };
    let (Value::Object(values), Value::Object(more)) = (&mut values, more) else { unreachable!() };
    values.extend(more);
    Measure::new(name, values.clone()).unwrap()
}

/// Measures of random grammars.
fn sampled() -> impl Iterator<Item = &'static str> {
    descriptions().filter(|measure| measure.parameter_names().contains(&"vocab")).map(|measure| &*measure.name)
}

fn changed(name: &str, values: Value) -> Result<Measure> {
    let mut all = small(name).cell.parameters();
    all.extend(values.as_object().unwrap().clone());
    all.retain(|_, value| !value.is_null());
    Measure::new(name, all)
}

fn refusal(name: &str, values: Value) -> String {
    changed(name, values).unwrap_err().to_string()
}

#[test]
fn the_parameters_of_a_cell_are_in_the_table() {
    for measure in descriptions() {
        let found = small(&measure.name).cell.parameters();
        let mut expected: Vec<&str> = Vec::new();
        for parameter in &measure.parameters {
            assert!(!parameter.meaning.is_empty() && parameter.meaning.len() < 100, "{}", parameter.name);
            let is_listed = matches!(parameter.default, Default::Required | Default::Fixed(_));
            if is_listed || parameter.name == "fraction" {
                expected.push(&*parameter.name);
            }
        }
        expected.sort_unstable();
        assert_eq!(found.keys().collect::<Vec<_>>(), expected, "{}", measure.name);
    }
    assert_eq!(TEXTS.iter().filter(|name| **name == "model").count(), 2, "of train and probe");
}

#[test]
fn results_are_those_that_are_declared() {
    for measure in descriptions() {
        let result = small(&measure.name).run(&()).unwrap();
        let mut names: Vec<&str> = measure.results.iter().map(|output| &*output.name).collect();
        names.sort_unstable();
        assert_eq!(result.keys().collect::<Vec<_>>(), names, "{}", measure.name);
        for output in &measure.results {
            let value = &result[&*output.name];
            assert!(value.is_null() || output.kind.read(value).is_some(), "{}: {value}", output.name);
            assert!(!output.meaning.is_empty() && output.meaning.len() < 100, "{}", output.name);
        }
    }
}

#[test]
fn what_a_cell_leaves_out_is_implied() {
    // A third of 6^2 pairs are 12 rules, two per symbol; of 6^3 triples 72, twelve per symbol.
    let told =
        json!({"measure": "snr", "vocab": 6, "depth": 2, "fraction": 1.0 / 3.0, "first": 1, "last": 2, "seed": 1});
    let implied = Measures::default().find("snr").unwrap().implied(told.as_object().unwrap());
    assert_eq!((&implied["binary_rules"], &implied["ternary_rules"]), (&json!(2), &json!(12)));
    assert_eq!((&implied["p_binary"], &implied["points"]), (&json!(0.5), &json!(12)));
    assert!(!implied.contains_key("vocab") && !implied.contains_key("binary_fraction"));
}

#[test]
fn parameters_at_their_defaults_do_not_change_the_identity() {
    let mut late = 0;
    for measure in descriptions() {
        let cell = small(&measure.name);
        for parameter in &measure.parameters {
            let name = &*parameter.name;
            match &parameter.default {
                Default::Fixed(value) => {
                    let told = changed(&measure.name, json!({name: value})).unwrap();
                    assert_eq!(told, changed(&measure.name, json!({name: null})).unwrap(), "{name}");
                    assert_eq!(told.parameters()[name], *value);
                }
                Default::Late(value) => {
                    late += 1;
                    assert_eq!(changed(&measure.name, json!({name: value})).unwrap().identity(), cell.identity());
                    let other = match value {
                        Value::Bool(truth) => (!truth).into(),
                        Value::Number(number) => (number.as_f64().unwrap() + 0.25).into(),
                        _ if name == "task" => Value::from("next"),
                        _ => Value::from("gpu"),
                    };
                    let mut values = json!({name: other});
                    if name == "task" {
                        values["model"] = "transformer".into();
                    }
                    let other = changed(&measure.name, values).unwrap();
                    assert_ne!(other.identity(), cell.identity(), "{name}");
                    assert!(other.parameters().contains_key(name));
                }
                Default::Required => {
                    let error = refusal(&measure.name, json!({name: null}));
                    assert!(
                        error.starts_with(&format!("{name} is missing: measure {} needs ", measure.name)),
                        "{error}"
                    );
                }
                Default::Optional(_) => {}
            }
        }
    }
    assert!(late >= 7 * 3 + 2 * 2, "{late}");
    // Optional parameters that restate the default.
    let transformer = json!({"model": "transformer", "width": 32});
    let mut told = transformer.clone();
    told.as_object_mut().unwrap().extend(
        json!({"heads": 16, "layers": 2, "mlp": 128, "optimizer": "adam", "learning_rate": 5e-4})
            .as_object()
            .unwrap()
            .clone(),
    );
    assert_eq!(changed("train", told.clone()).unwrap(), changed("train", transformer).unwrap());
    let masked = json!({"model": "transformer", "task": "masked"});
    let usual = json!({"model": "transformer", "task": "masked", "mask": 0.15});
    assert_eq!(changed("train", masked.clone()).unwrap(), changed("train", usual).unwrap());
    assert_eq!(refusal("train", json!({"mask": 0.2})), "mask has no effect here: it needs task masked");
    assert_eq!(refusal("train", json!({"task": "next"})), "task next needs model transformer: cnn only predicts roots");
    let mut cuda = masked;
    cuda["device"] = "cuda".into();
    assert!(refusal("train", cuda).starts_with("task masked needs device cpu or gpu"));
    told["heads"] = 8.into();
    assert_eq!(changed("train", told).unwrap().parameters()["heads"], 8);
    let told = json!({"normalization": "fan-in", "optimizer": "sgd", "learning_rate": 8});
    assert_eq!(changed("train", told).unwrap(), small("train"));
    let told = json!({"gamma_binary": 0.85, "gamma_ternary": 1.5, "alignment": "inner-product", "told_p_binary": 0.5});
    assert_eq!(changed("learn", told).unwrap(), small("learn"));
    let told = json!({"mode": "em", "starts": 3, "rounds": 50});
    assert_eq!(changed("learn", told).unwrap(), changed("learn", json!({"mode": "em"})).unwrap());
}

#[test]
fn grammars_of_any_arity_are_cells() {
    for name in sampled() {
        // Two spellings of the same values are one cell, and omitted values are not part of it.
        let values = |arities: &str, sizes: &str| json!({"arities": arities, "level_sizes": sizes, "vocab": 6, "depth": 2, "cover": true, "rules": "2:2", "fraction": 0.5});
        let cell = changed(name, values("3:3/4, 2:1/4", "4, 6,6")).unwrap();
        assert_eq!(cell, changed(name, values("2:0.25,3:0.75", "4,6,6")).unwrap(), "{name}");
        let parameters = cell.parameters();
        assert_eq!((&parameters["arities"], &parameters["level_sizes"]), (&json!("2:0.25,3:0.75"), &json!("4,6,6")));
        assert!(!["fractions", "classes", "p_binary"].iter().any(|name| parameters.contains_key(*name)));
        assert!(cell.run(&()).is_ok(), "{name}");

        let refused = |mut values: Value| {
            values["vocab"] = 6.into();
            values["depth"] = 2.into();
            refusal(name, values)
        };
        let message =
            "arities is \"9:1\", expected values for distinct numbers of children from 1 to 8, such as 2:0.5,3:0.5";
        assert_eq!(refused(json!({"arities": "9:1"})), message);
        assert_eq!(refused(json!({"arities": "2:0.5"})), "arities is 2:0.5, expected probabilities that sum to 1");
        assert_eq!(refused(json!({"arities": "2:1", "p_binary": 0.2})), "p_binary has no effect here: arities sets it");
        assert_eq!(refused(json!({"rules": "2"})).split_once(", such as").unwrap().1, " 2:4,3:16");
        assert!(refused(json!({"rules": "4:1"})).starts_with("rules has no effect on 4 children"));
        assert!(
            refused(json!({"rules": "2:1", "fraction": null}))
                .starts_with("fraction is missing, and no other parameter sets")
        );
        assert_eq!(refused(json!({"level_sizes": "6,6"})), "depth is 2, but level_sizes says 1");
        assert_eq!(refused(json!({"level_sizes": "6,6,7"})), "vocab is 6, but level_sizes says 7");
        assert_eq!(
            refused(json!({"level_sizes": 6})),
            "level_sizes is 6, expected comma-separated numbers of symbols, such as 4,8,16"
        );
        let apart = json!({"fraction": null, "binary_rules": 1, "ternary_rules": 2, "arities": "2:0.5,3:0.5"});
        assert!(refused(apart).starts_with("without arities, binary and ternary rules are given separately"));
    }
    let theory = |values: Value| {
        let told = json!({"measure": "entropy", "vocab": 6, "depth": 2, "fraction": 0.5, "seed": 1});
        let mut told = told.as_object().unwrap().clone();
        told.extend(values.as_object().unwrap().clone());
        Measures::default().find("entropy").unwrap().implied(&told).contains_key("limit_entropy")
    };
    assert!(theory(json!({})) && theory(json!({"arities": "2:1"})));
    assert!(!theory(json!({"arities": "4:1"})) && !theory(json!({"classes": 3})) && !theory(json!({"cover": true})));
}

#[test]
fn parameters_that_do_not_go_together_are_refused() {
    let counts = json!({"fraction": null, "binary_rules": 2, "ternary_rules": 3});
    for name in sampled() {
        let error = refusal(name, json!({"colour": 1}));
        assert!(
            error.starts_with(&format!("colour is not a parameter of {name}, expected one of vocab, depth")),
            "{error}"
        );
        assert_eq!(refusal(name, json!({"vocab": 2.5})), "vocab is 2.5, expected a whole number");
        assert_eq!(refusal(name, json!({"zipf": "much"})), "zipf is \"much\", expected a number");
        assert_eq!(refusal(name, json!({"non_overlapping": 1})), "non_overlapping is 1, expected true or false");
        assert!(refusal(name, json!({"fraction": null})).starts_with("fraction is missing"));
        assert!(refusal(name, json!({"binary_rules": 2, "ternary_rules": 3})).starts_with("expected either fraction"));
        assert!(refusal(name, json!({"fraction": null, "binary_rules": 2})).starts_with("expected either fraction"));
        let counted = changed(name, counts.clone()).unwrap().parameters();
        assert!(!counted.contains_key("fraction") && counted["binary_rules"] == 2, "{name}");
    }
    assert_eq!(refusal("train", json!({"model": "rnn"})), "model is \"rnn\", expected cnn, inn or transformer");
    for name in ["train", "probe"] {
        assert_eq!(refusal(name, json!({"heads": 16})), "heads has no effect here: it needs model transformer");
        assert!(refusal(name, json!({"optimizer": "adam"})).starts_with("learning_rate is missing"));
    }
    assert_eq!(refusal("floor", json!({"mask": 0.5})), "mask has no effect here: it needs task masked");
    assert_eq!(refusal("floor", json!({"noise": 0.5})), "noise has no effect here: it needs task noisy");
    assert_eq!(refusal("floor", json!({"task": "root", "by": "levels"})), "by levels needs task next");
    assert_eq!(refusal("learn", json!({"starts": 3})), "starts has no effect here: it needs mode em");
    assert_eq!(
        refusal("learn", json!({"mode": "em", "told_p_binary": 0.5})),
        "told_p_binary has no effect here: it needs mode exact or unlabelled or paper"
    );
}

#[test]
fn every_parameter_has_an_effect() {
    let run = |name: &str, values: Value| changed(name, values).unwrap().run(&()).unwrap();
    for name in sampled() {
        let own = small(name).run(&()).unwrap();
        let counts = json!({"fraction": null, "binary_rules": 1, "ternary_rules": 3});
        let fractions = json!({"fraction": null, "binary_fraction": 0.25, "ternary_fraction": 0.5});
        for values in [
            counts,
            fractions,
            json!({"p_binary": 0.25}),
            json!({"zipf": 1}),
            json!({"non_overlapping": true, "fraction": 0.25}),
            json!({"arities": "2:0.25,3:0.75"}),
            json!({"fractions": "2:0.25"}),
            json!({"rules": "3:3"}),
        ] {
            assert_ne!(run(name, values.clone()), own, "{name} {values}");
        }
    }
    let trained = |values: Value| run("train", values)["test_loss"].as_f64().unwrap();
    for (with, values) in [
        (
            json!({"samples": 2000, "width": 32}),
            vec![
                json!({"learning_rate": 1}),
                json!({"normalization": "width"}),
                json!({"optimizer": "adam", "learning_rate": 0.1}),
            ],
        ),
        (
            json!({"model": "transformer", "samples": 2000, "width": 16}),
            vec![
                json!({"layers": 1}),
                json!({"heads": 4}),
                json!({"mlp": 8}),
                json!({"optimizer": "sgd", "learning_rate": 0.1}),
            ],
        ),
    ] {
        let own = trained(with.clone());
        for value in values {
            let mut all = with.as_object().unwrap().clone();
            all.extend(value.as_object().unwrap().clone());
            assert_ne!(trained(all.into()), own, "{value}");
        }
    }
    let steps = |values: Value| run("train", values)["steps"].as_u64().unwrap();
    let patient =
        |patience: f64| steps(json!({"patience": patience, "min_steps": 1, "max_steps": 5000, "samples": 5000}));
    assert!(patient(1.1) < patient(3.0));
    for (task, value) in [("masked", json!({"mask": 0.5})), ("noisy", json!({"noise": 0.5}))] {
        let mut values = value.clone();
        values["task"] = task.into();
        assert_ne!(run("floor", values), run("floor", json!({"task": task})), "{value}");
    }
    let levels = run("floor", json!({"by": "levels"}));
    assert_eq!((&levels["at"], levels["loss_at"][2].as_f64()), (&json!([0, 1, 2]), levels["loss"].as_f64()));
    let unlabelled = run("learn", json!({"mode": "unlabelled", "samples": 2000}));
    assert!(unlabelled["accuracy"].is_null() && unlabelled["next_token_floor"].is_number());
    let learned = |values: Value| run("learn", values);
    for (with, values) in [
        (json!({}), vec![json!({"gamma_binary": 0.5}), json!({"gamma_ternary": 0.7})]),
        (json!({"mode": "em", "rounds": 3}), vec![json!({"starts": 20}), json!({"rounds": 1})]),
    ] {
        let own = learned(with.clone());
        for value in values {
            let mut all = with.as_object().unwrap().clone();
            all.extend(value.as_object().unwrap().clone());
            assert_ne!(learned(all.into()), own, "{value}");
        }
    }
    #[cfg(not(feature = "gpu"))]
    assert!(
        changed("train", json!({"device": "gpu"}))
            .unwrap()
            .run(&())
            .unwrap_err()
            .to_string()
            .contains("--features gpu")
    );
}

/// Frozen results: a cell's result must not change without a new version, since stored results would be wrong.
#[test]
fn results_belong_to_their_version() {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut changed_results = Vec::new();
    for (name, own, identity, columns, tolerance) in FROZEN {
        let cell = changed(name, serde_json::from_str(own).unwrap()).unwrap();
        let [one, many] = [1, 3].map(|threads| pool(threads).install(|| cell.run(&()).unwrap()));
        assert_eq!(one, many, "{name} {own}: the number of threads");
        if cell.identity() != *identity {
            changed_results.push(format!("{name} {own}: {}", cell.identity()));
        }
        for (column, expected) in *columns {
            let found = match &one[*column] {
                Value::Array(list) => list.iter().filter_map(Value::as_f64).collect(),
                value => vec![value.as_f64().unwrap()],
            };
            let is_same = found.len() == expected.len()
                && found.iter().zip(*expected).all(|(found, expected)| (found - expected).abs() <= *tolerance);
            if !is_same {
                changed_results.push(format!("{name} {own}: {column} {found:?}"));
            }
        }
    }
    assert!(changed_results.is_empty(), "{}", changed_results.join("\n"));
    // Every measure, mode and model.
    for measure in descriptions() {
        let mode = measure.parameters.iter().find(|own| ["mode", "model"].contains(&&*own.name));
        let choices = match mode.map(|own| &own.kind) {
            Some(kind::Kind::OneOf(names)) => names.iter().map(|name| format!("\"{name}\"")).collect(),
            _ => vec![String::new()],
        };
        for choice in choices {
            let is_frozen = |(name, own, ..): &Frozen| *name == measure.name && own.contains(&choice);
            assert!(FROZEN.iter().any(is_frozen), "{} {choice}", measure.name);
        }
    }
}

/// Measure, parameters besides those of the small cell, identity, columns with their values, and the tolerance across
/// processors.
type Frozen = (&'static str, &'static str, &'static str, &'static [(&'static str, &'static [f64])], f64);

const FROZEN: &[Frozen] = &[
    ("topologies", "{}", "98bff6fcb0205bdc9296cf0fe928074d", &[("share_v", &[0.3380591807279047])], 1e-9),
    ("inference", "{}", "be1d23405fb1c2db6fb060069c5f6778", &[("ternary_threshold", &[0.8024690111094698])], 1e-9),
    (
        "candidates",
        "{}",
        "ddca366b1471e6dfea4c5b9b29079bdb",
        &[("spurious_triple_norm", &[0.059400942795382654])],
        1e-9,
    ),
    (
        "prediction",
        "{}",
        "4d82aa5b8db78bc42cdbf7a11a69fdce",
        &[
            ("signal", &[0.021134793603456898]),
            ("noise", &[0.33980323010125607, 0.31447404137053264, 0.10671420495584538]),
        ],
        1e-12,
    ),
    (
        "lengths",
        "{}",
        "cbe90596b158aa1ce8c97ac716789100",
        &[("probability", &[0.125, 0.25, 0.1875, 0.1875, 0.1875, 0.0625])],
        1e-12,
    ),
    (
        "trees",
        "{}",
        "1de7efa90c0ddaa6ac65f1fee2a08fd8",
        &[("fraction_nodes", &[3.263034405833794]), ("critical_fraction", &[0.7548776662466927])],
        1e-9,
    ),
    ("entropy", "{}", "d761ff9400511aeb6524e10e59dcaddd", &[("entropy", &[0.5290328889286465])], 1e-12),
    ("floor", "{}", "19bd7669fb39b302d56486a0d7d52891", &[("loss", &[1.3495357697496615])], 1e-9),
    (
        "learn",
        r#"{"mode": "unlabelled"}"#,
        "6f310a5013be0439ef9382ccc036780f",
        &[("recall", &[0.6953125]), ("next_token_loss", &[1.4687190831126917])],
        1e-9,
    ),
    (
        "learn",
        r#"{"mode": "exact"}"#,
        "bdc30e328590c806977bc94d52b33e74",
        &[("accuracy", &[0.83]), ("recall", &[0.5859375]), ("precision", &[0.6114532019704433])],
        1e-12,
    ),
    (
        "learn",
        r#"{"mode": "paper"}"#,
        "a092734e4a1ec2c52cb657e760cefbb0",
        &[("accuracy", &[0.04]), ("recall", &[0.140625]), ("precision", &[0.22179487179487178])],
        1e-12,
    ),
    (
        "learn",
        r#"{"mode": "em"}"#,
        "e6461345fd06b6fc5e558bfaf69a136b",
        &[("accuracy", &[0.96]), ("recall", &[0.7890625]), ("precision", &[0.16864174289243167])],
        1e-12,
    ),
    ("purity", "{}", "0248c6e900687e83233c92831a2a6e9f", &[("binary", &[0.5]), ("ternary", &[0.46875])], 1e-12),
    (
        "snr",
        "{}",
        "b2b60ef3b11b34ab6ac8869ebe89d1a1",
        &[
            ("signal", &[0.021134793603456898]),
            ("noise", &[0.3329632358027859, 0.3578160534607712, 0.08890998667917656]),
        ],
        1e-12,
    ),
    (
        "train",
        r#"{"model": "cnn"}"#,
        "934dbfd26fe8a6b8090ea7f68ee1766b",
        &[("test_loss", &[1.3889660635126133]), ("bayes_loss", &[0.05950642552587727])],
        1e-3,
    ),
    (
        "train",
        r#"{"model": "inn"}"#,
        "f0e6d3700969f4fe5963ba312cb5baad",
        &[("test_loss", &[1.3918327975924123]), ("bayes_loss", &[0.05950642552587727])],
        1e-3,
    ),
    (
        "train",
        r#"{"model": "transformer", "width": 16}"#,
        "c8e8c43fc4fe317b0ba316cb47662543",
        &[("test_loss", &[1.423543332257034]), ("bayes_loss", &[0.05950642552587727])],
        1e-3,
    ),
    (
        "probe",
        r#"{"model": "cnn"}"#,
        "7f488ce9b573fe22c02e47ca56c8dcce",
        &[
            ("accuracy", &[0.328, 0.472, 0.281, 0.323, 0.2875, 0.2955]),
            ("sensitivity", &[1.0161533, 1.1229415, 0.9969484, 1.0865043, 0.9902927, 1.0717358]),
        ],
        0.02,
    ),
    (
        "probe",
        r#"{"model": "inn"}"#,
        "c9420d700824646ac34e9a727d8fb96c",
        &[("accuracy", &[0.322, 0.5875, 0.32, 0.325]), ("sensitivity", &[1.0125354, 1.1450083, 1.0149278, 1.1461721])],
        0.02,
    ),
    (
        "probe",
        r#"{"model": "transformer", "width": 16}"#,
        "3941066867110ac0bb7887e82c863c7b",
        &[("accuracy", &[0.3665, 0.5, 0.3875, 0.3845]), ("sensitivity", &[1.0144264, 1.0890575, 1.0457373, 0.9226014])],
        0.02,
    ),
    (
        "vectors",
        "{}",
        "8f5bc767d15d22e8a18e23c7e27c49ef",
        &[("pair_explained", &[0.9022461923188033]), ("corrected_nearest", &[0.25])],
        1e-9,
    ),
];
