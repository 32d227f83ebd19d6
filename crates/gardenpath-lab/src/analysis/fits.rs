//! The fits of an experiment.

mod sources;

use super::table::{curves, split, values};
use crate::experiment::filter::Filter;
use crate::experiment::key::Key;
use crate::experiment::plan::{self, Kind, Of, Over};
use crate::experiment::quantity::Quantity;
use crate::fit::{self, Curve, Estimate, Group};
use crate::measure::Measure;
use crate::table::{Row, Table};
use anyhow::{Context, Result};
use serde_json::{Map, Value};
use sources::Cells;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct Fitted<'t> {
    /// Its name.
    pub name: String,
    /// The names of its groups.
    pub groups: Vec<String>,
    /// The result for each group, ordered by key.
    pub found: Vec<Found<'t>>,
}

/// The result of a fit for one group.
#[derive(Clone, Debug)]
pub struct Found<'t> {
    /// The values that identify the group.
    pub key: Vec<Key>,
    /// The estimate with its interval.
    pub estimate: Estimate,
    /// One value per seed; empty if there is one estimate for all seeds.
    pub seeds: Vec<(u64, f64)>,
    /// The deviation of the groups from the fitted and from the predicted law, in units of seed noise.
    pub misfits: [Option<f64>; 2],
    /// The largest x that all curves of a threshold reach; infinite for other fits.
    end: f64,
    rows: Vec<&'t Row>,
}

impl Fitted<'_> {
    /// The values that identify a group, by name.
    pub fn named(&self, found: &Found) -> Map<String, Value> {
        self.groups.iter().cloned().zip(found.key.iter().map(Key::to_json)).collect()
    }

    /// The same in words, such as `vocab = 8, depth = 2`.
    pub fn words(&self, found: &Found) -> String {
        let word = |(name, key): (&String, &Key)| format!("{name} = {key}");
        self.groups.iter().zip(&found.key).map(word).collect::<Vec<_>>().join(", ")
    }
}

/// The value of a name or an expression for a group.
pub(super) fn key_of_group(names: &[String], key: &[Key], quantity: &Quantity) -> Result<Key> {
    let find = |name: &str| names.iter().position(|own| own == name).map(|k| &key[k]);
    if let Some(key) = find(quantity.text()) {
        return Ok(key.clone());
    }
    Ok(Key::Number(quantity.value(&|name| find(name).and_then(Key::number))?))
}

/// Computes all fits in order. An error names the fit that cannot use these results.
pub fn fit<'t>(fits: &[plan::Fit], table: &'t Table) -> Result<Vec<Fitted<'t>>> {
    let mut fitted: Vec<Fitted<'t>> = Vec::new();
    for one in fits {
        let mut found = found(one, table, &fitted).with_context(|| format!("[[fit]] {}", one.name))?;
        for found in found.iter_mut().filter(|found| found.rows.iter().all(|row| row.is_exact())) {
            found.estimate = found.estimate.clone().exactly();
        }
        let groups = one.group_names().into_iter().map(str::to_owned).collect();
        fitted.push(Fitted { name: one.name.clone(), groups, found });
    }
    Ok(fitted)
}

fn found<'t>(one: &plan::Fit, table: &'t Table, before: &[Fitted<'t>]) -> Result<Vec<Found<'t>>> {
    match &one.kind {
        Kind::Threshold { of, along, level, direction } => {
            let of_group = |key, rows: Vec<&'t Row>| {
                let measured = curves(&rows, along, of)?;
                let finished = fit::far_enough(measured.iter().map(|(_, curve)| curve), *level, *direction);
                let whole = measured.into_iter().zip(finished).filter(|(_, finished)| *finished);
                let (seeds, curves): (Vec<u64>, Vec<Curve>) = whole.map(|(curve, _)| curve).unzip();
                let group = Group::new(1.0, curves);
                let crossings = fit::crossings(&group, *level, *direction).replicates;
                let estimate = fit::threshold(&group, *level, *direction);
                let ends = group.replicates.iter().filter_map(|curve| Some(curve.points().last()?.0));
                let end = ends.fold(f64::INFINITY, f64::min);
                let seeds = seeds.into_iter().zip(crossings).collect();
                Ok(Found { key, estimate, seeds, misfits: [None; 2], end, rows })
            };
            of_groups(one, table, of_group)
        }
        Kind::Mean { of } => of_groups(one, table, |key, rows| {
            let seeds = values(&rows, of)?;
            let estimate = fit::mean(&numbers(&seeds));
            Ok(Found { key, estimate, seeds, misfits: [None; 2], end: f64::INFINITY, rows })
        }),
        Kind::Collapse { of, along, by, predicted } => of_groups(one, table, |key, rows| {
            let mut groups = Vec::new();
            for (at, rows) in split(rows.clone(), std::slice::from_ref(by))? {
                let at =
                    at[0].number().with_context(|| format!("by: {} is {}, expected a number", by.text(), at[0]))?;
                groups.push(Group::new(at, curves(&rows, along, of)?.into_iter().map(|(_, curve)| curve)));
            }
            let found = fit::collapse(&groups, *predicted);
            let misfits = [Some(found.misfit), Some(found.predicted_misfit)];
            Ok(Found { key, estimate: found.exponent, seeds: Vec::new(), misfits, end: f64::INFINITY, rows })
        }),
        Kind::Exponent { of, with } => {
            let with_columns = with.columns().collect::<Vec<_>>();
            let cells = Cells::of(of, one, &with_columns, table, before)?;
            let of_group = |key: Vec<Key>, members: Vec<&sources::Cell<'t>>| {
                let mut groups = Vec::new();
                for cell in &members {
                    let at = key_of_group(&cells.names, &cell.key, with)?;
                    let at = at.number().with_context(|| format!("in: {} is {at}, expected a number", with.text()))?;
                    groups.push(Group::new(at, numbers(&cell.seeds)));
                }
                let law = fit::exponent(&groups);
                Ok(Found::without_seeds(key, law.exponent, Some(law.misfit), &members))
            };
            cells.by(&one.groups, of_group)
        }
        Kind::Ratio { of, over: Over::Between(column, above, below) } => {
            let columns = column.columns().collect::<Vec<_>>();
            let cells = Cells::of(of, one, &columns, table, before)?;
            let of_group = |key: Vec<Key>, members: Vec<&sources::Cell<'t>>| {
                let pairs = cells.pairs(&members, column, above, below)?;
                let pairs: Vec<_> = pairs.iter().map(|pair| (&pair.above[..], &pair.below[..], pair.end)).collect();
                let found = fit::ratio_at_least(&pairs);
                Ok(Found::without_seeds(key, found.ratio, Some(found.misfit), &members))
            };
            cells.by(&one.groups, of_group)
        }
        Kind::Ratio { of, over: Over::Unpaired(over) } => {
            let cells = Cells::of(of, one, &[], table, before)?;
            let of_group = |key: Vec<Key>, members: Vec<&sources::Cell<'t>>| {
                let mut pairs: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
                for cell in &members {
                    let below = cells.beside(cell, over, before)?;
                    pairs.push((numbers(&cell.seeds), below.into_values().collect()));
                }
                let found = fit::ratio(&pairs.iter().map(|(a, b)| (&a[..], &b[..])).collect::<Vec<_>>());
                Ok(Found::without_seeds(key, found.ratio, Some(found.misfit), &members))
            };
            cells.by(&one.groups, of_group)
        }
        Kind::Ratio { of, over: Over::Quantity(over) } => {
            let cells = Cells::of(of, one, &[], table, before)?;
            let of_group = |key: Vec<Key>, members: Vec<&sources::Cell<'t>>| {
                let mut all: Vec<Vec<(u64, (f64, f64))>> = Vec::new();
                for cell in &members {
                    all.push(cells.matched(cell, over, before)?);
                }
                let pairs: Vec<Vec<(f64, f64)>> =
                    all.iter().map(|group| group.iter().map(|(_, pair)| *pair).collect()).collect();
                let found = fit::matched_ratio(&pairs.iter().map(Vec::as_slice).collect::<Vec<_>>());
                let one = Found::without_seeds(key, found.ratio, Some(found.misfit), &members);
                let ratios = match all.as_slice() {
                    [single] => single.iter().map(|(seed, (above, below))| (*seed, above / below)).collect(),
                    _ => Vec::new(),
                };
                Ok(Found { seeds: ratios, ..one })
            };
            cells.by(&one.groups, of_group)
        }
    }
}

impl Found<'_> {
    /// The approximate cost of its cells in core-hours on the reference machine of the measures; `None` for foreign
    /// measures.
    pub(super) fn core_hours(&self) -> Option<f64> {
        let mut cells: BTreeMap<usize, f64> = BTreeMap::new();
        for row in &self.rows {
            if let Entry::Vacant(entry) = cells.entry(row.cell) {
                let mut values = (*row.parameters).clone();
                let measure = values.remove("measure")?;
                entry.insert(Measure::new(measure.as_str()?, values).ok()?.work());
            }
        }
        Some(cells.values().sum::<f64>() / 3600.0)
    }
}

impl<'t> Found<'t> {
    fn without_seeds(key: Vec<Key>, estimate: Estimate, misfit: Option<f64>, of: &[&sources::Cell<'t>]) -> Self {
        let rows = of.iter().flat_map(|cell| cell.rows.iter().copied()).collect();
        Found { key, estimate, seeds: Vec::new(), misfits: [misfit, None], end: f64::INFINITY, rows }
    }
}

/// The rows that pass a filter, by group.
pub(super) fn rows_by_group<'t>(
    table: &'t Table,
    filter: &Filter,
    groups: &[Quantity],
) -> Result<BTreeMap<Vec<Key>, Vec<&'t Row>>> {
    let key = |row: &&Row, quantity: &Quantity| row.key(quantity);
    let mut split = split(filter.plain(table.rows.iter().collect(), key)?, groups)?;
    for rows in split.values_mut() {
        *rows = filter.extremes(std::mem::take(rows), key)?;
    }
    Ok(split)
}

/// Applies a fit to the rows of each group.
fn of_groups<'t>(
    one: &plan::Fit,
    table: &'t Table,
    of_group: impl Fn(Vec<Key>, Vec<&'t Row>) -> Result<Found<'t>>,
) -> Result<Vec<Found<'t>>> {
    rows_by_group(table, &one.filter, &one.groups)?.into_iter().map(|(key, rows)| of_group(key, rows)).collect()
}

/// The values, without the seeds.
fn numbers(seeds: &[(u64, f64)]) -> Vec<f64> {
    seeds.iter().map(|(_, value)| *value).collect()
}

/// The fit that the values come from, if any.
fn source<'a, 't>(of: &Of, before: &'a [Fitted<'t>]) -> Option<&'a Fitted<'t>> {
    if let Of::Fit(number) = of { Some(&before[*number]) } else { None }
}
