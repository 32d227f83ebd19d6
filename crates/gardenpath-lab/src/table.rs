//! Results as a table of typed columns, one row per cell.
//!
//! The columns are those that the measures declare: parameters, values implied by them, and results. Columns that a
//! measure does not have are `null` in its rows. Columns are Arrow arrays, which other programs can use without
//! conversion.

mod column;

pub use column::Column;

use crate::measure::Measure;
use crate::measure::kind::Kind;
use crate::nearest::unknown;
use anyhow::{Context, Result};
use arrow_array::RecordBatch;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The results of some cells.
///
/// ```
/// use gardenpath_lab::measure::Measure;
/// use gardenpath_lab::table::Table;
/// use serde_json::json;
///
/// let values = json!({"vocab": 4, "depth": 2, "fraction": 0.5, "sentences": 10, "seed": 1});
/// let cell = Measure::new("entropy", values.as_object().unwrap().clone())?;
/// let result = cell.run(&())?;
/// let table = Table::new(&[(&cell, result)])?;
/// assert_eq!(table.column("vocab")?.number(0), Some(4.0));
/// // Implied by the fraction.
/// assert_eq!(table.column("binary_rules")?.number(0), Some(2.0));
/// let error = table.column("entropie").unwrap_err().to_string();
/// assert!(error.starts_with("unknown name entropie; did you mean entropy? Available: ") && error.contains("binary_rules, "));
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Table {
    cells: usize,
    columns: Arc<Vec<Column>>,
    pub(crate) rows: Vec<Row>,
}

/// One cell, or one item of its lists: a cell with lists of twelve items has twelve rows, in which the lists are
/// numbers.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    columns: Arc<Vec<Column>>,
    /// The index of the cell.
    pub(crate) cell: usize,
    /// The index of the item, and the length of its list.
    item: Option<(usize, usize)>,
    /// The parameters of the cell as stored.
    pub(crate) parameters: Arc<Map<String, Value>>,
}

/// A column before its values are gathered.
#[derive(Default)]
struct Plan {
    kind: Option<Kind>,
    /// Whether some cell has it as a parameter.
    is_given: bool,
    /// Whether it is a result of some measure or cell.
    is_measured: bool,
    is_stored: bool,
}

impl Table {
    /// The table of cells with their results. Fails if a result does not have its declared type.
    pub fn new(results: &[(&Measure, Map<String, Value>)]) -> Result<Self> {
        Self::declaring(results, &[])
    }

    /// The same, with the columns of further cells that have no results yet.
    pub(crate) fn declaring(results: &[(&Measure, Map<String, Value>)], others: &[Measure]) -> Result<Self> {
        let parameters: Vec<Map<String, Value>> = results.iter().map(|(cell, _)| cell.parameters()).collect();
        let plans = plans(results, &parameters, others)?;
        let rows: Vec<Map<String, Value>> = results
            .iter()
            .zip(&parameters)
            .map(|((cell, result), parameters)| {
                // A result with the name of a parameter is its effective value.
                let mut row = cell.description().implied(parameters);
                row.extend(parameters.clone());
                row.extend(result.iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())));
                row
            })
            .collect();
        let mut columns = Vec::new();
        // A result with the name of a parameter is listed with the results, unless a cell has that parameter.
        let (inputs, outputs): (Vec<_>, Vec<_>) =
            plans.into_iter().partition(|(_, plan)| plan.is_given || !plan.is_measured);
        for (name, plan) in inputs.into_iter().chain(outputs) {
            let values: Vec<Option<&Value>> = rows.iter().map(|row| row.get(name)).collect();
            // The type of a result that is neither declared nor present is unknown.
            let kind = plan.kind.unwrap_or(Kind::Number);
            columns.push(Column::new(name, kind, plan.is_stored, &values)?);
        }
        let (cells, columns) = (parameters.len(), Arc::new(columns));
        let rows = parameters.into_iter().enumerate().flat_map(|(cell, parameters)| {
            let parameters = Arc::new(parameters);
            let row = |item| Row { columns: columns.clone(), cell, item, parameters: parameters.clone() };
            items(&columns, cell).into_iter().map(row).collect::<Vec<_>>()
        });
        Ok(Table { cells, rows: rows.collect(), columns })
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.cells
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// All columns: parameters, then results, each in alphabetical order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column with this name. The error lists the available names.
    pub fn column(&self, name: &str) -> Result<&Column> {
        find(&self.columns, name)
    }

    /// The columns that some cell has stored, without common defaults and empty columns.
    pub fn stored(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.is_stored())
    }

    /// The [stored](Self::stored) columns as an Arrow batch. Values are shared, not copied.
    pub fn batch(&self) -> Result<RecordBatch> {
        let columns = self.stored().map(|column| (column.name(), column.array().clone(), true));
        Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
    }
}

/// The items of a cell's lists, each with the length of its list; a single `None` if there are no lists.
fn items(columns: &[Column], cell: usize) -> Vec<Option<(usize, usize)>> {
    let mut lengths: Vec<usize> = columns.iter().filter_map(|column| column.items(cell)).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let all: Vec<_> = lengths.into_iter().flat_map(|len| (0..len).map(move |item| Some((item, len)))).collect();
    if all.is_empty() { vec![None] } else { all }
}

impl Row {
    /// The value of a column. For a list, the item of this row, or null if the list has another length.
    pub(crate) fn value(&self, name: &str) -> Result<Value> {
        let column = find(&self.columns, name)?;
        Ok(match (column.items(self.cell), self.item) {
            (None, _) => column.value(self.cell),
            (Some(len), Some((item, own))) if len == own => column.item(self.cell, item),
            _ => Value::Null,
        })
    }

    /// Whether a column has lists.
    pub(crate) fn is_list(&self, name: &str) -> bool {
        find(&self.columns, name).is_ok_and(|column| *column.kind() == Kind::Numbers)
    }

    /// Whether the row is an item of a cell's lists.
    pub(crate) fn is_item(&self) -> bool {
        self.item.is_some()
    }

    /// Whether the cell was computed rather than sampled: its measure has no seed.
    pub(crate) fn is_exact(&self) -> bool {
        !self.parameters.contains_key("seed")
    }
}

fn find<'c>(columns: &'c [Column], name: &str) -> Result<&'c Column> {
    columns.iter().find(|column| column.name() == name).ok_or_else(|| {
        let known: Vec<&str> = columns.iter().map(Column::name).collect();
        unknown(name, &known)
    })
}

/// All columns by name: those that measures declare, and those that cells have in addition.
fn plans<'r>(
    results: &'r [(&Measure, Map<String, Value>)],
    parameters: &'r [Map<String, Value>],
    others: &'r [Measure],
) -> Result<BTreeMap<&'r str, Plan>> {
    let mut plans: BTreeMap<&str, Plan> = BTreeMap::new();
    plans.entry("measure").or_default().join("measure", &Kind::Text)?;
    let mut seen: Vec<&str> = Vec::new();
    for cell in results.iter().map(|(cell, _)| *cell).chain(others) {
        let measure = cell.description();
        if seen.contains(&&*measure.name) {
            continue;
        }
        seen.push(&measure.name);
        for own in &measure.parameters {
            plans.entry(&own.name).or_default().join(&own.name, &own.kind)?;
        }
        for (name, kind) in measure.derived() {
            plans.entry(name).or_default().join(name, kind)?;
        }
        for own in &measure.results {
            let plan = plans.entry(&own.name).or_default();
            plan.is_measured = true;
            plan.join(&own.name, &own.kind)?;
        }
    }
    for ((cell, result), parameters) in results.iter().zip(parameters) {
        for name in parameters.keys() {
            let plan = plans.entry(name).or_default();
            (plan.is_given, plan.is_stored) = (true, true);
        }
        for (name, value) in result {
            let plan = plans.entry(name).or_default();
            (plan.is_measured, plan.is_stored) = (true, true);
            if cell.description().kind(name).is_none() && !value.is_null() {
                let kind = Kind::of(value);
                let kind = kind.with_context(|| format!("{name} is {value}, which cannot be a column"))?;
                plan.join(name, &kind)?;
            }
        }
    }
    Ok(plans)
}

impl Plan {
    fn join(&mut self, name: &str, kind: &Kind) -> Result<()> {
        let joined = match self.kind.take() {
            None => kind.clone(),
            Some(own) => {
                let differ = format!("{name} is {} in one cell and {} in another", own.expected(), kind.expected());
                own.join(kind.clone()).context(differ)?
            }
        };
        self.kind = Some(joined);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
