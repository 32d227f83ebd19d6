//! The SVG of this crate, read back as shapes and glyphs for the writers of PNG and PDF. It knows the few elements that
//! `svg.rs` writes and refuses all others, so that nothing is silently left out of a picture.

use super::font::{self, Style};
use anyhow::{Context, Result, anyhow, bail, ensure};
use roxmltree::{Document, Node};
use tiny_skia::{LineCap, LineJoin, Path, PathBuilder, Stroke, StrokeDash, Transform};
use ttf_parser::GlyphId;

/// Units of the page in a point: 96 and 72 of them make an inch.
const UNITS: f32 = 96.0 / 72.0;
/// The control points of a quarter of a circle lie so far along its tangents, in parts of the radius.
const TANGENT: f32 = 0.552_284_8;

/// What is drawn on a page, from the bottom to the top.
pub(super) struct Picture {
    /// The size of the page in 96ths of an inch.
    pub width: f32,
    pub height: f32,
    pub marks: Vec<Mark>,
}

/// A shape, and where it is on the page.
pub(super) struct Mark {
    pub shape: Shape,
    pub transform: Transform,
}

pub(super) enum Shape {
    Path { path: Path, fill: Option<Fill>, edge: Option<Edge> },
    Text { run: Run, colour: Rgb },
}

/// The parts red, green and blue of a colour.
pub(super) type Rgb = [u8; 3];

pub(super) struct Fill {
    pub colour: Rgb,
    pub opacity: f32,
}

pub(super) struct Edge {
    pub colour: Rgb,
    pub stroke: Stroke,
    /// The lengths of dashes and gaps, as in `stroke`; empty for a solid line.
    pub dash: Vec<f32>,
}

/// Glyphs of one font on one baseline.
pub(super) struct Run {
    /// The number of the font.
    pub face: usize,
    pub size: f32,
    pub baseline: f32,
    pub glyphs: Vec<Glyph>,
}

pub(super) struct Glyph {
    pub id: GlyphId,
    pub character: char,
    /// Where the glyph begins.
    pub x: f32,
}

/// What a group passes on to its elements.
#[derive(Clone, Copy)]
struct Group {
    transform: Transform,
    cap: LineCap,
}

impl Picture {
    /// Reads the SVG of a figure or of a drawing.
    pub fn read(svg: &str) -> Result<Self> {
        Self::parsed(svg).context("this SVG is not one that the program wrote")
    }

    fn parsed(svg: &str) -> Result<Self> {
        let document = Document::parse(svg)?;
        let page = document.root_element();
        let side = |name: &str| {
            let text = page.attribute(name).ok_or_else(|| anyhow!("it has no {name}"))?;
            match text.strip_suffix("pt") {
                Some(points) => Ok::<f32, anyhow::Error>(number(points)? * UNITS),
                None => number(text),
            }
        };
        let (width, height) = (side("width")?, side("height")?);
        let view = numbers(page.attribute("viewBox").unwrap_or_default())?;
        let [0.0, 0.0, across, down] = view[..] else { bail!("its viewBox does not begin at 0 0") };
        ensure!([width, height, across, down].iter().all(|&side| side > 0.0), "the picture is empty");
        let group = Group { transform: Transform::from_scale(width / across, height / down), cap: LineCap::Butt };
        let mut picture = Picture { width, height, marks: Vec::new() };
        picture.add_all(page, group)?;
        Ok(picture)
    }

    fn add_all(&mut self, parent: Node, group: Group) -> Result<()> {
        parent.children().filter(Node::is_element).try_for_each(|node| self.add(node, group))
    }

    fn add(&mut self, node: Node, group: Group) -> Result<()> {
        let value = |name: &str| node.attribute(name).map_or(Ok(0.0), number);
        let mut outline = PathBuilder::new();
        match node.tag_name().name() {
            "g" => {
                let transform = group.transform.pre_concat(transform(node.attribute("transform").unwrap_or_default())?);
                let cap = if node.attribute("stroke-linecap") == Some("round") { LineCap::Round } else { group.cap };
                return self.add_all(node, Group { transform, cap });
            }
            "title" => return Ok(()),
            "text" => return self.add_text(node, group),
            "path" => push_lines(&mut outline, node.attribute("d").unwrap_or_default())?,
            "circle" => {
                let radius = value("r")?;
                let corner = (value("cx")? - radius, value("cy")? - radius);
                push_box(&mut outline, corner, (2.0 * radius, 2.0 * radius), radius);
            }
            "rect" => {
                push_box(&mut outline, (value("x")?, value("y")?), (value("width")?, value("height")?), value("rx")?)
            }
            other => bail!("it has an element {other}"),
        }
        // An empty path shows nothing.
        let Some(path) = outline.finish() else { return Ok(()) };
        let opacity = node.attribute("fill-opacity").map_or(Ok(1.0), number)?;
        let fill = colour(node, "fill")?.map(|colour| Fill { colour, opacity });
        let edge = edge(node, group.cap)?;
        self.marks.push(Mark { shape: Shape::Path { path, fill, edge }, transform: group.transform });
        Ok(())
    }

    /// Lays a text out as browsers do: spans follow each other, and the anchor moves the whole line.
    fn add_text(&mut self, text: Node, group: Group) -> Result<()> {
        let Some(colour) = colour(text, "fill")? else { return Ok(()) };
        let value = |node: Node, name: &str| node.attribute(name).map(number).transpose();
        let text_size = value(text, "font-size")?.unwrap_or(16.0);
        let (mut x, mut y) = (value(text, "x")?.unwrap_or(0.0), value(text, "y")?.unwrap_or(0.0));
        let start = x;
        let mut runs: Vec<Run> = Vec::new();
        // Spaces at the beginning and after other spaces do not count.
        let mut after_space = true;
        for child in text.children() {
            let span = if child.is_text() { text } else { child };
            ensure!(child.is_text() || child.has_tag_name((SVG, "tspan")), "a text has an unknown element");
            if child.is_element() {
                x = value(span, "x")?.unwrap_or(x) + value(span, "dx")?.unwrap_or(0.0);
                y = value(span, "y")?.unwrap_or(y) + value(span, "dy")?.unwrap_or(0.0);
            }
            let size = value(span, "font-size")?.unwrap_or(text_size);
            let style = match (text.attribute("font-weight"), span.attribute("font-style")) {
                (Some("bold"), _) => Style::Bold,
                (_, Some("italic")) => Style::Italic,
                _ => Style::Regular,
            };
            let mut run: Option<Run> = None;
            for character in child.text().unwrap_or_default().chars() {
                if character == ' ' && after_space {
                    continue;
                }
                after_space = character == ' ';
                let (face, id) = font::glyph(character, style);
                if run.as_ref().is_some_and(|run| run.face != face) {
                    runs.extend(run.take());
                }
                let run = run.get_or_insert_with(|| Run { face, size, baseline: y, glyphs: Vec::new() });
                if let Some(before) = run.glyphs.last() {
                    x += size * font::kerning(face, before.id, id);
                }
                run.glyphs.push(Glyph { id, character, x });
                x += size * font::advance(character, style) as f32;
            }
            runs.extend(run);
        }
        let before = match text.attribute("text-anchor") {
            Some("middle") => 0.5,
            Some("end") => 1.0,
            _ => 0.0,
        };
        for mut run in runs {
            run.glyphs.iter_mut().for_each(|glyph| glyph.x -= before * (x - start));
            self.marks.push(Mark { shape: Shape::Text { run, colour }, transform: group.transform });
        }
        Ok(())
    }
}

const SVG: &str = "http://www.w3.org/2000/svg";

fn number(text: &str) -> Result<f32> {
    let number = text.trim().parse::<f32>().ok().filter(|number| number.is_finite());
    number.with_context(|| format!("expected a number instead of {text:?}"))
}

/// Numbers with spaces between them.
fn numbers(text: &str) -> Result<Vec<f32>> {
    text.split_whitespace().map(number).collect()
}

/// The colour `#rrggbb` of an attribute, or none.
fn colour(node: Node, name: &str) -> Result<Option<Rgb>> {
    let text = match node.attribute(name) {
        None | Some("none") => return Ok(None),
        Some("white") => return Ok(Some([255; 3])),
        Some(text) => text,
    };
    let part = |k: usize| u8::from_str_radix(text.get(k..k + 2)?, 16).ok();
    let parts = [part(1), part(3), part(5)];
    match (text.len(), text.starts_with('#'), parts) {
        (7, true, [Some(red), Some(green), Some(blue)]) => Ok(Some([red, green, blue])),
        _ => bail!("expected a colour such as #0072b2 instead of {text:?}"),
    }
}

/// The line around a shape.
fn edge(node: Node, cap: LineCap) -> Result<Option<Edge>> {
    let Some(colour) = colour(node, "stroke")? else { return Ok(None) };
    let width = node.attribute("stroke-width").map_or(Ok(1.0), number)?;
    let dash = numbers(node.attribute("stroke-dasharray").unwrap_or_default())?;
    let stroke = Stroke {
        width,
        line_cap: cap,
        line_join: LineJoin::Round,
        dash: StrokeDash::new(dash.clone(), 0.0),
        ..Stroke::default()
    };
    ensure!(dash.is_empty() || stroke.dash.is_some(), "expected pairs of dashes and gaps instead of {dash:?}");
    Ok((width > 0.0).then_some(Edge { colour, stroke, dash }))
}

/// One after the other: `translate(x y)`, `rotate(degrees)` and `scale(factor)`.
fn transform(text: &str) -> Result<Transform> {
    let mut whole = Transform::identity();
    for part in text.split_inclusive(')') {
        let inner = part.trim().strip_suffix(')').and_then(|part| part.split_once('('));
        let (name, values) = inner.with_context(|| format!("it has a transform {text:?}"))?;
        let next = match (name, &numbers(values)?[..]) {
            ("translate", &[x, y]) => Transform::from_translate(x, y),
            ("rotate", &[angle]) => Transform::from_rotate(angle),
            ("scale", &[factor]) => Transform::from_scale(factor, factor),
            _ => bail!("it has a transform {text:?}"),
        };
        whole = whole.pre_concat(next);
    }
    Ok(whole)
}

/// Straight lines: `M x y`, any number of `L x y`, and `Z` if they are closed.
fn push_lines(outline: &mut PathBuilder, text: &str) -> Result<()> {
    let (lines, closed) = text.strip_suffix('Z').map_or((text, false), |lines| (lines, true));
    if lines.is_empty() {
        return Ok(());
    }
    for (k, spot) in lines.trim_start_matches('M').split('L').enumerate() {
        let &[x, y] = &numbers(spot)?[..] else { bail!("it has a path {text:?}") };
        if k == 0 { outline.move_to(x, y) } else { outline.line_to(x, y) }
    }
    if closed {
        outline.close();
    }
    Ok(())
}

/// A box whose corners are quarters of a circle, or of an ellipse where the box is too small.
fn push_box(outline: &mut PathBuilder, (left, top): (f32, f32), (width, height): (f32, f32), radius: f32) {
    if width <= 0.0 || height <= 0.0 {
        return;
    }
    let (right, bottom) = (left + width, top + height);
    let (rx, ry) = (radius.min(width / 2.0), radius.min(height / 2.0));
    let (cx, cy) = (rx * (1.0 - TANGENT), ry * (1.0 - TANGENT));
    outline.move_to(left + rx, top);
    outline.line_to(right - rx, top);
    if radius > 0.0 {
        outline.cubic_to(right - cx, top, right, top + cy, right, top + ry);
        outline.line_to(right, bottom - ry);
        outline.cubic_to(right, bottom - cy, right - cx, bottom, right - rx, bottom);
        outline.line_to(left + rx, bottom);
        outline.cubic_to(left + cx, bottom, left, bottom - cy, left, bottom - ry);
        outline.line_to(left, top + ry);
        outline.cubic_to(left, top + cy, left + cx, top, left + rx, top);
    } else {
        outline.line_to(right, bottom);
        outline.line_to(left, bottom);
    }
    outline.close();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Anchor, Drawing};

    fn page(content: &str) -> String {
        format!("<svg xmlns=\"{SVG}\" width=\"10\" height=\"10\" viewBox=\"0 0 10 10\">{content}</svg>")
    }

    #[test]
    fn what_the_program_does_not_write_is_refused() {
        let refused = [
            ("<ellipse/>", "it has an element ellipse"),
            ("<path d=\"M0 0C1 1 2 2 3 3\" fill=\"#000000\"/>", "expected a number instead of \"0C1\""),
            ("<path d=\"M0 0L\" fill=\"#000000\"/>", "it has a path \"M0 0L\""),
            ("<circle r=\"1\" fill=\"red\"/>", "expected a colour such as #0072b2 instead of \"red\""),
            ("<circle r=\"1\" fill=\"#00é0\"/>", "expected a colour such as #0072b2 instead of \"#00é0\""),
            ("<g transform=\"skewX(3)\"/>", "it has a transform \"skewX(3)\""),
            ("<rect width=\"inf\" height=\"1\"/>", "expected a number instead of \"inf\""),
            ("<text fill=\"#000000\"><a>x</a></text>", "a text has an unknown element"),
        ];
        for (content, reason) in refused {
            let error = format!("{:#}", Picture::read(&page(content)).err().unwrap());
            assert_eq!(error, format!("this SVG is not one that the program wrote: {reason}"));
        }
        assert!(Picture::read("<svg/>").is_err() && Picture::read("no SVG").is_err());
    }

    #[test]
    fn what_has_no_extent_shows_nothing() {
        let nothing =
            ["<path d=\"Z\" fill=\"#000000\"/>", "<rect width=\"0\" height=\"2\" fill=\"#000000\"/>", "<text/>"];
        for content in nothing {
            assert!(Picture::read(&page(content)).unwrap().marks.is_empty(), "{content}");
        }
    }

    #[test]
    fn an_anchor_moves_the_whole_text() {
        let glyphs = |anchor: Anchor| {
            let mut drawing = Drawing::new(100.0, 20.0);
            drawing.text((50.0, 10.0), 10.0, anchor, "#000000", "*m*_2^3 x");
            let marks = Picture::read(&drawing.svg()).unwrap().marks;
            let runs = marks.into_iter().filter_map(|mark| match mark.shape {
                Shape::Text { run, .. } => Some(run),
                Shape::Path { .. } => None,
            });
            runs.flat_map(|run| run.glyphs).map(|glyph| glyph.x).collect::<Vec<f32>>()
        };
        let [start, middle, end] = [Anchor::Start, Anchor::Middle, Anchor::End].map(glyphs);
        assert_eq!(start.len(), 5);
        assert_eq!(start[0], 50.0);
        assert!(start[1] == start[2] || (start[1] - start[2]).abs() < 0.02, "a stacked superscript");
        for (k, x) in start.iter().enumerate() {
            assert!((x - middle[k] - (middle[k] - end[k])).abs() < 1e-3);
            assert!((x - end[k] - (start[0] - end[0])).abs() < 1e-3);
        }
        let width = crate::text::Text::new("*m*_2^3 x").width(10.0) as f32;
        assert!((start[0] - end[0] - width).abs() < 0.05, "no kerning in this text");
    }
}
