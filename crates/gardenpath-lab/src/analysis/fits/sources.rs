//! The values per seed of exponents and ratios: from another fit, or from the cells.

use super::super::table::{constants, values};
use super::{Fitted, Found, key_of_group, rows_by_group, source};
use crate::experiment::key::Key;
use crate::experiment::plan::{self, Of};
use crate::experiment::quantity::Quantity;
use crate::table::{Row, Table};
use anyhow::Result;
use std::collections::BTreeMap;

/// Groups with one value per seed.
pub struct Cells<'t> {
    pub names: Vec<String>,
    all: Vec<Cell<'t>>,
}

/// One of these groups.
pub struct Cell<'t> {
    pub key: Vec<Key>,
    pub seeds: Vec<(u64, f64)>,
    /// The largest x that all of its curves reach.
    end: f64,
    pub rows: Vec<&'t Row>,
}

/// The values of a ratio's numerator and denominator, one per seed.
#[derive(Default)]
pub struct Pair {
    pub above: Vec<f64>,
    pub below: Vec<f64>,
    /// The largest x that all curves of the numerator reach.
    pub end: f64,
}

impl<'t> Cells<'t> {
    /// The groups of another fit, or the means of a quantity by the fit's groups and additional columns.
    pub fn of(
        of: &Of,
        fit: &plan::Fit,
        columns: &[&str],
        table: &'t Table,
        before: &[Fitted<'t>],
    ) -> Result<Cells<'t>> {
        match (source(of, before), of) {
            (Some(fitted), _) => Self::of_fit(fitted, fit),
            (None, Of::Quantity(quantity)) => {
                let mut groups = fit.groups.clone();
                for column in columns {
                    if !groups.iter().any(|group| group.text() == *column) {
                        groups.push(Quantity::new(column, &[column])?);
                    }
                }
                let mut all = Vec::new();
                for (key, rows) in rows_by_group(table, &fit.filter, &groups)? {
                    all.push(Cell { key, seeds: values(&rows, quantity)?, end: f64::INFINITY, rows });
                }
                Ok(Cells { names: groups.iter().map(|group| group.text().to_owned()).collect(), all })
            }
            (None, Of::Fit(_)) => unreachable!("a fit is a source"),
        }
    }

    fn of_fit(fitted: &Fitted<'t>, fit: &plan::Fit) -> Result<Cells<'t>> {
        let names = fitted.groups.clone();
        let cell = |found: &Found<'t>| Cell {
            key: found.key.clone(),
            seeds: found.seeds.clone(),
            end: found.end,
            rows: found.rows.clone(),
        };
        let key = |cell: &Cell, quantity: &Quantity| key_of_group(&names, &cell.key, quantity);
        let all = fit.filter.plain(fitted.found.iter().map(cell).collect(), key)?;
        let all = fit.filter.extremes(all, key)?;
        Ok(Cells { names, all })
    }

    /// Applies a fit to the cells of each group, where `groups` are the quantities in which cells agree.
    pub fn by(
        &self,
        groups: &[Quantity],
        of_group: impl Fn(Vec<Key>, Vec<&Cell<'t>>) -> Result<Found<'t>>,
    ) -> Result<Vec<Found<'t>>> {
        let mut split: BTreeMap<Vec<Key>, Vec<&Cell<'t>>> = BTreeMap::new();
        for cell in &self.all {
            let key = groups.iter().map(|group| key_of_group(&self.names, &cell.key, group));
            split.entry(key.collect::<Result<Vec<_>>>()?).or_default().push(cell);
        }
        split.into_iter().map(|(key, cells)| of_group(key, cells)).collect()
    }

    /// Pairs of values at two values of a column, for all cells that agree otherwise.
    pub fn pairs(&self, members: &[&Cell<'t>], column: &Quantity, above: &Key, below: &Key) -> Result<Vec<Pair>> {
        let mut split: BTreeMap<Vec<Key>, Pair> = BTreeMap::new();
        for cell in members {
            let here = key_of_group(&self.names, &cell.key, column)?;
            let others = self.names.iter().zip(&cell.key).filter(|(name, _)| *name != column.text());
            let others = others.map(|(_, key)| key.clone()).collect();
            let values = cell.seeds.iter().map(|(_, value)| *value);
            if here == *above {
                let pair = split.entry(others).or_default();
                pair.above.extend(values);
                pair.end = cell.end;
            } else if here == *below {
                split.entry(others).or_default().below.extend(values);
            }
        }
        Ok(split.into_values().collect())
    }

    /// The values of another quantity in the group of a cell, by seed.
    pub fn beside(&self, cell: &Cell<'t>, over: &Of, before: &[Fitted<'t>]) -> Result<BTreeMap<u64, f64>> {
        Ok(match (source(over, before), over) {
            (Some(fitted), _) => {
                let fits = |found: &&Found| {
                    let pairs = fitted.groups.iter().zip(&found.key);
                    pairs.into_iter().all(|(name, key)| {
                        self.names.iter().position(|own| own == name).is_none_or(|k| cell.key[k] == *key)
                    })
                };
                let found: Vec<&Found> = fitted.found.iter().filter(fits).collect();
                if found.len() > 1 {
                    anyhow::bail!("over: {} has several groups for each group here: use the same groups", fitted.name);
                }
                found.into_iter().flat_map(|found| found.seeds.iter().copied()).collect()
            }
            (None, Of::Quantity(quantity)) => constants(&cell.rows, quantity)?,
            (None, Of::Fit(_)) => unreachable!("a fit is a source"),
        })
    }

    /// The values of a cell paired with those of another quantity, by seed.
    pub fn matched(&self, cell: &Cell<'t>, over: &Of, before: &[Fitted<'t>]) -> Result<Vec<(u64, (f64, f64))>> {
        let below = self.beside(cell, over, before)?;
        let pair = |(seed, above): &(u64, f64)| Some((*seed, (*above, *below.get(seed)?)));
        Ok(cell.seeds.iter().filter_map(pair).collect())
    }
}
