//! Options that are one of a few named values.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use gardenpath_lab::choice::Choice;

/// The parser of a choice, whose values and meanings help lists.
pub fn choice<T: Choice>() -> ValueParser {
    let values = T::ALL.iter().map(|(_, name, meaning)| PossibleValue::new(*name).help(*meaning));
    let parser = PossibleValuesParser::new(values.collect::<Vec<_>>());
    parser.map(|name| T::parse(&name).expect("clap lets only names of values pass")).into()
}
