//! Options whose value is one of a few names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use gardenpath_lab::choice::Choice;

/// A clap parser for a [`Choice`]. The help lists the possible values with their meanings.
pub fn choice<T: Choice>() -> ValueParser {
    let values = T::ALL.iter().map(|(_, name, meaning)| PossibleValue::new(*name).help(*meaning));
    let parser = PossibleValuesParser::new(values.collect::<Vec<_>>());
    parser.map(|name| T::parse(&name).expect("clap accepts only the listed names")).into()
}
