//! Where a result comes from: what it cost, and which program measured it on which processor, and when.
//!
//! It is kept beside the result, which is the same wherever it is measured: one line of JSON. Stores of version 0.2.0 and before have
//! nothing but a number of seconds there, and may have nothing at all.

use crate::{date, process};
use serde::{Deserialize, Serialize};

/// Where a result comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The seconds that cores worked on it; on a GPU, and in records without a version, the seconds that passed.
    pub seconds: f64,
    /// The version of the program; none if it was 0.2.0 or older.
    pub version: Option<String>,
    /// The processor.
    pub processor: Option<String>,
    /// The day in UTC, such as `2026-11-17`.
    pub date: Option<String>,
}

impl Provenance {
    /// That of a result which this program measured just now.
    pub fn now(seconds: f64) -> Self {
        let mut day = date::now();
        day.truncate("2026-11-17".len());
        Provenance {
            seconds: (1000.0 * seconds).round() / 1000.0,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            processor: Some(process::processor().to_owned()),
            date: Some(day),
        }
    }

    /// Reads a record; none if it is damaged.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let only = |seconds| Provenance { seconds, version: None, processor: None, date: None };
        let read = serde_json::from_str(text).ok().or_else(|| text.trim_end().parse().ok().map(only));
        read.filter(|read| read.seconds.is_finite() && read.seconds >= 0.0)
    }

    /// The record as it is stored.
    pub(super) fn text(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back_and_old_ones_are_seconds() {
        let now = Provenance::now(1.23456);
        assert_eq!(now.seconds, 1.235);
        assert_eq!(now.version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
        assert!(now.processor.as_ref().is_some_and(|name| !name.is_empty()));
        assert_eq!(now.date.as_ref().map(String::len), Some(10));
        let text = now.text().unwrap();
        assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text}");
        assert_eq!(Provenance::parse(&text), Some(now));
        let old = Provenance::parse("2050.083").unwrap();
        assert_eq!((old.seconds, old.version, old.date), (2050.083, None, None));
        let some = Provenance::parse("{\"seconds\":3,\"processor\":\"Z80\"}").unwrap();
        assert_eq!((some.seconds, some.processor.as_deref()), (3.0, Some("Z80")));
        for wrong in ["", "inf", "-1", "NaN", "{}", "{\"seconds\":-1}", "{\"seconds\":null}", "[1]", "1 s"] {
            assert_eq!(Provenance::parse(wrong), None, "{wrong}");
        }
    }
}
