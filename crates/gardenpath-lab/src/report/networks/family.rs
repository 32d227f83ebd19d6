//! Learning curves that differ in the vocabulary, and the number of sentences P* at which each falls to a level, usually one half.

use crate::figure::{Axis, Chart, Guide, Look, Palette, Point, Series};
use crate::fit::{Curve, Direction, Estimate, Group, PowerLaw, band_of_group, crossings, exponent, threshold};
use crate::record::Records;

/// A network has learned when its loss falls to this part of guessing.
pub const LEVEL: f64 = 0.5;

/// Where curves are compared, if they do not all fall to one half.
const COMMON_LEVELS: [f64; 4] = [LEVEL, 0.6, 0.7, 0.8];

/// Below this vocabulary, symbols have so few rules that laws for many of them need not hold.
const LARGE: f64 = 8.0;

/// The name of the axis of losses.
pub const LOSS: &str = "test loss, in units of guessing";

/// One curve for each vocabulary, increasing.
#[derive(Clone)]
pub struct Family {
    /// The curves of all seeds at each vocabulary.
    pub groups: Vec<Group<Curve>>,
    /// Where a curve falls to this is its P*.
    pub level: f64,
}

impl Family {
    /// Curves whose P* is where they fall to one half.
    pub fn new(groups: Vec<Group<Curve>>) -> Self {
        Family { groups, level: LEVEL }
    }

    /// The losses of one kind of network at one depth.
    pub fn of_networks(records: &Records, model: &str, depth: f64) -> Self {
        let records = records.with_text("measure", "train").with_text("model", model).with("depth", depth);
        let group = |vocab: f64| Group::new(vocab, records.with("vocab", vocab).curves("samples", "normalized_loss"));
        Family::new(records.values("vocab").into_iter().map(group).collect())
    }

    /// The same curves, with the lowest level to which all of them fall: one half, or a tenth or more above it. If they fall
    /// on one another after rescaling, they do so at any level.
    pub fn at_a_common_level(self) -> Self {
        let falls = |p: &f64| *p > 0.0 && p.is_finite();
        let all_fall = |level: &f64| {
            let family = Family { level: *level, ..self.clone() };
            family.crossings().iter().all(|group| group.replicates.iter().all(falls))
        };
        let level = COMMON_LEVELS.into_iter().find(all_fall).unwrap_or(LEVEL);
        Family { level, ..self }
    }

    /// Whether there are results for a vocabulary.
    pub fn has(&self, vocab: f64) -> bool {
        self.groups.iter().any(|group| group.at == vocab)
    }

    /// The curves of large vocabularies.
    pub fn large(&self) -> Family {
        Family { groups: self.groups.iter().filter(|group| group.at >= LARGE).cloned().collect(), ..*self }
    }

    /// Where the curve of each seed falls to the level.
    pub fn crossings(&self) -> Vec<Group<f64>> {
        self.groups.iter().map(|group| crossings(group, self.level, Direction::Falls)).collect()
    }

    /// P* for each vocabulary at which most curves fall to the level.
    pub fn thresholds(&self) -> Vec<(f64, Estimate)> {
        let all = self.groups.iter().map(|group| (group.at, threshold(group, self.level, Direction::Falls)));
        all.filter(|(_, threshold)| threshold.value.is_finite()).collect()
    }

    /// P* for a vocabulary.
    pub fn threshold(&self, vocab: f64) -> Option<Estimate> {
        self.thresholds().into_iter().find(|(found, _)| *found == vocab).map(|(_, threshold)| threshold)
    }

    /// P* as a power of the vocabulary.
    pub fn law(&self) -> PowerLaw {
        exponent(&self.crossings())
    }

    /// The mean over seeds with its standard error, against the number of sentences over a power of the vocabulary.
    pub fn bands(&self, exponent: f64) -> Vec<(f64, Vec<Point>)> {
        let rescaled = |vocab: f64, point: Point| Point { x: point.x / vocab.powf(exponent), ..point };
        let points = |group: &Group<Curve>| {
            (group.at, band_of_group(group).into_iter().map(|point| rescaled(group.at, point)).collect())
        };
        self.groups.iter().map(points).collect()
    }

    /// All curves in one chart, against the number of sentences over a power of the vocabulary.
    pub fn chart(&self, title: String, exponent: u32) -> Chart {
        let series = |(vocab, points): (f64, Vec<Point>)| {
            Series::new(format!("*v* = {vocab}"), points).look(Look::line().band())
        };
        Chart {
            title: Some(title),
            guides: vec![Guide::horizontal(self.level, "")],
            palette: Palette::Ordered,
            ..Chart::new(
                sentences_axis(exponent),
                Axis::linear(LOSS).range(0.0, 1.1),
                self.bands(f64::from(exponent)).into_iter().map(series).collect(),
            )
        }
    }
}

/// The axis of numbers of sentences over a power of the vocabulary.
pub fn sentences_axis(exponent: u32) -> Axis {
    match exponent {
        0 => Axis::log("training sentences *P*"),
        _ => Axis::log(format!("*P* / *v*^{exponent}")),
    }
}

/// A sentence about networks whose training was cut off, if there are any, to be put behind a caption.
pub fn cut_off(records: &Records) -> String {
    let runs = records.with_text("measure", "train");
    match (runs.with_text("ending", "steps").all.len(), runs.all.len()) {
        (0, _) => String::new(),
        (cut, all) => format!(
            " {cut} of {all} networks came to their limit of steps while they were learning: their losses are upper bounds, \
             and so is a P* that depends on them."
        ),
    }
}

/// P* against something as points with their intervals, as far as these are known.
pub fn points(thresholds: impl IntoIterator<Item = (f64, Estimate)>) -> Vec<Point> {
    let known = |end: Option<f64>| end.filter(|end| end.is_finite() && *end > 0.0);
    let point = |(x, Estimate { value, interval, .. })| Point {
        x,
        y: value,
        low: known(interval.map(|ends| ends.0)),
        high: known(interval.map(|ends| ends.1)),
    };
    thresholds.into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;

    #[test]
    fn families_are_of_one_network_and_depth() {
        let law = |vocab: f64| 3.0 * vocab.powi(2);
        let mut all = synthetic::networks("cnn", 2, &[8.0, 16.0], law);
        all.extend(synthetic::networks("cnn", 3, &[8.0], |vocab| 10.0 * law(vocab)));
        all.extend(synthetic::networks("inn", 2, &[8.0], |vocab| 0.1 * law(vocab)));
        let family = Family::of_networks(&Records { all }, "cnn", 2.0);
        let thresholds = family.thresholds();
        assert_eq!(thresholds.iter().map(|(vocab, _)| *vocab).collect::<Vec<_>>(), [8.0, 16.0]);
        for (vocab, threshold) in thresholds {
            assert!((threshold.value / law(vocab) - 1.0).abs() < 0.02 && threshold.contains(law(vocab)));
        }
        assert!(family.law().exponent.value > 1.9 && family.threshold(12.0).is_none());
    }

    #[test]
    fn rescaling_divides_the_sentences_only() {
        let family = Family::new(vec![Group::new(4.0, [0.2, 0.4].map(|loss| Curve::new([(32.0, loss)])))]);
        let (raw, rescaled) = (family.bands(0.0), family.bands(2.0));
        assert_eq!((raw[0].1[0].x, rescaled[0].1[0].x), (32.0, 2.0));
        assert_eq!(Point { x: 32.0, ..rescaled[0].1[0] }, raw[0].1[0]);
    }

    #[test]
    fn a_common_level_is_as_low_as_all_curves_reach() {
        let down_to = |v: f64, lowest: f64| Group::new(v, vec![Curve::new([(10.0, 1.0), (1000.0, lowest - 0.01)]); 3]);
        for (lowest, level) in [(0.3, 0.5), (0.5, 0.5), (0.55, 0.6), (0.8, 0.8), (0.9, 0.5)] {
            let family = Family::new(vec![down_to(4.0, 0.2), down_to(8.0, lowest)]).at_a_common_level();
            assert_eq!(family.level, level, "{lowest}");
            assert_eq!(family.thresholds().len(), if lowest == 0.9 { 1 } else { 2 });
        }
    }

    #[test]
    fn networks_that_were_cut_off_are_counted() {
        let mut all = synthetic::networks("cnn", 2, &[8.0], |_| 100.0);
        assert_eq!(cut_off(&Records { all: all.clone() }), "");
        all[3].result.insert("ending".into(), "steps".into());
        all[4].result.insert("ending".into(), "plateau".into());
        assert!(cut_off(&Records { all }).starts_with(" 1 of 45 networks"));
    }

    #[test]
    fn ends_that_are_not_known_are_not_drawn() {
        let unknown = Estimate::without_interval(5.0, 2, "");
        let open = Estimate { value: 4.0, interval: Some((2.0, f64::INFINITY)), ..unknown.clone() };
        let found = points([(1.0, open), (2.0, unknown)]);
        assert_eq!(found, [Point { x: 1.0, y: 4.0, low: Some(2.0), high: None }, Point::new(2.0, 5.0)]);
    }
}
