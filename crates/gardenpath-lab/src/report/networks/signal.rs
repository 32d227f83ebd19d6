//! The number of sentences that networks need, beside the number at which local statistics rise out of their noise.

use super::family::{Family, LEVEL, cut_off, points};
use super::judge::{self, decimals, is_near, mean_ratio, vocabularies};
use crate::figure::{Axis, Chart, Dash, Figure, Guide, Look, Series};
use crate::fit::{Estimate, mean};
use crate::record::{Curve, Record, Records};
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
/// With fewer seeds, an interval holds the truth less than half of the time, and cannot tell these factors apart.
const FEWEST_SEEDS: usize = 3;
/// Networks and statistics agree if they differ by no more than this factor.
const CLOSE: f64 = 2.0;

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
        let statistics = Family::new(records.values("vocab").into_iter().map(curve).collect());
        Depth { depth, networks, statistics }
    }
}

/// P* of two families at the vocabularies where both are known.
fn common(one: &Family, other: &Family) -> Vec<(f64, (Estimate, Estimate))> {
    let one = one.thresholds().into_iter();
    one.filter_map(|(vocab, threshold)| Some((vocab, (threshold, other.threshold(vocab)?)))).collect()
}

/// Noise over signal for each number of sentences. The signal is the mean over grammars: it can be small in some.
pub fn inverse_ratio(records: &Records) -> Curve {
    let signals: Vec<f64> = records.all.iter().map(|record| record.number("signal")).collect();
    let signal = mean(&signals);
    let mut ratios: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let sizes = |record: &Record| record.numbers("sizes").into_iter().zip(record.numbers("noise"));
    for (size, noise) in records.all.iter().flat_map(sizes) {
        ratios.entry(size as u64).or_default().push(noise / signal);
    }
    ratios.into_iter().map(|(size, ratios)| (size as f64, ratios)).collect()
}

const CAPTION: &str = "(a) Points: the number P* of training sentences that halve the loss of convolutional networks, for v \
                       symbols and trees of depth L. Lines: the number of sentences from which the probabilities of the \
                       root given a triple of tokens can be counted with a squared error of half of what they have to say, \
                       their squared distance from guessing. (b) The two against each other; on the diagonal they are \
                       equal. Vocabularies below 8 are shown, but do not count. Error bars are from a bootstrap over \
                       seeds, and too short where there are two or three.";

fn draw(records: &Records) -> Result<Page> {
    let depths = [2, 3].map(|depth| Depth::new(records, depth));
    let pairs = depths.iter().flat_map(|depth| common(&depth.networks.large(), &depth.statistics));
    let pairs: Vec<(Estimate, Estimate)> = pairs.map(|(_, pair)| pair).collect();
    let ratio = mean_ratio(&pairs);
    let mut findings: Vec<Finding> = depths.iter().flat_map(exponents).collect();
    findings.push(agreement(&pairs, ratio));
    let [shallow, deep] = &depths;
    findings.push(depth_factor("networks", &deep.networks, &shallow.networks));
    findings.push(depth_factor("the statistics", &deep.statistics, &shallow.statistics));
    Ok(Page {
        figure: Figure::grid(2, vec![against_vocabulary(&depths).into(), against_each_other(&depths, ratio).into()]),
        caption: CAPTION.to_owned() + &cut_off(records),
        findings,
    })
}

fn against_vocabulary(depths: &[Depth]) -> Chart {
    let mut series = Vec::new();
    for (number, Depth { depth, networks, statistics }) in depths.iter().enumerate() {
        let (networks, statistics) = (networks.thresholds(), statistics.thresholds());
        let line = statistics.iter().map(|(vocab, threshold)| (*vocab, threshold.value));
        series.push(Series::new(format!("CNN, *L* = {depth}"), points(networks)).look(Look::markers().number(number)));
        let look = Look::curve(Dash::Solid).number(number);
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
    let series = |Depth { depth, networks, statistics }: &Depth| {
        let pairs = common(networks, statistics).into_iter();
        let pairs = pairs.map(|(_, (networks, statistics))| (statistics.value, networks));
        Series::new(format!("*L* = {depth}"), points(pairs)).look(Look::markers())
    };
    let series: Vec<Series> = depths.iter().map(series).collect();
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

/// Whether networks need about as many sentences as the statistics predict.
fn agreement(pairs: &[(Estimate, Estimate)], ratio: Option<Estimate>) -> Finding {
    let claim = "Networks learn where the statistics predict it: P* within a factor of 2, for all v from 8 on";
    let ratios = pairs.iter().map(|(networks, statistics)| networks.value / statistics.value);
    let (low, high) = ratios.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    match ratio {
        Some(ratio) => {
            let count = pairs.len();
            let measured = format!("ratio {}, from {low:.2} to {high:.2} at {count} sizes", decimals(&ratio));
            Finding::check(claim, measured, high <= CLOSE && low >= 1.0 / CLOSE)
        }
        None => Finding::new(claim, format!("no size at which both cross {LEVEL}"), Verdict::TooSmall),
    }
}

/// What another level costs.
fn depth_factor(whose: &str, deep: &Family, shallow: &Family) -> Finding {
    let claim = format!("P* of {whose} at L = 3 is 8 times that at L = 2 (corrected: 12.5 times)");
    let (vocabs, pairs): (Vec<f64>, Vec<_>) = common(&deep.large(), shallow).into_iter().unzip();
    match mean_ratio(&pairs) {
        Some(factor) => {
            let seeds = deep.large().seeds().min(shallow.large().seeds());
            let measured = format!("factor {} at {}, {seeds} seeds", decimals(&factor), vocabularies(vocabs));
            Finding::new(claim, measured, depth_verdict(&factor, seeds))
        }
        None => Finding::new(claim, format!("no large v at which both depths cross {LEVEL}"), Verdict::TooSmall),
    }
}

/// Which of the two factors it is, if that can be told.
fn depth_verdict(factor: &Estimate, seeds: usize) -> Verdict {
    match (is_near(factor, PAPER_FACTOR), is_near(factor, CORRECTED_FACTOR)) {
        _ if seeds < FEWEST_SEEDS || factor.low.is_nan() || factor.high.is_nan() => Verdict::TooSmall,
        (true, true) => Verdict::TooSmall,
        (true, false) => Verdict::Agrees,
        (false, true) => Verdict::Corrected,
        (false, false) => Verdict::Differs,
    }
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
        assert_eq!(verdicts(|_| 0.7, 12.5), [Agrees, Agrees, Agrees, Agrees, Agrees, Corrected, Corrected]);
        assert_eq!(verdicts(|_| 0.7, 8.0)[5..], [Agrees, Agrees]);
        assert_eq!(verdicts(|_| 0.7, 5.0)[5..], [Differs, Differs]);
    }

    #[test]
    fn ratios_far_from_one_differ() {
        assert_eq!(verdicts(|vocab| (vocab / 8.0).powi(2), 12.5)[4], Verdict::Differs);
        assert_eq!(verdicts(|_| 0.3, 12.5)[4], Verdict::Differs);
        assert!(findings(|_| 0.7, 12.5)[4].measured.starts_with("ratio 0.70 ["));
    }

    #[test]
    fn a_factor_that_could_be_both_is_too_small_to_tell() {
        let verdict = |value: f64, low: f64, high: f64| depth_verdict(&Estimate { value, low, high }, 3);
        assert_eq!(verdict(10.0, 7.0, 14.0), Verdict::TooSmall);
        assert_eq!(verdict(12.0, 7.9, 14.0), Verdict::TooSmall);
        assert_eq!(verdict(12.0, 9.0, 14.0), Verdict::Corrected);
        assert_eq!(verdict(13.0, 12.6, 13.5), Verdict::Corrected);
        assert_eq!(verdict(8.5, 7.0, 11.0), Verdict::Agrees);
        assert_eq!(verdict(9.8, 9.7, 9.9), Verdict::Differs);
        assert_eq!(verdict(12.5, f64::NAN, f64::NAN), Verdict::TooSmall);
        assert_eq!(depth_verdict(&Estimate { value: 12.0, low: 9.0, high: 14.0 }, 2), Verdict::TooSmall);
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
