use crate::brute::*;
use gardenpath::theory::lengths::*;
use gardenpath::{Corpus, Ensemble, PerArity, Seed};

#[test]
fn length_law_is_the_sum_over_trees() {
    for probabilities in all_probabilities().chain(ODDS.map(PerArity::paper)) {
        let arities = probabilities.arities();
        for depth in 1..=3 {
            let trees = all_trees(arities, depth);
            let law = length_distribution(depth, probabilities).unwrap();
            let bounds = [arities.least(), arities.most()].map(|arity| arity.pow(depth as u32));
            assert_eq!([law.min_len(), law.max_len()], bounds);
            for (len, probability) in law.iter() {
                let expected = sum_over_trees(&trees, len, |tree| tree.weight(probabilities));
                close(probability, expected, 1e-13);
                assert_eq!(probability, law.probability(len));
                assert!(probability == 0.0 || (law.ln_probability(len) - expected.ln()).abs() < 1e-13);
            }
        }
    }
}

#[test]
fn length_law_obeys_the_master_equation() {
    for p_binary in [0.2, 0.5] {
        for depth in 1..=4 {
            let law = |depth| length_distribution(depth, PerArity::paper(p_binary)).unwrap();
            let (parents, children) = (law(depth), law(depth + 1));
            let mut expected = vec![0.0; children.max_len() + 1];
            for (len, probability) in parents.iter() {
                for (ternaries, weight) in binomial_law(len, 1.0 - p_binary).into_iter().enumerate() {
                    expected[2 * len + ternaries] += probability * weight;
                }
            }
            children.iter().for_each(|(len, probability)| close(probability, expected[len], 1e-12));
        }
    }
}

#[test]
fn length_law_is_normalised_at_every_depth() {
    for p_binary in ODDS {
        for depth in 1..=8 {
            let law = length_distribution(depth, PerArity::paper(p_binary)).unwrap();
            assert!(law.iter().all(|(_, probability)| (0.0..=1.0).contains(&probability)));
            assert!((law.iter().map(|(_, probability)| probability).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
    let law = length_distribution(4, PerArity::all(0.125)).unwrap();
    assert_eq!((law.min_len(), law.max_len()), (1, 4096));
    assert!((law.iter().map(|(_, probability)| probability).sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn moments_of_the_length_are_those_of_a_branching_process() {
    for probabilities in all_probabilities().chain(ODDS.map(PerArity::paper)) {
        let mean: f64 = probabilities.nonzero().map(|(arity, p)| arity as f64 * p).sum();
        let node_variance: f64 = probabilities.nonzero().map(|(arity, p)| (arity as f64 - mean).powi(2) * p).sum();
        close(mean_branching(probabilities).unwrap(), mean, 1e-15);
        assert!((branching_variance(7, probabilities).unwrap() - node_variance / 7.0).abs() < 1e-15);
        for depth in 1..=6 {
            let law = length_distribution(depth, probabilities).unwrap();
            let typical = mean.powi(depth as i32);
            // Each node of level l adds its variance, times the square of how much it grows.
            let levels = 0..depth as i32;
            let variance: f64 =
                levels.map(|l| node_variance * mean.powi(l) * mean.powi(depth as i32 - 1 - l).powi(2)).sum();
            close(law.mean(), typical, 1e-12);
            assert!((law.variance() - variance).abs() <= 1e-11 * typical.powi(2), "{} {variance}", law.variance());
            let found = typical_length(depth, probabilities).unwrap();
            let longest = law.iter().filter(|&(len, p)| p > 0.0 && len as f64 <= typical + 1e-6).last().unwrap().0;
            assert_eq!(found, longest, "{probabilities} {depth}");
        }
    }
    for (depth, p_binary) in (1..=7).flat_map(|depth| ODDS.map(|p_binary| (depth, p_binary))) {
        let floor = (3.0 - p_binary).powi(depth as i32).floor() as usize;
        assert_eq!(typical_length(depth, PerArity::paper(p_binary)).unwrap(), floor);
    }
}

#[test]
fn one_kind_of_branching_gives_one_length() {
    for (arity, depth) in [(1, 9), (2, 7), (3, 7), (4, 5), (8, 4)] {
        let probabilities = PerArity::from([(arity, 1.0)]);
        let law = length_distribution(depth, probabilities).unwrap();
        let len = arity.pow(depth as u32);
        assert_eq!(law.iter().collect::<Vec<_>>(), [(len, 1.0)]);
        assert_eq!(typical_length(depth, probabilities).unwrap(), len);
        assert_eq!(law.variance(), 0.0);
    }
}

#[test]
fn levels_may_branch_differently() {
    let levels = [PerArity::paper(0.3), PerArity::from([(1, 0.5), (4, 0.5)]), PerArity::from([(2, 1.0)])];
    let law = LengthLaw::of_levels(&levels).unwrap();
    // Two tokens for each of 2 to 12 nodes: n quaternary ones of 2 or 3 above.
    let coins = |n: usize| binomial_law(n, 0.5);
    let mut expected = [0.0; 25];
    for (nodes, probability) in [(2, 0.3), (3, 0.7)] {
        for (quaternary, weight) in coins(nodes).into_iter().enumerate() {
            expected[2 * (nodes + 3 * quaternary)] += probability * weight;
        }
    }
    (0..30).for_each(|len| close(law.probability(len), expected.get(len).copied().unwrap_or(0.0), 1e-14));
    close(law.mean(), 2.7 * 2.5 * 2.0, 1e-14);
    close(law.scaling_form()[0].0, (4.0 - 13.5) / 13.5, 1e-14);
}

#[test]
fn sampled_sentences_follow_the_law() {
    let count = 20_000;
    for set in [&[1, 2][..], &[2, 4], &[1, 2, 3], &[2, 3, 4]] {
        let probabilities: PerArity<f64> = set.iter().map(|&arity| (arity, 1.0 / set.len() as f64)).collect();
        let grammar = Ensemble::new(4, 3).arities(probabilities).sample(Seed::new(1)).unwrap();
        let law = length_distribution(3, probabilities).unwrap();
        let corpus = Corpus::sample(&grammar, Seed::new(2), 0..count);
        let mut found = vec![0.0; law.max_len() + 1];
        (0..corpus.len()).for_each(|i| found[corpus.sentence(i).len()] += 1.0);
        let common: Vec<(usize, f64)> =
            law.iter().map(|(len, p)| (len, p * count as f64)).filter(|(_, n)| *n > 10.0).collect();
        let chi_square: f64 = common.iter().map(|&(len, n)| (found[len] - n).powi(2) / n).sum();
        let lengths = common.len() as f64;
        assert!(chi_square < lengths + 4.0 * (2.0 * lengths).sqrt(), "{set:?}: {chi_square} for {lengths} lengths");
        assert!((1..=law.max_len()).all(|len| law.probability(len) > 0.0 || found[len] == 0.0));
        close(grammar.mean_length(), law.mean(), 1e-12);
    }
}

#[test]
fn tails_of_the_length_law_survive_underflow() {
    let law = length_distribution(7, PerArity::paper(0.5)).unwrap();
    assert_eq!(law.probability(2187), 0.0); // 2^-1093
    close(law.ln_probability(2187), -1093.0 * 2f64.ln(), 1e-13);
    assert_eq!(law.ln_probability(2188), f64::NEG_INFINITY);
}

#[test]
fn scaling_form_converges() {
    let curve = |depth: usize| length_distribution(depth, PerArity::paper(0.5)).unwrap().scaling_form();
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
            close(mean, mean_branching(PerArity::paper(p_binary)).unwrap(), 1e-13);
            close(variance, branching_variance(len, PerArity::paper(p_binary)).unwrap(), 1e-12);
        }
        close(branching_variance(len, PerArity::paper(0.5)).unwrap(), 1.0 / (4.0 * len as f64), 1e-15);
    }
}

#[test]
fn erratum_2_variance_of_log_ratio_is_one_over_25_d() {
    let len = 500;
    let law = binomial_law(len, 0.5);
    let log = |ternaries: usize| (2.0 + ternaries as f64 / len as f64).ln();
    let mean: f64 = law.iter().enumerate().map(|(k, weight)| weight * log(k)).sum();
    let variance: f64 = law.iter().enumerate().map(|(k, weight)| weight * (log(k) - mean).powi(2)).sum();
    let predicted = log_branching_variance(len, PerArity::paper(0.5)).unwrap();
    close(predicted, 1.0 / (25.0 * len as f64), 1e-15);
    close(variance, predicted, 1e-3);
}

#[test]
fn mean_internal_nodes_is_a_mean_over_trees() {
    for probabilities in all_probabilities().chain(ODDS.map(PerArity::paper)) {
        for depth in 1..=3 {
            let mean: f64 = all_trees(probabilities.arities(), depth)
                .iter()
                .map(|(tree, &count)| {
                    count as f64 * tree.weight(probabilities) * f64::from(tree.nodes.iter().sum::<i32>())
                })
                .sum();
            close(mean, mean_internal_nodes(depth, probabilities).unwrap(), 1e-12);
        }
    }
}
