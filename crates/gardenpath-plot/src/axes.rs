//! Everything around the data: frame, ticks with labels and grid lines, axis labels, and title.

use super::axis::Ruler;
use super::geometry::Rect;
use super::plot::Plot;
use super::svg::{Anchor, INK, Paint, Stroke, Svg};
use super::text::Text;
use super::ticks::{TICK_SIZE, Tick};

/// Text sizes in points.
pub(super) const LABEL_SIZE: f64 = 8.0;
pub(super) const TITLE_SIZE: f64 = 8.5;
/// The height of the line for titles.
pub(super) const TITLE_ROW: f64 = 14.0;

const TICK: f64 = 2.8;
const SMALL_TICK: f64 = 1.6;
/// The distance between ticks, their labels and the names of the axes.
const GAP: f64 = 2.2;
const GRID: &str = "#e4e4e4";
/// The angle of labels that do not fit side by side.
const SLANT: f64 = 40.0;
/// Markers at the edge of the frame extend this far beyond it.
const MARKER_ROOM: f64 = 3.0;
/// The width of the letter of a panel.
const LETTER: f64 = 14.0;

/// The margins around a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Margins {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Margins {
    /// The frame inside a cell.
    pub fn frame(&self, cell: &Rect) -> Rect {
        Rect {
            left: cell.left + self.left,
            top: cell.top + self.top,
            right: (cell.right - self.right).max(cell.left + self.left + 20.0),
            bottom: (cell.bottom - self.bottom).max(cell.top + self.top + 20.0),
        }
    }
}

/// The tick labels with their positions along the axis.
fn labels(ruler: &Ruler) -> impl Iterator<Item = (Text, f64)> {
    ruler.ticks.iter().filter_map(|tick| Some((Text::new(tick.label.as_ref()?), ruler.place(tick.value)?)))
}

/// How far the labels of the x axis extend below the frame.
fn depth(plot: &Plot) -> f64 {
    let widest = labels(&plot.x).map(|(text, _)| text.width(TICK_SIZE)).fold(0.0, f64::max);
    TICK + GAP + if plot.x.slanted { widest * SLANT.to_radians().sin() + TICK_SIZE } else { 0.8 * TICK_SIZE }
}

/// The margins that ticks, labels and the title of a chart need.
pub(super) fn margins(plot: &Plot, titled: bool) -> Margins {
    let widest = labels(&plot.y).map(|(text, _)| text.width(TICK_SIZE)).fold(0.0, f64::max);
    // The first label may extend to the left, and the last one to the right.
    let (mut left, mut right) = (0.0_f64, MARKER_ROOM);
    for (text, place) in labels(&plot.x) {
        let width = text.width(TICK_SIZE);
        let (before, after) =
            if plot.x.slanted { (width * SLANT.to_radians().cos(), 0.0) } else { (width / 2.0, width / 2.0) };
        left = left.max(before - place * plot.frame.width());
        right = right.max(after - (1.0 - place) * plot.frame.width());
    }
    let named = |label: &str, room: f64| if label.is_empty() { 0.0 } else { room };
    Margins {
        left: left.max(TICK + GAP + widest + named(&plot.chart.y.label, 1.1 * LABEL_SIZE + 2.0 * GAP)),
        right,
        top: if titled { TITLE_ROW } else { 2.0 },
        bottom: depth(plot) + named(&plot.chart.x.label, 1.5 * GAP + 1.05 * LABEL_SIZE),
    }
}

/// Draws the grid lines behind the data.
pub(super) fn draw_grid(svg: &mut Svg, plot: &Plot) {
    let stroke = Stroke::solid(GRID, 0.5);
    let frame = &plot.frame;
    // A grid line under the frame would show at its edges.
    let inner = |label: &(Text, f64)| (0.002..0.998).contains(&label.1);
    for (_, place) in labels(&plot.x).filter(inner) {
        let x = plot.spot((place, 0.0)).0;
        svg.line((x, frame.top), (x, frame.bottom), stroke);
    }
    for (_, place) in labels(&plot.y).filter(inner) {
        let y = plot.spot((0.0, place)).1;
        svg.line((frame.left, y), (frame.right, y), stroke);
    }
}

/// Draws the frame with its ticks and texts.
pub(super) fn draw(svg: &mut Svg, plot: &Plot, cell: &Rect) {
    svg.rect(&plot.frame, Paint::from("none").edge(Stroke::solid(INK, 0.7)));
    draw_ticks(svg, plot);
    draw_names(svg, plot, cell);
    draw_title(svg, plot.chart.title.as_deref(), cell, &plot.frame);
}

fn draw_ticks(svg: &mut Svg, plot: &Plot) {
    let frame = &plot.frame;
    let reach = |tick: &Tick| if tick.label.is_some() { TICK } else { SMALL_TICK };
    let stroke = |tick: &Tick| Stroke::solid(INK, if tick.label.is_some() { 0.7 } else { 0.5 });
    for tick in &plot.x.ticks {
        let Some(x) = plot.x.place(tick.value).map(|place| plot.spot((place, 0.0)).0) else { continue };
        svg.line((x, frame.bottom), (x, frame.bottom + reach(tick)), stroke(tick));
    }
    for (text, place) in labels(&plot.x) {
        let (x, top) = (plot.spot((place, 0.0)).0, frame.bottom + TICK + GAP);
        if plot.x.slanted {
            svg.turned_text(&text, (x + 2.0, top + 0.6 * TICK_SIZE), -SLANT, TICK_SIZE, Anchor::End, INK);
        } else {
            svg.text(&text, (x, top + 0.75 * TICK_SIZE), TICK_SIZE, Anchor::Middle, INK);
        }
    }
    for tick in &plot.y.ticks {
        let Some(y) = plot.y.place(tick.value).map(|place| plot.spot((0.0, place)).1) else { continue };
        svg.line((frame.left, y), (frame.left - reach(tick), y), stroke(tick));
    }
    for (text, place) in labels(&plot.y) {
        let spot = (frame.left - TICK - GAP, plot.spot((0.0, place)).1 + 0.36 * TICK_SIZE);
        svg.text(&text, spot, TICK_SIZE, Anchor::End, INK);
    }
}

/// Draws the axis labels. That of the y axis is at the left edge of the cell, so that stacked panels line up.
fn draw_names(svg: &mut Svg, plot: &Plot, cell: &Rect) {
    let frame = &plot.frame;
    let (x_name, y_name) = (Text::new(&plot.chart.x.label), Text::new(&plot.chart.y.label));
    if !x_name.is_empty() {
        let size = x_name.fitting(LABEL_SIZE, cell.width());
        let middle = kept_inside(frame.middle().0, x_name.width(size), cell.left, cell.right);
        let baseline = frame.bottom + depth(plot) + 1.5 * GAP + 0.75 * LABEL_SIZE;
        svg.text(&x_name, (middle, baseline), size, Anchor::Middle, INK);
    }
    if !y_name.is_empty() {
        // A long label must not overlap the title.
        let top = if frame.top - cell.top < TITLE_ROW { cell.top } else { cell.top + TITLE_ROW };
        let size = y_name.fitting(LABEL_SIZE, cell.bottom - top);
        let middle = kept_inside(frame.middle().1, y_name.width(size), top, cell.bottom);
        svg.upward_text(&y_name, (cell.left + 0.85 * LABEL_SIZE, middle), size, INK);
    }
}

/// The center of a text of this length, shifted so that the text stays between `low` and `high`.
fn kept_inside(middle: f64, length: f64, low: f64, high: f64) -> f64 {
    middle.min(high - length / 2.0).max(low + length / 2.0)
}

/// Draws the title of a panel above the middle of its frame, to the right of the panel letter.
pub(super) fn draw_title(svg: &mut Svg, title: Option<&str>, cell: &Rect, frame: &Rect) {
    if let Some(title) = title.map(Text::new) {
        let left = cell.left + LETTER;
        let size = title.fitting(TITLE_SIZE, cell.right - left);
        let middle = kept_inside(frame.middle().0, title.width(size), left, cell.right);
        svg.text(&title, (middle, cell.top + TITLE_SIZE), size, Anchor::Middle, INK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Chart, Series};

    fn plotted(chart: &Chart) -> Plot<'_> {
        Plot::new(chart, Rect::new(30.0, 10.0, 120.0, 90.0))
    }

    #[test]
    fn long_labels_get_room() {
        let chart =
            |top: f64| Chart::new(Axis::linear(""), Axis::linear("y"), vec![Series::new("", [(0.0, 0.0), (1.0, top)])]);
        let (short, long) = (chart(5.0), chart(50000.0));
        assert!(margins(&plotted(&long), false).left > margins(&plotted(&short), false).left + 10.0);
    }

    #[test]
    fn the_last_label_is_not_cut_off() {
        let axis = |label: &str| Axis::linear("").range(0.0, 1.0).ticks([(0.0, ""), (1.0, label)]);
        let chart = |label: &str| Chart::new(axis(label), Axis::linear(""), Vec::new());
        let room = margins(&plotted(&chart("transformer")), false).right;
        assert!((room - Text::new("transformer").width(TICK_SIZE) / 2.0).abs() < 1e-9);
    }

    #[test]
    fn texts_are_moved_inside() {
        assert_eq!(kept_inside(50.0, 20.0, 0.0, 100.0), 50.0);
        assert_eq!(kept_inside(95.0, 20.0, 0.0, 100.0), 90.0);
        assert_eq!(kept_inside(5.0, 20.0, 0.0, 100.0), 10.0);
    }
}
