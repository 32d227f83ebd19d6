//! The analysis of an experiment: fits, claims about them, and panels of a figure.
//!
//! ```toml
//! [[fit]]
//! name = "crossing"
//! kind = "threshold"
//! of = "normalized_loss"
//! along = "samples"
//! level = 0.5
//! groups = ["vocab", "depth"]
//!
//! [[fit]]
//! name = "growth"
//! kind = "exponent"
//! of = "crossing"
//! in = "vocab"
//! groups = ["depth"]
//!
//! [[claim]]
//! id = "v2"
//! statement = "The number of sentences grows as vocab^2."
//! fit = "growth"
//! expected = 2
//! margin = 0.4
//! reason = "The theory is about infinitely wide networks."
//! source = "paper formula"
//!
//! [[panel]]
//! x = "samples"
//! x_scale = "log"
//! y = "normalized_loss"
//! color = "vocab"
//! where = { depth = 2 }
//! lines = [{ y = 0.5, label = "threshold" }]
//! ```
//!
//! All names are checked when the file is read: columns are the parameters and results of the measure.

mod claim;
mod fit;
mod panel;

pub use claim::{Bound, Claim, Origin};
pub use fit::{Fit, Kind, Of, Over};
pub use panel::{Axis, Content, Guide, Panel, Place, Series, Style};

use anyhow::{Context, Result, bail};
use toml::Table;

/// Maximum number of fits, claims and panels each: a page with more would be unreadable.
const MOST: usize = 100;

/// Fits, claims and panels, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The fits. Each can use earlier ones.
    pub fits: Vec<Fit>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// The panels of the figure.
    pub panels: Vec<Panel>,
}

impl Plan {
    /// Parses the analysis of an experiment whose results have these columns.
    pub(super) fn read(fits: &[Table], claims: &[Table], panels: &[Table], columns: &[&str]) -> Result<Self> {
        let mut plan = Plan::default();
        for (kind, tables) in [("fit", fits), ("claim", claims), ("panel", panels)] {
            if tables.len() > MOST {
                bail!("{} [[{kind}]], expected at most {MOST}", tables.len());
            }
        }
        for (number, table) in fits.iter().enumerate() {
            let fit = Fit::read(table, &plan.fits, columns).with_context(|| place("fit", number, table, "name"))?;
            plan.fits.push(fit);
        }
        for (number, table) in claims.iter().enumerate() {
            let place = || place("claim", number, table, "id");
            let claim = Claim::read(table, &plan.fits).with_context(place)?;
            if plan.claims.iter().any(|other| other.id == claim.id) {
                return Err(anyhow::anyhow!("duplicate claim id")).with_context(place);
            }
            plan.claims.push(claim);
        }
        for (number, table) in panels.iter().enumerate() {
            let panel =
                Panel::read(table, &plan.fits, columns).with_context(|| place("panel", number, table, "title"))?;
            plan.panels.push(panel);
        }
        Ok(plan)
    }
}

/// The location of an error.
fn place(kind: &str, number: usize, table: &Table, name: &str) -> String {
    match table.get(name).and_then(toml::Value::as_str) {
        Some(name) => format!("[[{kind}]] {name}"),
        None => format!("[[{kind}]] number {}", number + 1),
    }
}

/// The names of some fits.
fn names(fits: &[Fit]) -> Vec<&str> {
    fits.iter().map(|fit| fit.name.as_str()).collect()
}

/// Refuses names that could be mistaken for expressions.
fn check_name(name: &str) -> Result<()> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_letter) {
        bail!("{name:?}: expected letters, digits, hyphens and underscores, beginning with a letter");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
