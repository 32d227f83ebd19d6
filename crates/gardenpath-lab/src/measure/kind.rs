//! The types of parameters and results.

use crate::message::listed;
use serde::Serialize;
use serde_json::Value;

/// The type of a parameter or result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "choices", rename_all = "snake_case")]
pub enum Kind {
    /// 0, 1, 2, …
    Whole,
    /// Any number.
    Number,
    /// `true` or `false`.
    Truth,
    /// Any string.
    Text,
    /// One of these strings.
    OneOf(Vec<String>),
    /// A list of numbers, some of which may be missing.
    Numbers,
}

impl Kind {
    /// Describes the expected value, for error messages.
    pub fn expected(&self) -> String {
        match self {
            Kind::Whole => "a whole number".into(),
            Kind::Number => "a number".into(),
            Kind::Truth => "true or false".into(),
            Kind::Text => "a string".into(),
            Kind::Numbers => "a list of numbers".into(),
            Kind::OneOf(names) => listed(names, "or"),
        }
    }

    /// Whether it is a string.
    pub fn is_text(&self) -> bool {
        matches!(self, Kind::Text | Kind::OneOf(_))
    }

    /// The value as it is stored: `Number` values are never stored as integers. `None` if it has another type.
    pub fn read(&self, value: &Value) -> Option<Value> {
        match self {
            Kind::Whole => u64::read(value).map(Value::from),
            Kind::Number => f64::read(value).map(Value::from),
            Kind::Truth => bool::read(value).map(Value::from),
            Kind::Text => value.as_str().map(Value::from),
            Kind::OneOf(names) => value.as_str().filter(|text| names.iter().any(|name| name == text)).map(Value::from),
            Kind::Numbers => Vec::<Option<f64>>::read(value).map(|list| list.write()),
        }
    }

    /// The narrowest kind of a value; `None` for `null`, objects and other lists, which cannot be columns.
    pub fn of(value: &Value) -> Option<Self> {
        [Kind::Truth, Kind::Whole, Kind::Number, Kind::Text, Kind::Numbers]
            .into_iter()
            .find(|kind| kind.read(value).is_some())
    }

    /// The narrowest kind that holds the values of both, if there is one. A number can be a list of one.
    pub fn join(self, other: Kind) -> Option<Kind> {
        let is_number = |kind: &Kind| matches!(kind, Kind::Whole | Kind::Number);
        match (self, other) {
            (one, other) if one == other => Some(one),
            (one, other) if one.is_text() && other.is_text() => Some(Kind::Text),
            (one, other) if is_number(&one) && is_number(&other) => Some(Kind::Number),
            (Kind::Numbers, other) | (other, Kind::Numbers) if is_number(&other) => Some(Kind::Numbers),
            _ => None,
        }
    }
}

/// A type of parameters or results.
pub trait Typed: Sized + PartialEq {
    /// Its kind.
    fn kind() -> Kind;

    /// Describes the expected value, for error messages.
    fn expected() -> String {
        Self::kind().expected()
    }

    /// Converts from JSON; `None` if the value has another type.
    fn read(value: &Value) -> Option<Self>;

    /// Converts to JSON; `null` if there is no value.
    fn write(&self) -> Value;

    /// The value of an omitted parameter, if it may be omitted.
    fn absent() -> Option<Self> {
        None
    }
}

impl Typed for u64 {
    fn kind() -> Kind {
        Kind::Whole
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_u64()
    }

    fn write(&self) -> Value {
        (*self).into()
    }
}

impl Typed for usize {
    fn kind() -> Kind {
        Kind::Whole
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_u64()?.try_into().ok()
    }

    fn write(&self) -> Value {
        (*self).into()
    }
}

impl Typed for f64 {
    fn kind() -> Kind {
        Kind::Number
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_f64()
    }

    fn write(&self) -> Value {
        (*self).into()
    }
}

impl Typed for bool {
    fn kind() -> Kind {
        Kind::Truth
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_bool()
    }

    fn write(&self) -> Value {
        (*self).into()
    }
}

impl<T: Typed> Typed for Option<T> {
    fn kind() -> Kind {
        T::kind()
    }

    fn expected() -> String {
        T::expected()
    }

    fn read(value: &Value) -> Option<Self> {
        T::read(value).map(Some)
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::write)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// Items of lists of numbers.
trait Item: Typed {
    /// The value of `null`, if it is allowed.
    fn missing() -> Option<Self> {
        None
    }
}

impl Item for u64 {}

impl Item for f64 {}

impl Item for Option<f64> {
    fn missing() -> Option<Self> {
        Some(None)
    }
}

impl<T: Item> Typed for Vec<T> {
    fn kind() -> Kind {
        Kind::Numbers
    }

    fn read(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(|item| if item.is_null() { T::missing() } else { T::read(item) }).collect()
    }

    fn write(&self) -> Value {
        self.iter().map(T::write).collect()
    }
}

/// Implements [`Typed`] for types that are strings.
macro_rules! texts {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::measure::kind::Typed for $type {
            fn kind() -> $crate::measure::kind::Kind {
                let names = <$type as $crate::choice::Choice>::names();
                $crate::measure::kind::Kind::OneOf(names.into_iter().map(str::to_owned).collect())
            }

            fn read(value: &serde_json::Value) -> Option<Self> {
                $crate::choice::Choice::parse(value.as_str()?)
            }

            fn write(&self) -> serde_json::Value {
                $crate::choice::Choice::name(*self).into()
            }
        }
    )*};
}
pub(super) use texts;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_have_the_narrowest_kind() {
        for (value, kind) in [
            (json!(true), Some(Kind::Truth)),
            (json!(3), Some(Kind::Whole)),
            (json!(-3), Some(Kind::Number)),
            (json!(3.0), Some(Kind::Number)),
            (json!("3"), Some(Kind::Text)),
            (json!([3, null, 0.5]), Some(Kind::Numbers)),
            (json!([]), Some(Kind::Numbers)),
            (json!([[3]]), None),
            (json!(["3"]), None),
            (json!({}), None),
            (json!(null), None),
        ] {
            assert_eq!(Kind::of(&value), kind, "{value}");
        }
        assert_eq!(Kind::Number.read(&json!(3)).unwrap().to_string(), "3.0");
        assert_eq!(Kind::Numbers.read(&json!([3, null])).unwrap().to_string(), "[3.0,null]");
        assert_eq!(Kind::OneOf(vec!["a".into()]).read(&json!("b")), None);
    }

    #[test]
    fn kinds_are_joined_where_one_holds_both() {
        let choice = || Kind::OneOf(vec!["a".into()]);
        assert_eq!(Kind::Whole.join(Kind::Number), Some(Kind::Number));
        assert_eq!(Kind::Whole.join(Kind::Numbers), Some(Kind::Numbers));
        assert_eq!(Kind::Numbers.join(Kind::Number), Some(Kind::Numbers));
        assert_eq!(choice().join(choice()), Some(choice()));
        assert_eq!(choice().join(Kind::Text), Some(Kind::Text));
        assert_eq!(Kind::Truth.join(Kind::Number), None);
        assert_eq!(Kind::Text.join(Kind::Numbers), None);
    }
}
