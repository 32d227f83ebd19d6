//! Access of fits and figures to the rows of a table.

use crate::experiment::key::Key;
use crate::experiment::quantity::Quantity;
use crate::fit::{Curve, average};
use crate::table::Row;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

impl Row {
    /// The seed of the cell.
    pub(super) fn seed(&self) -> u64 {
        self.parameters.get("seed").and_then(Value::as_u64).unwrap_or(0)
    }

    /// The value of a quantity as a group key.
    pub(super) fn key(&self, quantity: &Quantity) -> Result<Key> {
        if !quantity.is_column() {
            return Ok(Key::Number(self.number(quantity, &Means::default())?));
        }
        let value = self.value(quantity.text())?;
        Key::from_json(&value).with_context(|| format!("{} is {}, expected one value", quantity.text(), shown(&value)))
    }

    /// The number in a column; NaN if it is missing.
    fn column(&self, name: &str) -> Result<f64> {
        let value = self.value(name)?;
        let found = match &value {
            Value::Null => Some(f64::NAN),
            Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
            value => value.as_f64(),
        };
        found.with_context(|| format!("{name} is {}, expected numbers", shown(&value)))
    }

    /// The value of a quantity; NaN if something in it is missing.
    pub(super) fn number(&self, quantity: &Quantity, means: &Means) -> Result<f64> {
        let mut columns = BTreeMap::new();
        for name in quantity.columns() {
            columns.insert(name, self.column(name)?);
        }
        quantity.value(&|name| columns.get(name).copied().or_else(|| means.get(name)))
    }
}

/// A short description of a value.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text {text:?}"),
        Value::Array(_) => "a list of other values".into(),
        _ => "an object".into(),
    }
}

/// The means of columns over a group, for `mean(column)`.
#[derive(Clone, Debug, Default)]
pub(super) struct Means {
    values: BTreeMap<String, f64>,
}

impl Means {
    /// Computes the means that these quantities use.
    pub fn of(rows: &[&Row], quantities: &[&Quantity]) -> Result<Self> {
        let mut values = BTreeMap::new();
        for quantity in quantities {
            for name in quantity.columns().filter(|name| uses_mean(quantity, name)) {
                let mut all = Vec::new();
                let mut cells = BTreeSet::new();
                for row in rows {
                    // A value that is not a list is repeated in all rows of a cell, and counts once.
                    if row.is_list(name) || cells.insert(row.cell) {
                        all.extend(Some(row.column(name)?).filter(|value| !value.is_nan()));
                    }
                }
                values.insert(format!("mean({name})"), average(&all));
            }
        }
        Ok(Means { values })
    }

    fn get(&self, name: &str) -> Option<f64> {
        // A single row is its own group.
        self.values.get(name).copied().or_else(|| name.starts_with("mean(").then_some(f64::NAN))
    }
}

fn compact(quantity: &Quantity) -> String {
    quantity.text().split_whitespace().collect()
}

fn uses_mean(quantity: &Quantity, name: &str) -> bool {
    compact(quantity).contains(&format!("mean({name})"))
}

/// Splits rows by the values of some quantities.
pub(super) fn split<'t>(rows: Vec<&'t Row>, groups: &[Quantity]) -> Result<BTreeMap<Vec<Key>, Vec<&'t Row>>> {
    let mut split: BTreeMap<Vec<Key>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key = groups.iter().map(|group| row.key(group)).collect::<Result<Vec<_>>>()?;
        split.entry(key).or_default().push(row);
    }
    Ok(split)
}

/// Splits rows by seed.
fn by_seed<'t>(rows: &[&'t Row]) -> BTreeMap<u64, Vec<&'t Row>> {
    let mut seeds: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        seeds.entry(row.seed()).or_default().push(row);
    }
    seeds
}

/// The points of a group, by seed.
pub(super) fn points(rows: &[&Row], x: &Quantity, y: &Quantity) -> Result<BTreeMap<u64, Vec<(f64, f64)>>> {
    let means = Means::of(rows, &[x, y])?;
    let mut curves = BTreeMap::new();
    for (seed, rows) in by_seed(rows) {
        let mut owners: BTreeMap<u64, &Row> = BTreeMap::new();
        let (mut curve, mut seen) = (Vec::new(), BTreeSet::new());
        for row in rows {
            let (x, y) = (row.number(x, &means)?, row.number(y, &means)?);
            // Rows of a cell that differ only in other lists are one point; items of other lists have none.
            if !seen.insert((row.cell, x.to_bits(), y.to_bits())) || row.is_item() && (x.is_nan() || y.is_nan()) {
                continue;
            }
            if let Some(other) = owners.insert(x.to_bits(), row)
                && other.cell != row.cell
            {
                return Err(mixed(other, row));
            }
            curve.push((x, y));
        }
        curves.insert(seed, curve);
    }
    Ok(curves)
}

/// The curves of a group, by seed.
pub(super) fn curves(rows: &[&Row], x: &Quantity, y: &Quantity) -> Result<Vec<(u64, Curve)>> {
    Ok(points(rows, x, y)?.into_iter().map(|(seed, points)| (seed, Curve::new(points))).collect())
}

/// The value of each seed of a group, from its only cell; lists are averaged.
pub(super) fn values(rows: &[&Row], of: &Quantity) -> Result<Vec<(u64, f64)>> {
    let means = Means::of(rows, &[of])?;
    let mut values = Vec::new();
    for (seed, rows) in by_seed(rows) {
        if let Some(other) = rows.iter().find(|row| row.cell != rows[0].cell) {
            return Err(mixed(rows[0], other));
        }
        let mut known = Vec::new();
        for row in rows {
            known.extend(Some(row.number(of, &means)?).filter(|value| !value.is_nan()));
        }
        // Copies of a value that is not a list must not change the last digit of the mean.
        known.dedup();
        values.push((seed, average(&known)));
    }
    Ok(values)
}

/// The value of each seed of a group, which all its cells must share.
pub(super) fn constants(rows: &[&Row], of: &Quantity) -> Result<BTreeMap<u64, f64>> {
    let mut constants = BTreeMap::new();
    for (seed, rows) in by_seed(rows) {
        for row in rows {
            let value = row.number(of, &Means::default())?;
            if *constants.entry(seed).or_insert(value) != value {
                bail!("{} differs between cells of one seed and group, expected one value", of.text());
            }
        }
    }
    Ok(constants)
}

/// The error for two cells of one group with the same seed.
fn mixed(one: &Row, other: &Row) -> anyhow::Error {
    let names = one.parameters.keys().chain(other.parameters.keys());
    let mut differ: Vec<&str> =
        names.filter(|name| one.parameters.get(*name) != other.parameters.get(*name)).map(String::as_str).collect();
    differ.sort_unstable();
    differ.dedup();
    let names = differ.join(", ");
    anyhow::anyhow!(
        "cells that differ in {names} would be mixed: separate them with groups, color or marker, or select with where"
    )
}
