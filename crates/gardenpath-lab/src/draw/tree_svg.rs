//! Trees as an SVG picture for papers and slides: side by side, one colour per class.

use crate::figure::escaped;
use gardenpath::{Grammar, Tree};
use std::collections::HashMap;
use std::fmt::Write;

/// The colours of Okabe and Ito, which colour-blind people can tell apart; dark enough for lines on white.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

/// Sizes in user units, which are pixels at the natural size.
const FONT: f64 = 13.0;
const LEVEL: f64 = 54.0;
const MARGIN: f64 = 24.0;
const CAPTION: f64 = 30.0;
const GAP: f64 = 40.0;
/// Wider pictures continue in another row.
const MAX_WIDTH: f64 = 1400.0;

/// A tree with the places of its nodes.
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
pub fn draw(grammar: &Grammar, trees: &[(&Tree, String)]) -> String {
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
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{FONT}\" \
         text-anchor=\"middle\">"
    );
    let _ = writeln!(svg, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>");
    placed.iter().for_each(|tree| tree.write(grammar, &mut svg));
    svg + "</svg>\n"
}

fn tree_height(tree: &Tree, caption: &str) -> f64 {
    caption_height(caption) + LEVEL * tree.depth() as f64 + FONT
}

fn caption_height(caption: &str) -> f64 {
    if caption.is_empty() { 0.0 } else { CAPTION }
}

/// An estimate that errs on the wide side, since no font is asked.
fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * FONT * 0.6
}

/// The distance of two tokens: wide enough for the tokens, and for a label of the level above over two of them.
fn column_width(grammar: &Grammar, tree: &Tree) -> f64 {
    let widest = |level: usize| {
        let widths = tree.level(level).iter().map(|&symbol| text_width(&grammar.name(level, symbol)));
        widths.fold(0.0, f64::max)
    };
    let above = (0..tree.depth()).map(|level| (widest(level) + 10.0) / (1 << (tree.depth() - level)) as f64);
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
    fn write(&self, grammar: &Grammar, svg: &mut String) {
        let Placed { tree, caption, colour, middles, width, x, y } = self;
        let _ = writeln!(svg, "<g transform=\"translate({x:.1} {y:.1})\">");
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{FONT}\" fill=\"{colour}\" font-weight=\"bold\">{}</text>",
            width / 2.0,
            escaped(caption)
        );
        let tokens = &middles[tree.depth()];
        let shift = (width - (tokens[0] + tokens[tokens.len() - 1])) / 2.0;
        let height = |level: usize| caption_height(caption) + LEVEL * level as f64 + FONT / 2.0;
        let _ = writeln!(svg, "<g transform=\"translate({shift:.1} 0)\">");
        let _ = writeln!(svg, "<g stroke=\"{colour}\" stroke-width=\"1.6\" stroke-linecap=\"round\" fill=\"none\">");
        for level in 0..tree.depth() {
            let mut next = 0;
            for ((_, children), parent) in tree.rules(level).zip(&middles[level]) {
                for child in &middles[level + 1][next..next + children.len()] {
                    let (top, bottom) = (height(level) + FONT * 0.75, height(level + 1) - FONT * 0.75);
                    let _ = writeln!(svg, "<path d=\"M{parent:.1} {top:.1}L{child:.1} {bottom:.1}\"/>");
                }
                next += children.len();
            }
        }
        let _ = writeln!(svg, "</g>");
        for (level, middles) in middles.iter().enumerate() {
            let fill = if level == tree.depth() { "#333333" } else { colour };
            for (&symbol, middle) in tree.level(level).iter().zip(middles) {
                let baseline = height(level) + FONT * 0.35;
                let name = escaped(&grammar.name(level, symbol));
                let _ = writeln!(svg, "<text x=\"{middle:.1}\" y=\"{baseline:.1}\" fill=\"{fill}\">{name}</text>");
            }
        }
        let _ = writeln!(svg, "</g>\n</g>");
    }
}
