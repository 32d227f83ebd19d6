//! Parameters of measures. Each measure declares a table of names, types, meanings and defaults; everything else
//! follows from it.

use super::kind::{Kind, Typed};
use anyhow::{Result, anyhow, bail};
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A parameter of a measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its type.
    #[serde(flatten)]
    pub kind: Kind,
    /// Its default.
    #[serde(flatten)]
    pub default: Default,
    /// What it means, in one line.
    pub meaning: Cow<'static, str>,
}

/// The default of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "need", content = "default", rename_all = "snake_case")]
pub enum Default {
    /// None: every cell must set it.
    Required,
    /// This value, which is part of a cell's identity like any other.
    Fixed(Value),
    /// This value. The parameter was added after results were stored, so it is part of a cell's identity only at other
    /// values.
    Late(Value),
    /// Described by this text. The parameter is part of a cell's identity only if it is set.
    Optional(Cow<'static, str>),
}

impl Default {
    /// The default as text.
    pub fn shown(&self) -> String {
        match self {
            Default::Required => "required".into(),
            Default::Fixed(Value::String(text)) | Default::Late(Value::String(text)) => text.clone(),
            Default::Fixed(value) | Default::Late(value) => value.to_string(),
            Default::Optional(text) => text.to_string(),
        }
    }
}

/// The parameter values of a cell, taken one by one.
pub struct Values<'m> {
    measure: &'m str,
    table: &'m [Parameter],
    values: Map<String, Value>,
}

impl<'m> Values<'m> {
    /// The values for a measure with these parameters.
    pub fn new(measure: &'m str, table: &'m [Parameter], values: Map<String, Value>) -> Self {
        Values { measure, table, values }
    }

    /// Takes the value of a parameter, or its default.
    pub fn take<T: Typed>(&mut self, name: &str, default: Option<T>) -> Result<T> {
        match self.values.remove(name) {
            Some(value) => T::read(&value).ok_or_else(|| wrong(name, &value, &T::expected())),
            None => default.or_else(T::absent).ok_or_else(|| self.missing(name)),
        }
    }

    /// Takes the value of a dynamically typed parameter; `None` if it is optional and not set.
    pub fn take_any(&mut self, parameter: &Parameter) -> Result<Option<Value>> {
        let Parameter { name, kind, default, .. } = parameter;
        match (self.values.remove(&**name), default) {
            (Some(value), _) => kind.read(&value).map(Some).ok_or_else(|| wrong(name, &value, &kind.expected())),
            (None, Default::Fixed(value) | Default::Late(value)) => Ok(Some(value.clone())),
            (None, Default::Optional(_)) => Ok(None),
            (None, Default::Required) => Err(self.missing(name)),
        }
    }

    fn missing(&self, name: &str) -> anyhow::Error {
        let needed = self.table.iter().filter(|parameter| parameter.default == Default::Required);
        let needed: Vec<&str> = needed.map(|parameter| &*parameter.name).collect();
        anyhow!("{name} is missing: measure {} needs {}", self.measure, needed.join(", "))
    }

    /// Fails if some value was not taken.
    pub fn finish(self) -> Result<()> {
        if let Some((name, _)) = self.values.iter().next() {
            let known: Vec<&str> = self.table.iter().map(|parameter| &*parameter.name).collect();
            bail!("{name} is not a parameter of {}, expected one of {}", self.measure, known.join(", "));
        }
        Ok(())
    }
}

fn wrong(name: &str, value: &Value, expected: &str) -> anyhow::Error {
    anyhow!("{name} is {value}, expected {expected}")
}

/// The parameters of a measure, or a part that several measures share.
pub trait Parameters: Sized {
    /// All parameters.
    fn table() -> Vec<Parameter>;

    /// Takes their values.
    fn read(values: &mut Values<'_>) -> Result<Self>;

    /// Writes the values that are part of the identity of a cell.
    fn write(&self, values: &mut Map<String, Value>);
}

/// Declares a struct of parameters: first shared ones, then its own, each with its meaning.
///
/// ```text
/// parameters! {
///     struct Example {
///         ..ensemble: Sampled;
///         samples: u64 => "Required";
///         test: u64 = 20_000 => "With a default, which is part of a cell's identity";
///         zipf: f64, late 0.0 => "Added after results were stored: part of the identity only if it is not 0";
///         layers: Option<usize>, or "the depth" => "Optional: the text describes the default";
///     }
/// }
/// ```
macro_rules! parameters {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $(..$group:ident : $shared:ty;)*
            $($field:ident : $type:ty $(= $fixed:expr)? $(, late $late:expr)? $(, or $text:literal)? => $meaning:literal;)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $name {
            $(pub(in $crate::measure) $group: $shared,)*
            $(pub(in $crate::measure) $field: $type,)*
        }

        impl $crate::measure::parameter::Parameters for $name {
            fn table() -> Vec<$crate::measure::parameter::Parameter> {
                #[allow(unused_imports)]
                use $crate::measure::kind::Typed;
                #[allow(unused_imports)]
                use $crate::measure::parameter::{Default, Parameter};
                let mut table: Vec<Parameter> = Vec::new();
                $(table.extend(<$shared>::table());)*
                $({
                    let default = Default::Required;
                    $(let default = { drop(default); let value: $type = $fixed; Default::Fixed(value.write()) };)?
                    $(let default = { drop(default); let value: $type = $late; Default::Late(value.write()) };)?
                    $(let default = { drop(default); Default::Optional($text.into()) };)?
                    table.push(Parameter {
                        name: stringify!($field).into(),
                        kind: <$type as Typed>::kind(),
                        default,
                        meaning: $meaning.into(),
                    });
                })*
                table
            }

            fn read(values: &mut $crate::measure::parameter::Values<'_>) -> anyhow::Result<Self> {
                Ok($name {
                    $($group: <$shared>::read(values)?,)*
                    $($field: {
                        let default: Option<$type> = None;
                        $(let default = default.or_else(|| Some($fixed));)?
                        $(let default = default.or_else(|| Some($late));)?
                        values.take(stringify!($field), default)?
                    },)*
                })
            }

            fn write(&self, values: &mut serde_json::Map<String, serde_json::Value>) {
                $(self.$group.write(values);)*
                $({
                    let value = $crate::measure::kind::Typed::write(&self.$field);
                    #[allow(unused_mut)]
                    let mut is_left_out = value.is_null();
                    $(is_left_out |= { let late: $type = $late; self.$field == late };)?
                    if !is_left_out {
                        values.insert(stringify!($field).into(), value);
                    }
                })*
            }
        }
    };
}
pub(super) use parameters;
