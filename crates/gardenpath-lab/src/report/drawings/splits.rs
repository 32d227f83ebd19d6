//! The ways in which a parser can split a span in two and in three.

use super::sketch::{FAINT, INK};
use crate::experiment::plan::Origin;
use crate::report::{Finding, Page, Picture};
use anyhow::Result;
use gardenpath::Arities;
use gardenpath::theory::splits::splits;
use gardenpath_plot::{Anchor, Drawing, Figure, Palette, Stroke};

pub(in crate::report) const SPLITS: Picture = Picture {
    name: "binary_ternary_splits",
    title: "Binary and ternary splits of a span",
    paper: "The parent of a span is found by splitting the span in two or in three, where each part has a length that a \
            symbol one level below can have; six tokens have one split of each kind, 3-3 and 2-2-2.",
    draw: sketch,
};

/// The sketched span, and the level of its parent above the tokens.
const SPAN: usize = 13;
const HEIGHT: usize = 3;

fn sketch() -> Result<Page> {
    let (binary, ternary) = (cuts(SPAN, HEIGHT, 2), cuts(SPAN, HEIGHT, 3));
    let counted = |span: usize, height: usize| -> Result<[u128; 2]> {
        let splits = splits(height, Arities::PAPER)?.get(span).copied().unwrap_or_default();
        Ok([splits[2], splits[3]])
    };
    let (expected, six) = (counted(SPAN, HEIGHT)?, counted(6, 2)?);
    let panels = vec![sketched("Binary splits", &binary).into(), sketched("Ternary splits", &ternary).into()];
    Ok(Page {
        figure: Figure { panel_height: Some(140.0), ..Figure::grid(2, panels) },
        caption: format!(
            "All ways in which a symbol {HEIGHT} levels above the tokens can span {SPAN} tokens: its children, two or \
             three symbols one level below, share the span, and each covers between 4 and 9 tokens. A parser sums over \
             all of them."
        ),
        findings: vec![
            Finding::check(
                Origin::Identity,
                "The number of splits drawn agrees with theory",
                format!(
                    "{} binary and {} ternary ones drawn, {} and {} counted",
                    binary.len(),
                    ternary.len(),
                    expected[0],
                    expected[1]
                ),
                [binary.len() as u128, ternary.len() as u128] == expected,
            ),
            Finding::check(
                Origin::PaperFormula,
                "Two levels above the tokens, a span of six has one split of each kind, 3-3 and 2-2-2",
                format!("{} binary and {} ternary split, {:?} and {:?}", six[0], six[1], cuts(6, 2, 2), cuts(6, 2, 3)),
                cuts(6, 2, 2) == [[3, 3]] && cuts(6, 2, 3) == [[2, 2, 2]] && six == [1, 1],
            ),
        ],
    })
}

/// All ways to split a span into parts one level below, as the lengths of the parts.
pub(super) fn cuts(span: usize, height: usize, parts: usize) -> Vec<Vec<usize>> {
    let below = height as u32 - 1;
    if parts == 0 {
        return if span == 0 { vec![Vec::new()] } else { Vec::new() };
    }
    let firsts = (2usize.pow(below)..=3usize.pow(below)).filter(|&first| first <= span);
    let rest =
        |first: usize| cuts(span - first, height, parts - 1).into_iter().map(move |rest| [vec![first], rest].concat());
    firsts.flat_map(rest).collect()
}

/// The span below its parent, and one row per split.
fn sketched(title: &str, cuts: &[Vec<usize>]) -> Drawing {
    const TOKEN: f64 = 20.0;
    const LEFT: f64 = 30.0;
    const TOP: f64 = 46.0;
    const ROW: f64 = 19.0;
    let mut sketch = Drawing::new(2.0 * LEFT + TOKEN * SPAN as f64, TOP + 6.2 * ROW);
    let (right, middle) = (LEFT + TOKEN * SPAN as f64, LEFT + TOKEN * SPAN as f64 / 2.0);
    sketch.text((middle, 12.0), 14.0, Anchor::Middle, INK, "*z*");
    sketch.line((middle, 17.0), (LEFT + 2.0, 32.0), Stroke::solid(INK, 1.2));
    sketch.line((middle, 17.0), (right - 2.0, 32.0), Stroke::solid(INK, 1.2));
    sketch.line((LEFT + 2.0, 32.0), (right - 2.0, 32.0), Stroke::solid(INK, 1.2));
    for token in 0..SPAN {
        sketch.disc((LEFT + TOKEN * (token as f64 + 0.5), 39.0), 2.4, FAINT);
    }
    for (row, cut) in cuts.iter().enumerate() {
        let (mut left, top) = (LEFT, TOP + 4.0 + ROW * row as f64);
        for (part, &len) in cut.iter().enumerate() {
            let width = TOKEN * len as f64;
            sketch.bar((left + 1.0, top), (width - 2.0, ROW - 4.0), Palette::Categorical.colour(part, 3).as_str());
            // The first row names the parts, the others give their lengths.
            let text = match row {
                0 => format!("*{}*: {len}", ["a", "b", "c"][part]),
                _ => len.to_string(),
            };
            let ink = if part == 1 { INK } else { "#ffffff" };
            sketch.text((left + width / 2.0, top + 11.5), 11.5, Anchor::Middle, ink, &text);
            left += width;
        }
    }
    sketch.titled(title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::theory::splits::median_splits;

    #[test]
    fn cuts_are_as_many_as_theory_counts() {
        for height in 1..=4 {
            let counts = splits(height, Arities::PAPER).unwrap();
            for span in 0..=3usize.pow(height as u32) + 1 {
                let expected = counts.get(span).copied().unwrap_or_default();
                assert_eq!(cuts(span, height, 2).len() as u128, expected[2]);
                assert_eq!(cuts(span, height, 3).len() as u128, expected[3]);
            }
        }
    }

    #[test]
    fn every_part_has_a_bar_of_its_length() {
        let cuts = cuts(SPAN, HEIGHT, 2);
        assert!(cuts.iter().all(|cut| cut.iter().sum::<usize>() == SPAN));
        assert_eq!(sketched("", &cuts).svg().matches("<rect").count(), 1 + 2 * cuts.len());
    }

    #[test]
    fn medians_by_brute_force() {
        for height in 1..=4 {
            let mut counts: Vec<usize> =
                (1 << height..=3usize.pow(height as u32)).map(|span| cuts(span, height, 3).len()).collect();
            counts.sort_unstable();
            let middle = counts.len() / 2;
            assert_eq!(
                median_splits(height, Arities::PAPER).unwrap()[3],
                (counts[middle - 1] + counts[middle]) as f64 / 2.0
            );
        }
    }
}
