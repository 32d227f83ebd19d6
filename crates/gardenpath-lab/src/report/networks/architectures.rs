//! Three kinds of networks side by side.

use super::family::{Family, LEVEL, LOSS, cut_off, points, sentences_axis};
use super::judge::{self, decimals};
use crate::figure::{Axis, Chart, Figure, Guide, Look, Marker, Point, Series};
use crate::fit::{Estimate, Expected, judge, ratio};
use crate::record::Records;
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "archis_and_titles",
    title: "Inside networks, convolutional networks and transformers",
    paper: "All three kinds of networks need a number of sentences that grows as v^2. The more of the tree a network has in \
            its wiring, the fewer it needs, above all on trees of three levels: inside networks need least, then \
            convolutional ones, then transformers.",
    experiments: &["cnn", "inn", "transformer"],
    draw,
};

/// Names in records and in text, from the fewest sentences to the most.
const MODELS: [(&str, &str); 3] = [("inn", "INN"), ("cnn", "CNN"), ("transformer", "transformer")];
/// The predicted exponent of the vocabulary.
const PREDICTED: u32 = 2;
/// The vocabulary that all experiments have.
const COMMON: f64 = 8.0;
/// What tells vocabularies apart, and their colour in the legend.
const MARKERS: [Marker; 5] = [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Wedge];
const GREY: &str = "#666666";

/// All networks at one depth.
struct Depth {
    depth: u32,
    families: [Family; 3],
}

impl Depth {
    fn new(records: &Records, depth: u32) -> Self {
        let family = |(model, _): (&str, _)| Family::of_networks(records, model, f64::from(depth));
        Depth { depth, families: MODELS.map(family) }
    }

    /// P* of each kind of network at the common vocabulary.
    fn thresholds(&self) -> [Option<Estimate>; 3] {
        self.families.each_ref().map(|family| family.threshold(COMMON))
    }
}

const CAPTION: &str = "The test loss of three kinds of networks (1 is guessing) on trees of two (a) and three (b) levels, \
                       against the number P of training sentences over the square of the vocabulary v. Inside networks \
                       (INN) have filters for exactly those spans that can be nodes of a tree, convolutional networks \
                       (CNN) see neighbouring tokens first, and transformers have to find out by themselves. (c) The \
                       number P* of sentences that halve the loss at v = 8. Error bars are 95% intervals, and are left \
                       out where there are fewer than five seeds.";

fn draw(records: &Records) -> Result<Page> {
    let depths = [2, 3].map(|depth| Depth::new(records, depth));
    let [shallow, deep] = &depths;
    let claim = |name: &str| format!("L = 2: P* of {name} grows as v^2");
    let mut findings: Vec<Finding> = [0, 1]
        .map(|model| judge::exponent(claim(MODELS[model].1), f64::from(PREDICTED), &shallow.families[model]))
        .into();
    findings.extend(depths.iter().flat_map(|depth| [order(depth, 0), order(depth, 1)]));
    Ok(Page {
        figure: Figure {
            panel_height: Some(200.0),
            ..Figure::grid(3, vec![curves(shallow).into(), curves(deep).into(), needs(&depths).into()])
        },
        caption: CAPTION.to_owned() + &cut_off(records),
        findings,
    })
}

fn curves(depth: &Depth) -> Chart {
    let mut vocabs: Vec<f64> = depth.families.iter().flat_map(|family| &family.groups).map(|group| group.at).collect();
    vocabs.sort_by(f64::total_cmp);
    vocabs.dedup();
    let marker = |vocab: f64| MARKERS[vocabs.iter().take_while(|v| **v < vocab).count() % MARKERS.len()];
    let mut series = Vec::new();
    for (number, family) in depth.families.iter().enumerate() {
        for (place, (vocab, points)) in family.bands(f64::from(PREDICTED)).into_iter().enumerate() {
            let name = if place == 0 { MODELS[number].1 } else { "" };
            series.push(Series::new(name, points).look(Look::line().band().number(number).marker(marker(vocab))));
        }
    }
    // Only for the legend: every network has every marker.
    let key = |&vocab: &f64| {
        let look = Look::markers().marker(marker(vocab)).colour(GREY);
        Series::new(format!("*v* = {vocab}"), [Point::new(f64::NAN, 0.0)]).look(look)
    };
    series.extend(vocabs.iter().map(key));
    Chart {
        title: Some(format!("*L* = {}", depth.depth)),
        guides: vec![Guide::horizontal(LEVEL, "")],
        ..Chart::new(sentences_axis(PREDICTED), Axis::linear(LOSS).range(0.0, 1.1), series)
    }
}

fn needs(depths: &[Depth]) -> Chart {
    let series = |depth: &Depth| {
        let thresholds = depth.thresholds().into_iter().enumerate();
        let known = thresholds.filter_map(|(place, threshold)| Some((place as f64, threshold?)));
        Series::new(format!("*L* = {}", depth.depth), points(known)).look(Look::markers())
    };
    Chart {
        title: Some(format!("*v* = {COMMON}")),
        ..Chart::new(
            Axis::linear("").range(-0.4, 2.4).ticks((0..3).map(|place| (f64::from(place), MODELS[place as usize].1))),
            Axis::log("sentences *P*^*"),
            depths.iter().map(series).collect(),
        )
    }
}

/// Whether one kind of network needs fewer sentences than the next one.
fn order(depth: &Depth, fewer: usize) -> Finding {
    let names = [fewer, fewer + 1].map(|model| MODELS[model].1);
    let claim = format!("L = {}: {} needs fewer sentences than {}", depth.depth, names[0], names[1]);
    let thresholds = [fewer, fewer + 1].map(|model| depth.thresholds()[model].clone());
    let words = |k: usize| match (&thresholds[k], depth.families[fewer + k].has(COMMON)) {
        (Some(threshold), _) => format!("{} {threshold}", names[k]),
        (None, true) => format!("{} does not fall through {LEVEL}", names[k]),
        (None, false) => format!("{} was not measured", names[k]),
    };
    let both = format!("at v = {COMMON}: {}, {}", words(0), words(1));
    let at_common = |model: usize| {
        let groups = depth.families[model].crossings().into_iter().filter(|group| group.at == COMMON);
        groups.flat_map(|group| group.replicates).collect::<Vec<f64>>()
    };
    let found = ratio(&[(&at_common(fewer + 1), &at_common(fewer))]).ratio;
    if found.value.is_nan() {
        return Finding::new(claim, both, Verdict::TooSmall);
    }
    let judged = judge(&found, Expected::AtLeast(1.0), None);
    Finding::new(claim, format!("{both}, ratio {}: {}", decimals(&found), judged.because), judged.verdict.into())
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;

    const VOCABS: [f64; 3] = [8.0, 12.0, 16.0];

    /// Networks that need these multiples of v^2 at depth 2, and ten times that at depth 3, but without transformers.
    fn findings(multiples: [f64; 3]) -> Vec<Finding> {
        let mut all = Vec::new();
        for ((model, _), multiple) in MODELS.iter().zip(multiples) {
            all.extend(synthetic::networks(model, 2, &VOCABS, |vocab| multiple * vocab * vocab));
            if *model != "transformer" {
                all.extend(synthetic::networks(model, 3, &[4.0, 8.0], |vocab| 10.0 * multiple * vocab * vocab));
            }
        }
        let page = draw(&Records { all }).unwrap();
        assert!(page.figure.png(1.0).is_ok());
        page.findings
    }

    fn verdicts(multiples: [f64; 3]) -> Vec<Verdict> {
        findings(multiples).iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn the_order_is_found_and_what_is_missing_is_not() {
        use Verdict::{Agrees, Differs, TooSmall};
        assert_eq!(verdicts([3.0, 10.0, 40.0]), [Agrees, Agrees, Agrees, Agrees, Agrees, TooSmall]);
        assert_eq!(verdicts([10.0, 3.0, 40.0]), [Agrees, Agrees, Differs, Agrees, Differs, TooSmall]);
        assert_eq!(verdicts([10.0, 10.0, 1.0]), [Agrees, Agrees, TooSmall, Differs, TooSmall, TooSmall]);
    }

    #[test]
    fn few_seeds_cannot_tell() {
        let few = |model: &str, multiple: f64| {
            let all = synthetic::networks(model, 2, &[COMMON], |_| 100.0 * multiple);
            Records { all }.filter(|record| record.number("seed") <= 4.0).all
        };
        let all = [few("inn", 1.0), few("cnn", 5.0)].concat();
        let finding = order(&Depth::new(&Records { all }, 2), 0);
        assert_eq!(finding.verdict, Verdict::TooSmall, "{}", finding.measured);
        assert!(
            finding.measured.ends_with("has no interval: 4 seeds; an interval needs at least 5"),
            "{}",
            finding.measured
        );
    }

    #[test]
    fn numbers_are_those_at_the_common_vocabulary() {
        let measured = &findings([3.0, 12.0, 40.0])[2].measured;
        assert!(measured.starts_with("at v = 8: INN 192 [") && measured.contains("CNN 768 ["), "{measured}");
        assert!(measured.contains("ratio 4.00 ["), "{measured}");
    }
}
