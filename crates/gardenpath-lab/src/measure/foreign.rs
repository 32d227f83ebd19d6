//! Measures implemented elsewhere, such as a user's own network.
//!
//! A cell of such a measure has the same sentences as a cell of `train` with the same parameters. The implementation
//! returns a test loss; the normalized loss and the Bayes floor are added here, so that all results are comparable.

use super::description::{Description, Origin};
use super::kind::Kind;
use super::parameter::{Default, Parameter, Parameters, Values};
use super::result::{Output, Results};
use super::sentences::{Sentences, Shared};
use super::train::TrainResult;
use super::{Cell, Keeper, Measure};
use crate::nearest::unknown;
use crate::training::Floor;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A measure implemented elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreign {
    /// Its name.
    pub name: String,
    /// The version of the code that results depend on. Raise it when that code changes.
    pub version: u32,
    /// What it measures, in one line.
    pub meaning: String,
    /// Its parameters, besides those of the ensemble, `samples`, `test` and `seed`.
    pub parameters: Vec<Parameter>,
    /// Its results, besides `test_loss` and those derived from it. If none are declared, any are accepted.
    pub results: Option<Vec<Output>>,
    /// Whether to add the Bayes loss and accuracy.
    pub floor: bool,
}

/// The result that every foreign measure must return.
const LOSS: &str = "test_loss";
const NORMALIZED: &str = "normalized_loss";
const FLOOR: [&str; 3] = ["bayes_loss", "bayes_accuracy", "bayes_normalized_loss"];

impl Foreign {
    pub(super) fn describe(self) -> Result<Description> {
        let Foreign { name, version, meaning, parameters, results, floor } = self;
        let is_open = results.is_none();
        let mut inputs = Shared::table();
        inputs.extend(parameters);
        // The columns shared with networks.
        let mut outputs = TrainResult::table();
        outputs.retain(|own| [LOSS, NORMALIZED].contains(&&*own.name) || floor && FLOOR.contains(&&*own.name));
        outputs.extend(results.unwrap_or_default());
        let names = inputs.iter().map(|own| &own.name).chain(outputs.iter().map(|own| &own.name));
        let mut seen = vec!["measure"];
        for own in std::iter::once(&*name).chain(names.map(|name| &**name)) {
            check_name(own)?;
            if seen.contains(&own) {
                bail!("measure {name}: the name {own} is taken");
            }
            seen.push(own);
        }
        for Parameter { name: own, kind, default, .. } in &mut inputs {
            if *kind == Kind::Numbers {
                bail!("measure {name}: parameter {own} is a list, expected one value");
            }
            if let Default::Fixed(value) | Default::Late(value) = default {
                let wrong = || format!("measure {name}: {own} is {value} by default, expected {}", kind.expected());
                *value = kind.read(value).with_context(wrong)?;
            }
        }
        let (name, meaning, origin) = (name.into(), meaning.into(), Origin::Foreign { floor, is_open });
        Ok(Description { name, meaning, version, parameters: inputs, results: outputs, origin })
    }
}

/// Refuses names that cannot be written in experiments.
fn check_name(name: &str) -> Result<()> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_letter) {
        bail!("{name:?}: expected a name of letters, digits and underscores, beginning with a letter");
    }
    Ok(())
}

/// A cell of a foreign measure.
#[derive(Debug)]
struct ForeignCell {
    description: Arc<Description>,
    parameters: Map<String, Value>,
}

/// Builds a cell from its parameters.
pub(super) fn read(description: &Arc<Description>, values: Map<String, Value>) -> Result<impl Cell + use<>> {
    let mut values = Values::new(&description.name, &description.parameters, values);
    let shared = Shared::read(&mut values)?;
    shared.sampled.check()?;
    let mut parameters = Map::new();
    shared.write(&mut parameters);
    for own in &description.parameters[Shared::table().len()..] {
        if let Some(value) = values.take_any(own)?
            && own.default != Default::Late(value.clone())
        {
            parameters.insert(own.name.to_string(), value);
        }
    }
    values.finish()?;
    Ok(ForeignCell { description: description.clone(), parameters })
}

impl Cell for ForeignCell {
    fn parameters(&self) -> Map<String, Value> {
        self.parameters.clone()
    }

    fn run(&self, _: &dyn Keeper) -> Result<Map<String, Value>> {
        bail!("measure {} is not built in: run it from Python", self.description.name)
    }

    /// Unknown. Once some cells are measured, the others are assumed to take as long.
    fn work(&self) -> f64 {
        1.0
    }

    fn variety(&self) -> String {
        self.description.name.to_string()
    }

    fn tiny(&self) -> Arc<dyn Cell> {
        Arc::new(ForeignCell { description: self.description.clone(), parameters: self.parameters.clone() })
    }

    fn is_on_gpu(&self) -> bool {
        false
    }
}

impl Measure {
    /// Adds to the result of a foreign cell what follows from its test loss: the normalized loss, and the Bayes floor
    /// if the measure has one.
    pub fn complete(&self, mut result: Map<String, Value>, sentences: &Sentences) -> Result<Map<String, Value>> {
        if let Origin::Foreign { floor, .. } = self.description.origin {
            let guessing = (sentences.grammar.classes() as f64).ln();
            let loss = result.get(LOSS).and_then(Value::as_f64);
            result.insert(NORMALIZED.into(), loss.map(|loss| loss / guessing).into());
            if floor {
                let Floor { loss, accuracy } = sentences.floor()?;
                for (name, value) in FLOOR.into_iter().zip([loss, accuracy, loss / guessing]) {
                    result.insert(name.into(), value.into());
                }
            }
        }
        self.checked(&result)
    }

    /// Checks a result that was measured elsewhere, as it will be stored. Undeclared results and wrong types are
    /// errors.
    pub(crate) fn checked(&self, result: &Map<String, Value>) -> Result<Map<String, Value>> {
        let Origin::Foreign { is_open, .. } = self.description.origin else { return Ok(result.clone()) };
        if result.get(LOSS).is_none_or(Value::is_null) {
            bail!("{LOSS} is missing in the results of {}", self.description.name);
        }
        let mut checked = Map::new();
        for (name, value) in result {
            let declared = self.description.results.iter().find(|own| own.name == name.as_str());
            let kind = match declared {
                Some(own) => Some(own.kind.clone()),
                None if self.description.parameters.iter().any(|own| own.name == name.as_str())
                    || name == "measure" =>
                {
                    bail!("{name} is a parameter of {}, expected another name for a result", self.description.name)
                }
                None if is_open => {
                    check_name(name)?;
                    Kind::of(value)
                }
                None => {
                    let known: Vec<&str> = self.description.results.iter().map(|own| &*own.name).collect();
                    return Err(unknown(name, &known)).context(format!("results of {}", self.description.name));
                }
            };
            let read = match (&kind, value) {
                (_, Value::Null) => Some(Value::Null),
                (Some(kind), value) => kind.read(value),
                (None, _) => None,
            };
            let expected =
                kind.map_or("a number, a string, a boolean or a list of numbers".into(), |kind| kind.expected());
            checked.insert(name.clone(), read.with_context(|| format!("{name} is {value}, expected {expected}"))?);
        }
        Ok(checked)
    }
}

#[cfg(test)]
mod tests;
