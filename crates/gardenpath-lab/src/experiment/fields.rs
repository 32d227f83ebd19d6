//! The entries of a table of an experiment. Errors name the key.

use super::nearest::suggestion;
use anyhow::{Result, bail};
use toml::{Table, Value};

/// A table with a fixed set of keys.
pub struct Fields<'t> {
    table: &'t Table,
}

impl<'t> Fields<'t> {
    /// A table that may have only these keys.
    pub fn new(table: &'t Table, known: &[&str]) -> Result<Self> {
        if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
            bail!("{key}: unknown key, expected one of {}{}", known.join(", "), suggestion(key, known.iter().copied()));
        }
        Ok(Fields { table })
    }

    /// The value of a key, if present.
    pub fn get(&self, key: &str) -> Option<&'t Value> {
        self.table.get(key)
    }

    /// Whether a key is present.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// A string, if present.
    pub fn text(&self, key: &str) -> Result<Option<&'t str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => bail!("{key} is {other}, expected a string"),
        }
    }

    /// A required, non-empty string.
    pub fn required(&self, key: &str) -> Result<&'t str> {
        match self.text(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => bail!("{key} is empty"),
            None => bail!("{key} is missing"),
        }
    }

    /// A finite number, if present.
    pub fn number(&self, key: &str) -> Result<Option<f64>> {
        let number = match self.get(key) {
            None => return Ok(None),
            Some(Value::Integer(number)) => *number as f64,
            Some(Value::Float(number)) if number.is_finite() => *number,
            Some(other) => bail!("{key} is {other}, expected a number"),
        };
        Ok(Some(number))
    }

    /// One of several words with their meanings; the first if the key is absent.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T> {
        let Some(word) = self.text(key)? else { return Ok(choices[0].1) };
        match choices.iter().find(|(name, _)| *name == word) {
            Some((_, meaning)) => Ok(*meaning),
            None => {
                let names: Vec<&str> = choices.iter().map(|choice| choice.0).collect();
                bail!("{key} is {word:?}, expected one of {}", names.join(", "))
            }
        }
    }

    /// An expression or number, if present.
    pub fn expression(&self, key: &str) -> Result<Option<String>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Integer(_) | Value::Float(_)) => Ok(self.number(key)?.map(|number| number.to_string())),
            Some(other) => bail!("{key} is {other}, expected a number or an expression"),
        }
    }

    /// A list of strings; empty if absent.
    pub fn texts(&self, key: &str) -> Result<Vec<&'t str>> {
        let list = match self.get(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
            Some(_) => None,
        };
        match list {
            Some(list) => Ok(list),
            None => bail!("{key}: expected a list of names such as [\"vocab\", \"depth\"]"),
        }
    }

    /// A table, if present.
    pub fn table(&self, key: &str) -> Result<Option<&'t Table>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(table)),
            Some(_) => bail!("{key}: expected a table such as {{ depth = 2 }}"),
        }
    }
}
