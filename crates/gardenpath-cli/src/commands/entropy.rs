//! `gardenpath entropy`: the class entropy of random grammars.

use super::Answer;
use crate::cli::ensemble::{ByArityOptions, LawOptions, LevelOptions};
use crate::cli::fraction::Fraction;
use crate::cli::rounding::{EffectiveFractions, note_rounding};
use crate::cli::{SeedOption, each, size, whole_number};
use crate::progress;
use crate::terminal::plot::{Plot, Series};
use anyhow::{Result, bail};
use clap::Args;
use gardenpath::{Ensemble, class_entropy, theory};
use gardenpath_lab::draw::table::{Table, short};
use gardenpath_lab::ensemble::Choices;
use serde::Serialize;

/// The arguments of `entropy`.
#[derive(Args, Debug)]
#[command(after_help = "\
The entropy is the mean of H(root | sentence) in nats over random grammars and their sentences, with its standard error \
over grammars; the normalized entropy is divided by ln(classes). Numbers of rules are rounded to whole numbers, so the effective fractions \
can differ from --fraction, most of all at small vocabularies; the theory uses the effective fractions.

Examples:
  gardenpath entropy --vocab 16 --depth 2 --fraction 0.5 --grammars 10 --samples 1000
  gardenpath entropy --vocab 16 --depth 2,3 --fraction 0.1,0.25,0.5,0.75,1")]
pub struct Arguments {
    /// Number of layers of rules; comma-separated for several
    #[arg(long, required_unless_present = "sizes", value_delimiter = ',', value_parser = size)]
    depth: Vec<usize>,
    /// Number of symbols per level, tokens included
    #[arg(long, required_unless_present = "sizes", value_parser = size)]
    vocab: Option<usize>,
    #[command(flatten)]
    levels: LevelOptions,
    /// Fraction of all tuples that are grammatical: a number, a ratio such as 1/8, or 1/vocab; comma-separated for
    /// several [default: 0.25]
    #[arg(long, value_delimiter = ',', value_name = "F")]
    fraction: Vec<Fraction>,
    #[command(flatten)]
    rules: ByArityOptions,
    #[command(flatten)]
    law: LawOptions,
    /// Number of random grammars
    #[arg(long, default_value = "10", value_parser = whole_number, value_name = "N")]
    grammars: u64,
    /// Number of sentences per grammar
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
    /// `null` if rules were given in another way.
    fraction: Option<f64>,
    effective_fractions: EffectiveFractions,
    entropy: f64,
    /// `null` if there is only one sentence.
    stderr: f64,
    normalized: f64,
    /// The exact limit for large vocabularies, known at depth 2.
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

/// All ensembles, checked before any of them is measured.
fn ensembles(arguments: &Arguments) -> Result<Vec<(Option<f64>, Ensemble)>> {
    let Arguments { vocab, levels, rules, law, .. } = arguments;
    let mut ensembles = Vec::new();
    for depth in each(&arguments.depth) {
        for fraction in each(&arguments.fraction) {
            let choices = rules.choices(levels.choices(*vocab, depth));
            let fraction = fraction.or((!rules.is_given()).then(Fraction::default));
            let fraction = fraction.map(|fraction| fraction.value(choices.tokens()));
            ensembles.push((fraction, law.ensemble(Choices { fraction, ..choices })?));
        }
    }
    Ok(ensembles)
}

fn measure(
    arguments: &Arguments,
    fraction: Option<f64>,
    ensemble: &Ensemble,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Point> {
    let Arguments { grammars, samples, seed, .. } = *arguments;
    let estimate = class_entropy(ensemble, grammars, samples, seed.get(), progress)?;
    let (vocab, classes) = (ensemble.vocab(), ensemble.level_sizes()?[0]);
    Ok(Point {
        vocab,
        depth: ensemble.depth(),
        fraction,
        effective_fractions: EffectiveFractions::of(ensemble)?,
        entropy: estimate.mean,
        stderr: estimate.stderr,
        // With one class there is no entropy to normalize by.
        normalized: if classes > 1 { estimate.mean / (classes as f64).ln() } else { 0.0 },
        theory: predict(arguments, ensemble)?,
    })
}

/// The theory at depth 2, at the effective fractions.
fn predict(arguments: &Arguments, ensemble: &Ensemble) -> Result<Option<f64>> {
    let law = &arguments.law;
    let sizes = ensemble.level_sizes()?;
    let is_even = sizes.iter().all(|size| *size == sizes[0]);
    if ensemble.depth() != 2 || !is_even || law.zipf != 0.0 || law.non_overlapping || law.cover {
        return Ok(None);
    }
    let fractions = [ensemble.effective_fractions(0)?, ensemble.effective_fractions(1)?];
    // Unknown for arities with too many trees of one length.
    Ok(theory::entropy::class_entropy(fractions, ensemble.probabilities()).ok())
}

fn to_text(points: &[Point]) -> String {
    let mut table = Table::new(["depth", "fraction", "entropy", "± stderr", "normalized", "theory"]);
    for point in points {
        table.row([
            point.depth.to_string(),
            point.fraction.map_or("–".to_owned(), short),
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
            .filter_map(|point| Some((point.fraction?, point.normalized)))
            .collect();
        curve.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name: format!("depth {depth}"), points: curve }
    });
    let plot = Plot { x_label: "fraction".into(), y_label: "entropy / ln(classes)".into(), series: series.collect() };
    if plot.series.iter().any(|series| series.points.len() > 1) {
        text += "\n";
        text += &plot.draw();
    }
    text
}
