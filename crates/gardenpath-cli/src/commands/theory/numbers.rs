//! Quantities that are single numbers: the class entropy at depth 2 and the sample complexity.

use super::{Complexity, Entropy, arities};
use crate::cli::ensemble::option;
use crate::cli::rounding::{EffectiveFractions, note_rounding};
use crate::commands::Answer;
use crate::terminal::plot::{Plot, Series};
use anyhow::Result;
use gardenpath::PerArity;
use gardenpath::theory::complexity::sample_complexity;
use gardenpath::theory::entropy::{class_entropy, paper_class_entropy};
use gardenpath_lab::draw::table::{Table, grouped, short};
use gardenpath_lab::ensemble::Choices;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The entropy at one fraction, in nats.
#[derive(Serialize)]
struct EntropyPoint {
    fraction: f64,
    /// By number of children, if given so.
    #[serde(skip_serializing_if = "Option::is_none")]
    fractions: Option<Value>,
    /// The printed formula; it requires two and three children at even odds and equal fractions.
    paper: Option<f64>,
    corrected: f64,
}

/// The scale of one level and arity.
#[derive(Serialize)]
struct ScalePoint {
    level: usize,
    arity: usize,
    paper: f64,
    corrected: f64,
}

/// The predicted numbers of sentences.
#[derive(Serialize)]
struct ComplexityDocument {
    vocab: usize,
    depth: usize,
    #[serde(flatten)]
    rules: Map<String, Value>,
    effective_fractions: EffectiveFractions,
    #[serde(flatten)]
    law: Map<String, Value>,
    paper: f64,
    corrected: f64,
    scales: Vec<ScalePoint>,
}

/// The class entropy at depth 2, as printed in the paper and corrected.
pub fn entropy(arguments: &Entropy, answer: &mut Answer) -> Result<()> {
    let probabilities = arguments.branching.probabilities()?;
    let mut points = Vec::new();
    for &fraction in &arguments.fraction {
        let fractions = arities::fractions(arguments.fractions, fraction);
        let corrected = class_entropy([fractions; 2], probabilities)?;
        let is_printed = probabilities == PerArity::paper(0.5) && fractions == PerArity::all(fraction);
        let paper = if is_printed { Some(paper_class_entropy(fraction)?) } else { None };
        let of_arity = |arity: usize| json!(fractions[arity]);
        let fractions = arguments.fractions.map(|_| arities::object(probabilities.arities(), of_arity));
        points.push(EntropyPoint { fraction, fractions, paper, corrected });
    }
    if answer.json {
        return points.iter().try_for_each(|point| answer.json_line(point));
    }
    let mut table = Table::new(["fraction", "paper", "corrected"]);
    for point in &points {
        table.row([short(point.fraction), point.paper.map_or("–".to_owned(), short), short(point.corrected)]);
    }
    answer.text(&format!("class entropy at depth 2, in nats\n\n{table}"))?;
    if points.len() > 1 {
        points.sort_by(|a, b| a.fraction.total_cmp(&b.fraction));
        let curve = |value: fn(&EntropyPoint) -> Option<f64>| {
            points.iter().filter_map(|point| Some((point.fraction, value(point)?))).collect()
        };
        let series = vec![
            Series { name: "paper".into(), points: curve(|point| point.paper) },
            Series { name: "corrected".into(), points: curve(|point| Some(point.corrected)) },
        ];
        let plot = Plot { x_label: "fraction".into(), y_label: "entropy (nats)".into(), series };
        answer.text(&format!("\n{}", plot.draw()))?;
    }
    Ok(())
}

/// The scales of all levels and arities, and their maximum.
pub fn complexity(arguments: &Complexity, answer: &mut Answer) -> Result<()> {
    let Complexity { vocab, depth, branching, .. } = *arguments;
    let probabilities = branching.probabilities()?;
    let (p_binary, arities) = (branching.p_binary(), branching.by_arity());
    let levels = Choices { vocab: Some(vocab), depth: Some(depth), p_binary, arities, ..Choices::default() };
    let ensemble = arguments.rules.paper(levels).ensemble(&option)?;
    let rules = ensemble.rules_per_symbol(0)?;
    let both = sample_complexity(depth, vocab as u64, rules.map(|_, rules| rules as u64), probabilities)?;
    let scale = |(paper, corrected): (&gardenpath::theory::complexity::Scale, _)| {
        let gardenpath::theory::complexity::Scale { samples, .. } = corrected;
        ScalePoint { level: paper.level, arity: paper.arity, paper: paper.samples, corrected: samples }
    };
    let document = ComplexityDocument {
        vocab,
        depth,
        rules: branching.named(["binary_rules", "ternary_rules"], "rules_by_arity", rules)?,
        effective_fractions: EffectiveFractions::of(&ensemble)?,
        law: branching.law()?,
        paper: both.paper.samples(),
        corrected: both.size_biased.samples(),
        scales: both.paper.scales.iter().zip(both.size_biased.scales.iter().copied()).map(scale).collect(),
    };
    note_rounding([&ensemble])?;
    if answer.json {
        return answer.json_line(&document);
    }
    let mut table = Table::new(["level", "children", "paper", "corrected"]);
    for scale in &document.scales {
        table.row([scale.level.to_string(), scale.arity.to_string(), samples(scale.paper), samples(scale.corrected)]);
    }
    let hardest = both.paper.hardest();
    table.row(["P*".into(), String::new(), samples(document.paper), samples(document.corrected)]);
    let parameters = match branching.p_binary() {
        Some(p) => format!("{} binary and {} ternary rules per symbol, p_binary {p}", rules[2], rules[3]),
        None => format!("rules per symbol {rules} and probabilities {probabilities} by number of children"),
    };
    answer.text(&format!(
        "number of sentences needed to learn the rules of each level, up to a constant\n\
         (vocab {vocab}, {parameters})\n\n\
         {table}\nThe hardest rules have {} children and parents on level {}; level 0 is the root.\n",
        hardest.arity, hardest.level
    ))
}

/// A number of sentences.
fn samples(value: f64) -> String {
    if value < 1e12 { grouped(value.round() as u64) } else { short(value) }
}
