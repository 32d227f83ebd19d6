use crate::brute::set;
use gardenpath::theory::candidates::{bifurcation, critical_fraction, mean_candidates};
use gardenpath::theory::complexity::sample_complexity;
use gardenpath::theory::entropy::{class_entropy, paper_class_entropy};
use gardenpath::theory::fraction::{grammatical_fraction, paper_grammatical_fraction, typical_grammatical_fraction};
use gardenpath::theory::lengths::*;
use gardenpath::theory::splits::{median_splits, splits};
use gardenpath::theory::trees::{tree_count, two_level_topologies};
use gardenpath::theory::{MAX_DEPTH, TheoryError};
use gardenpath::{Arities, PerArity};

const PAPER: Arities = Arities::PAPER;

fn half() -> PerArity<f64> {
    PerArity::all(0.5)
}

fn even() -> PerArity<f64> {
    PerArity::paper(0.5)
}

fn rules() -> PerArity<u64> {
    PerArity::from([(2, 2), (3, 16)])
}

#[test]
fn depths_out_of_range_are_rejected() {
    for depth in [0, MAX_DEPTH + 1, usize::MAX] {
        let error = TheoryError::Depth { depth };
        assert_eq!(length_distribution(depth, even()), Err(error));
        assert_eq!(typical_length(depth, even()), Err(error));
        assert_eq!(mean_internal_nodes(depth, even()), Err(error));
        assert_eq!(tree_count(depth, PAPER), Err(error));
        assert_eq!(grammatical_fraction(depth, half(), even()), Err(error));
        assert_eq!(paper_grammatical_fraction(depth, half(), even()), Err(error));
        assert_eq!(mean_candidates(depth, PAPER, half()), Err(error));
        assert_eq!(bifurcation(depth, &[0.5], even()), Err(error));
        assert_eq!(critical_fraction(depth, even()), Err(error));
        assert_eq!(splits(depth, PAPER), Err(error));
        assert_eq!(median_splits(depth, PAPER), Err(error));
        assert_eq!(sample_complexity(depth, 8, rules(), even()), Err(error));
    }
    assert_eq!(LengthLaw::of_levels(&[]), Err(TheoryError::Depth { depth: 0 }));
}

#[test]
fn sentences_that_are_too_long_are_rejected() {
    let octonary = PerArity::from([(1, 0.5), (8, 0.5)]);
    let arities = octonary.arities();
    for depth in 5..=9u32 {
        let error = TheoryError::Length { longest: 8usize.pow(depth) };
        let depth = depth as usize;
        assert_eq!(length_distribution(depth, octonary), Err(error));
        assert_eq!(typical_length(depth, octonary), Err(error));
        assert_eq!(tree_count(depth, arities), Err(error));
        assert_eq!(grammatical_fraction(depth, half(), octonary), Err(error));
        assert_eq!(mean_candidates(depth, arities, half()), Err(error));
        assert_eq!(critical_fraction(depth, octonary), Err(error));
        assert_eq!(splits(depth, arities), Err(error));
    }
    assert!(length_distribution(4, octonary).is_ok() && mean_internal_nodes(9, octonary).is_ok());
}

#[test]
fn grammars_without_arities_are_rejected() {
    let none = Arities::default();
    assert_eq!(tree_count(2, none), Err(TheoryError::NoArities));
    assert_eq!(mean_candidates(2, none, half()), Err(TheoryError::NoArities));
    assert_eq!(splits(2, none), Err(TheoryError::NoArities));
    assert_eq!(length_distribution(2, PerArity::default()), Err(TheoryError::Sum { sum: 0.0 }));
    assert_eq!(two_level_topologies(none).count(), 0);
}

#[test]
fn parameters_out_of_range_are_rejected() {
    for value in [-0.1, 1.0 + 1e-9, f64::NAN, f64::INFINITY] {
        let odds = PerArity::paper(value);
        let bad_odds =
            |result: Result<(), TheoryError>| assert!(matches!(result, Err(TheoryError::Probability { .. })));
        bad_odds(length_distribution(2, odds).map(drop));
        bad_odds(mean_branching(odds).map(drop));
        bad_odds(branching_variance(2, odds).map(drop));
        bad_odds(two_level_topologies(PAPER).next().unwrap().probability(odds).map(drop));
        bad_odds(grammatical_fraction(2, half(), odds).map(drop));
        bad_odds(class_entropy([half(); 2], odds).map(drop));
        bad_odds(sample_complexity(2, 8, rules(), odds).map(drop));
        let [first, second] = [PerArity::from([(2, value), (3, 0.5)]), PerArity::from([(2, 0.5), (3, value)])];
        let bad_share = |result: Result<(), TheoryError>| assert!(matches!(result, Err(TheoryError::Fraction { .. })));
        bad_share(grammatical_fraction(2, first, even()).map(drop));
        bad_share(paper_grammatical_fraction(2, second, even()).map(drop));
        bad_share(typical_grammatical_fraction(2, second, even()).map(drop));
        bad_share(class_entropy([first, half()], even()).map(drop));
        bad_share(class_entropy([half(), second], even()).map(drop));
        bad_share(paper_class_entropy(value).map(drop));
        bad_share(mean_candidates(2, PAPER, second).map(drop));
        bad_share(bifurcation(2, &[0.5, value], even()).map(drop));
    }
    assert_eq!(mean_branching(PerArity::from([(2, 0.5), (4, 0.25)])), Err(TheoryError::Sum { sum: 0.75 }));
    assert_eq!(branching_variance(0, even()), Err(TheoryError::EmptyLevel));
    let with = |arity, number| PerArity::from([(1, 1), (2, 2), (3, 16), (arity, number)]);
    let probabilities = PerArity::from([(1, 0.5), (2, 0.25), (3, 0.25)]);
    for (arity, number, most) in [(1, 2, 1), (2, 9, 8), (3, 0, 64)] {
        let error = TheoryError::Rules { arity, rules: number, most };
        assert_eq!(sample_complexity(2, 8, with(arity, number), probabilities), Err(error));
    }
    let unary = sample_complexity(2, 0, PerArity::from([(1, 1)]), PerArity::from([(1, 1.0)]));
    assert!(unary.is_err() && sample_complexity(2, 0, rules(), even()).is_err());
}

#[test]
fn entropies_of_too_many_trees_are_refused() {
    let uniform = |arities: Arities| {
        let count = arities.iter().count() as f64;
        class_entropy([half(); 2], arities.iter().map(|arity| (arity, 1.0 / count)).collect())
    };
    assert_eq!(uniform(set(&[1, 2, 3, 4])), Err(TheoryError::Trees { trees: 50 }));
    assert_eq!(
        uniform((1..=8).collect()).map(|_| ()).map_err(|error| matches!(error, TheoryError::Trees { .. })),
        Err(true)
    );
    assert!(uniform(set(&[5, 6])).is_ok());
}

#[test]
fn messages_are_one_line_and_name_the_value() {
    let errors = [
        (tree_count(12, PAPER).unwrap_err(), "depth must lie between 1 and 9, got 12"),
        (tree_count(9, set(&[4])).unwrap_err(), "sentences may have at most 19683 tokens, got up to 262144"),
        (
            class_entropy([half(), PerArity::all(2.0)], even()).unwrap_err(),
            "a fraction of grammatical tuples must lie between 0 and 1, got 2",
        ),
        (
            sample_complexity(2, 8, PerArity::from([(2, 9), (3, 16)]), even()).unwrap_err(),
            "arity 2 has between 1 and 8 rules per symbol, got 9",
        ),
        (
            TheoryError::Trees { trees: 50 },
            "the class entropy can be computed for at most 20 trees of the same length, got 50",
        ),
    ];
    for (error, message) in errors {
        assert_eq!(error.to_string(), message);
    }
}
