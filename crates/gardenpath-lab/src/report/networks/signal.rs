//! The number of sentences that networks need, beside the number at which local statistics rise out of their noise.

use super::family::{Family, LEVEL, cut_off, points};
use super::judge::{self, about, decimals, vocabularies};
use crate::figure::{Axis, Chart, Dash, Figure, Guide, Look, Series};
use crate::fit::{Curve, Estimate, Expected, Group, Ratio, average, judge};
use crate::record::{Record, Records};
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;

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
        let curve = |vocab: f64| Group::new(vocab, inverse_ratio(&records.with("vocab", vocab)));
        let statistics = Family::new(records.values("vocab").into_iter().map(curve).collect());
        Depth { depth, networks, statistics }
    }
}

/// P* of two families at the vocabularies where both are known.
fn common(one: &Family, other: &Family) -> Vec<(f64, (Estimate, Estimate))> {
    let one = one.thresholds().into_iter();
    one.filter_map(|(vocab, threshold)| Some((vocab, (threshold, other.threshold(vocab)?)))).collect()
}

/// Noise over signal of each grammar against the number of sentences. The signal is the mean over grammars: it can be small in some.
pub fn inverse_ratio(records: &Records) -> Vec<Curve> {
    let signals: Vec<f64> = records.all.iter().map(|record| record.number("signal")).collect();
    let signal = average(&signals);
    let curve = |record: &Record| {
        let points = record.numbers("sizes").into_iter().zip(record.numbers("noise"));
        Curve::new(points.map(|(size, noise)| (size, noise / signal)))
    };
    records.all.iter().map(curve).collect()
}

const CAPTION: &str = "(a) Points: the number P* of training sentences that halve the loss of convolutional networks, for v \
                       symbols and trees of depth L. Lines: the number of sentences from which the probabilities of the \
                       root given a triple of tokens can be counted with a squared error of half of what they have to say, \
                       their squared distance from guessing. (b) The two against each other; on the diagonal they are \
                       equal. Vocabularies below 8 are shown, but do not count. Error bars are 95% intervals, and \
                       are left out where there are fewer than five seeds.";

fn draw(records: &Records) -> Result<Page> {
    let depths = [2, 3].map(|depth| Depth::new(records, depth));
    let large = depths.each_ref().map(|depth| depth.networks.large());
    let pairs: Vec<(&Family, &Family)> = large.iter().zip(depths.iter().map(|depth| &depth.statistics)).collect();
    let ratio = judge::ratio_of_all(&pairs);
    let mut findings: Vec<Finding> = depths.iter().flat_map(exponents).collect();
    findings.push(agreement(&ratio.0, ratio.1.len()));
    let [shallow, deep] = &depths;
    findings.push(depth_factor("networks", &deep.networks, &shallow.networks));
    findings.push(depth_factor("the statistics", &deep.statistics, &shallow.statistics));
    Ok(Page {
        figure: Figure::grid(
            2,
            vec![against_vocabulary(&depths).into(), against_each_other(&depths, &ratio.0.ratio).into()],
        ),
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

fn against_each_other(depths: &[Depth], ratio: &Estimate) -> Chart {
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
    if ratio.value.is_finite() {
        guides.push(Guide::sloped(1.0, (1.0, ratio.value), format!("× {:.2}", ratio.value)));
    }
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
fn agreement(found: &Ratio, sizes: usize) -> Finding {
    let claim = "Networks learn where the statistics predict it: P* within a factor of 2, for v from 8 on";
    if sizes == 0 {
        return Finding::new(claim, format!("no size at which both cross {LEVEL}"), Verdict::TooSmall);
    }
    let judged = judge(&found.ratio, Expected::Factor { value: 1.0, factor: CLOSE }, None);
    Finding::new(
        claim,
        format!("ratio {} at {sizes} sizes: {}", decimals(&found.ratio), judged.because),
        judged.verdict.into(),
    )
}

/// What another level costs.
fn depth_factor(whose: &str, deep: &Family, shallow: &Family) -> Finding {
    let claim = format!("P* of {whose} at L = 3 is 8 times that at L = 2 (corrected: 12.5 times)");
    let (factor, vocabs) = judge::ratio(&deep.large(), shallow);
    if vocabs.is_empty() {
        return Finding::new(claim, format!("no large v at which both depths cross {LEVEL}"), Verdict::TooSmall);
    }
    let judged = judge(&factor.ratio, about(PAPER_FACTOR), Some(about(CORRECTED_FACTOR)));
    Finding::new(claim, format!("factor {}, at {}", judged.because, vocabularies(vocabs)), judged.verdict.into())
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
        // From 1 to 4: the mean says nothing about it.
        let varied = &findings(|vocab| (vocab / 8.0).powi(2), 12.5)[4];
        assert!(varied.verdict == Verdict::TooSmall && varied.measured.ends_with("sizes may"), "{}", varied.measured);
        assert_eq!(verdicts(|_| 0.3, 12.5)[4], Verdict::Differs);
        assert!(findings(|_| 0.7, 12.5)[4].measured.starts_with("ratio 0.70 ["));
    }

    #[test]
    fn noise_is_divided_by_the_mean_signal() {
        let records = Records { all: synthetic::ratios(2, &[8.0], |_| 320.0) };
        let curves = inverse_ratio(&records);
        assert_eq!((curves.len(), curves[0].points().len(), curves[0].points()[0].0), (5, 10, 10.0));
        let at_star =
            |curve: &Curve| curve.points().iter().find(|(size, _)| *size == 320.0).map(|(_, ratio)| *ratio).unwrap();
        assert!((average(&curves.iter().map(at_star).collect::<Vec<_>>()) - 0.5).abs() < 1e-12);
    }
}
