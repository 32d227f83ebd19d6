//! The file of a cell: one line of JSON with its result, its identity, and a checksum of everything after it.
//!
//! ```text
//! {"checksum":"…","identity":"…","parameters":{…},"result":{…}}
//! ```
//!
//! Files of version 0.1 have neither checksum nor identity; they must match the cell's parameters.

use crate::measure::Measure;
use crate::record::Record;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

const BEGINNING: &str = r#"{"checksum":""#;

/// The length of a checksum in hexadecimal digits.
const DIGITS: usize = 64;

#[derive(Serialize)]
struct Written<'a> {
    identity: &'a str,
    parameters: &'a Map<String, Value>,
    result: &'a Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(rename = "checksum")]
    _checksum: Option<String>,
    #[serde(rename = "identity")]
    _identity: Option<String>,
    parameters: Map<String, Value>,
    result: Map<String, Value>,
}

/// The bytes of the file of a cell.
pub fn to_bytes(cell: &Measure, result: &Map<String, Value>) -> serde_json::Result<Vec<u8>> {
    let written = Written { identity: &cell.identity(), parameters: &cell.parameters(), result };
    let text = serde_json::to_string(&written)?;
    let rest = format!("{}\n", &text[1..]);
    Ok(format!("{BEGINNING}{}\",{rest}", checksum(rest.as_bytes())).into_bytes())
}

/// Checks that the file is intact and belongs to the cell, or says what is wrong. Cheap: a file with a checksum is not
/// parsed.
pub fn check(cell: &Measure, bytes: &[u8]) -> Result<(), &'static str> {
    match bytes.strip_prefix(BEGINNING.as_bytes()) {
        Some(marked) => check_marked(cell, marked),
        None => old(cell, bytes).map(drop),
    }
}

/// The contents of the file of a cell, or what is wrong with it.
pub fn from_bytes(cell: &Measure, bytes: &[u8]) -> Result<Record, &'static str> {
    check(cell, bytes)?;
    let Stored { parameters, result, .. } = serde_json::from_slice(bytes).map_err(|_| DAMAGED)?;
    Ok(Record { parameters, result })
}

const DAMAGED: &str = "is damaged";
const FOREIGN: &str = "holds the result of another cell";

fn check_marked(cell: &Measure, marked: &[u8]) -> Result<(), &'static str> {
    let (found, rest) = marked.split_at_checked(DIGITS).ok_or(DAMAGED)?;
    let rest = rest.strip_prefix(b"\",").ok_or(DAMAGED)?;
    if checksum(rest).as_bytes() != found {
        return Err(DAMAGED);
    }
    if !rest.starts_with(format!(r#""identity":"{}","#, cell.identity()).as_bytes()) {
        return Err(FOREIGN);
    }
    Ok(())
}

/// A file of version 0.1.
fn old(cell: &Measure, bytes: &[u8]) -> Result<(), &'static str> {
    match serde_json::from_slice(bytes) {
        Ok(Stored { _checksum: None, _identity: None, parameters, result }) if !result.is_empty() => {
            if parameters == cell.parameters() { Ok(()) } else { Err(FOREIGN) }
        }
        _ => Err(DAMAGED),
    }
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cell(seed: u64) -> Measure {
        let values = json!({"vocab": 4, "depth": 2, "fraction": 0.5, "sentences": 10, "seed": seed});
        Measure::new("entropy", values.as_object().unwrap().clone()).unwrap()
    }

    fn result() -> Map<String, Value> {
        json!({"entropy": 0.1, "list": [1.0, null, "ä"]}).as_object().unwrap().clone()
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = to_bytes(&cell(1), &result()).unwrap();
        let record = from_bytes(&cell(1), &bytes).unwrap();
        assert_eq!((record.parameters, record.result), (cell(1).parameters(), result()));
        let value: Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["identity"], cell(1).identity());
        assert!(bytes.ends_with(b"}\n") && bytes.iter().filter(|&&byte| byte == b'\n').count() == 1);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let bytes = to_bytes(&cell(1), &result()).unwrap();
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                assert_eq!(check(&cell(1), &damaged), Err(DAMAGED), "byte {place}, bit {bit}");
            }
            assert_eq!(check(&cell(1), &bytes[..place]), Err(DAMAGED), "{place} bytes");
        }
        assert_eq!(check(&cell(1), &[bytes.as_slice(), b" "].concat()), Err(DAMAGED));
        assert_eq!(check(&cell(2), &bytes), Err(FOREIGN));
    }

    #[test]
    fn files_of_version_0_1_are_read() {
        let stored = |parameters: Value, result: Value| {
            serde_json::to_vec(&json!({"parameters": parameters, "result": result})).unwrap()
        };
        let bytes = stored(cell(1).parameters().into(), result().into());
        assert_eq!(from_bytes(&cell(1), &bytes).unwrap().result, result());
        assert_eq!(check(&cell(2), &bytes), Err(FOREIGN));
        assert!((0..bytes.len()).all(|end| check(&cell(1), &bytes[..end]) == Err(DAMAGED)));
        for wrong in ["", "{}", "null", "[]", "\0\0", "{\"parameters\":{},\"result\":{}}"] {
            assert_eq!(check(&cell(1), wrong.as_bytes()), Err(DAMAGED), "{wrong}");
        }
        assert_eq!(check(&cell(1), &stored(cell(1).parameters().into(), json!({}))), Err(DAMAGED));
    }
}
