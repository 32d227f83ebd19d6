//! What curves say about a predicted exponent or factor, in words.

use super::family::{Family, LEVEL};
use crate::draw::table::short;
use crate::fit::{Estimate, judge_collapse};
use crate::report::{Finding, Verdict};

/// How far an exponent may be from the prediction, as a part of it, if the interval does not contain it: networks of
/// finite width at finite vocabularies are not the limit that the theory is about.
const TOLERANCE: f64 = 0.2;

/// A collapse leaves at most this part of the squared distance between curves. If the true exponent were half as large
/// again as the predicted one, a ninth would be left.
const COLLAPSED: f64 = 0.1;

/// Whether P* grows as the predicted power of the vocabulary. The prediction is about large vocabularies, and small ones
/// cannot refute it: they count only where there are no two others.
pub fn exponent(claim: impl Into<String>, predicted: f64, family: &Family) -> Finding {
    let large = family.large();
    let (fitted, refuses) = match large.law() {
        Some(_) => (&large, Verdict::Differs),
        None => (family, Verdict::TooSmall),
    };
    let Some(law) = fitted.law() else { return too_few(claim, family) };
    let found = law.exponent;
    let close = (found.value - predicted).abs() <= TOLERANCE * predicted;
    let vocabs: Vec<String> = fitted.thresholds().iter().map(|(vocab, _)| vocab.to_string()).collect();
    let measured = format!("exponent {} from v = {}", decimals(&found), vocabs.join(", "));
    Finding::new(claim, measured, if close || found.contains(predicted) { Verdict::Agrees } else { refuses })
}

/// Whether curves fall on one another when P is divided by the predicted power of the vocabulary.
pub fn collapse(claim: impl Into<String>, predicted: f64, family: &Family) -> Finding {
    let judged = if family.thresholds().len() < 2 { None } else { judge_collapse(&family.curves, predicted) };
    let Some(judged) = judged else { return too_few(claim, family) };
    let measured = format!(
        "squared distance {:.3} at exponent {predicted}, {:.3} at the best exponent {:.2}, 1 without rescaling",
        judged.predicted_score, judged.best_score, judged.best
    );
    Finding::check(claim, measured, judged.predicted_score <= COLLAPSED)
}

/// A finding that would need more curves that cross.
fn too_few(claim: impl Into<String>, family: &Family) -> Finding {
    let (crossing, all) = (family.thresholds().len(), family.curves.len());
    let measured = format!("{crossing} of {all} vocabularies have curves that fall through {LEVEL} at these sizes");
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

/// A number of sentences with its interval.
pub fn sentences(estimate: &Estimate) -> String {
    with_interval(estimate, short)
}

/// An exponent or a ratio with its interval.
pub fn decimals(estimate: &Estimate) -> String {
    with_interval(estimate, |number| format!("{number:.2}"))
}

fn with_interval(estimate: &Estimate, write: fn(f64) -> String) -> String {
    let &Estimate { value, low, high } = estimate;
    let value = write(value);
    if low.is_nan() || high.is_nan() {
        return format!("{value} (interval unknown)");
    }
    let end = |end: f64| if end.is_infinite() { "∞".into() } else { write(end) };
    format!("{value} [{}, {}]", end(low), end(high))
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
            assert_eq!(exponent("", 2.0, &family(found, &[4.0, 6.0, 8.0])).verdict, verdict);
        }
        let measured = exponent("", 3.0, &family(2.0, &[4.0, 8.0, 16.0])).measured;
        assert!(measured.ends_with("from v = 8, 16"), "{measured}");
    }

    #[test]
    fn one_curve_that_crosses_is_too_few() {
        let found = family(2.0, &[8.0]);
        for finding in [exponent("", 2.0, &found), collapse("", 2.0, &found)] {
            assert_eq!(finding.verdict, Verdict::TooSmall);
            assert!(finding.measured.starts_with("1 of 1 "), "{}", finding.measured);
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
    fn intervals_in_words() {
        let with = |low: f64, high: f64| Estimate { value: 1234.56, low, high };
        assert_eq!(sentences(&with(800.4, f64::INFINITY)), "1235 [800.4, ∞]");
        assert_eq!(decimals(&with(0.0, 2000.0)), "1234.56 [0.00, 2000.00]");
        assert_eq!(sentences(&with(f64::NAN, f64::NAN)), "1235 (interval unknown)");
    }
}
