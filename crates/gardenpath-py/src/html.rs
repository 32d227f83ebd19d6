//! The HTML representation of a grammar for notebooks.

use gardenpath::{Arities, Grammar, Layer, Rule};
use gardenpath_lab::by_arity::adjective;
use gardenpath_plot::escaped;
use std::fmt::Write;

/// Levels with at most this many rules are listed in full; for others examples are shown.
const FEW_RULES: usize = 12;

/// The number of example rules.
const EXAMPLES: usize = 3;

/// A summary of the grammar and a table of its levels.
pub fn grammar(grammar: &Grammar) -> String {
    let (depth, vocab, classes) = (grammar.depth(), grammar.vocab(), grammar.classes());
    let lengths = grammar.shape().lengths();
    let mut arities: Arities = grammar.layers().iter().flat_map(|layer| layer.arities().iter()).collect();
    if arities.iter().all(|arity| Arities::PAPER.contains(arity)) {
        arities = Arities::PAPER;
    }
    let headings = arities.iter().map(|arity| format!("{} rules", adjective(arity)));
    // The probability of the longest rules follows from the others.
    let shown = || arities.iter().take_while(|arity| *arity < arities.most());
    let headings = headings.chain(shown().map(|arity| format!("P({})", adjective(arity))));
    let headings: String = headings.map(|heading| format!("<th>{heading}</th>")).collect();
    let mut html = format!(
        "<div><b>Grammar</b> of depth {depth}: {classes} classes, {vocab} tokens, sentences of {} to {} tokens, {:.2} on average\
         <table><thead><tr><th>level</th><th>symbols</th>{headings}<th style=\"text-align:left\">rules</th></tr></thead><tbody>",
        lengths.start(),
        lengths.end(),
        grammar.mean_length()
    );
    for (level, layer) in grammar.layers().iter().enumerate() {
        let rules = |arity: usize| layer.rules().iter().filter(move |rule| rule.children.len() == arity);
        let counts: String = arities.iter().map(|arity| format!("<td>{}</td>", rules(arity).count())).collect();
        let mass = |arity: usize| rules(arity).map(|rule| rule.probability).sum::<f64>() / layer.parents() as f64;
        let masses: String = shown().map(|arity| format!("<td>{:.2}</td>", mass(arity))).collect();
        let (parents, examples) = (layer.parents(), examples(grammar, level, layer));
        let _ = write!(
            html,
            "<tr><td>{level}</td><td>{parents}</td>{counts}{masses}<td style=\"text-align:left\">{examples}</td></tr>"
        );
    }
    html + "</tbody></table></div>"
}

/// All rules of a level if they are few, otherwise the first ones, and one of the longest.
fn examples(grammar: &Grammar, level: usize, layer: &Layer) -> String {
    let rules = layer.rules();
    let count = if rules.len() <= FEW_RULES { FEW_RULES } else { EXAMPLES };
    let longest =
        rules.iter().position(|rule| rule.children.len() == layer.arities().most()).filter(|&rule| rule >= count);
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
