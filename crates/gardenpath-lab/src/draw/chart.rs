//! Draws the chart of a sentence: every candidate as a bar over its span, one level above another.

use gardenpath::{Grammar, Symbol};
use gardenpath_plot::{Anchor, Drawing, Paint, Stroke, plain};

/// A candidate symbol of a span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The start of the span.
    pub start: usize,
    /// The number of its tokens.
    pub span: usize,
    /// The symbol.
    pub symbol: Symbol,
    /// The posterior probability that the derivation contains it; 0 for spurious candidates.
    pub probability: f64,
}

/// Sizes in user units, which are pixels at the natural size.
const COLUMN: f64 = 46.0;
const ROW: f64 = 22.0;
const BAR: f64 = 18.0;
const LEVEL_GAP: f64 = 12.0;
const LABEL: f64 = 64.0;
const MARGIN: f64 = 12.0;
const FONT: f64 = 12.0;

/// Rows drawn per level; very ambiguous sentences have hundreds.
const MAX_ROWS: usize = 24;

/// The bars of one level, from the most probable row to spurious candidates, and how many did not fit.
struct Rows {
    rows: Vec<Vec<Candidate>>,
    left_out: usize,
}

/// Draws the levels from the root to the tokens.
pub fn draw(grammar: &Grammar, levels: &[Vec<Candidate>]) -> Drawing {
    let tokens = levels.last().map_or(0, Vec::len);
    let packed: Vec<Rows> = levels.iter().map(|level| pack(level)).collect();
    let height: f64 = packed.iter().map(|level| level.rows.len().max(1) as f64 * ROW + LEVEL_GAP).sum();
    let (width, height) = (LABEL + tokens as f64 * COLUMN + 2.0 * MARGIN, height - LEVEL_GAP + 2.0 * MARGIN);
    let mut drawing = Drawing::new(width, height);
    let mut y = MARGIN;
    for (level, packed) in packed.iter().enumerate() {
        let name = if level == grammar.depth() { "tokens".to_owned() } else { format!("level {level}") };
        drawing.text((MARGIN, y + BAR * 0.75), FONT, Anchor::Start, "#555555", &name);
        if packed.left_out > 0 {
            let left_out = format!("+{}", packed.left_out);
            drawing.text((MARGIN, y + ROW + BAR * 0.75), FONT, Anchor::Start, "#999999", &left_out);
        }
        for (row, bars) in packed.rows.iter().enumerate() {
            bars.iter().for_each(|bar| draw_bar(grammar, level, bar, y + row as f64 * ROW, &mut drawing));
        }
        y += packed.rows.len().max(1) as f64 * ROW + LEVEL_GAP;
    }
    drawing
}

/// Places each bar in the first row with room for it, the most probable first.
fn pack(level: &[Candidate]) -> Rows {
    let mut order = level.to_vec();
    order.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.start.cmp(&b.start)).then(a.span.cmp(&b.span)));
    let mut packed = Rows { rows: Vec::new(), left_out: 0 };
    let apart = |a: &Candidate, b: &Candidate| a.start + a.span <= b.start || b.start + b.span <= a.start;
    for candidate in order {
        match packed.rows.iter().position(|row| row.iter().all(|other| apart(other, &candidate))) {
            Some(row) => packed.rows[row].push(candidate),
            None if packed.rows.len() < MAX_ROWS => packed.rows.push(vec![candidate]),
            None => packed.left_out += 1,
        }
    }
    packed
}

fn draw_bar(grammar: &Grammar, level: usize, bar: &Candidate, y: f64, drawing: &mut Drawing) {
    let x = LABEL + MARGIN + bar.start as f64 * COLUMN + 1.5;
    let width = bar.span as f64 * COLUMN - 3.0;
    let possible = bar.probability > 0.0;
    let (edge, fill) = if possible { ("#0072b2", "#0072b2") } else { ("#bbbbbb", "none") };
    let paint = Paint { fill, opacity: 0.08 + 0.77 * bar.probability, edge: Some(Stroke::solid(edge, 1.0)) };
    let ink = match bar.probability {
        p if p > 0.55 => "#ffffff",
        _ if possible => "#003a5c",
        _ => "#999999",
    };
    let name = plain(&grammar.name(level, bar.symbol));
    drawing.with_note(&format!("probability {:.4}", bar.probability), |part| {
        part.bar((x, y), (width, BAR), paint);
        part.text((x + width / 2.0, y + BAR * 0.73), FONT, Anchor::Middle, ink, &name);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::{Ensemble, Seed};

    #[test]
    fn bars_of_a_row_do_not_overlap_and_probable_ones_come_first() {
        let bar = |start, span, probability| Candidate { start, span, symbol: 0, probability };
        let packed = pack(&[bar(0, 2, 0.0), bar(0, 3, 0.9), bar(3, 2, 0.9), bar(2, 2, 0.1)]);
        assert_eq!(packed.rows, [vec![bar(0, 3, 0.9), bar(3, 2, 0.9)], vec![bar(2, 2, 0.1), bar(0, 2, 0.0)]]);
        assert_eq!(packed.left_out, 0);
    }

    #[test]
    fn crowded_levels_are_cut() {
        let bars: Vec<Candidate> =
            (0..100).map(|symbol| Candidate { start: 0, span: 4, symbol, probability: 0.0 }).collect();
        let packed = pack(&bars);
        assert_eq!((packed.rows.len(), packed.left_out), (MAX_ROWS, 100 - MAX_ROWS));
    }

    #[test]
    fn every_candidate_has_a_bar() {
        let grammar = Ensemble::new(4, 1).sample(Seed::new(1)).unwrap();
        let bar = |start, span, symbol, probability| Candidate { start, span, symbol, probability };
        let svg = draw(&grammar, &[vec![bar(0, 2, 3, 1.0)], vec![bar(0, 1, 2, 1.0), bar(1, 1, 0, 1.0)]]).svg();
        assert_eq!(svg.matches("<rect").count(), 1 + 3);
        assert!(svg.contains(">A0_3<"));
    }
}
