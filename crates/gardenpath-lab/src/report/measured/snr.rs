//! Inverse signal-to-noise ratios against the number of sentences.

use crate::draw::table::short;
use crate::figure::{Axis, Chart, Figure, Guide, Look, Panel, Series};
use crate::fit::{Curve, Direction, Expected, Group, band_of_group, crossings, exponent, judge, threshold};
use crate::record::Records;
use crate::report::networks::inverse_ratio;
use crate::report::{Chapter, Finding, Page};
use anyhow::Result;

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
        let group = |vocab: f64| Group::new(vocab, inverse_ratio(&here.with("vocab", vocab)));
        let groups: Vec<Group<Curve>> = here.values("vocab").into_iter().map(group).collect();
        let series = groups
            .iter()
            .map(|group| Series::new(format!("*v* = {}", group.at), band_of_group(group)).look(Look::line().band()));
        panels.push(Panel::Chart(Chart {
            title: Some(format!("*L* = {depth}, *f* = 1/*v*")),
            guides: vec![Guide::horizontal(LEVEL, "1/2")],
            ..Chart::new(Axis::log("sentences *P*"), Axis::log("1 / SNR"), series.collect())
        }));
        findings.push(grows(depth, &groups));
    }
    let caption = "Squared error of the estimated law of the root given the triple in the middle of the sentence, over its squared \
                   distance from the uniform law: means over grammars and ternary rules, bands of one standard error. The line is the threshold \
                   at which the number of sentences is read off.";
    Ok(Page { figure: Figure::grid(2, panels), caption: caption.into(), findings })
}

fn grows(depth: f64, groups: &[Group<Curve>]) -> Finding {
    let claim = format!("at depth {depth} the sample complexity grows as v^2");
    // Below, one rule more or less changes too much.
    const LEAST: f64 = 8.0;
    let groups: Vec<&Group<Curve>> = groups.iter().filter(|group| group.at >= LEAST).collect();
    let law = exponent(&groups.iter().map(|group| crossings(group, LEVEL, Direction::Falls)).collect::<Vec<_>>());
    // Small vocabularies bend the law; what counts is that it is neither linear nor cubic.
    let judged = judge(&law.exponent, Expected::Near { value: 2.0, margin: 0.4 }, None);
    let shown =
        |group: &&Group<Curve>| format!("{} (v={})", short(threshold(group, LEVEL, Direction::Falls).value), group.at);
    let text: Vec<String> = groups.iter().map(shown).collect();
    let measured = format!("exponent {}; P* {}", judged.because, text.join(", "));
    Finding::new(claim, if text.is_empty() { judged.because } else { measured }, judged.verdict.into())
}
