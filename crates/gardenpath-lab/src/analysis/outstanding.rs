//! What undecided claims wait for: cells of the grid that their fits read and that have no result yet.

use super::claims::{Judged, unmeasured};
use super::fits::rows_by_group;
use super::table::split;
use crate::draw::table::{core_time, counted};
use crate::experiment::filter::Filter;
use crate::experiment::key::Key;
use crate::experiment::plan::{Claim, Fit, Kind, Of, Over, Plan};
use crate::experiment::quantity::Quantity;
use crate::experiment::{Experiment, Scale};
use crate::fit::Verdict;
use crate::measure::Measure;
use crate::table::{Row, Table};
use anyhow::{Result, bail};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The cells of an experiment, and what those without a result cost.
#[derive(Clone, Debug, Default)]
pub struct Outstanding {
    /// A row for each cell, with parameters and without results.
    table: Table,
    /// The core-hours of each cell; none if it has a result.
    hours: Vec<Option<f64>>,
    /// All cells of scale full, for claims that more seeds cannot settle.
    larger: Option<Box<Outstanding>>,
}

impl Outstanding {
    /// All cells of an experiment, each with its core-hours if it has no result.
    pub fn new(cells: &[Measure], hours: Vec<Option<f64>>) -> Result<Self> {
        let rows: Vec<_> = cells.iter().map(|cell| (cell, Map::new())).collect();
        Ok(Outstanding { table: Table::new(&rows)?, hours, larger: None })
    }

    /// The same, with what the larger sizes of scale full cost if the experiment has that scale and this is another one.
    pub fn with_larger_sizes(mut self, experiment: &Experiment, scale: &Scale) -> Result<Self> {
        if *scale != Scale::FULL && experiment.scale_names().contains(&Scale::FULL.name()) {
            let cells = experiment.cells(&Scale::FULL)?;
            let hours = cells.iter().map(|cell| Some(cell.work() / 3600.0)).collect();
            self.larger = Some(Box::new(Outstanding::new(&cells, hours)?));
        }
        Ok(self)
    }

    /// The numbers of the cells that have no result, and about how many core-hours each takes.
    pub fn cells(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.hours.iter().enumerate().filter_map(|(number, hours)| Some((number, (*hours)?)))
    }

    /// Says of every undecided claim which cells it waits for, and adds groups that no cell tells anything about yet: a claim about several
    /// groups is not decided by those that happen to be measured.
    pub(super) fn explain(&self, plan: &Plan, judged: &mut Vec<Judged>) {
        if self.hours.is_empty() {
            return;
        }
        let mut all = Vec::new();
        for claim in &plan.claims {
            let mut own: Vec<Judged> = judged.iter().filter(|judged| judged.id == claim.id).cloned().collect();
            // Groups that depend on results are not known before there are results.
            if let Ok(groups) = self.groups(plan, claim) {
                if let ([], [only]) = (&groups[..], &mut own[..])
                    && only.group.is_empty()
                    && only.estimate.is_none()
                {
                    only.because = "this scale has no cells for it".into();
                }
                let groups = groups.into_iter().filter(|(_, is_complete)| !is_complete).map(|(group, _)| group);
                let known = |group: &Map<String, Value>| own.iter().any(|judged| judged.group == *group);
                let missing: Vec<Judged> =
                    groups.filter(|group| !known(group)).map(|group| Judged { group, ..unmeasured(claim) }).collect();
                if !missing.is_empty() {
                    // What stands for all groups gives way to each of them.
                    own.retain(|judged| !(judged.group.is_empty() && judged.estimate.is_none()));
                    own.extend(missing);
                }
            }
            for judged in own.iter_mut().filter(|judged| judged.verdict == Verdict::Inconclusive) {
                self.explain_one(plan, claim, judged);
            }
            all.extend(own);
        }
        *judged = all;
    }

    fn explain_one(&self, plan: &Plan, claim: &Claim, judged: &mut Judged) {
        let cells = self.numbers(plan, claim, &judged.group);
        let hours: Vec<f64> = cells.iter().filter_map(|cell| self.hours[*cell]).collect();
        if hours.is_empty() {
            if let (None, Some(larger)) = (judged.needed_core_hours, &self.larger)
                && let Some(hours) = larger.cost(plan, claim, &judged.group)
            {
                judged.because += &format!("; scale full takes {}", core_time(hours));
                judged.needed_core_hours = Some(hours);
            }
            return;
        }
        let (missing, core_hours) = (hours.len(), hours.iter().sum());
        let are = if missing == 1 { "is" } else { "are" };
        judged.because += &format!(
            "; {missing} of {} for it {are} missing (about {})",
            counted(cells.len(), "cell"),
            core_time(core_hours)
        );
        (judged.missing_cells, judged.missing_core_hours) = (Some(missing), Some(core_hours));
    }

    /// The numbers of the cells that a claim about a group is decided by: all cells if that cannot be told without results.
    fn numbers(&self, plan: &Plan, claim: &Claim, group: &Map<String, Value>) -> BTreeSet<usize> {
        let rows = self.rows(plan, claim, group).unwrap_or_else(|_| self.table.rows.iter().collect());
        rows.iter().map(|row| row.cell).collect()
    }

    /// The core-hours of the cells that a claim about a group is decided by, or of all its groups if this scale does not have the group.
    fn cost(&self, plan: &Plan, claim: &Claim, group: &Map<String, Value>) -> Option<f64> {
        let hours = |group| self.numbers(plan, claim, group).iter().filter_map(|cell| self.hours[*cell]).sum::<f64>();
        [group, &Map::new()].into_iter().map(hours).find(|hours| *hours > 0.0)
    }

    /// The groups that a claim is about, as far as parameters tell, and whether all of their cells have results.
    fn groups(&self, plan: &Plan, claim: &Claim) -> Result<Vec<(Map<String, Value>, bool)>> {
        let fit = &plan.fits[claim.fit];
        let names = fit.group_names();
        let mut groups = Vec::new();
        for (key, rows) in split(self.rows(plan, claim, &Map::new())?, &fit.groups)? {
            let sides = match &fit.kind {
                Kind::Ratio { over: Over::Between(column, ..), .. } => {
                    split(rows.clone(), std::slice::from_ref(column))?.len()
                }
                _ => 2,
            };
            if sides == 2 {
                let group = names.iter().map(|name| (*name).to_owned()).zip(key.iter().map(Key::to_json)).collect();
                groups.push((group, rows.iter().all(|row| self.hours[row.cell].is_none())));
            }
        }
        Ok(groups)
    }

    /// Fails if a column is known only from results.
    fn check<'n>(&self, columns: impl Iterator<Item = &'n str>) -> Result<()> {
        for name in columns {
            let column = self.table.column(name)?;
            if (0..self.table.len()).all(|cell| column.value(cell).is_null()) {
                bail!("{name} is a result");
            }
        }
        Ok(())
    }

    /// The rows of the cells that a claim about a group is decided by.
    fn rows(&self, plan: &Plan, claim: &Claim, group: &Map<String, Value>) -> Result<Vec<&Row>> {
        self.check(claim.filter.columns())?;
        let mut rows = chosen(&claim.filter, self.rows_of(plan, claim.fit)?)?;
        for (name, value) in group {
            let Some(wanted) = Key::from_json(value) else { continue };
            rows = having(rows, &Quantity::new(name, &[name])?, &[&wanted])?;
        }
        Ok(rows)
    }

    /// The rows of the cells that a fit reads, by way of other fits too.
    fn rows_of(&self, plan: &Plan, number: usize) -> Result<Vec<&Row>> {
        let fit = &plan.fits[number];
        self.check(fit.filter.columns().chain(fit.groups.iter().flat_map(Quantity::columns)))?;
        let (of, over) = match &fit.kind {
            Kind::Exponent { of, .. } => (Some(of), None),
            Kind::Ratio { of, over } => (Some(of), Some(over)),
            Kind::Threshold { .. } | Kind::Collapse { .. } | Kind::Mean { .. } => (None, None),
        };
        let mut rows = self.source(plan, fit, of)?;
        match over {
            Some(Over::Between(column, above, below)) => rows = having(rows, column, &[above, below])?,
            Some(Over::Quantity(Of::Fit(other)) | Over::Unpaired(Of::Fit(other))) => {
                rows.extend(chosen(&fit.filter, self.rows_of(plan, *other)?)?);
            }
            _ => {}
        }
        Ok(rows)
    }

    fn source(&self, plan: &Plan, fit: &Fit, of: Option<&Of>) -> Result<Vec<&Row>> {
        match of {
            Some(Of::Fit(other)) => chosen(&fit.filter, self.rows_of(plan, *other)?),
            _ => Ok(rows_by_group(&self.table, &fit.filter, &fit.groups)?.into_values().flatten().collect()),
        }
    }
}

/// The rows that a filter leaves.
fn chosen<'t>(filter: &Filter, rows: Vec<&'t Row>) -> Result<Vec<&'t Row>> {
    let key = |row: &&Row, quantity: &Quantity| row.key(quantity);
    filter.extremes(filter.plain(rows, key)?, key)
}

/// The rows in which something has one of these values.
fn having<'t>(rows: Vec<&'t Row>, quantity: &Quantity, values: &[&Key]) -> Result<Vec<&'t Row>> {
    let mut kept = Vec::new();
    for row in rows {
        if values.contains(&&row.key(quantity)?) {
            kept.push(row);
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::super::{Table, analyse};
    use super::*;
    use crate::experiment::built_in;
    use serde_json::json;

    const TEXT: &str = "
measure = 'entropy'
[[grid]]
depth = [2, 3]
vocab = [4, 8, 16]
fraction = [0.25, 0.5, 1]
sentences = 10
seed = '1..5'
[[fit]]
name = 'place'
kind = 'threshold'
of = 'normalized'
along = 'fraction'
level = 0.1
direction = 'rises'
groups = ['depth', 'vocab']
[[fit]]
name = 'trend'
kind = 'exponent'
of = 'place'
in = 'vocab'
groups = ['depth']
[[fit]]
name = 'level'
kind = 'ratio'
of = 'place'
between = { depth = [3, 2] }
where = { vocab = { at_least = 8 } }
[[fit]]
name = 'ambiguous'
kind = 'mean'
of = 'normalized'
groups = ['vocab']
where = { fraction = 'largest', depth = 2 }
[[claim]]
id = 'trend'
fit = 'trend'
expected = 0
margin = 1
reason = 'r'
source = 'ours'
[[claim]]
id = 'level'
fit = 'level'
expected = 1
margin = 0.5
reason = 'r'
source = 'ours'
[[claim]]
id = 'ambiguous'
fit = 'ambiguous'
where = { vocab = 8 }
at_least = 0.1
reason = 'r'
source = 'ours'
";

    /// The claims if cells that meet a condition have results, and each of the others costs half an hour.
    fn claims(experiment: &Experiment, is_there: impl Fn(&Map<String, Value>) -> bool) -> Vec<Judged> {
        let cells = experiment.cells(&Scale::QUICK).unwrap();
        let there: Vec<bool> = cells.iter().map(|cell| is_there(&cell.parameters())).collect();
        let result = |cell: &Measure| {
            let parameters = cell.parameters();
            let number = |name: &str| parameters[name].as_f64().unwrap();
            let normalized = 0.2 * number("fraction") * (1.0 + 0.01 * number("seed"));
            (cell.clone(), json!({"entropy": 0.1, "normalized": normalized}).as_object().cloned().unwrap())
        };
        let results: Vec<_> =
            cells.iter().zip(&there).filter(|(_, there)| **there).map(|(cell, _)| result(cell)).collect();
        let table =
            Table::new(&results.iter().map(|(cell, result)| (cell, result.clone())).collect::<Vec<_>>()).unwrap();
        let hours = there.iter().map(|there| (!there).then_some(0.5)).collect();
        analyse(&experiment.plan, &table, &Outstanding::new(&cells, hours).unwrap()).unwrap().claims
    }

    fn shown(claims: &[Judged]) -> Vec<(&str, String, Verdict, Option<usize>)> {
        claims.iter().map(|one| (one.id.as_str(), one.words(), one.verdict, one.missing_cells)).collect()
    }

    #[test]
    fn nothing_is_said_of_what_is_complete() {
        let found = claims(&Experiment::parse(TEXT).unwrap(), |_| true);
        assert!(found.iter().all(|one| one.verdict == Verdict::Agrees && one.missing_cells.is_none()), "{found:?}");
    }

    #[test]
    fn a_claim_waits_for_the_cells_of_its_fit() {
        use Verdict::{Agrees, Inconclusive};
        let experiment = Experiment::parse(TEXT).unwrap();
        let is = |cell: &Map<String, Value>, name: &str, value: f64| cell[name].as_f64() == Some(value);
        // Depth 3 was not begun.
        let found = claims(&experiment, |cell| is(cell, "depth", 2.0));
        let expected = [
            ("trend", "depth = 2".into(), Agrees, None),
            ("trend", "depth = 3".into(), Inconclusive, Some(45)),
            ("level", String::new(), Inconclusive, Some(30)),
            ("ambiguous", "vocab = 8".into(), Agrees, None),
        ];
        assert_eq!(shown(&found), expected);
        assert_eq!(found[1].missing_core_hours, Some(22.5));
        assert_eq!(found[1].because, "no measurements; 45 of 45 cells for it are missing (about 22 core-hours)");
        // One seed, and the largest fraction of one vocabulary is missing.
        let found =
            claims(&experiment, |cell| is(cell, "seed", 1.0) && !(is(cell, "fraction", 1.0) && is(cell, "vocab", 8.0)));
        let last = found.last().unwrap();
        assert_eq!((last.verdict, last.missing_cells), (Inconclusive, Some(5)), "{}", last.because);
        assert!(found[0].because.contains("37 of 45 cells for it"), "{}", found[0].because);
    }

    /// A claim that more seeds cannot settle says what scale full costs.
    #[test]
    fn what_seeds_cannot_settle_has_the_cost_of_scale_full() {
        let full = "\n[[full]]\ndepth = [2, 3]\nvocab = [4, 8, 16, 32]\nfraction = [0.25, 0.5, 1]\nsentences = 100\nseed = '1..5'";
        let first = "\n[[fit]]\nname = 'place'";
        let grids = TEXT.replace("[[grid]]", "[[day]]").replace(first, &format!("{full}{first}"));
        // No curve rises to 0.9.
        let experiment = Experiment::parse(&grids.replace("level = 0.1", "level = 0.9")).unwrap();
        let cells = experiment.cells(&Scale::DAY).unwrap();
        let result = json!({"entropy": 0.1, "normalized": 0.2}).as_object().cloned().unwrap();
        let table = Table::new(&cells.iter().map(|cell| (cell, result.clone())).collect::<Vec<_>>()).unwrap();
        let judged = |scale: &Scale| {
            let outstanding = Outstanding::new(&cells, vec![None; cells.len()]).unwrap();
            let outstanding = outstanding.with_larger_sizes(&experiment, scale).unwrap();
            analyse(&experiment.plan, &table, &outstanding).unwrap().claims.remove(0)
        };
        let full = experiment.cells(&Scale::FULL).unwrap();
        let expected: f64 = full.iter().filter(|cell| cell.parameters()["depth"] == 2).map(Measure::work).sum();
        let found = judged(&Scale::DAY);
        assert!((found.needed_core_hours.unwrap() * 3600.0 / expected - 1.0).abs() < 1e-9, "{found:?}");
        assert!(found.because.contains("; scale full takes "), "{}", found.because);
        // At scale full, no larger one is known.
        assert!(judged(&Scale::FULL).needed_core_hours.is_none());
    }

    /// Results of one measure do not hide the columns of another one, which has none yet.
    #[test]
    fn columns_do_not_depend_on_the_results_so_far() {
        let experiment = built_in::find("next-token").unwrap();
        let cells = experiment.cells(&Scale::DAY).unwrap();
        let learned = cells.iter().find(|cell| cell.parameters()["measure"] == "learn").unwrap();
        let result = json!({"recall": 1.0, "next_token_loss": 1.5}).as_object().cloned().unwrap();
        let table = Table::declaring(&[(learned, result)], &cells).unwrap();
        let outstanding = Outstanding::new(&cells, vec![Some(1.0); cells.len()]).unwrap();
        assert!(analyse(&experiment.plan, &table, &outstanding).is_ok());
    }

    /// Every claim of the report can say what it waits for, or that a scale is not about it.
    #[test]
    fn without_any_result_every_claim_waits_for_some_cell() {
        for name in built_in::names() {
            let experiment = built_in::find(name).unwrap();
            for scale in Scale::USUAL {
                let cells = experiment.cells(&scale).unwrap();
                let hours = vec![Some(1.0); cells.len()];
                let outstanding = Outstanding::new(&cells, hours).unwrap();
                let found = analyse(&experiment.plan, &Table::default(), &outstanding).unwrap().claims;
                for judged in &found {
                    assert_eq!(judged.verdict, Verdict::Inconclusive, "{name}/{}", judged.id);
                    let missing = judged.missing_cells.unwrap_or(0);
                    let absent = judged.because == "this scale has no cells for it";
                    let waits = (1..=cells.len()).contains(&missing);
                    assert!(
                        waits != absent && (waits || scale == Scale::QUICK),
                        "{name}/{}: {}",
                        judged.id,
                        judged.because
                    );
                }
            }
        }
    }
}
