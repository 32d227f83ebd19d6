//! Draws the panels of an experiment.

use super::fits::{Fitted, Found, key_of_group, rows_by_group};
use super::table::{points, values};
use crate::experiment::key::Key;
use crate::experiment::plan::{self, Content, Of, Place, Plan};
use crate::experiment::quantity::Quantity;
use crate::fit::{average, band};
use crate::table::{Row, Table};
use anyhow::{Context, Result};
use gardenpath_plot as plot;
use gardenpath_plot::{Dash, Figure, Look, Marker, Palette, Point, plain};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of panels per row.
const COLUMNS: usize = 3;
const GREY: &str = "#666666";

/// The figure with all panels. Missing measurements are not drawn.
pub fn draw(plan: &Plan, table: &Table, fitted: &[Fitted]) -> Result<Figure> {
    let place = |number: usize| format!("[[panel]] number {}", number + 1);
    let mut drawn = Vec::new();
    for (number, panel) in plan.panels.iter().enumerate() {
        drawn.push(series(panel, table, fitted).with_context(|| place(number))?);
    }
    let known = Values::of(plan.panels.iter().zip(&drawn));
    let mut panels = Vec::new();
    for (number, (panel, drawn)) in plan.panels.iter().zip(drawn).enumerate() {
        panels.push(one(panel, drawn, &known, table).with_context(|| place(number))?);
    }
    let columns = if panels.len() == 4 { 2 } else { panels.len().clamp(1, COLUMNS) };
    Ok(Figure::grid(columns, panels))
}

/// The curves of a series, by color and marker.
type Drawn<'p> = (&'p plan::Series, BTreeMap<Vec<Key>, Vec<Point>>);

/// All curves of a chart.
fn series<'p>(panel: &'p plan::Panel, table: &Table, fitted: &[Fitted]) -> Result<Vec<Drawn<'p>>> {
    let Content::Chart { color, marker, series, .. } = &panel.content else { return Ok(Vec::new()) };
    let looks: Vec<Quantity> = color.iter().chain(marker).cloned().collect();
    let of_series = |one: &'p plan::Series| {
        let groups = if one.is_grouped { looks.as_slice() } else { &[] };
        Ok((one, curves(panel, one, groups, table, fitted)?))
    };
    series.iter().map(of_series).collect()
}

/// The values of the quantities that have colors or markers, in all panels of a figure: a value looks the same everywhere.
#[derive(Default)]
struct Values<'p> {
    of: BTreeMap<&'p str, BTreeSet<Key>>,
}

impl<'p> Values<'p> {
    fn of<'d>(panels: impl Iterator<Item = (&'p plan::Panel, &'d Vec<Drawn<'p>>)>) -> Self
    where
        'p: 'd,
    {
        let mut values = Values::default();
        for (panel, drawn) in panels {
            let Content::Chart { color, marker, .. } = &panel.content else { continue };
            let keys = drawn.iter().filter(|(one, _)| one.is_grouped).flat_map(|(_, curves)| curves.keys());
            for key in keys {
                for (quantity, value) in color.iter().chain(marker).zip(key) {
                    values.of.entry(quantity.text()).or_default().insert(value.clone());
                }
            }
        }
        values
    }

    fn all(&self, quantity: Option<&Quantity>) -> Vec<Key> {
        let values = quantity.and_then(|quantity| self.of.get(quantity.text()));
        values.into_iter().flatten().cloned().collect()
    }
}

fn one(panel: &plan::Panel, drawn: Vec<Drawn>, known: &Values, table: &Table) -> Result<plot::Panel> {
    match &panel.content {
        Content::Heat { x, y, value, filter } => {
            let rows = rows_by_group(table, filter, &[y.clone(), x.clone()])?;
            let mut means = BTreeMap::new();
            for (key, rows) in rows {
                let seeds: Vec<f64> = values(&rows, value)?.into_iter().map(|(_, value)| value).collect();
                means.insert(key, average(&seeds));
            }
            Ok(plot::Panel::Grid(heat(panel, &means)))
        }
        Content::Chart { color, marker, labels, guides, .. } => {
            let keys = drawn.iter().filter(|(one, _)| one.is_grouped).flat_map(|(_, curves)| curves.keys());
            let is_solid = |(one, _): &(&plan::Series, _)| one.is_grouped && one.style != plan::Style::Dashed;
            let has_solid = drawn.iter().any(is_solid);
            let style = Style::new([color.as_ref(), marker.as_ref()], labels, keys, known, has_solid);
            let is_empty = drawn.iter().all(|(_, curves)| curves.is_empty());
            let title = match &panel.title {
                title if !is_empty => title.clone(),
                Some(title) => Some(format!("{title}: no results yet")),
                None => Some("no results yet".to_owned()),
            };
            let mut all = Vec::new();
            for (number, (one, curves)) in drawn.into_iter().enumerate() {
                style.add(number, one, curves, &mut all);
            }
            all.extend(style.keys());
            let axis = |axis: &plan::Axis| plot::Axis {
                scale: axis.scale,
                range: axis.range,
                ..plot::Axis::linear(axis.label.clone())
            };
            let guide = |guide: &plan::Guide| match guide.place {
                Place::Height(y) => plot::Guide::horizontal(y, &guide.label),
                Place::Across(x) => plot::Guide::vertical(x, &guide.label),
                Place::Slope { slope, through } => plot::Guide::sloped(slope, through, &guide.label),
            };
            Ok(plot::Panel::Chart(plot::Chart {
                title,
                guides: guides.iter().map(guide).collect(),
                ..plot::Chart::new(axis(&panel.x), axis(&panel.y), all)
            }))
        }
    }
}

/// The points of each curve, by group.
fn curves(
    panel: &plan::Panel,
    series: &plan::Series,
    groups: &[Quantity],
    table: &Table,
    fitted: &[Fitted],
) -> Result<BTreeMap<Vec<Key>, Vec<Point>>> {
    let mut curves = BTreeMap::new();
    match &series.y {
        Of::Quantity(y) => {
            let Of::Quantity(x) = &series.x else { unreachable!("a fit is drawn against fits only") };
            for (key, rows) in rows_by_group(table, &series.filter, groups)? {
                let points = means(&rows, x, y)?;
                if !points.is_empty() {
                    curves.insert(key, points);
                }
            }
        }
        Of::Fit(number) => {
            let is_linear = panel.y.scale == plot::Scale::Linear;
            curves = estimates(series, groups, fitted, &fitted[*number], is_linear)?;
        }
    }
    Ok(curves)
}

/// The mean over seeds at each x, with one standard error on each side.
fn means(rows: &[&Row], x: &Quantity, y: &Quantity) -> Result<Vec<Point>> {
    let mut places: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
    for (x, y) in points(rows, x, y)?.into_values().flatten() {
        if x.is_finite() && y.is_finite() {
            places.entry(Key::Number(x)).or_default().push(y);
        }
    }
    let places = places.into_iter().filter_map(|(x, values)| Some((x.number()?, values)));
    Ok(band(&places.collect::<Vec<_>>()))
}

/// The estimates of a fit, with intervals where they are known.
fn estimates(
    series: &plan::Series,
    groups: &[Quantity],
    fitted: &[Fitted],
    fit: &Fitted,
    is_linear: bool,
) -> Result<BTreeMap<Vec<Key>, Vec<Point>>> {
    let key = |found: &&Found, quantity: &Quantity| key_of_group(&fit.groups, &found.key, quantity);
    let all = series.filter.plain(fit.found.iter().collect(), key)?;
    let mut drawn: BTreeMap<Vec<Key>, Vec<Point>> = BTreeMap::new();
    for found in series.filter.extremes(all, key)? {
        let x = match &series.x {
            Of::Quantity(x) => key(&found, x)?.number(),
            Of::Fit(other) => {
                let same = fitted[*other].found.iter().find(|same| same.key == found.key);
                same.map(|same| same.estimate.value)
            }
        };
        let x = x.unwrap_or(f64::NAN);
        let look = groups.iter().map(|group| key(&found, group)).collect::<Result<Vec<_>>>()?;
        let known = |end: f64| (end.is_finite() && (end > 0.0 || is_linear)).then_some(end);
        let (low, high) = found.estimate.interval.map_or((None, None), |(low, high)| (known(low), known(high)));
        drawn.entry(look).or_default().push(Point { x, y: found.estimate.value, low, high });
    }
    for points in drawn.values_mut() {
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
    }
    Ok(drawn)
}

/// A heat map: columns to the right, rows upwards.
fn heat(panel: &plan::Panel, means: &BTreeMap<Vec<Key>, f64>) -> plot::Grid {
    let distinct = |place: usize| -> Vec<&Key> {
        means.keys().map(|key| &key[place]).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let (rows, columns) = (distinct(0), distinct(1));
    let number = |all: &[&Key], key: &Key| all.iter().position(|other| *other == key).unwrap_or(0);
    let cell = |(key, value): (&Vec<Key>, &f64)| plot::Cell {
        row: rows.len() - 1 - number(&rows, &key[0]),
        column: number(&columns, &key[1]),
        fill: plot::Fill::Heat(value.clamp(0.0, 1.0)),
        text: format!("{value:.2}"),
    };
    plot::Grid {
        title: panel.title.clone(),
        rows: rows.iter().rev().map(|key| format!("{} {key}", panel.y.label)).collect(),
        columns: columns.iter().map(|key| format!("{} {key}", panel.x.label)).collect(),
        cells: means.iter().filter(|(_, value)| value.is_finite()).map(cell).collect(),
        ..plot::Grid::default()
    }
}

/// The colors and markers of the values of two quantities.
struct Style<'p> {
    color: Option<&'p Quantity>,
    marker: Option<&'p Quantity>,
    labels: &'p [Option<String>; 2],
    colors: Vec<Key>,
    markers: Vec<Key>,
    /// The colors and markers of all panels.
    everywhere: [Vec<Key>; 2],
    /// Whether some curves distinguished by color and marker are solid.
    has_solid: bool,
}

const MARKERS: [Marker; 8] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Wedge,
    Marker::Plus,
    Marker::Star,
    Marker::Cross,
];

impl<'p> Style<'p> {
    fn new<'k>(
        [color, marker]: [Option<&'p Quantity>; 2],
        labels: &'p [Option<String>; 2],
        keys: impl Iterator<Item = &'k Vec<Key>>,
        known: &Values,
        has_solid: bool,
    ) -> Self {
        let keys: Vec<&Vec<Key>> = keys.collect();
        let at = |number: usize| -> Vec<Key> {
            keys.iter().filter_map(|key| key.get(number).cloned()).collect::<BTreeSet<_>>().into_iter().collect()
        };
        let (colors, markers) = match (color, marker) {
            (Some(_), Some(_)) => (at(0), at(1)),
            (Some(_), None) => (at(0), Vec::new()),
            (None, Some(_)) => (Vec::new(), at(0)),
            (None, None) => (Vec::new(), Vec::new()),
        };
        let everywhere = [color, marker].map(|quantity| known.all(quantity));
        Style { color, marker, labels, colors, markers, everywhere, has_solid }
    }

    /// Whether the legend lists colors and markers separately: all pairs of them would fill the panel.
    fn is_explained_apart(&self) -> bool {
        self.colors.len() > 1 && self.markers.len() > 1
    }

    /// Adds the curves of a series, with their legend entries.
    fn add(
        &self,
        number: usize,
        series: &plan::Series,
        curves: BTreeMap<Vec<Key>, Vec<Point>>,
        all: &mut Vec<plot::Series>,
    ) {
        let look = match (series.style, &series.y) {
            (plan::Style::Line, Of::Quantity(_)) => Look::line().band(),
            (plan::Style::Line, Of::Fit(_)) => Look::line(),
            (plan::Style::Points, _) => Look::markers(),
            (plan::Style::Curve, _) => Look::curve(Dash::Solid),
            (plan::Style::Dashed, _) => Look::curve(Dash::Dashed),
        };
        // Dashed lines in the colors of other curves get a single legend entry; other dashed lines have their own
        // names.
        let is_dashed = self.has_solid && series.is_grouped && series.style == plan::Style::Dashed && curves.len() > 1;
        for (key, points) in curves {
            let own = if self.is_explained_apart() { String::new() } else { self.name(&key) };
            let name = match (series.is_grouped, is_dashed) {
                (true, true) => String::new(),
                (true, false) => {
                    [&*series.label, &own].into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(", ")
                }
                (false, _) => series.label.clone(),
            };
            let look = match (series.is_grouped, self.color.is_some() || self.marker.is_some()) {
                (true, true) => self.look(&key, look.clone()),
                (true, false) => look.clone().number(number),
                (false, _) => look.clone().colour(GREY).marker(MARKERS[number % MARKERS.len()]),
            };
            all.push(plot::Series::new(name, points).look(look));
        }
        if is_dashed && !series.label.is_empty() {
            all.push(only_for_the_legend(&series.label, Look::curve(Dash::Dashed).colour(GREY)));
        }
    }

    /// The legend entries for colors and markers, if the curves have none.
    fn keys(&self) -> Vec<plot::Series> {
        if !self.is_explained_apart() {
            return Vec::new();
        }
        let colors = self.colors.iter().map(|key| {
            let look = self.look(&[key.clone(), self.markers[0].clone()], Look::curve(Dash::Solid));
            only_for_the_legend(&self.named(0, key), look)
        });
        let markers = self.markers.iter().map(|key| {
            let look = self.look(&[self.colors[0].clone(), key.clone()], Look::markers());
            only_for_the_legend(&self.named(1, key), look.colour(GREY))
        });
        colors.chain(markers).collect()
    }

    fn look(&self, key: &[Key], look: Look) -> Look {
        let [colors, markers] = &self.everywhere;
        let place = |known: &[Key], key: Option<&Key>| key.and_then(|key| known.iter().position(|own| own == key));
        let color = self.color.and_then(|_| place(colors, key.first())).unwrap_or(0);
        let marker = self.marker.and_then(|_| place(markers, key.last()));
        let ordered = colors.len() > 2 && colors.iter().all(|key| key.number().is_some());
        let palette = if ordered { Palette::Ordered } else { Palette::Categorical };
        let marker = MARKERS[marker.unwrap_or(if self.marker.is_some() { 0 } else { color }) % MARKERS.len()];
        look.colour(palette.colour(color, colors.len())).marker(marker)
    }

    /// The legend entry of a group.
    fn name(&self, key: &[Key]) -> String {
        let first = if self.color.is_some() { 0 } else { 1 };
        let mut words: Vec<String> = key.iter().enumerate().map(|(k, key)| self.named(first + k, key)).collect();
        words.dedup();
        words.join(", ")
    }

    /// The legend entry of a value of color (0) or marker (1).
    fn named(&self, which: usize, key: &Key) -> String {
        let quantity = [self.color, self.marker][which].map_or("", Quantity::text);
        named(quantity, self.labels[which].as_deref(), key)
    }
}

/// A legend entry without a curve.
fn only_for_the_legend(name: &str, look: Look) -> plot::Series {
    plot::Series::new(name, [Point::new(f64::NAN, 0.0)]).look(look)
}

/// A value in the legend, with the paper's symbol for the quantity unless there is a label.
fn named(name: &str, label: Option<&str>, key: &Key) -> String {
    let symbol = label.or(match name {
        "vocab" => Some("*v*"),
        "depth" => Some("*L*"),
        "fraction" => Some("*f*"),
        "samples" => Some("*P*"),
        "binary_rules" => Some("*m*_2"),
        "ternary_rules" => Some("*m*_3"),
        _ => None,
    });
    match (key, symbol) {
        (Key::Text(text), _) => match text.as_str() {
            "cnn" => "CNN".into(),
            "inn" => "INN".into(),
            other => plain(other),
        },
        (key, Some(symbol)) => format!("{symbol} = {}", plain(&key.to_string())),
        (key, None) => plain(&format!("{name} = {key}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_looks_the_same_in_all_panels() {
        let learner = Quantity::new("learner", &["learner"]).unwrap();
        let key = |name: &str| vec![Key::Text(name.to_owned())];
        let known = Values { of: [("learner", ["cnn", "em", "inn"].map(|name| key(name).remove(0)).into())].into() };
        let names = [None, None];
        let look = |present: &[&str], name: &str| {
            let keys: Vec<Vec<Key>> = present.iter().map(|name| key(name)).collect();
            let style = Style::new([Some(&learner), None], &names, keys.iter(), &known, true);
            format!("{:?}", style.look(&key(name), Look::line()))
        };
        assert_eq!(look(&["cnn", "em", "inn"], "inn"), look(&["inn"], "inn"));
        assert_ne!(look(&["em", "inn"], "em"), look(&["inn"], "inn"));
    }
}
