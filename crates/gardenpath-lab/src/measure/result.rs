//! Results of measures. Each measure declares a struct of results, as [`parameters!`](super::parameter) does for
//! parameters.

use super::kind::Kind;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A result of a measure: a column in the table of its cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Output {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its type. It is `null` in cells without a value.
    #[serde(flatten)]
    pub kind: Kind,
    /// What it means, in one line.
    pub meaning: Cow<'static, str>,
}

/// The results of a measure.
pub trait Results {
    /// All results.
    fn table() -> Vec<Output>;

    /// The values as stored; numbers that are not finite are `null`.
    fn write(&self) -> Map<String, Value>;
}

/// Declares a struct of results, each with its meaning.
///
/// ```text
/// results! {
///     struct Example {
///         test_loss: f64 => "A number";
///         best_step: u64 => "A whole number";
///         ending: Option<Ending> => "One of the names of a choice, or nothing";
///         sizes: Vec<u64> => "A list of numbers";
///     }
/// }
/// ```
macro_rules! results {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $($field:ident : $type:ty => $meaning:literal;)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $name {
            $($field: $type,)*
        }

        impl $crate::measure::result::Results for $name {
            fn table() -> Vec<$crate::measure::result::Output> {
                vec![$($crate::measure::result::Output {
                    name: stringify!($field).into(),
                    kind: <$type as $crate::measure::kind::Typed>::kind(),
                    meaning: $meaning.into(),
                }),*]
            }

            fn write(&self) -> serde_json::Map<String, serde_json::Value> {
                let mut values = serde_json::Map::new();
                $(values.insert(stringify!($field).into(), $crate::measure::kind::Typed::write(&self.$field));)*
                values
            }
        }
    };
}
pub(super) use results;
