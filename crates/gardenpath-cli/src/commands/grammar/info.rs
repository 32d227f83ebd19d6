//! `gardenpath grammar info`: what a grammar is like.

use crate::commands::Answer;
use anyhow::Result;
use gardenpath::{Children, Corpus, Estimate, Grammar, Inside, Layer, Seed};
use gardenpath_lab::draw::table::{Table, short};
use serde::Serialize;
use std::collections::HashMap;

/// Everything that is said about a grammar.
#[derive(Serialize)]
struct Description {
    depth: usize,
    classes: usize,
    vocab: usize,
    sizes: Vec<usize>,
    levels: Vec<LayerDescription>,
    length: Lengths,
    fingerprint: String,
    remarks: Vec<String>,
    class_entropy: Option<Entropy>,
}

#[derive(Serialize)]
struct LayerDescription {
    /// Of the parents.
    level: usize,
    binary_rules: usize,
    ternary_rules: usize,
    /// The shares of all pairs and of all triples that are grammatical.
    binary_fraction: f64,
    ternary_fraction: f64,
    /// The smallest and the largest number of children.
    arities: (usize, usize),
    /// Right-hand sides with more than one parent.
    shared_tuples: usize,
    /// Ternary rules whose first or last two symbols are a binary rule.
    overlapping_rules: usize,
}

#[derive(Serialize)]
struct Lengths {
    min: usize,
    mean: f64,
    max: usize,
}

/// The class entropy of typical sentences, in nats.
#[derive(Serialize)]
struct Entropy {
    mean: f64,
    stderr: f64,
    normalized: f64,
    sentences: usize,
}

/// Writes the description.
pub fn run(grammar: &Grammar, answer: &mut Answer) -> Result<()> {
    let shape = grammar.shape();
    let description = Description {
        depth: grammar.depth(),
        classes: grammar.classes(),
        vocab: grammar.vocab(),
        sizes: grammar.sizes().to_vec(),
        levels: grammar.layers().iter().enumerate().map(describe_layer).collect(),
        length: Lengths { min: *shape.lengths().start(), mean: grammar.mean_length(), max: *shape.lengths().end() },
        fingerprint: grammar.fingerprint(),
        remarks: grammar.remarks().to_vec(),
        class_entropy: measure_entropy(grammar)?,
    };
    if answer.json { answer.json_line(&description) } else { answer.text(&description.to_text()) }
}

fn describe_layer((level, layer): (usize, &Layer)) -> LayerDescription {
    let mut parents: HashMap<Children, usize> = HashMap::new();
    layer.rules().iter().for_each(|rule| *parents.entry(rule.children).or_default() += 1);
    let is_pair = |a, b| parents.contains_key(&Children::from([a, b]));
    let overlaps = |children: &Children| match *children.as_slice() {
        [a, b, c] => is_pair(a, b) || is_pair(b, c),
        _ => false,
    };
    let share = |arity: usize| {
        let tuples = parents.keys().filter(|children| children.len() == arity).count();
        tuples as f64 / layer.children().pow(arity as u32) as f64
    };
    let ternary_rules = layer.rules().iter().filter(|rule| rule.children.len() == 3).count();
    LayerDescription {
        level,
        binary_rules: layer.rules().len() - ternary_rules,
        ternary_rules,
        binary_fraction: share(2),
        ternary_fraction: share(3),
        arities: (layer.arities().least(), layer.arities().most()),
        shared_tuples: parents.values().filter(|&&count| count > 1).count(),
        overlapping_rules: layer.rules().iter().filter(|rule| overlaps(&rule.children)).count(),
    }
}

/// Parses a few of the grammar's sentences: as many as take about a second at this length, the same on every machine.
fn measure_entropy(grammar: &Grammar) -> Result<Option<Entropy>> {
    // The work is cubic in the length in the worst case.
    let work = grammar.mean_length().powi(3) * grammar.vocab() as f64;
    let sentences = (4e9 / work).clamp(0.0, 1000.0) as u64;
    if sentences < 4 {
        return Ok(None);
    }
    let corpus = Corpus::sample(grammar, Seed::new(0).child("info"), 0..sentences);
    let values: Vec<f64> = Inside::new(grammar).batch(&corpus)?.iter().map(|posterior| posterior.entropy()).collect();
    let Estimate { mean, stderr } = Estimate::of(&values);
    Ok(Some(Entropy {
        mean,
        stderr,
        normalized: if grammar.classes() > 1 { mean / (grammar.classes() as f64).ln() } else { 0.0 },
        sentences: values.len(),
    }))
}

impl Description {
    fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| text += &format!("{name:<16}{value}\n");
        for remark in &self.remarks {
            line("remark", remark.clone());
        }
        line("fingerprint", self.fingerprint.clone());
        line("depth", self.depth.to_string());
        line("classes", self.classes.to_string());
        line("tokens", self.vocab.to_string());
        let Lengths { min, mean, max } = self.length;
        line("lengths", format!("{min} to {max}, mean {}", short(mean)));
        line(
            "class entropy",
            match &self.class_entropy {
                Some(entropy) => format!(
                    "{} ± {} nats, {} of ln(classes) ({} typical sentences)",
                    short(entropy.mean),
                    short(entropy.stderr),
                    short(entropy.normalized),
                    entropy.sentences
                ),
                None => "not measured: sentences are too long".to_owned(),
            },
        );
        let mut table = Table::new([
            "layer",
            "symbols",
            "binary",
            "ternary",
            "of pairs",
            "of triples",
            "children",
            "shared tuples",
            "overlapping",
        ]);
        for (level, layer) in self.levels.iter().enumerate() {
            let LayerDescription { binary_rules, ternary_rules, arities: (least, most), .. } = layer;
            table.row([
                format!("{level} → {}", level + 1),
                format!("{} → {}", self.sizes[level], self.sizes[level + 1]),
                binary_rules.to_string(),
                ternary_rules.to_string(),
                short(layer.binary_fraction),
                short(layer.ternary_fraction),
                if least == most { least.to_string() } else { format!("{least} or {most}") },
                layer.shared_tuples.to_string(),
                layer.overlapping_rules.to_string(),
            ]);
        }
        text + "\n" + &table.to_string()
    }
}
