//! What is wrong with the parameters of a cell, in words for whoever wrote the experiment.

use crate::measure::{Measure, TEXTS};
use anyhow::{Error, anyhow};
use serde_json::{Map, Value};

/// A cell, or which of its values is wrong or missing.
pub fn cell(measure: &str, values: Map<String, Value>) -> Result<Measure, Error> {
    Measure::new(measure, values.clone()).map_err(|error| explain(measure, &values).unwrap_or(error))
}

fn explain(measure: &str, values: &Map<String, Value>) -> Option<Error> {
    let (needed, smallest) = smallest(measure)?;
    for (name, value) in values {
        let mut one = smallest.clone();
        one.insert(name.clone(), value.clone());
        if let Err(error) = Measure::new(measure, one) {
            return Some(anyhow!("{name} is {value}, expected {}", expected(&error.to_string(), name, measure)));
        }
    }
    let missing = needed.iter().find(|name| !values.contains_key(*name))?;
    Some(anyhow!("{missing} is missing: measure {measure} needs {}", needed.join(", ")))
}

/// The parameters that a measure needs, and a cell with no others.
fn smallest(measure: &str) -> Option<(Vec<String>, Map<String, Value>)> {
    let (mut needed, mut values) = (Vec::new(), Map::new());
    // Each round finds one more parameter, or a text that it may be.
    for _ in 0..100 {
        let error = match Measure::new(measure, values.clone()) {
            Ok(_) => return Some((needed, values)),
            Err(error) => error.to_string(),
        };
        if let Some(name) = error.strip_prefix("missing field ").and_then(|rest| rest.split('`').nth(1)) {
            let text = TEXTS.contains(&name);
            values.insert(name.to_owned(), if text { "".into() } else { 1.into() });
            needed.push(name.to_owned());
        } else {
            values.insert(needed.last()?.clone(), (*choices(&error).first()?).into());
        }
    }
    None
}

/// The texts that a parameter may be, as an error names them.
fn choices(error: &str) -> Vec<&str> {
    match error.split_once("expected ") {
        Some((found, expected)) if found.starts_with("unknown variant") => {
            expected.split('`').skip(1).step_by(2).collect()
        }
        _ => Vec::new(),
    }
}

/// What a parameter should be.
fn expected(error: &str, name: &str, measure: &str) -> String {
    if TEXTS.contains(&name) {
        let (_, mut values) = smallest(measure).unwrap_or_default();
        values.insert(name.to_owned(), "".into());
        let error = Measure::new(measure, values).map_or_else(|error| error.to_string(), |_| String::new());
        let quoted: Vec<String> = choices(&error).iter().map(|choice| format!("\"{choice}\"")).collect();
        return quoted.join(" or ");
    }
    match error.rsplit_once("expected ") {
        Some((_, "f64" | "f32")) => "a number".to_owned(),
        Some((_, kind)) if kind.starts_with(['u', 'i']) => "a whole number that is not negative".to_owned(),
        _ => "another value".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::NAMES;
    use serde_json::json;

    #[test]
    fn every_measure_says_what_it_needs() {
        for name in NAMES {
            let (needed, _) = smallest(name).unwrap();
            assert!(
                ["vocab", "depth", "seed"].iter().all(|known| needed.iter().any(|name| name == known)),
                "{needed:?}"
            );
            let error = cell(name, Map::new()).unwrap_err().to_string();
            assert!(error.contains(&format!(" is missing: measure {name} needs ")) && !error.contains('`'), "{error}");
        }
    }

    #[test]
    fn the_wrong_value_is_named() {
        let right =
            json!({"model": "cnn", "vocab": 4, "depth": 2, "fraction": 0.5, "samples": 9, "width": 8, "seed": 1});
        let error = |name: &str, value: Value| {
            let mut values = right.as_object().cloned().unwrap();
            values.insert(name.to_owned(), value);
            cell("train", values).unwrap_err().to_string()
        };
        assert!(cell("train", right.as_object().cloned().unwrap()).is_ok());
        let whole = "expected a whole number that is not negative";
        assert_eq!(error("depth", json!(2.5)), format!("depth is 2.5, {whole}"));
        assert_eq!(error("seed", json!(-1)), format!("seed is -1, {whole}"));
        assert_eq!(error("fraction", json!("x")), "fraction is \"x\", expected a number");
        for value in [json!("cnnn"), json!(3)] {
            let expected = format!("model is {value}, expected \"cnn\" or \"inn\" or \"transformer\"");
            assert_eq!(error("model", value), expected);
        }
    }
}
