//! Draws a reading: surprisals as bars, and the posterior over the root below as a heat map.

use crate::reading::Reading;
use anyhow::{Result, bail};
use gardenpath::{Grammar, Symbol};
use gardenpath_plot::{Anchor, Drawing, Paint, Stroke, plain};

/// Sizes in pixels.
const COLUMN: f64 = 44.0;
const ROW: f64 = 18.0;
const BARS: f64 = 110.0;
const NAMES: f64 = 74.0;
const MARGIN: f64 = 14.0;
const HEADING: f64 = 22.0;
const TOKENS: f64 = 26.0;
const FONT: f64 = 12.0;

const INK: &str = "#222222";
const QUIET: &str = "#666666";
const BAR: &str = "#d55e00";
const HEAT: &str = "#0072b2";

/// Drawings of longer sentences would be too wide to view.
const MAX_TOKENS: usize = 200;

/// Draws the reading.
pub fn draw(grammar: &Grammar, reading: &Reading) -> Result<Drawing> {
    if reading.len > MAX_TOKENS {
        bail!("the sentence has {} tokens, expected at most {MAX_TOKENS} for a drawing", reading.len);
    }
    // Roots without a visible probability would only make the drawing taller.
    let share =
        |root: usize| reading.steps.iter().filter_map(|s| Some(s.posterior.as_ref()?[root])).fold(0.0, f64::max);
    let roots: Vec<usize> = (0..grammar.classes()).filter(|&root| share(root) >= 0.005).collect();
    let steps = reading.steps.len();
    let heat_top = MARGIN + HEADING + BARS + TOKENS + HEADING;
    let (width, height) = (NAMES + steps as f64 * COLUMN + 2.0 * MARGIN, heat_top + roots.len() as f64 * ROW + MARGIN);
    let mut drawing = Drawing::new(width, height);
    let left = MARGIN + NAMES;
    drawing.bold((MARGIN, MARGIN + FONT), FONT, Anchor::Start, INK, "surprisal of each token, in nats");
    draw_bars(grammar, reading, left, &mut drawing);
    drawing.bold((MARGIN, heat_top - 8.0), FONT, Anchor::Start, INK, "probability of each root, in percent");
    for (row, &root) in roots.iter().enumerate() {
        let y = heat_top + row as f64 * ROW;
        let name = plain(&grammar.name(0, root as Symbol));
        drawing.text((left - 8.0, y + 0.72 * ROW), FONT, Anchor::End, QUIET, &name);
        for (column, step) in reading.steps.iter().enumerate() {
            let Some(p) = step.posterior.as_ref().map(|posterior| posterior[root]) else { continue };
            let x = left + column as f64 * COLUMN;
            let paint = Paint { fill: HEAT, opacity: 0.04 + 0.91 * p, edge: None };
            let ink = if p > 0.5 { "#ffffff" } else { INK };
            drawing.with_note(&format!("{:.4}", p), |part| {
                part.bar((x + 1.0, y + 1.0), (COLUMN - 2.0, ROW - 2.0), paint);
                if p >= 0.005 {
                    part.text(
                        (x + COLUMN / 2.0, y + 0.72 * ROW),
                        11.0,
                        Anchor::Middle,
                        ink,
                        &format!("{:.0}", 100.0 * p),
                    );
                }
            });
        }
    }
    Ok(drawing)
}

/// The surprisals above the tokens; impossible tokens have a dashed box of full height.
fn draw_bars(grammar: &Grammar, reading: &Reading, left: f64, drawing: &mut Drawing) {
    let most = reading.surprisal.iter().flatten().fold(1.0, |most: f64, &nats| most.max(nats));
    let (top, ground) = (MARGIN + HEADING + FONT, MARGIN + HEADING + BARS);
    let steps = reading.steps.len() as f64;
    drawing.line((left, ground), (left + steps * COLUMN, ground), Stroke::solid("#bbbbbb", 1.0));
    for (column, label) in reading.labels(grammar).iter().enumerate() {
        let middle = left + (column as f64 + 0.5) * COLUMN;
        let (size, colour) = (FONT, if column == 0 || column > reading.len { QUIET } else { INK });
        drawing.text((middle, ground + 17.0), size, Anchor::Middle, colour, &plain(&shortened(label)));
        let Some(place) = column.checked_sub(1) else { continue };
        let corner = |height: f64| (middle - 0.32 * COLUMN, ground - height);
        match reading.surprisal[place] {
            Some(nats) => {
                let height = (ground - top) * nats / most;
                drawing.with_note(&format!("{nats:.4} nats"), |part| {
                    part.bar(corner(height.max(0.8)), (0.64 * COLUMN, height.max(0.8)), Paint::from(BAR));
                    let text = format!("{nats:.1}");
                    part.text((middle, ground - height - 4.0), 11.0, Anchor::Middle, QUIET, &text);
                });
            }
            None => {
                let edge = Stroke { colour: BAR, width: 1.0, dash: &[3.0, 2.0] };
                drawing.frame(corner(ground - top), (0.64 * COLUMN, ground - top), edge);
                drawing.text((middle, (ground + top) / 2.0), 11.0, Anchor::Middle, BAR, "∞");
            }
        }
    }
}

/// Shortens a name to fit its column.
fn shortened(name: &str) -> String {
    if name.chars().count() <= 7 { name.to_owned() } else { name.chars().take(6).chain(['…']).collect() }
}
