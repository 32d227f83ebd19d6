//! The twelve trees of depth 2.

use super::sketch::{FAINT, INK, TRUE};
use crate::experiment::plan::Origin;
use crate::report::{Finding, Page, Picture};
use anyhow::Result;
use gardenpath::theory::lengths::length_distribution;
use gardenpath::theory::trees::{Topology, two_level_topologies};
use gardenpath::{Arities, PerArity, Span};
use gardenpath_plot::{Anchor, Drawing, Figure, Spot, Stroke};

pub(in crate::report) const TOPOLOGIES: Picture = Picture {
    name: "trees_L_2",
    title: "The twelve trees of depth 2",
    paper: "There are twelve tree topologies at depth 2; each has probability 1/2 to the power of its number of \
            branchings, so among the two with six tokens, 3-3 is twice as probable as 2-2-2.",
    draw,
};

/// The distance between neighboring tokens, and the height of a tree with its probability.
const TOKEN: f64 = 11.0;
const ROW: f64 = 92.0;
const HEAD: f64 = 34.0;
const GAP: f64 = 14.0;

fn draw() -> Result<Page> {
    let even = PerArity::paper(0.5);
    let topologies: Vec<Topology> = two_level_topologies(Arities::PAPER).collect();
    let law = length_distribution(2, even)?;
    let of_length = |len: usize| topologies.iter().filter(move |topology| topology.sentence_len() == len);
    let probability = |len: usize| of_length(len).map(|topology| topology.probability(even)).sum::<Result<f64, _>>();
    let lengths = law.min_len()..=law.max_len();
    let sums = lengths.clone().map(probability).collect::<Result<Vec<f64>, _>>()?;
    let total: f64 = sums.iter().sum();
    let counts: Vec<usize> = lengths.clone().map(|len| of_length(len).count()).collect();
    let named = |arities: &[usize]| topologies.iter().find(|topology| topology.child_arities() == arities);
    let odds = match (named(&[3, 3]), named(&[2, 2, 2])) {
        (Some(two), Some(three)) => two.probability(even)? / three.probability(even)?,
        _ => f64::NAN,
    };
    Ok(Page {
        figure: Figure {
            width: Some(462.0),
            panel_height: Some(238.0),
            ..Figure::of(drawing(&topologies, lengths.clone().zip(&sums).map(|(len, &sum)| (len, sum)))?)
        },
        caption: "All trees of depth 2 by their number d of tokens, each with its probability if two and three \
                  children are equally likely; the probability of each length is at the top."
            .into(),
        findings: vec![
            Finding::check(
                Origin::PaperFormula,
                "There are twelve topologies, with two permutations at d = 5 and three at d = 7 and 8",
                format!("{} topologies, {counts:?} for d = 4 to 9", topologies.len()),
                topologies.len() == 12 && counts == [1, 2, 2, 3, 3, 1],
            ),
            Finding::check(
                Origin::PaperFormula,
                "Their probabilities, 1/2 for each branching, sum to 1 and give the distribution of lengths",
                format!(
                    "sum {total}; {} for d = 4 to 9",
                    sums.iter().map(|&sum| sixteenths(sum)).collect::<Vec<_>>().join(", ")
                ),
                total == 1.0 && lengths.zip(&sums).all(|(len, &sum)| law.probability(len) == sum),
            ),
            Finding::check(
                Origin::PaperFormula,
                "Of the trees with six tokens, 3-3 is twice as probable as 2-2-2",
                format!("ratio {odds} (one branching less)"),
                odds == 2.0,
            ),
        ],
    })
}

/// One column per length, with its trees stacked.
fn drawing(topologies: &[Topology], lengths: impl Iterator<Item = (usize, f64)>) -> Result<Drawing> {
    let lengths: Vec<(usize, f64)> = lengths.collect();
    let column = |len: usize| TOKEN * len as f64 + 2.0 * GAP;
    let width = lengths.iter().map(|&(len, _)| column(len)).sum();
    let mut sketch = Drawing::new(width, HEAD + 3.0 * ROW);
    let mut left = 0.0;
    for (len, probability) in lengths {
        let middle = left + column(len) / 2.0;
        sketch.text((middle, 11.0), 12.0, Anchor::Middle, INK, &format!("*d* = {len}"));
        let share = format!("*P*(*d*) = {}", sixteenths(probability));
        sketch.text((middle, 26.0), 11.0, Anchor::Middle, FAINT, &share);
        if left > 0.0 {
            sketch.line((left, 2.0), (left, HEAD + 3.0 * ROW - 4.0), Stroke::solid("#dddddd", 0.8));
        }
        let same = topologies.iter().filter(|topology| topology.sentence_len() == len);
        for (row, topology) in same.enumerate() {
            let top = HEAD + 12.0 + ROW * row as f64;
            draw_tree(&mut sketch, topology, (left + GAP, top));
            let probability = sixteenths(topology.probability(PerArity::paper(0.5))?);
            sketch.text((middle, top + 66.0), 11.0, Anchor::Middle, INK, &probability);
        }
        left += column(len);
    }
    Ok(sketch)
}

/// Draws a tree with its upper left corner at the given spot.
fn draw_tree(sketch: &mut Drawing, topology: &Topology, (left, top): Spot) {
    let place = |token: f64| left + TOKEN * (token + 0.5);
    let middle_of = |block: &Span| place(block.start as f64 + (block.len - 1) as f64 / 2.0);
    let blocks = topology.blocks();
    let children: Vec<Spot> = blocks.iter().map(|block| (middle_of(block), top + 24.0)).collect();
    let root = ((children[0].0 + children[children.len() - 1].0) / 2.0, top);
    for (&child, block) in children.iter().zip(&blocks) {
        sketch.line(root, child, Stroke::solid(TRUE, 1.4));
        for token in block.range() {
            let token = (place(token as f64), top + 48.0);
            sketch.line(child, token, Stroke::solid(TRUE, 1.4));
            sketch.disc(token, 2.6, INK);
        }
    }
    children.into_iter().chain([root]).for_each(|node| sketch.disc(node, 3.2, TRUE));
}

/// A probability as a reduced fraction; all that occur are multiples of 1/16.
fn sixteenths(probability: f64) -> String {
    let (mut numerator, mut denominator) = ((16.0 * probability).round() as u32, 16);
    while numerator % 2 == 0 && denominator > 1 {
        (numerator, denominator) = (numerator / 2, denominator / 2);
    }
    if denominator == 1 { numerator.to_string() } else { format!("{numerator}/{denominator}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_reduced() {
        assert_eq!([0.25, 0.1875, 0.0625, 1.0].map(sixteenths), ["1/4", "3/16", "1/16", "1"]);
    }

    #[test]
    fn probabilities_by_hand() {
        let page = (TOPOLOGIES.draw)().unwrap();
        assert!(page.findings[1].measured[0].contains("sum 1; 1/8, 1/4, 3/16, 3/16, 3/16, 1/16"));
    }

    #[test]
    fn every_node_and_token_is_drawn() {
        let topologies: Vec<Topology> = two_level_topologies(Arities::PAPER).collect();
        let drawn = drawing(&topologies, (4..=9).map(|len| (len, 0.0))).unwrap();
        let nodes: usize = topologies.iter().map(|t| 1 + t.root_arity() + t.sentence_len()).sum();
        assert_eq!(drawn.svg().matches("<circle").count(), nodes);
    }
}
