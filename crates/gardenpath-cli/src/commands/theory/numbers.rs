//! Quantities that are single numbers: the class entropy at depth 2 and the sample complexity.

use super::{Complexity, Entropy};
use crate::cli::ensemble::{EffectiveFractions, note_rounding};
use crate::commands::Answer;
use crate::terminal::plot::{Plot, Series};
use anyhow::Result;
use gardenpath::Ensemble;
use gardenpath::theory::complexity::sample_complexity;
use gardenpath::theory::entropy::{class_entropy, paper_class_entropy};
use gardenpath_lab::draw::table::{Table, grouped, short};
use serde::Serialize;

/// The entropy at one fraction, in nats.
#[derive(Serialize)]
struct EntropyPoint {
    fraction: f64,
    /// The printed formula, which exists for even odds of branching.
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
    binary_rules: usize,
    ternary_rules: usize,
    effective_fractions: EffectiveFractions,
    p_binary: f64,
    paper: f64,
    corrected: f64,
    scales: Vec<ScalePoint>,
}

/// The class entropy at depth 2, as printed and corrected.
pub fn entropy(arguments: &Entropy, answer: &mut Answer) -> Result<()> {
    let mut points = Vec::new();
    for &fraction in &arguments.fraction {
        let corrected = class_entropy(fraction, fraction, arguments.p_binary)?;
        let paper = if arguments.p_binary == 0.5 { Some(paper_class_entropy(fraction)?) } else { None };
        points.push(EntropyPoint { fraction, paper, corrected });
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
    let Complexity { vocab, depth, p_binary, .. } = *arguments;
    let [binary, ternary] = arguments.rules.counts(vocab);
    let ensemble = Ensemble::new(vocab, depth).rules(2, binary).rules(3, ternary).p_binary(p_binary);
    let rules = ensemble.rules_per_symbol(0)?;
    let (binary_rules, ternary_rules) = (rules[2], rules[3]);
    let both = sample_complexity(depth, vocab as u64, binary_rules as u64, ternary_rules as u64, p_binary)?;
    let scale = |(paper, corrected): (&gardenpath::theory::complexity::Scale, _)| {
        let gardenpath::theory::complexity::Scale { samples, .. } = corrected;
        ScalePoint { level: paper.level, arity: paper.arity, paper: paper.samples, corrected: samples }
    };
    let document = ComplexityDocument {
        vocab,
        depth,
        binary_rules,
        ternary_rules,
        effective_fractions: EffectiveFractions::of(&ensemble)?,
        p_binary,
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
    answer.text(&format!(
        "sentences needed to see the rules of each level, up to a constant\n\
         (vocab {vocab}, {binary_rules} binary and {ternary_rules} ternary rules per symbol, p_binary {p_binary})\n\n\
         {table}\nThe hardest are the rules with {} children of parents on level {}; level 0 is the root.\n",
        hardest.arity, hardest.level
    ))
}

/// A number of sentences.
fn samples(value: f64) -> String {
    if value < 1e12 { grouped(value.round() as u64) } else { short(value) }
}
