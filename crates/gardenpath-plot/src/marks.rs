//! Draws series: bands at the back, then bars, lines, error bars and markers.

use super::geometry::{Rect, Spot, thinned};
use super::plot::{Dot, Plot, RADIUS, Style};
use super::series::{Look, Shape, Spread};
use super::svg::{INK, Paint, Stroke, Svg};

const LINE: f64 = 1.1;
const ERROR: f64 = 0.8;
/// Half the width of the cap of an error bar.
const CAP: f64 = 1.6;
const BAND: f64 = 0.2;

/// Draws the bands, behind everything else.
pub(super) fn draw_bands(svg: &mut Svg, plot: &Plot) {
    for (series, style) in plot.chart.series.iter().zip(&plot.styles) {
        if series.look.spread != Spread::Band || matches!(series.look.shape, Shape::Bars { .. }) {
            continue;
        }
        for chain in plot.chains(series) {
            // A point without an error interrupts the band.
            for piece in chain.split(|dot| dot.error.is_none()) {
                let edge = |end: fn((f64, f64)) -> f64| move |dot: &Dot| Some((dot.spot.0, end(dot.error?)));
                let lower: Vec<Spot> = piece.iter().filter_map(edge(|error| error.0)).collect();
                let upper: Vec<Spot> = piece.iter().rev().filter_map(edge(|error| error.1)).collect();
                let area = plot.frame.clip_area(&[thinned(&lower), thinned(&upper)].concat());
                if area.len() > 2 {
                    svg.area(&area, Paint { opacity: BAND, ..style.colour.as_str().into() });
                }
            }
        }
    }
}

/// Draws the bars, behind lines.
pub(super) fn draw_bars(svg: &mut Svg, plot: &Plot) {
    for (number, style) in plot.styles.iter().enumerate() {
        for (area, dot) in plot.bars(number) {
            svg.rect(&area, Paint::from(style.colour.as_str()).edge(Stroke::solid("#ffffff", 0.4)));
            draw_error(svg, &plot.frame, &dot, INK);
        }
    }
    // Bars in both directions need a zero line.
    let (ground, has_bars) = (plot.ground(), plot.styles.iter().enumerate().any(|(k, _)| !plot.bars(k).is_empty()));
    if has_bars && (0.001..0.999).contains(&ground) {
        svg.line(plot.spot((0.0, ground)), plot.spot((1.0, ground)), Stroke::solid(INK, 0.6));
    }
}

/// Draws lines, markers and error bars.
pub(super) fn draw_lines(svg: &mut Svg, plot: &Plot) {
    for (series, style) in plot.chart.series.iter().zip(&plot.styles) {
        if matches!(series.look.shape, Shape::Bars { .. }) {
            continue;
        }
        let chains = plot.chains(series);
        if series.look.shape != Shape::Markers {
            for chain in &chains {
                let spots: Vec<Spot> = chain.iter().map(|dot| dot.spot).collect();
                for piece in plot.frame.clip_chain(&thinned(&spots)) {
                    svg.chain(&piece, line(style));
                }
            }
        }
        let visible = chains.iter().flatten().filter(|dot| plot.frame.holds(dot.spot));
        for dot in visible {
            if series.look.spread == Spread::ErrorBars {
                draw_error(svg, &plot.frame, dot, &style.colour);
            }
            if series.look.shape != Shape::Line {
                style.marker.draw(svg, dot.spot, RADIUS, &style.colour);
            }
        }
    }
}

/// Draws the sample of a series for the legend.
pub(super) fn draw_sample(svg: &mut Svg, look: &Look, style: &Style, area: &Rect) {
    let (x, y) = area.middle();
    if let Shape::Bars { .. } = look.shape {
        let half = 0.35 * area.height();
        let bar = Rect::around((x - 1.2 * half, y - half), (x + 1.2 * half, y + half));
        return svg.rect(&bar, style.colour.as_str().into());
    }
    if look.shape != Shape::Markers {
        svg.line((area.left, y), (area.right, y), line(style));
    }
    if look.shape != Shape::Line {
        style.marker.draw(svg, (x, y), RADIUS, &style.colour);
    }
}

fn line(style: &Style) -> Stroke<'_> {
    Stroke { colour: &style.colour, width: LINE, dash: style.dash.lengths() }
}

fn draw_error(svg: &mut Svg, frame: &Rect, dot: &Dot, colour: &str) {
    let Some((low, high)) = dot.error else { return };
    let (x, stroke) = (dot.spot.0, Stroke::solid(colour, ERROR));
    let Some((from, to)) = frame.clip_line((x, low), (x, high)) else { return };
    svg.line(from, to, stroke);
    // A clipped end has no cap.
    for end in [low, high].into_iter().filter(|&end| frame.holds((x, end))) {
        svg.line((x - CAP, end), (x + CAP, end), stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Chart, Point, Series};

    const FRAME: Rect = Rect { left: 0.0, top: 0.0, right: 100.0, bottom: 100.0 };

    fn drawn(series: Series, draw: fn(&mut Svg, &Plot)) -> String {
        let axis = || Axis::linear("").range(0.0, 10.0);
        let chart = Chart::new(axis(), axis(), vec![series]);
        let mut svg = Svg::page(100.0, 100.0);
        draw(&mut svg, &Plot::new(&chart, FRAME));
        svg.finish()
    }

    fn points(errors: [bool; 5]) -> Vec<Point> {
        let point = |(k, known): (usize, bool)| {
            let x = 1.0 + k as f64;
            if known { Point::between(x, 5.0, 4.0, 6.0) } else { Point::new(x, 5.0) }
        };
        errors.into_iter().enumerate().map(point).collect()
    }

    #[test]
    fn bands_end_where_errors_are_missing() {
        let band = |errors| drawn(Series::new("", points(errors)).look(Look::line().band()), draw_bands);
        assert_eq!(band([true; 5]).matches("fill-opacity").count(), 1);
        assert_eq!(band([true, true, false, true, true]).matches("fill-opacity").count(), 2);
        assert_eq!(band([false; 5]).matches("fill-opacity").count(), 0);
    }

    #[test]
    fn markers_outside_the_frame_are_left_out() {
        let series = Series::new("", [(1.0, 1.0), (5.0, 5.0), (12.0, 3.0)]).look(Look::markers());
        assert_eq!(drawn(series, draw_lines).matches("<circle").count(), 2);
    }

    #[test]
    fn an_error_bar_that_is_cut_off_has_one_cap() {
        let bars = |low: f64| {
            let series = Series::new("", [Point::between(5.0, 5.0, low, 8.0)]).look(Look::markers());
            drawn(series, draw_lines).matches("<path").count()
        };
        assert_eq!((bars(2.0), bars(-3.0)), (3, 2));
    }
}
