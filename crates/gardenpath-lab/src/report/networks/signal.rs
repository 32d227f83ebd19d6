//! The number of sentences that networks need, beside the number at which local statistics rise out of their noise.

use super::family::{Family, LEVEL, points};
use super::judge::{self, decimals, mean_ratio};
use crate::figure::{Axis, Chart, Figure, Guide, Look, Marker, Series};
use crate::fit::{Estimate, mean};
use crate::record::{Record, Records};
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;
use std::collections::BTreeMap;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "CNN_CNN-SNR",
    title: "What networks need, and what the statistics of triples predict",
    paper: "The number of sentences that convolutional networks need grows as v^2 and by a factor of 8 per level, and \
            agrees with the number at which the correlations of triples with the root stand out of their noise.",
    experiments: &["cnn", "snr"],
    draw,
};

/// The predicted exponent of the vocabulary.
const PREDICTED: f64 = 2.0;
/// What another level costs according to the paper, and with tokens counted as they occur.
const PAPER_FACTOR: f64 = 8.0;
const CORRECTED_FACTOR: f64 = 12.5;
/// Ratios of networks to statistics that differ by no more than this factor count as the same.
const SAME: f64 = 2.0;

/// Networks and statistics at one depth.
struct Depth {
    depth: u32,
    networks: Family,
    statistics: Family,
}

impl Depth {
    fn new(records: &Records, depth: u32) -> Self {
        let networks = Family::of_networks(records, "cnn", f64::from(depth));
        let records = records.with_text("measure", "snr").with("depth", f64::from(depth));
        let curve = |vocab: f64| (vocab, inverse_ratio(&records.with("vocab", vocab)));
        let statistics = Family { curves: records.values("vocab").into_iter().map(curve).collect() };
        Depth { depth, networks, statistics }
    }

    /// P* of the networks and of the statistics, where both are known.
    fn pairs(&self) -> Vec<(Estimate, Estimate)> {
        common(&self.networks, &self.statistics)
    }
}

/// P* of two families at the vocabularies where both are known.
fn common(one: &Family, other: &Family) -> Vec<(Estimate, Estimate)> {
    let one = one.thresholds().into_iter();
    one.filter_map(|(vocab, threshold)| Some((threshold, other.threshold(vocab)?))).collect()
}

/// Noise over signal for each number of sentences. The signal is the mean over grammars: it can be small in some.
fn inverse_ratio(records: &Records) -> Vec<(f64, Vec<f64>)> {
    let signals: Vec<f64> = records.all.iter().map(|record| record.number("signal")).collect();
    let signal = mean(&signals);
    let mut ratios: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let sizes = |record: &Record| record.numbers("sizes").into_iter().zip(record.numbers("noise"));
    for (size, noise) in records.all.iter().flat_map(sizes) {
        ratios.entry(size as u64).or_default().push(noise / signal);
    }
    ratios.into_iter().map(|(size, ratios)| (size as f64, ratios)).collect()
}

fn draw(records: &Records) -> Result<Page> {
    let depths = [2, 3].map(|depth| Depth::new(records, depth));
    let pairs: Vec<(Estimate, Estimate)> = depths.iter().flat_map(Depth::pairs).collect();
    let ratio = mean_ratio(&pairs);
    let mut findings: Vec<Finding> = depths.iter().flat_map(exponents).collect();
    findings.push(agreement(&pairs, ratio));
    let [shallow, deep] = &depths;
    findings.push(depth_factor("networks", &common(&deep.networks.large(), &shallow.networks)));
    findings.push(depth_factor("statistics", &common(&deep.statistics.large(), &shallow.statistics)));
    Ok(Page {
        figure: Figure::grid(2, vec![against_vocabulary(&depths).into(), against_each_other(&depths, ratio).into()]),
        caption: "(a) The number P* of training sentences that halve the loss of convolutional networks (filled \
                  symbols with 95% intervals), for v symbols and trees of depth L, and the number of sentences at which the \
                  dependence of the root on a triple of tokens is twice as large as its noise (lines). (b) The two against \
                  each other: both thresholds are one half, and on the diagonal they would be equal."
            .into(),
        findings,
    })
}

fn against_vocabulary(depths: &[Depth]) -> Chart {
    let mut series = Vec::new();
    for (number, Depth { depth, networks, statistics }) in depths.iter().enumerate() {
        let (networks, statistics) = (networks.thresholds(), statistics.thresholds());
        let line = statistics.iter().map(|(vocab, threshold)| (*vocab, threshold.value));
        series.push(Series::new(format!("CNN, *L* = {depth}"), points(networks)).look(Look::markers().number(number)));
        let look = Look::line().number(number).marker(Marker::Plus);
        series.push(Series::new(format!("statistics, *L* = {depth}"), line).look(look));
    }
    let vocabs = [4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0];
    // A guide below all points covers none of them.
    let lowest = series.iter().flat_map(|series| &series.points);
    let lowest = lowest.map(|point| point.y / point.x.powf(PREDICTED)).fold(f64::INFINITY, f64::min);
    let guide = Guide::sloped(PREDICTED, (1.0, 0.6 * lowest), "∝ *v*^2");
    Chart {
        guides: if lowest.is_finite() { vec![guide] } else { vec![] },
        ..Chart::new(
            Axis::log("vocabulary *v*").ticks(vocabs.map(|vocab| (vocab, vocab.to_string()))),
            Axis::log("sentences *P*^*"),
            series,
        )
    }
}

fn against_each_other(depths: &[Depth], ratio: Option<Estimate>) -> Chart {
    let series: Vec<Series> = depths
        .iter()
        .map(|depth| {
            let pairs = depth.pairs().into_iter().map(|(networks, statistics)| (statistics.value, networks));
            Series::new(format!("*L* = {}", depth.depth), points(pairs)).look(Look::markers())
        })
        .collect();
    let ends = series.iter().flat_map(|series| &series.points).flat_map(|point| [point.x, point.y]);
    let (low, high) = ends.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), end| (low.min(end), high.max(end)));
    let axis = |label: &str| Axis { range: (low < high).then_some((0.6 * low, high / 0.6)), ..Axis::log(label) };
    let mut guides = vec![Guide::sloped(1.0, (1.0, 1.0), "equal")];
    guides.extend(ratio.map(|ratio| Guide::sloped(1.0, (1.0, ratio.value), format!("× {:.2}", ratio.value))));
    Chart { guides, ..Chart::new(axis("*P*^* of the statistics"), axis("*P*^* of CNN"), series) }
}

fn exponents(depth: &Depth) -> [Finding; 2] {
    let claim = |whose: &str| format!("L = {}: P* of {whose} grows as v^2", depth.depth);
    [
        judge::exponent(claim("networks"), PREDICTED, &depth.networks),
        judge::exponent(claim("the statistics"), PREDICTED, &depth.statistics),
    ]
}

/// Whether networks and statistics differ by the same factor everywhere.
fn agreement(pairs: &[(Estimate, Estimate)], ratio: Option<Estimate>) -> Finding {
    let claim = "Networks learn where the statistics predict it, up to the same factor at all v and L";
    let ratios = pairs.iter().map(|(networks, statistics)| networks.value / statistics.value);
    let (low, high) = ratios.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    match ratio {
        Some(ratio) if pairs.len() > 1 => {
            let count = pairs.len();
            let measured = format!("ratio {}, from {low:.2} to {high:.2} at {count} sizes", decimals(&ratio));
            Finding::check(claim, measured, high <= SAME * low)
        }
        _ => Finding::new(claim, format!("{} sizes at which both cross {LEVEL}", pairs.len()), Verdict::TooSmall),
    }
}

/// What another level costs.
fn depth_factor(whose: &str, pairs: &[(Estimate, Estimate)]) -> Finding {
    let claim = format!("P* of {whose} at L = 3 is 8 times that at L = 2 (corrected: 12.5 times)");
    let Some(factor) = mean_ratio(pairs) else {
        return Finding::new(claim, format!("no vocabulary at which both depths cross {LEVEL}"), Verdict::TooSmall);
    };
    let count = pairs.len();
    let sizes = if count == 1 { "one vocabulary".into() } else { format!("{count} vocabularies") };
    let verdict = match (factor.contains(PAPER_FACTOR), factor.contains(CORRECTED_FACTOR)) {
        (true, false) => Verdict::Agrees,
        (false, true) => Verdict::Corrected,
        (true, true) => Verdict::TooSmall,
        (false, false) if factor.low.is_nan() => Verdict::TooSmall,
        (false, false) => Verdict::Differs,
    };
    Finding::new(claim, format!("factor {} at {sizes}", decimals(&factor)), verdict)
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;

    /// The findings if networks need so many times what the statistics say, and depth costs a factor.
    fn findings(networks: fn(f64) -> f64, factor: f64) -> Vec<Finding> {
        let star = |depth: u32, vocab: f64| vocab.powi(2) * factor.powi(depth as i32 - 1);
        let mut all = Vec::new();
        for depth in [2, 3] {
            let vocabs = [8.0, 12.0, 16.0];
            all.extend(synthetic::networks("cnn", depth, &vocabs, |vocab| networks(vocab) * star(depth, vocab)));
            all.extend(synthetic::ratios(depth, &vocabs, |vocab| star(depth, vocab)));
        }
        let page = draw(&Records { all }).unwrap();
        assert!(page.figure.png(1.0).is_ok());
        page.findings
    }

    fn verdicts(networks: fn(f64) -> f64, factor: f64) -> Vec<Verdict> {
        findings(networks, factor).iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn the_corrected_depth_and_the_paper_s_are_told_apart() {
        use Verdict::{Agrees, Corrected, Differs};
        assert_eq!(verdicts(|_| 0.3, 12.5), [Agrees, Agrees, Agrees, Agrees, Agrees, Corrected, Corrected]);
        assert_eq!(verdicts(|_| 0.3, 8.0)[5..], [Agrees, Agrees]);
        assert_eq!(verdicts(|_| 0.3, 5.0)[5..], [Differs, Differs]);
    }

    #[test]
    fn a_ratio_that_depends_on_the_vocabulary_differs() {
        assert_eq!(verdicts(|vocab| (vocab / 8.0).powi(2), 12.5)[4], Verdict::Differs);
        assert!(findings(|_| 0.3, 12.5)[4].measured.starts_with("ratio 0.30 ["));
    }

    #[test]
    fn a_factor_that_could_be_both_is_too_small_to_tell() {
        let pair = |low: f64, high: f64| {
            let deep = Estimate { value: 10.0, low, high };
            depth_factor("", &[(deep, Estimate { value: 1.0, low: 1.0, high: 1.0 })]).verdict
        };
        assert_eq!(pair(7.0, 14.0), Verdict::TooSmall);
        assert_eq!(pair(9.0, 14.0), Verdict::Corrected);
        assert_eq!(pair(7.0, 11.0), Verdict::Agrees);
        assert_eq!(pair(9.0, 11.0), Verdict::Differs);
        assert_eq!(pair(f64::NAN, f64::NAN), Verdict::TooSmall);
    }

    #[test]
    fn noise_is_divided_by_the_mean_signal() {
        let records = Records { all: synthetic::ratios(2, &[8.0], |_| 320.0) };
        let curve = inverse_ratio(&records);
        assert_eq!((curve.len(), curve[0].0, curve[0].1.len()), (10, 10.0, 3));
        let at_star = curve.iter().find(|(size, _)| *size == 320.0).unwrap();
        assert!((mean(&at_star.1) - 0.5).abs() < 1e-12);
    }
}
