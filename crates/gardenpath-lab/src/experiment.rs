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
//! An experiment with one scale has `[[grid]]` instead of `[[quick]]` and `[[full]]`. A value is a number, a text, an expression, a list,
//! a range `"first..last"`, or `{ from = 100, to = 1e5, points = 7 }` for numbers that grow by a constant factor.

mod expression;
mod grid;

use crate::measure::{self, Measure};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::HashSet;
use std::path::Path;
use toml::Table;

/// How large the grid of an experiment is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Scale {
    /// A few minutes on two cores
    #[default]
    Quick,
    /// The sizes of the paper
    Full,
}

impl Scale {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Quick => "quick",
            Scale::Full => "full",
        }
    }
}

/// A measure on grids of parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The name of the measure.
    measure: String,
    /// What the result should show.
    pub expects: String,
    /// Values that all grids share.
    #[serde(default)]
    parameters: Table,
    #[serde(default)]
    grid: Vec<Table>,
    #[serde(default)]
    quick: Vec<Table>,
    #[serde(default)]
    full: Vec<Table>,
}

impl Experiment {
    /// Reads an experiment from a file.
    pub fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("{shown}: cannot be read"))?;
        Self::parse(&text).with_context(|| shown.to_string())
    }

    /// Reads an experiment from the text of a file. All cells are made once, so that whatever is wrong is found here.
    pub fn parse(text: &str) -> Result<Self> {
        let experiment: Experiment = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            anyhow::anyhow!("line {line}: {}", error.message())
        })?;
        if !measure::NAMES.contains(&experiment.measure.as_str()) {
            let known = measure::NAMES.join(", ");
            bail!("there is no measure {:?}, expected one of {known}", experiment.measure);
        }
        match (experiment.grid.is_empty(), experiment.quick.is_empty() && experiment.full.is_empty()) {
            (true, true) => bail!("expected [[grid]], or [[quick]] and [[full]]"),
            (false, false) => bail!("expected either [[grid]] or [[quick]] and [[full]], not both"),
            _ => {}
        }
        for scale in [Scale::Quick, Scale::Full] {
            experiment.cells(scale)?;
        }
        Ok(experiment)
    }

    /// The cells of a scale, each once, in the order of the grids.
    pub fn cells(&self, scale: Scale) -> Result<Vec<Measure>> {
        let grids = match scale {
            _ if !self.grid.is_empty() => &self.grid,
            Scale::Quick => &self.quick,
            Scale::Full => &self.full,
        };
        let (mut cells, mut seen) = (Vec::new(), HashSet::new());
        for (i, own) in grids.iter().enumerate() {
            let mut table = self.parameters.clone();
            table.extend(own.clone());
            for values in grid::expand(&table, &self.measure).with_context(|| format!("grid {}", i + 1))? {
                let cell = Measure::new(&self.measure, values).with_context(|| format!("grid {}", i + 1))?;
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
        let cells = experiment.cells(Scale::Quick).unwrap();
        // 2 vocabularies, 2 shifts, 3 seeds; the second grid adds one new seed.
        assert_eq!(cells.len(), 13);
        let parameters = cells[0].parameters();
        assert_eq!(parameters["fraction"], 0.25);
        assert!(!parameters.contains_key("shift"));
        let full = experiment.cells(Scale::Full).unwrap();
        let sentences: Vec<_> = full.iter().map(|cell| cell.parameters()["sentences"].as_u64().unwrap()).collect();
        assert_eq!(sentences, [100, 1000, 10_000]);
    }

    #[test]
    fn sizes_are_checked_before_cells_are_made() {
        let wrong = |from: &str, to: &str| format!("{:#}", Experiment::parse(&EXAMPLE.replace(from, to)).unwrap_err());
        for range in ["1..9000000000000000000", "0..18446744073709551615", "1..1000000000", "1..100001"] {
            let error = wrong("1..3", range);
            assert!(
                error.starts_with("grid 1: seed: the range") && error.contains("more than 100000 values"),
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
        let wrong = |from: &str, to: &str| format!("{:#}", Experiment::parse(&EXAMPLE.replace(from, to)).unwrap_err());
        assert!(wrong("\"entropy\"", "\"colour\"").contains("no measure \"colour\""));
        assert!(wrong("shift + 1", "shft + 1").contains("fraction: there is no number named shft"));
        assert!(
            wrong("shift + 1 / vocab", "1 / vocab")
                .contains("shift is no parameter of entropy and no expression uses it")
        );
        assert!(wrong("depth = 2", "").contains("missing field `depth`"));
        assert!(wrong("depth = 2", "depth = 2.5").contains("2.5"));
        assert!(wrong("depth = 2", "depth = ").contains("line 5"));
        assert!(wrong("[4, 8]", "[]").contains("vocab: expected at least one value"));
        assert!(wrong("1..3", "3..1").contains("seed"));
        assert!(wrong("[[full]]", "[[grid]]").contains("not both"));
        assert!(wrong("expects", "expect").contains("unknown field"));
    }
}
