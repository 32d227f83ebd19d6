//! Draws the steps of a procedure as rows of boxes.

use gardenpath_plot::{Anchor, Drawing, Stroke};

/// Sizes in user units, which are pixels at the natural size.
const BOX: (f64, f64) = (142.0, 74.0);
const STEP: f64 = 170.0;
const ROW: f64 = 116.0;
const TOP: f64 = 34.0;
const LINE: f64 = 16.0;
const GAP: f64 = 4.0;

const COLOUR: &str = "#0072b2";
const INK: &str = "#222222";
const FAINT: &str = "#8a8a8a";

/// Draws the steps, each with a title and up to three lines, the third in gray. Arrows lead from the source through
/// each row and on to the next.
pub fn draw(source: &str, rows: &[Vec<String>]) -> Drawing {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let width = STEP * (columns - 1) as f64 + BOX.0 + 2.0;
    let mut drawing = Drawing::new(width, TOP + ROW * rows.len().saturating_sub(1) as f64 + BOX.1 + 2.0);
    let (line, first) = (Stroke::solid(INK, 1.4), BOX.0 / 2.0);
    drawing.bold((1.0, 12.0), 12.5, Anchor::Start, INK, source);
    drawing.arrow((first, 17.0), (first, TOP - GAP), line);
    for (row, steps) in rows.iter().enumerate() {
        let top = TOP + ROW * row as f64;
        if row > 0 {
            let (last, between) = (STEP * (rows[row - 1].len() - 1) as f64 + first, top - (ROW - BOX.1) / 2.0);
            drawing.line((last, top - ROW + BOX.1 + GAP), (last, between), line);
            drawing.line((last, between), (first, between), line);
            drawing.arrow((first, between), (first, top - GAP), line);
        }
        for (column, step) in steps.iter().enumerate() {
            let left = 1.0 + STEP * column as f64;
            drawing.frame((left, top), BOX, Stroke::solid(COLOUR, 1.2));
            for (number, text) in step.lines().enumerate() {
                let spot = (left + BOX.0 / 2.0, top + 18.0 + LINE * number as f64);
                match number {
                    0 => drawing.bold(spot, 12.5, Anchor::Middle, COLOUR, text),
                    _ => drawing.text(spot, 11.5, Anchor::Middle, if number == 3 { FAINT } else { INK }, text),
                }
            }
            if column > 0 {
                let middle = top + BOX.1 / 2.0;
                drawing.arrow((left - STEP + BOX.0 + GAP, middle), (left - GAP, middle), line);
            }
        }
    }
    drawing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_a_box_and_an_arrow_before_it() {
        let rows = [vec!["A\nb\nc\nd".to_owned(), "E".into()], vec!["F".into(), "G".into(), "H".into()]];
        let svg = draw("source", &rows).svg();
        assert_eq!(svg.matches("rx=").count(), 5);
        // An arrow is a line and a head; two lines lead to the arrow of the second row.
        assert_eq!(svg.matches("<path").count(), 2 * 5 + 2);
        assert!(["source", ">A<", ">d<", ">H<"].iter().all(|text| svg.contains(text)));
    }
}
