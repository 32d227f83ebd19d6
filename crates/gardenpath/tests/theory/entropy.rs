use crate::brute::*;
use gardenpath::theory::entropy::{class_entropy, paper_class_entropy};
use gardenpath::theory::trees::{Topology, two_level_topologies};
use gardenpath::{Ensemble, PerArity, RuleCount, Seed, Span};

/// With the paper's arities and the same fractions on both levels.
fn paper_case(f2: f64, f3: f64, p_binary: f64) -> f64 {
    class_entropy([PerArity::from([(2, f2), (3, f3)]); 2], PerArity::paper(p_binary)).unwrap()
}

/// The closed form at even odds and `f2 = f3 = f`, derived by hand.
fn closed_class_entropy(f: f64) -> f64 {
    let (two, three) = (2f64.ln(), 3f64.ln());
    let first = 2.0 * f / (1.0 + 2.0 * f);
    let odds = if f > 0.0 { -first * first.ln() - (1.0 - first) * (1.0 - first).ln() } else { 0.0 };
    let (f3, f4, f6) = (f.powi(3), f.powi(4), f.powi(6));
    let outer = (f3 + f4 - 2.0 * f6) * two + f6 * three;
    let inner = 2.0 * f3 * (1.0 - f3) * two + f6 * three;
    f3 * two / 4.0 + 3.0 / 16.0 * (f3 / 3.0 + 2.0 * f4 / 3.0) * odds + 3.0 / 8.0 * (2.0 / 3.0 * outer + inner / 3.0)
}

/// The entropy by tossing every coin of every sentence: nothing is shared, nothing is counted at once.
fn tossed_class_entropy(fractions: [PerArity<f64>; 2], probabilities: PerArity<f64>) -> f64 {
    let all: Vec<Topology> = two_level_topologies(probabilities.arities()).collect();
    let mut mean = 0.0;
    for truth in &all {
        let rivals: Vec<&Topology> =
            all.iter().filter(|other| *other != truth && other.sentence_len() == truth.sentence_len()).collect();
        let mut blocks: Vec<Span> = rivals.iter().flat_map(|rival| rival.blocks()).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.retain(|block| !truth.blocks().contains(block));
        let of_blocks = blocks.iter().map(|block| fractions[1][block.len]);
        let chances: Vec<f64> = of_blocks.chain(rivals.iter().map(|rival| fractions[0][rival.root_arity()])).collect();
        for toss in 0..1usize << chances.len() {
            let valid = |coin: usize| toss >> coin & 1 == 1;
            let probability: f64 =
                chances.iter().enumerate().map(|(coin, p)| if valid(coin) { *p } else { 1.0 - p }).product();
            let derives = |&(index, rival): &(usize, &&Topology)| {
                let grammatical = |block| blocks.iter().position(|b| *b == block).is_none_or(valid);
                valid(blocks.len() + index) && rival.blocks().into_iter().all(grammatical)
            };
            let parses = rivals.iter().enumerate().filter(derives).map(|(_, rival)| *rival).chain([truth]);
            let weight = |level: usize, arity: usize| probabilities[arity] / fractions[level][arity];
            let weights: Vec<f64> = parses
                .map(|parse| {
                    let children: f64 = parse.child_arities().iter().map(|&arity| weight(1, arity)).product();
                    weight(0, parse.root_arity()) * children
                })
                .collect();
            let total: f64 = weights.iter().sum();
            let entropy: f64 = weights.iter().map(|weight| -(weight / total) * (weight / total).ln()).sum();
            mean += truth.probability(probabilities).unwrap() * probability * entropy;
        }
    }
    mean
}

#[test]
fn erratum_1_class_entropy_equals_the_corrected_closed_form() {
    for percent in 0..=100 {
        let fraction = f64::from(percent) / 100.0;
        let exact = paper_case(fraction, fraction, 0.5);
        assert!((exact - closed_class_entropy(fraction)).abs() < 1e-12, "at {fraction}");
    }
}

#[test]
fn erratum_1_printed_entropy_is_too_low_except_at_the_ends() {
    let (printed, exact) = (|f| paper_class_entropy(f).unwrap(), |f| paper_case(f, f, 0.5));
    assert!((printed(0.25) - 0.0061).abs() < 5e-5);
    assert!((exact(0.25) - 0.0097).abs() < 5e-5);
    let maximum = 2f64.ln() / 4.0 + 3.0 / 16.0 * (3f64.ln() - 2.0 / 3.0 * 2f64.ln()) + 3.0 / 8.0 * 3f64.ln();
    for entropy in [printed(1.0), exact(1.0)] {
        assert!((entropy - 0.70461).abs() < 5e-6 && (entropy - maximum).abs() < 1e-12);
    }
    for percent in 1..100 {
        let fraction = f64::from(percent) / 100.0;
        assert!(printed(fraction) < exact(fraction));
    }
    assert_eq!((printed(0.0), exact(0.0)), (0.0, 0.0));
}

#[test]
fn printed_entropy_is_the_printed_formula() {
    for f in [0.1f64, 0.5, 0.8] {
        let third = 1.0f64 / 3.0;
        let two_to_one = -third * third.ln() - 2.0 * third * (2.0 * third).ln();
        let expected = f.powi(3) * 2f64.ln() / 4.0
            + 3.0 / 16.0 * (2.0 / 3.0 * f.powi(3) + f.powi(4) / 3.0) * two_to_one
            + 3.0 / 8.0 * (2.0 * f.powi(4) * (1.0 - f.powi(4)) * 2f64.ln() + f.powi(8) * 3f64.ln());
        close(paper_class_entropy(f).unwrap(), expected, 1e-13);
    }
}

#[test]
fn class_entropy_equals_tossing_every_coin() {
    for (f2, f3, p_binary) in [(0.5, 0.5, 0.5), (0.3, 0.8, 0.5), (0.9, 0.1, 0.2), (0.25, 0.01, 0.7), (1.0, 0.6, 0.95)] {
        let tossed = tossed_class_entropy([PerArity::from([(2, f2), (3, f3)]); 2], PerArity::paper(p_binary));
        close(paper_case(f2, f3, p_binary), tossed, 1e-12);
    }
    let levels = [some_fractions(), PerArity::from([(1, 0.5), (2, 0.7), (3, 0.4), (4, 0.2)])];
    for probabilities in all_probabilities().filter(|p| p.arities() != set(&[2, 3, 4])) {
        close(class_entropy(levels, probabilities).unwrap(), tossed_class_entropy(levels, probabilities), 1e-11);
    }
}

#[test]
fn class_entropy_is_zero_without_a_choice_and_continuous_at_zero() {
    for arity in 1..=8 {
        assert_eq!(class_entropy([some_fractions(); 2], PerArity::from([(arity, 1.0)])).unwrap(), 0.0);
    }
    assert_eq!(paper_case(0.0, 0.0, 0.5), 0.0);
    assert!(paper_case(1e-300, 1e-200, 0.5) < 1e-12);
    for fraction in [0.3, 1.0] {
        let at_zero = [paper_case(0.0, fraction, 0.4), paper_case(fraction, 0.0, 0.4)];
        let near = [paper_case(1e-9, fraction, 0.4), paper_case(fraction, 1e-9, 0.4)];
        for (limit, value) in at_zero.iter().zip(near) {
            assert!((limit - value).abs() < 1e-6, "{limit} {value}");
        }
    }
}

/// If everything is grammatical all trees of a length derive a sentence, and their probabilities decide.
#[test]
fn at_fraction_one_the_entropy_is_that_of_the_trees() {
    for probabilities in all_probabilities() {
        let all: Vec<(usize, f64)> = two_level_topologies(probabilities.arities())
            .map(|tree| (tree.sentence_len(), tree.probability(probabilities).unwrap()))
            .collect();
        let of_len = |len: usize| all.iter().filter(|tree| tree.0 == len).map(|tree| tree.1).sum::<f64>();
        let expected: f64 = all.iter().map(|&(len, p)| -p * (p / of_len(len)).ln()).sum();
        assert!((class_entropy([PerArity::all(1.0); 2], probabilities).unwrap() - expected).abs() < 1e-12);
    }
}

/// The limit is reached from below: roots coincide with a probability in proportion to `1 / vocab`.
fn follows_the_limit(ensemble: Ensemble, grammars: u64, shortfall: f64) {
    let fractions = [0, 1].map(|level| ensemble.effective_fractions(level).unwrap());
    let expected = class_entropy(fractions, ensemble.probabilities()).unwrap();
    let measured = gardenpath::class_entropy(&ensemble, grammars, 4000, Seed::new(2), &|_| ()).unwrap();
    let (excess, noise) = (measured.mean - expected, 4.0 * measured.stderr);
    assert!(excess < noise && excess > -noise - shortfall * expected, "{ensemble:?}: {measured:?} {expected}");
    // Not by noise alone.
    assert!(noise < 0.1 * expected, "{ensemble:?}: {measured:?}");
}

#[test]
fn sampled_grammars_follow_the_limit() {
    let of = |vocab, probabilities: &[(usize, f64)]| {
        Ensemble::new(vocab, 2).arities(probabilities.iter().copied().collect::<PerArity<f64>>()).fraction(0.5)
    };
    follows_the_limit(of(48, &[(2, 0.5), (3, 0.5)]), 10, 0.04);
    follows_the_limit(of(96, &[(1, 0.5), (2, 0.5)]), 20, 0.02);
    follows_the_limit(of(48, &[(1, 0.3), (2, 0.4), (3, 0.3)]), 10, 0.04);
    follows_the_limit(of(32, &[(2, 0.5), (4, 0.5)]).rules(4, RuleCount::Fraction(0.25)), 10, 0.06);
    follows_the_limit(of(32, &[(2, 0.4), (3, 0.3), (4, 0.3)]).rules(4, RuleCount::Fraction(0.25)), 6, 0.06);
}

/// Levels of different sizes have different fractions, and not every symbol has a unary parent.
#[test]
fn sampled_grammars_of_growing_levels_follow_the_limit() {
    let ensemble = Ensemble::new(96, 2).arities([(1, 0.4), (2, 0.6)]).fraction(0.6).sizes(&[48, 64, 96]);
    let unary = [0, 1].map(|level| ensemble.effective_fractions(level).unwrap()[1]);
    assert_eq!(unary, [48.0 / 64.0, 64.0 / 96.0]);
    follows_the_limit(ensemble, 20, 0.04);
}
