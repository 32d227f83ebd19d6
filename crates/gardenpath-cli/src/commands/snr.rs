//! `gardenpath snr`: the number of sentences that the statistics of triples need, measured from data alone.

use super::Answer;
use crate::cli::ensemble::{LawOptions, LevelOptions, RuleOptions};
use crate::cli::rounding::{EffectiveFractions, note_rounding};
use crate::cli::{SeedOption, each, size, whole_number};
use crate::progress;
use anyhow::{Result, bail};
use clap::Args;
use gardenpath::snr::{Average, SignalStudy, expected_range};
use gardenpath_lab::draw::table::{Table, grouped, short};
use serde::Serialize;

/// The arguments of `snr`.
#[derive(Args, Debug)]
#[command(after_help = "\
The signal-to-noise ratio of the root given the triple in the middle of a sentence, averaged over ternary rules, as defined in the \
paper. The sample complexity is where its inverse falls to 0.5; the interval is a bootstrap over grammars, with an open end \
(null) where some bootstrap samples do not cross 0.5 within the measured range.

Examples:
  gardenpath snr --vocab 8,16,32 --depth 2 --fraction 1/vocab
  gardenpath snr --vocab 8,12,16 --depth 2 --fraction 0.25 --grammars 20 --json")]
pub struct Arguments {
    /// Number of symbols per level; comma-separated for several
    #[arg(long, required_unless_present = "sizes", value_delimiter = ',', value_parser = size)]
    vocab: Vec<usize>,
    /// Number of layers of rules
    #[arg(long, required_unless_present = "sizes", value_parser = size)]
    depth: Option<usize>,
    #[command(flatten)]
    levels: LevelOptions,
    #[command(flatten)]
    rules: RuleOptions,
    #[command(flatten)]
    law: LawOptions,
    /// Number of random grammars
    #[arg(long, default_value = "10", value_parser = whole_number, value_name = "N")]
    grammars: u64,
    #[command(flatten)]
    seed: SeedOption,
}

/// The measurement at one vocabulary.
#[derive(Serialize)]
struct Point {
    vocab: usize,
    depth: usize,
    /// `null` if rules were given in another way.
    fraction: Option<f64>,
    effective_fractions: EffectiveFractions,
    /// Where the inverse ratio of means falls to 0.5.
    sample_complexity: Option<f64>,
    /// 90% bootstrap interval over several grammars; an unbounded end is `null`.
    interval: Option<[Option<f64>; 2]>,
    /// The same, from the mean of ratios.
    mean_of_ratios: Option<f64>,
    sample_sizes: Vec<u64>,
    inverse: Vec<f64>,
}

/// The inverse ratio at which the paper reads off the sample complexity.
const THRESHOLD: f64 = 0.5;

/// Points of a curve.
const POINTS: usize = 12;

/// Runs the measurements.
pub fn run(arguments: &Arguments, answer: &mut Answer) -> Result<()> {
    if arguments.vocab.iter().any(|&vocab| vocab < 2) {
        bail!("--vocab is less than 2, expected at least 2 symbols");
    }
    let vocabularies = each(&arguments.vocab);
    let total = arguments.grammars.saturating_mul(vocabularies.len() as u64);
    let bar = progress::bar(total, "measuring grammars");
    let bar = if answer.json { progress::beside_results(bar) } else { bar };
    let mut points = Vec::new();
    for vocab in vocabularies {
        let point = measure(arguments, vocab, &|grammars| bar.inc(grammars))?;
        if answer.json {
            answer.json_line(&point)?;
            answer.out.flush()?;
        }
        points.push(point);
    }
    bar.finish_and_clear();
    if answer.json { Ok(()) } else { answer.text(&to_text(&points, arguments.grammars)) }
}

fn measure(arguments: &Arguments, vocab: Option<usize>, progress: &(dyn Fn(u64) + Sync)) -> Result<Point> {
    let Arguments { depth, levels, rules, law, seed, .. } = arguments;
    let ensemble = law.ensemble(rules.choices(law, levels.choices(vocab, *depth))?)?;
    let samples = expected_range(&ensemble, POINTS)?;
    let study = SignalStudy::measure(&ensemble, arguments.grammars, &samples, seed.get(), progress)?;
    note_rounding([&ensemble])?;
    Ok(Point {
        vocab: ensemble.vocab(),
        depth: ensemble.depth(),
        fraction: rules.fraction(ensemble.vocab()),
        effective_fractions: EffectiveFractions::of(&ensemble)?,
        sample_complexity: study.sample_complexity(THRESHOLD, Average::RatioOfMeans),
        interval: study
            .interval(THRESHOLD, Average::RatioOfMeans, 0.9, seed.get())
            .map(|(low, high)| [low, high].map(|end| (end > 0.0 && end.is_finite()).then_some(end))),
        mean_of_ratios: study.sample_complexity(THRESHOLD, Average::MeanOfRatios),
        inverse: study.inverse(Average::RatioOfMeans),
        sample_sizes: samples,
    })
}

fn to_text(points: &[Point], grammars: u64) -> String {
    let mut table = Table::new(["vocab", "depth", "fraction", "sentences needed", "90% interval", "mean of ratios"]);
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), short);
    for point in points {
        let interval = point.interval.map_or("–".to_owned(), |ends| match ends {
            [Some(low), Some(high)] => format!("{} to {}", short(low), short(high)),
            [Some(low), None] => format!("{} or more", short(low)),
            [None, Some(high)] => format!("{} or less", short(high)),
            [None, None] => "open".to_owned(),
        });
        table.row([
            point.vocab.to_string(),
            point.depth.to_string(),
            point.fraction.map_or("–".to_owned(), short),
            shown(point.sample_complexity),
            interval,
            shown(point.mean_of_ratios),
        ]);
    }
    let mut text = table.to_string();
    if grammars == 1 {
        text += "\nNo interval: it needs several grammars (--grammars).\n";
    }
    for Point { vocab, sample_sizes: samples, .. } in points.iter().filter(|point| point.sample_complexity.is_none()) {
        let [first, last] = [samples.first(), samples.last()].map(|size| size.copied().map_or(String::new(), grouped));
        text +=
            &format!("\nvocab {vocab}: the ratio does not cross {THRESHOLD} between {first} and {last} sentences.\n");
    }
    if let (Some(first), Some(last)) = (points.first(), points.last())
        && let (Some(low), Some(high)) = (first.sample_complexity, last.sample_complexity)
        && first.vocab != last.vocab
    {
        let exponent = (high / low).ln() / (last.vocab as f64 / first.vocab as f64).ln();
        text += &format!("\nexponent in the vocabulary: {}\n", short(exponent));
    }
    text
}
