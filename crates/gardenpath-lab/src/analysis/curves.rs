//! Families of curves: those that a collapse brings together, or whose thresholds are fitted.

use super::fits::{Fitted, key_of_group, rows_by_group};
use super::table::points;
use crate::experiment::filter::Filter;
use crate::experiment::key::Key;
use crate::experiment::plan::{Fit, Kind, Of, Plan};
use crate::experiment::quantity::Quantity;
use crate::fit::{Estimate, average, standard_error};
use crate::table::{Row, Table};
use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// Curves that differ in one quantity, by a power of which `x` can be divided.
#[derive(Clone, Debug)]
pub struct Family {
    /// The name of the fit that they belong to.
    pub fit: String,
    /// What the family has in common, in words; empty if there is one for all.
    pub group: String,
    /// The quantity along the curves.
    pub x: String,
    /// Their height.
    pub y: String,
    /// What tells them apart.
    pub by: String,
    /// The power that is expected to bring them together, if the experiment says one.
    pub predicted: Option<f64>,
    /// The power that was measured, if it was.
    pub exponent: Option<Estimate>,
    /// The level whose crossing is the threshold of each curve, if it is fitted.
    pub level: Option<f64>,
    /// The curves, in the order of what tells them apart.
    pub curves: Vec<MeanCurve>,
}

/// The mean over seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanCurve {
    /// The value of the quantity that tells curves apart.
    pub by: f64,
    /// What tells the curve apart, in words.
    pub label: String,
    /// The points, with x increasing.
    pub points: Vec<MeanPoint>,
}

/// The mean over seeds at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanPoint {
    /// The place.
    pub x: f64,
    /// The mean.
    pub y: f64,
    /// Its standard error; none of a single seed.
    pub error: Option<f64>,
    /// The number of seeds.
    pub seeds: usize,
}

/// What the curves of a family are made of.
struct Source<'p> {
    fit: &'p Fit,
    of: &'p Quantity,
    along: &'p Quantity,
    by: &'p Quantity,
    /// What tells families apart.
    groups: &'p [Quantity],
    /// What tells curves apart.
    own: Vec<Quantity>,
    filter: &'p Filter,
    predicted: Option<f64>,
    level: Option<f64>,
    /// The fit of the exponent.
    exponent: Option<usize>,
}

/// The families of an experiment: one for each collapse, and for each threshold that no collapse is about. What tells the curves of the
/// latter apart is what the exponent of the threshold is fitted in, or else the last numeric group.
pub fn families(plan: &Plan, table: &Table, fitted: &[Fitted]) -> Result<Vec<Family>> {
    let mut families = Vec::new();
    for source in sources(plan) {
        let name = &source.fit.name;
        families.extend(of_source(&source, table, fitted).with_context(|| format!("[[fit]] {name}"))?);
    }
    Ok(families)
}

fn sources(plan: &Plan) -> Vec<Source<'_>> {
    let mut sources: Vec<Source> = Vec::new();
    for (number, fit) in plan.fits.iter().enumerate() {
        if let Kind::Collapse { of, along, by, predicted } = &fit.kind {
            let level = plan.fits.iter().find_map(|other| match &other.kind {
                Kind::Threshold { of: own, along: place, level, .. } if own == of && place == along => Some(*level),
                _ => None,
            });
            let own = fit.groups.iter().chain([by]).cloned().collect();
            let (groups, filter, exponent) = (fit.groups.as_slice(), &fit.filter, Some(number));
            let predicted = Some(*predicted);
            sources.push(Source { fit, of, along, by, groups, own, filter, predicted, level, exponent });
        }
    }
    let collapses = sources.len();
    for (number, fit) in plan.fits.iter().enumerate() {
        let Kind::Threshold { of, along, level, .. } = &fit.kind else { continue };
        if sources[..collapses].iter().any(|source| source.of == of && source.along == along) {
            continue;
        }
        let exponent = plan.fits.iter().enumerate().find_map(|(place, other)| match &other.kind {
            Kind::Exponent { of: Of::Fit(own), with } if *own == number => Some((place, with, other.groups.as_slice())),
            _ => None,
        });
        let (by, groups, exponent) = match (exponent, fit.groups.split_last()) {
            (Some((place, with, groups)), _) => (with, groups, Some(place)),
            (None, Some((last, groups))) => (last, groups, None),
            (None, None) => continue,
        };
        let (own, filter) = (fit.groups.clone(), &fit.filter);
        sources.push(Source {
            fit,
            of,
            along,
            by,
            groups,
            own,
            filter,
            predicted: None,
            level: Some(*level),
            exponent,
        });
    }
    sources
}

fn of_source(source: &Source, table: &Table, fitted: &[Fitted]) -> Result<Vec<Family>> {
    let names: Vec<String> = source.own.iter().map(|group| group.text().to_owned()).collect();
    let mut families: BTreeMap<Vec<Key>, Vec<MeanCurve>> = BTreeMap::new();
    for (key, rows) in rows_by_group(table, source.filter, &source.own)? {
        // What is no number cannot be divided by.
        let Some(by) = key_of_group(&names, &key, source.by)?.number() else { continue };
        let group = source.groups.iter().map(|group| key_of_group(&names, &key, group)).collect::<Result<_>>()?;
        let in_common = |name: &String| source.groups.iter().any(|group| group.text() == name.as_str());
        let rest = names.iter().zip(&key).filter(|(name, _)| !in_common(name));
        let curve = MeanCurve { by, label: words(rest), points: means(&rows, source)? };
        if !curve.points.is_empty() {
            families.entry(group).or_default().push(curve);
        }
    }
    let family = |(key, mut curves): (Vec<Key>, Vec<MeanCurve>)| {
        curves.sort_by(|one, other| one.by.total_cmp(&other.by));
        let found = source.exponent.and_then(|fit| fitted[fit].found.iter().find(|found| found.key == key));
        let group_names: Vec<String> = source.groups.iter().map(|group| group.text().to_owned()).collect();
        Family {
            fit: source.fit.name.clone(),
            group: words(group_names.iter().zip(&key)),
            x: source.along.text().to_owned(),
            y: source.of.text().to_owned(),
            by: source.by.text().to_owned(),
            predicted: source.predicted,
            exponent: found.map(|found| found.estimate.clone()),
            level: source.level,
            curves,
        }
    };
    Ok(families.into_iter().map(family).collect())
}

fn words<'k>(named: impl Iterator<Item = (&'k String, &'k Key)>) -> String {
    named.map(|(name, key)| format!("{name} = {key}")).collect::<Vec<_>>().join(", ")
}

/// The mean over seeds at each place.
fn means(rows: &[&Row], source: &Source) -> Result<Vec<MeanPoint>> {
    let mut places: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
    for (x, y) in points(rows, source.along, source.of)?.into_values().flatten() {
        if x.is_finite() && y.is_finite() {
            places.entry(Key::Number(x)).or_default().push(y);
        }
    }
    let point = |(x, values): (Key, Vec<f64>)| {
        let error = Some(standard_error(&values)).filter(|error| !error.is_nan());
        Some(MeanPoint { x: x.number()?, y: average(&values), error, seeds: values.len() })
    };
    Ok(places.into_iter().filter_map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fit;
    use crate::experiment::{Experiment, Scale, built_in};
    use crate::measure::Measure;
    use serde_json::{Map, Value, json};

    /// Results in which the loss falls with samples / vocab^2, and seeds differ by a little.
    fn made_up(experiment: &Experiment) -> Table {
        let cells = experiment.cells(&Scale::DAY).unwrap();
        let result = |cell: &Measure| -> Map<String, Value> {
            let parameters = cell.parameters();
            let number = |name: &str| parameters[name].as_f64().unwrap();
            let ratio = number("samples") / number("vocab").powi(2) / 8f64.powf(number("depth") - 2.0);
            let loss = 1.0 / (1.0 + ratio / 20.0) + 1e-4 * number("seed");
            Map::from_iter([("normalized_loss".to_owned(), json!(loss))])
        };
        let results: Vec<(&Measure, Map<String, Value>)> = cells.iter().map(|cell| (cell, result(cell))).collect();
        Table::new(&results).unwrap()
    }

    #[test]
    fn a_collapse_is_a_family_for_each_of_its_groups() {
        let experiment = built_in::find("cnn").unwrap();
        let table = made_up(&experiment);
        let fitted = fit(&experiment.plan.fits, &table).unwrap();
        let families = families(&experiment.plan, &table, &fitted).unwrap();
        let heads: Vec<(&str, usize)> = families.iter().map(|one| (one.group.as_str(), one.curves.len())).collect();
        assert_eq!(heads, [("depth = 2", 5), ("depth = 3", 3)]);
        let first = &families[0];
        assert_eq!((first.x.as_str(), first.y.as_str(), first.by.as_str()), ("samples", "normalized_loss", "vocab"));
        assert_eq!((first.predicted, first.level), (Some(2.0), Some(0.5)));
        assert!((first.exponent.as_ref().unwrap().value - 2.0).abs() < 0.01);
        let curve = &first.curves[0];
        assert_eq!((curve.by, curve.label.as_str(), curve.points.len()), (8.0, "vocab = 8", 6));
        let point = curve.points[0];
        assert_eq!((point.x, point.seeds), (256.0, 5));
        assert!((point.y - (1.0 / (1.0 + 4.0 / 20.0) + 3e-4)).abs() < 1e-12 && point.error.unwrap() > 0.0);
    }

    #[test]
    fn a_threshold_without_a_collapse_is_a_family_too() {
        let experiment = built_in::find("transformer").unwrap();
        let table = made_up(&experiment);
        let fitted = fit(&experiment.plan.fits, &table).unwrap();
        let families = families(&experiment.plan, &table, &fitted).unwrap();
        assert!(!families.is_empty());
        for family in families {
            assert_eq!((family.by.as_str(), family.predicted, family.level), ("vocab", None, Some(0.5)));
            assert!(family.group.starts_with("depth = "));
        }
    }
}
