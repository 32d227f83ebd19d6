//! Values by number of children, as users write them: `2:0.5,3:0.5`.

use gardenpath::Children;
use std::fmt;
use std::str::FromStr;

/// Values for some numbers of children, in increasing order of arity.
///
/// ```
/// use gardenpath_lab::by_arity::ByArity;
///
/// let arities: ByArity<f64> = "3:2/3, 2:1/3".parse()?;
/// assert_eq!(arities.get(2), Some(1.0 / 3.0));
/// let rules: ByArity<usize> = "2:4,4:64".parse()?;
/// assert_eq!(rules.to_string(), "2:4,4:64");
/// assert!("2:4,2:5".parse::<ByArity<usize>>().is_err() && "9:1".parse::<ByArity<usize>>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ByArity<T>(Vec<(usize, T)>);

/// A value after the colon.
pub trait Entry: Copy {
    /// An example of two values, for error messages.
    const EXAMPLE: &'static str;

    /// Parses a value.
    fn parse(text: &str) -> Option<Self>;
}

impl Entry for usize {
    const EXAMPLE: &'static str = "2:4,3:16";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl Entry for f64 {
    const EXAMPLE: &'static str = "2:0.5,3:0.5";

    fn parse(text: &str) -> Option<Self> {
        ratio(text)
    }
}

/// Parses a number or a ratio such as 1/8.
pub fn ratio(text: &str) -> Option<f64> {
    match text.split_once('/') {
        Some((part, whole)) => Some(part.parse::<f64>().ok()? / whole.parse::<f64>().ok()?),
        None => text.parse().ok(),
    }
}

impl<T: Copy> ByArity<T> {
    /// One value per number of children. Numbers of children that are out of range or occur twice are errors.
    pub fn new(mut values: Vec<(usize, T)>) -> Result<Self, String> {
        values.sort_by_key(|(arity, _)| *arity);
        if let Some((arity, _)) = values.iter().find(|(arity, _)| !(1..=Children::MAX).contains(arity)) {
            return Err(format!("a rule has 1 to {} children, not {arity}", Children::MAX));
        }
        if let Some(twice) = values.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("two values for {} children", twice[0].0));
        }
        Ok(ByArity(values))
    }

    /// Values for two and for three children.
    pub fn pair(binary: T, ternary: T) -> Self {
        ByArity(vec![(2, binary), (3, ternary)])
    }

    /// The numbers of children and their values.
    pub fn iter(&self) -> impl Iterator<Item = (usize, T)> + '_ {
        self.0.iter().copied()
    }

    /// The value for a number of children.
    pub fn get(&self, arity: usize) -> Option<T> {
        self.iter().find(|(own, _)| *own == arity).map(|(_, value)| value)
    }

    /// Applies `map` to the values.
    pub fn map<U>(&self, map: impl Fn(T) -> U) -> ByArity<U> {
        ByArity(self.iter().map(|(arity, value)| (arity, map(value))).collect())
    }
}

impl<T: Entry> FromStr for ByArity<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected values by number of children, such as {}", T::EXAMPLE);
        let entry = |part: &str| {
            let (arity, value) = part.split_once(':')?;
            Some((arity.trim().parse().ok()?, T::parse(value.trim())?))
        };
        ByArity::new(text.split(',').map(entry).collect::<Option<_>>().ok_or_else(expected)?)
    }
}

impl<T: Copy + fmt::Display> fmt::Display for ByArity<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.iter().map(|(arity, value)| format!("{arity}:{value}")).collect();
        f.write_str(&parts.join(","))
    }
}

/// The adjective for rules with this many children.
pub fn adjective(arity: usize) -> String {
    match arity {
        1 => "unary".into(),
        2 => "binary".into(),
        3 => "ternary".into(),
        _ => format!("{arity}-ary"),
    }
}

/// The name of their right-hand sides.
pub fn tuples(arity: usize) -> String {
    match arity {
        1 => "symbols".into(),
        2 => "pairs".into(),
        3 => "triples".into(),
        _ => format!("{arity}-tuples"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_written() {
        let read = |text: &str| text.parse::<ByArity<f64>>();
        assert_eq!(read(" 4 : 1/4 ,2:.75").unwrap().to_string(), "2:0.75,4:0.25");
        assert_eq!(read("0:1").unwrap_err(), "a rule has 1 to 8 children, not 0");
        assert_eq!(read("9:1").unwrap_err(), "a rule has 1 to 8 children, not 9");
        assert_eq!(read("3:0.5,2:0.1,3:0.4").unwrap_err(), "two values for 3 children");
        for text in ["", "2", "2:", ":1", "2:x", "2:0.5,", "-2:1", "2:1/x", "2=1"] {
            assert!(read(text).unwrap_err().ends_with("such as 2:0.5,3:0.5"), "{text}");
        }
        assert!("2:1.5".parse::<ByArity<usize>>().unwrap_err().ends_with("such as 2:4,3:16"));
    }
}
