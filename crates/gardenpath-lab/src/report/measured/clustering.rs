//! Purity of the clusters of true rules against the number of sentences.

use crate::draw::table::short;
use crate::figure::{Axis, Chart, Dash, Figure, Look, Panel, Series};
use crate::fit::{
    Curve, Direction, Expected, Group, average, band, band_of_group, collapse, crossings, exponent, judge,
};
use crate::record::Records;
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "clustering",
    title: "Clustering of synonyms by their covariance with the root",
    paper: "k-means on covariance vectors groups the rules of each parent, the purer the more sentences there are: binary rules at a number of \
            sentences v m_2^L, ternary rules at v m_2^(L-1) m_3. The curves end at a purity of 1.",
    experiments: &["purity"],
    draw,
};

/// Binary or ternary rules: the name of the result, its words, and the exponent of v at constant fraction and depth 2.
const KINDS: [(&str, &str, f64); 2] = [("binary", "binary", 3.0), ("ternary", "ternary", 4.0)];

/// A purity half-way between nothing and everything for all vocabularies.
const LEVEL: f64 = 0.6;

fn draw(records: &Records) -> Result<Page> {
    let vocabs = records.values("vocab");
    let curve = |vocab: f64, kind: &str| records.with("vocab", vocab).curve("samples", kind);
    let mut raw = Vec::new();
    for (number, &vocab) in vocabs.iter().enumerate() {
        let solid = Look::line().band().number(number);
        raw.push(Series::new(format!("*v* = {vocab}"), band(&curve(vocab, "binary"))).look(solid));
        let dashed = Look { dash: Some(Dash::Dashed), ..Look::line().band().number(number) };
        raw.push(Series::new("", band(&curve(vocab, "ternary"))).look(dashed));
    }
    let mut panels = vec![Panel::Chart(Chart {
        title: Some("binary solid, ternary dashed".into()),
        ..Chart::new(Axis::log("sentences *P*"), Axis::linear("mean group purity"), raw)
    })];
    let mut findings = Vec::new();
    for (kind, words, exponent) in KINDS {
        let group = |&vocab: &f64| Group::new(vocab, records.with("vocab", vocab).curves("samples", kind));
        let groups: Vec<Group<Curve>> = vocabs.iter().map(group).collect();
        let scaled = groups.iter().map(|group| {
            let points = band_of_group(group).into_iter().map(|mut point| {
                point.x /= group.at.powf(exponent);
                point
            });
            Series::new(format!("*v* = {}", group.at), points).look(Look::line().band())
        });
        let label = format!("*P* / *v*^{exponent}");
        panels.push(Panel::Chart(Chart {
            title: Some(format!("{words} rules")),
            ..Chart::new(Axis::log(label), Axis::linear("mean group purity"), scaled.collect())
        }));
        findings.push(scaling(words, exponent, &groups));
    }
    findings.push(ceiling(records));
    let caption = "Mean group purity of k-means with v clusters on the covariance vectors of the true rules (L = 2, f = 1/4), against the number of \
                   sentences, and against that number in units of the predicted scale: v m_2^2 ~ v^3 for binary rules, v m_2 m_3 ~ v^4 for \
                   ternary ones.";
    Ok(Page { figure: Figure::grid(3, panels), caption: caption.into(), findings })
}

fn scaling(words: &str, predicted: f64, groups: &[Group<Curve>]) -> Finding {
    let claim = format!("{words} rules need a number of sentences that grows as v^{predicted} at constant f");
    let law = exponent(&groups.iter().map(|group| crossings(group, LEVEL, Direction::Rises)).collect::<Vec<_>>());
    let judged = judge(&law.exponent, Expected::Near { value: predicted, margin: 0.6 }, None);
    let collapse = collapse(groups, predicted);
    let measured = format!(
        "exponent {} at purity {LEVEL}; collapse at {}, with a misfit of {} ({} at v^{predicted})",
        judged.because,
        collapse.exponent,
        short(collapse.misfit),
        short(collapse.predicted_misfit),
    );
    Finding::new(claim, measured, judged.verdict.into())
}

/// Purity at the largest number of sentences.
fn ceiling(records: &Records) -> Finding {
    let claim = "with many sentences the clusters become pure";
    let Some(most) = records.values("samples").last().copied() else {
        return Finding::new(claim, "nothing was measured", Verdict::TooSmall);
    };
    let last = records.with("samples", most);
    let at = |vocab: f64, kind: &str| {
        average(&last.with("vocab", vocab).all.iter().map(|record| record.number(kind)).collect::<Vec<_>>())
    };
    let of_vocab = |&vocab: &f64| format!("{}/{} (v={vocab})", short(at(vocab, "binary")), short(at(vocab, "ternary")));
    let text: Vec<String> = last.values("vocab").iter().map(of_vocab).collect();
    let smallest = last.values("vocab").first().map_or(1.0, |&vocab| at(vocab, "ternary"));
    let verdict = if smallest > 0.97 { Verdict::Agrees } else { Verdict::Corrected };
    Finding::new(
        claim,
        format!("binary/ternary at P = {}: {}; ternary rules have a ceiling set by v", short(most), text.join(", ")),
        verdict,
    )
}
