//! Parameters of measures. One table for each measure declares them: what they are called, what values they take, what they mean
//! and what they are unless a cell says otherwise. All else follows from it.

use anyhow::{Result, anyhow, bail};
use serde::Serialize;
use serde_json::{Map, Value};

/// A parameter of a measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The values that it takes.
    #[serde(flatten)]
    pub kind: Kind,
    /// What it is unless a cell says otherwise.
    #[serde(flatten)]
    pub default: Default,
    /// What it means, in one line.
    pub meaning: &'static str,
}

/// The values that a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "choices", rename_all = "snake_case")]
pub enum Kind {
    /// 0, 1, 2, …
    Whole,
    /// Any number.
    Number,
    /// `true` or `false`.
    Truth,
    /// One of these texts.
    OneOf(Vec<String>),
}

/// What a parameter is unless a cell says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "need", content = "default", rename_all = "snake_case")]
pub enum Default {
    /// Every cell says what it is.
    Required,
    /// This value, which is part of the identity of a cell like any other.
    Fixed(Value),
    /// This value. The parameter is younger than stored results: it is part of the identity of a cell only if it has another value.
    Late(Value),
    /// What this text says. The parameter is part of the identity of a cell only if it has a value.
    Optional(&'static str),
}

impl Kind {
    /// What was expected instead of a value of another kind.
    pub fn expected(&self) -> String {
        match self {
            Kind::Whole => "a whole number".into(),
            Kind::Number => "a number".into(),
            Kind::Truth => "true or false".into(),
            Kind::OneOf(names) => match names.split_last() {
                Some((last, [])) => last.clone(),
                Some((last, others)) => format!("{} or {last}", others.join(", ")),
                None => "nothing".into(),
            },
        }
    }
}

impl Default {
    /// How people write it.
    pub fn shown(&self) -> String {
        match self {
            Default::Required => "required".into(),
            Default::Fixed(Value::String(text)) | Default::Late(Value::String(text)) => text.clone(),
            Default::Fixed(value) | Default::Late(value) => value.to_string(),
            Default::Optional(text) => (*text).into(),
        }
    }
}

/// A type of parameters.
pub trait Typed: Sized + PartialEq {
    /// The values that it takes.
    fn kind() -> Kind;

    /// Reads a value, if it is one of this kind.
    fn read(value: &Value) -> Option<Self>;

    /// Writes a value, `null` if there is none.
    fn write(&self) -> Value;

    /// The value of a parameter that is not given, if it need not be.
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

/// Types of parameters that are texts: those that clap knows, by the same names.
macro_rules! texts {
    ($($type:ty),* $(,)?) => {$(
        impl $crate::measure::parameter::Typed for $type {
            fn kind() -> $crate::measure::parameter::Kind {
                let names = <$type as clap::ValueEnum>::value_variants().iter().map($crate::measure::parameter::name_of);
                $crate::measure::parameter::Kind::OneOf(names.collect())
            }

            fn read(value: &serde_json::Value) -> Option<Self> {
                <$type as clap::ValueEnum>::from_str(value.as_str()?, false).ok()
            }

            fn write(&self) -> serde_json::Value {
                $crate::measure::parameter::name_of(self).into()
            }
        }
    )*};
}
pub(super) use texts;

/// The name of a choice.
pub fn name_of(choice: &impl clap::ValueEnum) -> String {
    choice.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The values of the parameters of a cell, from which they are taken one by one.
pub struct Values {
    measure: &'static str,
    table: Vec<Parameter>,
    values: Map<String, Value>,
}

impl Values {
    /// The values for a measure with these parameters.
    pub fn new(measure: &'static str, table: Vec<Parameter>, values: Map<String, Value>) -> Self {
        Values { measure, table, values }
    }

    /// Takes the value of a parameter, or the one that it has otherwise.
    pub fn take<T: Typed>(&mut self, name: &str, default: Option<T>) -> Result<T> {
        match self.values.remove(name) {
            Some(value) => {
                T::read(&value).ok_or_else(|| anyhow!("{name} is {value}, expected {}", T::kind().expected()))
            }
            None => default.or_else(T::absent).ok_or_else(|| {
                let needed = self.table.iter().filter(|parameter| parameter.default == Default::Required);
                let needed: Vec<&str> = needed.map(|parameter| parameter.name).collect();
                anyhow!("{name} is missing: measure {} needs {}", self.measure, needed.join(", "))
            }),
        }
    }

    /// Refuses what nobody has taken.
    pub fn finish(self) -> Result<()> {
        if let Some((name, _)) = self.values.iter().next() {
            let known: Vec<&str> = self.table.iter().map(|parameter| parameter.name).collect();
            bail!("{name} is no parameter of {}, expected one of {}", self.measure, known.join(", "));
        }
        Ok(())
    }
}

/// The parameters of a measure, or a part of them that several measures share.
pub trait Parameters: Sized {
    /// All of them.
    fn table() -> Vec<Parameter>;

    /// Takes their values.
    fn read(values: &mut Values) -> Result<Self>;

    /// Writes the values that are part of the identity of a cell.
    fn write(&self, values: &mut Map<String, Value>);
}

/// Declares a struct of parameters: first those that it shares with others, then its own, each with its meaning.
///
/// ```text
/// parameters! {
///     struct Example {
///         ..ensemble: Sampled;
///         samples: u64 => "A required one";
///         test: u64 = 20_000 => "One with a default, which is part of the identity of a cell";
///         zipf: f64, late 0.0 => "One that is younger than stored results: left out of the identity while it is 0";
///         layers: Option<usize>, or "the depth" => "One that may have no value: then it is what the text says";
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
                use $crate::measure::parameter::{Default, Parameter, Typed};
                let mut table: Vec<Parameter> = Vec::new();
                $(table.extend(<$shared>::table());)*
                $({
                    let default = Default::Required;
                    $(let default = { drop(default); let value: $type = $fixed; Default::Fixed(value.write()) };)?
                    $(let default = { drop(default); let value: $type = $late; Default::Late(value.write()) };)?
                    $(let default = { drop(default); Default::Optional($text) };)?
                    table.push(Parameter {
                        name: stringify!($field),
                        kind: <$type as Typed>::kind(),
                        default,
                        meaning: $meaning,
                    });
                })*
                table
            }

            fn read(values: &mut $crate::measure::parameter::Values) -> anyhow::Result<Self> {
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
                    let value = $crate::measure::parameter::Typed::write(&self.$field);
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
