//! Drawings: lines, discs, boxes and texts at given positions, such as parse trees, as panels or as separate files.

use super::axes::{Margins, TITLE_ROW, draw_title};
use super::geometry::{Rect, Spot};
use super::svg::{Anchor, Paint, Stroke, Svg};
use super::text::Text;

/// The unit of a drawing in points; a panel never enlarges a drawing beyond its natural size.
const NATURAL: f64 = 0.75;
/// The length of an arrowhead.
const HEAD: f64 = 7.0;

/// A canvas for lines, boxes and texts. Its unit is the CSS pixel, which is three quarters of a point, and texts use
/// the common markup. As a panel it is scaled down to fit.
///
/// ```
/// use gardenpath_plot::{Anchor, Drawing, Figure, Stroke};
///
/// let mut tree = Drawing::new(60.0, 50.0);
/// for child in [10.0, 50.0] {
///     tree.line((30.0, 10.0), (child, 40.0), Stroke::solid("#0072b2", 1.5));
///     tree.disc((child, 40.0), 3.0, "#222222");
/// }
/// tree.text((36.0, 12.0), 12.0, Anchor::Start, "#222222", "*z*_1");
/// assert!(tree.svg().starts_with("<svg"));
/// assert!(Figure::of(tree.titled("A rule")).png(2.0)?.starts_with(b"\x89PNG"));
/// # Ok::<(), anyhow::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    /// The title above the drawing when it is a panel, with markup.
    pub title: Option<String>,
    width: f64,
    height: f64,
    marks: Svg,
}

impl Drawing {
    /// An empty canvas of this size.
    pub fn new(width: f64, height: f64) -> Self {
        Drawing { width, height, ..Drawing::default() }
    }

    /// The drawing with a title.
    pub fn titled(self, title: impl Into<String>) -> Self {
        Drawing { title: Some(title.into()), ..self }
    }

    /// A straight line with round ends.
    pub fn line(&mut self, from: Spot, to: Spot, stroke: Stroke) {
        self.marks.line(from, to, stroke);
    }

    /// A straight line with an arrowhead at its end.
    pub fn arrow(&mut self, from: Spot, to: Spot, stroke: Stroke) {
        self.marks.line(from, to, stroke);
        let direction = (to.1 - from.1).atan2(to.0 - from.0);
        let end = |side: f64| (to.0 - HEAD * (direction + side).cos(), to.1 - HEAD * (direction + side).sin());
        self.marks.chain(&[end(0.45), to, end(-0.45)], Stroke { dash: &[], ..stroke });
    }

    /// A disc.
    pub fn disc<'a>(&mut self, middle: Spot, radius: f64, paint: impl Into<Paint<'a>>) {
        self.marks.disc(middle, radius, paint.into());
    }

    /// A filled box with slightly rounded corners; the spot is its upper left corner.
    pub fn bar<'a>(&mut self, (left, top): Spot, (width, height): (f64, f64), paint: impl Into<Paint<'a>>) {
        let radius = (0.2 * width.min(height)).min(4.0);
        self.marks.bar(&Rect::new(left, top, width, height), radius, paint.into());
    }

    /// An outlined box; the spot is its upper left corner.
    pub fn frame(&mut self, corner: Spot, size: (f64, f64), stroke: Stroke) {
        self.bar(corner, size, Paint::from("none").edge(stroke));
    }

    /// A text with its baseline at the spot.
    pub fn text(&mut self, spot: Spot, size: f64, anchor: Anchor, colour: &str, text: &str) {
        self.marks.text(&Text::new(text), spot, size, anchor, colour);
    }

    /// A bold text with its baseline at the spot.
    pub fn bold(&mut self, spot: Spot, size: f64, anchor: Anchor, colour: &str, text: &str) {
        self.marks.text(&Text::bold(text), spot, size, anchor, colour);
    }

    /// A group of marks with a tooltip.
    pub fn with_note(&mut self, note: &str, marks: impl FnOnce(&mut Drawing)) {
        let mut part = Drawing::new(self.width, self.height);
        marks(&mut part);
        self.marks.note(note, &part.marks);
    }

    /// The drawing as an SVG file of natural size, without its title.
    pub fn svg(&self) -> String {
        let mut svg = Svg::page_in("", self.width, self.height);
        svg.fragment(&self.marks, "");
        svg.finish()
    }

    pub(super) fn margins(&self, titled: bool) -> Margins {
        Margins { top: if titled { TITLE_ROW } else { 0.0 }, ..Margins::default() }
    }

    pub(super) fn draw(&self, svg: &mut Svg, cell: &Rect, frame: &Rect) {
        let scale = (frame.width() / self.width).min(frame.height() / self.height).min(NATURAL);
        if self.width > 0.0 && self.height > 0.0 {
            let (x, y) = frame.middle();
            svg.moved(&self.marks, (x - self.width * scale / 2.0, y - self.height * scale / 2.0), scale);
        }
        draw_title(svg, self.title.as_deref(), cell, frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_are_made_smaller_but_not_larger() {
        let drawing = Drawing::new(400.0, 100.0);
        let drawn = |width: f64| {
            let mut svg = Svg::page(width, 200.0);
            let cell = Rect::new(0.0, 0.0, width, 200.0);
            drawing.draw(&mut svg, &cell, &cell);
            svg.finish()
        };
        assert!(drawn(200.0).contains("translate(0 75) scale(0.50000)"));
        assert!(drawn(800.0).contains("translate(250 62.5) scale(0.75000)"));
    }

    #[test]
    fn notes_and_names_cannot_break_the_file() {
        let mut drawing = Drawing::new(10.0, 10.0);
        drawing.with_note("a < b", |part| part.text((0.0, 0.0), 5.0, Anchor::Start, "#000000", "</svg>"));
        let svg = drawing.svg();
        assert!(svg.contains("<title>a &lt; b</title>") && svg.matches("</svg>").count() == 1, "{svg}");
    }
}
