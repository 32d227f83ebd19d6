//! Legends: in a corner of the frame where they cover nothing, or else beside or below the frame.

use super::geometry::{Rect, Spot};
use super::marks::draw_sample;
use super::plot::Plot;
use super::series::Shape;
use super::svg::{Anchor, INK, Paint, Stroke, Svg};
use super::taken::Taken;
use super::text::Text;

/// The font size in points, and the sizes derived from it.
const SIZE: f64 = 7.0;
const ROW: f64 = 9.5;
/// The width of the sample of a line, and of a marker or bar.
const LINE: f64 = 17.0;
const SPOT: f64 = 8.0;
const GAP: f64 = 4.0;
const PADDING: f64 = 3.5;
/// The distance from the frame, inside or outside.
const INSET: f64 = 4.0;
/// Maximum number of entries; more would be unreadable.
const MOST: usize = 30;
/// A legend beside the frame must leave it at least this width; otherwise it goes below.
const FRAME: f64 = 140.0;

/// The position of the legend.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Legend {
    /// In the first corner without data, or else to the right of the frame, or below it if that would make the frame
    /// too narrow.
    #[default]
    Auto,
    /// In this corner of the frame.
    Inside(Corner),
    /// To the right of the frame.
    Right,
    /// Below the frame.
    Below,
    /// No legend.
    Hidden,
}

/// A corner of the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Corner {
    /// Top right.
    TopRight,
    /// Top left.
    TopLeft,
    /// Bottom right.
    BottomRight,
    /// Bottom left.
    BottomLeft,
}

impl Corner {
    const ALL: [Corner; 4] = [Corner::TopRight, Corner::TopLeft, Corner::BottomRight, Corner::BottomLeft];

    /// A box of this size in the corner of another.
    fn place(self, around: &Rect, width: f64, height: f64) -> Rect {
        let left = match self {
            Corner::TopLeft | Corner::BottomLeft => around.left,
            Corner::TopRight | Corner::BottomRight => around.right - width,
        };
        let top = match self {
            Corner::TopLeft | Corner::TopRight => around.top,
            Corner::BottomLeft | Corner::BottomRight => around.bottom - height,
        };
        Rect::new(left, top, width, height)
    }
}

/// The entries of a legend in columns.
struct Table {
    /// The named series; the last entry may summarize the rest.
    entries: Vec<(Option<usize>, Text)>,
    rows: usize,
    /// The width of each column.
    columns: Vec<f64>,
    /// The width of the samples.
    sample: f64,
}

impl Table {
    /// The entries with at most this many rows; `None` if there are no entries.
    fn new(plot: &Plot, rows: usize) -> Option<Self> {
        let series = &plot.chart.series;
        let named: Vec<usize> = (0..series.len()).filter(|&number| !series[number].name.is_empty()).collect();
        if named.is_empty() || plot.chart.legend == Legend::Hidden {
            return None;
        }
        let shown = if named.len() > MOST { &named[..MOST - 1] } else { &named };
        let mut entries: Vec<(Option<usize>, Text)> =
            shown.iter().map(|&number| (Some(number), Text::new(&series[number].name))).collect();
        if shown.len() < named.len() {
            entries.push((None, Text::new(&format!("… and {} more", named.len() - shown.len()))));
        }
        // Columns of equal length, as far as possible.
        let columns = entries.len().div_ceil(rows.max(1));
        let rows = entries.len().div_ceil(columns);
        let has_line = |&number: &usize| matches!(series[number].look.shape, Shape::Line | Shape::LineAndMarkers);
        let sample = if shown.iter().any(has_line) { LINE } else { SPOT };
        let width = |column: &[(Option<usize>, Text)]| {
            column.iter().fold(0.0, |widest: f64, (_, text)| widest.max(sample + GAP + text.width(SIZE)))
        };
        let columns = entries.chunks(rows).map(width).collect();
        Some(Table { entries, rows, columns, sample })
    }

    fn width(&self) -> f64 {
        self.columns.iter().sum::<f64>() + 2.0 * GAP * (self.columns.len() - 1) as f64 + 2.0 * PADDING
    }

    fn height(&self) -> f64 {
        self.rows as f64 * ROW + 2.0 * PADDING
    }

    fn draw(&self, svg: &mut Svg, plot: &Plot, corner: Spot) {
        let mut left = corner.0 + PADDING;
        for (column, width) in self.entries.chunks(self.rows).zip(&self.columns) {
            for (row, (number, text)) in column.iter().enumerate() {
                let sample = Rect::new(left, corner.1 + PADDING + row as f64 * ROW, self.sample, ROW);
                if let Some(number) = *number {
                    draw_sample(svg, &plot.chart.series[number].look, &plot.styles[number], &sample);
                }
                let spot = (sample.right + GAP, sample.middle().1 + 0.35 * SIZE);
                svg.text(text, spot, SIZE, Anchor::Start, INK);
            }
            left += width + 2.0 * GAP;
        }
    }
}

/// The placement of a legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// No legend.
    Nowhere,
    /// In this box, with this many rows.
    Inside(Rect, usize),
    /// Beside the frame, not taller than it.
    Right,
    /// Below the frame and its axis label, with this many rows.
    Below(usize),
}

/// Places the legend where nothing is taken.
pub(super) fn place(plot: &Plot, cell: &Rect, taken: &Taken) -> Place {
    let all = plot.chart.series.len();
    let Some(table) = Table::new(plot, all) else { return Place::Nowhere };
    let inside = plot.frame.grown(-INSET);
    match plot.chart.legend {
        Legend::Right => return Place::Right,
        Legend::Below => return below(plot, cell),
        Legend::Inside(corner) => return Place::Inside(corner.place(&inside, table.width(), table.height()), all),
        Legend::Auto | Legend::Hidden => {}
    }
    // One column, or two or three shorter ones.
    for columns in 1..=3.min(table.entries.len()) {
        let rows = table.entries.len().div_ceil(columns);
        let Some(table) = Table::new(plot, rows) else { continue };
        for corner in Corner::ALL {
            let area = corner.place(&inside, table.width(), table.height());
            let free = taken.count(&area.grown(1.0)) == 0;
            // A wider legend would dominate the chart.
            if free && inside.encloses(&area) && area.width() <= 0.75 * inside.width() {
                return Place::Inside(area, rows);
            }
        }
    }
    if plot.frame.width() - room(plot, Place::Right).0 >= FRAME { Place::Right } else { below(plot, cell) }
}

/// Below the frame, with as few rows as the width of the cell allows.
fn below(plot: &Plot, cell: &Rect) -> Place {
    let fits = |rows: &usize| Table::new(plot, *rows).is_none_or(|table| table.width() <= cell.width());
    let all = plot.chart.series.len();
    Place::Below((1..=all).find(fits).unwrap_or(all))
}

/// The table at its place.
fn table(plot: &Plot, place: Place) -> Option<Table> {
    match place {
        Place::Nowhere => None,
        Place::Inside(_, rows) | Place::Below(rows) => Table::new(plot, rows),
        Place::Right => Table::new(plot, (plot.frame.height() / ROW).floor().max(1.0) as usize),
    }
}

/// The width to the right of the frame and the height below it that a legend needs.
pub(super) fn room(plot: &Plot, place: Place) -> (f64, f64) {
    match (place, table(plot, place)) {
        (Place::Right, Some(table)) => (INSET + table.width() - PADDING, 0.0),
        (Place::Below(_), Some(table)) => (0.0, table.height() - PADDING),
        _ => (0.0, 0.0),
    }
}

/// Draws the legend; `under` is the top of a legend below the frame.
pub(super) fn draw(svg: &mut Svg, plot: &Plot, cell: &Rect, under: f64, place: Place) {
    let Some(table) = table(plot, place) else { return };
    let corner = match place {
        Place::Inside(area, _) => {
            let paint = Paint { opacity: 0.9, .."#ffffff".into() };
            svg.rect(&area, paint.edge(Stroke::solid("#cccccc", 0.5)));
            (area.left, area.top)
        }
        Place::Right => (plot.frame.right + INSET, plot.frame.top - PADDING),
        Place::Below(_) | Place::Nowhere => {
            let left = plot.frame.middle().0 - table.width() / 2.0;
            (left.min(cell.right - table.width()).max(cell.left), under)
        }
    };
    table.draw(svg, plot, corner);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Chart, Series};

    const CELL: Rect = Rect { left: 0.0, top: 0.0, right: 234.0, bottom: 180.0 };
    const INNER: Rect = Rect { left: 30.0, top: 10.0, right: 230.0, bottom: 150.0 };

    fn chart(points: &[(f64, f64)], names: usize) -> Chart {
        let series = (0..names).map(|k| Series::new(format!("name {k}"), points.to_vec())).collect();
        Chart::new(Axis::linear("x").range(0.0, 1.0), Axis::linear("y").range(0.0, 1.0), series)
    }

    fn placed(chart: &Chart, frame: Rect) -> Place {
        let plot = Plot::new(chart, frame);
        place(&plot, &CELL, &plot.taken())
    }

    fn zigzag() -> Vec<(f64, f64)> {
        (0..=20).map(|k| (k as f64 / 20.0, (k % 2) as f64)).collect()
    }

    #[test]
    fn the_legend_is_where_the_data_are_not() {
        let falling = placed(&chart(&[(0.0, 1.0), (0.1, 0.1), (1.0, 0.0)], 3), INNER);
        assert!(matches!(falling, Place::Inside(area, 3) if area.right == 226.0 && area.top == 14.0));
        let rising = placed(&chart(&[(0.0, 0.0), (0.8, 0.2), (1.0, 1.0)], 3), INNER);
        assert!(matches!(rising, Place::Inside(area, 3) if area.left == 34.0 && area.top == 14.0));
    }

    #[test]
    fn data_everywhere_push_it_out() {
        let chart = chart(&zigzag(), 3);
        let place = placed(&chart, INNER);
        assert_eq!(place, Place::Right);
        let (beside, under) = room(&Plot::new(&chart, INNER), place);
        assert!(beside > LINE + 20.0 && under == 0.0);
    }

    #[test]
    fn it_does_not_squeeze_a_narrow_frame() {
        let narrow = Rect { right: 150.0, ..INNER };
        assert_eq!(placed(&chart(&zigzag(), 3), narrow), Place::Below(1));
        assert_eq!(placed(&chart(&zigzag(), 9), narrow), Place::Below(3));
    }

    #[test]
    fn many_entries_beside_the_frame_take_more_columns() {
        let chart = chart(&[(0.0, 0.0)], 20);
        let table = table(&Plot::new(&chart, INNER), Place::Right).unwrap();
        assert_eq!((table.columns.len(), table.rows), (2, 10));
        assert!(table.rows as f64 * ROW <= INNER.height());
    }

    #[test]
    fn far_too_many_entries_are_counted() {
        let chart = chart(&[(0.0, 0.0)], 300);
        let table = table(&Plot::new(&chart, INNER), Place::Below(10)).unwrap();
        assert_eq!((table.entries.len(), table.columns.len()), (30, 3));
        assert_eq!(table.entries[29].1.spans(SIZE, (0.0, 0.0)), "… and 271 more");
    }

    #[test]
    fn nothing_to_say_is_no_legend() {
        let hidden = Chart { legend: Legend::Hidden, ..chart(&[(0.5, 0.5)], 2) };
        assert_eq!(placed(&hidden, INNER), Place::Nowhere);
        let unnamed = Chart { series: vec![Series::new("", [(0.5, 0.5)])], ..Chart::default() };
        assert_eq!(placed(&unnamed, INNER), Place::Nowhere);
    }
}
