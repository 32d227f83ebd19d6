//! `gardenpath parse --sentence`: one sentence in detail, to see its ambiguity.

use super::ranked::{ScoredTree, evidence, ranked};
use crate::commands::Answer;
use crate::commands::sentences::read_sentence;
use crate::terminal::tree as tree_text;
use anyhow::{Result, bail};
use gardenpath::{BestLog, Chart, Count, Grammar, Inside, Parser, Semiring, Symbol, Tree};
use gardenpath_lab::draw::table::{Table, short};
use gardenpath_lab::draw::tree;
use gardenpath_lab::files::{Names, atomic};
use serde::Serialize;
use std::path::Path;

/// Everything about a sentence.
#[derive(Serialize)]
struct Report {
    tokens: Vec<Symbol>,
    len: usize,
    /// `ln P(sentence)`.
    logprob_sentence: Option<f64>,
    /// `ln P(sentence | root)`.
    logprob: Vec<Option<f64>>,
    posterior: Vec<f64>,
    entropy: f64,
    root: Option<Symbol>,
    /// The exact number of trees of each root, in decimal.
    #[serde(rename = "trees")]
    counts: Vec<String>,
    /// The exact number of all trees, in decimal.
    tree_count: String,
    /// The most probable trees.
    #[serde(rename = "parses")]
    trees: Vec<ScoredTree>,
    /// The names of the sentence's tokens and of all classes, if the grammar has names.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_names: Option<Vec<String>>,
}

/// Trees of longer sentences do not fit into a terminal and are written with brackets.
const DRAWN_TOKENS: usize = 60;

/// Parses the sentence and draws its trees.
pub fn run(grammar: &Grammar, sentence: &str, limit: usize, svg: Option<&Path>, answer: &mut Answer) -> Result<()> {
    if let Some(path) = svg {
        atomic::check_name(path, "svg")?;
    }
    let tokens = read_sentence(grammar, sentence)?;
    let report = report(grammar, tokens, limit)?;
    if let Some(path) = svg {
        write_svg(grammar, &report, path)?;
    }
    if answer.json { answer.json_line(&report) } else { answer.text(&report.to_text(grammar)) }
}

fn report(grammar: &Grammar, tokens: Vec<Symbol>, limit: usize) -> Result<Report> {
    let posterior = Inside::new(grammar).posterior(&tokens)?;
    let counts = Chart::<Count>::parse(grammar, &tokens)?.roots();
    let mut total = Count::zero();
    counts.iter().for_each(|count| total.add(count.clone()));
    let roots = || (0..grammar.classes()).map(|root| root as Symbol);
    let logprob: Vec<Option<f64>> = roots().map(|root| posterior.log_likelihood(root)).collect();
    let logprob_sentence = evidence(&posterior, grammar.prior());
    let optimizer = Parser::<BestLog>::new(grammar);
    let trees = match logprob_sentence {
        Some(evidence) => ranked(&optimizer, &optimizer.parse(&tokens)?, evidence, limit),
        None => Vec::new(),
    };
    let names = Names::of(grammar);
    let word = |names: Vec<String>| tokens.iter().map(|&token| names[usize::from(token)].clone()).collect();
    Ok(Report {
        words: names.tokens.map(word),
        root_names: names.roots,
        len: tokens.len(),
        tokens,
        logprob_sentence,
        logprob,
        posterior: roots().map(|root| posterior.probability(root)).collect(),
        entropy: posterior.entropy(),
        root: posterior.root(),
        counts: counts.iter().map(|count| count.to_string()).collect(),
        tree_count: total.to_string(),
        trees,
    })
}

fn write_svg(grammar: &Grammar, report: &Report, path: &Path) -> Result<()> {
    if report.trees.is_empty() {
        bail!("{}: no tree to draw", path.display());
    }
    let trees: Vec<(&Tree, String)> =
        report.trees.iter().enumerate().map(|(k, scored)| (&scored.tree, report.caption(grammar, k))).collect();
    atomic::write(path, tree::draw(grammar, &trees).svg().as_bytes())
}

impl Report {
    fn caption(&self, grammar: &Grammar, k: usize) -> String {
        let ScoredTree { root, share, .. } = &self.trees[k];
        format!("class {} · {}% of the posterior", grammar.name(0, *root), short(100.0 * share))
    }

    fn to_text(&self, grammar: &Grammar) -> String {
        let names: Vec<_> = self.tokens.iter().map(|&token| grammar.name(grammar.depth(), token)).collect();
        let mut text = format!("sentence     {}   ({} tokens)\n", names.join(" "), self.len);
        let Some(logprob) = self.logprob_sentence else {
            let lengths = grammar.shape().lengths();
            text += "P(sentence)  0: no root derives it\n";
            if !lengths.contains(&self.len) {
                text += &format!("sentences of this grammar have {} to {} tokens\n", lengths.start(), lengths.end());
            }
            return text;
        };
        // Below the range of `f64`, only the logarithm is shown.
        let probability = if logprob > -690.0 { format!("{:.4e}, ", logprob.exp()) } else { String::new() };
        text += &format!("P(sentence)  {probability}ln {}\n", short(logprob));
        text += &format!("trees        {}\n", self.tree_count);
        text += &format!("entropy      {} nats\n\n", short(self.entropy));
        let mut table = Table::new(["class", "posterior", "ln P(sentence | class)", "trees"]);
        let mut roots: Vec<usize> = (0..self.posterior.len()).filter(|&root| self.counts[root] != "0").collect();
        roots.sort_by(|&a, &b| self.posterior[b].total_cmp(&self.posterior[a]));
        for root in roots {
            table.row([
                grammar.name(0, root as Symbol).into_owned(),
                format!("{}%", short(100.0 * self.posterior[root])),
                self.logprob[root].map_or("–".to_owned(), short),
                self.counts[root].clone(),
            ]);
        }
        text += &table.to_string();
        for (k, scored) in self.trees.iter().enumerate() {
            text += &format!("\n{}. {}\n\n", k + 1, self.caption(grammar, k));
            if self.len <= DRAWN_TOKENS {
                text += &tree_text::draw(grammar, &scored.tree);
            } else {
                text += &format!("{}\n", scored.text);
            }
        }
        if self.trees.len().to_string() != self.tree_count {
            text += &format!("\n{} of {} trees are drawn\n", self.trees.len(), self.tree_count);
        }
        text
    }
}
