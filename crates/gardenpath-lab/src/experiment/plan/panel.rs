//! Panels: what is drawn against what.

use super::super::fields::Fields;
use super::super::filter::Filter;
use super::super::quantity::Quantity;
use super::{Fit, Of, names};
use crate::figure::{Scale, plain};
use anyhow::{Context, Result, bail};
use toml::{Table, Value};

/// One chart of the figure. Texts have the markup of figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The title.
    pub title: Option<String>,
    /// What is along the horizontal axis.
    pub x: Quantity,
    /// What is along the vertical axis: means over seeds, or the estimates of a fit.
    pub y: Of,
    /// How the horizontal axis is spread.
    pub x_scale: Scale,
    /// How the vertical axis is spread.
    pub y_scale: Scale,
    /// The name of the horizontal axis.
    pub x_label: String,
    /// The name of the vertical axis.
    pub y_label: String,
    /// What colours tell apart.
    pub color: Option<Quantity>,
    /// What markers tell apart.
    pub marker: Option<Quantity>,
    /// Which cells or groups are shown.
    pub filter: Filter,
    /// Reference lines.
    pub lines: Vec<Line>,
}

/// A dashed line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Where it is.
    pub level: Level,
    /// Its label; may be empty.
    pub label: String,
}

/// Where a line is.
#[derive(Clone, Debug, PartialEq)]
pub enum Level {
    /// At this height.
    Height(f64),
    /// At this place along the horizontal axis.
    Place(f64),
    /// Along another quantity of the same cells, in the colours of the points.
    Quantity(Quantity),
}

const KEYS: [&str; 12] =
    ["title", "x", "y", "x_scale", "y_scale", "x_label", "y_label", "color", "marker", "where", "rescale_x", "lines"];

impl Panel {
    pub(super) fn read(table: &Table, fits: &[Fit], columns: &[&str]) -> Result<Self> {
        let fields = Fields::new(table, &KEYS)?;
        let y_text = fields.expression("y")?.context("y is missing")?;
        let y = match fits.iter().position(|fit| fit.name == y_text) {
            Some(number) => Of::Fit(number),
            None => Of::Quantity(Quantity::in_group(&y_text, columns).map_err(|error| {
                Quantity::in_group(&y_text, &[columns, &names(fits)].concat()).err().unwrap_or(error).context("y")
            })?),
        };
        let known = match &y {
            Of::Fit(number) => fits[*number].group_names(),
            Of::Quantity(_) => columns.to_vec(),
        };
        let quantity = |key: &str| -> Result<Option<Quantity>> {
            let Some(text) = fields.expression(key)? else { return Ok(None) };
            Quantity::new(&text, &known).map(Some).with_context(|| key.to_owned())
        };
        let x = quantity("x")?;
        let x = quantity("rescale_x")?.or(x).context("x is missing")?;
        let scales = [("linear", Scale::Linear), ("log", Scale::Log10)];
        let label = |key: &str, usual: &str| -> Result<String> {
            Ok(fields.text(key)?.map_or_else(|| plain(usual), str::to_owned))
        };
        Ok(Panel {
            title: fields.text("title")?.map(str::to_owned),
            x_scale: fields.choice("x_scale", &scales)?,
            y_scale: fields.choice("y_scale", &scales)?,
            x_label: label("x_label", x.text())?,
            y_label: label("y_label", &y_text)?,
            color: quantity("color")?,
            marker: quantity("marker")?,
            filter: Filter::read(fields.table("where")?, &known)?,
            lines: lines(&fields, &y, columns).context("lines")?,
            x,
            y,
        })
    }
}

fn lines(fields: &Fields, y: &Of, columns: &[&str]) -> Result<Vec<Line>> {
    let list = match fields.get("lines") {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list.as_slice(),
        Some(_) => bail!("expected a list such as [{{ y = 0.5, label = \"threshold\" }}]"),
    };
    let line = |value: &Value| -> Result<Line> {
        let table = value.as_table().context("expected tables such as { y = 0.5, label = \"threshold\" }")?;
        let fields = Fields::new(table, &["x", "y", "label"])?;
        let level = match (fields.get("x"), fields.get("y"), y) {
            (Some(_), None, _) => Level::Place(fields.number("x")?.unwrap_or_default()),
            (None, Some(Value::String(_)), Of::Fit(_)) => bail!("y is an expression, expected a number beside a fit"),
            (None, Some(Value::String(text)), _) => Level::Quantity(Quantity::in_group(text, columns)?),
            (None, Some(_), _) => Level::Height(fields.number("y")?.unwrap_or_default()),
            _ => bail!("expected either x or y"),
        };
        Ok(Line { level, label: fields.text("label")?.unwrap_or_default().to_owned() })
    };
    list.iter().map(line).collect()
}
