//! Class entropy against the fraction of grammatical tuples.

use crate::draw::table::short;
use crate::figure::{Axis, Chart, Dash, Figure, Look, Panel, Series};
use crate::fit::{average, band, standard_error};
use crate::record::Records;
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;
use gardenpath::theory::entropy::{class_entropy, paper_class_entropy};

pub(super) const CHAPTER: Chapter = Chapter {
    name: "transition",
    title: "Crossover from local to global ambiguity",
    paper: "The expected entropy of the class given a sentence stays near zero while few tuples are grammatical, and rises as the \
            fraction f grows. Deeper trees have a sharper rise, around f between 3/8 and 1/2. At depth 2 the curve is known exactly.",
    experiments: &["transition"],
    draw,
};

/// Half of a 95% interval in standard errors of a mean over a handful of grammars, for all points of a curve together.
const SIGMAS: f64 = 4.0;

fn draw(records: &Records) -> Result<Page> {
    let depths = records.values("depth");
    let vocab = vocab_of_most_depths(records).unwrap_or(16.0);
    let of_depth = |&depth: &f64| {
        let curve = records.with("depth", depth).with("vocab", vocab).curve("fraction", "normalized");
        Series::new(format!("*L* = {depth}"), band(&curve)).look(Look::line().band())
    };
    let measured: Vec<Series> = depths.iter().map(of_depth).collect();
    let deep = Chart {
        title: Some(format!("*v* = {vocab}")),
        ..Chart::new(Axis::linear("fraction *f*"), Axis::linear("entropy / ln *v*"), measured)
    };
    let shallow = Chart {
        title: Some("*L* = 2, in nats".into()),
        ..Chart::new(Axis::linear("fraction *f*"), Axis::linear("class entropy"), depth_two(records)?)
    };
    let figure = Figure::grid(2, vec![Panel::Chart(deep), Panel::Chart(shallow)]);
    let caption = "Mean entropy of the root given a sentence, over random grammars and their sentences, against the fraction of all tuples \
                   that are rules; bands are one standard error. Right: depth 2 with the exact curve for large vocabularies, and the one in \
                   the paper.";
    let findings = vec![exact_curve(records)?, papers_curve(records)?, sharper(records, vocab)];
    Ok(Page { figure, caption: caption.into(), findings })
}

/// Where depths can be compared: the vocabulary that was measured at most of them, the smallest if there are several.
fn vocab_of_most_depths(records: &Records) -> Option<f64> {
    let depths = |vocab: &f64| records.with("vocab", *vocab).values("depth").len();
    records.values("vocab").into_iter().rev().max_by_key(depths)
}

/// Measured points of depth 2 for each vocabulary, with both exact curves.
fn depth_two(records: &Records) -> Result<Vec<Series>> {
    let shallow = records.with("depth", 2.0);
    let of_vocab = |&vocab: &f64| {
        let curve = shallow.with("vocab", vocab).curve("fraction", "entropy");
        Series::new(format!("*v* = {vocab}"), band(&curve)).look(Look::markers())
    };
    let mut series: Vec<Series> = shallow.values("vocab").iter().map(of_vocab).collect();
    let fractions = || (1..=100).map(|i| f64::from(i) / 100.0);
    let exact = fractions().map(|f| Ok((f, class_entropy(f, f, 0.5)?))).collect::<Result<Vec<_>>>()?;
    let papers = fractions().map(|f| Ok((f, paper_class_entropy(f)?))).collect::<Result<Vec<_>>>()?;
    series.push(Series::new("exact, *v* → ∞", exact).look(Look::curve(Dash::Solid)));
    series.push(Series::new("as in the paper", papers).look(Look::curve(Dash::Dashed)));
    Ok(series)
}

/// The largest excess of the distance to a curve over what chance and a finite vocabulary allow, in units of the latter.
fn worst(records: &Records, curve: impl Fn(f64, f64) -> Result<f64>) -> Result<Option<f64>> {
    let shallow = records.with("depth", 2.0);
    let mut worst: Option<f64> = None;
    for vocab in shallow.values("vocab") {
        let here = shallow.with("vocab", vocab);
        for fraction in here.values("fraction") {
            let point = here.with("fraction", fraction);
            let values: Vec<f64> = point.all.iter().map(|record| record.number("entropy")).collect();
            let Some(record) = point.all.first() else { continue };
            let expected = curve(record.number("binary_fraction"), record.number("ternary_fraction"))?;
            let allowed = SIGMAS * standard_error(&values) + 2.0 / vocab * expected;
            let ratio = (average(&values) - expected).abs() / allowed;
            worst = Some(worst.map_or(ratio, |worst| worst.max(ratio)));
        }
    }
    Ok(worst)
}

fn exact_curve(records: &Records) -> Result<Finding> {
    let claim = "depth 2 follows the corrected exact curve, within Monte Carlo error and a relative 2/v";
    Ok(match worst(records, |binary, ternary| Ok(class_entropy(binary, ternary, 0.5)?))? {
        None => Finding::new(claim, "no points of depth 2", Verdict::TooSmall),
        Some(worst) => {
            Finding::check(claim, format!("largest distance {} of what is allowed", short(worst)), worst <= 1.0)
        }
    })
}

fn papers_curve(records: &Records) -> Result<Finding> {
    let claim = "depth 2 follows the curve of the paper";
    let at = |vocab: f64| {
        let shallow = records.with("depth", 2.0).with("vocab", vocab);
        let low = shallow.filter(|record| record.number("fraction") <= 0.5);
        let values = |name: &str| low.all.iter().map(|record| record.number(name)).collect::<Vec<f64>>();
        values("entropy").iter().sum::<f64>()
            / values("fraction").iter().filter_map(|&f| paper_class_entropy(f).ok()).sum::<f64>()
    };
    let Some(vocab) = records.with("depth", 2.0).values("vocab").last().copied() else {
        return Ok(Finding::new(claim, "no points of depth 2", Verdict::TooSmall));
    };
    let ratio = at(vocab);
    let verdict = if ratio > 1.1 { Verdict::Corrected } else { Verdict::Agrees };
    Ok(Finding::new(
        claim,
        format!("for f up to 1/2 the entropy is {} times as large (v = {vocab})", short(ratio)),
        verdict,
    ))
}

/// The width of the crossover: how much the fraction grows while the entropy rises from 20% to 80%.
fn sharper(records: &Records, vocab: f64) -> Finding {
    let claim = "deeper trees have an earlier and sharper crossover";
    let crossover = |depth: f64| {
        let curve = records.with("depth", depth).with("vocab", vocab).curve("fraction", "normalized");
        let at = |level: f64| {
            let means: Vec<(f64, f64)> = curve.iter().map(|(f, values)| (*f, average(values))).collect();
            let pair = means.windows(2).find(|pair| pair[0].1 < level && level <= pair[1].1)?;
            let share = (level - pair[0].1) / (pair[1].1 - pair[0].1);
            Some(pair[0].0 + share * (pair[1].0 - pair[0].0))
        };
        Some((depth, at(0.2)?, at(0.8)?))
    };
    let found: Vec<(f64, f64, f64)> = records.values("depth").into_iter().filter_map(crossover).collect();
    if found.len() < 2 {
        return Finding::new(claim, "fewer than two depths rise from 20% to 80%", Verdict::TooSmall);
    }
    let text = found.iter().map(|(depth, low, high)| format!("{} to {} (L={depth})", short(*low), short(*high)));
    let measured = format!("entropy from 20% to 80% at f = {}", text.collect::<Vec<_>>().join(", "));
    // Fractions are measured in steps, and entropies of deep trees on few grammars.
    const STEP: f64 = 0.03;
    let holds = found.windows(2).all(|pair| {
        let (_, low, high) = pair[0];
        let (_, deeper_low, deeper_high) = pair[1];
        deeper_low < low && deeper_high - deeper_low < high - low + STEP
    });
    Finding::check(claim, measured, holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use serde_json::json;

    #[test]
    fn depths_are_compared_where_most_of_them_are() {
        let of = |cells: &[(u32, u32)]| {
            let record = |&(vocab, depth): &(u32, u32)| Record {
                parameters: json!({"vocab": vocab, "depth": depth}).as_object().unwrap().clone(),
                result: serde_json::Map::new(),
            };
            vocab_of_most_depths(&Records { all: cells.iter().map(record).collect() })
        };
        assert_eq!(of(&[(16, 2), (32, 2), (32, 3), (64, 2)]), Some(32.0));
        assert_eq!(of(&[(16, 2), (16, 3), (32, 2), (32, 3)]), Some(16.0));
        assert_eq!(of(&[]), None);
    }
}
