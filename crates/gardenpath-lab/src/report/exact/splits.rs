//! How many ways a parser has to cut a span in two and in three.

use super::sketch::{Anchor, FAINT, INK, Sketch};
use super::slope;
use crate::figure::{Axis, Chart, Dash, Drawing, Figure, Guide, Look, Palette, Series};
use crate::record::Records;
use crate::report::{Chapter, Finding, Page};
use anyhow::Result;
use gardenpath::theory::lengths::typical_length;
use gardenpath::theory::splits::{MedianSplits, median_splits, splits};
use std::fmt;

pub(super) const SKETCH: Chapter = Chapter {
    name: "binary_ternary_splits",
    title: "Binary and ternary splits of a span",
    paper: "The parent of a span is found by cutting the span in two or in three, each part having a length that a \
            symbol one level below can have; six tokens are cut in one way each, 3-3 and 2-2-2.",
    experiments: &[],
    draw: sketch,
};

pub(super) const MEDIANS: Chapter = Chapter {
    name: "median_splits",
    title: "The number of splits",
    paper: "The median number of splits over all span lengths of a level grows as 3^l for binary and 3^(2l) for ternary \
            splits; at L = 6 ternary ones outnumber the tokens of a sentence beyond l = 4.",
    experiments: &[],
    draw: medians,
};

/// The span that is sketched, and the levels that its parent is above the tokens.
const SPAN: usize = 13;
const HEIGHT: usize = 3;

fn sketch(_: &Records) -> Result<Page> {
    let (binary, ternary) = (cuts(SPAN, HEIGHT, 2), cuts(SPAN, HEIGHT, 3));
    let expected = splits(SPAN, HEIGHT)?;
    let six = splits(6, 2)?;
    let panels = vec![sketched("Binary splits", &binary).into(), sketched("Ternary splits", &ternary).into()];
    Ok(Page {
        figure: Figure { panel_height: Some(140.0), ..Figure::grid(2, panels) },
        caption: format!(
            "All ways in which a symbol {HEIGHT} levels above the tokens can stand on {SPAN} tokens: its children, two or \
             three symbols one level below, share the span, and each has between 4 and 9 tokens. A parser sums over \
             all of them."
        ),
        findings: vec![
            Finding::check(
                "The splits that are drawn are those that the closed form counts",
                format!(
                    "{} binary and {} ternary ones drawn, {} and {} counted",
                    binary.len(),
                    ternary.len(),
                    expected.binary,
                    expected.ternary
                ),
                (binary.len() as u64, ternary.len() as u64) == (expected.binary, expected.ternary),
            ),
            Finding::check(
                "Two levels above the tokens, six of them are split in one way each, 3-3 and 2-2-2",
                format!(
                    "{} binary and {} ternary split, {:?} and {:?}",
                    six.binary,
                    six.ternary,
                    cuts(6, 2, 2),
                    cuts(6, 2, 3)
                ),
                cuts(6, 2, 2) == [[3, 3]] && cuts(6, 2, 3) == [[2, 2, 2]] && (six.binary, six.ternary) == (1, 1),
            ),
        ],
    })
}

/// All ways to cut a span into parts that stand one level lower, by the lengths of the parts.
fn cuts(span: usize, height: usize, parts: usize) -> Vec<Vec<usize>> {
    let below = height as u32 - 1;
    if parts == 0 {
        return if span == 0 { vec![Vec::new()] } else { Vec::new() };
    }
    let firsts = (2usize.pow(below)..=3usize.pow(below)).filter(|&first| first <= span);
    let rest =
        |first: usize| cuts(span - first, height, parts - 1).into_iter().map(move |rest| [vec![first], rest].concat());
    firsts.flat_map(rest).collect()
}

/// The span under its parent, and a row for each way to cut it.
fn sketched(title: &str, cuts: &[Vec<usize>]) -> Drawing {
    const TOKEN: f64 = 20.0;
    const LEFT: f64 = 30.0;
    const TOP: f64 = 46.0;
    const ROW: f64 = 19.0;
    let mut sketch = Sketch::new(2.0 * LEFT + TOKEN * SPAN as f64, TOP + 6.2 * ROW);
    let (right, middle) = (LEFT + TOKEN * SPAN as f64, LEFT + TOKEN * SPAN as f64 / 2.0);
    sketch.text((middle, 12.0), 14.0, Anchor::Middle, INK, "*z*");
    sketch.line((middle, 17.0), (LEFT + 2.0, 32.0), INK, 1.2);
    sketch.line((middle, 17.0), (right - 2.0, 32.0), INK, 1.2);
    sketch.line((LEFT + 2.0, 32.0), (right - 2.0, 32.0), INK, 1.2);
    for token in 0..SPAN {
        sketch.disc((LEFT + TOKEN * (token as f64 + 0.5), 39.0), 2.4, FAINT);
    }
    for (row, cut) in cuts.iter().enumerate() {
        let (mut left, top) = (LEFT, TOP + 4.0 + ROW * row as f64);
        for (part, &len) in cut.iter().enumerate() {
            let width = TOKEN * len as f64;
            sketch.bar((left + 1.0, top), width - 2.0, ROW - 4.0, &Palette::Categorical.colour(part, 3));
            // The first row says what the parts are, the others how long they are.
            let text = match row {
                0 => format!("*{}*: {len}", ["a", "b", "c"][part]),
                _ => len.to_string(),
            };
            let ink = if part == 1 { INK } else { "#ffffff" };
            sketch.text((left + width / 2.0, top + 11.5), 11.5, Anchor::Middle, ink, &text);
            left += width;
        }
    }
    sketch.finish(Some(title))
}

fn medians(_: &Records) -> Result<Page> {
    let medians = (1..=9).map(|height| Ok(median_splits(height)?)).collect::<Result<Vec<_>>>()?;
    let tokens = typical_length(6, super::P_BINARY)? as f64;
    let series = |count: fn(&MedianSplits) -> f64| medians.iter().map(move |m| (m.height as f64, count(m)));
    // Straight lines on these axes, through the last points.
    let last = &medians[8];
    let power = |base: f64, end: f64| (1..=9).map(move |height| (f64::from(height), end * base.powi(height - 9)));
    let chart = Chart {
        guides: vec![Guide::horizontal(tokens, format!("{tokens} tokens (*L* = 6)"))],
        ..Chart::new(
            Axis::linear("height *l* above the tokens"),
            Axis::log("median number of splits"),
            vec![
                Series::new("ternary", series(|m| m.ternary)).look(Look::markers().number(1)),
                Series::new("∝ 3^{2*l*}", power(9.0, last.ternary)).look(curve(1)),
                Series::new("binary", series(|m| m.binary)).look(Look::markers().number(0)),
                Series::new("∝ 3^{*l*}", power(3.0, last.binary)).look(curve(0)),
            ],
        )
    };
    let (binary, ternary) = (Growth::new(&medians, |m| m.binary), Growth::new(&medians, |m| m.ternary));
    let (fourth, fifth) = (medians[3].ternary, medians[4].ternary);
    Ok(Page {
        figure: Figure::of(chart),
        caption: "How many ways there are to cut a span in two and in three, as the median over all span lengths from \
                  2^l to 3^l of symbols l levels above the tokens. The lines grow by factors of 3 and 9 per level."
            .into(),
        findings: vec![
            Finding::check(
                "The median number of binary splits grows by 3 per level",
                binary.to_string(),
                (binary.limit - 3.0).abs() < 0.05,
            ),
            Finding::check(
                "The median number of ternary splits grows by 9 per level",
                ternary.to_string(),
                (ternary.limit - 9.0).abs() < 0.1,
            ),
            Finding::check(
                "At L = 6 there are more ternary splits than tokens beyond l = 4",
                format!("{fourth} at l = 4, {fifth} at l = 5, {tokens} tokens"),
                fourth < tokens && fifth > tokens,
            ),
        ],
    })
}

/// How a median grows from level to level.
struct Growth {
    /// The factor per level of the last levels.
    fitted: f64,
    /// The factor of the last step.
    last: f64,
    /// What the factors tend to. The shortest span is (2/3)^l of the longest: by this the factors differ from the limit.
    limit: f64,
}

impl Growth {
    fn new(medians: &[MedianSplits], count: fn(&MedianSplits) -> f64) -> Self {
        let points: Vec<(f64, f64)> = medians[5..].iter().map(|m| (m.height as f64, count(m).ln())).collect();
        let step = |height: usize| count(&medians[height - 1]) / count(&medians[height - 2]);
        Growth { fitted: slope(&points).exp(), last: step(9), limit: 3.0 * step(9) - 2.0 * step(8) }
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Growth { fitted, last, limit } = self;
        write!(f, "factor {fitted:.2} per level for l = 6 to 9, {last:.2} in the last step, tending to {limit:.2}")
    }
}

fn curve(number: usize) -> Look {
    Look::curve(Dash::Dashed).number(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_as_many_as_the_closed_form_says() {
        for height in 1..=4 {
            for span in 0..=3usize.pow(height as u32) + 1 {
                let expected = splits(span, height).unwrap();
                assert_eq!(cuts(span, height, 2).len() as u64, expected.binary);
                assert_eq!(cuts(span, height, 3).len() as u64, expected.ternary);
            }
        }
    }

    #[test]
    fn every_part_has_a_bar_of_its_length() {
        let cuts = cuts(SPAN, HEIGHT, 2);
        assert!(cuts.iter().all(|cut| cut.iter().sum::<usize>() == SPAN));
        assert_eq!(sketched("", &cuts).svg.matches("<rect").count(), 2 * cuts.len());
    }

    #[test]
    fn growth_with_corrections_of_two_thirds() {
        let median = |height: usize| {
            let count = (1..=height).map(|l| 5.0 + 2.0 * (2.0f64 / 3.0).powi(l as i32)).product();
            MedianSplits { height, binary: count, ternary: 1.0 }
        };
        let growth = Growth::new(&(1..=9).map(median).collect::<Vec<_>>(), |m| m.binary);
        assert!((growth.limit - 5.0).abs() < 1e-9 && growth.limit < growth.last && growth.last < growth.fitted);
    }

    #[test]
    fn medians_by_brute_force() {
        for height in 1..=4 {
            let mut counts: Vec<usize> =
                (1 << height..=3usize.pow(height as u32)).map(|span| cuts(span, height, 3).len()).collect();
            counts.sort_unstable();
            let middle = counts.len() / 2;
            assert_eq!(median_splits(height).unwrap().ternary, (counts[middle - 1] + counts[middle]) as f64 / 2.0);
        }
    }
}
