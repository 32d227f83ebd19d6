//! Plots in the terminal: bars for counts, curves on a canvas of Braille dots.

use gardenpath_lab::draw::table::{grouped, short};

/// The longest bar, in characters: with its label and count it fits a terminal of 60 columns.
const BAR_WIDTH: f64 = 24.0;

/// The largest number of bars; more are combined into bins.
const MAX_BARS: usize = 40;

/// One bar per item, or per bin of neighbouring items if there are many, with its count.
pub fn bars(items: &[(usize, u64)]) -> String {
    let (Some(&(first, _)), Some(&(last, _))) = (items.first(), items.last()) else { return String::new() };
    let bin = (last - first + 1).div_ceil(MAX_BARS);
    let mut counts = vec![0; (last - first) / bin + 1];
    items.iter().for_each(|&(item, count)| counts[(item - first) / bin] += count);
    let label = |k: usize| match (first + k * bin, bin) {
        (start, 1) => start.to_string(),
        (start, _) => format!("{start}–{}", (start + bin - 1).min(last)),
    };
    let labels: Vec<String> = (0..counts.len()).map(label).collect();
    named_bars(&labels, &counts)
}

/// One bar per name, with its count.
pub fn named_bars(names: &[String], counts: &[u64]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let total: u64 = counts.iter().sum();
    let mut text = String::new();
    for (name, &count) in names.iter().zip(counts) {
        let bar = bar(count as f64 / most * BAR_WIDTH);
        let share = 100.0 * count as f64 / total.max(1) as f64;
        text += &format!("{name:>width$} │{bar} {} ({share:.2}%)\n", grouped(count));
    }
    text
}

/// A bar with a resolution of one eighth of a character.
fn bar(length: f64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (length * 8.0).round() as usize;
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

/// A curve.
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by increasing x.
    pub points: Vec<(f64, f64)>,
}

/// A plot of several curves.
pub struct Plot {
    /// Label of the horizontal axis.
    pub x_label: String,
    /// Label of the vertical axis.
    pub y_label: String,
    /// The curves.
    pub series: Vec<Series>,
}

/// The size of the canvas in characters: with its labels it fits a terminal of 60 columns.
const COLUMNS: usize = 48;
const ROWS: usize = 15;

/// The dots of a Braille character, by row and column.
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// One mark per curve.
const MARKS: [char; 6] = ['●', '○', '▲', '△', '■', '□'];

/// Curves with more points than this are lines without marks.
const MARKED_POINTS: usize = 32;

impl Plot {
    /// Draws the plot, skipping points that are not finite. Returns an empty text for fewer than two points.
    pub fn draw(&self) -> String {
        let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
        let points: Vec<(f64, f64)> =
            self.series.iter().flat_map(|series| &series.points).copied().filter(finite).collect();
        if points.len() < 2 {
            return String::new();
        }
        let range = |values: Vec<f64>| {
            let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| (low.min(v), high.max(v)));
            if high > low { (low, high) } else { (low - 0.5, high + 0.5) }
        };
        let x_range = range(points.iter().map(|point| point.0).collect());
        let y_range = range(points.iter().map(|point| point.1).collect());
        let mut canvas = Canvas::new();
        let place = |(x, y): (f64, f64)| {
            let across = (x - x_range.0) / (x_range.1 - x_range.0) * (COLUMNS * 2 - 1) as f64;
            let down = (y_range.1 - y) / (y_range.1 - y_range.0) * (ROWS * 4 - 1) as f64;
            (across, down)
        };
        for series in &self.series {
            let places: Vec<_> = series.points.iter().copied().filter(finite).map(place).collect();
            places.windows(2).for_each(|pair| canvas.line(pair[0], pair[1]));
        }
        for (series, mark) in self.series.iter().zip(MARKS.iter().cycle()) {
            if series.points.len() <= MARKED_POINTS {
                series.points.iter().copied().filter(finite).map(place).for_each(|point| canvas.mark(point, *mark));
            }
        }
        self.frame(&canvas, x_range, y_range)
    }

    /// Puts axes, labels and a legend around the canvas.
    fn frame(&self, canvas: &Canvas, x_range: (f64, f64), y_range: (f64, f64)) -> String {
        let middle = (y_range.0 + y_range.1) / 2.0;
        let ticks = [(0, y_range.1), (ROWS / 2, middle), (ROWS - 1, y_range.0)].map(|(row, value)| (row, short(value)));
        let width = ticks.iter().map(|(_, text)| text.len()).max().unwrap_or(0);
        let mut text = format!("{}\n", self.y_label);
        for row in 0..ROWS {
            let tick = ticks.iter().find(|(at, _)| *at == row).map_or("", |(_, text)| text);
            let axis = if tick.is_empty() { '│' } else { '┤' };
            text += format!("{tick:>width$} {axis}{}", canvas.row(row)).trim_end();
            text.push('\n');
        }
        text += &format!("{:width$} └{}\n", "", "─".repeat(COLUMNS));
        let (left, right) = (short(x_range.0), short(x_range.1));
        let space = COLUMNS.saturating_sub(left.len() + right.len());
        text += &format!("{:width$}  {left}{:^space$}{right}\n", "", self.x_label);
        if self.series.len() > 1 {
            let names =
                self.series.iter().zip(MARKS.iter().cycle()).map(|(series, mark)| format!("{mark} {}", series.name));
            for line in lines(names, COLUMNS) {
                text += &format!("{:width$}  {line}\n", "");
            }
        }
        text
    }
}

/// The entries of a legend, wrapped to the width.
fn lines(entries: impl Iterator<Item = String>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for entry in entries {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 3 + entry.chars().count() <= width => *line += &format!("   {entry}"),
            _ => lines.push(entry),
        }
    }
    lines
}

/// Dots and marks.
struct Canvas {
    /// The dots of each character.
    dots: Vec<u32>,
    marks: Vec<Option<char>>,
}

impl Canvas {
    fn new() -> Self {
        Canvas { dots: vec![0; COLUMNS * ROWS], marks: vec![None; COLUMNS * ROWS] }
    }

    /// A straight line between two points, in dots from the upper left corner.
    fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0) as usize;
        for step in 0..=steps {
            let part = step as f64 / steps as f64;
            let x = (from.0 + part * (to.0 - from.0)).round() as usize;
            let y = (from.1 + part * (to.1 - from.1)).round() as usize;
            self.dots[y / 4 * COLUMNS + x / 2] |= DOTS[y % 4][x % 2];
        }
    }

    fn mark(&mut self, (x, y): (f64, f64), mark: char) {
        self.marks[y.round() as usize / 4 * COLUMNS + x.round() as usize / 2] = Some(mark);
    }

    fn row(&self, row: usize) -> String {
        let character = |k: usize| match (self.marks[k], self.dots[k]) {
            (Some(mark), _) => mark,
            (None, 0) => ' ',
            (None, dots) => char::from_u32(0x2800 + dots).unwrap_or(' '),
        };
        (row * COLUMNS..(row + 1) * COLUMNS).map(character).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_gathered_into_bins() {
        assert_eq!(
            bars(&[(4, 1), (5, 3)]),
            "4 │████████ 1 (25.00%)\n5 │".to_owned() + &"█".repeat(24) + " 3 (75.00%)\n"
        );
        let many: Vec<(usize, u64)> = (1..=1000).map(|len| (len, 1)).collect();
        assert_eq!(bars(&many).lines().count(), 40);
        assert_eq!(bars(&[]), "");
    }

    #[test]
    fn strange_points_are_left_out() {
        let plot = |points: Vec<(f64, f64)>| {
            let series = vec![Series { name: "a".into(), points }];
            Plot { x_label: "x".into(), y_label: "y".into(), series }.draw()
        };
        assert_eq!(plot(vec![]), "");
        assert_eq!(plot(vec![(0.0, f64::NAN), (1.0, 2.0)]), "");
        let flat = plot(vec![(0.0, 1.0), (1.0, 1.0), (2.0, f64::NEG_INFINITY)]);
        assert_eq!(flat.matches('●').count(), 2, "{flat}");
    }
}
