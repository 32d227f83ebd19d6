//! Charts.

use super::axis::{Axis, Extent, Scale};
use super::guide::{Guide, Reference};
use super::legend::Legend;
use super::palette::Palette;
use super::series::{Point, Series, Shape, Spread};

/// Series of points between two axes.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// The title above the frame, with markup.
    pub title: Option<String>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series.
    pub series: Vec<Series>,
    /// Reference lines.
    pub guides: Vec<Guide>,
    /// The position of the legend.
    pub legend: Legend,
    /// The colors of the series.
    pub palette: Palette,
}

impl Chart {
    /// A chart of these series.
    pub fn new(x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Chart { x, y, series, ..Chart::default() }
    }

    /// Whether both axes can show the point.
    pub(super) fn shows(&self, point: &Point) -> bool {
        self.x.scale.length(point.x).is_some() && self.y.scale.length(point.y).is_some()
    }

    /// The data that the axes must show.
    pub(super) fn extents(&self) -> (Extent, Extent) {
        let (mut x, mut y) = (Extent::default(), Extent::default());
        for series in &self.series {
            let points: Vec<&Point> = series.points.iter().filter(|point| self.shows(point)).collect();
            x.values.extend(points.iter().map(|point| point.x));
            y.values.extend(points.iter().map(|point| point.y));
            if series.look.spread != Spread::Hidden {
                y.values.extend(points.iter().flat_map(|point| point.low.into_iter().chain(point.high)));
            }
            if let Shape::Bars { fill } = series.look.shape {
                // Half a bar on each side, and some padding.
                let half = (0.5 * fill.max(0.1) + 0.15) * self.bar_distance();
                x.ends.extend(points.iter().flat_map(|point| match self.x.scale {
                    Scale::Linear => [point.x - half, point.x + half],
                    Scale::Log10 => [point.x / 10_f64.powf(half), point.x * 10_f64.powf(half)],
                }));
                if self.y.scale == Scale::Linear {
                    y.ends.push(0.0);
                }
            }
        }
        for guide in &self.guides {
            match guide.line {
                Reference::Horizontal(value) => y.values.push(value),
                Reference::Vertical(value) => x.values.push(value),
                Reference::Sloped { .. } => {}
            }
        }
        (x, y)
    }

    /// The smallest distance between neighboring bars, in units of the x scale.
    pub(super) fn bar_distance(&self) -> f64 {
        let bars = self.series.iter().filter(|series| matches!(series.look.shape, Shape::Bars { .. }));
        let places = bars.flat_map(|series| &series.points).filter(|point| self.shows(point));
        let mut places: Vec<f64> = places.filter_map(|point| self.x.scale.length(point.x)).collect();
        places.sort_by(f64::total_cmp);
        let distances = places.windows(2).map(|pair| pair[1] - pair[0]);
        let smallest = distances.filter(|distance| *distance > 1e-9).fold(f64::INFINITY, f64::min);
        if smallest.is_finite() { smallest } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Look;

    #[test]
    fn errors_and_levels_count_but_not_points_that_are_left_out() {
        let points = vec![Point::between(1.0, 2.0, 0.5, 3.0), Point::new(0.0, 50.0), Point::new(2.0, f64::NAN)];
        let mut chart = Chart::new(Axis::log("x"), Axis::linear("y"), vec![Series::new("", points)]);
        chart.guides.push(Guide::horizontal(-1.0, ""));
        let (x, y) = chart.extents();
        assert_eq!(x.values, [1.0]);
        assert_eq!(y.values, [2.0, 0.5, 3.0, -1.0]);
    }

    #[test]
    fn bars_get_room_and_stand_on_zero() {
        let bars = Series::new("", [(1.0, 4.0), (3.0, 5.0), (4.0, 1.0)]).look(Look::histogram());
        let chart = Chart::new(Axis::linear("x"), Axis::linear("n"), vec![bars]);
        let (x, y) = chart.extents();
        assert_eq!(chart.bar_distance(), 1.0);
        assert!(x.ends.iter().any(|end| (0.2..0.5).contains(end)) && x.ends.iter().any(|end| (4.5..4.8).contains(end)));
        assert!(y.ends.contains(&0.0));
    }
}
