//! An experiment: a measure on a grid of parameters, read from a TOML file.
//!
//! ```toml
//! measure = "train"
//! expects = "Curves of all vocabularies collapse if samples are divided by vocab^2."
//!
//! [parameters]            # shared by all grids
//! model = "cnn"
//! depth = 2
//! fraction = "1 / vocab"
//! samples = "ratio * vocab^2"
//!
//! [[quick]]               # the cells are the product of all lists; several grids are joined
//! vocab = [8, 16]
//! ratio = [4, 16, 64]     # not a parameter of the measure: a variable for expressions
//! width = 64
//! seed = "1..3"           # 1, 2, 3
//!
//! [[full]]
//! …
//! ```
//!
//! `[[fit]]`, `[[claim]]` and `[[panel]]` define the analysis of the results: see [`plan`]. `uses = ["cnn", "snr"]`
//! also reads the results of other experiments; an experiment without a measure only compares them. `title`, `caption`
//! and `figure` are texts for the report.
//!
//! Scales can have any name that is not another key; an experiment with one scale has `[[grid]]` instead. A value is a
//! number, a string, an expression, a list, a range `"first..last"`, or `{ from = 100, to = 1e5, points = 7 }` for
//! numbers that grow by a constant factor.

pub mod built_in;
mod expression;
mod fields;
pub mod filter;
mod grid;
pub mod key;
pub mod plan;
pub mod quantity;
mod scale;
mod source;

pub use scale::Scale;
pub use source::Source;

use crate::measure::{Description, Measure, Measures};
use crate::nearest;
use anyhow::{Context, Result, anyhow, bail};
use nearest::suggestion;
use plan::Plan;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use toml::Table;

/// A measure on grids of parameters, and the analysis of its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The measure; `None` if the experiment only compares the results of others.
    measure: Option<Arc<Description>>,
    /// The heading of its section in the report.
    pub title: Option<String>,
    /// What the result should show; may be empty.
    pub expects: String,
    /// A caption for readers who have not read the paper.
    pub caption: Option<String>,
    /// The name of the figure in reports and files.
    pub figure: Option<String>,
    /// Other experiments whose results it uses, by name.
    uses: Vec<(String, Experiment)>,
    /// Values shared by all grids.
    parameters: Table,
    /// The grids of an experiment with a single scale.
    grid: Vec<Table>,
    /// The grids of each scale, the usual scales first.
    scales: Vec<(Scale, Vec<Table>)>,
    /// The analysis.
    pub plan: Plan,
}

/// The known keys of an experiment, besides scales.
const KEYS: [&str; 14] = [
    "measure",
    "uses",
    "title",
    "expects",
    "caption",
    "figure",
    "parameters",
    "grid",
    "quick",
    "day",
    "full",
    "fit",
    "claim",
    "panel",
];

/// Maximum nesting of `uses`; deeper nesting means a cycle.
const DEEPEST_USE: usize = 4;

impl Experiment {
    /// Reads an experiment from a file.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_with(path, &Measures::default())
    }

    /// Reads an experiment from a file that can use these measures.
    pub fn read_with(path: &Path, measures: &Measures) -> Result<Self> {
        Source::File(path.to_owned()).read_with(measures)
    }

    /// Parses an experiment. All cells are expanded once, so that every error is found here. Files named in `uses` are
    /// relative to the working directory.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_with(text, &Measures::default())
    }

    /// Parses an experiment that can use these measures.
    pub fn parse_with(text: &str, measures: &Measures) -> Result<Self> {
        Self::parse_in(text, &Place { measures, directory: Path::new(""), depth: 0 })
    }

    fn parse_in(text: &str, place: &Place) -> Result<Self> {
        let measures = place.measures;
        let mut table: Table = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            anyhow!("line {line}: {}", error.message())
        })?;
        if let Some((key, value)) = table.iter().find(|(key, value)| !KEYS.contains(&key.as_str()) && !is_tables(value))
        {
            let hint = suggestion(key, KEYS);
            if value.is_table() && hint.is_empty() {
                bail!("write [[{key}]] with double brackets if it is a scale, which can have several grids");
            }
            bail!(
                "{key}: unknown key, expected one of {}, or a scale{hint} \
                 Parameters belong below [parameters] or [[grid]]",
                KEYS.join(", "),
                hint = if hint.is_empty() { "." } else { &hint }
            );
        }
        let uses = uses(table.remove("uses"), place).context("uses")?;
        let measure = match table.remove("measure") {
            Some(toml::Value::String(name)) => Some(measures.find(&name)?.clone()),
            Some(other) => bail!("measure is {other}, expected one of {}", measures.names().join(", ")),
            None if !uses.is_empty() => None,
            None => {
                bail!("measure is missing: write measure = \"entropy\", or another of {}", measures.names().join(", "))
            }
        };
        let mut text = |key: &str| match table.remove(key) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text.trim().to_owned())),
            Some(other) => Err(anyhow!("{key} is {other}, expected a string")),
        };
        let (title, caption, figure) = (text("title")?, text("caption")?, text("figure")?);
        let expects = text("expects")?.unwrap_or_default();
        if let Some(name) = &figure {
            scale::check_name(name).map_err(|error| anyhow!("figure: {error}"))?;
        }
        let parameters = match table.remove("parameters") {
            None => Table::new(),
            Some(toml::Value::Table(table)) => table,
            Some(_) => bail!("expected one table [parameters], with single brackets"),
        };
        let grid = tables(&mut table, "grid")?;
        let [fits, claims, panels] =
            [tables(&mut table, "fit")?, tables(&mut table, "claim")?, tables(&mut table, "panel")?];
        let mut columns: Vec<&str> = Vec::new();
        for measure in measure.iter().chain(uses.iter().flat_map(|(_, used)| used.measures())) {
            let more: Vec<&str> = measure.columns().into_iter().filter(|name| !columns.contains(name)).collect();
            columns.extend(more);
        }
        let plan = Plan::read(&fits, &claims, &panels, &columns)?;
        let mut scales = Vec::new();
        for name in table.keys().cloned().collect::<Vec<_>>() {
            let scale: Scale = name.parse().map_err(|error| anyhow!("[[{name}]]: {error}"))?;
            scales.push((scale, tables(&mut table, &name)?));
        }
        scales.sort_by(|(one, _), (other, _)| one.order().cmp(&other.order()));
        let is_measured = measure.is_some();
        let experiment = Experiment { measure, title, expects, caption, figure, uses, parameters, grid, scales, plan };
        match (experiment.grid.is_empty(), experiment.scales.is_empty()) {
            (true, true) if !is_measured => {}
            _ if !is_measured => bail!("measure is missing: there are grids, but no measure"),
            (true, true) => bail!("expected [[grid]], or scales such as [[quick]] and [[full]]"),
            (false, false) => bail!(
                "expected either [[grid]] or scales, not both: found [[{}]]",
                experiment.scale_names().join("]], [[")
            ),
            (false, true) => drop(experiment.cells(&Scale::QUICK)?),
            (true, false) => {
                for (scale, _) in &experiment.scales {
                    let hint = || match nearest::nearest(scale.name(), scale::RESERVED) {
                        Some(key) if !Scale::USUAL.contains(scale) => format!("; did you mean [[{key}]]?"),
                        _ => String::new(),
                    };
                    experiment.cells(scale).map_err(|error| anyhow!("{error:#}{}", hint()))?;
                }
            }
        }
        Ok(experiment)
    }

    /// The names of the experiments whose results it uses.
    pub fn used(&self) -> impl Iterator<Item = &str> {
        self.uses.iter().map(|(name, _)| name.as_str())
    }

    /// The measures of its cells, without duplicates.
    pub fn measures(&self) -> Vec<&Arc<Description>> {
        let mut measures: Vec<&Arc<Description>> = self.measure.iter().collect();
        for measure in self.uses.iter().flat_map(|(_, used)| used.measures()) {
            if !measures.contains(&measure) {
                measures.push(measure);
            }
        }
        measures
    }

    /// The names of its scales; empty if it has `[[grid]]` instead. An experiment without a measure has the scales of
    /// the experiments that it uses.
    pub fn scale_names(&self) -> Vec<&str> {
        let mut own: Vec<&Scale> = self.all_scales();
        own.sort_by_key(|scale| scale.order());
        own.into_iter().map(Scale::name).collect()
    }

    fn all_scales(&self) -> Vec<&Scale> {
        if self.measure.is_some() {
            return self.scales.iter().map(|(scale, _)| scale).collect();
        }
        let mut all: Vec<&Scale> = Vec::new();
        for scale in self.uses.iter().flat_map(|(_, used)| used.all_scales()) {
            if !all.contains(&scale) {
                all.push(scale);
            }
        }
        all
    }

    /// The scale to use: the one asked for, or by default `quick` if it exists, or the only one. Fails if the scale
    /// does not exist, or was given but has no effect.
    pub fn scale(&self, asked: Option<&Scale>) -> Result<Scale> {
        let all = self.all_scales();
        match (asked, all.as_slice()) {
            (Some(_), []) => bail!("--scale has no effect here: the experiment has one scale, [[grid]]"),
            (None, []) => Ok(Scale::QUICK),
            (Some(scale), _) => self.has(scale).map(|()| scale.clone()),
            (None, _) if all.contains(&&Scale::QUICK) => Ok(Scale::QUICK),
            (None, [only]) => Ok((*only).clone()),
            (None, _) => bail!("--scale is missing: the experiment has the scales {}", self.scale_names().join(", ")),
        }
    }

    /// Fails if the scale does not exist. An experiment with `[[grid]]` accepts any.
    fn has(&self, scale: &Scale) -> Result<()> {
        let all = self.all_scales();
        if !all.is_empty() && !all.contains(&scale) {
            bail!("unknown scale {}; the experiment has {}", scale.name(), self.scale_names().join(", "));
        }
        Ok(())
    }

    /// The distinct cells of a scale: its own in grid order, then those of the experiments that it uses.
    pub fn cells(&self, scale: &Scale) -> Result<Vec<Measure>> {
        self.has(scale)?;
        let (mut cells, mut seen) = (Vec::new(), HashSet::new());
        self.add_own_cells(scale, &mut |cell: Measure| {
            if seen.insert(cell.identity()) {
                cells.push(cell);
            }
            match cells.len() > grid::MAX_CELLS {
                true => bail!("the grids have more than {} cells in total", grid::MAX_CELLS),
                false => Ok(()),
            }
        })?;
        Ok(cells)
    }

    fn add_own_cells(&self, scale: &Scale, add: &mut dyn FnMut(Measure) -> Result<()>) -> Result<()> {
        let (kind, grids) = match self.scales.iter().find(|(own, _)| own == scale) {
            Some((_, grids)) => (scale.name(), grids.as_slice()),
            None => ("grid", self.grid.as_slice()),
        };
        for (i, own) in grids.iter().enumerate() {
            let place = || format!("[[{kind}]] number {}", i + 1);
            let mut table = self.parameters.clone();
            table.extend(own.clone());
            let Some(measure) = &self.measure else { continue };
            for values in grid::expand(&table, measure).with_context(place)? {
                add(measure.cell(values).with_context(place)?)?;
            }
        }
        for (name, used) in &self.uses {
            used.has(scale).with_context(|| name.clone())?;
            used.add_own_cells(scale, add).with_context(|| name.clone())?;
        }
        Ok(())
    }
}

/// The context in which an experiment is read.
struct Place<'a> {
    measures: &'a Measures,
    /// The directory of files named in `uses`.
    directory: &'a Path,
    /// The nesting depth of `uses`.
    depth: usize,
}

/// Reads the experiments with these names: files in the same directory, or built-in ones.
fn uses(value: Option<toml::Value>, place: &Place) -> Result<Vec<(String, Experiment)>> {
    let wrong = "expected a list of experiments, such as [\"cnn\", \"snr\"]";
    let names = match value {
        None => return Ok(Vec::new()),
        Some(toml::Value::Array(names)) if !names.is_empty() => names,
        Some(_) => bail!(wrong),
    };
    if place.depth == DEEPEST_USE {
        bail!("uses is nested more than {DEEPEST_USE} levels deep, or cyclic");
    }
    let mut found = Vec::new();
    for name in names {
        let toml::Value::String(name) = name else { bail!(wrong) };
        let beside = place.directory.join(&name);
        let source = Source::find(if beside.exists() { &beside } else { Path::new(&name) })?;
        let experiment = source.read_in(place.measures, place.depth + 1)?;
        found.push((name, experiment));
    }
    Ok(found)
}

/// Whether a value is written as `[[name]]`.
fn is_tables(value: &toml::Value) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(toml::Value::is_table))
}

/// Removes and returns the tables with this name.
fn tables(table: &mut Table, name: &str) -> Result<Vec<Table>> {
    match table.remove(name) {
        None => Ok(Vec::new()),
        Some(toml::Value::Array(list)) if list.iter().all(toml::Value::is_table) => {
            Ok(list.into_iter().filter_map(|item| item.try_into().ok()).collect())
        }
        Some(_) => bail!("write [[{name}]] with double brackets: there can be several"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = r#"
        measure = "entropy"
        expects = "something"
        [parameters]
        depth = 2
        fraction = "shift + 1 / vocab"
        [[quick]]
        vocab = [4, 8]
        shift = [0, 0.125]
        seed = "1..3"
        [[quick]]
        vocab = 8
        shift = 0.125
        seed = [3, 4]
        [[full]]
        vocab = 8
        shift = 0
        sentences = { from = 100, to = 1e4, points = 3 }
        seed = 1
    "#;

    #[test]
    fn cells_are_the_product_of_lists_each_once() {
        let experiment = Experiment::parse(EXAMPLE).unwrap();
        let cells = experiment.cells(&Scale::QUICK).unwrap();
        // 2 vocabularies, 2 shifts, 3 seeds; the second grid adds one new seed.
        assert_eq!(cells.len(), 13);
        let parameters = cells[0].parameters();
        assert_eq!(parameters["fraction"], 0.25);
        assert!(!parameters.contains_key("shift"));
        let full = experiment.cells(&Scale::FULL).unwrap();
        let sentences: Vec<_> = full.iter().map(|cell| cell.parameters()["sentences"].as_u64().unwrap()).collect();
        assert_eq!(sentences, [100, 1000, 10_000]);
    }

    #[test]
    fn sizes_are_checked_before_cells_are_made() {
        let wrong = |from: &str, to: &str| format!("{:#}", Experiment::parse(&EXAMPLE.replace(from, to)).unwrap_err());
        for range in ["1..9000000000000000000", "0..18446744073709551615", "1..1000000000", "1..100001"] {
            let error = wrong("1..3", range);
            assert!(
                error.starts_with("[[quick]] number 1: seed: the range") && error.contains("more than 100000 values"),
                "{error}"
            );
        }
        assert!(
            wrong("points = 3", "points = 9000000000000000000").contains("sentences: expected at most 100000 points")
        );
        let error = wrong("1..3", "1..30000");
        assert!(error.contains("more than 100000 cells: 30000 of seed times 2 of shift times 2 of vocab"), "{error}");
        // A product that overflows: 10 names with 100 values each.
        let list: Vec<String> = (1..=100).map(|value| value.to_string()).collect();
        let many: String = (0..10).map(|k| format!("x{k} = [{}]\n", list.join(","))).collect();
        assert!(wrong("depth = 2", &format!("depth = 2\n{many}")).contains("more than 100000 cells"));
        let names: String = (0..100_000).map(|k| format!("x{k} = 1\n")).collect();
        assert!(wrong("depth = 2", &names).contains(" names, expected at most 100"));
        // Grids that are small individually.
        let grids: String = (0..11)
            .map(|k| format!("[[full]]\nvocab = 8\nshift = 0\nseed = '{}..{}'\n", k * 10_000 + 1, (k + 1) * 10_000))
            .collect();
        assert!(wrong("[[full]]", &format!("{grids}[[full]]")).contains("more than 100000 cells in total"));
    }

    #[test]
    fn nesting_is_no_way_to_crash() {
        let deep = |open: &str, close: &str| open.repeat(200_000) + "1" + &close.repeat(200_000);
        let error = |value: &str| {
            let text = EXAMPLE.replace("depth = 2", &format!("depth = {value}"));
            format!("{:#}", Experiment::parse(&text).unwrap_err())
        };
        assert!(error(&format!("\"{}\"", deep("(", ")"))).contains("depth: the expression is nested more than 100"));
        for value in [deep("[", "]"), deep("{ a = ", " }")] {
            assert!(error(&value).starts_with("line 5: "), "{}", error(&value));
        }
        let keys = format!("{}a = 1", "a.".repeat(200_000));
        for text in [keys.clone(), format!("[{}a]", "a.".repeat(200_000)), format!("x = {{ {keys} }}")] {
            assert!(Experiment::parse(&text).is_err());
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (from, to, expected) in [
            ("\"entropy\"", "\"colour\"", "unknown measure colour, expected one of entropy, learn, "),
            ("\"entropy\"", "\"Entropie\"", "; did you mean entropy?"),
            ("\"entropy\"", "1", "measure is 1, expected one of entropy, "),
            ("measure = \"entropy\"", "", "measure is missing: write measure = \"entropy\", or another of "),
            ("\"something\"", "[1]", "expects is [1], expected a string"),
            (
                "expects",
                "expect",
                "expect: unknown key, expected one of measure, uses, title, expects, caption, figure, parameters, grid, quick, day, full, fit, claim, panel, or a scale; did you mean expects? Parameters belong below",
            ),
            ("expects", "colour", "fit, claim, panel, or a scale. Parameters belong below"),
            ("[[full]]", "[full]", "write [[full]] with double brackets"),
            ("[[full]]", "[grid]", "write [[grid]] with double brackets"),
            ("[parameters]", "[[parameters]]", "expected one table [parameters], with single brackets"),
            ("[[full]]", "[[grid]]", "not both: found [[quick]]"),
            ("[[full]]", "[night]", "write [[night]] with double brackets if it is a scale"),
            ("[[full]]", "[['two nodes']]", "[[two nodes]]: expected a name of at most 40 letters"),
            ("[[full]]", "[[clam]]\nid = 1\n[[full]]", "; did you mean [[claim]]?"),
            ("shift + 1", "shft + 1", "fraction: unknown name shft; did you mean shift?"),
            (
                "shift + 1 / vocab",
                "1 / vocab",
                "shift is not a parameter of entropy, and no expression uses it. Parameters: vocab, depth, fraction, ",
            ),
            (
                "depth = 2",
                "depht = \"two\"",
                "depht is not a parameter of entropy, and no expression uses it; did you mean depth?",
            ),
            ("depth = 2", "", "[[quick]] number 1: depth is missing: measure entropy needs vocab, depth, "),
            ("depth = 2", "depth = 2.5", "[[quick]] number 1: depth is 2.5, expected a whole number"),
            ("depth = 2", "depth = \"two\"", "[[quick]] number 1: depth: unknown name two"),
            (
                "depth = 2",
                "depth = 2026-01-01",
                "depth: expected a number, an expression in quotes, or a list of them, found 2026-01-01",
            ),
            ("depth = 2", "depth = ", "line 5"),
            ("depth = 2", "depth = \"1 - vocab\"", "[[quick]] number 1: depth is -3, expected a whole number"),
            ("[4, 8]", "[]", "vocab: expected at least one value"),
            ("1..3", "3..1", "seed: expected a range of whole numbers such as \"1..10\", found 3..1"),
            (
                "1..3",
                "1-3",
                "[[quick]] number 1: seed: \"1-3\" is a difference; write \"1..3\" for all whole numbers from 1 to 3",
            ),
            ("\"1..3\"", "[\"1-3\", 7]", "write \"1..3\""),
            ("\"1..3\"", "[\"1..3\", 7]", "seed: the range \"1..3\" cannot be in a list"),
            ("points = 3", "point = 3", "[[full]] number 1: sentences: expected { from = 100, to = 1e5, points = 7 }"),
        ] {
            let error = format!("{:#}", Experiment::parse(&EXAMPLE.replacen(from, to, 1)).unwrap_err());
            assert!(error.contains(expected), "{to}: {error}");
            for internal in ["`", "field", "variant", "usize", "u64", "f64", "invalid type", "invalid value"] {
                assert!(!error.contains(internal) || expected.contains("line"), "{to}: {error}");
            }
        }
        let second = EXAMPLE.replace("shift = 0.125", "shift = \"x\"");
        let error = format!("{:#}", Experiment::parse(&second).unwrap_err());
        assert!(error.starts_with("[[quick]] number 2: shift: "), "{error}");
    }

    #[test]
    fn nobody_has_to_say_what_is_expected() {
        let silent = Experiment::parse(&EXAMPLE.replace("expects = \"something\"", "")).unwrap();
        assert_eq!(silent.expects, "");
        let cells = |experiment: &Experiment| experiment.cells(&Scale::QUICK).unwrap();
        assert_eq!(cells(&silent), cells(&Experiment::parse(EXAMPLE).unwrap()));
    }
}
