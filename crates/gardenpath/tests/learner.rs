//! The exact learner: every rule of every level, an honest verdict, the same result for any number of threads.

#[path = "../examples/recovery/language.rs"]
mod language;

use gardenpath::learn::score::{answers, score_rules, score_sentences};
use gardenpath::learn::{Branching, Em, Exact, Learned, Learner, Outline, Paper, Progress, Verdict};
use gardenpath::{Corpus, Ensemble, Grammar, Inside, Seed};
use language::{Handling, Language};

fn learner(vocab: usize, depth: usize, p_binary: Option<f64>) -> Exact {
    let usual = Outline::new(vocab, depth);
    Exact::new(Outline { branching: p_binary.map_or(usual.branching, Branching::binary), ..usual })
}

fn learn(learner: &impl Learner, corpus: &Corpus) -> Learned {
    learner.learn(corpus, &mut |_| ()).unwrap()
}

/// A random grammar and `per_rule` sentences for each ternary rule of a level.
fn task(vocab: usize, depth: usize, fraction: f64, per_rule: usize, seed: u64) -> (Grammar, Corpus) {
    let ensemble = Ensemble::new(vocab, depth).fraction(fraction);
    let ternary = ensemble.rules_per_symbol(0).unwrap()[3];
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
        let learned = learn(&learner(vocab, depth, Some(0.5)), &corpus);
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
    let learned = learn(&learner(8, 2, None), &corpus);
    assert!(is_exact(&learned, &truth), "{:?}", learned.verdict);
    assert!(learned.levels.iter().all(|level| (level.probabilities[2] - 0.3).abs() < 0.02), "{:?}", learned.levels);
}

/// Learns from too few sentences until `wanted` grammars are wrong; none of them may be trusted.
fn none_is_wrongly_trusted(wanted: usize, depth: usize, fraction: f64, first_seed: u64) {
    let mut wrong = 0;
    for seed in first_seed.. {
        let per_rule = [6, 9, 12, 16, 20, 28][seed as usize % 6];
        let (truth, corpus) = task(8, depth, fraction, per_rule, seed);
        let learned = learn(&learner(8, depth, Some(0.5)), &corpus);
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
        let learned = pool.install(|| learn(&learner(8, 2, Some(0.5)), &corpus));
        (learned.grammar.to_text(), learned.verdict, learned.levels)
    };
    let expected = run(1);
    assert!(run(2) == expected && run(8) == expected);
}

#[test]
fn bad_input_is_refused() {
    let (_, corpus) = task(8, 2, 0.25, 10, 7400);
    let message = |learner: &dyn Learner| learner.learn(&corpus, &mut |_| ()).unwrap_err().to_string();
    assert_eq!(
        message(&Exact { strict: true, ..learner(8, 3, None) }),
        "length is 4 in sentence 2, expected 8 to 27 tokens at depth 3"
    );
    assert_eq!(message(&learner(8, 9, None)), "depth is 9, expected 1 to 7");
    assert_eq!(message(&learner(8, 2, Some(1.5))), "p_binary is 1.5, expected a probability");
    assert_eq!(
        message(&Exact { noise: 1.0, ..learner(8, 2, None) }),
        "noise is 1, expected a share from 0 up to, but not including, 1"
    );
    let few = learner(8, 2, None).learn(&Corpus::default(), &mut |_| ()).unwrap_err().to_string();
    assert_eq!(few, "number of sentences is 0, expected at least 80");
    let told = |inner: &[usize], branching| Outline { inner: inner.to_vec(), branching, ..Outline::new(8, 3) };
    let arities = |arities: &[usize]| Branching::Learned(arities.iter().copied().collect());
    for (outline, expected) in [
        (told(&[8, 8, 8], arities(&[2, 3])), "number of inner sizes is 3, expected 1, or 2 for depth 3"),
        (told(&[8, 256], arities(&[2, 3])), "vocab is 256, expected 1 to 255"),
        (told(&[8], arities(&[])), "arities is empty, expected one or more from 2 to 4 for this learner"),
        (told(&[8], arities(&[1, 2])), "arities is 1,2, expected one or more from 2 to 4 for this learner"),
        (told(&[8], arities(&[2, 5])), "arities is 2,5, expected one or more from 2 to 4 for this learner"),
        (
            told(&[8], Branching::Given([(2, 0.5), (4, 0.4)].into())),
            "sum of the probabilities of all arities is 0.9, expected 1",
        ),
    ] {
        assert_eq!(message(&Exact::new(outline.clone())), expected);
        assert_eq!(message(&Em::new(outline)), expected);
    }
    assert_eq!(
        message(&Paper::new(told(&[8], arities(&[2, 4])))),
        "arities is 2,4, expected one or more from 2 to 3 for this learner"
    );
    let wide = Outline { tokens: 200, ..told(&[8], arities(&[2, 3, 4])) };
    let large = message(&Exact::new(Outline { depth: 2, ..wide.clone() }));
    assert!(large.starts_with("counting 1608040000 tuples of 200 symbols needs about"), "{large}");
    assert!(message(&Em::new(wide)).ends_with("at most 1048576 possible rules per layer for this mode"));
}

/// The baseline climbs, slowly, and stays behind on the same data.
#[test]
fn random_starts_stay_behind() {
    let (truth, corpus) = task(6, 2, 0.25, 80, 7500);
    let learned = learn(&learner(6, 2, Some(0.5)), &corpus);
    assert!(is_exact(&learned, &truth), "{:?}", learned.verdict);
    let em = Em { starts: 1, rounds: 10, seed: Seed::new(1), ..Em::new(Outline::new(6, 2)) };
    let mut curve = Vec::new();
    let mut hear = |step: &Progress| match step {
        Progress::Climbed { log_likelihood, .. } => curve.push(*log_likelihood),
        other => panic!("{other}"),
    };
    let found = em.learn(&corpus, &mut hear).unwrap();
    assert!(curve.windows(2).all(|w| w[1] >= w[0] - 1e-9), "the likelihood never falls: {curve:?}");
    let error = |grammar: &Grammar| score_sentences(grammar, &truth, Seed::new(9), 5000).unwrap().learned.cross_entropy;
    let (exact, baseline) = (error(&learned.grammar), error(&found.grammar));
    assert!(exact + 0.05 < baseline, "{exact} {baseline}");
}

/// Learns a language of another kind than the learner is told, once for each seed: (every rule right, verdict, its grammar, the truth).
fn misfit(
    language: &Language,
    handling: Handling,
    told: &Exact,
    seeds: std::ops::Range<u64>,
) -> Vec<(bool, Learned, Grammar)> {
    let learn_one = |seed: u64| {
        let seed = Seed::new(seed);
        let truth = language.sample(seed).unwrap();
        let corpus = Corpus::sample(&truth, seed.child("training"), 0..language.sentences(120));
        let outline = Outline { tokens: truth.vocab(), classes: truth.classes(), ..told.outline.clone() };
        let learned = learn(&Exact { outline, ..told.clone() }, &handling.apply(&corpus, &truth, seed));
        (is_exact(&learned, &truth), learned, truth)
    };
    seeds.map(learn_one).collect()
}

fn reason(learned: &Learned) -> &str {
    match &learned.verdict {
        Verdict::Converged => "converged",
        Verdict::NotConverged(reason) => reason,
        Verdict::Unknown => "unknown",
    }
}

/// A symbol that stands for two true ones leaves its rules dependent on their context, whatever the accuracy.
#[test]
fn more_symbols_than_told_are_noticed() {
    for sizes in [&[8, 9, 8][..], &[8, 10, 8], &[8, 16, 8], &[8, 9, 8, 8]] {
        let told = learner(8, sizes.len() - 1, None);
        for (exact, learned, _) in misfit(&Language::new(sizes, 2, 16), Handling::Plain, &told, 7600..7603) {
            assert!(!exact && learned.verdict != Verdict::Converged, "{sizes:?}");
        }
    }
    let right = misfit(&Language::new(&[8, 16, 8], 2, 16), Handling::Plain, &learner(16, 2, None), 7600..7603);
    assert!(right.iter().all(|(exact, learned, _)| *exact && learned.verdict == Verdict::Converged));
}

/// Two symbols where the truth has one cannot be told apart, or are found to be empty.
#[test]
fn fewer_symbols_than_told_are_noticed() {
    for (exact, learned, truth) in
        misfit(&Language::new(&[8, 6, 8], 2, 12), Handling::Plain, &learner(8, 2, None), 7610..7616)
    {
        assert_eq!(exact, learned.verdict == Verdict::Converged, "{}", reason(&learned));
        assert!(!exact || learned.grammar.sizes() == truth.sizes());
    }
    let twice = misfit(&Language::new(&[8, 8, 8], 2, 16), Handling::Plain, &learner(16, 2, None), 7620..7622);
    for (exact, learned, _) in twice {
        assert_eq!(exact, learned.verdict == Verdict::Converged);
        let fewer = "the level has fewer symbols than the vocab";
        assert!(exact || reason(&learned).contains(fewer), "{}", reason(&learned));
    }
}

#[test]
fn fixed_trees_are_learned_or_rejected() {
    for arities in [&[2, 2][..], &[3, 3], &[2, 3], &[3, 2], &[2, 3, 2], &[3, 2, 3]] {
        let found = misfit(&Language::fixed(8, arities), Handling::Plain, &learner(8, arities.len(), None), 7630..7633);
        for (exact, learned, _) in &found {
            assert!(*exact || learned.verdict != Verdict::Converged, "{arities:?}");
        }
        if arities.windows(2).all(|pair| pair[0] == pair[1]) {
            assert!(
                found.iter().all(|(exact, learned, _)| *exact && learned.verdict == Verdict::Converged),
                "{arities:?}"
            );
        }
    }
}

/// With all nodes of one arity, the learner can be told so; the other arity does not occur in its grammar.
#[test]
fn one_arity_can_be_given() {
    for (arity, p_binary) in [(2, 1.0), (3, 0.0)] {
        let told = learner(8, 2, Some(p_binary));
        for (exact, learned, truth) in misfit(&Language::fixed(8, &[arity, arity]), Handling::Plain, &told, 7640..7642)
        {
            assert!(exact && learned.verdict == Verdict::Converged, "{arity}: {}", reason(&learned));
            assert_eq!(learned.grammar.shape(), truth.shape());
        }
    }
}

#[test]
fn tuples_with_two_parents_are_noticed() {
    let language = Language { shared: 6, ..Language::new(&[8, 8, 8], 2, 16) };
    for (exact, learned, _) in misfit(&language, Handling::Plain, &learner(8, 2, None), 7650..7654) {
        assert!(!exact && learned.verdict != Verdict::Converged);
    }
}

/// One wrong label or token in a hundred: every rule is found, and the sentences that have no derivation are counted.
#[test]
fn a_little_noise_is_tolerated_and_counted() {
    let language = Language::new(&[8, 8, 8], 2, 16);
    for handling in [Handling::WrongLabels(0.01), Handling::WrongTokens(0.01)] {
        let found = misfit(&language, handling, &learner(8, 2, None), 7660..7664);
        assert!(found.iter().filter(|(exact, ..)| *exact).count() >= 3);
        for (exact, learned, _) in found {
            assert_eq!(exact, learned.verdict == Verdict::Converged, "{handling:?}: {}", reason(&learned));
            assert!(learned.underivable.is_some_and(|count| (50..1500).contains(&count)), "{:?}", learned.underivable);
        }
    }
    let strict = Exact { noise: 0.0, ..learner(8, 2, None) };
    for (_, learned, _) in misfit(&language, Handling::WrongLabels(0.01), &strict, 7660..7662) {
        assert!(reason(&learned).contains("0% of wrong labels and tokens explain at most 0"), "{}", reason(&learned));
    }
}

#[test]
fn sentences_of_impossible_length_are_skipped_and_counted() {
    let (truth, mut corpus) = task(8, 2, 0.25, 80, 7670);
    (0..5).for_each(|_| corpus.push(&[1, 2, 3], 0));
    let learned = learn(&learner(8, 2, None), &corpus);
    assert!(is_exact(&learned, &truth) && learned.verdict == Verdict::Converged);
    assert_eq!((learned.skipped, learned.underivable), (Some(5), Some(0)));
    let (_, shallow) = task(8, 2, 0.25, 10, 7671);
    let learned = learn(&learner(8, 3, None), &shallow);
    assert!(reason(&learned).contains("have a length that no tree has"), "{}", reason(&learned));
}

/// The same grammar, to the last bit, for every order of the sentences.
#[test]
fn the_order_of_the_sentences_does_not_matter() {
    let (truth, corpus) = task(8, 2, 0.25, 60, 7680);
    let run = |corpus: &Corpus| {
        let learned = learn(&learner(8, 2, None), corpus);
        (learned.grammar.to_text(), learned.verdict)
    };
    let expected = run(&corpus);
    for key in [
        (|_, root| (usize::from(root), Vec::new())) as fn(&[u8], u8) -> (usize, Vec<u8>),
        |sentence, _| (sentence.len(), Vec::new()),
        |sentence, _| (0, sentence.to_vec()),
    ] {
        let sorted = Handling::Sorted(key).apply(&corpus, &truth, Seed::new(0));
        assert!(sorted != corpus && run(&sorted) == expected);
    }
}

/// Classes of any number and frequency, in all modes: the prior is how often they occurred.
#[test]
fn classes_and_their_prior_are_those_of_the_labels() {
    let prior = vec![0.85, 0.05, 0.0, 0.1];
    let language = Language { prior: prior.clone(), ..Language::new(&[4, 8, 8], 2, 16) };
    let truth = language.sample(Seed::new(7690)).unwrap();
    let corpus = Corpus::sample(&truth, Seed::new(1), 0..20_000);
    let learned = learn(&learner(8, 2, None), &corpus);
    assert_eq!(learned.verdict, Verdict::Converged);
    assert_eq!(learned.grammar.sizes(), [4, 8, 8]);
    assert!(learned.grammar.layer(0).rules_of(2).is_empty(), "a class that never occurs has no rules");
    assert_eq!(Grammar::from_text(&learned.grammar.to_text()).unwrap(), learned.grammar);
    let test = Corpus::sample(&truth, Seed::new(2), 0..20_000);
    let [own, best] = [&learned.grammar, &truth].map(|grammar| answers(grammar, &test).unwrap().accuracy);
    assert!((own - best).abs() < 0.001, "{own} {best}");
    let few = Corpus::sample(&truth, Seed::new(1), 0..2000);
    let em = learn(&Em { starts: 1, rounds: 2, ..Em::new(Outline::new(4, 2)) }, &few).grammar;
    let paper = learn(&Paper::new(Outline::new(8, 2)), &corpus).grammar;
    for (grammar, corpus) in [(learned.grammar, &corpus), (em, &few), (paper, &corpus)] {
        let counts = |class: u8| corpus.roots().iter().filter(|&&root| root == class).count() as f64;
        let expected: Vec<f64> = (0..4).map(|class| counts(class) / corpus.len() as f64).collect();
        assert_eq!(grammar.prior(), expected);
        assert!(grammar.layer(0).rules_of(2).is_empty());
    }
}

/// What the baseline reports is the likelihood of the grammar that it returns.
#[test]
fn the_likelihood_of_the_baseline_is_that_of_its_grammar() {
    let (_, corpus) = task(4, 2, 0.25, 20, 7700);
    let found = learn(&Em { starts: 1, rounds: 3, ..Em::new(Outline::new(4, 2)) }, &corpus);
    let posteriors = Inside::new(&found.grammar).batch(&corpus).unwrap();
    let total: f64 = posteriors.iter().zip(corpus.roots()).map(|(p, &root)| p.log_likelihood(root).unwrap()).sum();
    assert!((found.log_likelihood.unwrap() - total / corpus.len() as f64).abs() < 1e-9);
}

/// A class whose sentences have no derivation at all leaves a verdict, not an error.
#[test]
fn a_class_of_nonsense_is_not_trusted() {
    let language = Language::new(&[8, 8, 8], 2, 8);
    for seed in 7710..7716 {
        let truth = language.sample(Seed::new(seed)).unwrap();
        let mut corpus = Corpus::sample(&truth, Seed::new(seed), 0..language.sentences(120));
        let mut stream = Seed::new(seed).child("nonsense").stream(0);
        for _ in 0..3 {
            let sentence: Vec<u8> = (0..5).map(|_| stream.below(8) as u8).collect();
            corpus.push(&sentence, 8);
        }
        let learned = learn(&learner(8, 2, None), &corpus);
        assert_ne!(learned.verdict, Verdict::Converged, "seed {seed}");
    }
}
