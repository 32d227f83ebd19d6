//! Quantities: a column of the results, or an expression of columns.

use super::expression::{FUNCTIONS, MEAN, names, value};
pub use crate::nearest::unknown;
use anyhow::{Result, anyhow, bail};

/// A column, or an expression of columns such as `samples / vocab^2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity {
    text: String,
}

impl Quantity {
    /// Parses an expression of these names, for a value of a single cell or group. The error for an unknown name lists
    /// the known ones.
    pub fn new(text: &str, known: &[&str]) -> Result<Self> {
        let quantity = Self::in_group(text, known)?;
        if names(&quantity.text).any(|name| name == MEAN) {
            bail!("{text}: mean(…) needs a group of cells, which is not available here");
        }
        Ok(quantity)
    }

    /// Parses an expression that may also use means over a group, `mean(column)`.
    pub fn in_group(text: &str, known: &[&str]) -> Result<Self> {
        let quantity = Quantity { text: text.trim().to_owned() };
        if quantity.text.is_empty() {
            bail!("expected the name of a column or an expression");
        }
        value(&quantity.text, &|_| Some(1.0)).map_err(|error| anyhow!("{text}: {error}"))?;
        // A known name, such as a group by an expression, is not taken apart.
        let is_known = |name: &&str| known.contains(name) || known.contains(&quantity.text.as_str());
        if let Some(name) = quantity.columns().find(|name| !is_known(name)) {
            return Err(unknown(name, known));
        }
        Ok(quantity)
    }

    /// The expression as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names in it.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        names(&self.text).filter(|name| !FUNCTIONS.contains(name) && *name != MEAN)
    }

    /// Whether it is a single column.
    pub fn is_column(&self) -> bool {
        self.columns().next() == Some(&self.text)
    }

    /// Its value; `name` looks up columns. Not finite if the arithmetic is not.
    pub fn value(&self, name: &dyn Fn(&str) -> Option<f64>) -> Result<f64> {
        value(&self.text, name).map_err(|error| anyhow!("{}: {error}", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_must_be_known() {
        let known = ["samples", "vocab", "signal"];
        let columns =
            |text: &str| Quantity::in_group(text, &known).unwrap().columns().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(columns("samples / vocab^2 + mean(signal) + max(1, 2)"), ["samples", "vocab", "signal"]);
        assert!(Quantity::new("vocab", &known).unwrap().is_column());
        assert!(
            !Quantity::new("vocab^2", &known).unwrap().is_column() && !Quantity::new("2", &known).unwrap().is_column()
        );
        for (text, expected) in [
            ("sample", "unknown name sample; did you mean samples? Available: samples, vocab, signal"),
            ("colour", "unknown name colour. Available: samples, vocab, signal"),
            ("mean(loss)", "unknown name loss. Available"),
            ("2 * mean( vocab )", "2 * mean( vocab ): mean(…) needs a group of cells"),
            ("vocab +", "vocab +: expected a number or a name"),
            ("", "expected the name of a column"),
        ] {
            let error = Quantity::new(text, &known).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }

    #[test]
    fn values_need_not_be_finite() {
        let quantity = Quantity::new("1 / vocab", &["vocab"]).unwrap();
        assert_eq!(quantity.value(&|_| Some(0.0)).unwrap(), f64::INFINITY);
    }
}
