//! Series of points and their looks.

use super::palette::{Dash, Marker};

/// A measured point, optionally with an error interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its x.
    pub x: f64,
    /// Its y.
    pub y: f64,
    /// The lower end of the error interval.
    pub low: Option<f64>,
    /// The upper end of the error interval.
    pub high: Option<f64>,
}

impl Point {
    /// A point without an error.
    pub fn new(x: f64, y: f64) -> Self {
        Point { x, y, low: None, high: None }
    }

    /// A point with an error interval.
    pub fn between(x: f64, y: f64, low: f64, high: f64) -> Self {
        Point { x, y, low: Some(low), high: Some(high) }
    }
}

impl From<(f64, f64)> for Point {
    fn from((x, y): (f64, f64)) -> Self {
        Point::new(x, y)
    }
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name in the legend, with markup; empty to omit it.
    pub name: String,
    /// The points. Those that the axes cannot show (not finite, or not positive on a logarithmic axis) are skipped, and
    /// interrupt lines.
    pub points: Vec<Point>,
    /// Its look.
    pub look: Look,
}

impl Series {
    /// A series with the default look of measured data: lines with markers, and error bars where there are errors.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = impl Into<Point>>) -> Self {
        let points = points.into_iter().map(Into::into).collect();
        Series { name: name.into(), points, look: Look::default() }
    }

    /// The series with another look.
    pub fn look(self, look: Look) -> Self {
        Series { look, ..self }
    }
}

/// The shape of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shape {
    /// Lines from point to point, and a marker at each.
    #[default]
    LineAndMarkers,
    /// Lines from point to point, as for theoretical curves.
    Line,
    /// A marker at each point.
    Markers,
    /// A bar from zero to each point, or from the bottom on a logarithmic axis. Bars of several series are side by
    /// side.
    Bars {
        /// The fraction of the distance between neighbors that the bars fill: 1 for a histogram.
        fill: f64,
    },
}

/// How errors are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Spread {
    /// Not at all.
    Hidden,
    /// As a bar with caps through each point.
    #[default]
    ErrorBars,
    /// As a translucent band around the line.
    Band,
}

/// The source of a series' color.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ink {
    /// The next color of the palette, with the marker and dash of the same index.
    #[default]
    Next,
    /// The color, marker and dash of this index, from 0: for example, a curve gets the color of the data that it
    /// explains.
    Number(usize),
    /// A CSS color.
    Colour(String),
}

/// The look of a series. Constructors cover the usual cases: `Look::line().band()`, `Look::curve(Dash::Dashed)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// The shape.
    pub shape: Shape,
    /// How errors are drawn.
    pub spread: Spread,
    /// The source of the color.
    pub ink: Ink,
    /// The dash pattern; by default solid with markers, otherwise by index.
    pub dash: Option<Dash>,
    /// The marker; by default by index.
    pub marker: Option<Marker>,
}

impl Look {
    /// Lines with markers.
    pub fn line() -> Self {
        Look::default()
    }

    /// A line without markers, for theory.
    pub fn curve(dash: Dash) -> Self {
        Look { shape: Shape::Line, spread: Spread::Band, dash: Some(dash), ..Look::default() }
    }

    /// Markers without lines.
    pub fn markers() -> Self {
        Look { shape: Shape::Markers, ..Look::default() }
    }

    /// Bars with gaps between them.
    pub fn bars() -> Self {
        Look { shape: Shape::Bars { fill: 0.75 }, ..Look::default() }
    }

    /// Bars that touch.
    pub fn histogram() -> Self {
        Look { shape: Shape::Bars { fill: 1.0 }, ..Look::default() }
    }

    /// The look with errors as a band.
    pub fn band(self) -> Self {
        Look { spread: Spread::Band, ..self }
    }

    /// The look with the color of this index.
    pub fn number(self, number: usize) -> Self {
        Look { ink: Ink::Number(number), ..self }
    }

    /// The look with this colour.
    pub fn colour(self, colour: impl Into<String>) -> Self {
        Look { ink: Ink::Colour(colour.into()), ..self }
    }

    /// The look with this marker.
    pub fn marker(self, marker: Marker) -> Self {
        Look { marker: Some(marker), ..self }
    }
}
