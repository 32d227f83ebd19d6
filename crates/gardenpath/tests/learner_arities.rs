//! Learners of other grammars than the paper's: any of two to four children, levels of different sizes, corpora without labels.

use gardenpath::learn::score::{score_rules, score_sentences};
use gardenpath::learn::{Branching, Em, Exact, Learned, Learner, Outline, Progress, Verdict};
use gardenpath::{Arities, Corpus, Ensemble, Grammar, PerArity, RuleCount, Seed};
use std::ops::Range;

/// Grammars whose symbols have `rules` rules of each arity, all equally likely, and use every symbol below the root.
fn ensemble(vocab: usize, depth: usize, arities: Arities, rules: usize) -> Ensemble {
    let even: PerArity<f64> = arities.iter().map(|arity| (arity, 1.0 / arities.iter().count() as f64)).collect();
    let ensemble = Ensemble::new(vocab, depth).arities(even).cover(true);
    arities.iter().fold(ensemble, |ensemble, arity| ensemble.rules(arity, RuleCount::Number(rules)))
}

fn outline(vocab: usize, depth: usize, arities: Arities) -> Outline {
    Outline { branching: Branching::Learned(arities), ..Outline::new(vocab, depth) }
}

fn is_exact(learned: &Learned, truth: &Grammar) -> bool {
    score_rules(&learned.grammar, truth).unwrap().iter().all(|level| level.is_exact())
}

/// Learns one grammar for each seed from `each` sentences per rule of the root; returns how many are right. None may be wrongly trusted.
fn count_exact(vocab: usize, depth: usize, arities: Arities, rules: usize, each: usize, seeds: Range<u64>) -> usize {
    let ensemble = ensemble(vocab, depth, arities, rules);
    let is_right = |seed: &u64| {
        let seed = Seed::new(*seed);
        let truth = ensemble.sample(seed).unwrap();
        let corpus = Corpus::sample(&truth, seed.child("training"), 0..(each * vocab * rules) as u64);
        let learned = Exact::new(outline(vocab, depth, arities)).learn(&corpus, &mut |_| ()).unwrap();
        let right = is_exact(&learned, &truth);
        assert!(right || learned.verdict != Verdict::Converged, "{vocab} {depth} {arities:?} {rules} {each}: {seed:?}");
        right
    };
    seeds.filter(is_right).count()
}

#[test]
fn fixed_trees_are_learned() {
    for arity in 2..=4 {
        for (depth, rules) in [(2, 2), (2, 4), (3, 2), (3, 4)] {
            let exact = count_exact(8, depth, [arity].into(), rules, 40, 8000..8005);
            assert_eq!(exact, 5, "arity {arity}, depth {depth}, {rules} rules");
        }
    }
}

#[test]
#[ignore = "takes a minute: hundreds of grammars"]
fn fixed_trees_are_learned_at_length() {
    let (mut wrong, mut all) = (0, 0);
    for vocab in [8, 16] {
        for (arity, depth) in [(2, 2), (2, 3), (3, 2), (3, 3), (4, 2), (4, 3)] {
            for rules in [vocab / 4, vocab / 2] {
                let exact = count_exact(vocab, depth, [arity].into(), rules, 40, 8100..8110);
                assert!(exact >= 9, "v = {vocab}, s = {arity}, L = {depth}, m = {rules}: {exact} of 10");
                wrong += 20 - count_exact(vocab, depth, [arity].into(), rules, 12, 8200..8220);
                all += 20;
            }
        }
    }
    assert!(wrong > all / 20, "with too few sentences {wrong} of {all} are wrong; none of those was trusted");
    println!("{wrong} of {all} are wrong with 12 sentences per rule");
}

#[test]
fn mixed_arities_are_learned() {
    for arities in [Arities::from([2, 4]), [3, 4].into(), [2, 3, 4].into()] {
        assert!(count_exact(8, 2, arities, 4, 80, 8300..8304) >= 3, "{arities:?}");
    }
}

/// A rule of four children that can also be read as two rules of two: what stands around it does not tell its parent.
#[test]
fn rules_that_are_sequences_of_others_find_their_parent() {
    let ensemble = Ensemble::new(8, 2).arities([(2, 0.4), (3, 0.3), (4, 0.3)]).fraction(0.0625).cover(true);
    for seed in (8400..8403).map(Seed::new) {
        let truth = ensemble.sample(seed).unwrap();
        let corpus = Corpus::sample(&truth, seed.child("training"), 0..20_480);
        let learned = Exact::new(outline(8, 2, [2, 3, 4].into())).learn(&corpus, &mut |_| ()).unwrap();
        assert!(is_exact(&learned, &truth), "{:?}", learned.verdict);
        assert!(learned.levels.iter().all(|level| (level.probabilities[2] - 0.4).abs() < 0.02), "{:?}", learned.levels);
    }
}

#[test]
fn levels_may_differ_in_size() {
    let ensemble =
        Ensemble::new(8, 3).sizes(&[5, 6, 12, 9]).rules(2, RuleCount::Number(2)).rules(3, RuleCount::Number(8));
    for seed in (8500..8503).map(Seed::new) {
        let truth = ensemble.clone().cover(true).sample(seed).unwrap();
        let corpus = Corpus::sample(&truth, seed.child("training"), 0..12_000);
        let told = |inner: &[usize]| Exact::new(Outline { inner: inner.to_vec(), ..Outline::new(8, 3) });
        let learned = told(&[6, 12]).learn(&corpus, &mut |_| ()).unwrap();
        assert!(is_exact(&learned, &truth) && learned.verdict == Verdict::Converged, "{:?}", learned.verdict);
        assert_eq!(learned.grammar.sizes(), [5, 6, 12, 9]);
        let wrong = told(&[6, 9]).learn(&corpus, &mut |_| ()).unwrap();
        assert!(!is_exact(&wrong, &truth) && wrong.verdict != Verdict::Converged);
    }
}

/// Probabilities that are known, and an arity with none, which is the same as an arity that is not allowed.
#[test]
fn probabilities_of_arities_can_be_given() {
    let truth = ensemble(8, 2, [2, 4].into(), 4).arities([(2, 0.7), (4, 0.3)]).sample(Seed::new(8600)).unwrap();
    let corpus = Corpus::sample(&truth, Seed::new(1), 0..4000);
    let learn = |probabilities: PerArity<f64>| {
        let outline = Outline { branching: Branching::Given(probabilities), ..Outline::new(8, 2) };
        Exact::new(outline).learn(&corpus, &mut |_| ()).unwrap()
    };
    let learned = learn([(2, 0.7), (4, 0.3)].into());
    assert!(is_exact(&learned, &truth), "{:?}", learned.verdict);
    assert_eq!(learn([(2, 0.7), (3, 0.0), (4, 0.3)].into()), learned);
}

/// A corpus without labels has one class.
#[test]
fn labels_are_optional() {
    let truth = ensemble(8, 2, [2, 3].into(), 4)
        .sizes(&[1, 8, 8])
        .rules(3, RuleCount::Number(16))
        .sample(Seed::new(8700))
        .unwrap();
    let corpus = Corpus::sample(&truth, Seed::new(1), 0..10_000);
    let bare = corpus.clone().with_roots(vec![255; corpus.len()]).unwrap();
    let exact = Exact::new(Outline::new(8, 2));
    let learned = exact.learn(&bare, &mut |_| ()).unwrap();
    assert_eq!(learned, exact.learn(&corpus, &mut |_| ()).unwrap());
    assert_eq!(learned.grammar.prior(), [1.0]);
    let em = Em { starts: 1, rounds: 2, ..Em::new(Outline::new(4, 2)) };
    assert_eq!(em.learn(&bare, &mut |_| ()).unwrap(), em.learn(&corpus, &mut |_| ()).unwrap());
    let mut some = corpus.clone();
    some.push(&[0; 4], 255);
    let message = exact.learn(&some, &mut |_| ()).unwrap_err().to_string();
    assert_eq!(message, "root is unknown in sentence 10001, expected a label for every sentence, or for none");
}

#[test]
fn the_baseline_learns_any_arities() {
    for (arities, inner) in [(Arities::from([2]), vec![4]), ([4].into(), vec![3]), ([2, 3, 4].into(), vec![3])] {
        let truth = ensemble(3, 2, arities, 2).sample(Seed::new(8800)).unwrap();
        let corpus = Corpus::sample(&truth, Seed::new(1), 0..400);
        let em = Em { starts: 1, rounds: 6, ..Em::new(Outline { inner: inner.clone(), ..outline(3, 2, arities) }) };
        let mut curve = Vec::new();
        let mut hear = |step: &Progress| {
            if let Progress::Climbed { log_likelihood, .. } = step {
                curve.push(*log_likelihood);
            }
        };
        let learned = em.learn(&corpus, &mut hear).unwrap();
        assert!(curve.len() == 6 && curve.windows(2).all(|w| w[1] >= w[0] - 1e-9), "{curve:?}");
        assert_eq!(learned.grammar.sizes(), [3, inner[0], 3]);
        assert!(learned.levels.iter().all(|level| level.probabilities.arities() == arities), "{:?}", learned.levels);
        let score = score_sentences(&learned.grammar, &truth, Seed::new(2), 500).unwrap();
        assert!(score.learned.accuracy > 0.34, "{arities:?}: better than guessing, {score:?}");
    }
}
