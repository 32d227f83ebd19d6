//! What is wrong with the parameters of a cell, in words for whoever wrote the experiment.

use crate::measure::{Measure, TEXTS};
use anyhow::{Error, anyhow};
use serde_json::{Map, Value};

/// A cell, or which of its values is wrong or missing.
pub fn cell(measure: &str, values: Map<String, Value>) -> Result<Measure, Error> {
    Measure::new(measure, values.clone())
        .map_err(|error| explain(measure, &values, &error.to_string()).unwrap_or(error))
}

fn explain(measure: &str, values: &Map<String, Value>, error: &str) -> Option<Error> {
    let (needed, smallest) = smallest(measure)?;
    if let Some(name) = missing(error) {
        return Some(anyhow!("{name} is missing: measure {measure} needs {}", needed.join(", ")));
    }
    values.iter().find_map(|(name, value)| {
        let mut one = smallest.clone();
        one.insert(name.clone(), value.clone());
        let error = Measure::new(measure, one).err()?.to_string();
        Some(anyhow!("{name} is {value}, expected {}", expected(&error, name, measure)?))
    })
}

/// The parameter that is missing, if that is what an error says.
fn missing(error: &str) -> Option<&str> {
    match error.strip_prefix("missing field ") {
        Some(rest) => rest.split('`').nth(1),
        None => error.strip_suffix(" has no value"),
    }
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
        if let Some(name) = missing(&error) {
            let value = if TEXTS.contains(&name) { "".into() } else { 1.into() };
            values.insert(name.to_owned(), value);
            needed.push(name.to_owned());
        } else {
            values.insert(needed.last()?.clone(), choices(&error).first()?.clone().into());
        }
    }
    None
}

/// The texts that a parameter may be, as an error names them.
fn choices(error: &str) -> Vec<String> {
    let Some((found, expected)) = error.split_once("expected ") else { return Vec::new() };
    let words: Vec<&str> = if found.starts_with("unknown variant") {
        expected.split('`').skip(1).step_by(2).collect()
    } else {
        expected.split(", ").flat_map(|part| part.split(" or ")).collect()
    };
    words.into_iter().map(str::to_owned).collect()
}

/// What a parameter should be, if an error says so.
fn expected(error: &str, name: &str, measure: &str) -> Option<String> {
    if TEXTS.contains(&name) {
        let (_, mut values) = smallest(measure)?;
        values.insert(name.to_owned(), "".into());
        let all = choices(&Measure::new(measure, values).err()?.to_string());
        let (last, others) = all.split_last()?;
        return Some(format!("{} or {last}", others.join(", ")));
    }
    match error.rsplit_once("expected ")?.1 {
        "f64" => Some("a number".to_owned()),
        "u64" | "usize" => Some("a whole number that is not negative".to_owned()),
        _ => None,
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
        assert!(error("depth", json!(2.5)).starts_with("depth is 2.5, expected a whole number"));
        assert!(error("seed", json!(-1)).starts_with("seed is -1, expected a whole number"));
        assert_eq!(error("fraction", json!("x")), "fraction is \"x\", expected a number");
        for value in [json!("cnnn"), json!(3)] {
            let expected = format!("model is {value}, expected cnn, inn or transformer");
            assert_eq!(error("model", value), expected);
        }
    }
}
