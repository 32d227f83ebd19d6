use crate::brute::*;
use gardenpath::PerArity;
use gardenpath::theory::complexity::{Prediction, sample_complexity};
use gardenpath::theory::lengths::mean_branching;

fn rules(binary: u64, ternary: u64) -> PerArity<u64> {
    PerArity::from([(2, binary), (3, ternary)])
}

#[test]
fn scales_are_the_conjecture() {
    let (vocab, m2, m3, p) = (16u64, 4u64, 64u64, 0.5f64);
    let both = sample_complexity(3, vocab, rules(m2, m3), PerArity::paper(p)).unwrap();
    let expected = |factor: f64, level: i32, rules: u64| {
        factor.powi(1 - level) * vocab as f64 * rules as f64 * (m2 as f64).powi(level - 1)
    };
    for (prediction, factor) in [(&both.paper, p.powi(2) / 2.0), (&both.size_biased, 2.0 * (p / 2.5).powi(2))] {
        assert_eq!((prediction.path_arity, prediction.scales.len()), (2, 6));
        close(prediction.factor, factor, 1e-15);
        for scale in &prediction.scales {
            close(
                scale.samples,
                expected(factor, scale.level as i32 + 1, if scale.arity == 2 { m2 } else { m3 }),
                1e-13,
            );
        }
        close(prediction.samples(), expected(factor, 3, m3), 1e-13); // eq. samp_comp
    }
}

#[test]
fn the_easiest_path_is_that_of_the_largest_factor_per_rule() {
    for probabilities in all_probabilities() {
        let (vocab, mean) = (6u64, mean_branching(probabilities).unwrap());
        let rules = probabilities.map(|arity, _| 2u64.pow(arity as u32 - 1));
        let both = sample_complexity(3, vocab, rules, probabilities).unwrap();
        let size_biased = |arity: f64, p: f64| arity * (p / mean).powi(2);
        let paper = |arity: f64, p: f64| p.powi(2) / arity;
        let check = |prediction: &Prediction, factor: &dyn Fn(f64, f64) -> f64| {
            let signals = probabilities.map(|arity, p| factor(arity as f64, p) / rules[arity] as f64);
            let most = signals.nonzero().map(|(_, signal)| signal).fold(0.0, f64::max);
            close(signals[prediction.path_arity], most, 1e-15);
            assert_eq!(prediction.scales.len(), 3 * signals.nonzero().count());
            for scale in &prediction.scales {
                let expected = (vocab * rules[scale.arity]) as f64 / most.powi(scale.level as i32);
                close(scale.samples, expected, 1e-13);
            }
            let samples = prediction.scales.iter().map(|scale| scale.samples).fold(0.0, f64::max);
            assert_eq!(prediction.samples(), samples);
        };
        check(&both.paper, &paper);
        check(&both.size_biased, &size_biased);
    }
}

#[test]
fn erratum_5_depth_costs_12_5_per_level_not_8() {
    let at = |depth| sample_complexity(depth, 16, rules(1, 16), PerArity::paper(0.5)).unwrap();
    for depth in 1..=5 {
        close(at(depth + 1).paper.samples() / at(depth).paper.samples(), 8.0, 1e-12);
        close(at(depth + 1).size_biased.samples() / at(depth).size_biased.samples(), 12.5, 1e-12);
    }
}

#[test]
fn erratum_5_pooled_tokens_are_size_biased() {
    for probabilities in all_probabilities() {
        let rules = probabilities.map(|_, _| 1);
        let prediction = sample_complexity(1, 8, rules, probabilities).unwrap().size_biased;
        let arity = prediction.path_arity;
        for depth in 1..=3 {
            let mean = |count: &dyn Fn(&Tree) -> usize| -> f64 {
                let trees = all_trees(probabilities.arities(), depth);
                trees.iter().map(|(tree, &n)| n as f64 * tree.weight(probabilities) * count(tree) as f64).sum()
            };
            // The share of tokens below nodes of this arity only, squared, split evenly among arity^depth positions.
            let share = mean(&|tree| tree.pure_leaves[arity]) / mean(&|tree| tree.leaves);
            let expected = share.powi(2) / (arity as f64).powi(depth as i32);
            close(expected, prediction.factor.powi(depth as i32), 1e-11);
        }
    }
}

#[test]
fn predictions_agree_on_fixed_trees() {
    for (arity, own) in [(1, 1u64), (2, 4), (3, 10), (5, 100)] {
        let (rules, fixed) = (PerArity::from([(arity, own)]), PerArity::from([(arity, 1.0)]));
        let both = sample_complexity(3, 8, rules, fixed).unwrap();
        assert_eq!((both.paper.path_arity, both.size_biased.path_arity, both.paper.scales.len()), (arity, arity, 3));
        both.paper.scales.iter().zip(&both.size_biased.scales).for_each(|(a, b)| close(a.samples, b.samples, 1e-12));
        close(both.paper.samples(), 8.0 * own as f64 * (arity as f64 * own as f64).powi(2), 1e-12);
    }
}

#[test]
fn the_easiest_path_is_ternary_when_binary_nodes_are_rare() {
    let at = |p_binary| sample_complexity(3, 8, rules(4, 16), PerArity::paper(p_binary)).unwrap();
    let rare = at(0.01);
    assert_eq!((rare.paper.path_arity, rare.size_biased.path_arity), (3, 3));
    // Rarer still changes next to nothing: the prediction is continuous at p_binary = 0.
    close(rare.paper.samples(), at(0.0).paper.samples(), 0.05);
}
