//! Numbers of the paper that are wrong, and the measurements that show it. Errata 2 to 4 are in `theory`.

use gardenpath::snr::{PredictedSignal, centre};
use gardenpath::theory::complexity::sample_complexity;
use gardenpath::theory::entropy;
use gardenpath::theory::lengths::length_distribution;
use gardenpath::{Ensemble, ExpectedMoments, Grammar, PerArity, RuleCount, Seed, class_entropy};

/// The class entropy at depth 2 follows the corrected form, not the printed one.
#[test]
fn erratum_1_class_entropy_at_depth_two() {
    let fraction = 0.25;
    let measured = class_entropy(&Ensemble::new(128, 2).fraction(fraction), 5, 60_000, Seed::new(1), &|_| ()).unwrap();
    let corrected = entropy::class_entropy([PerArity::all(fraction); 2], PerArity::paper(0.5)).unwrap();
    let paper = entropy::paper_class_entropy(fraction).unwrap();
    // 300,000 sentences: a standard error of about 1.5e-4; a finite vocabulary lowers the value by 2/v of itself.
    let error = 1.5e-4;
    assert!((measured.mean - corrected).abs() < 4.0 * error + 2.0 / 128.0 * corrected, "{measured:?} {corrected}");
    assert!(measured.mean - paper > 15.0 * error, "{measured:?} {paper}");
}

/// With other fractions and probabilities than the paper's, where only the corrected form exists.
#[test]
fn corrected_class_entropy_holds_in_general() {
    for (binary, ternary, p_binary) in [(0.5, 0.25, 0.5), (0.3, 0.6, 0.3), (0.5, 0.5, 0.8)] {
        let vocab = 64;
        let [pairs, triples] = [binary, ternary].map(RuleCount::Fraction);
        let ensemble = Ensemble::new(vocab, 2).rules(2, pairs).rules(3, triples).p_binary(p_binary);
        let measured = class_entropy(&ensemble, 10, 20_000, Seed::new(2), &|_| ()).unwrap();
        let fractions = PerArity::from([(2, binary), (3, ternary)]);
        let expected = entropy::class_entropy([fractions; 2], PerArity::paper(p_binary)).unwrap();
        let tolerance = 4.0 * measured.stderr + 2.0 / vocab as f64 * expected;
        assert!((measured.mean - expected).abs() < tolerance, "{binary} {ternary} {p_binary}: {measured:?} {expected}");
    }
}

/// The expected number of each token given each root: `counts[token][root]`.
fn expected_counts(grammar: &Grammar) -> Vec<Vec<f64>> {
    let classes = grammar.classes();
    let mut counts: Vec<Vec<f64>> =
        (0..classes).map(|z| (0..classes).map(|y| f64::from(u8::from(z == y))).collect()).collect();
    for layer in grammar.layers() {
        let mut below = vec![vec![0.0; classes]; layer.children()];
        for rule in layer.rules() {
            for child in rule.children.iter() {
                for (sum, count) in below[usize::from(child)].iter_mut().zip(&counts[usize::from(rule.parent)]) {
                    *sum += rule.probability * count;
                }
            }
        }
        counts = below;
    }
    counts
}

/// The squared Frobenius norm of the covariance of the root and a token of a sentence, each token with equal chance: the mean over six
/// grammars of an ensemble, in units of that of the root with itself.
fn squared_covariance(ensemble: &Ensemble) -> f64 {
    let vocab = ensemble.vocab() as f64;
    let squared_norms = (0..6).map(|seed| {
        let grammar = ensemble.sample(Seed::new(seed)).unwrap();
        let (length, prior) = (grammar.mean_length(), 1.0 / vocab);
        let row = |counts: &Vec<f64>| {
            let mean: f64 = counts.iter().sum::<f64>() * prior;
            counts.iter().map(|n| (prior * (n - mean) / length).powi(2)).sum::<f64>()
        };
        expected_counts(&grammar).iter().map(row).sum::<f64>()
    });
    squared_norms.sum::<f64>() / 6.0 / ((vocab - 1.0) / vocab.powi(2))
}

/// A leaf chosen uniformly is size-biased: the paper's factor 1/8 per level is really 2/25.
#[test]
fn erratum_5_root_to_token_covariance_is_size_biased() {
    let (vocab, fraction) = (96, 0.25);
    for depth in 1..=4 {
        let measured = squared_covariance(&Ensemble::new(vocab, depth).fraction(fraction));
        let predicted = |factor: f64| (factor / (fraction * vocab as f64)).powi(depth as i32);
        let (paper, size_biased) = (measured / predicted(0.125), measured / predicted(0.08));
        assert!((size_biased - 1.0).abs() < 0.05, "depth {depth}: {size_biased} of the corrected value");
        assert!((paper - 0.64f64.powi(depth as i32)).abs() < 0.04, "depth {depth}: {paper} of the paper's value");
    }
    let prediction = sample_complexity(3, 16, PerArity::from([(2, 4), (3, 64)]), PerArity::paper(0.5)).unwrap();
    assert!((prediction.paper.factor - 0.125).abs() < 1e-15 && (prediction.size_biased.factor - 0.08).abs() < 1e-15);
}

/// So it is for any arities, each of which adds its own part.
#[test]
fn every_arity_adds_its_size_biased_part_to_the_covariance() {
    let sets: [&[(usize, f64)]; 5] = [
        &[(1, 0.5), (2, 0.5)],
        &[(2, 0.5), (4, 0.5)],
        &[(1, 0.1), (2, 0.5), (3, 0.4)],
        &[(2, 0.1), (3, 0.4), (4, 0.5)],
        &[(4, 1.0)],
    ];
    for own in sets {
        let probabilities: PerArity<f64> = own.iter().copied().collect();
        let mean: f64 = own.iter().map(|(arity, p)| *arity as f64 * p).sum();
        for depth in [1, 2] {
            let few = |ensemble: Ensemble, arity| ensemble.rules(arity, RuleCount::Number(10));
            let ensemble = [2, 3, 4].into_iter().fold(Ensemble::new(96, depth).arities(probabilities), few);
            let rules = ensemble.rules_per_symbol(0).unwrap();
            let part = |(arity, p): (usize, f64)| arity as f64 * (p / mean).powi(2) / rules[arity] as f64;
            let predicted = probabilities.nonzero().map(part).sum::<f64>().powi(depth as i32);
            let ratio = squared_covariance(&ensemble) / predicted;
            assert!((ratio - 1.0).abs() < 0.05, "{probabilities}, depth {depth}: {ratio} of the predicted value");
        }
    }
}

/// The sum of two independent lengths.
fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (i, p) in a.iter().enumerate() {
        for (j, q) in b.iter().enumerate() {
            sum[i + j] += p * q;
        }
    }
    sum
}

fn halved(law: &[f64]) -> Vec<f64> {
    law.iter().map(|p| 0.5 * p).collect()
}

/// The part of the squared signal that comes down binary paths to the triple at the centre, for very many symbols: the sum over
/// paths of the squared probability that a ternary rule at this place hangs on the path.
fn signal_of_binary_paths(depth: usize) -> f64 {
    // The laws of where the rule begins: one for each path, and one for all trees together.
    let (mut paths, mut any) = (vec![vec![1.0]], vec![1.0]);
    for below in (1..depth).rev() {
        let law = length_distribution(below, PerArity::paper(0.5)).unwrap();
        let length: Vec<f64> = (0..=law.max_len()).map(|len| law.probability(len)).collect();
        paths = paths.iter().map(|path| halved(path)).flat_map(|left| [convolved(&left, &length), left]).collect();
        // A node is the first or second child of two or of three, or the third of three.
        let mut siblings = halved(&convolved(&length, &length));
        siblings[0] += 1.0;
        siblings.iter_mut().zip(&length).for_each(|(sum, p)| *sum += p);
        any = convolved(&any, &siblings);
    }
    let grammar = Ensemble::new(4, depth).sample(Seed::new(1)).unwrap();
    let at = |law: &Vec<f64>| law.get(centre(&grammar)).copied().unwrap_or(0.0);
    paths.iter().map(|path| (at(path) / at(&any)).powi(2)).sum()
}

/// 12.5 is for all tokens of a sentence together. At a single place, such as the centre, the signal falls by another factor from
/// level to level, which tends to 12.5 slowly: 14.4 from depth 2 to 3, and 9.5 from 3 to 4.
#[test]
fn erratum_5_at_the_centre_levels_differ() {
    let binary_rules = 4;
    let measured = [2, 3, 4].map(|depth| {
        let ensemble =
            Ensemble::new(48, depth).rules(2, RuleCount::Number(binary_rules)).rules(3, RuleCount::Number(192));
        let signal = |seed| PredictedSignal::new(&ensemble.sample(Seed::new(seed)).unwrap()).unwrap().signal();
        (1..=5).map(signal).sum::<f64>()
    });
    let predicted = |depth| signal_of_binary_paths(depth) / signal_of_binary_paths(depth + 1);
    for (depth, expected) in [(2, 14.4), (3, 9.488), (4, 12.226), (5, 12.207), (6, 12.527)] {
        assert!((predicted(depth) / expected - 1.0).abs() < 1e-3, "depth {depth}: {}", predicted(depth));
    }
    for (depth, pair) in (2..).zip(measured.windows(2)) {
        let found = pair[0] / pair[1] / binary_rules as f64;
        assert!((found / predicted(depth) - 1.0).abs() < 0.1, "depth {depth}: {found}, {} predicted", predicted(depth));
    }
}

/// A statistic that pools all places of a sentence sees 2.5 times as many triples with each level, so that it needs only
/// 12.5 / 2.5 = 5 times as many sentences. Noise as if places were independent.
#[test]
fn erratum_5_pooling_all_places_a_level_costs_five() {
    let vocab = 16;
    let needed = [2, 3, 4, 5].map(|depth| {
        let (mut signal, mut noise) = (0.0, 0.0);
        for seed in 1..=10 {
            let grammar = Ensemble::new(vocab, depth).fraction(1.0 / vocab as f64).sample(Seed::new(seed)).unwrap();
            let moments = ExpectedMoments::new(&grammar).unwrap();
            for rule in grammar.layer(depth - 1).rules().iter().filter(|rule| rule.children.len() == 3) {
                let &[a, b, c] = rule.children.as_slice() else { unreachable!() };
                let joint: Vec<f64> = (0..vocab).map(|root| moments.triple(a, b, c, root as u8)).collect();
                // How many a sentence has on average. It is 0 for children of symbols that no rule makes.
                let count: f64 = joint.iter().sum();
                if count > 0.0 {
                    signal += joint.iter().map(|n| (n / count - 1.0 / vocab as f64).powi(2)).sum::<f64>();
                    noise += (1.0 - joint.iter().map(|n| (n / count).powi(2)).sum::<f64>()) / count;
                }
            }
        }
        noise / signal
    });
    for (depth, pair) in (2..).zip(needed.windows(2)) {
        let factor = pair[1] / pair[0];
        assert!((factor / 5.0 - 1.0).abs() < 0.15, "from depth {depth}: {factor}");
    }
}

/// The operator norm of the centred transition matrix is twice the paper's, and its row sums do not vanish.
#[test]
fn erratum_6_transition_matrix() {
    let vocab = 160;
    let rules = 40;
    let grammar = Ensemble::new(vocab, 1).fraction(0.25).sample(Seed::new(1)).unwrap();
    let mut delta = vec![vec![-1.0 / vocab as f64; vocab]; vocab];
    for rule in grammar.layer(0).rules().iter().filter(|rule| rule.children.len() == 2) {
        delta[usize::from(rule.children.as_slice()[0])][usize::from(rule.parent)] += 1.0 / rules as f64;
    }
    let mut vector = vec![1.0; vocab];
    vector[0] = 2.0;
    let mut eigenvalue = 0.0;
    for _ in 0..500 {
        let image: Vec<f64> = delta.iter().map(|row| row.iter().zip(&vector).map(|(d, x)| d * x).sum()).collect();
        let back: Vec<f64> = (0..vocab).map(|b| (0..vocab).map(|a| delta[a][b] * image[a]).sum()).collect();
        eigenvalue = back.iter().map(|x| x * x).sum::<f64>().sqrt();
        vector = back.iter().map(|x| x / eigenvalue).collect();
    }
    let ratio = eigenvalue * rules as f64;
    assert!((3.0..4.2).contains(&ratio), "the squared operator norm is {ratio} / m, not 1 / m");
    let column: f64 = (0..vocab).map(|a| delta[a][7]).sum();
    assert!(column.abs() < 1e-12);
    let rows: f64 = delta.iter().map(|row| row.iter().sum::<f64>().powi(2)).sum();
    assert!(rows > 0.1, "row sums vary: {rows}");
}
