//! Group keys: a number, a string or a boolean.

use crate::draw::table::short;
use std::cmp::Ordering;
use std::fmt;

/// The value of a column, as groups and conditions compare it.
#[derive(Clone, Debug)]
pub enum Key {
    /// No value.
    Nothing,
    /// `true` or `false`.
    Truth(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

impl Key {
    /// The key of a TOML value.
    pub fn from_toml(value: &toml::Value) -> Option<Self> {
        match value {
            toml::Value::Integer(number) => Some(Key::Number(*number as f64)),
            toml::Value::Float(number) => Some(Key::Number(*number)),
            toml::Value::Boolean(truth) => Some(Key::Truth(*truth)),
            toml::Value::String(text) => Some(Key::Text(text.clone())),
            _ => None,
        }
    }

    /// The key of a result; `None` for lists and objects.
    pub fn from_json(value: &serde_json::Value) -> Option<Self> {
        match value {
            serde_json::Value::Null => Some(Key::Nothing),
            serde_json::Value::Bool(truth) => Some(Key::Truth(*truth)),
            serde_json::Value::Number(number) => number.as_f64().map(Key::Number),
            serde_json::Value::String(text) => Some(Key::Text(text.clone())),
            _ => None,
        }
    }

    /// The number, if the key is one.
    pub fn number(&self) -> Option<f64> {
        if let Key::Number(number) = self { Some(*number) } else { None }
    }

    /// The key as JSON; whole numbers become integers.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Key::Nothing => serde_json::Value::Null,
            Key::Truth(truth) => (*truth).into(),
            Key::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => (*number as i64).into(),
            Key::Number(number) => (*number).into(),
            Key::Text(text) => text.as_str().into(),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Key::Nothing => 0,
            Key::Truth(_) => 1,
            Key::Number(_) => 2,
            Key::Text(_) => 3,
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Key::Truth(one), Key::Truth(other)) => one.cmp(other),
            (Key::Number(one), Key::Number(other)) if one == other => Ordering::Equal,
            (Key::Number(one), Key::Number(other)) => one.total_cmp(other),
            (Key::Text(one), Key::Text(other)) => one.cmp(other),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Nothing => write!(f, "none"),
            Key::Truth(truth) => write!(f, "{truth}"),
            Key::Number(number) => write!(f, "{}", short(*number)),
            Key::Text(text) => write!(f, "{text}"),
        }
    }
}
