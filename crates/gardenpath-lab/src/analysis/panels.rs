//! The panels of an experiment, as a figure.

use super::fits::{Fitted, Found, key_of_group, rows_by_group};
use super::table::{Row, Table, points};
use crate::experiment::key::Key;
use crate::experiment::plan::{self, Level, Line, Of, Plan};
use crate::experiment::quantity::Quantity;
use crate::figure::{Axis, Chart, Dash, Figure, Guide, Look, Marker, Palette, Panel, Point, Scale, Series, plain};
use crate::fit::band;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};

/// The most panels in a row.
const COLUMNS: usize = 3;

/// The figure of all panels. What was not measured is not drawn.
pub fn draw(plan: &Plan, table: &Table, fitted: &[Fitted]) -> Result<Figure> {
    let mut panels = Vec::new();
    for (number, panel) in plan.panels.iter().enumerate() {
        let place = || format!("[[panel]] number {}", number + 1);
        panels.push(Panel::Chart(chart(panel, table, fitted).with_context(place)?));
    }
    let columns = if panels.len() == 4 { 2 } else { panels.len().clamp(1, COLUMNS) };
    Ok(Figure::grid(columns, panels))
}

fn chart(panel: &plan::Panel, table: &Table, fitted: &[Fitted]) -> Result<Chart> {
    let looks: Vec<&Quantity> = panel.color.iter().chain(&panel.marker).collect();
    let groups: Vec<Quantity> = looks.into_iter().cloned().collect();
    let mut drawn: Vec<(Vec<Key>, Vec<Point>)> = Vec::new();
    let mut beside: Vec<(Vec<Key>, Vec<Point>)> = Vec::new();
    match &panel.y {
        Of::Quantity(y) => {
            for (key, rows) in rows_by_group(table, &panel.filter, &groups)? {
                drawn.push((key.clone(), means(&rows, &panel.x, y)?));
                for line in &panel.lines {
                    if let Level::Quantity(quantity) = &line.level {
                        let mean = means(&rows, &panel.x, quantity)?;
                        beside.push((key.clone(), mean.into_iter().map(|point| (point.x, point.y).into()).collect()));
                    }
                }
            }
        }
        Of::Fit(number) => drawn = estimates(panel, &groups, &fitted[*number])?,
    }
    let style = Style::new(panel, drawn.iter().map(|(key, _)| key));
    let mut series: Vec<Series> = Vec::new();
    for (key, points) in beside {
        series.push(Series::new("", points).look(style.look(&key, Look::curve(Dash::Dashed))));
    }
    let is_fit = matches!(panel.y, Of::Fit(_));
    for (key, points) in drawn {
        let look = if is_fit { Look::line() } else { Look::line().band() };
        series.push(Series::new(style.name(&key), points).look(style.look(&key, look)));
    }
    for Line { level, label } in &panel.lines {
        if matches!(level, Level::Quantity(_)) && !label.is_empty() {
            // Only for the legend: the lines have the colours of the curves.
            let nothing = [Point::new(f64::NAN, 0.0)];
            series.push(Series::new(label, nothing).look(Look::curve(Dash::Dashed).colour("#666666")));
        }
    }
    let guide = |line: &Line| match line.level {
        Level::Height(y) => Some(Guide::horizontal(y, &line.label)),
        Level::Place(x) => Some(Guide::vertical(x, &line.label)),
        Level::Quantity(_) => None,
    };
    let axis = |label: &str, scale: Scale| Axis { scale, ..Axis::linear(label) };
    Ok(Chart {
        title: panel.title.clone(),
        guides: panel.lines.iter().filter_map(guide).collect(),
        ..Chart::new(axis(&panel.x_label, panel.x_scale), axis(&panel.y_label, panel.y_scale), series)
    })
}

/// The mean over seeds at each place, with one standard error to both sides.
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

/// The estimates of a fit with their intervals, as far as these are known.
fn estimates(panel: &plan::Panel, groups: &[Quantity], fit: &Fitted) -> Result<Vec<(Vec<Key>, Vec<Point>)>> {
    let key = |found: &&Found, quantity: &Quantity| key_of_group(&fit.groups, &found.key, quantity);
    let all = panel.filter.plain(fit.found.iter().collect(), key)?;
    let mut drawn: BTreeMap<Vec<Key>, Vec<Point>> = BTreeMap::new();
    for found in panel.filter.extremes(all, key)? {
        let x = key(&found, &panel.x)?.number().unwrap_or(f64::NAN);
        let look = groups.iter().map(|group| key(&found, group)).collect::<Result<Vec<_>>>()?;
        let known = |end: f64| (end.is_finite() && (end > 0.0 || panel.y_scale == Scale::Linear)).then_some(end);
        let (low, high) = found.estimate.interval.map_or((None, None), |(low, high)| (known(low), known(high)));
        drawn.entry(look).or_default().push(Point { x, y: found.estimate.value, low, high });
    }
    for points in drawn.values_mut() {
        points.sort_by(|one, other| one.x.total_cmp(&other.x));
    }
    Ok(drawn.into_iter().collect())
}

/// Which colour and which marker the values of two quantities have.
struct Style<'p> {
    panel: &'p plan::Panel,
    colors: Vec<Key>,
    markers: Vec<Key>,
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
    fn new<'k>(panel: &'p plan::Panel, keys: impl Iterator<Item = &'k Vec<Key>>) -> Self {
        let keys: Vec<&Vec<Key>> = keys.collect();
        let at = |number: usize| -> Vec<Key> {
            keys.iter().filter_map(|key| key.get(number).cloned()).collect::<BTreeSet<_>>().into_iter().collect()
        };
        let (colors, markers) = match (&panel.color, &panel.marker) {
            (Some(_), Some(_)) => (at(0), at(1)),
            (Some(_), None) => (at(0), Vec::new()),
            (None, Some(_)) => (Vec::new(), at(0)),
            (None, None) => (Vec::new(), Vec::new()),
        };
        Style { panel, colors, markers }
    }

    fn look(&self, key: &[Key], look: Look) -> Look {
        let place = |known: &[Key], key: Option<&Key>| key.and_then(|key| known.iter().position(|own| own == key));
        let color = self.panel.color.as_ref().and_then(|_| place(&self.colors, key.first())).unwrap_or(0);
        let marker = self.panel.marker.as_ref().and_then(|_| place(&self.markers, key.last()));
        let ordered = self.colors.len() > 2 && self.colors.iter().all(|key| key.number().is_some());
        let palette = if ordered { Palette::Ordered } else { Palette::Categorical };
        let marker = MARKERS[marker.unwrap_or(if self.panel.marker.is_some() { 0 } else { color }) % MARKERS.len()];
        look.colour(palette.colour(color, self.colors.len())).marker(marker)
    }

    fn name(&self, key: &[Key]) -> String {
        let names = self.panel.color.iter().chain(&self.panel.marker).map(Quantity::text);
        let mut words: Vec<String> = names.zip(key).map(|(name, key)| plain(&format!("{name} = {key}"))).collect();
        words.dedup();
        words.join(", ")
    }
}
