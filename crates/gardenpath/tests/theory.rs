//! Every formula of the theory module against brute-force enumeration of trees, and every correction of the paper.

use gardenpath::theory::candidates::{bifurcation, critical_fraction, mean_candidates};
use gardenpath::theory::complexity::{Prediction, sample_complexity};
use gardenpath::theory::entropy::{class_entropy, paper_class_entropy};
use gardenpath::theory::fraction::{grammatical_fraction, paper_grammatical_fraction, typical_grammatical_fraction};
use gardenpath::theory::lengths::*;
use gardenpath::theory::splits::{median_splits, splits};
use gardenpath::theory::trees::{Topology, tree_count, two_level_topologies, typical_tree_count};
use gardenpath::theory::{ByLength, MAX_DEPTH, Magnitude, TheoryError};
use num_bigint::BigUint;
use num_traits::{One, Zero};

/// What the sums over trees need to know of one tree.
struct Tree {
    leaves: usize,
    binary_nodes: i32,
    ternary_nodes: i32,
    /// Leaves all of whose ancestors are binary.
    binary_leaves: usize,
}

impl Tree {
    fn weight(&self, binary: f64, ternary: f64) -> f64 {
        binary.powi(self.binary_nodes) * ternary.powi(self.ternary_nodes)
    }
}

/// All trees of a depth up to 3 (1872 of them), one by one.
fn all_trees(depth: usize) -> Vec<Tree> {
    if depth == 0 {
        return vec![Tree { leaves: 1, binary_nodes: 0, ternary_nodes: 0, binary_leaves: 1 }];
    }
    let below = all_trees(depth - 1);
    let mut trees = Vec::new();
    for first in &below {
        for second in &below {
            trees.push(Tree {
                leaves: first.leaves + second.leaves,
                binary_nodes: first.binary_nodes + second.binary_nodes + 1,
                ternary_nodes: first.ternary_nodes + second.ternary_nodes,
                binary_leaves: first.binary_leaves + second.binary_leaves,
            });
            for third in &below {
                trees.push(Tree {
                    leaves: first.leaves + second.leaves + third.leaves,
                    binary_nodes: first.binary_nodes + second.binary_nodes + third.binary_nodes,
                    ternary_nodes: first.ternary_nodes + second.ternary_nodes + third.ternary_nodes + 1,
                    binary_leaves: 0,
                });
            }
        }
    }
    trees
}

fn sum_over_trees(trees: &[Tree], len: usize, weight: impl Fn(&Tree) -> f64) -> f64 {
    trees.iter().filter(|tree| tree.leaves == len).map(weight).sum()
}

/// `binomial(n, 0), …, binomial(n, n)`, exactly.
fn binomials(n: usize) -> Vec<BigUint> {
    let step = |&(k, ref value): &(usize, BigUint)| Some((k + 1, value * (n - k) / (k + 1)));
    std::iter::successors(Some((0, BigUint::one())), step).take(n + 1).map(|(_, value)| value).collect()
}

/// Binomial probabilities of `n` coins.
fn binomial_law(n: usize, p: f64) -> Vec<f64> {
    let choose = binomials(n);
    (0..=n).map(|k| Magnitude::from(&choose[k]).value() * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)).collect()
}

fn close(left: f64, right: f64, relative: f64) {
    assert!((left - right).abs() <= relative * left.abs().max(right.abs()), "{left} is not {right}");
}

/// The largest relative difference of two functions of length.
fn largest_gap(left: &ByLength<Magnitude>, right: &ByLength<Magnitude>) -> f64 {
    left.iter().map(|(len, _)| (left.ln(len) - right.ln(len)).exp_m1().abs()).fold(0.0, f64::max)
}

const ODDS: [f64; 5] = [0.0, 0.2, 0.5, 0.9, 1.0];

// ---- lengths

#[test]
fn length_law_is_the_sum_over_trees() {
    for depth in 1..=3 {
        let trees = all_trees(depth);
        for p_binary in ODDS {
            let law = length_distribution(depth, p_binary).unwrap();
            assert_eq!((law.min_len(), law.max_len()), (1 << depth, 3usize.pow(depth as u32)));
            for (len, probability) in law.iter() {
                let expected = sum_over_trees(&trees, len, |tree| tree.weight(p_binary, 1.0 - p_binary));
                close(probability, expected, 1e-13);
                assert_eq!(probability, law.probability(len));
                assert!(probability == 0.0 || (law.ln_probability(len) - expected.ln()).abs() < 1e-13);
            }
        }
    }
}

#[test]
fn length_law_is_normalised_at_every_depth() {
    for depth in 1..=8 {
        for p_binary in ODDS {
            let law = length_distribution(depth, p_binary).unwrap();
            assert!(law.iter().all(|(_, probability)| (0.0..=1.0).contains(&probability)));
            assert!((law.iter().map(|(_, probability)| probability).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn moments_of_the_length_are_those_of_a_branching_process() {
    for depth in 1..=7 {
        for p_binary in ODDS {
            let law = length_distribution(depth, p_binary).unwrap();
            let branching = mean_branching(p_binary).unwrap();
            let typical = branching.powi(depth as i32);
            let node_variance = p_binary * (1.0 - p_binary);
            let variance = node_variance * branching.powi(depth as i32 - 1) * (typical - 1.0) / (branching - 1.0);
            close(law.mean(), typical, 1e-12);
            assert!((law.variance() - variance).abs() <= 1e-11 * typical.powi(2), "{} {variance}", law.variance());
            assert_eq!(typical_length(depth, p_binary).unwrap(), typical.floor() as usize);
        }
    }
}

#[test]
fn one_kind_of_branching_gives_one_length() {
    for (p_binary, len) in [(1.0, 1usize << 7), (0.0, 3usize.pow(7))] {
        let law = length_distribution(7, p_binary).unwrap();
        assert_eq!(law.probability(len), 1.0);
        assert!(law.iter().all(|(other, probability)| other == len || probability == 0.0));
        assert_eq!(typical_length(7, p_binary).unwrap(), len);
        assert_eq!(law.variance(), 0.0);
    }
}

#[test]
fn tails_of_the_length_law_survive_underflow() {
    let law = length_distribution(7, 0.5).unwrap();
    assert_eq!(law.probability(2187), 0.0); // 2^-1093
    close(law.ln_probability(2187), -1093.0 * 2f64.ln(), 1e-13);
    assert_eq!(law.ln_probability(2188), f64::NEG_INFINITY);
}

#[test]
fn scaling_form_converges() {
    let curve = |depth: usize| length_distribution(depth, 0.5).unwrap().scaling_form();
    // The largest distance of the curve of one depth to the polygon of the next.
    let gap = |coarse: Vec<(f64, f64)>, fine: Vec<(f64, f64)>| {
        let height = |x: f64| {
            let right = fine.partition_point(|point| point.0 < x).clamp(1, fine.len() - 1);
            let ((x0, y0), (x1, y1)) = (fine[right - 1], fine[right]);
            y0 + (y1 - y0) * (x - x0) / (x1 - x0)
        };
        coarse.iter().map(|&(x, y)| (y - height(x)).abs()).fold(0.0, f64::max)
    };
    let gaps: Vec<f64> = (2..6).map(|depth| gap(curve(depth), curve(depth + 1))).collect();
    assert!(gaps.is_sorted_by(|shallow, deep| *shallow > 1.5 * deep) && gaps[3] < 0.01, "{gaps:?}");
}

#[test]
fn erratum_2_variance_of_branching_ratio_has_no_13() {
    for len in [1usize, 10, 39] {
        for p_binary in [0.3, 0.5] {
            // r = 2 + (ternary symbols) / len
            let law = binomial_law(len, 1.0 - p_binary);
            let ratio = |ternaries: usize| 2.0 + ternaries as f64 / len as f64;
            let mean: f64 = law.iter().enumerate().map(|(k, weight)| weight * ratio(k)).sum();
            let variance: f64 = law.iter().enumerate().map(|(k, weight)| weight * (ratio(k) - mean).powi(2)).sum();
            close(mean, mean_branching(p_binary).unwrap(), 1e-13);
            close(variance, branching_variance(len, p_binary).unwrap(), 1e-12);
        }
        close(branching_variance(len, 0.5).unwrap(), 1.0 / (4.0 * len as f64), 1e-15);
    }
}

#[test]
fn erratum_2_variance_of_log_ratio_is_one_over_25_d() {
    let len = 500;
    let law = binomial_law(len, 0.5);
    let log = |ternaries: usize| (2.0 + ternaries as f64 / len as f64).ln();
    let mean: f64 = law.iter().enumerate().map(|(k, weight)| weight * log(k)).sum();
    let variance: f64 = law.iter().enumerate().map(|(k, weight)| weight * (log(k) - mean).powi(2)).sum();
    close(log_branching_variance(len, 0.5).unwrap(), 1.0 / (25.0 * len as f64), 1e-15);
    close(variance, log_branching_variance(len, 0.5).unwrap(), 1e-3);
}

#[test]
fn mean_internal_nodes_is_a_mean_over_trees() {
    for depth in 1..=3 {
        for p_binary in ODDS {
            let mean: f64 = all_trees(depth)
                .iter()
                .map(|tree| tree.weight(p_binary, 1.0 - p_binary) * f64::from(tree.binary_nodes + tree.ternary_nodes))
                .sum();
            close(mean, mean_internal_nodes(depth, p_binary).unwrap(), 1e-13);
        }
    }
}

// ---- trees

#[test]
fn tree_counts_are_the_numbers_of_trees() {
    for depth in 1..=3 {
        let trees = all_trees(depth);
        let counts = tree_count(depth).unwrap();
        for (len, count) in counts.iter() {
            assert_eq!(*count, BigUint::from(trees.iter().filter(|tree| tree.leaves == len).count()));
        }
        let total: BigUint = counts.iter().map(|(_, count)| count).sum();
        assert_eq!(total, BigUint::from(trees.len()));
    }
}

#[test]
fn tree_counts_obey_the_printed_recursion() {
    for depth in 1..=5 {
        let (parents, children) = (tree_count(depth).unwrap(), tree_count(depth + 1).unwrap());
        let mut expected = vec![BigUint::zero(); children.max_len() + 1];
        for (len, count) in parents.iter() {
            for (ternaries, choose) in binomials(len).into_iter().enumerate() {
                expected[2 * len + ternaries] += count * choose;
            }
        }
        assert!(children.iter().all(|(len, count)| *count == expected[len]));
    }
}

#[test]
fn all_trees_together_obey_n_squared_plus_n_cubed() {
    let mut total = BigUint::one();
    for depth in 1..=7 {
        total = &total * &total * (&total + 1u32);
        assert_eq!(tree_count(depth).unwrap().iter().map(|(_, count)| count).sum::<BigUint>(), total);
    }
}

#[test]
fn erratum_4_ten_to_the_48_trees_at_depth_6() {
    let trees = tree_count(6).unwrap();
    assert_eq!(typical_length(6, 0.5).unwrap(), 244);
    assert_eq!(trees.get(244).unwrap().to_string(), "2305787621309065842164092415845360612977213439864");
    close(Magnitude::from(trees.get(244).unwrap()).value(), 2.3e48, 0.01);
}

#[test]
fn erratum_4_asymptote_has_the_wrong_rate() {
    // ln(exact / asymptote) per mean internal node: it should tend to 0, but crosses it and settles above.
    let excess = |depth: usize| {
        let exact = Magnitude::from(tree_count(depth).unwrap().get(typical_length(depth, 0.5).unwrap()).unwrap());
        let nodes = mean_internal_nodes(depth, 0.5).unwrap();
        let asymptote = typical_tree_count(depth, 0.5).unwrap();
        close(asymptote.ln(), nodes * 2f64.ln(), 1e-13);
        (exact.ln() - asymptote.ln()) / nodes
    };
    let excesses: Vec<f64> = (5..=8).map(excess).collect();
    assert!(excesses.is_sorted() && excesses[1] < 0.0 && excesses[2] > 0.01 && excesses[3] > 0.02, "{excesses:?}");
}

#[test]
fn twelve_topologies_agree_with_counts_and_lengths() {
    let topologies = two_level_topologies();
    assert_eq!(topologies.len(), 12);
    for p_binary in ODDS {
        let (law, counts) = (length_distribution(2, p_binary).unwrap(), tree_count(2).unwrap());
        for (len, probability) in law.iter() {
            let same: Vec<&Topology> = topologies.iter().filter(|topology| topology.sentence_len() == len).collect();
            assert_eq!(counts.get(len), Some(&BigUint::from(same.len())));
            close(same.iter().map(|topology| topology.probability(p_binary).unwrap()).sum(), probability, 1e-14);
        }
    }
    for topology in &topologies {
        let (binary, ternary) = topology.node_counts();
        assert_eq!(binary + ternary, 1 + topology.root_arity());
        assert_eq!(topology.blocks().iter().map(|block| block.1).collect::<Vec<_>>(), topology.child_arities());
    }
}

// ---- fraction

#[test]
fn grammatical_fraction_is_a_mean_over_trees() {
    for depth in 1..=3 {
        let trees = all_trees(depth);
        for (f2, f3, p_binary) in [(0.5, 0.5, 0.5), (0.3, 0.05, 0.7), (1.0, 1.0, 0.5), (0.2, 0.9, 0.1)] {
            let fraction = grammatical_fraction(depth, f2, f3, p_binary).unwrap();
            for (len, value) in fraction.iter() {
                let all = sum_over_trees(&trees, len, |tree| tree.weight(p_binary, 1.0 - p_binary));
                let grammatical = sum_over_trees(&trees, len, |tree| tree.weight(p_binary * f2, (1.0 - p_binary) * f3));
                close(value.value(), grammatical / all, 1e-12);
            }
        }
    }
}

#[test]
fn paper_fraction_obeys_the_printed_recursion() {
    let (f, depths) = (0.4f64, 1..=4);
    let mut previous: Vec<(usize, f64)> = vec![(2, f), (3, f)]; // F(d, 1)
    for depth in depths {
        let fraction = paper_grammatical_fraction(depth, f, f, 0.5).unwrap();
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
fn erratum_3_fraction_lacks_incoming_weights() {
    let gap = |depth, fraction| {
        let printed = paper_grammatical_fraction(depth, fraction, fraction, 0.5).unwrap();
        largest_gap(&printed, &grammatical_fraction(depth, fraction, fraction, 0.5).unwrap())
    };
    assert!(gap(1, 0.5) < 1e-13 && gap(2, 0.5) < 1e-13, "no weights to forget before depth 3");
    close(gap(3, 0.5), 0.168, 0.005); // at 22 tokens
    close(gap(3, 0.25), 0.291, 0.005); // smaller fractions tell lengths apart more strongly
    assert!(gap(6, 0.25) > 10.0);
    assert!(gap(6, 1.0) < 1e-12, "if everything is grammatical, weights do not matter");
}

#[test]
fn fraction_at_the_typical_length_follows_its_asymptote() {
    for depth in 4..=7 {
        let len = typical_length(depth, 0.5).unwrap();
        let exact = grammatical_fraction(depth, 0.5, 0.5, 0.5).unwrap().ln(len);
        let asymptote = typical_grammatical_fraction(depth, 0.5, 0.5, 0.5).unwrap().ln();
        close(asymptote, mean_internal_nodes(depth, 0.5).unwrap() * 0.5f64.ln(), 1e-13);
        close(exact, asymptote, 0.05); // the exponents; not the values
    }
}

#[test]
fn fractions_survive_underflow() {
    for of in [grammatical_fraction, paper_grammatical_fraction] {
        let fraction = of(7, 0.01, 0.01, 0.5).unwrap();
        assert_eq!(fraction.value(2187), 0.0);
        close(fraction.ln(2187), 1093.0 * 0.01f64.ln(), 1e-12);
        close(fraction.ln(128), 127.0 * 0.01f64.ln(), 1e-12);
        assert!(fraction.iter().all(|(len, _)| fraction.ln(len).is_finite()));
    }
}

#[test]
fn fraction_of_a_fixed_tree_counts_its_nodes() {
    for of in [grammatical_fraction, paper_grammatical_fraction] {
        close(of(4, 0.5, 0.1, 1.0).unwrap().value(16), 0.5f64.powi(15), 1e-13);
        close(of(3, 0.5, 0.1, 0.0).unwrap().value(27), 0.1f64.powi(13), 1e-13);
        assert_eq!(of(4, 0.5, 0.1, 1.0).unwrap().value(18), 0.0, "a length that never occurs");
    }
    close(typical_grammatical_fraction(4, 0.5, 0.0, 1.0).unwrap().value(), 0.5f64.powi(15), 1e-13);
    assert!(typical_grammatical_fraction(4, 0.5, 0.0, 0.5).unwrap().is_zero());
}

// ---- entropy

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

/// The entropy by tossing every coin of every sentence: no inclusion and exclusion, no shortcut in the weights.
fn tossed_class_entropy(f2: f64, f3: f64, p_binary: f64) -> f64 {
    let chance = |arity: usize| if arity == 2 { f2 } else { f3 };
    let all = two_level_topologies();
    let mut mean = 0.0;
    for truth in &all {
        let rivals: Vec<&Topology> =
            all.iter().filter(|other| *other != truth && other.sentence_len() == truth.sentence_len()).collect();
        let mut blocks: Vec<(usize, usize)> = rivals.iter().flat_map(|rival| rival.blocks()).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.retain(|block| !truth.blocks().contains(block));
        let arities: Vec<usize> =
            blocks.iter().map(|block| block.1).chain(rivals.iter().map(|rival| rival.root_arity())).collect();
        for toss in 0..1usize << arities.len() {
            let valid = |coin: usize| toss >> coin & 1 == 1;
            let probability: f64 = (0..arities.len())
                .map(|coin| if valid(coin) { chance(arities[coin]) } else { 1.0 - chance(arities[coin]) })
                .product();
            let derives = |&(index, rival): &(usize, &&Topology)| {
                let grammatical = |block| blocks.iter().position(|b| *b == block).is_none_or(valid);
                valid(blocks.len() + index) && rival.blocks().into_iter().all(grammatical)
            };
            let parses = rivals.iter().enumerate().filter(derives).map(|(_, rival)| *rival).chain([truth]);
            let weights: Vec<f64> = parses
                .map(|parse| {
                    let (binary, ternary) = parse.node_counts();
                    (p_binary / f2).powi(binary as i32) * ((1.0 - p_binary) / f3).powi(ternary as i32)
                })
                .collect();
            let total: f64 = weights.iter().sum();
            let entropy: f64 = weights.iter().map(|weight| -(weight / total) * (weight / total).ln()).sum();
            mean += truth.probability(p_binary).unwrap() * probability * entropy;
        }
    }
    mean
}

#[test]
fn erratum_1_class_entropy_equals_the_corrected_closed_form() {
    for percent in 0..=100 {
        let fraction = f64::from(percent) / 100.0;
        let exact = class_entropy(fraction, fraction, 0.5).unwrap();
        assert!((exact - closed_class_entropy(fraction)).abs() < 1e-12, "at {fraction}");
    }
}

#[test]
fn erratum_1_printed_entropy_is_too_low_except_at_the_ends() {
    let (printed, exact) = (|f| paper_class_entropy(f).unwrap(), |f| class_entropy(f, f, 0.5).unwrap());
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
        close(class_entropy(f2, f3, p_binary).unwrap(), tossed_class_entropy(f2, f3, p_binary), 1e-12);
    }
}

#[test]
fn class_entropy_is_zero_without_a_choice_and_continuous_at_zero() {
    for p_binary in [0.0, 1.0] {
        assert_eq!(class_entropy(0.7, 0.3, p_binary).unwrap(), 0.0);
    }
    assert_eq!(class_entropy(0.0, 0.0, 0.5).unwrap(), 0.0);
    assert!(class_entropy(1e-300, 1e-200, 0.5).unwrap() < 1e-12);
    for fraction in [0.3, 1.0] {
        let at_zero = [class_entropy(0.0, fraction, 0.4).unwrap(), class_entropy(fraction, 0.0, 0.4).unwrap()];
        let near = [class_entropy(1e-9, fraction, 0.4).unwrap(), class_entropy(fraction, 1e-9, 0.4).unwrap()];
        for (limit, value) in at_zero.iter().zip(near) {
            assert!((limit - value).abs() < 1e-6, "{limit} {value}");
        }
    }
}

// ---- candidates

#[test]
fn candidates_are_a_sum_over_trees() {
    for depth in 1..=3 {
        let trees = all_trees(depth);
        for (f2, f3) in [(0.5, 0.5), (0.3, 0.05), (0.0, 0.7), (1.0, 0.0)] {
            for (len, mean) in mean_candidates(depth, f2, f3).unwrap().iter() {
                close(mean.value(), sum_over_trees(&trees, len, |tree| tree.weight(f2, f3)), 1e-13);
            }
        }
    }
}

#[test]
fn erratum_4_bottom_up_equals_top_down_when_all_is_grammatical() {
    for depth in 1..=6 {
        let (bottom_up, top_down) = (mean_candidates(depth, 1.0, 1.0).unwrap(), tree_count(depth).unwrap());
        assert_eq!((bottom_up.min_len(), bottom_up.max_len()), (top_down.min_len(), top_down.max_len()));
        for (len, count) in top_down.iter() {
            let (mean, count) = (bottom_up.value(len), Magnitude::from(count).value());
            // Integers below 2^53 are exact.
            if depth <= 4 { assert_eq!(mean, count) } else { close(mean, count, 1e-12) }
        }
    }
}

#[test]
fn candidates_at_the_branching_probabilities_are_the_length_law() {
    for depth in [2, 5, 7] {
        let (mean, law) = (mean_candidates(depth, 0.3, 0.7).unwrap(), length_distribution(depth, 0.3).unwrap());
        assert!(mean.iter().all(|(len, mean)| (mean.ln() - law.ln_probability(len)).abs() < 1e-11));
    }
}

#[test]
fn critical_fraction_tends_to_one_half_from_above() {
    let critical: Vec<f64> = (1..=7).map(|depth| critical_fraction(depth, 0.5).unwrap()).collect();
    close(critical[0], 1.0, 1e-11);
    close(critical[1], 0.754_877_666_246_693, 1e-11); // f^2 + f^3 = 1
    assert!(critical.is_sorted_by(|shallow, deep| shallow > deep) && critical[6] > 0.5);
    // The law of lengths spreads by 5/2 per level, the last level adds (5/2)^(depth-1) nodes.
    for depth in 5..=7 {
        let excess = critical[depth - 1] - 0.5;
        close(excess, 2.5f64.ln() / 2.0 / 2.5f64.powi(depth as i32 - 1), 0.02);
    }
}

#[test]
fn the_critical_fraction_depends_on_the_typical_length() {
    // Trees of one arity are f^nodes: only at f = 1 does a deeper one not shrink.
    for p_binary in [0.0, 1.0] {
        close(critical_fraction(3, p_binary).unwrap(), 1.0, 1e-11);
    }
    // Depth 2, typical length 4: f^3 = f for the only tree, against one of length 2 at depth 1.
    assert_eq!(typical_length(2, 0.95).unwrap(), 4);
    close(critical_fraction(2, 0.95).unwrap(), 1.0, 1e-11);
    assert!(critical_fraction(5, 0.3).unwrap() > critical_fraction(5, 0.5).unwrap());
}

#[test]
fn bifurcation_follows_the_typical_length() {
    let curves = bifurcation(6, &[0.4, 0.5, 0.6], 0.5).unwrap();
    for curve in &curves {
        for (i, value) in curve.at_typical_length.iter().enumerate() {
            let mean = mean_candidates(i + 1, curve.fraction, curve.fraction).unwrap();
            assert_eq!(value.value(), mean.value(typical_length(i + 1, 0.5).unwrap()));
        }
    }
    let last_step = |i: usize| curves[i].at_typical_length[5].ln() - curves[i].at_typical_length[4].ln();
    assert!(last_step(0) < -10.0 && last_step(2) > 10.0);
    close(last_step(1), -(2.5f64.ln()), 0.02); // at 1/2 only the law of lengths spreads
}

// ---- splits

#[test]
fn splits_equal_brute_force() {
    for height in 1..=4 {
        let (least, most) = (2usize.pow(height - 1), 3usize.pow(height - 1));
        for len in 0..=3 * most + 5 {
            let (mut binary, mut ternary) = (0, 0);
            for first in least..=most {
                for second in least..=most {
                    binary += u64::from(first + second == len);
                    ternary += (least..=most).filter(|third| first + second + third == len).count() as u64;
                }
            }
            let counted = splits(len, height as usize).unwrap();
            assert_eq!((counted.binary, counted.ternary), (binary, ternary), "height {height}, length {len}");
        }
    }
    assert_eq!(splits(usize::MAX, MAX_DEPTH).unwrap().ternary, 0);
}

#[test]
fn splits_of_all_spans_are_all_tuples_of_children() {
    for height in 1..=8u32 {
        let room = (3u64.pow(height - 1) - 2u64.pow(height - 1)) + 1;
        let all: Vec<_> = (0..=3usize.pow(height)).map(|len| splits(len, height as usize).unwrap()).collect();
        assert_eq!(all.iter().map(|splits| splits.binary).sum::<u64>(), room.pow(2));
        assert_eq!(all.iter().map(|splits| splits.ternary).sum::<u64>(), room.pow(3));
    }
}

#[test]
fn median_splits_grow_like_powers_of_three_and_nine() {
    let medians: Vec<_> = (1..=9).map(|height| median_splits(height).unwrap()).collect();
    assert_eq!((medians[3].binary, medians[3].ternary), (3.5, 91.0));
    close(medians[8].binary / medians[7].binary, 3.0, 0.05);
    close(medians[8].ternary / medians[7].ternary, 9.0, 0.06);
    // Figure median_splits: ternary splits outnumber the 244 tokens of depth 6 beyond height 4.
    assert!(medians[3].ternary < 244.0 && medians[4].ternary > 244.0);
}

// ---- complexity

#[test]
fn scales_are_the_conjecture() {
    let (vocab, m2, m3, p) = (16u64, 4u64, 64u64, 0.5f64);
    let both = sample_complexity(3, vocab, m2, m3, p).unwrap();
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
fn erratum_5_depth_costs_12_5_per_level_not_8() {
    let at = |depth| sample_complexity(depth, 16, 1, 16, 0.5).unwrap();
    for depth in 1..=5 {
        close(at(depth + 1).paper.samples() / at(depth).paper.samples(), 8.0, 1e-12);
        close(at(depth + 1).size_biased.samples() / at(depth).size_biased.samples(), 12.5, 1e-12);
    }
}

#[test]
fn erratum_5_pooled_tokens_are_size_biased() {
    for p_binary in [0.5, 0.8] {
        let factor = sample_complexity(1, 8, 2, 16, p_binary).unwrap().size_biased.factor;
        for depth in 1..=3 {
            let mean = |count: fn(&Tree) -> usize| -> f64 {
                let trees = all_trees(depth);
                trees.iter().map(|tree| tree.weight(p_binary, 1.0 - p_binary) * count(tree) as f64).sum()
            };
            // The share of tokens below binary nodes only, squared, split evenly among 2^depth positions.
            let share = mean(|tree| tree.binary_leaves) / mean(|tree| tree.leaves);
            close(share.powi(2) / 2f64.powi(depth as i32), factor.powi(depth as i32), 1e-12);
        }
    }
}

#[test]
fn predictions_agree_on_fixed_trees() {
    let same = |left: &Prediction, right: &Prediction| {
        assert_eq!(left.path_arity, right.path_arity);
        left.scales.iter().zip(&right.scales).for_each(|(a, b)| close(a.samples, b.samples, 1e-12));
    };
    let binary = sample_complexity(3, 8, 4, 0, 1.0).unwrap();
    same(&binary.paper, &binary.size_biased);
    close(binary.paper.samples(), 8.0 * 4.0 * (2.0f64 * 4.0).powi(2), 1e-12);
    let ternary = sample_complexity(3, 8, 0, 10, 0.0).unwrap();
    same(&ternary.paper, &ternary.size_biased);
    assert_eq!((ternary.paper.path_arity, ternary.paper.scales.len()), (3, 3));
    close(ternary.paper.samples(), 8.0 * 10.0 * (3.0f64 * 10.0).powi(2), 1e-12);
}

#[test]
fn the_easiest_path_is_ternary_when_binary_nodes_are_rare() {
    let rare = sample_complexity(3, 8, 4, 16, 0.01).unwrap();
    assert_eq!((rare.paper.path_arity, rare.size_biased.path_arity), (3, 3));
    // Rarer still changes next to nothing: the prediction is continuous at p_binary = 0.
    let absent = sample_complexity(3, 8, 4, 16, 0.0).unwrap();
    close(rare.paper.samples(), absent.paper.samples(), 0.05);
}

// ---- errors

#[test]
fn parameters_out_of_range_are_rejected() {
    for depth in [0, MAX_DEPTH + 1, usize::MAX] {
        let error = TheoryError::Depth { depth };
        assert_eq!(length_distribution(depth, 0.5), Err(error));
        assert_eq!(typical_length(depth, 0.5), Err(error));
        assert_eq!(mean_internal_nodes(depth, 0.5), Err(error));
        assert_eq!(tree_count(depth), Err(error));
        assert_eq!(grammatical_fraction(depth, 0.5, 0.5, 0.5), Err(error));
        assert_eq!(paper_grammatical_fraction(depth, 0.5, 0.5, 0.5), Err(error));
        assert_eq!(mean_candidates(depth, 0.5, 0.5), Err(error));
        assert_eq!(bifurcation(depth, &[0.5], 0.5), Err(error));
        assert_eq!(critical_fraction(depth, 0.5), Err(error));
        assert_eq!(splits(4, depth), Err(error));
        assert_eq!(median_splits(depth), Err(error));
        assert_eq!(sample_complexity(depth, 8, 2, 16, 0.5), Err(error));
    }
    for value in [-0.1, 1.0 + 1e-9, f64::NAN, f64::INFINITY] {
        let bad_odds =
            |result: Result<(), TheoryError>| assert!(matches!(result, Err(TheoryError::Probability { .. })));
        bad_odds(length_distribution(2, value).map(drop));
        bad_odds(mean_branching(value).map(drop));
        bad_odds(branching_variance(2, value).map(drop));
        bad_odds(two_level_topologies()[0].probability(value).map(drop));
        bad_odds(grammatical_fraction(2, 0.5, 0.5, value).map(drop));
        bad_odds(class_entropy(0.5, 0.5, value).map(drop));
        bad_odds(sample_complexity(2, 8, 2, 16, value).map(drop));
        let bad_share = |result: Result<(), TheoryError>| assert!(matches!(result, Err(TheoryError::Fraction { .. })));
        bad_share(grammatical_fraction(2, value, 0.5, 0.5).map(drop));
        bad_share(paper_grammatical_fraction(2, 0.5, value, 0.5).map(drop));
        bad_share(typical_grammatical_fraction(2, 0.5, value, 0.5).map(drop));
        bad_share(class_entropy(value, 0.5, 0.5).map(drop));
        bad_share(paper_class_entropy(value).map(drop));
        bad_share(mean_candidates(2, 0.5, value).map(drop));
        bad_share(bifurcation(2, &[0.5, value], 0.5).map(drop));
    }
    assert_eq!(branching_variance(0, 0.5), Err(TheoryError::EmptyLevel));
    assert_eq!(sample_complexity(2, 8, 9, 16, 0.5), Err(TheoryError::Rules { arity: 2, rules: 9, most: 8 }));
    assert_eq!(sample_complexity(2, 8, 2, 0, 0.5), Err(TheoryError::Rules { arity: 3, rules: 0, most: 64 }));
    assert!(sample_complexity(2, 0, 1, 1, 0.5).is_err());
}

#[test]
fn messages_are_one_line_and_name_the_value() {
    let errors = [
        (tree_count(12).unwrap_err(), "depth must lie between 1 and 9, got 12"),
        (class_entropy(0.5, 2.0, 0.5).unwrap_err(), "ternary_fraction must lie between 0 and 1, got 2"),
        (sample_complexity(2, 8, 9, 16, 0.5).unwrap_err(), "arity 2 has between 1 and 8 rules per symbol, got 9"),
    ];
    for (error, message) in errors {
        assert_eq!(error.to_string(), message);
    }
}
