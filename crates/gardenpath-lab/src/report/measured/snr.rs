//! Inverse signal-to-noise ratios against the number of sentences.

use crate::draw::table::short;
use crate::figure::{Axis, Chart, Figure, Guide, Look, Panel, Series};
use crate::fit::{band, power_law, threshold_with_interval};
use crate::record::{Curve, Records};
use crate::report::networks::inverse_ratio;
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;
use gardenpath::Seed;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "SNR_L_3",
    title: "Inverse signal-to-noise ratio of triples",
    paper: "The noise of the estimated probability of the root given a triple falls with the number of sentences. Where the inverse \
            signal-to-noise ratio passes 1/2 the triples can be grouped; this number of sentences grows as v^2 at f = 1/v.",
    experiments: &["snr"],
    draw,
};

/// Where the sample complexity is read off.
const LEVEL: f64 = 0.5;

fn draw(records: &Records) -> Result<Page> {
    let (mut panels, mut findings) = (Vec::new(), Vec::new());
    for depth in [2.0, 3.0] {
        let here = records.with("depth", depth);
        let curves: Vec<(f64, Curve)> =
            here.values("vocab").into_iter().map(|vocab| (vocab, inverse_ratio(&here.with("vocab", vocab)))).collect();
        let series =
            curves.iter().map(|(v, curve)| Series::new(format!("*v* = {v}"), band(curve)).look(Look::line().band()));
        panels.push(Panel::Chart(Chart {
            title: Some(format!("*L* = {depth}, *f* = 1/*v*")),
            guides: vec![Guide::horizontal(LEVEL, "1/2")],
            ..Chart::new(Axis::log("sentences *P*"), Axis::log("1 / SNR"), series.collect())
        }));
        findings.push(exponent(depth, &curves));
    }
    let caption = "Squared error of the estimated law of the root given the triple in the middle of the sentence, over its squared \
                   distance from the uniform law: means over grammars and ternary rules, bands of one standard error. The line is the threshold \
                   at which the number of sentences is read off.";
    Ok(Page { figure: Figure::grid(2, panels), caption: caption.into(), findings })
}

fn exponent(depth: f64, curves: &[(f64, Curve)]) -> Finding {
    let claim = format!("at depth {depth} the sample complexity grows as v^2");
    let seed = Seed::new(0).child("snr");
    // Below, one rule more or less changes too much.
    const LEAST: f64 = 8.0;
    let curves = || curves.iter().filter(|(v, _)| *v >= LEAST);
    let points: Vec<_> =
        curves().filter_map(|(v, curve)| Some((*v, threshold_with_interval(curve, LEVEL, seed)?))).collect();
    let Some(law) = power_law(&points, seed) else {
        return Finding::new(claim, "fewer than two vocabularies cross the threshold", Verdict::TooSmall);
    };
    let text: Vec<String> = points.iter().map(|(v, p)| format!("{} (v={v})", short(p.value))).collect();
    // Small vocabularies bend the law; what counts is that it is neither linear nor cubic.
    let near = (law.exponent.value - 2.0).abs() < 0.4;
    Finding::check(claim, format!("exponent {}, P* {}", law.exponent, text.join(", ")), near)
}
