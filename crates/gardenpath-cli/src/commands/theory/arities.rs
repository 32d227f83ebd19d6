//! Options for values by number of children, and their form in JSON.
//!
//! By default nodes have two or three children, and each value has a name: `binary_fraction`, `ternary_fraction`. With
//! `--arities` there is an object instead, keyed by number of children.

use anyhow::{Result, bail};
use clap::Args;
use gardenpath::{Arities, Children, PerArity};
use gardenpath_lab::by_arity::ByArity;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The distribution of the number of children.
#[derive(Args, Clone, Copy, Debug)]
pub struct Branching {
    /// Probability of each number of children, from 1 to 8 [default: 2:0.5,3:0.5]
    #[arg(long, value_name = "N:P,…", value_parser = by_arity, conflicts_with = "p_binary")]
    arities: Option<PerArity<Option<f64>>>,
    /// Probability that a node has two children, not three: short for --arities 2:P,3:1-P [default: 0.5]
    #[arg(long, value_name = "P")]
    p_binary: Option<f64>,
}

impl Branching {
    /// The probability of two children, unless `--arities` was given.
    pub fn p_binary(&self) -> Option<f64> {
        self.arities.is_none().then(|| self.p_binary.unwrap_or(0.5))
    }

    /// The value of `--arities`.
    pub fn by_arity(&self) -> Option<ByArity<f64>> {
        let given = self.arities?.nonzero().map(|(arity, p)| (arity, p.unwrap_or(0.0))).collect();
        ByArity::new(given).ok()
    }

    /// The probability of each number of children.
    pub fn probabilities(&self) -> Result<PerArity<f64>> {
        match self.p_binary() {
            Some(p) if !(0.0..=1.0).contains(&p) => bail!("p_binary must lie between 0 and 1, got {p}"),
            Some(p) => Ok(PerArity::paper(p)),
            None => Ok(self.arities.unwrap_or_default().map(|_, p| p.unwrap_or(0.0))),
        }
    }

    /// The probabilities in JSON: `p_binary` or `branching`.
    pub fn law(&self) -> Result<Map<String, Value>> {
        let law = match self.p_binary() {
            Some(p_binary) => json!({"p_binary": p_binary}),
            None => {
                let probabilities = self.probabilities()?;
                json!({"branching": object(probabilities.arities(), |arity| json!(probabilities[arity]))})
            }
        };
        Ok(fields(law))
    }

    /// Values in JSON: by name for pairs and triples, or an object for all numbers of children.
    pub fn named<T: Serialize>(
        &self,
        [binary, ternary]: [&str; 2],
        all: &str,
        values: PerArity<T>,
    ) -> Result<Map<String, Value>> {
        Ok(fields(match self.arities {
            None => json!({binary: values[2], ternary: values[3]}),
            Some(_) => json!({all: object(self.probabilities()?.arities(), |arity| json!(values[arity]))}),
        }))
    }
}

/// The fields of an object.
pub fn fields(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// An object keyed by number of children.
pub fn object(arities: Arities, value: impl Fn(usize) -> Value) -> Value {
    arities.iter().map(|arity| (arity.to_string(), value(arity))).collect::<Map<String, Value>>().into()
}

/// The adjective for nodes or splits with this many children.
pub fn adjective(arity: usize) -> String {
    match arity {
        1 => "unary".into(),
        2 => "binary".into(),
        3 => "ternary".into(),
        _ => format!("{arity}-ary"),
    }
}

/// The fraction for each number of children: the given one, or that of all others.
pub fn fractions(given: Option<PerArity<Option<f64>>>, others: f64) -> PerArity<f64> {
    let mut fractions = PerArity::all(others);
    for (arity, fraction) in given.iter().flat_map(PerArity::nonzero) {
        fractions[arity] = fraction.unwrap_or(others);
    }
    fractions
}

/// Parses values by number of children, such as 2:0.5,3:1/3.
pub fn by_arity(text: &str) -> Result<PerArity<Option<f64>>, String> {
    let given: ByArity<f64> = text.parse()?;
    Ok(given.iter().map(|(arity, value)| (arity, Some(value))).collect())
}

/// Parses numbers of children, such as 2,4, with or without values.
pub fn numbers_of_children(text: &str) -> Result<Arities, String> {
    if text.contains(':') {
        return Ok(by_arity(text)?.arities());
    }
    let number = |word: &str| {
        let arity = word.trim().parse().ok().filter(|arity| (1..=Children::MAX).contains(arity));
        arity.ok_or_else(|| format!("{word:?} is not a number of children, expected 1 to {}", Children::MAX))
    };
    text.split(',').map(number).collect()
}
