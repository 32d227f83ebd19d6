//! Series of points and how they look.

use super::palette::{Dash, Marker};

/// A measured point, perhaps with the ends of its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where it is on the x axis.
    pub x: f64,
    /// Where it is on the y axis.
    pub y: f64,
    /// The lower end of the error.
    pub low: Option<f64>,
    /// The upper end of the error.
    pub high: Option<f64>,
}

impl Point {
    /// A point without an error.
    pub fn new(x: f64, y: f64) -> Self {
        Point { x, y, low: None, high: None }
    }

    /// A point whose value lies between two ends.
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
    /// The name in the legend, with markup; a series without a name is not in the legend.
    pub name: String,
    /// The points. Those that the axes cannot show (not finite, or not positive on a logarithmic axis) are left out,
    /// and lines are broken there.
    pub points: Vec<Point>,
    /// How they look.
    pub look: Look,
}

impl Series {
    /// A series with the look of measured data: lines with markers, and error bars where there are errors.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = impl Into<Point>>) -> Self {
        let points = points.into_iter().map(Into::into).collect();
        Series { name: name.into(), points, look: Look::default() }
    }

    /// The series with another look.
    pub fn look(self, look: Look) -> Self {
        Series { look, ..self }
    }
}

/// What is drawn of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shape {
    /// Lines from point to point, and a marker at each.
    #[default]
    LineAndMarkers,
    /// Lines from point to point, as for the curves of a theory.
    Line,
    /// A marker at each point.
    Markers,
    /// A bar from zero to each point, or from the bottom on a logarithmic axis. The bars of several series stand side
    /// by side.
    Bars {
        /// The part of the distance between neighbours that the bars fill: 1 for a histogram.
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

/// Where the colour of a series comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ink {
    /// The next colour of the palette, and the marker and the dash with the same number.
    #[default]
    Next,
    /// Colour, marker and dash with this number, counted from 0, as if the series were the one that has it: a curve
    /// gets the colour of the data that it explains.
    Number(usize),
    /// A colour as in CSS.
    Colour(String),
}

/// How a series looks. The functions make the usual ones: `Look::line().band()`, `Look::curve(Dash::Dashed)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// What is drawn.
    pub shape: Shape,
    /// How errors are drawn.
    pub spread: Spread,
    /// Where the colour comes from.
    pub ink: Ink,
    /// The dashes of the line, or none for the usual ones: solid where there are markers, by number otherwise.
    pub dash: Option<Dash>,
    /// The marker, or none for the one by number.
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

    /// The look with the colour of this number.
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
