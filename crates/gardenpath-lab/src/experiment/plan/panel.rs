//! Panels of a figure.

use super::super::fields::Fields;
use super::super::filter::Filter;
use super::super::quantity::Quantity;
use super::{Fit, Of, names};
use anyhow::{Context, Result, bail};
use gardenpath_plot::{Scale, plain};
use toml::{Table, Value};

/// One panel. Texts use the markup of figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The title.
    pub title: Option<String>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The content.
    pub content: Content,
}

/// An axis of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its label.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Its range, unless determined by the data.
    pub range: Option<(f64, f64)>,
}

/// The content of a panel.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Curves and reference lines.
    Chart {
        /// The quantity shown by color.
        color: Option<Quantity>,
        /// The quantity shown by marker.
        marker: Option<Quantity>,
        /// The legend labels of color and marker, if not the names of the quantities.
        labels: [Option<String>; 2],
        /// The curves, from back to front.
        series: Vec<Series>,
        /// Reference lines.
        guides: Vec<Guide>,
    },
    /// A heat map with values between 0 and 1.
    Heat {
        /// The column of a cell.
        x: Quantity,
        /// The row of a cell.
        y: Quantity,
        /// The number.
        value: Quantity,
        /// The results to show.
        filter: Filter,
    },
}

/// One curve per combination of color and marker.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The quantity on the x axis. If y is a fit, x can be one too.
    pub x: Of,
    /// The quantity on the y axis: means over seeds, or the estimates of a fit.
    pub y: Of,
    /// The cells or groups to show.
    pub filter: Filter,
    /// Its name in the legend; may be empty.
    pub label: String,
    /// Its line style.
    pub style: Style,
    /// Whether it is split by color and marker; otherwise it is one gray curve.
    pub is_grouped: bool,
}

/// The line style of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Lines with markers.
    Line,
    /// Markers alone.
    Points,
    /// A line alone.
    Curve,
    /// A dashed line alone.
    Dashed,
}

/// A reference line.
#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    /// Its position.
    pub place: Place,
    /// Its label; may be empty.
    pub label: String,
}

/// The position of a reference line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// Horizontal, at this y.
    Height(f64),
    /// Vertical, at this x.
    Across(f64),
    /// A power law on logarithmic axes, a straight line on linear ones.
    Slope {
        /// The exponent, or the slope.
        slope: f64,
        /// A point on it.
        through: (f64, f64),
    },
}

const KEYS: [&str; 19] = [
    "title",
    "kind",
    "x",
    "y",
    "value",
    "series",
    "x_scale",
    "y_scale",
    "x_label",
    "y_label",
    "x_range",
    "y_range",
    "color",
    "color_label",
    "marker",
    "marker_label",
    "where",
    "rescale_x",
    "lines",
];
const SERIES_KEYS: [&str; 6] = ["x", "y", "label", "style", "where", "grouped"];
const STYLES: [(&str, Style); 4] =
    [("line", Style::Line), ("points", Style::Points), ("curve", Style::Curve), ("dashed", Style::Dashed)];

impl Panel {
    pub(super) fn read(table: &Table, fits: &[Fit], columns: &[&str]) -> Result<Self> {
        let fields = Fields::new(table, &KEYS)?;
        let reader = Reader { fields: &fields, fits, columns };
        let is_heat = fields.choice("kind", &[("chart", false), ("heat", true)])?;
        let content = if is_heat { reader.heat()? } else { reader.chart()? };
        let (x_name, y_name) = match &content {
            Content::Heat { x, y, .. } => (x.text().to_owned(), y.text().to_owned()),
            Content::Chart { series, .. } => {
                let last = series.last().context("y is missing")?;
                let name = |of: &Of| match of {
                    Of::Fit(number) => fits[*number].name.clone(),
                    Of::Quantity(quantity) => quantity.text().to_owned(),
                };
                (name(&last.x), name(&last.y))
            }
        };
        let title = fields.text("title")?.map(str::to_owned);
        Ok(Panel { title, x: reader.axis("x", &x_name)?, y: reader.axis("y", &y_name)?, content })
    }
}

/// Parses one panel.
struct Reader<'a> {
    fields: &'a Fields<'a>,
    fits: &'a [Fit],
    columns: &'a [&'a str],
}

impl Reader<'_> {
    fn axis(&self, which: &str, name: &str) -> Result<Axis> {
        let scales = [("linear", Scale::Linear), ("log", Scale::Log10)];
        let label = self.fields.text(&format!("{which}_label"))?.map_or_else(|| plain(name), str::to_owned);
        let range = pair(self.fields, &format!("{which}_range"))?;
        if range.is_some_and(|(from, to)| from == to) {
            bail!("{which}_range: expected two different numbers");
        }
        Ok(Axis { label, scale: self.fields.choice(&format!("{which}_scale"), &scales)?, range })
    }

    fn heat(&self) -> Result<Content> {
        for key in ["series", "lines", "color", "marker", "rescale_x", "x_scale", "y_scale", "x_range", "y_range"] {
            if self.fields.has(key) {
                bail!("{key} has no effect in a panel of kind heat");
            }
        }
        let quantity = |key: &str| -> Result<Quantity> {
            let text = self.fields.expression(key)?.with_context(|| format!("{key} is missing"))?;
            Quantity::new(&text, self.columns).with_context(|| key.to_owned())
        };
        let filter = Filter::read(self.fields.table("where")?, self.columns)?;
        Ok(Content::Heat { x: quantity("x")?, y: quantity("y")?, value: quantity("value")?, filter })
    }

    fn chart(&self) -> Result<Content> {
        if self.fields.has("value") {
            bail!("value has no effect here: it needs kind = \"heat\"");
        }
        let (mut series, guides) = self.lines().context("lines")?;
        match (self.fields.has("y"), self.fields.get("series")) {
            (true, None) => series.push(self.series(self.fields, Style::Line)?),
            (false, Some(Value::Array(list))) if !list.is_empty() => {
                for value in list {
                    let wrong = "series: expected tables such as { y = \"test_loss\", label = \"test\" }";
                    let table = value.as_table().context(wrong)?;
                    let fields = Fields::new(table, &SERIES_KEYS).context("series")?;
                    let style = fields.choice("style", &STYLES).context("series")?;
                    series.push(self.series(&fields, style).context("series")?);
                }
            }
            _ => bail!("expected either y or series"),
        }
        let look = |key: &str| -> Result<Option<Quantity>> {
            let Some(text) = self.fields.expression(key)? else { return Ok(None) };
            // Every curve split by this quantity must have it.
            let grouped = series.iter().filter(|series| series.is_grouped);
            let known: Vec<Vec<&str>> = grouped.map(|series| self.known(&series.y)).collect();
            let known = known.into_iter().reduce(|one, other| one.into_iter().filter(|n| other.contains(n)).collect());
            Quantity::new(&text, &known.unwrap_or_default()).map(Some).with_context(|| key.to_owned())
        };
        let label = |look: &str| -> Result<Option<String>> {
            let key = format!("{look}_label");
            if self.fields.has(&key) && !self.fields.has(look) {
                bail!("{key} has no effect without {look}");
            }
            Ok(self.fields.text(&key)?.map(str::to_owned))
        };
        let labels = [label("color")?, label("marker")?];
        Ok(Content::Chart { color: look("color")?, marker: look("marker")?, labels, series, guides })
    }

    /// A curve with these fields; missing ones are taken from the panel.
    fn series(&self, fields: &Fields, style: Style) -> Result<Series> {
        let y_text = fields.expression("y")?.context("y is missing")?;
        let y = self.of(&y_text).context("y")?;
        let known = self.known(&y);
        let x_text = match (fields.expression("x")?, self.fields.expression("rescale_x")?) {
            (Some(text), None) => text,
            (_, Some(text)) => text,
            (None, None) => self.fields.expression("x")?.context("x is missing")?,
        };
        let x = match &y {
            Of::Quantity(_) => Quantity::in_group(&x_text, &known).map(Of::Quantity),
            Of::Fit(number) => match self.fits.iter().position(|fit| fit.name == x_text) {
                Some(other) => self.same_groups(other, *number).map(|()| Of::Fit(other)),
                None => Quantity::new(&x_text, &known).map(Of::Quantity),
            },
        };
        let common = Filter::read(self.fields.table("where")?, &known)?;
        let is_panel = std::ptr::eq(fields, self.fields);
        let own = if is_panel { Filter::default() } else { Filter::read(fields.table("where")?, &known)? };
        let is_grouped = match fields.get("grouped") {
            None => true,
            Some(Value::Boolean(truth)) => *truth,
            Some(other) => bail!("grouped is {other}, expected true or false"),
        };
        let label = fields.text("label")?.unwrap_or_default().to_owned();
        Ok(Series { x: x.context("x")?, y, filter: common.and(own), label, style, is_grouped })
    }

    /// Fails if two fits drawn against each other have different groups.
    fn same_groups(&self, x: usize, y: usize) -> Result<()> {
        let [x, y] = [x, y].map(|number| self.fits[number].group_names());
        match x == y {
            true => Ok(()),
            false => bail!("its groups are {}, expected those of y, {}", x.join(", "), y.join(", ")),
        }
    }

    fn of(&self, text: &str) -> Result<Of> {
        if let Some(number) = self.fits.iter().position(|fit| fit.name == text) {
            return Ok(Of::Fit(number));
        }
        let quantity = Quantity::in_group(text, self.columns).map_err(|error| {
            // If the name is neither a column nor a fit, list both kinds.
            Quantity::in_group(text, &[self.columns, &names(self.fits)].concat()).err().unwrap_or(error)
        })?;
        Ok(Of::Quantity(quantity))
    }

    fn known(&self, y: &Of) -> Vec<&str> {
        match y {
            Of::Fit(number) => self.fits[*number].group_names(),
            Of::Quantity(_) => self.columns.to_vec(),
        }
    }

    /// Reference lines; those along a column are dashed curves behind the others.
    fn lines(&self) -> Result<(Vec<Series>, Vec<Guide>)> {
        let list = match self.fields.get("lines") {
            None => return Ok((Vec::new(), Vec::new())),
            Some(Value::Array(list)) => list.as_slice(),
            Some(_) => bail!("expected a list such as [{{ y = 0.5, label = \"threshold\" }}]"),
        };
        let (mut series, mut guides) = (Vec::new(), Vec::new());
        for value in list {
            let table = value.as_table().context("expected tables such as { y = 0.5, label = \"threshold\" }")?;
            let fields = Fields::new(table, &["x", "y", "label", "slope", "through", "where", "grouped"])?;
            let label = fields.text("label")?.unwrap_or_default().to_owned();
            let place = match (fields.get("x"), fields.get("y"), fields.number("slope")?) {
                (_, Some(Value::String(_)), None) => {
                    series.push(self.series(&fields, Style::Dashed)?);
                    continue;
                }
                (Some(_), None, None) => Place::Across(fields.number("x")?.unwrap_or_default()),
                (None, Some(_), None) => Place::Height(fields.number("y")?.unwrap_or_default()),
                (None, None, Some(slope)) => {
                    let through = pair(&fields, "through")?.context("through is missing")?;
                    Place::Slope { slope, through }
                }
                _ => bail!("expected either x or y or slope"),
            };
            if fields.has("where") || fields.has("grouped") {
                bail!("where and grouped need a line along a column");
            }
            guides.push(Guide { place, label });
        }
        Ok((series, guides))
    }
}

/// Two finite numbers, if present.
fn pair(fields: &Fields, key: &str) -> Result<Option<(f64, f64)>> {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    let list = match fields.get(key) {
        None => return Ok(None),
        Some(Value::Array(list)) => list.iter().map(number).collect::<Option<Vec<f64>>>(),
        Some(_) => None,
    };
    match list.as_deref() {
        Some([from, to]) if from.is_finite() && to.is_finite() => Ok(Some((*from, *to))),
        _ => bail!("{key}: expected two numbers such as [0, 1]"),
    }
}
