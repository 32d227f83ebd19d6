//! An experiment: what is measured on a grid of parameters, read from a TOML file.
//!
//! ```toml
//! measure = "train"
//! expects = "Curves of all vocabularies fall on one another if samples are divided by vocab^2."
//!
//! [parameters]            # shared by all grids
//! model = "cnn"
//! depth = 2
//! fraction = "1 / vocab"
//! samples = "ratio * vocab^2"
//!
//! [[quick]]               # the cells are the product of all lists; several grids are joined
//! vocab = [8, 16]
//! ratio = [4, 16, 64]     # no parameter of the measure: a variable for expressions
//! width = 64
//! seed = "1..3"           # 1, 2, 3
//!
//! [[full]]
//! …
//! ```
//!
//! `[[fit]]`, `[[claim]]` and `[[panel]]` say what is made of the results: see [`plan`].
//!
//! Scales can have any name that is no other key; an experiment with one scale has `[[grid]]` instead. A value is a number, a text, an expression, a list,
//! a range `"first..last"`, or `{ from = 100, to = 1e5, points = 7 }` for numbers that grow by a constant factor.

pub mod built_in;
mod expression;
mod fields;
pub mod filter;
mod grid;
pub mod key;
mod nearest;
pub mod plan;
pub mod quantity;
mod scale;
mod source;

pub use scale::Scale;
pub use source::Source;

use crate::files::SystemError;
use crate::measure::{self, Measure};
use anyhow::{Context, Result, anyhow, bail};
use nearest::suggestion;
use plan::Plan;
use std::collections::HashSet;
use std::path::Path;
use toml::Table;

/// A measure on grids of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The name of the measure.
    measure: String,
    /// What the result should show; empty if nobody said.
    pub expects: String,
    /// Values that all grids share.
    parameters: Table,
    /// The grids of an experiment with a single scale.
    grid: Vec<Table>,
    /// The grids of each scale, the usual scales first.
    scales: Vec<(Scale, Vec<Table>)>,
    /// What is made of the results.
    pub plan: Plan,
}

/// What an experiment may say, besides scales of any other name.
const KEYS: [&str; 10] = ["measure", "expects", "parameters", "grid", "quick", "day", "full", "fit", "claim", "panel"];

impl Experiment {
    /// Reads an experiment from a file.
    pub fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| SystemError::about(format!("{shown}: cannot be read"), error))?;
        Self::parse(&text).with_context(|| shown.to_string())
    }

    /// Reads an experiment from the text of a file. All cells are made once, so that whatever is wrong is found here.
    pub fn parse(text: &str) -> Result<Self> {
        let mut table: Table = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            anyhow!("line {line}: {}", error.message())
        })?;
        if let Some((key, value)) = table.iter().find(|(key, value)| !KEYS.contains(&key.as_str()) && !is_tables(value))
        {
            let hint = suggestion(key, KEYS);
            if value.is_table() && hint.is_empty() {
                bail!("write [[{key}]] in double brackets if it is a scale: there can be several grids");
            }
            bail!(
                "{key}: did not expect this here, only {}, and scales of other names{hint} \
                 Parameters belong below [parameters] or [[grid]]",
                KEYS.join(", "),
                hint = if hint.is_empty() { "." } else { &hint }
            );
        }
        let measure = match table.remove("measure") {
            Some(toml::Value::String(name)) if measure::NAMES.contains(&name.as_str()) => name,
            Some(toml::Value::String(name)) => {
                let hint = suggestion(&name, measure::NAMES.iter().copied());
                bail!("there is no measure {name:?}, expected one of {}{hint}", measure::NAMES.join(", "))
            }
            Some(other) => bail!("measure is {other}, expected one of {}", measure::NAMES.join(", ")),
            None => {
                bail!("measure is missing: write measure = \"entropy\", or another of {}", measure::NAMES.join(", "))
            }
        };
        let expects = match table.remove("expects") {
            None => String::new(),
            Some(toml::Value::String(text)) => text,
            Some(other) => bail!("expects is {other}, expected a text"),
        };
        let parameters = match table.remove("parameters") {
            None => Table::new(),
            Some(toml::Value::Table(table)) => table,
            Some(_) => bail!("expected one table [parameters], in single brackets"),
        };
        let grid = tables(&mut table, "grid")?;
        let [fits, claims, panels] =
            [tables(&mut table, "fit")?, tables(&mut table, "claim")?, tables(&mut table, "panel")?];
        let plan = Plan::read(&fits, &claims, &panels, &measure::columns(&measure))?;
        let mut scales = Vec::new();
        for name in table.keys().cloned().collect::<Vec<_>>() {
            let scale: Scale = name.parse().map_err(|error| anyhow!("[[{name}]]: {error}"))?;
            scales.push((scale, tables(&mut table, &name)?));
        }
        scales.sort_by(|(one, _), (other, _)| one.order().cmp(&other.order()));
        let experiment = Experiment { measure, expects, parameters, grid, scales, plan };
        match (experiment.grid.is_empty(), experiment.scales.is_empty()) {
            (true, true) => bail!("expected [[grid]], or scales such as [[quick]] and [[full]]"),
            (false, false) => bail!(
                "expected either [[grid]] or scales, not both: there is [[{}]] too",
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

    /// The names of its scales; none if it has `[[grid]]` instead.
    pub fn scale_names(&self) -> Vec<&str> {
        self.scales.iter().map(|(scale, _)| scale.name()).collect()
    }

    /// The scale that is meant by an option, or by none: `quick` if there is one, or the only one. What has no effect and what
    /// does not exist is refused.
    pub fn scale(&self, asked: Option<&Scale>) -> Result<Scale> {
        let usual = |scale: &Scale| self.scales.iter().any(|(own, _)| own == scale);
        match (asked, self.scales.as_slice()) {
            (Some(_), []) => bail!("--scale has no effect here: the experiment has one scale, [[grid]]"),
            (None, []) => Ok(Scale::QUICK),
            (Some(scale), _) => self.grids(scale).map(|_| scale.clone()),
            (None, _) if usual(&Scale::QUICK) => Ok(Scale::QUICK),
            (None, [(only, _)]) => Ok(only.clone()),
            (None, _) => bail!("--scale is missing: the experiment has the scales {}", self.scale_names().join(", ")),
        }
    }

    /// The grids of a scale. An experiment with `[[grid]]` has the same for all.
    fn grids(&self, scale: &Scale) -> Result<&[Table]> {
        if !self.grid.is_empty() {
            return Ok(&self.grid);
        }
        let names = self.scale_names();
        let found = self.scales.iter().find(|(own, _)| own == scale).map(|(_, grids)| grids.as_slice());
        found.with_context(|| format!("there is no scale {}; the experiment has {}", scale.name(), names.join(", ")))
    }

    /// The cells of a scale, each once, in the order of the grids.
    pub fn cells(&self, scale: &Scale) -> Result<Vec<Measure>> {
        let grids = self.grids(scale)?;
        let kind = if self.grid.is_empty() { scale.name() } else { "grid" };
        let (mut cells, mut seen) = (Vec::new(), HashSet::new());
        for (i, own) in grids.iter().enumerate() {
            let place = || format!("[[{kind}]] number {}", i + 1);
            let mut table = self.parameters.clone();
            table.extend(own.clone());
            for values in grid::expand(&table, &self.measure).with_context(place)? {
                let cell = Measure::new(&self.measure, values).with_context(place)?;
                if seen.insert(cell.identity()) {
                    cells.push(cell);
                }
                if cells.len() > grid::MAX_CELLS {
                    bail!("the grids have more than {} cells together", grid::MAX_CELLS);
                }
            }
        }
        Ok(cells)
    }
}

/// Whether a value is written as `[[name]]`.
fn is_tables(value: &toml::Value) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(toml::Value::is_table))
}

/// Takes the tables of this name out of another.
fn tables(table: &mut Table, name: &str) -> Result<Vec<Table>> {
    match table.remove(name) {
        None => Ok(Vec::new()),
        Some(toml::Value::Array(list)) if list.iter().all(toml::Value::is_table) => {
            Ok(list.into_iter().filter_map(|item| item.try_into().ok()).collect())
        }
        Some(_) => bail!("write [[{name}]] in double brackets: there can be several"),
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
        assert!(wrong("depth = 2", &names).contains("names have values, expected at most 100"));
        // Grids that are small one by one.
        let grids: String = (0..11)
            .map(|k| format!("[[full]]\nvocab = 8\nshift = 0\nseed = '{}..{}'\n", k * 10_000 + 1, (k + 1) * 10_000))
            .collect();
        assert!(wrong("[[full]]", &format!("{grids}[[full]]")).contains("more than 100000 cells together"));
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
            ("\"entropy\"", "\"colour\"", "there is no measure \"colour\", expected one of entropy, learn, "),
            ("\"entropy\"", "\"Entropie\"", "; did you mean entropy?"),
            ("\"entropy\"", "1", "measure is 1, expected one of entropy, "),
            ("measure = \"entropy\"", "", "measure is missing: write measure = \"entropy\", or another of "),
            ("\"something\"", "[1]", "expects is [1], expected a text"),
            (
                "expects",
                "expect",
                "expect: did not expect this here, only measure, expects, parameters, grid, quick, day, full, fit, claim, panel, and scales of other names; did you mean expects? Parameters belong below",
            ),
            ("expects", "colour", "fit, claim, panel, and scales of other names. Parameters belong below"),
            ("[[full]]", "[full]", "write [[full]] in double brackets"),
            ("[[full]]", "[grid]", "write [[grid]] in double brackets"),
            ("[parameters]", "[[parameters]]", "expected one table [parameters], in single brackets"),
            ("[[full]]", "[[grid]]", "not both: there is [[quick]] too"),
            ("[[full]]", "[night]", "write [[night]] in double brackets if it is a scale"),
            ("[[full]]", "[['two nodes']]", "[[two nodes]]: expected a name of at most 40 letters"),
            ("[[full]]", "[[clam]]\nid = 1\n[[full]]", "; did you mean [[claim]]?"),
            ("shift + 1", "shft + 1", "fraction: there is no number named shft; did you mean shift?"),
            (
                "shift + 1 / vocab",
                "1 / vocab",
                "shift is no parameter of entropy, and no expression uses it. Parameters: vocab, depth, fraction, ",
            ),
            (
                "depth = 2",
                "depht = \"two\"",
                "depht is no parameter of entropy, and no expression uses it; did you mean depth?",
            ),
            ("depth = 2", "", "[[quick]] number 1: depth is missing: measure entropy needs vocab, depth, "),
            ("depth = 2", "depth = 2.5", "[[quick]] number 1: depth is 2.5, expected a whole number"),
            ("depth = 2", "depth = \"two\"", "[[quick]] number 1: depth: there is no number named two"),
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
                "[[quick]] number 1: seed: \"1-3\" is a difference; write \"1..3\" for all numbers from 1 to 3",
            ),
            ("\"1..3\"", "[\"1-3\", 7]", "write \"1..3\""),
            ("\"1..3\"", "[\"1..3\", 7]", "seed: the range \"1..3\" must stand alone"),
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
