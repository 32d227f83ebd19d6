//! Expands a grid into all combinations of its values.

use super::expression::{FUNCTIONS, evaluate, names};
use super::nearest::{nearest, suggestion};
use crate::measure::Description;
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Map, Number, Value};
use toml::Table;

/// Maximum number of cells of a sweep: each is a file, and its parameters are held in memory.
pub const MAX_CELLS: usize = 100_000;

/// Maximum number of names in a grid: parameters, and variables of expressions.
const MAX_NAMES: usize = 100;

/// The parameters of all cells of a grid. Variables that only expressions use are left out.
pub fn expand(table: &Table, measure: &Description) -> Result<Vec<Map<String, Value>>> {
    let known = measure.parameter_names();
    if table.len() > MAX_NAMES {
        bail!("{} names, expected at most {MAX_NAMES}", table.len());
    }
    let entries: Vec<(&str, Entry)> = table
        .iter()
        .map(|(name, value)| {
            let entry = Entry::read(measure.is_text(name), value).with_context(|| name.clone())?;
            Ok((name.as_str(), entry))
        })
        .collect::<Result<_>>()?;
    check_size(&entries)?;
    let used = |name: &str| entries.iter().any(|(_, entry)| entry.uses().contains(&name));
    let unknown: Vec<&str> =
        entries.iter().map(|entry| entry.0).filter(|name| !known.contains(name) && !used(name)).collect();
    let mut cells = Vec::new();
    // A misspelled parameter explains why an expression does not know its name, or why another one is missing.
    let misspelt = unknown.iter().find(|name| nearest(name, known.iter().copied()).is_some());
    if misspelt.is_none() {
        combine(&entries, &mut Map::new(), &mut cells)?;
    }
    if let Some(name) = misspelt.or(unknown.first()) {
        let hint = match suggestion(name, known.iter().copied()) {
            hint if hint.is_empty() => format!(". Parameters: {}", known.join(", ")),
            hint => hint,
        };
        bail!("{name} is not a parameter of {}, and no expression uses it{hint}", measure.name);
    }
    for cell in &mut cells {
        cell.retain(|name, _| known.contains(&name.as_str()));
    }
    Ok(cells)
}

/// Refuses grids with too many cells before expanding them.
fn check_size(entries: &[(&str, Entry)]) -> Result<()> {
    let mut cells = 1usize;
    for (_, entry) in entries {
        cells = cells.saturating_mul(entry.len());
    }
    if cells <= MAX_CELLS {
        return Ok(());
    }
    let factors = entries.iter().filter(|(_, entry)| entry.len() > 1);
    let factors: Vec<String> = factors.map(|(name, entry)| format!("{} of {name}", entry.len())).collect();
    bail!("the grid has more than {MAX_CELLS} cells: {}", factors.join(" times "))
}

/// The values of one name.
enum Entry {
    Values(Vec<Value>),
    /// Expressions with one value each.
    Expressions(Vec<String>),
    /// Numbers in geometric progression.
    Geometric {
        from: String,
        to: String,
        points: usize,
    },
}

impl Entry {
    fn read(is_text: bool, value: &toml::Value) -> Result<Self> {
        match value {
            toml::Value::Table(table) => Self::geometric(table),
            toml::Value::Array(list) if list.is_empty() => bail!("expected at least one value"),
            toml::Value::Array(list) if list.iter().all(|item| literal(is_text, item).is_some()) => {
                Ok(Entry::Values(list.iter().filter_map(|item| literal(is_text, item)).collect()))
            }
            toml::Value::Array(list) => {
                let text = |item: &toml::Value| match item {
                    toml::Value::String(text) if text.contains("..") => {
                        bail!("the range {text:?} cannot be in a list: use several grids instead")
                    }
                    toml::Value::String(text) => Ok(expression(text)?),
                    toml::Value::Integer(_) | toml::Value::Float(_) => Ok(item.to_string()),
                    _ => bail!("expected numbers or expressions, found {item}"),
                };
                Ok(Entry::Expressions(list.iter().map(text).collect::<Result<_>>()?))
            }
            toml::Value::String(text) if !is_text => match text.split_once("..") {
                Some((first, last)) => range(first.trim(), last.trim()),
                None => Ok(Entry::Expressions(vec![expression(text)?])),
            },
            other => match literal(is_text, other) {
                Some(value) => Ok(Entry::Values(vec![value])),
                None => bail!("expected a number, an expression in quotes, or a list of them, found {other}"),
            },
        }
    }

    fn geometric(table: &Table) -> Result<Self> {
        let bound = |key: &str| match table.get(key) {
            Some(toml::Value::String(text)) => Ok(text.clone()),
            Some(value @ (toml::Value::Integer(_) | toml::Value::Float(_))) => Ok(value.to_string()),
            _ => bail!("{GEOMETRIC}"),
        };
        match table.get("points").and_then(toml::Value::as_integer) {
            Some(points) if points >= 2 && table.len() == 3 => {
                let points = usize::try_from(points).ok().filter(|&points| points <= MAX_CELLS);
                let points = points.with_context(|| format!("expected at most {MAX_CELLS} points"))?;
                Ok(Entry::Geometric { from: bound("from")?, to: bound("to")?, points })
            }
            _ => bail!("{GEOMETRIC}"),
        }
    }

    /// The number of values.
    fn len(&self) -> usize {
        match self {
            Entry::Values(values) => values.len(),
            Entry::Expressions(list) => list.len(),
            Entry::Geometric { points, .. } => *points,
        }
    }

    /// The names that must be evaluated first.
    fn uses(&self) -> Vec<&str> {
        match self {
            Entry::Values(_) => Vec::new(),
            Entry::Expressions(list) => list.iter().flat_map(|text| names(text)).collect(),
            Entry::Geometric { from, to, .. } => names(from).chain(names(to)).collect(),
        }
    }

    fn values(&self, cell: &Map<String, Value>) -> Result<Vec<Value>> {
        let number = |text: &str| evaluate(text, &|name| cell.get(name).and_then(Value::as_f64));
        match self {
            Entry::Values(values) => Ok(values.clone()),
            Entry::Expressions(list) => list.iter().map(|text| whole_if_possible(number(text)?)).collect(),
            Entry::Geometric { from, to, points } => {
                let (from, to) = (number(from)?, number(to)?);
                if !(from >= 1.0 && to > from) {
                    bail!("expected from at least 1 and to above it, found {from} and {to}");
                }
                let factor = |i: usize| (to / from).powf(i as f64 / (points - 1) as f64);
                (0..*points).map(|i| whole_if_possible((from * factor(i)).round())).collect()
            }
        }
    }
}

const GEOMETRIC: &str = "expected { from = 100, to = 1e5, points = 7 } with these three names and at least 2 points";

/// An expression, unless it looks like a mistyped range.
fn expression(text: &str) -> Result<String> {
    let is_whole = |part: &str| part.trim().parse::<u64>().is_ok();
    match text.split_once('-') {
        Some((first, last)) if is_whole(first) && is_whole(last) => {
            let (first, last) = (first.trim(), last.trim());
            bail!("{text:?} is a difference; write \"{first}..{last}\" for all whole numbers from {first} to {last}")
        }
        _ => Ok(text.to_owned()),
    }
}

/// A number, or a string where the parameter is one.
fn literal(is_text: bool, value: &toml::Value) -> Option<Value> {
    match value {
        toml::Value::Integer(number) => Some((*number).into()),
        toml::Value::Float(number) => whole_if_possible(*number).ok(),
        toml::Value::Boolean(truth) => Some((*truth).into()),
        toml::Value::String(text) if is_text => Some(text.as_str().into()),
        _ => None,
    }
}

/// All whole numbers from first to last.
fn range(first: &str, last: &str) -> Result<Entry> {
    match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last && last - first >= MAX_CELLS as u64 => {
            bail!("the range {first}..{last} has more than {MAX_CELLS} values")
        }
        (Ok(first), Ok(last)) if first <= last => Ok(Entry::Values((first..=last).map(Value::from).collect())),
        _ => bail!("expected a range of whole numbers such as \"1..10\", found {first}..{last}"),
    }
}

/// Converts to an integer if whole, since integer parameters accept nothing else.
fn whole_if_possible(number: f64) -> Result<Value> {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Ok((number as i64).into());
    }
    match Number::from_f64(number) {
        Some(number) => Ok(Value::Number(number)),
        None => bail!("expected a finite number, found {number}"),
    }
}

/// Assigns values to the first entry that can be evaluated, and recurses. Entries without dependencies come first and
/// in order, so the last of them varies fastest.
fn combine(
    entries: &[(&str, Entry)],
    cell: &mut Map<String, Value>,
    cells: &mut Vec<Map<String, Value>>,
) -> Result<()> {
    let open = || entries.iter().filter(|(name, _)| !cell.contains_key(*name));
    let is_number = |name: &&str| entries.iter().any(|(other, _)| other == name);
    let ready = |entry: &&(&str, Entry)| entry.1.uses().iter().all(|name| cell.contains_key(*name) || !is_number(name));
    let Some((name, entry)) = open().find(ready) else {
        return match open().next() {
            None => {
                cells.push(cell.clone());
                Ok(())
            }
            Some((name, _)) => bail!("{name}: cyclic expressions"),
        };
    };
    let strange = entry.uses().into_iter().find(|name| !is_number(name) && !FUNCTIONS.contains(name));
    let hint = || strange.map_or(String::new(), |name| suggestion(name, entries.iter().map(|entry| entry.0)));
    let values = entry.values(cell).map_err(|error| anyhow!("{name}: {error}{}", hint()))?;
    for value in values {
        cell.insert((*name).to_owned(), value);
        combine(entries, cell, cells)?;
    }
    cell.remove(*name);
    Ok(())
}
