//! An SVG writer: a page of lines, areas and texts, in points.

use super::font;
use super::geometry::{Rect, Spot};
use super::text::Text;
use std::fmt::{self, Display, Write};

/// The color of texts and frames: softer than black, but still dark in print.
pub(super) const INK: &str = "#222222";

/// A length in points, formatted with two decimals (a few micrometers) and without trailing zeros.
pub(super) struct Points(pub f64);

impl Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // Adding zero turns -0 into 0.
        write!(f, "{}", (self.0 * 100.0).round() / 100.0 + 0.0)
    }
}

/// The style of a line.
#[derive(Clone, Copy, Debug)]
pub struct Stroke<'a> {
    /// A CSS color.
    pub colour: &'a str,
    /// The width of the line.
    pub width: f64,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub dash: &'a [f64],
}

impl<'a> Stroke<'a> {
    /// A line without gaps.
    pub fn solid(colour: &'a str, width: f64) -> Self {
        Stroke { colour, width, dash: &[] }
    }
}

impl Display for Stroke<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, " stroke=\"{}\" stroke-width=\"{}\"", escaped(self.colour), Points(self.width))?;
        if !self.dash.is_empty() {
            let lengths: Vec<String> = self.dash.iter().map(|&length| Points(length).to_string()).collect();
            write!(f, " stroke-dasharray=\"{}\"", lengths.join(" "))?;
        }
        Ok(())
    }
}

/// The style of an area; a plain color is `"#0072b2".into()`.
#[derive(Clone, Copy, Debug)]
pub struct Paint<'a> {
    /// The CSS color of the interior, or `none`.
    pub fill: &'a str,
    /// The opacity of the interior.
    pub opacity: f64,
    /// The outline.
    pub edge: Option<Stroke<'a>>,
}

impl<'a> Paint<'a> {
    /// Adds an outline.
    pub fn edge(self, stroke: Stroke<'a>) -> Self {
        Paint { edge: Some(stroke), ..self }
    }
}

impl<'a> From<&'a str> for Paint<'a> {
    fn from(fill: &'a str) -> Self {
        Paint { fill, opacity: 1.0, edge: None }
    }
}

impl Display for Paint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, " fill=\"{}\"", escaped(self.fill))?;
        if self.opacity < 1.0 {
            write!(f, " fill-opacity=\"{}\"", Points(self.opacity))?;
        }
        self.edge.iter().try_for_each(|edge| edge.fmt(f))
    }
}

/// The alignment of a text relative to its spot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// Starts at the spot.
    Start,
    /// Centered at the spot.
    Middle,
    /// Ends at the spot.
    End,
}

impl Anchor {
    /// The fraction of the text before the spot.
    fn part(self) -> f64 {
        match self {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        }
    }
}

/// An SVG document being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Svg {
    source: String,
}

impl Svg {
    /// An empty white page, sized in physical points so that text has its nominal size.
    pub fn page(width: f64, height: f64) -> Self {
        Svg::page_in("pt", width, height)
    }

    /// An empty white page in other units.
    pub fn page_in(unit: &str, width: f64, height: f64) -> Self {
        let (w, h, family) = (Points(width), Points(height), font::FAMILY);
        let source = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}{unit}\" height=\"{h}{unit}\" viewBox=\"0 0 {w} {h}\" \
             font-family=\"{family}\" stroke-linejoin=\"round\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"white\"/>\n"
        );
        Svg { source }
    }

    pub fn finish(self) -> String {
        self.source + "</svg>\n"
    }

    pub fn line(&mut self, from: Spot, to: Spot, stroke: Stroke) {
        self.chain(&[from, to], stroke);
    }

    /// A polyline.
    pub fn chain(&mut self, spots: &[Spot], stroke: Stroke) {
        let path = path(spots);
        self.write(format_args!("<path d=\"{path}\" fill=\"none\"{stroke}/>"));
    }

    /// A filled area.
    pub fn area(&mut self, corners: &[Spot], paint: Paint) {
        let path = path(corners);
        self.write(format_args!("<path d=\"{path}Z\"{paint}/>"));
    }

    pub fn disc(&mut self, middle: Spot, radius: f64, paint: Paint) {
        let (x, y, r) = (Points(middle.0), Points(middle.1), Points(radius));
        self.write(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\"{paint}/>"));
    }

    pub fn rect(&mut self, rect: &Rect, paint: Paint) {
        self.bar(rect, 0.0, paint);
    }

    /// A box with corners rounded to this radius.
    pub fn bar(&mut self, rect: &Rect, radius: f64, paint: Paint) {
        let (x, y, w, h) = (Points(rect.left), Points(rect.top), Points(rect.width()), Points(rect.height()));
        let round = if radius > 0.0 { format!(" rx=\"{}\"", Points(radius)) } else { String::new() };
        self.write(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"{round}{paint}/>"));
    }

    /// A text with its baseline at the spot.
    pub fn text(&mut self, text: &Text, spot: Spot, size: f64, anchor: Anchor, fill: &str) {
        let weight = if text.is_bold() { " font-weight=\"bold\"" } else { "" };
        let (points, fill) = (Points(size), escaped(fill));
        let split = text.is_split();
        let (part, name) = match anchor {
            _ if split => (anchor.part(), ""),
            Anchor::Start => (0.0, ""),
            Anchor::Middle => (0.0, " text-anchor=\"middle\""),
            Anchor::End => (0.0, " text-anchor=\"end\""),
        };
        let start = (spot.0 - part * text.width(size), spot.1);
        let place = if split { String::new() } else { format!(" x=\"{}\" y=\"{}\"", Points(start.0), Points(start.1)) };
        let spans = text.spans(size, start);
        self.write(format_args!("<text{place} font-size=\"{points}\"{name}{weight} fill=\"{fill}\">{spans}</text>"));
    }

    /// A text rotated around its spot by this angle in degrees.
    pub fn turned_text(&mut self, text: &Text, spot: Spot, angle: f64, size: f64, anchor: Anchor, fill: &str) {
        let (x, y, angle) = (Points(spot.0), Points(spot.1), Points(angle));
        self.write(format_args!("<g transform=\"translate({x} {y}) rotate({angle})\">"));
        self.text(text, (0.0, 0.0), size, anchor, fill);
        self.write(format_args!("</g>"));
    }

    /// A text that reads upwards, centered at the spot.
    pub fn upward_text(&mut self, text: &Text, spot: Spot, size: f64, fill: &str) {
        self.turned_text(text, spot, -90.0, size, Anchor::Middle, fill);
    }

    /// Inserts another fragment as a group with these attributes and round line ends.
    pub fn fragment(&mut self, part: &Svg, attributes: &str) {
        self.write(format_args!("<g stroke-linecap=\"round\"{attributes}>\n{}</g>", part.source));
    }

    /// The same, moved and scaled.
    pub fn moved(&mut self, part: &Svg, corner: Spot, scale: f64) {
        let (x, y) = (Points(corner.0), Points(corner.1));
        self.fragment(part, &format!(" transform=\"translate({x} {y}) scale({scale:.5})\""));
    }

    /// The same, with a tooltip.
    pub fn note(&mut self, note: &str, part: &Svg) {
        self.write(format_args!("<g><title>{}</title>\n{}</g>", escaped(note), part.source));
    }

    fn write(&mut self, line: fmt::Arguments) {
        let _ = writeln!(self.source, "{line}");
    }
}

fn path(spots: &[Spot]) -> String {
    let mut path = String::new();
    for (k, &(x, y)) in spots.iter().enumerate() {
        let _ = write!(path, "{}{} {}", if k == 0 { "M" } else { "L" }, Points(x), Points(y));
    }
    path
}

/// Escapes text for an element or attribute of SVG or HTML. Characters that XML does not allow are replaced.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML allows no other control characters.
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown: Vec<String> = [1.0, 2.504, -0.001, 1.0 / 3.0].iter().map(|&x| Points(x).to_string()).collect();
        assert_eq!(shown, ["1", "2.5", "0", "0.33"]);
    }

    #[test]
    fn texts_are_valid_in_xml() {
        assert_eq!(escaped("a < b & \"c\"\n\u{1}"), "a &lt; b &amp; &quot;c&quot; \u{fffd}");
    }

    #[test]
    fn markup_of_the_user_cannot_break_out_of_an_attribute() {
        let mut svg = Svg::page(10.0, 10.0);
        svg.rect(&Rect::new(0.0, 0.0, 1.0, 1.0), "\"/><script>".into());
        assert!(!svg.finish().contains("<script>"));
    }
}
