//! Covariance vectors of rules on the plane of their largest variance.

use crate::draw::table::{grouped, short};
use crate::figure::{Axis, Chart, Figure, Legend, Look, Marker, Panel, Point, Series};
use crate::record::Records;
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;
use serde_json::Value;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "triptic",
    title: "What clustering sees: covariance vectors in two dimensions",
    paper: "Covariances of pairs with the root form one cluster for each parent. Those of triples do not where a triple overlaps with a binary \
            rule; after the part of the pairs is taken out they do.",
    experiments: &["vectors"],
    draw,
};

/// The panels: name in the results, and title.
const PANELS: [(&str, &str); 3] = [("pairs", "pairs"), ("triples", "triples"), ("corrected", "triples, corrected")];

fn draw(records: &Records) -> Result<Page> {
    let record = records.all.first();
    let result = |name: &str| record.and_then(|record| record.result.get(name)).cloned().unwrap_or_default();
    let overlaps: Vec<bool> = list(&result("overlaps")).iter().map(|value| value.as_bool() == Some(true)).collect();
    let panels = PANELS.map(|(name, title)| {
        let overlaps: &[bool] = if name == "pairs" { &[] } else { &overlaps };
        Panel::Chart(panel(&result(name), title, overlaps))
    });
    let nearest = |name: &str| result(name)["nearest"].as_f64().unwrap_or(f64::NAN);
    let samples = record.map_or(0.0, |record| record.number("samples"));
    let caption = format!(
        "Covariance vectors of the rules of four parents (one colour each) with the root, projected on their two main directions, from {} \
         sentences (v = 16, f = 1/4, L = 2). Crosses: triples that contain a binary rule. Right: after the correction for pairs.",
        grouped(samples as u64)
    );
    Ok(Page { figure: Figure::grid(3, panels.into()), caption, findings: findings(nearest) })
}

fn findings(nearest: impl Fn(&str) -> f64) -> Vec<Finding> {
    let [pairs, triples, corrected] = PANELS.map(|(name, _)| nearest(name));
    if pairs.is_nan() {
        return vec![Finding::new("synonyms have the same covariances", "nothing was measured", Verdict::TooSmall)];
    }
    let percent = |value: f64| format!("{}%", short(100.0 * value));
    vec![
        Finding::check(
            "pairs of one parent lie together",
            format!("{} are nearest to the mean of their own parent", percent(pairs)),
            pairs > 0.95,
        ),
        Finding::check(
            "the correction for pairs brings triples of one parent together",
            format!(
                "{} are nearest to the mean of their own parent, {} before the correction",
                percent(corrected),
                percent(triples)
            ),
            corrected > triples && corrected > 0.9,
        ),
    ]
}

fn panel(projected: &Value, title: &str, overlaps: &[bool]) -> Chart {
    let numbers =
        |name: &str| list(&projected[name]).iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect::<Vec<_>>();
    let (parents, x, y) = (numbers("parents"), numbers("x"), numbers("y"));
    // One unit for both axes that leaves numbers of order one.
    let size = x.iter().chain(&y).fold(f64::MIN_POSITIVE, |size, value| size.max(value.abs()));
    let mut series = Vec::new();
    for parent in 0..4 {
        for overlapping in [false, true] {
            let here = (0..x.len()).filter(|&i| {
                parents[i] == f64::from(parent) && overlaps.get(i).copied().unwrap_or(false) == overlapping
            });
            let points: Vec<Point> = here.map(|i| Point::new(x[i] / size, y[i] / size)).collect();
            let marker = if overlapping { Marker::Cross } else { Marker::Circle };
            if !points.is_empty() {
                series.push(Series::new("", points).look(Look::markers().number(parent as usize).marker(marker)));
            }
        }
    }
    Chart {
        title: Some(title.into()),
        legend: Legend::Hidden,
        ..Chart::new(
            Axis::linear("first direction").range(-1.1, 1.1),
            Axis::linear("second direction").range(-1.1, 1.1),
            series,
        )
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
