//! The exact learner: every rule of every level, an honest verdict, the same result for any number of threads.

use gardenpath::learn::em;
use gardenpath::learn::exact::{Learned, Options, Verdict, learn};
use gardenpath::learn::score::{score_rules, score_sentences};
use gardenpath::{Corpus, Ensemble, Grammar, Seed};

fn options(vocab: usize, depth: usize, p_binary: Option<f64>) -> Options {
    Options { p_binary, ..Options::new(vocab, depth) }
}

/// A random grammar and `per_rule` sentences for each ternary rule of a level.
fn task(vocab: usize, depth: usize, fraction: f64, per_rule: usize, seed: u64) -> (Grammar, Corpus) {
    let ensemble = Ensemble::new(vocab, depth).fraction(fraction);
    let (_, ternary) = ensemble.rules_per_symbol().unwrap();
    let truth = ensemble.sample(Seed::new(seed)).unwrap();
    let sentences = (per_rule * vocab * ternary) as u64;
    let corpus = Corpus::sample(&truth, Seed::new(seed).child("training"), 0..sentences);
    (truth, corpus)
}

fn is_exact(learned: &Learned, truth: &Grammar) -> bool {
    score_rules(&learned.grammar, truth).unwrap().iter().all(|level| level.is_exact())
}

/// Learns `count` grammars; at least all but one must be right, with Bayes accuracy, and none may be wrongly trusted.
fn recovers(vocab: usize, depth: usize, fraction: f64, seeds: std::ops::Range<u64>) {
    let count = seeds.end - seeds.start;
    let mut exact = 0;
    for seed in seeds {
        let (truth, corpus) = task(vocab, depth, fraction, 80, seed);
        let learned = learn(&corpus, &options(vocab, depth, Some(0.5)), &mut |_| ()).unwrap();
        if is_exact(&learned, &truth) {
            exact += 1;
            let score = score_sentences(&learned.grammar, &truth, Seed::new(seed).child("test"), 20_000).unwrap();
            let gap = score.bayes.accuracy - score.learned.accuracy;
            assert!(gap < 0.003, "seed {seed}: {gap}");
        } else {
            assert_ne!(learned.verdict, Verdict::Converged, "seed {seed}: a wrong grammar is trusted");
        }
    }
    assert!(exact + 1 >= count, "{exact} of {count}");
}

#[test]
fn every_rule_of_every_level_is_recovered() {
    recovers(8, 2, 0.125, 7000..7005);
    recovers(8, 2, 0.25, 7010..7015);
    recovers(16, 2, 0.0625, 7020..7022);
    recovers(8, 3, 0.125, 7030..7033);
    recovers(8, 3, 0.25, 7040..7043);
}

#[test]
fn the_probability_of_pairs_is_learned_too() {
    let ensemble = Ensemble::new(8, 2).fraction(0.25).p_binary(0.3);
    let truth = ensemble.sample(Seed::new(7100)).unwrap();
    let corpus = Corpus::sample(&truth, Seed::new(1), 0..15_000);
    let learned = learn(&corpus, &options(8, 2, None), &mut |_| ()).unwrap();
    assert!(is_exact(&learned, &truth), "{:?}", learned.verdict);
    assert!(learned.levels.iter().all(|level| (level.p_binary - 0.3).abs() < 0.02), "{:?}", learned.levels);
}

/// Learns from too few sentences until `wanted` grammars are wrong; none of them may be trusted.
fn none_is_wrongly_trusted(wanted: usize, depth: usize, fraction: f64, first_seed: u64) {
    let mut wrong = 0;
    for seed in first_seed.. {
        let per_rule = [6, 9, 12, 16, 20, 28][seed as usize % 6];
        let (truth, corpus) = task(8, depth, fraction, per_rule, seed);
        let learned = learn(&corpus, &options(8, depth, Some(0.5)), &mut |_| ()).unwrap();
        if !is_exact(&learned, &truth) {
            wrong += 1;
            assert_ne!(learned.verdict, Verdict::Converged, "seed {seed}, {per_rule} sentences per rule");
        }
        if wrong == wanted {
            return;
        }
    }
}

/// With too few sentences the learner fails, and says so.
#[test]
fn a_wrong_grammar_is_never_trusted() {
    none_is_wrongly_trusted(20, 2, 0.25, 7200);
}

#[test]
#[ignore = "takes a minute: a hundred and fifty wrong grammars"]
fn a_wrong_grammar_is_never_trusted_at_length() {
    none_is_wrongly_trusted(50, 2, 0.25, 30_000);
    none_is_wrongly_trusted(50, 2, 0.125, 31_000);
    none_is_wrongly_trusted(50, 3, 0.25, 32_000);
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let (_, corpus) = task(8, 2, 0.25, 40, 7300);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let learned = pool.install(|| learn(&corpus, &options(8, 2, Some(0.5)), &mut |_| ())).unwrap();
        (learned.grammar.to_text(), learned.verdict, learned.levels)
    };
    let expected = run(1);
    assert!(run(2) == expected && run(8) == expected);
}

#[test]
fn bad_input_is_refused() {
    let (_, corpus) = task(8, 2, 0.25, 10, 7400);
    let message = |options: Options| learn(&corpus, &options, &mut |_| ()).unwrap_err().to_string();
    assert_eq!(
        message(Options { strict: true, ..options(8, 3, None) }),
        "length is 4 in sentence 2, expected 8 to 27 tokens at depth 3"
    );
    assert_eq!(message(options(8, 9, None)), "depth is 9, expected 1 to 7");
    assert_eq!(message(options(8, 2, Some(1.5))), "p_binary is 1.5, expected a probability");
    assert_eq!(
        message(Options { noise: 1.0, ..options(8, 2, None) }),
        "noise is 1, expected a share from 0 up to, but not including, 1"
    );
    let few = Corpus::default();
    assert!(learn(&few, &options(8, 2, None), &mut |_| ()).unwrap_err().to_string().contains("at least 80"));
}

/// The baseline climbs, slowly, and stays behind on the same data.
#[test]
fn random_starts_stay_behind() {
    let (truth, corpus) = task(6, 2, 0.25, 80, 7500);
    let learned = learn(&corpus, &options(6, 2, Some(0.5)), &mut |_| ()).unwrap();
    assert!(is_exact(&learned, &truth), "{:?}", learned.verdict);
    let settings = em::Options { starts: 1, rounds: 10, seed: Seed::new(1), ..em::Options::new(6, 2) };
    let mut curve = Vec::new();
    let found = em::learn(&corpus, &settings, &mut |_, _, likelihood| curve.push(likelihood)).unwrap();
    assert!(curve.windows(2).all(|w| w[1] >= w[0] - 1e-9), "the likelihood never falls: {curve:?}");
    let error = |grammar: &Grammar| score_sentences(grammar, &truth, Seed::new(9), 5000).unwrap().learned.cross_entropy;
    let (exact, baseline) = (error(&learned.grammar), error(&found.grammar));
    assert!(exact + 0.05 < baseline, "{exact} {baseline}");
}
