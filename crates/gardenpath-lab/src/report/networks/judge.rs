//! What curves say about a predicted exponent or factor, in words.

use super::family::Family;
use crate::fit::{self, Estimate, Expected, Judgement, Ratio, judge};
use crate::report::{Finding, Verdict};

/// How far a number may be from the prediction, as a part of it: networks of finite width at finite vocabularies are not
/// the limit that the theory is about.
const TOLERANCE: f64 = 0.2;

/// Vocabularies whose ratio is smaller say little about an exponent.
const APART: f64 = 1.5;

/// A predicted number, up to what finite networks may add.
pub fn about(predicted: f64) -> Expected {
    Expected::Near { value: predicted, margin: TOLERANCE * predicted }
}

/// Whether P* grows as the predicted power of the vocabulary.
pub fn exponent(claim: impl Into<String>, predicted: f64, family: &Family) -> Finding {
    let (deciding, otherwise) = deciding(family);
    let judged = judge(&deciding.law().exponent, about(predicted), None);
    let vocabs = deciding.groups.iter().map(|group| group.at);
    let measured = format!("exponent {}, from {}", judged.because, vocabularies(vocabs));
    finding(claim, family, judged, measured, otherwise)
}

/// Whether curves fall on one another when P is divided by the predicted power of the vocabulary.
pub fn collapse(claim: impl Into<String>, predicted: f64, family: &Family) -> Finding {
    let (deciding, otherwise) = deciding(family);
    let found = fit::collapse(&deciding.groups, predicted);
    let judged = judge(&found.exponent, about(predicted), None);
    let measured = format!(
        "best exponent {}; squared distance in units of seed noise {:.2} there and {:.2} at exponent {predicted}, for {}",
        judged.because,
        found.misfit,
        found.predicted_misfit,
        vocabularies(deciding.groups.iter().map(|group| group.at))
    );
    finding(claim, family, judged, measured, otherwise)
}

/// A judgement as a finding; what differs counts only where the claim is about.
fn finding(
    claim: impl Into<String>,
    family: &Family,
    judged: Judgement,
    measured: String,
    otherwise: Verdict,
) -> Finding {
    if judged.estimate.is_nan() {
        return too_few(claim, family);
    }
    let verdict = Verdict::from(judged.verdict);
    Finding::new(claim, measured, if verdict == Verdict::Differs { otherwise } else { verdict })
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
    let measured = match (family.thresholds().len(), family.groups.len()) {
        (_, 0) => "nothing was measured".into(),
        (falling, all) => format!("most curves fall through {} at {falling} of {all} sizes", family.level),
    };
    Finding::new(claim, measured, Verdict::TooSmall)
}

/// The mean ratio of P* of two families at the vocabularies that both have, and these vocabularies.
pub fn ratio(above: &Family, below: &Family) -> (Ratio, Vec<f64>) {
    ratio_of_all(&[(above, below)])
}

/// [`ratio`] over several pairs of families.
pub fn ratio_of_all(pairs: &[(&Family, &Family)]) -> (Ratio, Vec<f64>) {
    let (mut vocabs, mut values) = (Vec::new(), Vec::new());
    for (above, below) in pairs {
        let below = below.crossings();
        for above in above.crossings() {
            if let Some(below) = below.iter().find(|group| group.at == above.at) {
                vocabs.push(above.at);
                values.push((above.replicates, below.replicates.clone()));
            }
        }
    }
    let pairs: Vec<(&[f64], &[f64])> = values.iter().map(|(above, below)| (&above[..], &below[..])).collect();
    (fit::ratio(&pairs), vocabs)
}

/// An exponent or a ratio with its interval.
pub fn decimals(estimate: &Estimate) -> String {
    match estimate.interval {
        None => format!("{:.2} (interval unknown)", estimate.value),
        Some((low, high)) => format!("{:.2} [{low:.2}, {high:.2}]", estimate.value),
    }
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
        assert!(
            measured.starts_with("exponent 2 [") && measured.ends_with("lies within 2 ± 0.4, from v = 8, 16, 32"),
            "{measured}"
        );
    }

    #[test]
    fn small_vocabularies_cannot_refute() {
        for (found, verdict) in [(2.0, Verdict::Agrees), (3.0, Verdict::TooSmall)] {
            for vocabs in [[4.0, 6.0, 8.0], [5.0, 6.0, 10.0]] {
                let found = family(found, &vocabs);
                assert_eq!(exponent("", 2.0, &found).verdict, verdict);
                assert_eq!(collapse("", 2.0, &found).verdict, verdict);
            }
        }
        let measured = exponent("", 3.0, &family(2.0, &[4.0, 8.0, 12.0, 16.0])).measured;
        assert!(measured.ends_with("from v = 8, 12, 16"), "{measured}");
    }

    #[test]
    fn one_curve_that_crosses_is_too_few() {
        let found = family(2.0, &[8.0]);
        for finding in [exponent("", 2.0, &found), collapse("", 2.0, &found)] {
            assert_eq!(finding.verdict, Verdict::TooSmall);
            assert!(
                finding.measured.starts_with("most curves fall through 0.5 at 1 of 1 sizes"),
                "{}",
                finding.measured
            );
        }
    }

    #[test]
    fn ratios_are_taken_where_both_are_known() {
        let of = |multiple: f64, vocabs: &[f64]| {
            let all = synthetic::networks("cnn", 2, vocabs, |vocab| multiple * vocab * vocab);
            Family::of_networks(&Records { all }, "cnn", 2.0)
        };
        let (found, vocabs) = ratio(&of(6.0, &[8.0, 12.0, 16.0]), &of(2.0, &[8.0, 16.0, 32.0]));
        assert_eq!(vocabs, [8.0, 16.0]);
        assert!((found.ratio.value - 3.0).abs() < 1e-2 && found.ratio.contains(3.0) && !found.ratio.contains(3.5));
        assert!(ratio(&of(6.0, &[8.0]), &of(2.0, &[16.0])).0.ratio.value.is_nan());
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
        assert_eq!(
            decimals(&Estimate { interval: Some((1.834, 2.25)), ..Estimate::without_interval(2.041, 5, "") }),
            "2.04 [1.83, 2.25]"
        );
        assert_eq!(decimals(&Estimate::without_interval(2.0, 2, "")), "2.00 (interval unknown)");
    }
}
