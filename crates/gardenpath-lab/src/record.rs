//! A finished cell, as stored.

use serde_json::{Map, Value};

/// One finished cell with its parameters and result.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The parameters of the cell, including `measure`.
    pub parameters: Map<String, Value>,
    /// The result.
    pub result: Map<String, Value>,
}
