//! Conditions that select cells or groups.

use super::fields::Fields;
use super::key::Key;
use super::quantity::Quantity;
use anyhow::{Context, Result, bail};
use toml::{Table, Value};

/// `where = { depth = 2, vocab = { at_least = 8 }, model = ["cnn", "inn"], samples = "largest" }`: all conditions must
/// hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    conditions: Vec<(Quantity, Condition)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    /// One of these values.
    Among(Vec<Key>),
    /// A number in this closed range.
    Between(f64, f64),
    /// The largest number of a group.
    Largest,
    /// The smallest number of a group.
    Smallest,
}

impl Filter {
    /// Parses conditions on these names.
    pub fn read(table: Option<&Table>, known: &[&str]) -> Result<Self> {
        let mut conditions = Vec::new();
        for (name, value) in table.into_iter().flatten() {
            let place = || format!("where: {name}");
            let quantity = Quantity::new(name, known).context("where")?;
            conditions.push((quantity, Condition::read(value).with_context(place)?));
        }
        Ok(Filter { conditions })
    }

    /// The conjunction of both conditions.
    pub fn and(mut self, other: Filter) -> Filter {
        self.conditions.extend(other.conditions);
        self
    }

    /// The names that it uses.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.conditions.iter().flat_map(|(quantity, _)| quantity.columns())
    }

    /// The items that meet all conditions except `largest` and `smallest`, which [`Self::extremes`] applies to each
    /// group.
    pub fn plain<T>(&self, items: Vec<T>, key: impl Fn(&T, &Quantity) -> Result<Key>) -> Result<Vec<T>> {
        let mut kept = Vec::new();
        'items: for item in items {
            for (quantity, condition) in &self.conditions {
                let holds = match condition {
                    Condition::Among(keys) => keys.contains(&key(&item, quantity)?),
                    Condition::Between(low, high) => {
                        key(&item, quantity)?.number().is_some_and(|x| *low <= x && x <= *high)
                    }
                    Condition::Largest | Condition::Smallest => true,
                };
                if !holds {
                    continue 'items;
                }
            }
            kept.push(item);
        }
        Ok(kept)
    }

    /// The items of a group with the requested largest or smallest value.
    pub fn extremes<T>(&self, mut items: Vec<T>, key: impl Fn(&T, &Quantity) -> Result<Key>) -> Result<Vec<T>> {
        for (quantity, condition) in &self.conditions {
            let better: fn(f64, f64) -> f64 = match condition {
                Condition::Largest => f64::max,
                Condition::Smallest => f64::min,
                _ => continue,
            };
            let keys = items.iter().map(|item| key(item, quantity)).collect::<Result<Vec<_>>>()?;
            let best = keys.iter().filter_map(Key::number).reduce(better);
            if best.is_none() && !keys.is_empty() {
                bail!("where: {} has no numbers to choose the largest or smallest of", quantity.text());
            }
            let mut keys = keys.into_iter();
            items.retain(|_| keys.next().and_then(|key| key.number()) == best);
        }
        Ok(items)
    }
}

impl Condition {
    fn read(value: &Value) -> Result<Self> {
        match value {
            Value::String(word) if word == "largest" => Ok(Condition::Largest),
            Value::String(word) if word == "smallest" => Ok(Condition::Smallest),
            Value::Array(list) => match list.iter().map(Key::from_toml).collect::<Option<Vec<_>>>() {
                Some(keys) if !keys.is_empty() => Ok(Condition::Among(keys)),
                _ => bail!("expected a list of numbers or texts"),
            },
            Value::Table(table) => {
                let fields = Fields::new(table, &["at_least", "at_most"])?;
                let low = fields.number("at_least")?.unwrap_or(f64::NEG_INFINITY);
                let high = fields.number("at_most")?.unwrap_or(f64::INFINITY);
                Ok(Condition::Between(low, high))
            }
            value => match Key::from_toml(value) {
                Some(key) => Ok(Condition::Among(vec![key])),
                None => {
                    bail!("expected a value, a list, {{ at_least = 8 }}, \"largest\" or \"smallest\", found {value}")
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> Result<Vec<f64>> {
        let table: Table = toml::from_str(text).unwrap();
        let filter = Filter::read(Some(&table), &["v", "name"])?;
        let key = |item: &f64, quantity: &Quantity| match quantity.text() {
            "name" => Ok(Key::Text(if *item > 10.0 { "large" } else { "small" }.into())),
            _ => quantity.value(&|_| Some(*item)).map(Key::Number),
        };
        filter.extremes(filter.plain(vec![4.0, 8.0, 16.0, 32.0], key)?, key)
    }

    #[test]
    fn conditions_keep_what_meets_them() {
        for (text, expected) in [
            ("", &[4.0, 8.0, 16.0, 32.0][..]),
            ("v = 8", &[8.0]),
            ("v = [4, 32.0]", &[4.0, 32.0]),
            ("v = { at_least = 8, at_most = 16 }", &[8.0, 16.0]),
            ("name = 'large'", &[16.0, 32.0]),
            ("v = 'largest'", &[32.0]),
            ("v = 'smallest'\nname = 'large'", &[16.0]),
            ("'v / 2' = 8", &[16.0]),
            ("v = 5", &[]),
        ] {
            assert_eq!(kept(text).unwrap(), expected, "{text}");
        }
        for (text, expected) in [
            ("w = 8", "where: unknown name w; did you mean v? Available: v, name"),
            ("v = { least = 8 }", "where: v: least: unknown key, expected one of at_least, at_most"),
            ("name = 'largest'", "where: name has no numbers"),
            ("v = []", "where: v: expected a list of numbers or texts"),
            ("v = 2026-01-01", "where: v: expected a value"),
        ] {
            let error = format!("{:#}", kept(text).unwrap_err());
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
