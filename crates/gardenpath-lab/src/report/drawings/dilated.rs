//! The dilated filters of the inside network: where a split of a span finds its parts in the feature map below.

use super::sketch::{BINARY, FAINT, INK, PALE, TRUE};
use super::splits::cuts;
use crate::experiment::plan::Origin;
use crate::report::{Finding, Page, Picture};
use anyhow::Result;
use gardenpath::Shape;
use gardenpath_nn::connections::{Input, layers};
use gardenpath_nn::{Architecture, Network};
use gardenpath_plot::{Anchor, Drawing, Figure, Stroke};
use std::collections::BTreeMap;

pub(in crate::report) const DILATED: Picture = Picture {
    name: "dilated",
    title: "The dilated filter of a split",
    paper: "In the inside network, a split of a span is a dilated filter: the base binary filter (b1, b2) embedded in a \
            larger one that slides along the map below. For 5 tokens and the split 3-2 it has size 2 x 5; flattened, \
            a split q, λ − q occupies the positions q − 2^h and N q + λ − q − 2^h, and ternary splits are analogous.",
    draw,
};

/// The sketched span.
const SPAN: usize = 5;

/// A tap of a filter: its role (0 and 1 for the binary filter, then 2 to 4), its offset in tokens from the start of the
/// span, and the number of tokens that it covers.
type Tap = (usize, usize, usize);

fn draw() -> Result<Page> {
    let filters = filters(3)?;
    let taps = &filters[&(1, SPAN)];
    let numbers =
        filters.iter().map(|(&(height, span), taps)| (taps.len(), flat(height, taps) == of_paper(height, span)));
    let (right, wrong): (Vec<_>, Vec<_>) = numbers.partition(|(_, same)| *same);
    let [right, wrong] = [right, wrong].map(|filters| filters.iter().map(|(taps, _)| taps).sum::<usize>());
    Ok(Page {
        figure: Figure { width: Some(420.0), panel_height: Some(176.0), ..Figure::of(drawing(taps)) },
        caption: format!(
            "How the inside network computes the cell of {SPAN} tokens two levels above them. Its children are in a map with \
             one row per span length and one column per start; the split 3-2 multiplies the first 3 tokens by b1 and \
             the next 2 tokens by b2, wherever the cell is. The filter of the split 2-3, drawn pale, \
             is added to it."
        ),
        findings: vec![
            Finding::check(
                Origin::Identity,
                "Five tokens have two binary splits, 2-3 and 3-2, and no ternary one",
                format!("role, start and length of the cell's inputs: {taps:?}"),
                *taps == [(0, 0, 2), (0, 0, 3), (1, 2, 3), (1, 3, 2)],
            ),
            Finding::check(
                Origin::PaperFormula,
                "The flattened positions of all filters match the paper's formulas, at both levels of depth 3",
                format!("{right} of {} positions of the network's wiring", right + wrong),
                wrong == 0,
            ),
        ],
    })
}

/// The filters of an inside network: the taps by the height of the parts above the tokens and the length of the span.
fn filters(depth: usize) -> Result<BTreeMap<(usize, usize), Vec<Tap>>> {
    let network = Network::new(2, 2, Shape::mixed(depth), 1, Architecture::inn())?;
    let mut filters = BTreeMap::new();
    for len in network.shape.lengths() {
        for (height, pair) in layers(&network, len)?.windows(2).enumerate() {
            for (number, place) in (0..).zip(&pair[1].places) {
                let own = pair[1].inputs.iter().filter(|(row, _)| *row == number);
                let part = |child: u32| pair[0].places[child as usize];
                let tap =
                    |input: &Input| (input.role as usize, part(input.child).start - place.start, part(input.child).len);
                let mut taps: Vec<Tap> = own.map(|(_, input)| tap(input)).collect();
                taps.sort_unstable();
                filters.insert((height + 1, place.len), taps);
            }
        }
    }
    Ok(filters)
}

/// The roles and positions of taps in the flattened map, in which the `N` lengths from `2^h` to `3^h` of each start are
/// consecutive.
fn flat(height: usize, taps: &[Tap]) -> Vec<(usize, usize)> {
    let (shortest, longest) = (2usize.pow(height as u32), 3usize.pow(height as u32));
    let position = |&(role, start, len): &Tap| (role, (longest - shortest + 1) * start + len - shortest);
    let mut positions: Vec<_> = taps.iter().map(position).collect();
    positions.sort_unstable();
    positions
}

/// The same by the paper's formulas, for all splits of the span.
fn of_paper(height: usize, span: usize) -> Vec<(usize, usize)> {
    let (shortest, longest) = (2usize.pow(height as u32), 3usize.pow(height as u32));
    let n = longest - shortest + 1;
    let splits = cuts(span, height + 1, 2).into_iter().chain(cuts(span, height + 1, 3));
    let of_split = |cut: Vec<usize>| match cut[..] {
        [q, r, _] => {
            let last = n * (q + r) + span - q - r - shortest;
            vec![(2, q - shortest), (3, n * q + r - shortest), (4, last)]
        }
        _ => vec![(0, cut[0] - shortest), (1, n * cut[0] + span - cut[0] - shortest)],
    };
    let mut positions: Vec<_> = splits.flat_map(of_split).collect();
    positions.sort_unstable();
    positions
}

/// The map of spans of two and three tokens below the cell that the filters compute.
fn drawing(taps: &[Tap]) -> Drawing {
    const CELL: f64 = 38.0;
    const LEFT: f64 = 118.0;
    const TOP: f64 = 108.0;
    const STARTS: usize = 9;
    /// The position of the filter.
    const AT: usize = 2;
    let (x, y) = (|start: usize| LEFT + CELL * start as f64, |len: usize| TOP + CELL * (3 - len) as f64);
    let middle = |start: usize| x(start) + CELL / 2.0;
    let mut sketch = Drawing::new(x(STARTS) + 8.0, TOP + 2.0 * CELL + 46.0);
    sketch.frame((x(AT), 18.0), (CELL * SPAN as f64, 26.0), Stroke::solid(TRUE, 1.4));
    let name = format!("*λ* = {SPAN}, from token {}", AT + 1);
    sketch.text((middle(AT + SPAN / 2), 36.0), 13.0, Anchor::Middle, INK, &name);
    sketch.text((0.0, 36.0), 12.0, Anchor::Start, FAINT, "two levels up");
    sketch.text((0.0, TOP + CELL + 4.0), 12.0, Anchor::Start, FAINT, "one level up");
    for start in 0..STARTS {
        let size = (CELL - 3.0, CELL - 3.0);
        for len in [2, 3] {
            sketch.frame((x(start) + 1.5, y(len) + 1.5), size, Stroke::solid(PALE, 1.2));
        }
        sketch.text((middle(start), TOP + 2.0 * CELL + 16.0), 11.5, Anchor::Middle, FAINT, &(start + 1).to_string());
    }
    for len in [2, 3] {
        sketch.text((LEFT - 8.0, y(len) + 23.0), 12.0, Anchor::End, INK, &format!("*λ* = {len}"));
    }
    sketch.text((middle(STARTS / 2), TOP + 2.0 * CELL + 38.0), 12.0, Anchor::Middle, FAINT, "first token of the span");
    let window = Stroke { colour: TRUE, width: 1.4, dash: &[5.0, 4.0] };
    sketch.frame((x(AT) - 2.0, TOP - 2.0), (CELL * SPAN as f64 + 4.0, 2.0 * CELL + 4.0), window);
    for &tap in taps {
        let (role, start, len) = tap;
        // The split 3-2 is shown in full color; the other one is pale.
        let shown = [(0, 0, 3), (1, 3, 2)].contains(&tap);
        let (fill, ink) = if shown { (BINARY, "#ffffff") } else { ("#fbd9bd", INK) };
        sketch.bar((x(AT + start) + 4.0, y(len) + 4.0), (CELL - 8.0, CELL - 8.0), fill);
        sketch.text((middle(AT + start), y(len) + 24.0), 14.0, Anchor::Middle, ink, &format!("*b*_{}", role + 1));
        if shown {
            sketch.arrow((middle(AT + start), y(len) + 2.0), (middle(AT + start), 47.0), Stroke::solid(BINARY, 1.4));
        }
    }
    sketch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_of_the_paper_has_its_two_taps() {
        // The split 3-2 in a 2 x 5 filter: b1 at the longer span of the first start, b2 at the shorter one of the
        // fourth.
        assert_eq!(flat(1, &[(0, 0, 3), (1, 3, 2)]), [(0, 1), (1, 6)]);
        assert_eq!(of_paper(1, SPAN), [(0, 0), (0, 1), (1, 5), (1, 6)]);
        assert_eq!(of_paper(1, 9), [(2, 1), (3, 7), (4, 13)]);
    }
}
