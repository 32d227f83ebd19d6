//! The possible relations of adjacent tokens in the tree, and their shares of the covariance with the root.

use super::sketch::{FAINT, INK, PALE, TRUE};
use crate::experiment::plan::Origin;
use crate::report::{Finding, Page, Picture};
use anyhow::Result;
use gardenpath::proof::{Diagram, diagrams};
use gardenpath::{Ensemble, ExpectedMoments, Seed, Topology};
use gardenpath_plot::{Anchor, Drawing, Figure, Spot, Stroke};
use std::ops::Range;

pub(in crate::report) const DIAGRAMS: Picture = Picture {
    name: "covariance-decomposition",
    title: "Seven local topologies",
    paper: "Adjacent tokens are siblings or lie on both sides of a boundary, and their covariance with the root is the \
            sum of these cases. For large vocabularies, pairs are dominated by binary siblings, while ternary siblings \
            compete with pairs of siblings next to any third token.",
    draw,
};

const DEPTH: usize = 2;
const FRACTION: f64 = 0.25;
const VOCABULARY: usize = 32;
/// The mean number of children.
const BRANCHING: f64 = 2.5;

fn draw() -> Result<Page> {
    let grammar = Ensemble::new(VOCABULARY, DEPTH).fraction(FRACTION).sample(Seed::new(1))?;
    let weights = diagrams(&grammar, DEPTH, &ExpectedMoments::new(&grammar)?)?;
    let probabilities: Vec<String> = weights.iter().map(|diagram| format!("{:.4}", diagram.probability)).collect();
    let off = weights.iter().zip(expected()).map(|(found, p)| (found.probability - p).abs()).fold(0.0, f64::max);
    Ok(Page {
        figure: Figure { width: Some(504.0), panel_height: Some(118.0), ..Figure::of(drawing(&weights)) },
        caption: format!(
            "How two adjacent tokens (i to iv) and three (v to vii) can be related in the tree; these tokens \
             are black. Below: the probability p of each case, and its share of the covariance of pairs, and of triples, \
             with the class, in a grammar with {VOCABULARY} symbols per level. The figure 'topologies' \
             shows these shares as the vocabulary grows."
        ),
        findings: vec![Finding::check(
            Origin::PaperFormula,
            "The cases have the probabilities given by the tree: p_bin = p_ter if two and three children are equally likely",
            format!("{} for i to vii; off by at most {off:.0e}", probabilities.join(", ")),
            off < 1e-9,
        )],
    })
}

/// The probabilities by counting nodes above the tokens; there is one boundary fewer than nodes.
fn expected() -> [f64; 7] {
    let nodes = BRANCHING.powi(DEPTH as i32 - 1);
    let (pairs, triples) = (BRANCHING * nodes - 1.0, BRANCHING * nodes - 2.0);
    let (half, borders) = (nodes / 2.0, nodes - 1.0);
    [half / pairs, half / pairs, half / pairs, borders / pairs, half / triples, borders / triples, borders / triples]
}

/// The nodes above the tokens: the number of children of each, and which of them are marked.
fn nodes(topology: Topology) -> Vec<(usize, Range<usize>)> {
    match topology {
        Topology::BinarySiblings => vec![(2, 0..2)],
        Topology::FirstTwo => vec![(3, 0..2)],
        Topology::LastTwo => vec![(3, 1..3)],
        Topology::Across => vec![(2, 1..2), (2, 0..1)],
        Topology::TernarySiblings => vec![(3, 0..3)],
        Topology::LeftTwo => vec![(2, 0..2), (2, 0..1)],
        Topology::RightTwo => vec![(2, 1..2), (2, 0..2)],
    }
}

fn drawing(weights: &[Diagram]) -> Drawing {
    const COLUMN: f64 = 94.0;
    // Pairs and triples are two separate sums, with a gap between them.
    let middle = |k: usize| COLUMN * (k as f64 + 0.5) + if k < 4 { 0.0 } else { 12.0 };
    let mut sketch = Drawing::new(7.0 * COLUMN + 12.0, 152.0);
    for (k, Diagram { topology, probability, share, .. }) in weights.iter().enumerate() {
        draw_tree(&mut sketch, *topology, (middle(k), 12.0));
        let name = format!("{})", topology.numeral());
        sketch.text((middle(k) - 40.0, 12.0), 12.0, Anchor::Start, INK, &name);
        sketch.text((middle(k), 112.0), 11.5, Anchor::Middle, FAINT, &format!("*p* = {probability:.3}"));
        sketch.bar((middle(k) - 36.0, 120.0), (72.0, 9.0), PALE);
        sketch.bar((middle(k) - 36.0, 120.0), (72.0 * share.clamp(0.02, 1.0), 9.0), TRUE);
        sketch.text((middle(k), 145.0), 12.0, Anchor::Middle, INK, &format!("{:.1}%", 100.0 * share));
    }
    sketch.line((4.0 * COLUMN + 6.0, 4.0), (4.0 * COLUMN + 6.0, 148.0), Stroke::solid(PALE, 1.0));
    sketch
}

/// The root, the paths to the nodes above the tokens, and the tokens; unmarked ones are pale.
fn draw_tree(sketch: &mut Drawing, topology: Topology, root: Spot) {
    const TOKEN: f64 = 17.0;
    let nodes = nodes(topology);
    let count: usize = nodes.iter().map(|(children, _)| children).sum();
    let mut left = root.0 - TOKEN * (count - 1) as f64 / 2.0;
    for (children, meant) in nodes {
        let node = (left + TOKEN * (children - 1) as f64 / 2.0, root.1 + 44.0);
        sketch.line(root, node, Stroke { colour: TRUE, width: 1.4, dash: &[1.0, 4.0] });
        for child in 0..children {
            let token = (left + TOKEN * child as f64, root.1 + 78.0);
            let (ink, line) = if meant.contains(&child) { (INK, TRUE) } else { (PALE, PALE) };
            sketch.line(node, token, Stroke::solid(line, 1.6));
            sketch.disc(token, 4.2, ink);
        }
        sketch.disc(node, 3.6, TRUE);
        left += TOKEN * children as f64;
    }
    sketch.disc(root, 3.6, TRUE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_tokens_are_meant_as_the_topology_is_of() {
        for topology in Topology::PAIRS.into_iter().chain(Topology::TRIPLES) {
            let nodes = nodes(topology);
            assert_eq!(nodes.iter().map(|(_, meant)| meant.len()).sum::<usize>(), topology.arity());
            // Adjacent across a boundary: the last child of the left node and the first of the right one.
            let borders = nodes.windows(2).filter(|pair| pair[0].1.end == pair[0].0 && pair[1].1.start == 0);
            assert_eq!(borders.count(), nodes.len() - 1);
        }
    }
}
