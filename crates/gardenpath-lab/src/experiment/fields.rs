//! The entries of a table of an experiment, read one by one: whatever is wrong names its key.

use super::nearest::suggestion;
use anyhow::{Result, bail};
use toml::{Table, Value};

/// A table whose keys are known.
pub struct Fields<'t> {
    table: &'t Table,
}

impl<'t> Fields<'t> {
    /// A table that may have these keys.
    pub fn new(table: &'t Table, known: &[&str]) -> Result<Self> {
        if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
            bail!(
                "{key}: did not expect this here, only {}{}",
                known.join(", "),
                suggestion(key, known.iter().copied())
            );
        }
        Ok(Fields { table })
    }

    /// The value of a key, if it has one.
    pub fn get(&self, key: &str) -> Option<&'t Value> {
        self.table.get(key)
    }

    /// Whether there is a value.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// A text, if there is one.
    pub fn text(&self, key: &str) -> Result<Option<&'t str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => bail!("{key} is {other}, expected a text"),
        }
    }

    /// A text that must be there and says something.
    pub fn required(&self, key: &str) -> Result<&'t str> {
        match self.text(key)? {
            Some(text) if !text.trim().is_empty() => Ok(text),
            Some(_) => bail!("{key} is empty"),
            None => bail!("{key} is missing"),
        }
    }

    /// A finite number, if there is one.
    pub fn number(&self, key: &str) -> Result<Option<f64>> {
        let number = match self.get(key) {
            None => return Ok(None),
            Some(Value::Integer(number)) => *number as f64,
            Some(Value::Float(number)) if number.is_finite() => *number,
            Some(other) => bail!("{key} is {other}, expected a number"),
        };
        Ok(Some(number))
    }

    /// One of some words, with what each of them stands for; the first if none is there.
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

    /// An expression, which may also be a number.
    pub fn expression(&self, key: &str) -> Result<Option<String>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Integer(_) | Value::Float(_)) => Ok(self.number(key)?.map(|number| number.to_string())),
            Some(other) => bail!("{key} is {other}, expected a number or an expression"),
        }
    }

    /// A list of texts, empty if there is none.
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

    /// A table, if there is one.
    pub fn table(&self, key: &str) -> Result<Option<&'t Table>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(table)),
            Some(_) => bail!("{key}: expected a table such as {{ depth = 2 }}"),
        }
    }
}
