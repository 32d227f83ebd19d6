//! The layout of panels and their frames on the page.

use super::axes::{self, Margins};
use super::geometry::Rect;
use super::legend::{self, Place};
use super::plot::Plot;
use super::{Figure, Panel, guide};

/// The widths of a journal column and page in points.
const COLUMN: f64 = 245.0;
const PAGE: f64 = 504.0;
/// The width of one of many panels: narrow, so that figures shrink little when fitted to a page.
const PANEL: f64 = 205.0;
/// The height of a panel relative to its width.
const ASPECT: f64 = 0.77;
/// The distance between panels, and around the figure.
const GAP: f64 = 10.0;
const BORDER: f64 = 4.0;
/// The height of the line for the title of the figure.
const TITLE: f64 = 18.0;

/// The positions of all parts.
pub(super) struct Layout {
    pub width: f64,
    pub height: f64,
    /// The cells of the panels.
    pub cells: Vec<Rect>,
    /// The frames inside the cells.
    pub frames: Vec<Rect>,
    /// The positions of the legends.
    pub legends: Vec<Place>,
}

impl Layout {
    pub fn new(figure: &Figure) -> Self {
        let count = figure.panels.len();
        let columns = figure.columns.clamp(1, count.max(1));
        let rows = count.div_ceil(columns);
        let between = 2.0 * BORDER + GAP * (columns - 1) as f64;
        let usual = match columns {
            1 => COLUMN,
            2 => PAGE,
            _ => between + PANEL * columns as f64,
        };
        let width = figure.width.unwrap_or(usual).max(60.0);
        let cell_width = (width - between) / columns as f64;
        let cell_height = figure.panel_height.unwrap_or(ASPECT * cell_width).max(40.0);
        let top = BORDER + if figure.title.is_some() { TITLE } else { 0.0 };
        let cell = |k: usize| {
            let (row, column) = ((k / columns) as f64, (k % columns) as f64);
            Rect::new(BORDER + column * (cell_width + GAP), top + row * (cell_height + GAP), cell_width, cell_height)
        };
        let cells: Vec<Rect> = (0..count).map(cell).collect();
        let height = top + rows as f64 * (cell_height + GAP) - if rows > 0 { GAP } else { 0.0 } + BORDER;
        let (frames, legends) = frames(figure, &cells, columns);
        Layout { width, height, cells, frames, legends }
    }
}

/// Finds frames that leave room for everything around them, and places the legends. The margins depend on the ticks,
/// which depend on the size of the frame; a few iterations settle that. A legend that once did not fit inside stays
/// outside, so that the iteration converges.
fn frames(figure: &Figure, cells: &[Rect], columns: usize) -> (Vec<Rect>, Vec<Place>) {
    let usual = Margins { left: 36.0, right: 4.0, top: 12.0, bottom: 26.0 };
    let mut frames: Vec<Rect> = cells.iter().map(|cell| usual.frame(cell)).collect();
    let mut legends = vec![Place::Nowhere; cells.len()];
    for round in 0..cells.len() + 6 {
        let margins = margins(figure, &frames, &legends, columns);
        let before = (frames, legends.clone());
        frames = aligned(figure, cells, &margins, columns);
        // The first frames are too rough to move a legend outside.
        if round > 0 {
            for (k, legend) in legends.iter_mut().enumerate() {
                if !matches!(legend, Place::Right | Place::Below(_)) {
                    *legend = place_legend(&figure.panels[k], &cells[k], &frames[k]);
                }
            }
            if before == (frames.clone(), legends.clone()) {
                break;
            }
        }
    }
    (frames, legends)
}

fn place_legend(panel: &Panel, cell: &Rect, frame: &Rect) -> Place {
    let Panel::Chart(chart) = panel else { return Place::Nowhere };
    let plot = Plot::new(chart, *frame);
    let mut taken = plot.taken();
    guide::place_labels(&plot, &mut taken);
    legend::place(&plot, cell, &taken)
}

/// The margins that each panel needs around its frame.
fn margins(figure: &Figure, frames: &[Rect], legends: &[Place], columns: usize) -> Vec<Margins> {
    let rows = figure.panels.chunks(columns);
    let titled = rows.flat_map(|row| {
        let titled = figure.panels.len() > 1 || row.iter().any(|panel| panel.title().is_some());
        row.iter().map(move |panel| (panel, titled))
    });
    let margins = titled.zip(frames.iter().zip(legends)).map(|((panel, titled), (frame, legend))| match panel {
        Panel::Chart(chart) => {
            let plot = Plot::new(chart, *frame);
            let mut margins = axes::margins(&plot, titled);
            let (beside, below) = legend::room(&plot, *legend);
            margins.right = margins.right.max(beside);
            margins.bottom += below;
            margins
        }
        Panel::Drawing(drawing) => drawing.margins(titled),
        Panel::Grid(grid) => grid.margins(titled),
    });
    margins.collect()
}

/// The frames inside the cells; those of charts in the same row or column line up.
fn aligned(figure: &Figure, cells: &[Rect], margins: &[Margins], columns: usize) -> Vec<Rect> {
    let is_chart = |k: usize| matches!(figure.panels[k], Panel::Chart(_));
    let frame = |k: usize| {
        let mut room = margins[k];
        for other in (0..cells.len()).filter(|&other| is_chart(k) && is_chart(other)) {
            if other % columns == k % columns {
                room.left = room.left.max(margins[other].left);
                room.right = room.right.max(margins[other].right);
            }
            if other / columns == k / columns {
                room.bottom = room.bottom.max(margins[other].bottom);
            }
        }
        room.frame(&cells[k])
    };
    (0..cells.len()).map(frame).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Chart, Series};

    fn panel(y: f64, points: &[(f64, f64)]) -> Panel {
        let points: Vec<(f64, f64)> = points.iter().map(|point| (point.0, point.1 * y)).collect();
        Panel::Chart(Chart::new(Axis::linear("x"), Axis::linear("y"), vec![Series::new("a name", points)]))
    }

    #[test]
    fn frames_line_up() {
        let diagonal = [(0.0, 0.0), (1.0, 1.0)];
        let panels = [1.0, 20000.0, 1.0, 3e9].map(|y| panel(y, &diagonal)).to_vec();
        let layout = Layout::new(&Figure { panels, columns: 2, ..Figure::default() });
        let [a, b, c, d] = layout.frames[..] else { panic!("four frames") };
        assert_eq!((a.left, a.right, b.left, b.right), (c.left, c.right, d.left, d.right));
        assert_eq!((a.top, a.bottom, c.top, c.bottom), (b.top, b.bottom, d.top, d.bottom));
        assert!(b.left - layout.cells[1].left > a.left - layout.cells[0].left, "long labels have more room");
        let inside = |k: usize| layout.cells[k].encloses(&layout.frames[k]);
        assert!((0..4).all(inside));
    }

    #[test]
    fn a_legend_without_room_inside_is_beside_the_frame() {
        let zigzag: Vec<(f64, f64)> = (0..=40).map(|k| (k as f64, (k % 2) as f64)).collect();
        let layout = Layout::new(&Figure::of(panel(1.0, &zigzag)));
        assert_eq!(layout.legends, [Place::Right]);
        assert!(layout.frames[0].right < layout.width - 45.0);
    }

    #[test]
    fn an_empty_figure_is_a_small_page() {
        let layout = Layout::new(&Figure::default());
        assert!(layout.cells.is_empty() && layout.height < 20.0);
    }
}
