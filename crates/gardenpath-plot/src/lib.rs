//! Figures for papers: charts, grids and drawings in panels, as SVG, PNG and PDF.
//!
//! A figure is data, and the same data give the same bytes. Fonts are embedded, so PNG and PDF look the same on every
//! machine. Sizes are in points, and text is between 6.5 and 10 points: a figure with one panel per row fills a journal
//! column, one with two fills the page, and larger ones are meant to be scaled to the page.
//!
//! All texts support a small markup: `*v*` is italic, `m_3` and `m_{12}` have a subscript, `10^{-3}` has a superscript,
//! and a backslash escapes the next character; [`plain`] escapes a whole string.
//!
//! ```
//! use gardenpath_plot::{Axis, Chart, Dash, Figure, Guide, Look, Panel, Point, Series};
//!
//! let measured = [(8.0, 70.0), (16.0, 290.0), (32.0, 1150.0)];
//! let measured = measured.map(|(v, p)| Point::between(v, p, 0.8 * p, 1.25 * p));
//! let theory = (8..=32).map(|v| (f64::from(v), 1.1 * f64::from(v * v)));
//! let chart = Chart {
//!     guides: vec![Guide::sloped(2.0, (8.0, 150.0), "*v*^2")],
//!     ..Chart::new(
//!         Axis::log("vocabulary *v*"),
//!         Axis::log("examples *P*^*"),
//!         vec![
//!             Series::new("measured", measured).look(Look::markers()),
//!             Series::new("theory", theory).look(Look::curve(Dash::Solid)),
//!         ],
//!     )
//! };
//! let figure = Figure::of(Panel::Chart(chart));
//! assert!(figure.svg().starts_with("<svg"));
//! assert!(figure.png(2.0)?.starts_with(b"\x89PNG"));
//! assert!(figure.pdf()?.starts_with(b"%PDF"));
//! # Ok::<(), anyhow::Error>(())
//! ```

mod axes;
mod axis;
mod chart;
mod colour;
mod drawing;
mod font;
mod geometry;
mod grid;
mod guide;
mod heat;
mod layout;
mod legend;
mod marks;
mod palette;
mod plot;
mod render;
mod series;
mod svg;
mod taken;
mod text;
mod ticks;

pub use axis::{Axis, Scale};
pub use chart::Chart;
pub use drawing::Drawing;
pub use geometry::Spot;
pub use grid::{Cell, Fill, Grid};
pub use guide::{Guide, Reference};
pub use legend::{Corner, Legend};
pub use palette::{Dash, Marker, Palette};
pub use render::{pdf, png};
pub use series::{Ink, Look, Point, Series, Shape, Spread};
pub use svg::{Anchor, Paint, Stroke, escaped};
pub use text::plain;

use anyhow::Result;
use layout::Layout;
use plot::Plot;
use svg::{INK, Svg};
use text::Text;

/// The size of the title and of the panel letters in points.
const TITLE_SIZE: f64 = 10.0;
const LETTER_SIZE: f64 = 9.0;

/// A part of a figure.
#[derive(Clone, Debug)]
pub enum Panel {
    /// Series of points between axes.
    Chart(Chart),
    /// Lines, boxes and texts.
    Drawing(Drawing),
    /// Rows and columns of cells.
    Grid(Grid),
}

impl Panel {
    fn title(&self) -> Option<&str> {
        match self {
            Panel::Chart(chart) => chart.title.as_deref(),
            Panel::Drawing(drawing) => drawing.title.as_deref(),
            Panel::Grid(grid) => grid.title.as_deref(),
        }
    }
}

impl From<Chart> for Panel {
    fn from(chart: Chart) -> Self {
        Panel::Chart(chart)
    }
}

impl From<Drawing> for Panel {
    fn from(drawing: Drawing) -> Self {
        Panel::Drawing(drawing)
    }
}

impl From<Grid> for Panel {
    fn from(grid: Grid) -> Self {
        Panel::Grid(grid)
    }
}

/// Panels in rows and columns, with letters (a), (b), … if there are several.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The title above all panels, with markup.
    pub title: Option<String>,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// The number of panels per row.
    pub columns: usize,
    /// The width in points; by default 245 for one panel per row, 504 for two, 643 for three.
    pub width: Option<f64>,
    /// The height of each panel in points; by default about three quarters of its width.
    pub panel_height: Option<f64>,
}

impl Default for Figure {
    fn default() -> Self {
        Figure { title: None, panels: Vec::new(), columns: 1, width: None, panel_height: None }
    }
}

impl Figure {
    /// A figure with a single panel.
    pub fn of(panel: impl Into<Panel>) -> Self {
        Figure { panels: vec![panel.into()], ..Figure::default() }
    }

    /// A figure with this many panels per row.
    pub fn grid(columns: usize, panels: Vec<Panel>) -> Self {
        Figure { panels, columns, ..Figure::default() }
    }

    /// The figure as SVG.
    pub fn svg(&self) -> String {
        let layout = Layout::new(self);
        let mut svg = Svg::page(layout.width, layout.height);
        if let Some(title) = self.title.as_deref().map(Text::new) {
            let size = title.fitting(TITLE_SIZE, layout.width - 8.0);
            svg.text(&title, (layout.width / 2.0, 4.0 + TITLE_SIZE), size, Anchor::Middle, INK);
        }
        for (k, panel) in self.panels.iter().enumerate() {
            let (cell, frame) = (&layout.cells[k], &layout.frames[k]);
            match panel {
                Panel::Chart(chart) => draw_chart(&mut svg, &Plot::new(chart, *frame), cell, layout.legends[k]),
                Panel::Drawing(drawing) => drawing.draw(&mut svg, cell, frame),
                Panel::Grid(grid) => grid.draw(&mut svg, cell, frame),
            }
            if self.panels.len() > 1 {
                let letter = Text::bold(&format!("({})", letters(k)));
                svg.text(&letter, (cell.left, cell.top + LETTER_SIZE - 0.5), LETTER_SIZE, Anchor::Start, INK);
            }
        }
        svg.finish()
    }

    /// The figure as PNG, at 96 dots per inch times `scale`; print needs a scale of 3 or more. Fails if the image would
    /// be empty or have more than 400 million pixels.
    pub fn png(&self, scale: f64) -> Result<Vec<u8>> {
        render::png(&self.svg(), scale)
    }

    /// The figure as PDF, in print size.
    pub fn pdf(&self) -> Result<Vec<u8>> {
        render::pdf(&self.svg())
    }
}

fn draw_chart(svg: &mut Svg, plot: &Plot, cell: &geometry::Rect, place: legend::Place) {
    let labels = guide::place_labels(plot, &mut plot.taken());
    axes::draw_grid(svg, plot);
    marks::draw_bands(svg, plot);
    marks::draw_bars(svg, plot);
    guide::draw_lines(svg, plot);
    marks::draw_lines(svg, plot);
    axes::draw(svg, plot, cell);
    guide::draw_labels(svg, &labels);
    let under = axes::margins(plot, false).bottom;
    legend::draw(svg, plot, cell, plot.frame.bottom + under, place);
}

/// The letters of a panel: a to z, then aa, ab, …
fn letters(number: usize) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    if number < 26 { last.into() } else { letters(number / 26 - 1) + &last.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let points = (1..20).map(|k| Point::between(f64::from(k), 1.0 / f64::from(k), 0.5 / f64::from(k), 1.0));
        let series = vec![Series::new("*α*_1 ∝ *x*^{-1}", points).look(Look::line().band())];
        Chart::new(Axis::log("*x* · 10⁻³"), Axis::log("ℓ"), series)
    }

    fn grid() -> Grid {
        let cells = vec![Cell { row: 0, column: 0, fill: Fill::True, text: "*S*".into() }];
        Grid { rows: vec!["1".into()], columns: vec!["a".into()], cells, ..Grid::default() }
    }

    #[test]
    fn the_same_data_give_the_same_bytes() {
        let figure = || Figure::grid(2, vec![chart().into(), grid().into()]);
        assert_eq!(figure().svg(), figure().svg());
        assert_eq!(figure().png(1.0).unwrap(), figure().png(1.0).unwrap());
        assert_eq!(figure().pdf().unwrap(), figure().pdf().unwrap());
    }

    #[test]
    fn only_several_panels_have_letters() {
        assert!(!Figure::of(chart()).svg().contains(">(a)<"));
        let svg = Figure::grid(2, vec![chart().into(), grid().into(), chart().into()]).svg();
        assert!(["(a)", "(b)", "(c)"].iter().all(|letter| svg.contains(letter)) && !svg.contains("(d)"));
        assert_eq!([0, 25, 26, 53].map(letters), ["a", "z", "aa", "bb"]);
    }

    #[test]
    fn the_scale_says_how_many_pixels_there_are() {
        let figure = Figure { width: Some(240.0), panel_height: Some(142.0), ..Figure::of(chart()) };
        let size = |scale: f64| {
            let png = figure.png(scale).unwrap();
            [16, 20].map(|at| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()))
        };
        assert_eq!(size(1.0), [320, 200]);
        assert_eq!(size(3.0), [960, 600]);
    }

    #[test]
    fn bad_scales_are_errors() {
        for scale in [0.0, -1.0, f64::NAN, 1e6] {
            assert!(Figure::of(chart()).png(scale).is_err(), "{scale}");
        }
    }

    #[test]
    fn empty_figures_can_be_drawn() {
        for figure in [
            Figure::default(),
            Figure::of(Chart::default()),
            Figure::of(Grid::default()),
            Figure::of(Drawing::default()),
        ] {
            assert!(figure.png(1.0).is_ok() && figure.pdf().is_ok());
        }
    }
}
