//! Networks where most tuples are rules: the loss ends at that of exact parsing, which is not zero.

use super::family::{LOSS, cut_off, sentences_axis};
use crate::figure::{Axis, Chart, Dash, Figure, Legend, Look, Point, Series};
use crate::fit::{average, band};
use crate::record::{Curve, Record, Records};
use crate::report::{Chapter, Finding, Page, Verdict};
use anyhow::Result;

pub(super) const CHAPTER: Chapter = Chapter {
    name: "CNN_CNN-3",
    title: "Convolutional networks at high ambiguity",
    paper: "If 60% or 80% of all tuples are rules, sentences do not determine their root. The loss of convolutional \
            networks then ends at the loss of exact parsing, which no classifier can go below.",
    experiments: &["cnn-ambiguous"],
    draw,
};

/// By how much luck with a finite test set, or a single seed, may break a rule.
const LUCK: f64 = 0.01;

/// A loss that is so close to exact parsing has come to its end.
const CLOSE: f64 = 0.05;

/// The colour of what all curves share.
const GREY: &str = "#666666";

/// All runs with one fraction of rules and one vocabulary.
struct Setting {
    fraction: f64,
    vocab: f64,
    runs: Records,
}

impl Setting {
    fn all(records: &Records) -> Vec<Setting> {
        let of_fraction = |fraction: f64| {
            let records = records.with("fraction", fraction);
            let setting = |vocab: f64| Setting { fraction, vocab, runs: records.with("vocab", vocab) };
            records.values("vocab").into_iter().map(setting).collect::<Vec<_>>()
        };
        records.values("fraction").into_iter().flat_map(of_fraction).collect()
    }

    fn name(&self) -> String {
        format!("f = {}, v = {}", self.fraction, self.vocab)
    }

    /// The name with markup.
    fn label(&self) -> String {
        format!("*f* = {}, *v* = {}", self.fraction, self.vocab)
    }

    /// How far above exact parsing the losses are, for each number of sentences.
    fn gaps(&self) -> Curve {
        let of_samples = |samples: f64| (samples, self.runs.with("samples", samples).all.iter().map(gap).collect());
        self.runs.values("samples").into_iter().map(of_samples).collect()
    }

    /// The mean gap for each number of sentences, increasing.
    fn mean_gaps(&self) -> Vec<f64> {
        self.gaps().iter().map(|(_, gaps)| average(gaps)).collect()
    }
}

/// The loss of a run above that of exact parsing of the same sentences.
fn gap(run: &Record) -> f64 {
    run.number("normalized_loss") - run.number("bayes_normalized_loss")
}

const CAPTION: &str = "(a) The test loss of convolutional networks (1 is guessing) on trees of two levels, against the number \
                       of training sentences, where a fraction f of all tuples of v symbols are rules. Sentences have many \
                       trees then, with different roots: exact parsing with the true rules (dashed) has a loss too. (b) \
                       How far the networks are above exact parsing of the same test sentences.";

fn draw(records: &Records) -> Result<Page> {
    let settings = Setting::all(records);
    Ok(Page {
        figure: Figure::grid(2, vec![losses(&settings).into(), gaps(&settings).into()]),
        caption: CAPTION.to_owned() + &cut_off(records),
        findings: vec![never_below(&settings), falls(&settings), arrives(&settings)],
    })
}

fn losses(settings: &[Setting]) -> Chart {
    let mut series = Vec::new();
    for (number, Setting { runs, .. }) in settings.iter().enumerate() {
        let bayes: Vec<f64> = runs.all.iter().map(|run| run.number("bayes_normalized_loss")).collect();
        let samples = runs.values("samples");
        let ends = [samples.first(), samples.last()].into_iter().flatten().map(|&x| Point::new(x, average(&bayes)));
        series.push(Series::new("", ends).look(Look::curve(Dash::Dashed).number(number)));
        let points = band(&runs.curve("samples", "normalized_loss"));
        series.push(Series::new(settings[number].label(), points).look(Look::line().band().number(number)));
    }
    if !settings.is_empty() {
        // Only for the legend: the lines have the colours of the curves.
        series.push(
            Series::new("exact parsing", [Point::new(f64::NAN, 0.0)]).look(Look::curve(Dash::Dashed).colour(GREY)),
        );
    }
    Chart::new(sentences_axis(0), Axis::linear(LOSS).range(0.0, 1.1), series)
}

fn gaps(settings: &[Setting]) -> Chart {
    let series = |(number, setting): (usize, &Setting)| {
        Series::new(setting.label(), band(&setting.gaps())).look(Look::line().band().number(number))
    };
    Chart {
        legend: Legend::Hidden,
        ..Chart::new(
            sentences_axis(0),
            Axis::log("loss above exact parsing").range(0.01, 1.2),
            settings.iter().enumerate().map(series).collect(),
        )
    }
}

/// Whether any network is better than exact parsing.
fn never_below(settings: &[Setting]) -> Finding {
    let claim = "No network has a smaller loss than exact parsing of the same sentences";
    let gaps: Vec<f64> = settings.iter().flat_map(|setting| setting.runs.all.iter().map(gap)).collect();
    if gaps.is_empty() {
        return Finding::new(claim, "no runs", Verdict::TooSmall);
    }
    let smallest = gaps.iter().copied().fold(f64::INFINITY, f64::min);
    let measured = format!("smallest difference {smallest:.4} of {} runs", gaps.len());
    Finding::check(claim, measured, smallest >= -LUCK)
}

/// Whether more sentences always help.
fn falls(settings: &[Setting]) -> Finding {
    let claim = "The more sentences, the closer the loss is to that of exact parsing";
    let gaps: Vec<Vec<f64>> = settings.iter().map(Setting::mean_gaps).collect();
    if gaps.is_empty() || gaps.iter().any(|gaps| gaps.len() < 2) {
        return Finding::new(claim, "fewer than two numbers of sentences", Verdict::TooSmall);
    }
    let steps = gaps.iter().flat_map(|gaps| gaps.windows(2)).map(|pair| pair[1] - pair[0]);
    let worst = steps.fold(f64::NEG_INFINITY, f64::max);
    let words = settings.iter().zip(&gaps).map(|(setting, gaps)| {
        let (first, last) = (gaps[0], gaps[gaps.len() - 1]);
        format!("{first:.3} to {last:.3} at {}", setting.name())
    });
    let words = words.collect::<Vec<_>>().join("; ");
    let rise = if worst > 0.0 { format!("largest rise {worst:.3}") } else { "never rises".into() };
    Finding::check(claim, format!("difference from {words}; {rise}"), worst <= LUCK)
}

/// Whether enough sentences bring the loss down to that of exact parsing.
fn arrives(settings: &[Setting]) -> Finding {
    let claim = format!("With enough sentences the loss is that of exact parsing, up to {CLOSE}");
    let last = settings.iter().filter_map(|setting| Some((setting, setting.gaps().pop()?)));
    let last = last.map(|(setting, (samples, gaps))| (setting, samples, average(&gaps)));
    let Some((setting, samples, gap)) = last.max_by(|a, b| a.2.total_cmp(&b.2)) else {
        return Finding::new(claim, "no runs", Verdict::TooSmall);
    };
    let measured = format!("largest difference {gap:.3}, at {} and {samples} sentences", setting.name());
    let verdicts: Vec<Verdict> = settings.iter().map(|setting| arrival(&setting.mean_gaps())).collect();
    let first = [Verdict::Differs, Verdict::TooSmall].into_iter().find(|verdict| verdicts.contains(verdict));
    Finding::new(claim, measured, first.unwrap_or(Verdict::Agrees))
}

/// Whether the gap has closed. It could still do so if it has not fallen to a half yet, or goes on falling.
fn arrival(gaps: &[f64]) -> Verdict {
    match gaps {
        [.., last] if *last <= CLOSE => Verdict::Agrees,
        [first, .., before, last] if *last <= first / 2.0 && *last > before - LUCK => Verdict::Differs,
        _ => Verdict::TooSmall,
    }
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;

    /// Runs at two fractions with these gaps at growing numbers of sentences.
    fn runs(gaps: &[f64]) -> Records {
        let mut all = Vec::new();
        for (fraction, bayes) in [(0.6, 0.2), (0.8, 0.4)] {
            for (k, gap) in gaps.iter().enumerate() {
                for seed in 1..=2 {
                    let samples = 1024.0 * 4f64.powi(k as i32);
                    let mut run = synthetic::network("cnn", 2, (8.0, fraction), samples, seed, bayes + gap);
                    run.result.insert("bayes_normalized_loss".into(), bayes.into());
                    all.push(run);
                }
            }
        }
        Records { all }
    }

    fn verdicts(gaps: &[f64]) -> Vec<Verdict> {
        let page = draw(&runs(gaps)).unwrap();
        assert!(page.figure.png(1.0).is_ok());
        page.findings.iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn falling_to_the_bound_agrees() {
        assert_eq!(verdicts(&[0.5, 0.3, 0.1, 0.005, -0.004]), [Verdict::Agrees; 3]);
    }

    #[test]
    fn losses_below_the_bound_or_rising_differ() {
        use Verdict::{Agrees, Differs, TooSmall};
        assert_eq!(verdicts(&[0.5, 0.1, -0.05]), [Differs, Agrees, Agrees]);
        assert_eq!(verdicts(&[0.5, 0.1, 0.2]), [Agrees, Differs, Differs]);
        assert_eq!(verdicts(&[0.5]), [Agrees, TooSmall, TooSmall]);
    }

    #[test]
    fn a_loss_that_stays_above_differs_and_one_that_falls_may_arrive() {
        assert_eq!(arrival(&[0.9, 0.5, 0.2, 0.2]), Verdict::Differs);
        assert_eq!(arrival(&[0.9, 0.5, 0.2]), Verdict::TooSmall);
        assert_eq!(arrival(&[0.9, 0.9]), Verdict::TooSmall);
        assert_eq!(arrival(&[]), Verdict::TooSmall);
    }

    #[test]
    fn every_fraction_has_its_numbers() {
        let page = draw(&runs(&[0.5, 0.25])).unwrap();
        let expected =
            "difference from 0.500 to 0.250 at f = 0.6, v = 8; 0.500 to 0.250 at f = 0.8, v = 8; never rises";
        assert_eq!(page.findings[1].measured, expected);
        assert!(page.findings[2].measured.starts_with("largest difference 0.250, at f = 0."));
        assert!(page.findings[2].measured.ends_with(", v = 8 and 4096 sentences"));
        assert_eq!(page.findings[0].measured, "smallest difference 0.2500 of 8 runs");
    }
}
