//! Reference lines: horizontal, vertical, or power laws, with small labels that avoid the data.

use super::geometry::{Rect, Spot};
use super::plot::Plot;
use super::svg::{Anchor, Paint, Stroke, Svg};
use super::taken::Taken;
use super::text::Text;

/// The size of the labels in points.
const SIZE: f64 = 6.5;
/// The distance of a label from its line and from the frame.
const GAP: f64 = 2.5;
/// A label closer than this to another line would be ambiguous.
const CLOSE: f64 = 7.0;
const COLOUR: &str = "#666666";

/// The position of a reference line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reference {
    /// At this y.
    Horizontal(f64),
    /// At this x.
    Vertical(f64),
    /// A straight line on the given axes: a power law if both are logarithmic.
    Sloped {
        /// The exponent of the power law, or the slope if both axes are linear.
        slope: f64,
        /// A point on the line.
        through: (f64, f64),
        /// The x range of the line; `None` for the whole width.
        span: Option<(f64, f64)>,
    },
}

/// A dashed reference line.
#[derive(Clone, Debug)]
pub struct Guide {
    /// Its position.
    pub line: Reference,
    /// A short label with markup; may be empty.
    pub label: String,
}

impl Guide {
    /// A line at this y.
    pub fn horizontal(y: f64, label: impl Into<String>) -> Self {
        Guide { line: Reference::Horizontal(y), label: label.into() }
    }

    /// A line at this x.
    pub fn vertical(x: f64, label: impl Into<String>) -> Self {
        Guide { line: Reference::Vertical(x), label: label.into() }
    }

    /// A power law with this exponent through a point, on two logarithmic axes; a straight line on two linear ones.
    pub fn sloped(slope: f64, through: (f64, f64), label: impl Into<String>) -> Self {
        Guide { line: Reference::Sloped { slope, through, span: None }, label: label.into() }
    }

    /// Restricts a sloped line to a range of x.
    pub fn between(mut self, from: f64, to: f64) -> Self {
        if let Reference::Sloped { span, .. } = &mut self.line {
            *span = Some((from, to));
        }
        self
    }

    /// The visible part of the line on the page.
    fn ends(&self, plot: &Plot) -> Option<(Spot, Spot)> {
        let (x, y) = (&plot.x, &plot.y);
        let places = match self.line {
            Reference::Horizontal(value) => y.place(value).map(|place| ((0.0, place), (1.0, place))),
            Reference::Vertical(value) => x.place(value).map(|place| ((place, 0.0), (place, 1.0))),
            Reference::Sloped { slope, through, span } => {
                let middle = (x.scale().length(through.0)?, y.scale().length(through.1)?);
                let (from, to) = match span {
                    Some((from, to)) => (x.scale().length(from)?, x.scale().length(to)?),
                    None => x.ends(),
                };
                let at = |u: f64| (x.place_of_length(u), y.place_of_length(middle.1 + slope * (u - middle.0)));
                Some((at(from), at(to)))
            }
        };
        let (from, to) = places?;
        let known = [from.0, from.1, to.0, to.1].iter().all(|place| place.is_finite());
        plot.frame.clip_line(plot.spot(from), plot.spot(to)).filter(|_| known)
    }
}

/// A placed label of a guide.
pub(super) struct Placed {
    text: Text,
    spot: Spot,
    area: Rect,
    /// Whether the label covers data, for lack of a better position.
    covers: bool,
}

/// The visible lines.
fn lines(plot: &Plot) -> impl Iterator<Item = (Spot, Spot)> {
    plot.chart.guides.iter().filter_map(|guide| guide.ends(plot))
}

/// Draws the lines.
pub(super) fn draw_lines(svg: &mut Svg, plot: &Plot) {
    for (from, to) in lines(plot) {
        // A white edge keeps the line visible on bars.
        svg.line(from, to, Stroke::solid("#ffffff", 1.6));
        svg.line(from, to, Stroke { colour: COLOUR, width: 0.8, dash: &[3.0, 2.0] });
    }
}

/// Draws the labels.
pub(super) fn draw_labels(svg: &mut Svg, labels: &[Placed]) {
    for label in labels {
        if label.covers {
            svg.rect(&label.area, Paint { opacity: 0.8, .."#ffffff".into() });
        }
        svg.text(&label.text, label.spot, SIZE, Anchor::Start, COLOUR);
    }
}

/// Places the labels where they cover neither data nor lines nor each other, if possible, and where they are not close
/// to another line. Marks these areas as taken.
pub(super) fn place_labels(plot: &Plot, taken: &mut Taken) -> Vec<Placed> {
    lines(plot).for_each(|(from, to)| taken.add_line(from, to));
    let mut placed: Vec<Placed> = Vec::new();
    for guide in &plot.chart.guides {
        let text = Text::new(&guide.label);
        let Some((from, to)) = guide.ends(plot).filter(|_| !text.is_empty()) else { continue };
        let mut others = Taken::new(plot.frame);
        lines(plot).filter(|&line| line != (from, to)).for_each(|(from, to)| others.add_line(from, to));
        placed.iter().for_each(|label| others.add(&label.area));
        let inside = plot.frame.grown(-GAP);
        let choices = candidates(from, to, text.width(SIZE)).into_iter().filter(|area| inside.encloses(area));
        // The first of equally good positions.
        let badness = |area: &Rect| (taken.count(area), others.count(&area.grown(CLOSE)) > 0);
        let Some(area) = choices.min_by_key(badness) else { continue };
        placed.push(Placed { text, spot: (area.left, area.bottom - DESCENT), area, covers: taken.count(&area) > 0 });
        taken.add(&area);
    }
    placed
}

/// The descent of a label, and its height, which may include an exponent.
const DESCENT: f64 = 0.22 * SIZE;
const HEIGHT: f64 = 1.1 * SIZE;

/// Candidate positions of a label, best first: near the end and then further along the line, on either side.
fn candidates(from: Spot, to: Spot, width: f64) -> Vec<Rect> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1e-9);
    let (ux, uy) = (dx / length, dy / length);
    // The distance of the label's center from the line at which its nearest corner keeps the gap.
    let away = (width * uy.abs() + HEIGHT * ux.abs()) / 2.0 + GAP;
    let steps = (length / 3.0).ceil().clamp(1.0, 200.0) as u32;
    let mut choices = Vec::new();
    for step in 0..=steps {
        let along = length * (1.0 - f64::from(step) / f64::from(steps));
        for side in [1.0, -1.0] {
            let middle = (from.0 + along * ux + side * away * uy, from.1 + along * uy - side * away * ux);
            choices.push(Rect::new(middle.0 - width / 2.0, middle.1 - HEIGHT / 2.0, width, HEIGHT));
        }
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Chart};

    fn plot(guides: Vec<Guide>) -> (Chart, Rect) {
        let axes = (Axis::log("x").range(1.0, 100.0), Axis::log("y").range(1.0, 100.0));
        (Chart { x: axes.0, y: axes.1, guides, ..Chart::default() }, Rect::new(30.0, 10.0, 200.0, 100.0))
    }

    #[test]
    fn a_power_law_is_straight_on_logarithmic_axes() {
        let (chart, frame) = plot(vec![Guide::sloped(0.5, (1.0, 1.0), ""), Guide::sloped(2.0, (1.0, 1.0), "")]);
        let plot = Plot::new(&chart, frame);
        assert_eq!(chart.guides[0].ends(&plot), Some(((30.0, 110.0), (230.0, 60.0))));
        let (_, (x, y)) = chart.guides[1].ends(&plot).unwrap();
        assert!((x - 130.0).abs() < 1e-9 && (y - 10.0).abs() < 1e-9, "cut at the top: {x} {y}");
    }

    #[test]
    fn labels_are_inside_and_do_not_cover_anything() {
        let guides = vec![
            Guide::horizontal(99.0, "a level at the top"),
            Guide::vertical(98.0, "at the right"),
            Guide::sloped(1.0, (1.0, 2.0), "x^1"),
            Guide::sloped(1.0, (1.0, 2.5), "x^1 again"),
        ];
        let (chart, frame) = plot(guides);
        let plot = Plot::new(&chart, frame);
        let data = Rect::new(150.0, 10.0, 80.0, 20.0);
        let mut taken = Taken::new(frame);
        taken.add(&data);
        let labels = place_labels(&plot, &mut taken);
        assert_eq!(labels.len(), 4);
        let mut others = Taken::new(frame);
        others.add(&data);
        lines(&plot).for_each(|(from, to)| others.add_line(from, to));
        for (k, label) in labels.iter().enumerate() {
            assert!(frame.encloses(&label.area), "label {k} leaves the frame");
            assert!(others.count(&label.area) == 0 && !label.covers, "label {k} covers something");
            assert!(taken.count(&label.area) > 0, "its place is taken");
            others.add(&label.area);
        }
    }

    #[test]
    fn a_label_without_a_good_place_says_so() {
        let (chart, frame) = plot(vec![Guide::horizontal(10.0, "everywhere data")]);
        let mut taken = Taken::new(frame);
        taken.add(&frame);
        assert!(place_labels(&Plot::new(&chart, frame), &mut taken)[0].covers);
    }

    #[test]
    fn lines_that_make_no_sense_are_left_out() {
        let guides = [f64::NAN, f64::INFINITY, 0.0].map(|y| Guide::horizontal(y, "")).to_vec();
        let (mut chart, frame) = plot(guides);
        chart.guides.push(Guide::sloped(f64::NAN, (1.0, 1.0), ""));
        assert_eq!(lines(&Plot::new(&chart, frame)).count(), 0);
    }
}
