use crate::brute::*;
use gardenpath::theory::Magnitude;
use gardenpath::theory::lengths::{length_distribution, mean_internal_nodes, typical_length};
use gardenpath::theory::trees::{Topology, tree_count, two_level_topologies, typical_tree_count};
use gardenpath::{Arities, Chart, Count, Ensemble, PerArity, Seed};
use num_bigint::BigUint;
use num_traits::{One, Zero};

#[test]
fn tree_counts_are_the_numbers_of_trees() {
    for arities in SETS.map(set) {
        for depth in 1..=3 {
            let trees = all_trees(arities, depth);
            let counts = tree_count(depth, arities).unwrap();
            for (len, count) in counts.iter() {
                let expected: u64 = trees.iter().filter(|(tree, _)| tree.leaves == len).map(|(_, count)| count).sum();
                assert_eq!(*count, BigUint::from(expected), "{arities:?} {depth} {len}");
            }
            let total: BigUint = counts.iter().map(|(_, count)| count).sum();
            assert_eq!(total, BigUint::from(trees.values().sum::<u64>()));
        }
    }
}

/// With one symbol per level every tuple is a rule, so a parser finds one derivation for each tree.
#[test]
fn a_parser_counts_the_trees() {
    for set in SETS {
        let probabilities: PerArity<f64> = set.iter().map(|&arity| (arity, 1.0 / set.len() as f64)).collect();
        let grammar = Ensemble::new(1, 2).arities(probabilities).fraction(1.0).sample(Seed::new(1)).unwrap();
        let counts = tree_count(2, probabilities.arities()).unwrap();
        for (len, count) in counts.iter().filter(|(_, count)| !count.is_zero()) {
            let chart: Chart<Count> = Chart::parse(&grammar, &vec![0; len]).unwrap();
            assert_eq!(chart.root_entries()[0].1.to_big(), *count, "{set:?} {len}");
        }
    }
}

#[test]
fn tree_counts_obey_the_printed_recursion() {
    for depth in 1..=5 {
        let count = |depth| tree_count(depth, Arities::PAPER).unwrap();
        let (parents, children) = (count(depth), count(depth + 1));
        let mut expected = vec![BigUint::zero(); children.max_len() + 1];
        for (len, count) in parents.iter() {
            for (ternaries, choose) in binomials(len).into_iter().enumerate() {
                expected[2 * len + ternaries] += count * choose;
            }
        }
        assert!(children.iter().all(|(len, count)| *count == expected[len]));
    }
}

/// With two and three children, the total `n` of one depth gives `n^2 + n^3` for the next.
#[test]
fn all_trees_together_obey_a_sum_of_powers() {
    for (arities, deepest) in [(Arities::PAPER, 7), (set(&[1, 2]), 9), (set(&[2, 4]), 5), (set(&[3, 5, 8]), 4)] {
        let mut total = BigUint::one();
        for depth in 1..=deepest {
            total = arities.iter().map(|arity| total.pow(arity as u32)).sum();
            assert_eq!(tree_count(depth, arities).unwrap().iter().map(|(_, count)| count).sum::<BigUint>(), total);
        }
    }
}

#[test]
fn erratum_4_ten_to_the_48_trees_at_depth_6() {
    let trees = tree_count(6, Arities::PAPER).unwrap();
    assert_eq!(typical_length(6, PerArity::paper(0.5)).unwrap(), 244);
    assert_eq!(trees.get(244).unwrap().to_string(), "2305787621309065842164092415845360612977213439864");
    close(Magnitude::from(trees.get(244).unwrap()).value(), 2.3e48, 0.01);
}

#[test]
fn erratum_4_asymptote_has_the_wrong_rate() {
    // ln(exact / asymptote) per mean internal node: it should tend to 0, but crosses it and settles above.
    let even = PerArity::paper(0.5);
    let excess = |depth: usize| {
        let counts = tree_count(depth, Arities::PAPER).unwrap();
        let exact = Magnitude::from(counts.get(typical_length(depth, even).unwrap()).unwrap());
        let nodes = mean_internal_nodes(depth, even).unwrap();
        let asymptote = typical_tree_count(depth, even).unwrap();
        close(asymptote.ln(), nodes * 2f64.ln(), 1e-13);
        (exact.ln() - asymptote.ln()) / nodes
    };
    let excesses: Vec<f64> = (5..=8).map(excess).collect();
    assert!(excesses.is_sorted() && excesses[1] < 0.0 && excesses[2] > 0.01 && excesses[3] > 0.02, "{excesses:?}");
}

#[test]
fn topologies_agree_with_counts_and_lengths() {
    for probabilities in all_probabilities().chain(ODDS.map(PerArity::paper)) {
        let arities = probabilities.arities();
        let topologies: Vec<Topology> = two_level_topologies(arities).collect();
        let (law, counts) = (length_distribution(2, probabilities).unwrap(), tree_count(2, arities).unwrap());
        for (len, probability) in law.iter() {
            let same: Vec<&Topology> = topologies.iter().filter(|topology| topology.sentence_len() == len).collect();
            assert_eq!(counts.get(len), Some(&BigUint::from(same.len())));
            close(same.iter().map(|topology| topology.probability(probabilities).unwrap()).sum(), probability, 1e-14);
        }
        assert!(topologies.is_sorted_by_key(|topology| (topology.root_arity(), topology.child_arities().to_vec())));
        for topology in &topologies {
            assert_eq!(topology.node_counts().nonzero().map(|(_, n)| n).sum::<usize>(), 1 + topology.root_arity());
            assert_eq!(topology.blocks().iter().map(|block| block.len).collect::<Vec<_>>(), topology.child_arities());
            assert!(topology.blocks().windows(2).all(|pair| pair[0].end() == pair[1].start));
        }
    }
    assert_eq!(two_level_topologies(Arities::PAPER).count(), 12);
}
