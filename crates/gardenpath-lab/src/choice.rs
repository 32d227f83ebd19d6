//! Enums whose values have names, shared by the program, experiment files and Python.

/// An enum whose values have names.
///
/// ```
/// use gardenpath_lab::choice::Choice;
/// use gardenpath_lab::training::Device;
///
/// assert_eq!(Device::parse("gpu"), Some(Device::Gpu));
/// assert_eq!(Device::Gpu.name(), "gpu");
/// assert_eq!(Device::names(), ["cpu", "gpu"]);
/// ```
pub trait Choice: Copy + PartialEq + Send + Sync + 'static {
    /// All values with their names and one-line meanings.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The name of a value.
    fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(value, ..)| *value == self);
        found.map_or("", |(_, name, _)| name)
    }

    /// The value with this name.
    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own, _)| *own == name).map(|(value, ..)| *value)
    }

    /// All names.
    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|(_, name, _)| *name).collect()
    }
}

/// Declares an enum with named values. The doc comment of a variant is its meaning.
macro_rules! choices {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $type:ident {
            $($value:ident = $name:literal => $meaning:literal,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $type {
            $(#[doc = $meaning] $value,)+
        }

        impl $crate::choice::Choice for $type {
            const ALL: &'static [(Self, &'static str, &'static str)] = &[$(($type::$value, $name, $meaning)),+];
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::choice::Choice::name(*self))
            }
        }
    };
}
pub(crate) use choices;
