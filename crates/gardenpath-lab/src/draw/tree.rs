//! Draws trees for papers and slides: side by side, one color per class.

use gardenpath::{Grammar, Tree};
use gardenpath_plot::{Anchor, Drawing, Stroke, plain};
use std::collections::HashMap;

/// The color-blind safe palette of Okabe and Ito, dark enough for lines on white.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// Sizes in user units, which are pixels at the natural size.
const FONT: f64 = 13.0;
const LEVEL: f64 = 54.0;
const MARGIN: f64 = 24.0;
const CAPTION: f64 = 30.0;
const GAP: f64 = 40.0;
/// Wider drawings continue in another row.
const MAX_WIDTH: f64 = 1400.0;

/// A tree with the positions of its nodes.
struct Placed<'t> {
    tree: &'t Tree,
    caption: &'t str,
    colour: &'static str,
    /// `middles[level][node]`, from the left edge of the tree.
    middles: Vec<Vec<f64>>,
    width: f64,
    x: f64,
    y: f64,
}

/// Draws the trees with their captions.
pub fn draw(grammar: &Grammar, trees: &[(&Tree, String)]) -> Drawing {
    let mut colours: HashMap<u8, &str> = HashMap::new();
    let mut placed: Vec<Placed> = Vec::new();
    let (mut x, mut y, mut right) = (MARGIN, MARGIN, MARGIN);
    for (tree, caption) in trees {
        let number = colours.len();
        let colour = *colours.entry(tree.root()).or_insert(COLOURS[number % COLOURS.len()]);
        let middles = middles(grammar, tree);
        let tokens = &middles[tree.depth()];
        let column = column_width(grammar, tree);
        let width = (tokens[tokens.len() - 1] + column / 2.0).max(text_width(caption));
        if x > MARGIN && x + width > MAX_WIDTH - MARGIN {
            x = MARGIN;
            y += tree_height(tree, caption) + GAP;
        }
        placed.push(Placed { tree, caption, colour, middles, width, x, y });
        x += width + GAP;
        right = right.max(x - GAP);
    }
    let bottom = placed.last().map_or(MARGIN, |last| last.y + tree_height(last.tree, last.caption));
    let (width, height) = (right + MARGIN, bottom + MARGIN);
    let mut drawing = Drawing::new(width.round(), height.round());
    placed.iter().for_each(|tree| tree.draw(grammar, &mut drawing));
    drawing
}

fn tree_height(tree: &Tree, caption: &str) -> f64 {
    caption_height(caption) + LEVEL * tree.depth() as f64 + FONT
}

fn caption_height(caption: &str) -> f64 {
    if caption.is_empty() { 0.0 } else { CAPTION }
}

/// A generous estimate, since no font metrics are available.
fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * FONT * 0.6
}

/// The distance between tokens: wide enough for the tokens, and for a label of the level above over two of them, or
/// over one if it is an only child.
fn column_width(grammar: &Grammar, tree: &Tree) -> f64 {
    let widest = |level: usize| {
        let widths = tree.level(level).iter().map(|&symbol| text_width(&grammar.name(level, symbol)));
        widths.fold(0.0, f64::max)
    };
    let narrowest = |level: usize| tree.nodes(level).iter().map(|node| node.span.len).min().unwrap_or(1);
    let tokens = |level: usize| narrowest(level).min(1 << (tree.depth() - level));
    let above = (0..tree.depth()).map(|level| (widest(level) + 10.0) / tokens(level) as f64);
    above.fold(widest(tree.depth()) + 8.0, f64::max)
}

fn middles(grammar: &Grammar, tree: &Tree) -> Vec<Vec<f64>> {
    let column = column_width(grammar, tree);
    let mut levels = vec![(0..tree.sentence().len()).map(|k| (k as f64 + 0.5) * column).collect::<Vec<f64>>()];
    for level in (0..tree.depth()).rev() {
        let below = levels.last().expect("there are tokens");
        let mut next = 0;
        let middles = tree.rules(level).map(|(_, children)| {
            let (first, last) = (below[next], below[next + children.len() - 1]);
            next += children.len();
            (first + last) / 2.0
        });
        let middles = middles.collect();
        levels.push(middles);
    }
    levels.reverse();
    levels
}

impl Placed<'_> {
    fn draw(&self, grammar: &Grammar, drawing: &mut Drawing) {
        let Placed { tree, caption, colour, middles, width, x, y } = self;
        drawing.bold((x + width / 2.0, y + FONT), FONT, Anchor::Middle, colour, &plain(caption));
        let tokens = &middles[tree.depth()];
        let left = x + (width - (tokens[0] + tokens[tokens.len() - 1])) / 2.0;
        let height = |level: usize| y + caption_height(caption) + LEVEL * level as f64 + FONT / 2.0;
        for level in 0..tree.depth() {
            let mut next = 0;
            for ((_, children), parent) in tree.rules(level).zip(&middles[level]) {
                for child in &middles[level + 1][next..next + children.len()] {
                    let (top, bottom) = (height(level) + FONT * 0.75, height(level + 1) - FONT * 0.75);
                    drawing.line((left + parent, top), (left + child, bottom), Stroke::solid(colour, 1.6));
                }
                next += children.len();
            }
        }
        for (level, middles) in middles.iter().enumerate() {
            let ink = if level == tree.depth() { "#333333" } else { colour };
            for (&symbol, middle) in tree.level(level).iter().zip(middles) {
                let spot = (left + middle, height(level) + FONT * 0.35);
                drawing.text(spot, FONT, Anchor::Middle, ink, &plain(&grammar.name(level, symbol)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gardenpath::{Ensemble, Seed};
    use std::{env, fs};

    /// The drawing in the README. `UPDATE_GOLDEN=1` redraws it.
    #[test]
    fn a_sentence_with_three_trees() {
        let grammar = Ensemble::new(4, 2).sample(Seed::new(1)).unwrap();
        let trees = [
            "(A0_0 (A1_0 1 0) (A1_3 3 2) (A1_2 2 3 0))",
            "(A0_1 (A1_3 1 0 3) (A1_0 2 2) (A1_3 3 0))",
            "(A0_2 (A1_0 1 0) (A1_3 3 2 2) (A1_3 3 0))",
        ]
        .map(|text| Tree::from_text(text, &grammar).unwrap());
        let caption = |tree: &Tree| format!("class {} · 33.33% of the posterior", grammar.name(0, tree.root()));
        let svg = draw(&grammar, &trees.each_ref().map(|tree| (tree, caption(tree)))).svg();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/garden-path.svg");
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(path, &svg).unwrap();
        }
        assert!(fs::read_to_string(path).unwrap().replace('\r', "") == svg, "{path} differs");
    }
}
