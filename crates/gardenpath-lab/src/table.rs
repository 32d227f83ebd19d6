//! Results as a table of typed columns: a row for each cell.
//!
//! The columns are those that the measures of the cells declare: parameters, what these imply, and results. What a measure does not have
//! is `null` in its rows. Columns are Arrow arrays, which other programs take as they are.

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
/// assert!(error.starts_with("there is no entropie; did you mean entropy? There are: ") && error.contains("binary_rules, "));
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Table {
    cells: usize,
    columns: Arc<Vec<Column>>,
    pub(crate) rows: Vec<Row>,
}

/// One cell, or one item of its lists: a cell whose lists have twelve items has twelve rows, in which they are numbers.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    columns: Arc<Vec<Column>>,
    /// The number of the cell.
    pub(crate) cell: usize,
    /// The number of the item, and how many the lists have to which it belongs.
    item: Option<(usize, usize)>,
    /// The parameters of the cell as they are stored.
    pub(crate) parameters: Arc<Map<String, Value>>,
}

/// What is known of a column before its values are gathered.
#[derive(Default)]
struct Plan {
    kind: Option<Kind>,
    /// Whether some cell has it among its parameters.
    is_given: bool,
    /// Whether it is a result, of some measure or some cell.
    is_measured: bool,
    is_stored: bool,
}

impl Table {
    /// The table of cells with their results. A result that is not what its measure declares is an error.
    pub fn new(results: &[(&Measure, Map<String, Value>)]) -> Result<Self> {
        let parameters: Vec<Map<String, Value>> = results.iter().map(|(cell, _)| cell.parameters()).collect();
        let plans = plans(results, &parameters)?;
        let rows: Vec<Map<String, Value>> = results
            .iter()
            .zip(&parameters)
            .map(|((cell, result), parameters)| {
                // A result with the name of a parameter is what became of it.
                let mut row = cell.description().implied(parameters);
                row.extend(parameters.clone());
                row.extend(result.iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())));
                row
            })
            .collect();
        let mut columns = Vec::new();
        // A result with the name of a parameter stands among the results, unless a cell has that parameter.
        let (inputs, outputs): (Vec<_>, Vec<_>) =
            plans.into_iter().partition(|(_, plan)| plan.is_given || !plan.is_measured);
        for (name, plan) in inputs.into_iter().chain(outputs) {
            let values: Vec<Option<&Value>> = rows.iter().map(|row| row.get(name)).collect();
            // Nothing is known of a result that nobody declares and no cell has.
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

    /// All columns: parameters, then results, each in the order of the alphabet.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of a name. If there is none, the error lists the names there are.
    pub fn column(&self, name: &str) -> Result<&Column> {
        find(&self.columns, name)
    }

    /// The columns that some cell has stored: without defaults that all of them have, and without what none of them has.
    pub fn stored(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.is_stored())
    }

    /// The [stored](Self::stored) columns for other programs. The values are shared, not copied.
    pub fn batch(&self) -> Result<RecordBatch> {
        let columns = self.stored().map(|column| (column.name(), column.array().clone(), true));
        Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
    }
}

/// The items of the lists of a cell: each with the length of its list. One of no list if there are none.
fn items(columns: &[Column], cell: usize) -> Vec<Option<(usize, usize)>> {
    let mut lengths: Vec<usize> = columns.iter().filter_map(|column| column.items(cell)).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let all: Vec<_> = lengths.into_iter().flat_map(|len| (0..len).map(move |item| Some((item, len)))).collect();
    if all.is_empty() { vec![None] } else { all }
}

impl Row {
    /// The value of a column: of a list the item of this row, and nothing if the list has another length.
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

    /// Whether it is one item of the lists of a cell.
    pub(crate) fn is_item(&self) -> bool {
        self.item.is_some()
    }

    /// Whether it was computed, not sampled: its measure has no seed.
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

/// All columns by name: what measures declare, and what cells have besides.
fn plans<'r>(
    results: &'r [(&Measure, Map<String, Value>)],
    parameters: &'r [Map<String, Value>],
) -> Result<BTreeMap<&'r str, Plan>> {
    let mut plans: BTreeMap<&str, Plan> = BTreeMap::new();
    plans.entry("measure").or_default().join("measure", &Kind::Text)?;
    let mut seen: Vec<&str> = Vec::new();
    for (cell, _) in results {
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
                let kind = kind.with_context(|| format!("{name} is {value}, which is no column of a table"))?;
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
