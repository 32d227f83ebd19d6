//! Charts on the page: the position and color of each point, bar and error bar.

use super::axis::{Ruler, Scale};
use super::chart::Chart;
use super::geometry::{Rect, Spot, thinned};
use super::palette::{Dash, Marker};
use super::series::{Ink, Point, Series, Shape, Spread};
use super::taken::Taken;
use super::ticks::Room;

/// The radius of a marker in points.
pub(super) const RADIUS: f64 = 2.1;

/// The style that distinguishes a series.
#[derive(Clone, Debug)]
pub(super) struct Style {
    pub colour: String,
    pub marker: Marker,
    pub dash: Dash,
}

/// A point on the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dot {
    pub spot: Spot,
    /// The positions on the page of the lower and upper end of the error bar.
    pub error: Option<(f64, f64)>,
}

/// A chart in its frame.
pub(super) struct Plot<'a> {
    pub chart: &'a Chart,
    pub x: Ruler,
    pub y: Ruler,
    pub frame: Rect,
    /// One per series.
    pub styles: Vec<Style>,
}

impl<'a> Plot<'a> {
    pub fn new(chart: &'a Chart, frame: Rect) -> Self {
        let (x, y) = chart.extents();
        let x = Ruler::new(&chart.x, &x, Room::Along(frame.width()));
        let y = Ruler::new(&chart.y, &y, Room::Up(frame.height()));
        Plot { chart, x, y, frame, styles: styles(chart) }
    }

    /// Maps positions along the axes to the page.
    pub fn spot(&self, (x, y): (f64, f64)) -> Spot {
        (self.frame.left + x * self.frame.width(), self.frame.bottom - y * self.frame.height())
    }

    fn dot(&self, point: &Point, spread: Spread) -> Option<Dot> {
        let place = (self.x.place(point.x)?, self.y.place(point.y)?);
        let end = |value: Option<f64>| {
            let place = self.y.place_of_end(value.unwrap_or(point.y))?;
            Some(self.spot((0.0, place)).1)
        };
        let known = spread != Spread::Hidden && (point.low.is_some() || point.high.is_some());
        let error = if known { end(point.low).zip(end(point.high)) } else { None };
        Some(Dot { spot: self.spot(place), error })
    }

    /// The visible points, split into pieces where a point cannot be shown.
    pub fn chains(&self, series: &Series) -> Vec<Vec<Dot>> {
        let mut chains = vec![Vec::new()];
        for point in &series.points {
            match self.dot(point, series.look.spread) {
                Some(dot) => chains.last_mut().expect("there is one").push(dot),
                None => chains.push(Vec::new()),
            }
        }
        chains.retain(|chain| !chain.is_empty());
        chains
    }

    /// The base of bars, along the y axis.
    pub fn ground(&self) -> f64 {
        let zero = if self.y.scale() == Scale::Linear { self.y.place(0.0) } else { None };
        zero.unwrap_or(if self.y.ends().0 < self.y.ends().1 { 0.0 } else { 1.0 })
    }

    /// The bars of a series with the dots at their ends, clipped to the frame; empty for other series.
    pub fn bars(&self, number: usize) -> Vec<(Rect, Dot)> {
        let series = &self.chart.series[number];
        let Shape::Bars { fill } = series.look.shape else { return Vec::new() };
        let is_bars = |series: &&Series| matches!(series.look.shape, Shape::Bars { .. });
        let rank = self.chart.series[..number].iter().filter(is_bars).count() as f64;
        let count = self.chart.series.iter().filter(is_bars).count() as f64;
        let width = fill * self.chart.bar_distance() / count;
        let ground = self.ground();
        let bar = |point: &Point| {
            let mut dot = self.dot(point, series.look.spread)?;
            let left = self.x.scale().length(point.x)? + (rank - count / 2.0) * width;
            let [left, right] = [left, left + width].map(|edge| self.spot((self.x.place_of_length(edge), ground)));
            dot.spot.0 = (left.0 + right.0) / 2.0;
            Some((Rect::around(left, (right.0, dot.spot.1)).common(&self.frame)?, dot))
        };
        series.points.iter().filter_map(bar).collect()
    }

    /// The areas taken by data.
    pub fn taken(&self) -> Taken {
        let mut taken = Taken::new(self.frame);
        for (number, series) in self.chart.series.iter().enumerate() {
            let (shape, spread) = (series.look.shape, series.look.spread);
            let bars = self.bars(number);
            bars.iter().for_each(|bar| taken.add(&bar.0));
            let is_bars = matches!(shape, Shape::Bars { .. });
            let chains = if is_bars { Vec::new() } else { self.chains(series) };
            let dots = chains.iter().flatten().copied().chain(bars.iter().map(|bar| bar.1));
            for Dot { spot, error } in dots {
                if matches!(shape, Shape::Markers | Shape::LineAndMarkers) {
                    taken.add(&Rect::around(spot, spot).grown(RADIUS));
                }
                if let Some((low, high)) = error.filter(|_| is_bars || spread == Spread::ErrorBars) {
                    taken.add(&Rect::around((spot.0, low), (spot.0, high)).grown(1.5));
                }
            }
            for chain in chains.iter().filter(|_| shape != Shape::Markers) {
                let spots: Vec<Spot> = chain.iter().map(|dot| dot.spot).collect();
                thinned(&spots).windows(2).for_each(|pair| taken.add_line(pair[0], pair[1]));
            }
            for pair in chains.iter().flat_map(|chain| chain.windows(2)) {
                if let (Spread::Band, Some(a), Some(b)) = (spread, pair[0].error, pair[1].error) {
                    taken.add_band((pair[0].spot.0, pair[1].spot.0), (a.0, b.0), (a.1, b.1));
                }
            }
        }
        taken
    }
}

/// Colors, markers and dashes by index; series with their own color do not count.
fn styles(chart: &Chart) -> Vec<Style> {
    let count = chart.series.iter().filter(|series| series.look.ink == Ink::Next).count();
    let mut next = 0;
    let style = |series: &Series| {
        let look = &series.look;
        let number = match look.ink {
            Ink::Number(number) => number,
            _ => next,
        };
        next += usize::from(look.ink == Ink::Next);
        let colour = match &look.ink {
            Ink::Colour(colour) => colour.clone(),
            _ => chart.palette.colour(number, count),
        };
        let usual = if look.shape == Shape::Line { Dash::number(number) } else { Dash::Solid };
        let marker = look.marker.unwrap_or(Marker::number(number));
        Style { colour, marker, dash: look.dash.unwrap_or(usual) }
    };
    chart.series.iter().map(style).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Look, Palette};

    const FRAME: Rect = Rect { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };

    fn axes() -> (Axis, Axis) {
        (Axis::linear("x").range(0.0, 10.0), Axis::log("y").range(1e-2, 1e2))
    }

    #[test]
    fn points_that_cannot_be_shown_break_the_line() {
        let points =
            [(0.0, 1.0), (1.0, 10.0), (2.0, 0.0), (3.0, 1.0), (4.0, f64::INFINITY), (f64::NAN, 1.0), (5.0, 1.0)];
        let chart = Chart::new(axes().0, axes().1, vec![Series::new("", points)]);
        let plot = Plot::new(&chart, FRAME);
        let spots: Vec<Vec<Spot>> =
            plot.chains(&chart.series[0]).iter().map(|chain| chain.iter().map(|dot| dot.spot).collect()).collect();
        assert_eq!(spots, [vec![(0.0, 50.0), (10.0, 25.0)], vec![(30.0, 50.0)], vec![(50.0, 50.0)]]);
    }

    #[test]
    fn an_error_that_reaches_zero_reaches_below_a_logarithmic_axis() {
        let points = [Point::between(5.0, 1.0, 0.0, 10.0), Point { low: Some(0.1), ..Point::new(6.0, 1.0) }];
        let chart = Chart::new(axes().0, axes().1, vec![Series::new("", points)]);
        let dots = Plot::new(&chart, FRAME).chains(&chart.series[0]).concat();
        assert!(matches!(dots[0].error, Some((low, high)) if low > 100.0 && high == 25.0));
        assert_eq!(dots[1].error, Some((75.0, 50.0)), "the missing end is the point");
    }

    #[test]
    fn bars_stand_side_by_side_and_stay_inside() {
        let bars = |y: f64| Series::new("", [(2.0, y), (4.0, -y), (10.0, 2.0 * y)]).look(Look::bars());
        let (x, y) = (Axis::linear("").range(0.0, 10.0), Axis::linear("").range(-2.0, 3.0));
        let chart = Chart::new(x, y, vec![bars(1.0), bars(2.0)]);
        let plot = Plot::new(&chart, FRAME);
        let (first, second) = (plot.bars(0), plot.bars(1));
        assert_eq!(first[0].0.right, second[0].0.left);
        assert_eq!((first[0].0.top, first[0].0.bottom), (40.0, 60.0));
        assert_eq!((first[1].0.top, first[1].0.bottom), (60.0, 80.0));
        assert!(second.iter().all(|bar| FRAME.encloses(&bar.0)));
    }

    #[test]
    fn series_with_their_own_colour_do_not_use_up_the_palette() {
        let look = |look: Look| Series::new("", [(1.0, 1.0)]).look(look);
        let series = vec![
            look(Look::line()),
            look(Look::line().colour("red")),
            look(Look::markers()),
            look(Look::line().number(0)),
        ];
        let chart = Chart { series, palette: Palette::Ordered, ..Chart::default() };
        let styles = styles(&chart);
        assert_eq!(styles[1].colour, "red");
        assert_eq!((&styles[0].colour, styles[0].marker), (&styles[3].colour, styles[3].marker));
        assert_eq!(styles[2].colour, Palette::Ordered.colour(1, 2));
        assert_eq!(styles[2].marker, Marker::Square);
    }
}
