//! Drawings made by hand: lines, boxes and texts. Their units are three quarters of a point.

use crate::figure::Drawing;
use std::fmt::Write;

/// The colours of the true tree and of any other, those of drawn trees; and of what is there but does not matter.
pub(super) const TRUE: &str = "#0072b2";
pub(super) const OTHER: &str = "#d55e00";
pub(super) const INK: &str = "#222222";
pub(super) const FAINT: &str = "#8a8a8a";

/// A place on the drawing.
pub(super) type Spot = (f64, f64);

/// Where a text is relative to its spot.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
}

/// A drawing being made.
pub(super) struct Sketch {
    drawing: Drawing,
}

impl Sketch {
    pub fn new(width: f64, height: f64) -> Self {
        Sketch { drawing: Drawing { width, height, ..Drawing::default() } }
    }

    pub fn line(&mut self, from: Spot, to: Spot, colour: &str, width: f64) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.write(format!(
            "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-linecap=\"round\"/>"
        ));
    }

    pub fn disc(&mut self, (x, y): Spot, radius: f64, colour: &str) {
        self.write(format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>"));
    }

    /// A box with round corners.
    pub fn bar(&mut self, (x, y): Spot, width: f64, height: f64, colour: &str) {
        self.write(format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"2.5\" fill=\"{colour}\"/>"
        ));
    }

    /// A text with its baseline at the spot; what is between asterisks is italic.
    pub fn text(&mut self, (x, y): Spot, size: f64, anchor: Anchor, colour: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
        };
        let part = |(k, part): (usize, &str)| match k % 2 {
            0 => part.to_owned(),
            _ => format!("<tspan font-style=\"italic\">{part}</tspan>"),
        };
        let text: String = text.split('*').enumerate().map(part).collect();
        self.write(format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"
        ));
    }

    pub fn finish(self, title: Option<&str>) -> Drawing {
        Drawing { title: title.map(str::to_owned), ..self.drawing }
    }

    fn write(&mut self, element: String) {
        let _ = writeln!(self.drawing.svg, "{element}");
    }
}
