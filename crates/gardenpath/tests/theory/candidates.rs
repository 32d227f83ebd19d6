use crate::brute::*;
use gardenpath::theory::Magnitude;
use gardenpath::theory::candidates::{bifurcation, critical_fraction, mean_candidates};
use gardenpath::theory::lengths::{length_distribution, typical_length};
use gardenpath::theory::trees::tree_count;
use gardenpath::{Arities, Chart, Count, Ensemble, Estimate, PerArity, Seed};
use num_bigint::BigUint;

#[test]
fn candidates_are_a_sum_over_trees() {
    let paper = [(0.5, 0.5), (0.3, 0.05), (0.0, 0.7), (1.0, 0.0), (0.0, 0.0)];
    let paper = paper.map(|(f2, f3)| (Arities::PAPER, PerArity::from([(2, f2), (3, f3)])));
    for (arities, fractions) in SETS.iter().map(|own| (set(own), some_fractions())).chain(paper) {
        for depth in 1..=3 {
            let trees = all_trees(arities, depth);
            for (len, mean) in mean_candidates(depth, arities, fractions).unwrap().iter() {
                close(mean.value(), sum_over_trees(&trees, len, |tree| tree.weight(fractions)), 1e-13);
            }
        }
    }
}

#[test]
fn erratum_4_bottom_up_equals_top_down_when_all_is_grammatical() {
    for (arities, deepest) in [(Arities::PAPER, 6), (set(&[1, 2]), 6), (set(&[2, 4]), 5), (set(&[1, 5, 8]), 3)] {
        for depth in 1..=deepest {
            let bottom_up = mean_candidates(depth, arities, PerArity::all(1.0)).unwrap();
            let top_down = tree_count(depth, arities).unwrap();
            assert_eq!((bottom_up.min_len(), bottom_up.max_len()), (top_down.min_len(), top_down.max_len()));
            for (len, count) in top_down.iter() {
                let (mean, count) = (bottom_up.value(len), Magnitude::from(count).value());
                // Integers below 2^53 are exact.
                if count < 1e15 { assert_eq!(mean, count) } else { close(mean, count, 1e-12) }
            }
        }
    }
}

#[test]
fn candidates_at_the_branching_probabilities_are_the_length_law() {
    for (depth, p_binary) in [(2, 0.3), (5, 0.3), (7, 0.3)] {
        let probabilities = PerArity::paper(p_binary);
        let mean = mean_candidates(depth, Arities::PAPER, probabilities).unwrap();
        let law = length_distribution(depth, probabilities).unwrap();
        assert!(mean.iter().all(|(len, mean)| (mean.ln() - law.ln_probability(len)).abs() < 1e-11));
    }
}

/// The mean number of derivations of random strings by random grammars. It is what the map says as long as no tuple is met twice.
#[test]
fn a_parser_proposes_as_many_symbols() {
    let sets: [(&[(usize, f64)], usize); 4] = [
        (&[(1, 0.5), (2, 0.5)], 3),
        (&[(2, 0.5), (3, 0.5)], 7),
        (&[(2, 0.5), (4, 0.5)], 8),
        (&[(2, 0.4), (3, 0.3), (4, 0.3)], 8),
    ];
    for (probabilities, len) in sets {
        let probabilities: PerArity<f64> = probabilities.iter().copied().collect();
        let ensemble = Ensemble::new(12, 2).arities(probabilities).fraction(0.5);
        let fractions = ensemble.effective_fractions(0).unwrap();
        let expected = mean_candidates(2, probabilities.arities(), fractions).unwrap().value(len);
        let trees = |seed: u64| -> u64 {
            let grammar = ensemble.sample(Seed::new(seed)).unwrap();
            let mut stream = Seed::new(seed).child("strings").stream(0);
            let mut string = || (0..len).map(|_| stream.below(12) as u8).collect::<Vec<u8>>();
            let derivations = |string: Vec<u8>| -> BigUint {
                let chart: Chart<Count> = Chart::parse(&grammar, &string).unwrap();
                chart.root_entries().iter().map(|(_, count)| count.to_big()).sum()
            };
            (0..500).map(|_| derivations(string())).sum::<BigUint>().try_into().unwrap()
        };
        let means: Vec<f64> = (0..10).map(|seed| trees(seed) as f64 / 500.0).collect();
        let Estimate { mean, stderr } = Estimate::of(&means);
        assert!(
            (mean - expected).abs() < 4.0 * stderr + 0.01 * expected,
            "{probabilities}: {mean} {stderr} {expected}"
        );
    }
}

#[test]
fn critical_fraction_tends_to_one_half_from_above() {
    let critical: Vec<f64> = (1..=7).map(|depth| critical_fraction(depth, PerArity::paper(0.5)).unwrap()).collect();
    close(critical[0], 1.0, 1e-11);
    close(critical[1], 0.754_877_666_246_693, 1e-11); // f^2 + f^3 = 1
    assert!(critical.is_sorted_by(|shallow, deep| shallow > deep) && critical[6] > 0.5);
    // The law of lengths spreads by 5/2 per level, the last level adds (5/2)^(depth-1) nodes.
    for depth in 5..=7 {
        let excess = critical[depth - 1] - 0.5;
        close(excess, 2.5f64.ln() / 2.0 / 2.5f64.powi(depth as i32 - 1), 0.02);
    }
}

/// Where `k` arities are equally probable and lengths have no gaps, the law of lengths spreads by `<s>` per level, and the last level
/// adds `<s>^(depth-1)` nodes, each with a factor `k f`.
#[test]
fn critical_fraction_tends_to_one_over_the_number_of_arities() {
    for (own, depth) in [(&[1, 2][..], 9), (&[1, 2, 3], 7), (&[2, 3, 4], 6), (&[3, 4], 6)] {
        let (choices, mean) = (own.len() as f64, own.iter().sum::<usize>() as f64 / own.len() as f64);
        let probabilities = own.iter().map(|&arity| (arity, 1.0 / choices)).collect();
        let excess = critical_fraction(depth, probabilities).unwrap() * choices - 1.0;
        close(excess, mean.ln() / mean.powi(depth as i32 - 1), 0.1);
    }
}

#[test]
fn the_critical_fraction_depends_on_the_typical_length() {
    // Trees of one arity are f^nodes: only at f = 1 does a deeper one not shrink.
    for arity in 1..=4 {
        close(critical_fraction(3, PerArity::from([(arity, 1.0)])).unwrap(), 1.0, 1e-11);
    }
    // Depth 2, typical length 4: f^3 = f for the only tree, against one of length 2 at depth 1.
    let rarely_ternary = PerArity::paper(0.95);
    assert_eq!(typical_length(2, rarely_ternary).unwrap(), 4);
    close(critical_fraction(2, rarely_ternary).unwrap(), 1.0, 1e-11);
    let critical = |p_binary| critical_fraction(5, PerArity::paper(p_binary)).unwrap();
    assert!(critical(0.3) > critical(0.5));
}

#[test]
fn bifurcation_follows_the_typical_length() {
    for probabilities in [PerArity::paper(0.5), PerArity::from([(1, 0.5), (2, 0.25), (4, 0.25)])] {
        for curve in &bifurcation(5, &[0.0, 0.4, 0.5, 0.6], probabilities).unwrap() {
            for (i, value) in curve.at_typical_length.iter().enumerate() {
                let mean = mean_candidates(i + 1, probabilities.arities(), PerArity::all(curve.fraction)).unwrap();
                assert_eq!(value.value(), mean.value(typical_length(i + 1, probabilities).unwrap()));
            }
        }
    }
    let curves = bifurcation(6, &[0.4, 0.5, 0.6], PerArity::paper(0.5)).unwrap();
    let last_step = |i: usize| curves[i].at_typical_length[5].ln() - curves[i].at_typical_length[4].ln();
    assert!(last_step(0) < -10.0 && last_step(2) > 10.0);
    close(last_step(1), -(2.5f64.ln()), 0.02); // at 1/2 only the law of lengths spreads
}
