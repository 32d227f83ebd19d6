//! Colors, markers and dashes that distinguish series, also for color-blind readers and in grayscale print, because the
//! colors differ in lightness too.

use super::colour;
use super::geometry::Spot;
use super::svg::{Paint, Stroke, Svg};
use std::f64::consts::{PI, TAU};

/// The lightness of any two colors differs by at least seven out of a hundred, and they stay far apart under simulated
/// red, green and blue blindness.
const CATEGORICAL: [&str; 8] = ["#094688", "#f0852d", "#0e8167", "#b90042", "#7abaff", "#c668ad", "#462e00", "#1a1a2e"];

/// From dark to light in even steps of lightness; the lightest is still visible on white.
const ORDERED: [&str; 6] = ["#1a1150", "#4b1d7a", "#7f2482", "#b5367a", "#de5a5f", "#f58e51"];

/// The colors of the series of a chart.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Palette {
    /// Distinct colors, for unordered series.
    #[default]
    Categorical,
    /// Colors from dark to light, for series ordered by a parameter.
    Ordered,
}

impl Palette {
    /// The color at this index out of `count`, as `#rrggbb`.
    pub fn colour(self, number: usize, count: usize) -> String {
        match self {
            Palette::Categorical => CATEGORICAL[number % CATEGORICAL.len()].into(),
            Palette::Ordered => colour::along(&ORDERED, number as f64 / count.saturating_sub(1).max(1) as f64),
        }
    }
}

/// The dash pattern of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dash {
    /// Solid.
    Solid,
    /// Dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// Alternating dashes and dots.
    DashDotted,
}

impl Dash {
    /// The dash pattern at this index.
    pub(super) fn number(number: usize) -> Self {
        [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDotted][number % 4]
    }

    /// Lengths of dashes and gaps in points.
    pub(super) fn lengths(self) -> &'static [f64] {
        match self {
            Dash::Solid => &[],
            Dash::Dashed => &[4.0, 2.0],
            Dash::Dotted => &[1.2, 1.5],
            Dash::DashDotted => &[4.0, 1.5, 1.2, 1.5],
        }
    }
}

/// The shape of a marker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Marker {
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle pointing up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle pointing down.
    Wedge,
    /// A thick plus.
    Plus,
    /// A five-pointed star.
    Star,
    /// A thick cross.
    Cross,
}

impl Marker {
    /// The marker at this index.
    pub(super) fn number(number: usize) -> Self {
        use Marker::*;
        [Circle, Square, Triangle, Diamond, Wedge, Plus, Star, Cross][number % 8]
    }

    /// Draws the marker; all shapes look equally large.
    pub(super) fn draw(self, svg: &mut Svg, middle: Spot, radius: f64, colour: &str) {
        // A thin white edge separates overlapping markers.
        let paint = Paint::from(colour).edge(Stroke::solid("#ffffff", 0.4));
        if self == Marker::Circle {
            return svg.disc(middle, radius, paint);
        }
        let corners = self.corners();
        let corners: Vec<Spot> = corners.iter().map(|&(x, y)| (middle.0 + x * radius, middle.1 + y * radius)).collect();
        svg.area(&corners, paint);
    }

    fn corners(self) -> Vec<Spot> {
        /// Corners on a circle, from the angle `start` on.
        fn ring(count: usize, radii: [f64; 2], start: f64) -> Vec<Spot> {
            let corner = |k: usize| {
                let (angle, radius) = (start + TAU * k as f64 / count as f64, radii[k % 2]);
                (radius * angle.cos(), radius * angle.sin())
            };
            (0..count).map(corner).collect()
        }
        let (arm, half) = (1.2, 0.42);
        let plus = [(half, half), (half, arm), (-half, arm), (-half, half), (-arm, half), (-arm, -half)];
        let plus = plus.into_iter().chain(plus.map(|(x, y)| (-x, -y)));
        match self {
            Marker::Circle => ring(32, [1.0; 2], 0.0),
            Marker::Square => ring(4, [1.25; 2], PI / 4.0),
            Marker::Diamond => ring(4, [1.3; 2], 0.0),
            Marker::Triangle => ring(3, [1.4; 2], -PI / 2.0),
            Marker::Wedge => ring(3, [1.4; 2], PI / 2.0),
            Marker::Star => ring(10, [1.5, 0.7], -PI / 2.0),
            Marker::Plus => plus.collect(),
            Marker::Cross => plus.map(|(x, y)| ((x - y) * 0.5_f64.sqrt(), (x + y) * 0.5_f64.sqrt())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The perceived lightness, from 0 to 100.
    fn lightness(colour: &str) -> f64 {
        116.0 * colour::luminance(colour).cbrt() - 16.0
    }

    fn contrast_with_white(colour: &str) -> f64 {
        1.05 / (colour::luminance(colour) + 0.05)
    }

    #[test]
    fn categorical_colours_differ_in_grey() {
        let mut greys = CATEGORICAL.map(lightness);
        greys.sort_by(f64::total_cmp);
        assert!(greys.windows(2).all(|pair| pair[1] - pair[0] > 7.0), "{greys:?}");
    }

    #[test]
    fn ordered_colours_get_lighter() {
        for count in 2..12 {
            let greys: Vec<f64> = (0..count).map(|k| lightness(&Palette::Ordered.colour(k, count))).collect();
            assert!(greys.windows(2).all(|pair| pair[1] - pair[0] > 40.0 / count as f64), "{greys:?}");
        }
    }

    #[test]
    fn every_colour_is_clear_on_white() {
        let ordered = (0..9).map(|k| Palette::Ordered.colour(k, 9));
        for colour in CATEGORICAL.iter().map(|c| c.to_string()).chain(ordered) {
            assert!(contrast_with_white(&colour) > 2.0, "{colour}");
        }
    }

    #[test]
    fn markers_are_centred_and_equally_large() {
        let area = |corners: &[Spot]| {
            let next = |k: usize| corners[(k + 1) % corners.len()];
            let twice: f64 = corners.iter().enumerate().map(|(k, a)| a.0 * next(k).1 - next(k).0 * a.1).sum();
            twice.abs() / 2.0
        };
        for number in 0..8 {
            let marker = Marker::number(number);
            let corners = marker.corners();
            let middle = corners.iter().fold((0.0, 0.0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
            assert!(middle.0.abs() + middle.1.abs() < 1e-9, "{marker:?}");
            assert!((2.2..3.8).contains(&area(&corners)), "{marker:?} has the area {}", area(&corners));
        }
    }
}
