//! User-defined measures: Python functions that experiments can use.

use crate::error::{OrValueError, value_error};
use gardenpath_lab::measure::kind::Kind;
use gardenpath_lab::measure::parameter::{Default, Parameter};
use gardenpath_lab::measure::{Foreign, Measures};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The measures registered in this process.
static REGISTERED: Mutex<Vec<Foreign>> = Mutex::new(Vec::new());

/// The measures available to experiments.
pub fn measures() -> PyResult<Measures> {
    let registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    registered.iter().try_fold(Measures::default(), |all, own| all.with(own.clone())).or_value_error()
}

/// Registers a measure, or a new version of it. Each of its own parameters has a name, a type and optionally a default
/// as JSON.
#[pyfunction]
pub fn _register(
    name: String,
    version: u32,
    meaning: String,
    parameters: Vec<(String, String, Option<String>)>,
) -> PyResult<()> {
    let parameter = |(name, kind, default): (String, String, Option<String>)| {
        let kind = match kind.as_str() {
            "int" => Kind::Whole,
            "float" => Kind::Number,
            "bool" => Kind::Truth,
            "str" => Kind::Text,
            _ => return Err(value_error(format!("{name} is of type {kind}, expected int, float, bool or str"))),
        };
        let default = match default {
            Some(text) => Default::Fixed(serde_json::from_str(&text).or_value_error()?),
            None => Default::Required,
        };
        Ok(Parameter { name: name.into(), kind, default, meaning: "".into() })
    };
    let parameters = parameters.into_iter().map(parameter).collect::<PyResult<_>>()?;
    let foreign = Foreign { name, version, meaning, parameters, results: None, floor: true };
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut all: Vec<Foreign> = registered.iter().filter(|own| own.name != foreign.name).cloned().collect();
    all.push(foreign);
    all.iter().try_fold(Measures::default(), |sum, own| sum.with(own.clone())).or_value_error()?;
    *registered = all;
    Ok(())
}
