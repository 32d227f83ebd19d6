//! What curves say about a predicted exponent or factor, in words.

use super::family::Family;
use crate::fit::{Estimate, judge_collapse};
use crate::report::{Finding, Verdict};

/// How far a number may be from the prediction, as a part of it, if the interval does not contain it: networks of
/// finite width at finite vocabularies are not the limit that the theory is about.
const TOLERANCE: f64 = 0.2;

/// A collapse leaves at most this part of the squared distance between curves. If the true exponent were half as large
/// again as the predicted one, a ninth would be left.
const COLLAPSED: f64 = 0.1;

/// Vocabularies whose ratio is smaller say little about an exponent.
const APART: f64 = 1.5;

/// Whether a number is what was predicted.
pub fn is_near(found: &Estimate, predicted: f64) -> bool {
    found.contains(predicted) || (found.value - predicted).abs() <= TOLERANCE * predicted
}

/// Whether P* grows as the predicted power of the vocabulary.
pub fn exponent(claim: impl Into<String>, predicted: f64, family: &Family) -> Finding {
    let (deciding, otherwise) = deciding(family);
    let Some(law) = deciding.law() else { return too_few(claim, family) };
    let found = law.exponent;
    let vocabs = deciding.thresholds().into_iter().map(|(vocab, _)| vocab);
    let measured = format!("exponent {} from {}", decimals(&found), vocabularies(vocabs));
    let verdict = match () {
        // An interval with room for most other laws supports none.
        () if found.high - found.low > predicted => Verdict::TooSmall,
        () if is_near(&found, predicted) => Verdict::Agrees,
        () => otherwise,
    };
    Finding::new(claim, measured, verdict)
}

/// Whether curves fall on one another when P is divided by the predicted power of the vocabulary.
pub fn collapse(claim: impl Into<String>, predicted: f64, family: &Family) -> Finding {
    let (deciding, otherwise) = deciding(family);
    let judged = if deciding.thresholds().len() < 2 { None } else { judge_collapse(&deciding.curves, predicted) };
    let Some(judged) = judged else { return too_few(claim, family) };
    let measured = format!(
        "squared distance {:.3} at exponent {predicted}, {:.3} at the best exponent {:.2}, 1 without rescaling, for {}",
        judged.predicted_score,
        judged.best_score,
        judged.best,
        vocabularies(deciding.curves.iter().map(|(vocab, _)| *vocab))
    );
    Finding::new(claim, measured, if judged.predicted_score <= COLLAPSED { Verdict::Agrees } else { otherwise })
}

/// The curves that decide, and the verdict if they do not have what is claimed. Claims are about large vocabularies; if
/// there are no two of them that are apart, smaller ones can support a claim but not refute it.
fn deciding(family: &Family) -> (Family, Verdict) {
    let large = family.large();
    let thresholds = large.thresholds();
    let ends = thresholds.first().zip(thresholds.last());
    match ends.is_some_and(|((smallest, _), (largest, _))| *largest >= APART * smallest) {
        true => (large, Verdict::Differs),
        false => (family.clone(), Verdict::TooSmall),
    }
}

/// Vocabularies in words.
pub fn vocabularies(of: impl IntoIterator<Item = f64>) -> String {
    let names: Vec<String> = of.into_iter().map(|vocab| vocab.to_string()).collect();
    format!("v = {}", names.join(", "))
}

/// A finding that would need more curves that cross.
fn too_few(claim: impl Into<String>, family: &Family) -> Finding {
    let measured = match (family.thresholds().len(), family.curves.len()) {
        (_, 0) => "nothing was measured".into(),
        (crossing, all) => format!("{crossing} of {all} curves fall through {} at these sizes", family.level),
    };
    Finding::new(claim, measured, Verdict::TooSmall)
}

/// The mean ratio of two numbers measured at several places, in logarithms, with the errors of both.
pub fn mean_ratio(pairs: &[(Estimate, Estimate)]) -> Option<Estimate> {
    let count = pairs.len() as f64;
    let over_pairs = |term: fn(&(Estimate, Estimate)) -> f64| pairs.iter().map(term).sum::<f64>();
    let value = over_pairs(|(above, below)| (above.value / below.value).ln()) / count;
    let down =
        over_pairs(|(above, below)| (above.value / above.low).ln().powi(2) + (below.high / below.value).ln().powi(2));
    let up =
        over_pairs(|(above, below)| (above.high / above.value).ln().powi(2) + (below.value / below.low).ln().powi(2));
    let [low, high] = [value - down.sqrt() / count, value + up.sqrt() / count].map(f64::exp);
    value.is_finite().then_some(Estimate { value: value.exp(), low, high })
}

/// An exponent or a ratio with its interval.
pub fn decimals(estimate: &Estimate) -> String {
    let &Estimate { value, low, high } = estimate;
    if low.is_nan() || high.is_nan() {
        return format!("{value:.2} (interval unknown)");
    }
    format!("{value:.2} [{low:.2}, {high:.2}]")
}

#[cfg(test)]
mod tests {
    use super::super::synthetic;
    use super::*;
    use crate::record::Records;

    fn family(exponent: f64, vocabs: &[f64]) -> Family {
        let all = synthetic::networks("cnn", 2, vocabs, |vocab| 5.0 * vocab.powf(exponent));
        Family::of_networks(&Records { all }, "cnn", 2.0)
    }

    #[test]
    fn the_right_exponent_agrees_and_wrong_ones_differ() {
        let found = family(2.0, &[8.0, 16.0, 32.0]);
        for (predicted, verdict) in [(2.0, Verdict::Agrees), (1.0, Verdict::Differs), (3.0, Verdict::Differs)] {
            assert_eq!(exponent("", predicted, &found).verdict, verdict, "{predicted}");
        }
        for (predicted, verdict) in [(2.0, Verdict::Agrees), (1.0, Verdict::Differs), (3.0, Verdict::Differs)] {
            assert_eq!(collapse("", predicted, &found).verdict, verdict, "{predicted}");
        }
        let measured = exponent("", 2.0, &found).measured;
        assert!(measured.starts_with("exponent 2.0") && measured.ends_with("] from v = 8, 16, 32"), "{measured}");
    }

    #[test]
    fn small_vocabularies_cannot_refute() {
        for (found, verdict) in [(2.0, Verdict::Agrees), (3.0, Verdict::TooSmall)] {
            for vocabs in [[4.0, 6.0, 8.0], [6.0, 8.0, 10.0]] {
                let found = family(found, &vocabs);
                assert_eq!(exponent("", 2.0, &found).verdict, verdict);
                assert_eq!(collapse("", 2.0, &found).verdict, verdict);
            }
        }
        let measured = exponent("", 3.0, &family(2.0, &[4.0, 8.0, 16.0])).measured;
        assert!(measured.ends_with("from v = 8, 16"), "{measured}");
    }

    #[test]
    fn one_curve_that_crosses_is_too_few() {
        let found = family(2.0, &[8.0]);
        for finding in [exponent("", 2.0, &found), collapse("", 2.0, &found)] {
            assert_eq!(finding.verdict, Verdict::TooSmall);
            assert!(finding.measured.starts_with("1 of 1 curves"), "{}", finding.measured);
        }
    }

    #[test]
    fn ratios_have_the_errors_of_both_numbers() {
        let sure = |value: f64, factor: f64| Estimate { value, low: value / factor, high: value * factor };
        let one = mean_ratio(&[(sure(6.0, 3f64.exp()), sure(2.0, 4f64.exp()))]).unwrap();
        assert!((one.value - 3.0).abs() < 1e-12 && ((one.high / one.value).ln() - 5.0).abs() < 1e-12);
        assert!(((one.value / one.low).ln() - 5.0).abs() < 1e-12);
        // Four equal pairs are twice as sure.
        let four = mean_ratio(&[(sure(6.0, 3f64.exp()), sure(2.0, 4f64.exp())); 4]).unwrap();
        assert!((four.value - 3.0).abs() < 1e-12 && ((four.high / four.value).ln() - 2.5).abs() < 1e-12);
        let unknown = mean_ratio(&[(sure(6.0, 1.0), Estimate::without_interval(2.0))]).unwrap();
        assert!((unknown.value - 3.0).abs() < 1e-12 && unknown.low.is_nan() && unknown.high.is_nan());
        assert_eq!(mean_ratio(&[]), None);
    }

    #[test]
    fn a_wide_interval_supports_nothing() {
        // Thresholds that scatter around v^2 by a factor of 4.
        let star = |vocab: f64| vocab.powi(2) * if vocab == 12.0 { 4.0 } else { 1.0 };
        let all = synthetic::networks("cnn", 2, &[8.0, 12.0, 16.0], star);
        let finding = exponent("", 2.0, &Family::of_networks(&Records { all }, "cnn", 2.0));
        assert_eq!(finding.verdict, Verdict::TooSmall, "{}", finding.measured);
    }

    #[test]
    fn intervals_in_words() {
        assert_eq!(decimals(&Estimate { value: 2.041, low: 1.834, high: 2.25 }), "2.04 [1.83, 2.25]");
        assert_eq!(decimals(&Estimate::without_interval(2.0)), "2.00 (interval unknown)");
    }
}
