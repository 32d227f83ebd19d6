//! Heat map colors and their color bar.

use super::axes::LABEL_SIZE;
use super::axis::Scale;
use super::colour::along;
use super::geometry::Rect;
use super::svg::{Anchor, INK, Paint, Stroke, Svg};
use super::text::Text;
use super::ticks::{Room, Stretch, TICK_SIZE, Tick};

/// From low to high.
const COLOURS: [&str; 4] = ["#eff4fb", "#9cc3e6", "#3d7fc1", "#0b3068"];
/// The width of the color bar, of its ticks, and the gaps around them.
const BAR: f64 = 7.0;
const TICK: f64 = 2.0;
const GAP: f64 = 2.0;
const INSET: f64 = 6.0;

/// The range of numbers that the colors span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Heat {
    low: f64,
    high: f64,
}

impl Heat {
    /// The range of these numbers, if there are any.
    pub fn new(numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = numbers.filter(|x| x.is_finite()).fold(ends, |(low, high), x| (low.min(x), high.max(x)));
        // A single number has the middle color.
        let room = if low == high { 0.5 } else { 0.0 };
        (low <= high).then_some(Heat { low: low - room, high: high + room })
    }

    /// The color of a number; white for NaN.
    pub fn colour(&self, number: f64) -> String {
        let place = (number - self.low) / (self.high - self.low);
        if place.is_finite() { along(&COLOURS, place) } else { "#ffffff".into() }
    }

    fn ticks(&self, height: f64) -> Vec<(Tick, Text)> {
        let stretch = Stretch { room: Room::Up(height), scale: Scale::Linear, low: self.low, high: self.high };
        let labelled = |tick: Tick| {
            let text = Text::new(tick.label.as_deref().unwrap_or_default());
            (tick, text)
        };
        stretch.choose().into_iter().map(labelled).collect()
    }

    /// The widths of the color bar up to its numbers, and up to its label.
    fn widths(&self, height: f64) -> (f64, f64) {
        let widest = self.ticks(height).iter().map(|(_, text)| text.width(TICK_SIZE)).fold(0.0, f64::max);
        let numbers = INSET + BAR + TICK + GAP;
        (numbers, numbers + widest + GAP)
    }

    /// The width that the color bar needs beside a grid of about this height.
    pub fn width(&self, height: f64, label: &str) -> f64 {
        self.widths(height).1 + if label.is_empty() { 0.0 } else { GAP + LABEL_SIZE }
    }

    /// Draws the color bar to the right of a grid.
    pub fn draw(&self, svg: &mut Svg, grid: &Rect, label: &str) {
        let bar = Rect::new(grid.right + INSET, grid.top, BAR, grid.height());
        let steps = 48;
        let height = bar.height() / f64::from(steps);
        for step in 0..steps {
            let colour = along(&COLOURS, 1.0 - (f64::from(step) + 0.5) / f64::from(steps));
            // Each step extends under the next, so that no gaps show.
            let reach = if step + 1 < steps { 1.5 } else { 1.0 };
            svg.rect(
                &Rect::new(bar.left, bar.top + f64::from(step) * height, BAR, height * reach),
                colour.as_str().into(),
            );
        }
        svg.rect(&bar, Paint::from("none").edge(Stroke::solid(INK, 0.5)));
        let (numbers, name) = self.widths(bar.height());
        for (tick, text) in self.ticks(bar.height()) {
            let y = bar.bottom - bar.height() * (tick.value - self.low) / (self.high - self.low);
            svg.line((bar.right, y), (bar.right + TICK, y), Stroke::solid(INK, 0.5));
            svg.text(&text, (grid.right + numbers, y + 0.36 * TICK_SIZE), TICK_SIZE, Anchor::Start, INK);
        }
        let text = Text::new(label);
        if !text.is_empty() {
            let x = grid.right + name + GAP + 0.75 * LABEL_SIZE;
            svg.upward_text(&text, (x, bar.middle().1), text.fitting(LABEL_SIZE, bar.height()), INK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_use_the_whole_range_of_colours() {
        let heat = Heat::new([3.0, f64::NAN, 5.0, f64::INFINITY].into_iter()).unwrap();
        assert_eq!(heat, Heat { low: 3.0, high: 5.0 });
        assert_eq!([3.0, 5.0, f64::NAN].map(|number| heat.colour(number)), [COLOURS[0], COLOURS[3], "#ffffff"]);
        assert_eq!(Heat::new([f64::NAN].into_iter()), None);
    }

    #[test]
    fn a_single_number_has_a_colour_and_a_bar() {
        let heat = Heat::new([7.0, 7.0].into_iter()).unwrap();
        assert_eq!(heat.colour(7.0), along(&COLOURS, 0.5));
        assert!(heat.ticks(100.0).iter().any(|(tick, _)| tick.value == 7.0));
    }

    #[test]
    fn a_label_needs_room() {
        let heat = Heat { low: 0.0, high: 1.0 };
        assert!(heat.width(100.0, "label") >= heat.width(100.0, "") + LABEL_SIZE);
        assert!(Heat { high: 20000.0, ..heat }.width(100.0, "") > heat.width(100.0, ""));
    }
}
