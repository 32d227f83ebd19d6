//! `gardenpath entropy`: how ambiguous the roots of random grammars are.

use super::Answer;
use crate::cli::ensemble::{EffectiveFractions, Fraction, LawOptions, note_rounding, same_fraction};
use crate::cli::{SeedOption, size, whole_number};
use crate::progress;
use crate::terminal::plot::{Plot, Series};
use anyhow::{Result, bail};
use clap::Args;
use gardenpath::{Ensemble, class_entropy, theory};
use gardenpath_lab::draw::table::{Table, short};
use serde::Serialize;

/// The arguments of `entropy`.
#[derive(Args, Debug)]
#[command(after_help = "\
The entropy is the mean of H(root | sentence) in nats over random grammars and their sentences, its standard error \
that over grammars; the normalized one is divided by ln(vocab). Numbers of rules are whole, so that the effective fractions \
can differ from --fraction, most of all at small vocabularies; the theory is that of the effective fractions.

Examples:
  gardenpath entropy --vocab 16 --depth 2 --fraction 0.5 --grammars 10 --samples 1000
  gardenpath entropy --vocab 16 --depth 2,3 --fraction 0.1,0.25,0.5,0.75,1")]
pub struct Arguments {
    /// Number of layers of rules; several with commas
    #[arg(long, required = true, value_delimiter = ',', value_parser = size)]
    depth: Vec<usize>,
    /// Number of symbols of each level, tokens included
    #[arg(long, value_parser = size)]
    vocab: usize,
    /// Fraction of all tuples that are grammatical: a number, a ratio such as 1/8, or 1/vocab; several with commas
    #[arg(long, default_value = "0.25", value_delimiter = ',', value_name = "F")]
    fraction: Vec<Fraction>,
    #[command(flatten)]
    law: LawOptions,
    /// Number of random grammars
    #[arg(long, default_value = "10", value_parser = whole_number, value_name = "N")]
    grammars: u64,
    /// Number of sentences of each grammar
    #[arg(long, alias = "sentences", default_value = "1000", value_parser = whole_number, value_name = "N")]
    samples: u64,
    #[command(flatten)]
    seed: SeedOption,
}

/// A measurement at one depth and fraction.
#[derive(Serialize)]
struct Point {
    vocab: usize,
    depth: usize,
    fraction: f64,
    effective_fractions: EffectiveFractions,
    entropy: f64,
    /// `null` if there is only one sentence to average over.
    stderr: f64,
    normalized: f64,
    /// The exact prediction for large vocabularies, known at depth 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    theory: Option<f64>,
}

/// Runs the measurements.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    let ensembles = ensembles(arguments)?;
    let Some(total) = arguments.grammars.checked_mul(arguments.samples) else {
        bail!("{} grammars with {} sentences each are too many", arguments.grammars, arguments.samples);
    };
    let bar = progress::bar(total.saturating_mul(ensembles.len() as u64), "parsing");
    let bar = if answer.json { progress::beside_results(bar) } else { bar };
    let mut points = Vec::new();
    for (fraction, ensemble) in &ensembles {
        let point = measure(arguments, *fraction, ensemble, &|sentences| bar.inc(sentences))?;
        if answer.json {
            answer.json_line(&point)?;
            answer.out.flush()?;
        }
        points.push(point);
    }
    bar.finish_and_clear();
    note_rounding(ensembles.iter().map(|(_, ensemble)| ensemble))?;
    if answer.json { Ok(()) } else { answer.text(&to_text(&points)) }
}

/// All ensembles, so that a bad one is refused before any is measured.
fn ensembles(arguments: &Arguments) -> Result<Vec<(f64, Ensemble)>> {
    let mut ensembles = Vec::new();
    for &depth in &arguments.depth {
        for fraction in &arguments.fraction {
            let fraction = fraction.value(arguments.vocab);
            ensembles.push((fraction, arguments.law.ensemble(arguments.vocab, depth, same_fraction(fraction))?));
        }
    }
    Ok(ensembles)
}

fn measure(
    arguments: &Arguments,
    fraction: f64,
    ensemble: &Ensemble,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Point> {
    let Arguments { grammars, samples, seed, .. } = *arguments;
    let estimate = class_entropy(ensemble, grammars, samples, seed.get(), progress)?;
    let vocab = ensemble.vocab();
    Ok(Point {
        vocab,
        depth: ensemble.depth(),
        fraction,
        effective_fractions: EffectiveFractions::of(ensemble)?,
        entropy: estimate.mean,
        stderr: estimate.stderr,
        // One class has no entropy to be normalized by.
        normalized: if vocab > 1 { estimate.mean / (vocab as f64).ln() } else { 0.0 },
        theory: predict(arguments, ensemble)?,
    })
}

/// The theory of depth 2, at the fractions that the whole numbers of rules amount to.
fn predict(arguments: &Arguments, ensemble: &Ensemble) -> Result<Option<f64>> {
    let law = &arguments.law;
    if ensemble.depth() != 2 || law.zipf != 0.0 || law.non_overlapping {
        return Ok(None);
    }
    let fractions = ensemble.effective_fractions(0)?;
    Ok(Some(theory::entropy::class_entropy(fractions[2], fractions[3], law.p_binary)?))
}

fn to_text(points: &[Point]) -> String {
    let mut table = Table::new(["depth", "fraction", "entropy", "± stderr", "normalized", "theory"]);
    for point in points {
        table.row([
            point.depth.to_string(),
            short(point.fraction),
            short(point.entropy),
            short(point.stderr),
            short(point.normalized),
            point.theory.map_or("–".to_owned(), short),
        ]);
    }
    let mut text = table.to_string();
    let mut depths: Vec<usize> = points.iter().map(|point| point.depth).collect();
    depths.dedup();
    let series = depths.iter().map(|&depth| {
        let mut curve: Vec<(f64, f64)> = points
            .iter()
            .filter(|point| point.depth == depth)
            .map(|point| (point.fraction, point.normalized))
            .collect();
        curve.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name: format!("depth {depth}"), points: curve }
    });
    let plot = Plot { x_label: "fraction".into(), y_label: "entropy / ln(vocab)".into(), series: series.collect() };
    if plot.series.iter().any(|series| series.points.len() > 1) {
        text += "\n";
        text += &plot.draw();
    }
    text
}
