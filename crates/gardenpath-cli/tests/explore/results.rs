//! Results of a store, next to what `sweep fit` and `sweep judge` say.

use crate::client::Explorer;
use crate::common::Lab;
use gardenpath_lab::experiment::built_in;
use serde_json::{Value, json};
use std::path::Path;

/// The results that are part of the repository.
fn recorded() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results").display().to_string()
}

#[test]
fn results_are_those_of_the_sweep() {
    let lab = Lab::new();
    let store = recorded();
    let explorer = Explorer::start(&lab, &format!("--store \"{store}\""));
    let results = explorer.get("/api/results").json();
    assert_eq!(results["store"], store);
    let experiments = results["experiments"].as_array().unwrap();
    assert_eq!(experiments.len(), built_in::ALL.len());
    let first = &experiments[0];
    assert!(first["scales"].as_array().unwrap().iter().any(|scale| scale["done"] != 0), "{first}");
    for scale in first["scales"].as_array().unwrap() {
        assert!(scale["done"].as_u64() <= scale["cells"].as_u64() && scale["cells"] != 0);
    }

    let day = explorer.get("/api/results/cnn?scale=day").json();
    let status = lab.json(&format!("sweep status cnn --scale day --store \"{store}\""));
    assert_eq!((&day["done"], &day["scale"], &day["problem"]), (&status["done"], &json!("day"), &Value::Null));
    assert!(day["svg"].as_str().unwrap().starts_with("<svg"));
    let judged = lab.json(&format!("sweep judge cnn --scale day --store \"{store}\""));
    let (claims, expected) = (day["claims"].as_array().unwrap(), judged["claims"].as_array().unwrap());
    assert!(!claims.is_empty() && claims.len() == expected.len());
    for (claim, expected) in claims.iter().zip(expected) {
        for field in ["id", "statement", "source", "estimate", "interval", "verdict", "because", "reason"] {
            assert_eq!(claim[field], expected[field], "{field}");
        }
    }
    let fits = lab.json_lines(&format!("sweep fit cnn --scale day --store \"{store}\""));
    let thresholds: Vec<&Value> = fits.iter().filter(|fit| fit["kind"] == "threshold").collect();
    assert_eq!(day["thresholds"].as_array().unwrap().len(), thresholds.len());
    for (found, expected) in day["thresholds"].as_array().unwrap().iter().zip(thresholds) {
        assert_eq!((&found["value"], &found["group"]), (&expected["value"], &expected["group"]));
    }
    assert!(!day["curves"].as_array().unwrap().is_empty());
    for family in day["curves"].as_array().unwrap() {
        assert_eq!((&family["x"], &family["y"]), (&json!("samples"), &json!("normalized_loss")));
        for curve in family["curves"].as_array().unwrap() {
            let points = curve["points"].as_array().unwrap();
            assert!(points.windows(2).all(|two| two[0]["x"].as_f64() < two[1]["x"].as_f64()) && !points.is_empty());
        }
    }
    // Without a scale, the one with most results.
    assert_eq!(explorer.get("/api/results/cnn").json()["scale"], "day");

    let line = explorer.get("/api/results/cnn?scale=huge").refusal(400);
    assert!(line.contains("there is no scale huge"), "{line}");
    explorer.get("/api/results/cnn?scale=%00").refusal(400);
    explorer.get("/api/results/..%2Fcnn").refusal(404);
}

#[test]
fn every_experiment_has_an_answer_before_it_has_results() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.path("empty/cells")).unwrap();
    let explorer = Explorer::start(&lab, "--store empty");
    for experiment in explorer.get("/api/results").json()["experiments"].as_array().unwrap() {
        let chapter = explorer.get(&format!("/api/results/{}", experiment["name"].as_str().unwrap()));
        assert_eq!(chapter.status, 200, "{}", chapter.text());
        assert!(chapter.json()["problem"].as_str().unwrap().contains("no results"));
    }
    let without = Explorer::start(&lab, "");
    assert_eq!(without.get("/api/results").json(), json!({"store": null, "experiments": []}));
    without.get("/api/results/cnn").refusal(404);
}
