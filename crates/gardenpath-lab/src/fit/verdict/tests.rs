use super::*;
use crate::fit::synthetic::{Noise, family};
use crate::fit::{Curve, Direction, Group, collapse, crossings, exponent, mean, ratio, threshold};
use gardenpath::Seed;

const PAPER: Expected = Expected::Near { value: 2.0, margin: 0.3 };
const OURS: Expected = Expected::Near { value: 3.0, margin: 0.3 };
const NOISE: Noise = Noise { of_seed: 0.15, of_result: 0.01, steepness: 1.0 };

fn verdict(estimate: &Estimate, ours: Option<Expected>) -> Verdict {
    judge(estimate, PAPER, ours).verdict
}

/// An estimate with this interval, from five seeds.
fn between(low: f64, high: f64) -> Estimate {
    let spread = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|x| x + 0.5 * (low + high));
    Estimate { value: 0.5 * (low + high), interval: Some((low, high)), ..mean(&spread) }
}

#[test]
fn the_whole_interval_decides() {
    use Verdict::{Agrees, Corrected, Differs, Inconclusive};
    let cases = [
        ((1.8, 2.2), Agrees, Agrees),
        ((1.7, 2.3), Agrees, Agrees),
        ((1.6, 2.2), Inconclusive, Inconclusive),
        ((1.8, 2.4), Inconclusive, Inconclusive),
        ((1.0, 4.0), Inconclusive, Inconclusive),
        ((2.2, 2.8), Inconclusive, Inconclusive),
        ((2.8, 3.2), Differs, Corrected),
        ((2.4, 3.2), Differs, Differs),
        ((4.0, 4.2), Differs, Differs),
        ((0.5, 1.0), Differs, Differs),
        ((2.9, f64::INFINITY), Differs, Differs),
        ((1.8, f64::INFINITY), Inconclusive, Inconclusive),
    ];
    for ((low, high), alone, with_ours) in cases {
        assert_eq!(verdict(&between(low, high), None), alone, "{low} {high}");
        assert_eq!(verdict(&between(low, high), Some(OURS)), with_ours, "{low} {high}");
    }
}

#[test]
fn one_sided_claims() {
    let open = between(1.5, f64::INFINITY);
    for (expected, found, verdict) in [
        (Expected::AtLeast(1.0), &between(1.5, 2.0), Verdict::Agrees),
        (Expected::AtLeast(1.0), &open, Verdict::Agrees),
        (Expected::AtLeast(1.7), &open, Verdict::Inconclusive),
        (Expected::AtLeast(3.0), &between(1.5, 2.0), Verdict::Differs),
        (Expected::AtMost(1.0), &between(1.5, 2.0), Verdict::Differs),
        (Expected::AtMost(1.0), &open, Verdict::Differs),
        (Expected::AtMost(1.8), &between(1.5, 2.0), Verdict::Inconclusive),
        (Expected::AtMost(2.0), &between(1.5, 2.0), Verdict::Agrees),
        (Expected::Factor { value: 2.0, factor: 1.5 }, &between(1.5, 2.0), Verdict::Agrees),
        (Expected::Factor { value: 2.0, factor: 1.1 }, &between(2.5, 2.9), Verdict::Differs),
    ] {
        assert_eq!(judge(found, expected, None).verdict, verdict, "{expected} {found}");
    }
}

#[test]
fn what_would_settle_it_is_said() {
    let because = |low: f64, high: f64| judge(&between(low, high), PAPER, None).because;
    // Twice too wide, with Student's factor: (2.776 / sqrt(5)) / (2.201 / sqrt(12)) = 1.95, so 13 seeds are enough.
    assert_eq!(
        because(1.4, 2.6),
        "2 [1.4, 2.6] extends beyond both ends of 2 ± 0.3; about 13 seeds instead of 5 would settle it if the value stays the same"
    );
    assert!(
        because(1.9, 2.4).starts_with("2.15 [1.9, 2.4] extends above 2 ± 0.3; about 10 seeds"),
        "{}",
        because(1.9, 2.4)
    );
    assert!(
        because(1.65, 2.25).starts_with("1.95 [1.65, 2.25] extends below 2 ± 0.3; about"),
        "{}",
        because(1.65, 2.25)
    );
    assert!(because(2.2, 2.8).starts_with("2.5 [2.2, 2.8] extends above 2 ± 0.3; about 9"), "{}", because(2.2, 2.8));
    assert!(because(2.1, 2.5).ends_with("so close to the margin that more seeds alone are unlikely to settle it"));
    let bent = Estimate { limit: crate::fit::Limit::Sizes, ..between(1.0, 3.0) };
    assert!(judge(&bent, PAPER, None).because.contains("more seeds would not settle it"));
    let short = Estimate { limit: crate::fit::Limit::Range, ..between(1.8, f64::INFINITY) };
    assert!(judge(&short, PAPER, None).because.ends_with("curves with a larger range would settle it"));
    let ours = judge(&between(2.4, 2.8), PAPER, Some(OURS)).because;
    assert!(ours.contains("outside 2 ± 0.3 (the paper); for our correction, it extends below 3 ± 0.3"), "{ours}");
}

#[test]
fn the_number_of_seeds_that_is_advised_is_enough() {
    // The same spread with more seeds: the advice is about Student's interval itself.
    let spread = |seeds: usize| {
        let values: Vec<f64> = (0..seeds).map(|k| 2.0 + 0.5 * if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
        mean(&values)
    };
    let words = judge(&spread(6), PAPER, None).because;
    let needed: usize = words.split("about ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert_eq!(judge(&spread(6), PAPER, None).verdict, Verdict::Inconclusive);
    assert_eq!(judge(&spread(needed + 2), PAPER, None).verdict, Verdict::Agrees, "{words}");
    assert_eq!(judge(&spread(needed / 2), PAPER, None).verdict, Verdict::Inconclusive, "{words}");
}

#[test]
fn no_interval_is_inconclusive_and_says_why() {
    let none = |estimate: &Estimate| {
        let judged = judge(estimate, PAPER, Some(OURS));
        assert_eq!((judged.verdict, judged.interval), (Verdict::Inconclusive, None));
        judged.because
    };
    assert_eq!(none(&mean(&[2.0, 2.0])), "2 has no interval: 2 seeds; an interval needs at least 5");
    assert_eq!(none(&mean(&[])), "no measurements");
    let short = Group::new(8.0, vec![Curve::new([(1.0, 1.0), (2.0, 0.9)]); 5]);
    let words = none(&threshold(&short, 0.5, Direction::Falls));
    assert_eq!(words, "5 of 5 curves do not fall to 0.5 within the measured range");
    let two = family(&[8.0, 16.0], 2.0, 4.0, NOISE, 5, Seed::new(1));
    assert!(none(&collapse(&two, 2.0).exponent).ends_with("2 sizes; an interval for an exponent needs at least 3"));
}

#[test]
fn claims_that_allow_nothing_are_not_judged() {
    for bad in [
        Expected::Near { value: f64::NAN, margin: 0.1 },
        Expected::Near { value: 1.0, margin: -0.1 },
        Expected::Factor { value: 1.0, factor: 0.5 },
        Expected::AtMost(f64::NAN),
    ] {
        assert_eq!(judge(&between(1.0, 1.1), bad, None).verdict, Verdict::Inconclusive);
        assert_eq!(judge(&between(1.0, 1.1), PAPER, Some(bad)).verdict, Verdict::Inconclusive);
    }
}

/// A fit of synthetic data with this truth and noise.
type Fit<'a> = &'a dyn Fn(f64, Noise) -> Estimate;

/// Every kind of fit can lead to every verdict: synthetic data whose truth is 2, 3 or 5, and data that are too noisy.
#[test]
fn every_fit_leads_to_every_verdict() {
    let loud = Noise { of_seed: 1.2, ..NOISE };
    let vocabs = [8.0, 16.0, 32.0];
    let curves = |truth: f64, noise: Noise| family(&vocabs, truth, 4.0, noise, 6, Seed::new(3));
    let values = |truth: f64, noise: Noise| {
        // Six values around the truth.
        [-1.0, -0.6, -0.1, 0.1, 0.6, 1.0].map(|x: f64| truth * (0.5 * noise.of_seed * x).exp())
    };
    let fits: [(&str, Fit); 5] = [
        ("mean", &|truth, noise| mean(&values(truth, noise))),
        ("ratio", &|truth, noise| ratio(&[(&values(truth, noise), &values(1.0, noise))]).ratio),
        ("threshold", &|truth, noise| {
            // Curves that fall at 4 v^0, with x rescaled so that they fall at the truth.
            let noise = Noise { of_seed: 0.5 * noise.of_seed, ..noise };
            let group = &family(&[1.0], 0.0, 4.0, noise, 6, Seed::new(5))[0];
            let moved = group.map(|curve| Curve::new(curve.points().iter().map(|(x, y)| (x * truth / 4.0, *y))));
            threshold(&moved, 0.5, Direction::Falls)
        }),
        ("exponent", &|truth, noise| {
            let crossings: Vec<_> =
                curves(truth, noise).iter().map(|group| crossings(group, 0.5, Direction::Falls)).collect();
            exponent(&crossings).exponent
        }),
        ("collapse", &|truth, noise| collapse(&curves(truth, noise), 2.0).exponent),
    ];
    let wide = |value: f64| Expected::Near { value, margin: 0.6 };
    for (name, fit) in fits {
        let check = |truth: f64, noise: Noise, expected: Verdict| {
            let judged = judge(&fit(truth, noise), wide(2.0), Some(wide(3.5)));
            assert_eq!(judged.verdict, expected, "{name}: {}", judged.because);
        };
        check(2.0, NOISE, Verdict::Agrees);
        check(3.5, NOISE, Verdict::Corrected);
        check(8.0, NOISE, Verdict::Differs);
        check(2.0, loud, Verdict::Inconclusive);
    }
}

#[test]
fn judgements_are_json() {
    let json = serde_json::to_value(judge(&between(1.8, f64::INFINITY), PAPER, None)).unwrap();
    assert_eq!(json["verdict"], "inconclusive");
    assert_eq!(json["interval"], serde_json::json!([1.8, null]));
    let claim: Expected = serde_json::from_str(r#"{"near": {"value": 2, "margin": 0.2}}"#).unwrap();
    assert_eq!(claim.range(), (1.8, 2.2));
}
