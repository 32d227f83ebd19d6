//! Fits: their inputs and groups.

use super::super::fields::Fields;
use super::super::filter::Filter;
use super::super::key::Key;
use super::super::quantity::Quantity;
use super::{check_name, names};
use crate::fit::Direction;
use anyhow::{Context, Result, anyhow, bail};
use toml::Table;

/// One number per group, estimated from the values of its seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Its name, used by claims and later fits.
    pub name: String,
    /// The kind of fit.
    pub kind: Kind,
    /// The quantities that define groups.
    pub groups: Vec<Quantity>,
    /// The cells, or groups of another fit, to use.
    pub filter: Filter,
}

/// The kind of fit.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Where the curve of each seed crosses a level.
    Threshold {
        /// The quantity on the y axis.
        of: Quantity,
        /// The quantity on the x axis.
        along: Quantity,
        /// The level.
        level: f64,
        /// The direction of the crossing.
        direction: Direction,
    },
    /// The exponent of a power law.
    Exponent {
        /// The quantity that grows.
        of: Of,
        /// The quantity it is a power of.
        with: Quantity,
    },
    /// The power of a quantity by which `along` must be divided for the curves to collapse.
    Collapse {
        /// The quantity on the y axis.
        of: Quantity,
        /// The quantity on the x axis.
        along: Quantity,
        /// The quantity that distinguishes curves.
        by: Quantity,
        /// The expected power.
        predicted: f64,
    },
    /// The mean over seeds.
    Mean {
        /// The averaged quantity.
        of: Quantity,
    },
    /// A ratio.
    Ratio {
        /// The numerator.
        of: Of,
        /// The denominator.
        over: Over,
    },
}

/// The source of the values per seed.
#[derive(Clone, Debug, PartialEq)]
pub enum Of {
    /// The fit with this index, which has one value per seed.
    Fit(usize),
    /// A quantity of the cells.
    Quantity(Quantity),
}

/// The denominator of a ratio.
#[derive(Clone, Debug, PartialEq)]
pub enum Over {
    /// Another quantity of the same seeds.
    Quantity(Of),
    /// Another quantity with independent seeds.
    Unpaired(Of),
    /// The same quantity at the second of two values of a column; the numerator is at the first.
    Between(Quantity, Key, Key),
}

const KINDS: [(&str, &[&str]); 5] = [
    ("threshold", &["of", "along", "level", "direction"]),
    ("exponent", &["of", "in"]),
    ("collapse", &["of", "along", "by", "predicted"]),
    ("mean", &["of"]),
    ("ratio", &["of", "over", "between", "paired"]),
];

impl Fit {
    pub(super) fn read(table: &Table, before: &[Fit], columns: &[&str]) -> Result<Self> {
        let word = match table.get("kind") {
            Some(toml::Value::String(word)) => word.as_str(),
            Some(other) => bail!("kind is {other}, expected a string"),
            None => bail!("kind is missing: expected one of {}", KINDS.map(|kind| kind.0).join(", ")),
        };
        let Some((_, own)) = KINDS.into_iter().find(|kind| kind.0 == word) else {
            bail!("kind is {word:?}, expected one of {}", KINDS.map(|kind| kind.0).join(", "))
        };
        let fields = Fields::new(table, &[&["name", "kind", "groups", "where"], own].concat())?;
        let name = fields.required("name")?.to_owned();
        check_name(&name)?;
        if columns.contains(&name.as_str()) {
            bail!("a column already has this name");
        }
        if before.iter().any(|fit| fit.name == name) {
            bail!("duplicate fit name");
        }
        let reader = Reader { fields: &fields, before, columns };
        let (kind, known) = reader.kind(word)?;
        let groups = reader.groups(&known)?;
        let filter = Filter::read(fields.table("where")?, &known)?;
        let fit = Fit { name, kind, groups, filter };
        fit.check_sources(before)?;
        Ok(fit)
    }

    /// The names of its groups.
    pub fn group_names(&self) -> Vec<&str> {
        self.groups.iter().map(Quantity::text).collect()
    }

    /// Whether it has one value per seed, which other fits can use.
    pub fn has_seeds(&self) -> bool {
        matches!(self.kind, Kind::Threshold { .. } | Kind::Mean { .. } | Kind::Ratio { over: Over::Quantity(_), .. })
    }

    /// Fails if groups of another fit would be silently mixed.
    fn check_sources(&self, before: &[Fit]) -> Result<()> {
        let used: Vec<&str> = match &self.kind {
            Kind::Exponent { of: Of::Fit(_), with } => with.columns().collect(),
            Kind::Ratio { of: Of::Fit(_), over: Over::Between(column, ..) } => column.columns().collect(),
            _ => return Ok(()),
        };
        let (Kind::Exponent { of: Of::Fit(source), .. } | Kind::Ratio { of: Of::Fit(source), .. }) = self.kind else {
            return Ok(());
        };
        let is_ratio = matches!(self.kind, Kind::Ratio { .. });
        let source = &before[source];
        let (own, conditions): (Vec<&str>, Vec<&str>) = (self.group_names(), self.filter.columns().collect());
        let is_used = |name: &&str| own.contains(name) || used.contains(name) || conditions.contains(name);
        match source.group_names().into_iter().find(|name| !is_used(name)) {
            Some(name) if !is_ratio => {
                bail!("{} has groups by {name}: add {name} to groups or to where", source.name)
            }
            _ => Ok(()),
        }
    }
}

/// Parses one fit.
struct Reader<'a> {
    fields: &'a Fields<'a>,
    before: &'a [Fit],
    columns: &'a [&'a str],
}

impl<'a> Reader<'a> {
    /// The kind of fit, and the names that its groups and conditions can use.
    fn kind(&self, word: &str) -> Result<(Kind, Vec<&'a str>)> {
        let all = self.columns.to_vec();
        match word {
            "threshold" => {
                let direction =
                    self.fields.choice("direction", &[("falls", Direction::Falls), ("rises", Direction::Rises)])?;
                let level = self.fields.number("level")?.context("level is missing")?;
                let (of, along) = (self.in_group("of")?, self.in_group("along")?);
                Ok((Kind::Threshold { of, along, level, direction }, all))
            }
            "collapse" => {
                let predicted = self.fields.number("predicted")?.unwrap_or(1.0);
                let (of, along, by) = (self.in_group("of")?, self.in_group("along")?, self.columns_only("by")?);
                Ok((Kind::Collapse { of, along, by, predicted }, all))
            }
            "mean" => Ok((Kind::Mean { of: self.in_group("of")? }, all)),
            "exponent" => {
                let of = self.source("of")?;
                let known = self.known(&of);
                let with = self.expression("in", &known)?;
                Ok((Kind::Exponent { of, with }, known))
            }
            _ => {
                let of = self.source("of")?;
                let known = self.known(&of);
                let over = self.over(&known)?;
                Ok((Kind::Ratio { of, over }, known))
            }
        }
    }

    fn over(&self, known: &[&str]) -> Result<Over> {
        match (self.fields.has("over"), self.fields.table("between")?) {
            (true, None) => match self.fields.get("paired") {
                None | Some(toml::Value::Boolean(true)) => Ok(Over::Quantity(self.source("over")?)),
                Some(toml::Value::Boolean(false)) => Ok(Over::Unpaired(self.source("over")?)),
                Some(other) => bail!("paired is {other}, expected true or false"),
            },
            (false, Some(_)) if self.fields.has("paired") => bail!("paired has no effect with between"),
            (false, Some(table)) => {
                let wrong = "between: expected a column and two of its values, such as { depth = [3, 2] }";
                let (name, value) = table.iter().next().filter(|_| table.len() == 1).context(wrong)?;
                let keys: Option<Vec<Key>> =
                    value.as_array().and_then(|list| list.iter().map(Key::from_toml).collect());
                let [above, below] = keys.and_then(|keys| keys.try_into().ok()).context(wrong)?;
                Ok(Over::Between(Quantity::new(name, known).context("between")?, above, below))
            }
            _ => bail!("expected either over or between"),
        }
    }

    /// A quantity of cells, which may use means over the group.
    fn in_group(&self, key: &str) -> Result<Quantity> {
        Quantity::in_group(&self.no_fit(key)?, self.columns).with_context(|| key.to_owned())
    }

    /// A quantity of a single cell.
    fn columns_only(&self, key: &str) -> Result<Quantity> {
        Quantity::new(&self.no_fit(key)?, self.columns).with_context(|| key.to_owned())
    }

    /// An expression that must not be a fit.
    fn no_fit(&self, key: &str) -> Result<String> {
        let text = self.fields.expression(key)?.with_context(|| format!("{key} is missing"))?;
        if names(self.before).contains(&text.as_str()) {
            bail!("{key}: {text} is a fit, expected a column or an expression of columns");
        }
        Ok(text)
    }

    fn expression(&self, key: &str, known: &[&str]) -> Result<Quantity> {
        let text = self.fields.expression(key)?.with_context(|| format!("{key} is missing"))?;
        Quantity::new(&text, known).with_context(|| key.to_owned())
    }

    /// A fit with one value per seed, or a quantity.
    fn source(&self, key: &str) -> Result<Of> {
        let text = self.fields.expression(key)?.with_context(|| format!("{key} is missing"))?;
        if let Some(number) = self.before.iter().position(|fit| fit.name == text) {
            if !self.before[number].has_seeds() {
                bail!("{key}: {text} has one number for all seeds, expected a fit with one number per seed");
            }
            return Ok(Of::Fit(number));
        }
        let known = [self.columns, &names(self.before)].concat();
        match Quantity::new(&text, self.columns) {
            Ok(quantity) => Ok(Of::Quantity(quantity)),
            // If the name is neither, list both kinds.
            Err(_) if Quantity::new(&text, &known).is_ok() => {
                Err(anyhow!("{key}: {text}: fits cannot be part of an expression"))
            }
            Err(error) => match Quantity::new(&text, &known) {
                Err(wider) if error.to_string().starts_with("unknown name") => {
                    Err(wider).with_context(|| key.to_owned())
                }
                _ => Err(error).with_context(|| key.to_owned()),
            },
        }
    }

    /// The names that groups can have.
    fn known(&self, of: &Of) -> Vec<&'a str> {
        match of {
            Of::Fit(number) => self.before[*number].group_names(),
            Of::Quantity(_) => self.columns.to_vec(),
        }
    }

    fn groups(&self, known: &[&str]) -> Result<Vec<Quantity>> {
        let mut groups: Vec<Quantity> = Vec::new();
        for text in self.fields.texts("groups")? {
            let group = Quantity::new(text, known).context("groups")?;
            if groups.contains(&group) {
                bail!("groups: {text} occurs twice");
            }
            groups.push(group);
        }
        Ok(groups)
    }
}
