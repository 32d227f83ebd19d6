//! Grids of cells, such as the chart of a parser with true and spurious symbols, or a heat map.

use super::axes::{LABEL_SIZE, Margins, TITLE_ROW, draw_title};
use super::colour::readable_on;
use super::geometry::Rect;
use super::heat::Heat;
use super::svg::{Anchor, INK, Paint, Stroke, Svg};
use super::text::Text;
use super::ticks::TICK_SIZE;

const TRUE: &str = "#094688";
const SPURIOUS: &str = "#fbd9bd";
const SPURIOUS_EDGE: &str = "#c2540a";
const GAP: f64 = 3.0;
/// The height of a line of the key below the grid.
const KEY_ROW: f64 = 13.0;
/// The smallest scale of column names.
const SMALLEST: f64 = 0.75;

/// The fill of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// Empty.
    Blank,
    /// Dark, for correct entries.
    True,
    /// Light with a dashed edge, for spurious entries.
    Spurious,
    /// Colored by a number; a color bar is drawn beside the grid.
    Heat(f64),
}

impl Fill {
    /// The colors of the interior and of the edge.
    fn colours(self, heat: Option<Heat>) -> (String, Stroke<'static>) {
        match self {
            Fill::Blank => ("#ffffff".into(), Stroke::solid("#cccccc", 0.6)),
            Fill::True => (TRUE.into(), Stroke::solid(TRUE, 0.6)),
            Fill::Spurious => (SPURIOUS.into(), Stroke { colour: SPURIOUS_EDGE, width: 0.8, dash: &[2.0, 1.4] }),
            Fill::Heat(number) => {
                let colour = heat.map_or("#ffffff".into(), |heat| heat.colour(number));
                (colour, Stroke::solid("#ffffff", 0.4))
            }
        }
    }
}

/// A cell of a grid.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The row, from the top.
    pub row: usize,
    /// The column, from the left.
    pub column: usize,
    /// Its fill.
    pub fill: Fill,
    /// A short text with markup.
    pub text: String,
}

impl Cell {
    fn draw(&self, svg: &mut Svg, place: &Rect, heat: Option<Heat>) {
        let (colour, edge) = self.fill.colours(heat);
        let fill = Paint::from(colour.as_str());
        let small = place.width().min(place.height());
        // Heat cells fill their space, and edges of many small ones are omitted; symbols have some padding.
        match self.fill {
            Fill::Heat(_) if small < 5.0 => svg.rect(place, fill.edge(Stroke::solid(&colour, 0.2))),
            Fill::Heat(_) => svg.rect(place, fill.edge(edge)),
            _ => svg.rect(&place.grown(-0.06 * small), fill.edge(edge)),
        }
        let text = Text::new(&self.text);
        if !text.is_empty() {
            let size = text.fitting(TICK_SIZE.min(0.75 * place.height()), 0.85 * place.width());
            let spot = (place.middle().0, place.middle().1 + 0.36 * size);
            svg.text(&text, spot, size, Anchor::Middle, readable_on(&colour));
        }
    }
}

/// Rows and columns of cells; missing cells stay blank.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// The title above the grid, with markup.
    pub title: Option<String>,
    /// The names of the rows from the top, with markup.
    pub rows: Vec<String>,
    /// The names of the columns from the left, with markup.
    pub columns: Vec<String>,
    /// The label of the rows; may be empty.
    pub row_label: String,
    /// The label of the columns; may be empty.
    pub column_label: String,
    /// The cells in any order.
    pub cells: Vec<Cell>,
    /// The meanings of the fills, shown below the grid.
    pub key: Vec<(Fill, String)>,
    /// The label of the color bar for [`Fill::Heat`]; may be empty.
    pub heat_label: String,
}

impl Grid {
    fn heat(&self) -> Option<Heat> {
        Heat::new(self.cells.iter().filter_map(|cell| match cell.fill {
            Fill::Heat(number) => Some(number),
            _ => None,
        }))
    }

    /// The margins for names, key and color bar.
    pub(super) fn margins(&self, titled: bool) -> Margins {
        let name = |label: &str| if label.is_empty() { 0.0 } else { LABEL_SIZE + GAP };
        let side = if self.rows.is_empty() { 0.0 } else { widest(&self.rows) + GAP };
        let below = if self.columns.is_empty() { 0.0 } else { TICK_SIZE + GAP };
        let key = if self.key.is_empty() { 0.0 } else { KEY_ROW };
        Margins {
            left: side + name(&self.row_label) + 1.0,
            right: self.heat().map_or(1.0, |heat| heat.width(100.0, &self.heat_label)),
            top: if titled { TITLE_ROW } else { 2.0 },
            bottom: below + name(&self.column_label) + key,
        }
    }

    /// The numbers of columns and rows.
    fn shape(&self) -> (f64, f64) {
        let last = |place: fn(&Cell) -> usize| self.cells.iter().map(|cell| place(cell) + 1).max().unwrap_or(1);
        let (columns, rows) =
            (last(|cell| cell.column).max(self.columns.len()), last(|cell| cell.row).max(self.rows.len()));
        (columns as f64, rows as f64)
    }

    /// The box of all cells in the middle of the frame, with a bounded aspect ratio of cells.
    fn body(&self, frame: &Rect) -> Rect {
        let (columns, rows) = self.shape();
        let height = (frame.height() / rows).min(frame.width() / columns * 1.2);
        let width = (frame.width() / columns).min(height * 2.2);
        let (x, y) = frame.middle();
        let half = (columns * width / 2.0, rows * height / 2.0);
        Rect::around((x - half.0, y - half.1), (x + half.0, y + half.1))
    }

    pub(super) fn draw(&self, svg: &mut Svg, cell: &Rect, frame: &Rect) {
        let grid = self.body(frame);
        let (columns, rows) = self.shape();
        let (width, height) = (grid.width() / columns, grid.height() / rows);
        let heat = self.heat();
        for part in &self.cells {
            let corner = (grid.left + part.column as f64 * width, grid.top + part.row as f64 * height);
            part.draw(svg, &Rect::new(corner.0, corner.1, width, height), heat);
        }
        // If names do not fit, only every second, third, … is shown.
        for (k, name) in self.rows.iter().enumerate().step_by(stride(TICK_SIZE, height)) {
            let spot = (grid.left - GAP, grid.top + (k as f64 + 0.5) * height + 0.36 * TICK_SIZE);
            svg.text(&Text::new(name), spot, TICK_SIZE, Anchor::End, INK);
        }
        let step = stride(SMALLEST * widest(&self.columns) + GAP, width);
        let size = TICK_SIZE * ((step as f64 * width - GAP) / widest(&self.columns)).clamp(SMALLEST, 1.0);
        for (k, name) in self.columns.iter().enumerate().step_by(step) {
            let spot = (grid.left + (k as f64 + 0.5) * width, grid.bottom + GAP + 0.75 * TICK_SIZE);
            svg.text(&Text::new(name), spot, size, Anchor::Middle, INK);
        }
        let (down, across) = (Text::new(&self.row_label), Text::new(&self.column_label));
        if !down.is_empty() {
            let x = grid.left - widest(&self.rows) - 2.0 * GAP - 0.25 * LABEL_SIZE;
            svg.upward_text(&down, (x, grid.middle().1), down.fitting(LABEL_SIZE, frame.height()), INK);
        }
        if !across.is_empty() {
            let names = if self.columns.is_empty() { 0.0 } else { TICK_SIZE + GAP };
            let spot = (grid.middle().0, grid.bottom + names + GAP + 0.75 * LABEL_SIZE);
            svg.text(&across, spot, across.fitting(LABEL_SIZE, frame.width()), Anchor::Middle, INK);
        }
        self.draw_key(svg, cell, &grid, heat);
        if let Some(heat) = heat {
            heat.draw(svg, &grid, &self.heat_label);
        }
        draw_title(svg, self.title.as_deref(), cell, frame);
    }

    /// Draws the meanings of the fills on a line at the bottom of the cell.
    fn draw_key(&self, svg: &mut Svg, cell: &Rect, grid: &Rect, heat: Option<Heat>) {
        let sample = 8.0;
        let texts: Vec<Text> = self.key.iter().map(|(_, meaning)| Text::new(meaning)).collect();
        let around = texts.len() as f64 * (sample + 4.0 * GAP) - 3.0 * GAP;
        let width: f64 = texts.iter().map(|text| text.width(TICK_SIZE)).sum();
        let size = TICK_SIZE * ((cell.width() - around) / width).clamp(0.5, 1.0);
        let total = around + width * size / TICK_SIZE;
        let mut left = (grid.middle().0 - total / 2.0).min(cell.right - total).max(cell.left);
        for ((fill, _), text) in self.key.iter().zip(&texts) {
            let place = Rect::new(left, cell.bottom - sample - 1.0, sample, sample);
            let (colour, edge) = fill.colours(heat);
            svg.rect(&place, Paint::from(colour.as_str()).edge(edge));
            svg.text(text, (place.right + GAP, place.middle().1 + 0.36 * size), size, Anchor::Start, INK);
            left = place.right + text.width(size) + 4.0 * GAP;
        }
    }
}

/// The width of the widest name.
fn widest(names: &[String]) -> f64 {
    names.iter().map(|name| Text::new(name).width(TICK_SIZE)).fold(0.0, f64::max)
}

/// Every how many cells a name fits.
fn stride(name: f64, cell: f64) -> usize {
    (name / cell).ceil().clamp(1.0, 1000.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(fills: &[Fill]) -> Grid {
        let cell = |(column, &fill): (usize, &Fill)| Cell { row: 0, column, fill, text: "x".into() };
        let cells: Vec<Cell> = fills.iter().enumerate().map(cell).collect();
        Grid { rows: vec!["1".into()], columns: vec!["a".into(); fills.len()], cells, ..Grid::default() }
    }

    fn drawn(grid: &Grid) -> String {
        let cell = Rect::new(0.0, 0.0, 200.0, 150.0);
        let mut svg = Svg::page(200.0, 150.0);
        grid.draw(&mut svg, &cell, &grid.margins(false).frame(&cell));
        svg.finish()
    }

    #[test]
    fn fills_differ_in_lightness_and_edge() {
        let svg = drawn(&grid(&[Fill::True, Fill::Spurious, Fill::Blank]));
        assert_eq!(svg.matches("stroke-dasharray").count(), 1);
        assert_eq!(svg.matches("fill=\"#ffffff\">x<").count(), 1, "text on dark cells is white");
    }

    #[test]
    fn only_numbers_need_a_bar() {
        assert!(grid(&[Fill::Heat(1.0)]).margins(false).right > grid(&[Fill::True]).margins(false).right + 10.0);
        assert!(drawn(&grid(&[Fill::Heat(1.0)])).matches("<rect").count() > 40);
    }

    #[test]
    fn names_without_room_are_left_out() {
        let names = |count: usize| drawn(&grid(&vec![Fill::True; count])).matches(">a<").count();
        assert_eq!(names(10), 10);
        assert!((20..60).contains(&names(100)), "{}", names(100));
    }

    #[test]
    fn cells_have_a_moderate_shape_in_the_middle() {
        let frame = Rect::new(10.0, 20.0, 300.0, 100.0);
        for (columns, rows) in [(1, 1), (30, 2), (2, 30)] {
            let corner = Cell { row: rows - 1, column: columns - 1, fill: Fill::True, text: String::new() };
            let body = Grid { cells: vec![corner], ..Grid::default() }.body(&frame);
            let shape = (body.width() / columns as f64) / (body.height() / rows as f64);
            assert!((0.8..2.3).contains(&shape), "{columns} {rows}: {shape}");
            assert!(frame.encloses(&body));
            assert_eq!(body.middle(), frame.middle());
        }
    }
}
