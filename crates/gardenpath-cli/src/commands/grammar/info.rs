//! `gardenpath grammar info`: describes a grammar.

use crate::commands::Answer;
use anyhow::Result;
use gardenpath::{Arities, Children, Corpus, Estimate, Grammar, Inside, Layer, Seed, Symbol};
use gardenpath_lab::by_arity::{adjective, tuples};
use gardenpath_lab::draw::table::{Table, short};
use gardenpath_lab::message::listed;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Everything reported about a grammar.
#[derive(Serialize)]
struct Description {
    depth: usize,
    classes: usize,
    vocab: usize,
    sizes: Vec<usize>,
    levels: Vec<LayerDescription>,
    by_arity: BTreeMap<usize, ArityDescription>,
    length: Lengths,
    fingerprint: String,
    remarks: Vec<String>,
    class_entropy: Option<Entropy>,
}

/// The rules with a given number of children, by layer.
#[derive(Serialize)]
struct ArityDescription {
    rules: Vec<usize>,
    /// The fractions of all tuples that are grammatical.
    fractions: Vec<f64>,
}

#[derive(Serialize)]
struct LayerDescription {
    /// Level of the parents.
    level: usize,
    binary_rules: usize,
    ternary_rules: usize,
    /// The fractions of all pairs and of all triples that are grammatical.
    binary_fraction: f64,
    ternary_fraction: f64,
    /// The smallest and largest number of children.
    arities: (usize, usize),
    /// Right-hand sides with more than one parent.
    shared_tuples: usize,
    /// Rules that begin or end with the right-hand side of a shorter rule of at least two symbols.
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
        by_arity: describe_arities(grammar),
        length: Lengths { min: *shape.lengths().start(), mean: grammar.mean_length(), max: *shape.lengths().end() },
        fingerprint: grammar.fingerprint(),
        remarks: grammar.remarks().to_vec(),
        class_entropy: measure_entropy(grammar)?,
    };
    if answer.json { answer.json_line(&description) } else { answer.text(&description.to_text()) }
}

fn describe_arities(grammar: &Grammar) -> BTreeMap<usize, ArityDescription> {
    let arities: Arities = grammar.layers().iter().flat_map(|layer| layer.arities().iter()).collect();
    let describe = |arity: usize| {
        let (rules, fractions) = grammar.layers().iter().map(|layer| count(layer, arity)).unzip();
        (arity, ArityDescription { rules, fractions })
    };
    arities.iter().map(describe).collect()
}

/// The number of rules with `arity` children, and the fraction of all tuples that they cover.
fn count(layer: &Layer, arity: usize) -> (usize, f64) {
    let tuples = layer.rules().iter().map(|rule| rule.children).filter(|children| children.len() == arity);
    let all = (layer.children() as f64).powi(arity as i32);
    (tuples.clone().count(), tuples.collect::<HashSet<_>>().len() as f64 / all)
}

fn describe_layer((level, layer): (usize, &Layer)) -> LayerDescription {
    let mut parents: HashMap<Children, usize> = HashMap::new();
    layer.rules().iter().for_each(|rule| *parents.entry(rule.children).or_default() += 1);
    let is_rule = |part: &[Symbol]| Children::from_slice(part).is_some_and(|part| parents.contains_key(&part));
    let overlaps = |children: &Children| {
        let side = children.as_slice();
        (2..side.len()).any(|len| is_rule(&side[..len]) || is_rule(&side[side.len() - len..]))
    };
    let [(binary_rules, binary_fraction), (ternary_rules, ternary_fraction)] = [2, 3].map(|arity| count(layer, arity));
    LayerDescription {
        level,
        binary_rules,
        ternary_rules,
        binary_fraction,
        ternary_fraction,
        arities: (layer.arities().least(), layer.arities().most()),
        shared_tuples: parents.values().filter(|&&count| count > 1).count(),
        overlapping_rules: layer.rules().iter().filter(|rule| overlaps(&rule.children)).count(),
    }
}

/// Estimates the entropy from a few sentences: as many as take about a second at this length, the same number on every
/// machine.
fn measure_entropy(grammar: &Grammar) -> Result<Option<Entropy>> {
    // Parsing is cubic in the length in the worst case.
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
                None => "not measured: the sentences are too long".to_owned(),
            },
        );
        let mut columns = vec!["layer".to_owned(), "symbols".into()];
        columns.extend(self.by_arity.keys().map(|&arity| adjective(arity)));
        columns.extend(self.by_arity.keys().map(|&arity| format!("of {}", tuples(arity))));
        columns.extend(["children", "shared tuples", "overlapping"].map(str::to_owned));
        let mut table = Table::new(columns);
        for (level, layer) in self.levels.iter().enumerate() {
            let mut row =
                vec![format!("{level} → {}", level + 1), format!("{} → {}", self.sizes[level], self.sizes[level + 1])];
            row.extend(self.by_arity.values().map(|own| own.rules[level].to_string()));
            row.extend(self.by_arity.values().map(|own| short(own.fractions[level])));
            let children = self.by_arity.iter().filter(|(_, own)| own.rules[level] > 0);
            row.push(listed(&children.map(|(arity, _)| arity.to_string()).collect::<Vec<_>>(), "or"));
            row.extend([layer.shared_tuples.to_string(), layer.overlapping_rules.to_string()]);
            table.row(row);
        }
        text + "\n" + &table.to_string()
    }
}
