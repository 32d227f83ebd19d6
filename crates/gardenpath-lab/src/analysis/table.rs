//! Results as a table: a row for each cell, with all columns that follow from it.

use crate::experiment::key::Key;
use crate::experiment::quantity::Quantity;
use crate::fit::{Curve, average};
use crate::measure;
use crate::record::Records;
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The rows of some results.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub(super) rows: Vec<Row>,
}

/// The columns of one cell: its results, its parameters, and what these imply.
#[derive(Clone, Debug)]
pub(super) struct Row {
    values: Map<String, Value>,
    parameters: Map<String, Value>,
}

impl Table {
    /// The table of these results.
    pub fn new(records: &Records) -> Self {
        let row = |record: &crate::record::Record| {
            let mut values = measure::implied(&record.parameters);
            values.extend(record.parameters.clone());
            values.extend(record.result.clone());
            Row { values, parameters: record.parameters.clone() }
        };
        Table { rows: records.all.iter().map(row).collect() }
    }
}

impl Row {
    /// The seed of the cell.
    pub fn seed(&self) -> u64 {
        self.parameters.get("seed").and_then(Value::as_u64).unwrap_or(0)
    }

    /// The value of a quantity, as groups compare it.
    pub fn key(&self, quantity: &Quantity) -> Result<Key> {
        if quantity.is_column() {
            let value = self.values.get(quantity.text()).unwrap_or(&Value::Null);
            return Key::from_json(value).with_context(|| format!("{} is a list, expected one value", quantity.text()));
        }
        match self.numbers(quantity, &Means::default())?.as_slice() {
            [number] => Ok(Key::Number(*number)),
            _ => bail!("{} is a list, expected one value", quantity.text()),
        }
    }

    /// The values of a column; one, unless it is a list. What is missing is NaN.
    fn column(&self, name: &str) -> Result<Vec<f64>> {
        let number = |value: &Value| match value {
            Value::Null => Some(f64::NAN),
            Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
            value => value.as_f64(),
        };
        let value = self.values.get(name).unwrap_or(&Value::Null);
        let found = match value {
            Value::Array(list) => list.iter().map(number).collect::<Option<Vec<f64>>>(),
            value => number(value).map(|number| vec![number]),
        };
        found.with_context(|| format!("{name} is {}, expected numbers", shown(value)))
    }

    /// The values of a quantity: one, or as many as its lists have.
    pub fn numbers(&self, quantity: &Quantity, means: &Means) -> Result<Vec<f64>> {
        let mut columns = BTreeMap::new();
        for name in quantity.columns() {
            columns.insert(name, self.column(name)?);
        }
        let lists = columns.iter().filter(|(name, list)| list.len() != 1 && !means.is_only_mean(quantity, name));
        let mut length = None;
        for (name, list) in lists {
            if *length.get_or_insert(list.len()) != list.len() {
                bail!("{}: the lists have different lengths, {name} {}", quantity.text(), list.len());
            }
        }
        let value = |k: usize| {
            quantity.value(&|name| match columns.get(name) {
                Some(list) => list.get(if list.len() == 1 { 0 } else { k }).copied(),
                None => means.get(name),
            })
        };
        (0..length.unwrap_or(1)).map(value).collect()
    }
}

/// A value in a few words.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text {text:?}"),
        Value::Array(_) => "a list of something else".into(),
        _ => "an object".into(),
    }
}

/// The means of columns over a group, for `mean(column)`.
#[derive(Clone, Debug, Default)]
pub(super) struct Means {
    values: BTreeMap<String, f64>,
}

impl Means {
    /// Those that some quantities use.
    pub fn of(rows: &[&Row], quantities: &[&Quantity]) -> Result<Self> {
        let mut values = BTreeMap::new();
        for quantity in quantities {
            for name in quantity.columns().filter(|name| uses_mean(quantity, name)) {
                let mut all = Vec::new();
                for row in rows {
                    all.extend(row.column(name)?.into_iter().filter(|value| !value.is_nan()));
                }
                values.insert(format!("mean({name})"), average(&all));
            }
        }
        Ok(Means { values })
    }

    fn get(&self, name: &str) -> Option<f64> {
        // A single row is a group of its own.
        self.values.get(name).copied().or_else(|| name.starts_with("mean(").then_some(f64::NAN))
    }

    /// Whether a column occurs only as a mean, so that the length of its lists does not matter.
    fn is_only_mean(&self, quantity: &Quantity, name: &str) -> bool {
        let compact = compact(quantity);
        let count = |part: &str| compact.matches(part).count();
        let all = quantity.columns().filter(|other| *other == name).count();
        all > 0 && count(&format!("mean({name})")) == all
    }
}

fn compact(quantity: &Quantity) -> String {
    quantity.text().split_whitespace().collect()
}

fn uses_mean(quantity: &Quantity, name: &str) -> bool {
    compact(quantity).contains(&format!("mean({name})"))
}

/// Rows by the values of some quantities, in their order.
pub(super) fn split<'t>(rows: Vec<&'t Row>, groups: &[Quantity]) -> Result<BTreeMap<Vec<Key>, Vec<&'t Row>>> {
    let mut split: BTreeMap<Vec<Key>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key = groups.iter().map(|group| row.key(group)).collect::<Result<Vec<_>>>()?;
        split.entry(key).or_default().push(row);
    }
    Ok(split)
}

/// Rows by seed.
fn by_seed<'t>(rows: &[&'t Row]) -> BTreeMap<u64, Vec<&'t Row>> {
    let mut seeds: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        seeds.entry(row.seed()).or_default().push(row);
    }
    seeds
}

/// The points of each seed of a group.
pub(super) fn points(rows: &[&Row], x: &Quantity, y: &Quantity) -> Result<BTreeMap<u64, Vec<(f64, f64)>>> {
    let means = Means::of(rows, &[x, y])?;
    let mut curves = BTreeMap::new();
    for (seed, rows) in by_seed(rows) {
        let mut owners: BTreeMap<u64, &Row> = BTreeMap::new();
        let mut curve = Vec::new();
        for row in rows {
            let (xs, ys) = (row.numbers(x, &means)?, row.numbers(y, &means)?);
            if xs.len() != ys.len() && xs.len() != 1 && ys.len() != 1 {
                bail!("{} has {} values and {} has {}", x.text(), xs.len(), y.text(), ys.len());
            }
            for k in 0..xs.len().max(ys.len()) {
                let at = |list: &[f64]| list[if list.len() == 1 { 0 } else { k }];
                let (x, y) = (at(&xs), at(&ys));
                if let Some(other) = owners.insert(x.to_bits(), row)
                    && !std::ptr::eq(other, row)
                {
                    return Err(mixed(other, row));
                }
                curve.push((x, y));
            }
        }
        curves.insert(seed, curve);
    }
    Ok(curves)
}

/// The curve of each seed of a group.
pub(super) fn curves(rows: &[&Row], x: &Quantity, y: &Quantity) -> Result<Vec<(u64, Curve)>> {
    Ok(points(rows, x, y)?.into_iter().map(|(seed, points)| (seed, Curve::new(points))).collect())
}

/// The value of each seed of a group: that of its one cell, a list averaged.
pub(super) fn values(rows: &[&Row], of: &Quantity) -> Result<Vec<(u64, f64)>> {
    let means = Means::of(rows, &[of])?;
    let mut values = Vec::new();
    for (seed, rows) in by_seed(rows) {
        if let [one, other, ..] = rows.as_slice() {
            return Err(mixed(one, other));
        }
        for row in rows {
            let known: Vec<f64> = row.numbers(of, &means)?.into_iter().filter(|value| !value.is_nan()).collect();
            values.push((seed, average(&known)));
        }
    }
    Ok(values)
}

/// The value of each seed of a group, of whose cells all must have the same.
pub(super) fn constants(rows: &[&Row], of: &Quantity) -> Result<BTreeMap<u64, f64>> {
    let mut constants = BTreeMap::new();
    for (seed, rows) in by_seed(rows) {
        for row in rows {
            let [value] = row.numbers(of, &Means::default())?[..] else { bail!("{} is a list", of.text()) };
            if *constants.entry(seed).or_insert(value) != value {
                bail!("{} differs between cells of one seed and group, expected one value", of.text());
            }
        }
    }
    Ok(constants)
}

/// That two cells with the same seed would be taken for one.
fn mixed(one: &Row, other: &Row) -> anyhow::Error {
    let names = one.parameters.keys().chain(other.parameters.keys());
    let mut differ: Vec<&str> =
        names.filter(|name| one.parameters.get(*name) != other.parameters.get(*name)).map(String::as_str).collect();
    differ.sort_unstable();
    differ.dedup();
    let names = differ.join(", ");
    anyhow::anyhow!(
        "cells that differ in {names} would be mixed: tell them apart by groups, color or marker, or choose by where"
    )
}
