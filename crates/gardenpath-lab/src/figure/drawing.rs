//! Drawings that exist already, such as parse trees, as panels.

use super::axes::{Margins, TITLE_ROW, draw_title};
use super::geometry::Rect;
use super::render;
use super::svg::Svg;
use anyhow::Result;

/// The units of SVG are smaller than points; a drawing is not enlarged beyond its natural size.
const NATURAL: f64 = 0.75;

/// A piece of SVG that is scaled to fit.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    /// The title over the drawing, with markup.
    pub title: Option<String>,
    /// Elements of SVG, or a whole `<svg>` element without anything before it.
    pub svg: String,
    /// The width of the drawing in its own units.
    pub width: f64,
    /// The height of the drawing in its own units.
    pub height: f64,
}

impl Drawing {
    /// A whole SVG file as a drawing.
    pub fn new(svg: &str) -> Result<Self> {
        let (width, height) = render::size(svg)?;
        // Declarations are not allowed inside another file.
        let start = svg.find("<svg").unwrap_or(0);
        Ok(Drawing { title: None, svg: svg[start..].into(), width, height })
    }

    pub(super) fn margins(&self, titled: bool) -> Margins {
        Margins { top: if titled { TITLE_ROW } else { 0.0 }, ..Margins::default() }
    }

    pub(super) fn draw(&self, svg: &mut Svg, cell: &Rect, frame: &Rect) {
        let scale = (frame.width() / self.width).min(frame.height() / self.height).min(NATURAL);
        if self.width > 0.0 && self.height > 0.0 {
            let (x, y) = frame.middle();
            svg.fragment(&self.svg, (x - self.width * scale / 2.0, y - self.height * scale / 2.0), scale);
        }
        draw_title(svg, self.title.as_deref(), cell, frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "<?xml version=\"1.0\"?>\n<!-- a tree -->\n\
        <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"400\" height=\"100\"><path d=\"M0 0L400 100\"/></svg>\n";

    #[test]
    fn a_file_becomes_an_element() {
        let drawing = Drawing::new(FILE).unwrap();
        assert_eq!((drawing.width, drawing.height), (400.0, 100.0));
        assert!(drawing.svg.starts_with("<svg"));
        assert!(Drawing::new("<svg").is_err());
    }

    #[test]
    fn drawings_are_made_smaller_but_not_larger() {
        let drawing = Drawing::new(FILE).unwrap();
        let drawn = |width: f64| {
            let mut svg = Svg::page(width, 200.0);
            let cell = Rect::new(0.0, 0.0, width, 200.0);
            drawing.draw(&mut svg, &cell, &cell);
            svg.finish()
        };
        assert!(drawn(200.0).contains("translate(0 75) scale(0.50000)"));
        assert!(drawn(800.0).contains("translate(250 62.5) scale(0.75000)"));
    }
}
