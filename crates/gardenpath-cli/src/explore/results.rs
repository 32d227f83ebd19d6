//! Results of experiments: learning curves, thresholds with their intervals, and claims with verdicts.

use anyhow::{Context, Result, anyhow};
use gardenpath_lab::analysis::{self, Family, Fitted, Found, Judged, Loaded, MeanCurve, Outstanding};
use gardenpath_lab::experiment::plan::{Fit, Kind, Origin, Plan};
use gardenpath_lab::experiment::{Experiment, Scale, built_in};
use gardenpath_lab::fit::{Estimate, Verdict};
use gardenpath_lab::measure::Measure;
use gardenpath_lab::store::Store;
use gardenpath_lab::table::Table;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::path::Path;
use std::sync::OnceLock;

/// The results of a store.
pub struct Shelf {
    store: Option<Store>,
    experiments: OnceLock<Vec<Known>>,
}

/// An experiment with the names of its cells.
struct Known {
    name: &'static str,
    experiment: Experiment,
    scales: Vec<Grids>,
}

/// The cells of a scale.
struct Grids {
    /// How the page calls it.
    name: String,
    scale: Scale,
    cells: Vec<String>,
}

/// What the page calls the cells of an experiment without scales.
const GRID: &str = "grid";

/// All experiments.
#[derive(Serialize)]
pub struct Results {
    store: Option<String>,
    experiments: Vec<Summary>,
}

#[derive(Serialize)]
struct Summary {
    name: &'static str,
    title: String,
    scales: Vec<ScaleSummary>,
}

#[derive(Serialize)]
struct ScaleSummary {
    name: String,
    cells: usize,
    done: usize,
}

/// What became of one experiment.
#[derive(Serialize)]
pub struct Chapter {
    name: &'static str,
    title: String,
    expects: String,
    caption: String,
    scale: String,
    cells: usize,
    done: usize,
    damaged: Vec<String>,
    #[serde(flatten)]
    analysis: Analysis,
    problem: Option<String>,
}

#[derive(Default, Serialize)]
struct Analysis {
    svg: Option<String>,
    curves: Vec<CurveFamily>,
    thresholds: Vec<Threshold>,
    fits: Vec<FitResult>,
    claims: Vec<Claim>,
}

#[derive(Serialize)]
struct CurveFamily {
    fit: String,
    group: String,
    x: String,
    y: String,
    by: String,
    predicted: Option<f64>,
    measured: Option<Number>,
    level: Option<f64>,
    curves: Vec<Curve>,
}

#[derive(Serialize)]
struct Curve {
    by: f64,
    label: String,
    points: Vec<CurvePoint>,
}

#[derive(Serialize)]
struct CurvePoint {
    x: f64,
    y: f64,
    stderr: Option<f64>,
    seeds: usize,
}

#[derive(Serialize)]
struct Threshold {
    fit: String,
    level: f64,
    #[serde(flatten)]
    number: Number,
}

#[derive(Serialize)]
struct FitResult {
    name: String,
    kind: &'static str,
    found: Vec<Number>,
}

#[derive(Serialize)]
struct Number {
    group: Map<String, Value>,
    words: String,
    value: f64,
    interval: Option<(f64, f64)>,
    seeds: usize,
    because: Option<String>,
}

#[derive(Serialize)]
struct Claim {
    id: String,
    statement: String,
    source: Origin,
    group: String,
    expected: String,
    correction: Option<String>,
    estimate: Option<f64>,
    interval: Option<[Option<f64>; 2]>,
    verdict: Verdict,
    because: String,
    reason: String,
}

impl Shelf {
    /// The results in a store, if there is one. Nothing is read yet.
    pub fn new(store: Option<Store>) -> Self {
        Shelf { store, experiments: OnceLock::new() }
    }

    /// The directory of the store.
    pub fn directory(&self) -> Option<&Path> {
        self.store.as_ref().map(Store::directory)
    }

    /// Makes what takes a second the first time.
    pub fn prepare(&self) {
        if self.store.is_some() {
            // What is wrong is said to whoever asks.
            let _ = self.experiments();
        }
    }

    /// The experiments with the names of all their cells, made when they are needed first.
    fn experiments(&self) -> Result<&[Known]> {
        if let Some(known) = self.experiments.get() {
            return Ok(known);
        }
        let known = built_in::names().map(Known::new).collect::<Result<Vec<_>>>()?;
        Ok(self.experiments.get_or_init(|| known))
    }

    /// All experiments, those with results first.
    pub fn results(&self) -> Result<Results> {
        let Some(store) = &self.store else { return Ok(Results { store: None, experiments: Vec::new() }) };
        let files = store.identities();
        let summary = |known: &Known| Summary {
            name: known.name,
            title: known.title(),
            scales: known.scales.iter().map(|grids| grids.summary(&files)).collect(),
        };
        let mut experiments: Vec<Summary> = self.experiments()?.iter().map(summary).collect();
        experiments.sort_by_key(|summary| summary.scales.iter().all(|scale| scale.done == 0));
        Ok(Results { store: Some(store.directory().display().to_string()), experiments })
    }

    /// What became of an experiment at a scale, or at the one with most results.
    pub fn chapter(&self, name: &str, scale: Option<&str>) -> Result<Option<Chapter>> {
        let Some(store) = &self.store else { return Ok(None) };
        let Some(known) = self.experiments()?.iter().find(|known| known.name == name) else { return Ok(None) };
        let experiment = &known.experiment;
        let grids = match scale {
            Some(name) => known.scales.iter().find(|grids| grids.name == name).with_context(|| {
                let names: Vec<&str> = known.scales.iter().map(|grids| grids.name.as_str()).collect();
                format!("there is no scale {name}; the experiment has {}", names.join(", "))
            })?,
            None => {
                let files = store.identities();
                // Of several with as many results, the first one.
                let best = known.scales.iter().rev().max_by_key(|grids| grids.summary(&files).done);
                best.context("the experiment has no cells")?
            }
        };
        let cells: Vec<Measure> = experiment.cells(&grids.scale)?;
        let Loaded { table, damaged, outstanding, .. } = analysis::load(&cells, store)?;
        let (analysis, problem) = match table.is_empty() {
            true => (Analysis::default(), Some("there are no results at this scale yet".to_owned())),
            false => {
                let outstanding = outstanding.with_larger_sizes(experiment, &grids.scale)?;
                analyse(&experiment.plan, &table, &outstanding)
            }
        };
        Ok(Some(Chapter {
            name: known.name,
            title: known.title(),
            expects: experiment.expects.clone(),
            caption: experiment.caption.clone().unwrap_or_default(),
            scale: grids.name.clone(),
            cells: cells.len(),
            done: table.len(),
            damaged,
            analysis,
            problem,
        }))
    }
}

impl Known {
    fn new(name: &'static str) -> Result<Self> {
        let experiment = built_in::find(name)?;
        let mut named: Vec<(String, Scale)> = Vec::new();
        for scale in experiment.scale_names() {
            named.push((scale.to_owned(), scale.parse().map_err(|reason| anyhow!("{name}: {reason}"))?));
        }
        if named.is_empty() {
            // It has the same cells at every scale.
            named.push((GRID.to_owned(), Scale::QUICK));
        }
        let grids = |(name, scale): (String, Scale)| {
            let cells = experiment.cells(&scale)?.iter().map(Measure::identity).collect();
            Ok(Grids { name, scale, cells })
        };
        let scales = named.into_iter().map(grids).collect::<Result<Vec<_>>>()?;
        Ok(Known { name, experiment, scales })
    }

    fn title(&self) -> String {
        self.experiment.title.clone().unwrap_or_else(|| self.name.to_owned())
    }
}

impl Grids {
    fn summary(&self, files: &HashSet<String>) -> ScaleSummary {
        let done = self.cells.iter().filter(|cell| files.contains(*cell)).count();
        ScaleSummary { name: self.name.clone(), cells: self.cells.len(), done }
    }
}

/// As much of the analysis as these results allow, and what is wrong with the rest.
fn analyse(plan: &Plan, table: &Table, outstanding: &Outstanding) -> (Analysis, Option<String>) {
    let mut problems = Vec::new();
    let mut note = |error: anyhow::Error| problems.push(format!("{error:#}"));
    let mut analysis = Analysis::default();
    match analysis::fit(&plan.fits, table) {
        Err(error) => note(error),
        Ok(fitted) => {
            analysis.fits = plan.fits.iter().zip(&fitted).map(|(fit, fitted)| fit_result(fit, fitted)).collect();
            analysis.thresholds =
                plan.fits.iter().zip(&fitted).flat_map(|(fit, fitted)| thresholds(fit, fitted)).collect();
            match analysis::judge(plan, &fitted, outstanding) {
                Ok(claims) => analysis.claims = claims.iter().map(claim).collect(),
                Err(error) => note(error),
            }
            match analysis::families(plan, table, &fitted) {
                Ok(families) => analysis.curves = families.into_iter().map(curve_family).collect(),
                Err(error) => note(error),
            }
            match analysis::draw(plan, table, &fitted) {
                Ok(figure) => analysis.svg = Some(figure.svg()),
                Err(error) => note(error),
            }
        }
    }
    (analysis, (!problems.is_empty()).then(|| problems.join("; ")))
}

fn number(estimate: &Estimate, group: Map<String, Value>, words: String) -> Number {
    let Estimate { value, interval, seeds, ref because, .. } = *estimate;
    Number { group, words, value, interval, seeds, because: because.clone() }
}

fn of_group(fitted: &Fitted, found: &Found) -> Number {
    number(&found.estimate, fitted.named(found), fitted.words(found))
}

fn fit_result(fit: &Fit, fitted: &Fitted) -> FitResult {
    let kind = match fit.kind {
        Kind::Threshold { .. } => "threshold",
        Kind::Exponent { .. } => "exponent",
        Kind::Collapse { .. } => "collapse",
        Kind::Mean { .. } => "mean",
        Kind::Ratio { .. } => "ratio",
    };
    let found = fitted.found.iter().map(|found| of_group(fitted, found)).collect();
    FitResult { name: fitted.name.clone(), kind, found }
}

fn thresholds(fit: &Fit, fitted: &Fitted) -> Vec<Threshold> {
    let Kind::Threshold { level, .. } = fit.kind else { return Vec::new() };
    let threshold = |found| Threshold { fit: fitted.name.clone(), level, number: of_group(fitted, found) };
    fitted.found.iter().map(threshold).collect()
}

fn curve_family(family: Family) -> CurveFamily {
    let Family { fit, group, x, y, by, predicted, exponent, level, curves } = family;
    let curve = |MeanCurve { by, label, points }: MeanCurve| {
        let point =
            |point: analysis::MeanPoint| CurvePoint { x: point.x, y: point.y, stderr: point.error, seeds: point.seeds };
        Curve { by, label, points: points.into_iter().map(point).collect() }
    };
    let measured = exponent.map(|estimate| number(&estimate, Map::new(), group.clone()));
    let curves = curves.into_iter().map(curve).collect();
    CurveFamily { fit, group, x, y, by, predicted, measured, level, curves }
}

fn claim(judged: &Judged) -> Claim {
    Claim {
        id: judged.id.clone(),
        statement: judged.statement.clone(),
        source: judged.source,
        group: judged.words(),
        expected: judged.expectation(),
        correction: judged.correction.clone(),
        estimate: judged.estimate,
        interval: judged.interval,
        verdict: judged.verdict,
        because: judged.because.clone(),
        reason: judged.reason.clone(),
    }
}
