//! Claims: the expected value of a fit, its margin, and the source of the claim.

use super::super::fields::Fields;
use super::super::filter::Filter;
use super::super::quantity::{Quantity, unknown};
use super::{Fit, check_name, names};
use crate::fit::Expected;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use toml::Table;

/// A claim about every group of a fit that meets a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its ID.
    pub id: String,
    /// The claim in one sentence.
    pub statement: String,
    /// The index of the fit that decides it.
    pub fit: usize,
    /// The groups it is about.
    pub filter: Filter,
    /// The expected value of the fit.
    pub expected: Bound,
    /// Why the margin is appropriate.
    pub reason: String,
    /// The source of the claim.
    pub source: Origin,
    /// What we claim instead, and why.
    pub corrected: Option<(Bound, String)>,
    /// An equivalent claim of another experiment, as `experiment/id`. Equivalent claims are counted once.
    pub same_as: Option<String>,
}

/// The source of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Origin {
    /// A formula of the paper.
    #[serde(rename = "paper formula")]
    PaperFormula,
    /// An experiment of the paper.
    #[serde(rename = "paper experiment")]
    PaperExperiment,
    /// It holds by definition.
    #[serde(rename = "identity")]
    Identity,
    /// Our own claim.
    #[serde(rename = "ours")]
    Ours,
}

impl Origin {
    const NAMES: [(&str, Origin); 5] = [
        ("ours", Origin::Ours),
        ("paper formula", Origin::PaperFormula),
        ("paper experiment", Origin::PaperExperiment),
        ("identity", Origin::Identity),
        // Short for the usual case.
        ("paper", Origin::PaperFormula),
    ];

    /// The name of the source.
    pub fn name(self) -> &'static str {
        Self::NAMES.into_iter().find(|(_, origin)| *origin == self).map_or("", |(name, _)| name)
    }
}

/// An expected value; its parts may depend on the group.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// A number within a margin.
    Near(Quantity, Quantity),
    /// A number within a factor.
    Factor(Quantity, Quantity),
    /// At most this number.
    AtMost(Quantity),
    /// At least this number.
    AtLeast(Quantity),
}

impl Bound {
    const KEYS: [&'static str; 5] = ["expected", "margin", "factor", "at_most", "at_least"];

    fn read(fields: &Fields, known: &[&str]) -> Result<Self> {
        let given = |key: &str| -> Result<Quantity> {
            let text = fields.expression(key)?.with_context(|| format!("{key} is missing"))?;
            Quantity::new(&text, known).with_context(|| key.to_owned())
        };
        let shape = Self::KEYS.map(|key| fields.has(key));
        match shape {
            [true, true, false, false, false] => Ok(Bound::Near(given("expected")?, given("margin")?)),
            [true, false, true, false, false] => Ok(Bound::Factor(given("expected")?, given("factor")?)),
            [false, false, false, true, false] => Ok(Bound::AtMost(given("at_most")?)),
            [false, false, false, false, true] => Ok(Bound::AtLeast(given("at_least")?)),
            _ => bail!("expected either expected and margin, or expected and factor, or at_most, or at_least"),
        }
    }

    /// The bound for a group; `name` looks up the group's values.
    pub fn of_group(&self, name: &dyn Fn(&str) -> Option<f64>) -> Result<Expected> {
        Ok(match self {
            Bound::Near(value, margin) => Expected::Near { value: value.value(name)?, margin: margin.value(name)? },
            Bound::Factor(value, factor) => Expected::Factor { value: value.value(name)?, factor: factor.value(name)? },
            Bound::AtMost(most) => Expected::AtMost(most.value(name)?),
            Bound::AtLeast(least) => Expected::AtLeast(least.value(name)?),
        })
    }
}

impl Claim {
    pub(super) fn read(table: &Table, fits: &[Fit]) -> Result<Self> {
        let own = ["id", "statement", "fit", "where", "reason", "source", "corrected", "same_as"];
        let fields = Fields::new(table, &[&own[..], &Bound::KEYS].concat())?;
        let id = fields.required("id")?.to_owned();
        check_name(&id)?;
        let fit = fields.required("fit")?;
        let number = fits.iter().position(|other| other.name == fit);
        let number = number.ok_or_else(|| unknown(fit, &names(fits))).context("fit")?;
        let known = fits[number].group_names();
        let corrected = match fields.table("corrected")? {
            None => None,
            Some(table) => Some(corrected(table, &known).context("corrected")?),
        };
        fields.required("source")?;
        Ok(Claim {
            statement: fields
                .text("statement")?
                .map_or_else(|| format!("The claim {id}."), |text| text.trim().to_owned()),
            id,
            fit: number,
            filter: Filter::read(fields.table("where")?, &known)?,
            expected: Bound::read(&fields, &known)?,
            reason: fields.required("reason")?.trim().to_owned(),
            source: fields.choice("source", &Origin::NAMES)?,
            corrected,
            same_as: fields.text("same_as")?.map(str::to_owned),
        })
    }
}

fn corrected(table: &Table, known: &[&str]) -> Result<(Bound, String)> {
    let fields = Fields::new(table, &[&["reason"][..], &Bound::KEYS].concat())?;
    Ok((Bound::read(&fields, known)?, fields.required("reason")?.trim().to_owned()))
}
