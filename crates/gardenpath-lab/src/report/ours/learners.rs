//! Ours: how many sentences does each learner and each network need?

use crate::draw::table::short;
use crate::figure::{Axis, Chart, Figure, Guide, Look, Panel, Series};
use crate::fit::{Direction, Group, average, band, threshold};
use crate::record::{Curve, Records};
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "learners",
    title: "How many sentences does each learner need?",
    paper: "This figure is not in the paper. Its algorithm is a proof that statistics of adjacent symbols suffice; whether another one needs \
            fewer sentences, and how networks compare, is left open.",
    experiments: &["learners", "cnn", "inn", "transformer"],
    draw,
};

/// Who is compared: words, the parameter that tells, and its value.
const LEARNERS: [(&str, &str, &str); 6] = [
    ("exact learner", "mode", "exact"),
    ("paper's algorithm", "mode", "paper"),
    ("EM", "mode", "em"),
    ("INN", "model", "inn"),
    ("CNN", "model", "cnn"),
    ("transformer", "model", "transformer"),
];

const LEVEL: f64 = 0.5;

fn draw(records: &Records) -> Result<Page> {
    let shallow = records.with("depth", 2.0);
    let panels = [8.0, 16.0].map(|vocab| Panel::Chart(panel(&shallow.with("vocab", vocab), vocab)));
    let caption = "Share of wrong classes on new sentences, in units of guessing, against the number of sentences to learn from (L = 2, f = 1/v): \
                   the learner that recovers all rules, the algorithm of the paper, EM from random starts, and three networks. Bands are one standard error \
                   over grammars.";
    let findings = vec![order(&shallow.with("vocab", 8.0)), recovers(&shallow)];
    Ok(Page { figure: Figure::grid(2, panels.into()), caption: caption.into(), findings })
}

fn curve(records: &Records, (key, value): (&str, &str)) -> Curve {
    records.with_text(key, value).curve("samples", "normalized_error")
}

fn panel(records: &Records, vocab: f64) -> Chart {
    let series = LEARNERS.iter().enumerate().map(|(number, &(words, key, value))| {
        Series::new(words, band(&curve(records, (key, value)))).look(Look::line().band().number(number))
    });
    Chart {
        title: Some(format!("*v* = {vocab}")),
        guides: vec![Guide::horizontal(LEVEL, "")],
        ..Chart::new(
            Axis::log("sentences *P*"),
            Axis::linear("error / error of guessing").range(0.0, 1.1),
            series.filter(|series| !series.points.is_empty()).collect(),
        )
    }
}

/// Where each falls to half of the errors of guessing.
fn order(records: &Records) -> Finding {
    let claim = "the exact learner needs fewer sentences than any network (v = 8)";
    let needs = |key: &str, value: &str| {
        let curves = records.with_text(key, value).curves("samples", "normalized_error");
        Some(threshold(&Group::new(8.0, curves), LEVEL, Direction::Falls).value).filter(|needs| needs.is_finite())
    };
    let all: Vec<(&str, Option<f64>)> =
        LEARNERS.iter().map(|&(words, key, value)| (words, needs(key, value))).collect();
    let shown = |(words, needs): &(&str, Option<f64>)| match needs {
        Some(samples) => format!("{words} {}", short(samples.round())),
        None => format!("{words} –"),
    };
    let measured = format!("half of the errors at P = {}", all.iter().map(shown).collect::<Vec<_>>().join(", "));
    let Some(exact) = all[0].1 else { return Finding::new(claim, measured, Verdict::TooSmall) };
    let networks: Vec<f64> = all[3..].iter().filter_map(|(_, needs)| *needs).collect();
    if networks.is_empty() {
        return Finding::new(claim, measured, Verdict::TooSmall);
    }
    Finding::check(claim, measured, networks.iter().all(|&needs| exact < needs))
}

/// At the largest number of sentences, which learner has every rule?
fn recovers(records: &Records) -> Finding {
    let claim = "the exact learner recovers every rule, the algorithm of the paper does not at these vocabularies";
    let learned = |mode: &str| {
        let of_mode = records.with_text("mode", mode);
        let most = of_mode.filter(|record| {
            let same = of_mode.with("vocab", record.number("vocab"));
            same.values("samples").last() == Some(&record.number("samples"))
        });
        let right = most
            .all
            .iter()
            .filter(|record| record.result.get("all_rules").and_then(serde_json::Value::as_bool) == Some(true));
        let recall: Vec<f64> = most.all.iter().map(|record| record.number("recall")).collect();
        (right.count(), most.all.len(), average(&recall))
    };
    let (exact, paper) = (learned("exact"), learned("paper"));
    if exact.1 == 0 {
        return Finding::new(claim, "nothing was measured", Verdict::TooSmall);
    }
    let shown =
        |(right, all, recall): (usize, usize, f64)| format!("{right} of {all} grammars, mean recall {}", short(recall));
    let measured = format!("exact: {}; paper: {}", shown(exact), shown(paper));
    Finding::check(claim, measured, exact.0 == exact.1 && paper.0 < paper.1)
}
