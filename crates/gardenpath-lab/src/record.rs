//! A finished cell, as a store keeps it.

use serde_json::{Map, Value};

/// One finished cell: what was asked, and what came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The parameters of the cell, `measure` among them.
    pub parameters: Map<String, Value>,
    /// What was measured.
    pub result: Map<String, Value>,
}
