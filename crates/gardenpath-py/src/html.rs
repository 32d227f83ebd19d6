//! A grammar as a notebook shows it.

use gardenpath::{Grammar, Layer, Rule};
use gardenpath_plot::escaped;
use std::fmt::Write;

/// Levels with no more rules than this are written out; of others there are examples.
const FEW_RULES: usize = 12;

/// Rules that are written as examples.
const EXAMPLES: usize = 3;

/// A line about the grammar and a table of its levels.
pub fn grammar(grammar: &Grammar) -> String {
    let (depth, vocab, classes) = (grammar.depth(), grammar.vocab(), grammar.classes());
    let lengths = grammar.shape().lengths();
    let mut html = format!(
        "<div><b>Grammar</b> of depth {depth}: {classes} classes, {vocab} tokens, sentences of {} to {} tokens, {:.2} on average\
         <table><thead><tr><th>level</th><th>symbols</th><th>binary rules</th><th>ternary rules</th>\
         <th>P(binary)</th><th style=\"text-align:left\">rules</th></tr></thead><tbody>",
        lengths.start(),
        lengths.end(),
        grammar.mean_length()
    );
    for (level, layer) in grammar.layers().iter().enumerate() {
        let pairs = || layer.rules().iter().filter(|rule| rule.children.len() == 2);
        let mass: f64 = pairs().map(|rule| rule.probability).sum::<f64>() / layer.parents() as f64;
        let (binary, all) = (pairs().count(), layer.rules().len());
        let _ = write!(
            html,
            "<tr><td>{level}</td><td>{}</td><td>{binary}</td><td>{}</td><td>{mass:.2}</td>\
             <td style=\"text-align:left\">{}</td></tr>",
            layer.parents(),
            all - binary,
            examples(grammar, level, layer)
        );
    }
    html + "</tbody></table></div>"
}

/// All rules of a level if they are few, otherwise the first ones, of both arities if there are.
fn examples(grammar: &Grammar, level: usize, layer: &Layer) -> String {
    let rules = layer.rules();
    let count = if rules.len() <= FEW_RULES { FEW_RULES } else { EXAMPLES };
    let longest = rules.iter().position(|rule| rule.children.len() == 3).filter(|&rule| rule >= count);
    let chosen = rules.iter().take(count).chain(longest.map(|rule| &rules[rule]));
    let shown = |rule: &Rule| {
        let children: Vec<String> =
            rule.children.iter().map(|child| escaped(&grammar.name(level + 1, child))).collect();
        let parent = escaped(&grammar.name(level, rule.parent));
        format!("{parent} → {} <span style=\"color:#888\">[{:.3}]</span>", children.join(" "), rule.probability)
    };
    let text = chosen.map(shown).collect::<Vec<_>>().join(", &nbsp; ");
    if rules.len() <= FEW_RULES { text } else { text + ", …" }
}
