use crate::brute::*;
use gardenpath::PerArity;
use gardenpath::theory::Magnitude;
use gardenpath::theory::fraction::{grammatical_fraction, paper_grammatical_fraction, typical_grammatical_fraction};
use gardenpath::theory::lengths::{mean_internal_nodes, typical_length};

#[test]
fn grammatical_fraction_is_a_mean_over_trees() {
    let pairs_and_triples = |f2, f3| PerArity::from([(2, f2), (3, f3)]);
    let paper = [(0.5, 0.5, 0.5), (0.3, 0.05, 0.7), (1.0, 1.0, 0.5), (0.2, 0.9, 0.1), (0.0, 0.5, 0.4)];
    let paper = paper.map(|(f2, f3, p_binary)| (pairs_and_triples(f2, f3), PerArity::paper(p_binary)));
    for (fractions, probabilities) in all_probabilities().map(|p| (some_fractions(), p)).chain(paper) {
        for depth in 1..=3 {
            let trees = all_trees(probabilities.arities(), depth);
            let fraction = grammatical_fraction(depth, fractions, probabilities).unwrap();
            for (len, value) in fraction.iter() {
                let all = sum_over_trees(&trees, len, |tree| tree.weight(probabilities));
                let grammatical =
                    sum_over_trees(&trees, len, |tree| tree.weight(probabilities) * tree.weight(fractions));
                close(value.value(), if all > 0.0 { grammatical / all } else { 0.0 }, 1e-12);
            }
        }
    }
}

#[test]
fn paper_fraction_obeys_the_printed_recursion() {
    let f = 0.4f64;
    let mut previous: Vec<(usize, f64)> = vec![(2, f), (3, f)]; // F(d, 1)
    for depth in 1..=4 {
        let fraction = paper_grammatical_fraction(depth, PerArity::all(f), PerArity::paper(0.5)).unwrap();
        for &(len, expected) in &previous {
            close(fraction.value(len), expected, 1e-12);
        }
        previous = (2 << depth..=3usize.pow(depth as u32 + 1))
            .map(|len| {
                let (mut numerator, mut denominator) = (0.0, 0.0);
                for &(parent, value) in previous.iter().filter(|(parent, _)| (2 * parent..=3 * parent).contains(&len)) {
                    let ways =
                        Magnitude::from(&binomials(parent)[len - 2 * parent]).value() * 0.5f64.powi(parent as i32);
                    numerator += ways * f.powi(parent as i32) * value;
                    denominator += ways;
                }
                (len, numerator / denominator)
            })
            .collect();
    }
}

#[test]
fn both_fractions_agree_up_to_depth_two_at_equal_odds() {
    for probabilities in all_probabilities().step_by(2) {
        for depth in 1..=2 {
            let printed = paper_grammatical_fraction(depth, some_fractions(), probabilities).unwrap();
            let weighted = grammatical_fraction(depth, some_fractions(), probabilities).unwrap();
            weighted.iter().for_each(|(len, value)| close(printed.value(len), value.value(), 1e-12));
        }
    }
    // A fraction of zero is not a length that does not exist.
    let (fractions, probabilities) = (PerArity::from([(3, 0.5)]), PerArity::paper(0.5));
    let near = PerArity::from([(2, 1e-12), (3, 0.5)]);
    let [at_zero, near] = [fractions, near].map(|own| paper_grammatical_fraction(3, own, probabilities).unwrap());
    at_zero.iter().for_each(|(len, value)| assert!((value.value() - near.value(len)).abs() < 1e-11));
}

#[test]
fn erratum_3_fraction_lacks_incoming_weights() {
    let gap = |depth, fraction| {
        let (fractions, even) = (PerArity::all(fraction), PerArity::paper(0.5));
        let printed = paper_grammatical_fraction(depth, fractions, even).unwrap();
        largest_gap(&printed, &grammatical_fraction(depth, fractions, even).unwrap())
    };
    assert!(gap(1, 0.5) < 1e-13 && gap(2, 0.5) < 1e-13, "no weights to forget before depth 3");
    close(gap(3, 0.5), 0.168, 0.005); // at 22 tokens
    close(gap(3, 0.25), 0.291, 0.005); // smaller fractions tell lengths apart more strongly
    assert!(gap(6, 0.25) > 10.0);
    assert!(gap(6, 1.0) < 1e-12, "if everything is grammatical, weights do not matter");
}

#[test]
fn fraction_at_the_typical_length_follows_its_asymptote() {
    let (half, even) = (PerArity::all(0.5), PerArity::paper(0.5));
    for depth in 4..=7 {
        let len = typical_length(depth, even).unwrap();
        let exact = grammatical_fraction(depth, half, even).unwrap().ln(len);
        let asymptote = typical_grammatical_fraction(depth, half, even).unwrap().ln();
        close(asymptote, mean_internal_nodes(depth, even).unwrap() * 0.5f64.ln(), 1e-13);
        close(exact, asymptote, 0.05); // the exponents; not the values
    }
    // Every fourth node is unary, the others binary.
    let mixed = PerArity::from([(1, 0.25), (2, 0.75)]);
    let fractions = PerArity::from([(1, 0.5), (2, 0.1)]);
    let per_node = 0.25 * 0.5f64.ln() + 0.75 * 0.1f64.ln();
    let nodes = mean_internal_nodes(5, mixed).unwrap();
    close(typical_grammatical_fraction(5, fractions, mixed).unwrap().ln(), nodes * per_node, 1e-13);
}

#[test]
fn fractions_survive_underflow() {
    for of in [grammatical_fraction, paper_grammatical_fraction] {
        let fraction = of(7, PerArity::all(0.01), PerArity::paper(0.5)).unwrap();
        assert_eq!(fraction.value(2187), 0.0);
        close(fraction.ln(2187), 1093.0 * 0.01f64.ln(), 1e-12);
        close(fraction.ln(128), 127.0 * 0.01f64.ln(), 1e-12);
        assert!(fraction.iter().all(|(len, _)| fraction.ln(len).is_finite()));
    }
}

#[test]
fn fraction_of_a_fixed_tree_counts_its_nodes() {
    let fractions = PerArity::from([(1, 0.7), (2, 0.5), (3, 0.1), (4, 0.3)]);
    for of in [grammatical_fraction, paper_grammatical_fraction] {
        for (arity, depth, nodes) in [(1, 5, 5), (2, 4, 15), (3, 3, 13), (4, 3, 21)] {
            let found = of(depth, fractions, PerArity::from([(arity, 1.0)])).unwrap();
            close(found.value(arity.pow(depth as u32)), fractions[arity].powi(nodes), 1e-13);
            assert_eq!(found.value(18), 0.0, "a length that never occurs");
        }
    }
    let binary = PerArity::from([(2, 0.5)]);
    close(typical_grammatical_fraction(4, binary, PerArity::paper(1.0)).unwrap().value(), 0.5f64.powi(15), 1e-13);
    assert!(typical_grammatical_fraction(4, binary, PerArity::paper(0.5)).unwrap().is_zero());
}
